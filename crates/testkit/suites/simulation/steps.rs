//! What happens in a simulation: a list of steps that follows from a seed. Numbers choose among what is there when a step is
//! done, so that any part of a list is a list.

use throughline_testkit::Random;

/// Processes that share the store.
pub(crate) const PROCESSES: usize = 3;

const STEPS: usize = 36;

/// How a model fares.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mood {
    Sound,
    Failing,
    Garbage,
    /// Slower than its lease: another process consolidates meanwhile.
    Slow,
    /// Something is said in the same session meanwhile.
    Interrupted,
}

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Remember { hostile: bool },
    RememberKeyed { key: usize },
    Edit { which: usize },
    Forget { which: usize },
    ForgetAndUndo { which: usize },
    Erase { which: usize },
    Say { session: usize },
    Consolidate { session: usize, mood: Mood },
    Identity,
    Save,
    Give { session: usize, which: usize },
    Recall { which: usize },
    Export,
    Import,
    Jump { minutes: i64 },
    Reopen,
}

/// Why the store refuses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Refusal {
    Busy,
    Full,
    Broken,
}

/// What goes wrong during an act: at one of the calls to the store that it makes, counted from 0.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// The call fails, and nothing is done.
    Refused { at: usize, how: Refusal },
    /// The call is done, and fails.
    Unconfirmed { at: usize },
    /// The process dies before the call.
    Dies { at: usize },
    /// Another process does something first.
    Meanwhile { at: usize, process: usize, act: Act },
    /// The person saves the profile right before it is written.
    Saved,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) process: usize,
    pub(crate) act: Act,
    pub(crate) trouble: Option<Trouble>,
}

/// Every act, mood and trouble, as it is told.
pub(crate) const NAMES: [&str; 24] = [
    "Remember {",
    "RememberKeyed",
    "Edit",
    "Forget {",
    "ForgetAndUndo",
    "Erase",
    "Say",
    "Consolidate",
    "Identity",
    "Save",
    "Give",
    "Recall",
    "Export",
    "Import",
    "Jump",
    "Reopen",
    "Failing",
    "Garbage",
    "Slow",
    "Interrupted",
    "Refused",
    "Unconfirmed",
    "Dies",
    "Meanwhile",
];

/// The steps of a seed.
pub(crate) fn steps(seed: u64) -> Vec<Step> {
    let mut random = Random::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x0074_6872_6f75_6768);
    (0..STEPS).map(|_| step(&mut random)).collect()
}

fn step(random: &mut Random) -> Step {
    let (process, act) = (random.below(PROCESSES), act(random));
    let trouble = random.one_in(3).then(|| trouble(random, process));
    Step { process, act, trouble }
}

fn act(random: &mut Random) -> Act {
    let (which, session) = (random.below(1000), random.below(2));
    match random.below(36) {
        0..5 => Act::Remember { hostile: random.one_in(3) },
        5..8 => Act::RememberKeyed { key: random.below(2) },
        8..11 => Act::Edit { which },
        11..13 => Act::Forget { which },
        13 => Act::ForgetAndUndo { which },
        14..16 => Act::Erase { which },
        16..20 => Act::Say { session },
        20..23 => Act::Consolidate { session, mood: mood(random) },
        23..25 => Act::Identity,
        25 => Act::Save,
        26..29 => Act::Give { session, which },
        29 => Act::Recall { which },
        30 => Act::Export,
        31..33 => Act::Import,
        33 => Act::Jump { minutes: [-90, 1, 11, 60 * 24 * 40][random.below(4)] },
        _ => Act::Reopen,
    }
}

fn mood(random: &mut Random) -> Mood {
    [Mood::Sound, Mood::Sound, Mood::Failing, Mood::Garbage, Mood::Slow, Mood::Interrupted][random.below(6)]
}

fn trouble(random: &mut Random, process: usize) -> Trouble {
    let at = random.below(8);
    match random.below(10) {
        0..2 => Trouble::Refused { at, how: [Refusal::Busy, Refusal::Full, Refusal::Broken][random.below(3)] },
        2 => Trouble::Unconfirmed { at },
        3 => Trouble::Dies { at },
        4 => Trouble::Saved,
        _ => {
            let other = (process + 1 + random.below(PROCESSES - 1)) % PROCESSES;
            Trouble::Meanwhile { at, process: other, act: act(random) }
        }
    }
}
