//! Packages of others that tests run, installed once below the build's own directory, one installation at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python with these packages, each `name==version`.
pub(crate) fn python(name: &str, packages: &[&str]) -> PathBuf {
    let place = once(name, packages, |place| {
        run(Command::new("python3").args(["-m", "venv"]).arg(place), "python3 (3.10 or later) and its venv");
        let pip = ["-m", "pip", "install", "--quiet"];
        run(Command::new(place.join("bin/python")).args(pip).args(packages), &packages.join(" "));
    });
    place.join("bin/python")
}

/// A directory in which Node.js finds these packages, each `name@version`.
pub(crate) fn node(name: &str, packages: &[&str]) -> PathBuf {
    once(name, packages, |place| {
        let options = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
        run(Command::new("npm").args(options).arg(place).args(packages), &packages.join(" "));
    })
}

fn once(name: &str, packages: &[&str], install: impl FnOnce(&Path)) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&place).unwrap();
    let lock = File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let (mark, wanted) = (place.join("installed"), packages.join(" "));
    if fs::read_to_string(&mark).unwrap_or_default() != wanted {
        install(&place);
        fs::write(mark, wanted).unwrap();
    }
    place
}

#[track_caller]
fn run(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what} cannot be installed: {said}");
}
