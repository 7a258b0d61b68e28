//! What people install: the archive, the Debian package and the script that checks and installs, made from this build.
#![allow(clippy::unwrap_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![allow(clippy::print_stdout, reason = "what was not tried is said")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Whether packages can be made here.
fn has_tools() -> bool {
    if !cfg!(target_os = "linux") || Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("SKIPPED: no packages were made: dpkg-deb is missing");
        return false;
    }
    true
}

/// The packages of a program.
fn packages(binary: &str) -> TempDir {
    let dist = TempDir::with_prefix("throughline-dist-").unwrap();
    let script = Path::new(ROOT).join("scripts/package");
    run(Command::new(script).env("BINARY", binary).env("DIST", dist.path()).env("LEVEL", "1"));
    dist
}

fn file(dist: &TempDir, ending: &str) -> PathBuf {
    let files = std::fs::read_dir(dist.path()).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.to_str().unwrap().ends_with(ending)).unwrap()
}

fn install(from: &Path, prefix: &Path) -> Output {
    let script = Path::new(ROOT).join("packaging/install.sh");
    Command::new("sh").arg(script).arg("--from").arg(from).arg("--prefix").arg(prefix).output().unwrap()
}

fn version(program: &Path) -> String {
    run(Command::new(program).arg("--version"))
}

#[test]
fn packages_install_what_was_built_and_nothing_else() {
    if !has_tools() {
        return;
    }
    let dist = packages(env!("CARGO_BIN_EXE_throughline"));
    let built = version(Path::new(env!("CARGO_BIN_EXE_throughline")));
    assert!(built.starts_with(concat!("throughline ", env!("CARGO_PKG_VERSION"), "\n")), "{built}");
    for part in ["build ", "SQLite", "PostgreSQL", "embedder"] {
        assert!(built.contains(part), "no `{part}`: {built}");
    }
    debian_package_comes_and_goes(&dist, &built);
    archive_is_installed_once_its_checksum_is_right(&dist, &built);
}

/// Each package under its checksum, as a release lists them.
fn sums(dist: &TempDir) -> String {
    std::fs::read_to_string(dist.path().join("SHA256SUMS")).unwrap()
}

#[test]
fn the_same_program_gives_the_same_packages() {
    if !has_tools() {
        return;
    }
    // What the program is does not matter here, and a small one is packed at once.
    let (once, again) = (packages("/bin/true"), packages("/bin/true"));
    assert_eq!(sums(&once).lines().count(), 2, "an archive and a Debian package");
    assert_eq!(sums(&once), sums(&again));
}

/// A real dpkg, with a root and a database of its own.
fn debian_package_comes_and_goes(dist: &TempDir, built: &str) {
    let root = TempDir::with_prefix("throughline-root-").unwrap();
    let admin = root.path().join("var/lib/dpkg");
    for directory in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(admin.join(directory)).unwrap();
    }
    std::fs::write(admin.join("status"), "").unwrap();
    let dpkg = || {
        let mut command = Command::new("dpkg");
        command.arg(format!("--root={}", root.path().display()));
        command.args(["--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]);
        command
    };
    run(dpkg().arg("--install").arg(file(dist, ".deb")));
    let program = root.path().join("usr/bin/throughline");
    assert_eq!(version(&program), built);
    for path in [
        "lib/systemd/user/throughline.service",
        "share/bash-completion/completions/throughline",
        "share/doc/throughline/docs/importing.md",
        "share/doc/throughline/docs/setup.svg",
        "share/doc/throughline/examples/python-http.py",
        "share/doc/throughline/examples/typescript/http.ts",
    ] {
        assert!(root.path().join("usr").join(path).is_file(), "{path} is missing");
    }
    run(dpkg().args(["--purge", "throughline"]));
    assert!(!program.exists());
}

fn archive_is_installed_once_its_checksum_is_right(dist: &TempDir, built: &str) {
    let prefix = TempDir::with_prefix("throughline-prefix-").unwrap();
    let program = prefix.path().join("bin/throughline");
    // Twice: the second time over the first.
    for _ in 0..2 {
        let done = install(dist.path(), prefix.path());
        assert!(done.status.success(), "{done:?}");
        assert_eq!(version(&program), built);
    }
    std::fs::remove_file(&program).unwrap();
    let listed = run(Command::new("tar").arg("-tzf").arg(file(dist, ".tar.gz")));
    for path in ["throughline", "README.md", "docs/tasks.md", "examples/python-http.py", "completions/throughline.bash"]
    {
        assert!(listed.lines().any(|line| line.ends_with(&format!("/{path}"))), "no {path}: {listed}");
    }
    let archive = file(dist, ".tar.gz");
    let mut bytes = std::fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&archive, bytes).unwrap();
    let refused = install(dist.path(), prefix.path());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("checksum") && said.contains("hint: "), "{said}");
    assert!(!program.exists(), "nothing is installed from a broken archive");
}
