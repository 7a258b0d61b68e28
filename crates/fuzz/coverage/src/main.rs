//! One program for all targets: `--target=NAME` names one of them. libFuzzer ignores flags with two dashes.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::{Target, named};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::args().find_map(|word| word.strip_prefix("--target=").map(str::to_owned)).unwrap_or_default();
    named(&name).unwrap_or_else(|| panic!("--target={name} is not a target"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
