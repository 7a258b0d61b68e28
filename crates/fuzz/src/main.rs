//! `throughline-fuzz [--seconds N] [--seed N] [TARGET …]`: every target for so long, two at a time.
//! `throughline-fuzz --input FILE TARGET`: one input again.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use throughline_fuzz::{Failure, TARGETS, Target, fuzz, named, replay};

const USAGE: &str = "throughline-fuzz [--seconds N] [--seed N] [--input FILE] [TARGET …]";

/// Targets that run at once.
const AT_ONCE: usize = 2;

struct Options {
    seconds: u64,
    seed: u64,
    input: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

fn options() -> Result<Options, String> {
    let mut options = Options { seconds: 10, seed: 1, input: None, targets: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is not a number"));
        match word.as_str() {
            "--seconds" => options.seconds = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--input" => options.input = Some(value()?.into()),
            name => options.targets.push(named(name).ok_or(format!("{name} is not a target"))?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("{error}\n{USAGE}\ntargets: {}", names.join(", "));
            return ExitCode::from(2);
        }
    };
    let outcome = match &options.input {
        Some(file) => one_input(file, &options.targets),
        None => all(&options),
    };
    if outcome { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one_input(file: &PathBuf, targets: &[&'static Target]) -> bool {
    match std::fs::read(file) {
        Ok(bytes) => targets.iter().all(|target| report(target, replay(target, &bytes).map(|()| "holds".to_owned()))),
        Err(error) => {
            eprintln!("cannot read {}: {error}", file.display());
            false
        }
    }
}

/// Every target for its time.
#[allow(clippy::disallowed_methods, reason = "a run ends by the clock; what is tried follows from the seed")]
fn all(options: &Options) -> bool {
    let waiting = Mutex::new(options.targets.clone());
    let next = || waiting.lock().ok().and_then(|mut targets| targets.pop());
    let work = || {
        let mut is_sound = true;
        while let Some(target) = next() {
            let end = Instant::now() + Duration::from_secs(options.seconds);
            let figures = fuzz(target, options.seed, || Instant::now() < end);
            let told = figures.map(|figures| format!("{} kept, {} made, none broke it", figures.kept, figures.made));
            is_sound &= report(target, told);
        }
        is_sound
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join()).fold(true, |all, one| all & one.unwrap_or(false))
    })
}

fn report(target: &Target, outcome: Result<String, Failure>) -> bool {
    match outcome {
        Ok(told) => {
            println!("{:<12} {told}", target.name);
            true
        }
        Err(Failure { input, why }) => {
            let file = std::env::temp_dir().join(format!("throughline-fuzz-{}", target.name));
            let kept = std::fs::write(&file, &input);
            eprintln!("{}: {why}\n  input: {:?}", target.name, String::from_utf8_lossy(&input));
            match kept {
                Ok(()) => {
                    eprintln!("  again: cargo run -p throughline-fuzz -- --input {} {}", file.display(), target.name)
                }
                Err(error) => eprintln!("  the input could not be kept: {error}"),
            }
            false
        }
    }
}
