//! A person who saves at any moment, chosen by a seed: no line of theirs is lost, nor one that was confirmed.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::fs;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use throughline_testkit::Random;

use super::*;

const SEEDS: u64 = 50;
const STEPS: usize = 20;

/// Seeds within which the planted bug is noticed.
const SEEDS_FOR_BUG: u64 = 20;

/// Saves one line more: over the old file, or in it.
fn save(path: &Path, line: &str, in_place: bool) {
    let text = format!("{}- {line}\n", fs::read_to_string(path).unwrap());
    if in_place {
        return fs::write(path, text).unwrap();
    }
    let saving = path.with_extension("saving");
    fs::write(&saving, text).unwrap();
    fs::rename(&saving, path).unwrap();
}

/// Writes and saves; says what is wrong.
fn story(seed: u64) -> Result<(), String> {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let path: PathBuf = home.path().join("a.md");
    fs::write(&path, "- first\n").unwrap();
    let (mut random, mut lines) = (Random::new(seed), vec!["first".to_owned()]);
    for nth in 0..STEPS {
        let (theirs, in_place) = (format!("theirs {nth}"), random.one_in(2));
        match random.below(3) {
            0 => {
                save(&path, &theirs, in_place);
                lines.push(theirs);
            }
            kind => {
                let seen = fs::read_to_string(&path).unwrap();
                if kind == 1 {
                    let (path, line) = (path.clone(), theirs.clone());
                    moments::at_next(move || save(&path, &line, in_place));
                }
                let text = format!("{seen}- ours {nth}\n");
                let outcome = replace(&dir, "a.md", &text, &ContentHash::of(&seen), Privacy::Owner);
                if kind == 1 && !moments::is_left() {
                    lines.push(theirs);
                }
                match outcome {
                    Ok(()) => lines.push(format!("ours {nth}")),
                    Err(Failure::Conflict) => {}
                    Err(error) => return Err(format!("step {nth}: {error:?}")),
                }
            }
        }
        let text = fs::read_to_string(&path).unwrap();
        let there: Vec<&str> = text.lines().map(|line| line.trim_start_matches("- ")).collect();
        if there != lines {
            return Err(format!("step {nth}: {there:?} instead of {lines:?}"));
        }
        let names: Vec<String> = tree::entries(&dir).unwrap().into_iter().map(|(name, _)| name).collect();
        if names != ["a.md"] {
            return Err(format!("step {nth}: {names:?} are left"));
        }
    }
    Ok(())
}

#[test]
fn no_save_is_lost_at_any_moment() {
    for seed in 0..SEEDS {
        assert_eq!(story(seed), Ok(()), "seed {seed}");
    }
}

#[test]
fn renaming_over_a_live_file_is_noticed() {
    moments::set_only_renames(true);
    let noticed = (0..SEEDS_FOR_BUG).find(|seed| story(*seed).is_err());
    moments::set_only_renames(false);
    let seed = noticed.expect("a seed that notices it");
    assert_eq!(story(seed), Ok(()), "seed {seed} without the bug");
}
