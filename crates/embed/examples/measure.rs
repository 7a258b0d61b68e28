//! Embeds and measures: `cargo run --release -p throughline-embed --example measure -- builtin|DIRECTORY [FILE]`. A file
//! has one text per line, and its vectors are printed; without one, times are.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]

use std::path::Path;
use std::time::Instant;

use throughline_core::ports::{EmbedFor, Embedder};
use throughline_embed::{BuiltinEmbedder, DirectoryEmbedder};

fn main() {
    let started = Instant::now();
    let model = std::env::args().nth(1).unwrap_or_else(|| "builtin".to_owned());
    let embedder: Box<dyn Embedder> = match model.as_str() {
        "builtin" => Box::new(BuiltinEmbedder),
        directory => Box::new(DirectoryEmbedder::open(Path::new(directory)).unwrap()),
    };
    println!("{} {}: opened after {:.2?}", embedder.provider(), embedder.name(), started.elapsed());
    if let Some(file) = std::env::args().nth(2) {
        let texts: Vec<String> = std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect();
        for (text, vector) in texts.iter().zip(embedder.embed(&texts, EmbedFor::Storing).unwrap()) {
            let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
            println!("{text}\t{}", numbers.join(" "));
        }
        return;
    }
    let question = ["when do we ship the next release?".to_owned()];
    embedder.embed(&question, EmbedFor::Searching).unwrap();
    println!("first question {:.2?}", started.elapsed());
    let started = Instant::now();
    for _ in 0..50 {
        embedder.embed(&question, EmbedFor::Searching).unwrap();
    }
    println!("another question {:.2?}", started.elapsed() / 50);
    let text = "I have been thinking about the trip that we planned for next summer, and I believe that we should book \
                the flights early because prices go up in spring";
    let texts: Vec<String> = (0..256).map(|number| format!("{number} {text}")).collect();
    let started = Instant::now();
    embedder.embed(&texts, EmbedFor::Storing).unwrap();
    println!("{:.0} texts of 30 tokens per second", 256.0 / started.elapsed().as_secs_f64());
}
