//! Names the build in `throughline --version`: `THROUGHLINE_BUILD` where `scripts/package` sets it.
#![allow(clippy::disallowed_methods, reason = "a build script has no other way to be told")]

fn main() {
    println!("cargo::rerun-if-env-changed=THROUGHLINE_BUILD");
    println!("cargo::rerun-if-changed=build.rs");
    let build = std::env::var("THROUGHLINE_BUILD").unwrap_or_else(|_| "local".to_owned());
    let read = |name| std::env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=THROUGHLINE_BUILD={build}, {} for {}", read("PROFILE"), read("TARGET"));
}
