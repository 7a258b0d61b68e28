//! Made-up memories and questions for measuring speed: the same for the same seed, and shaped like real ones (a third
//! of the words are function words, the rest follow Zipf's law).

const FUNCTION_WORDS: [&str; 24] = [
    "the", "a", "of", "to", "and", "in", "is", "that", "for", "on", "with", "we", "I", "my", "it", "was", "are", "at",
    "this", "have", "be", "not", "by", "our",
];
const QUESTION_WORDS: [&str; 8] = [
    "when did we",
    "what is the",
    "where do I",
    "who has the",
    "how was my",
    "which of the",
    "why is the",
    "what about",
];
const SYLLABLES: [&str; 24] = [
    "ka", "ro", "min", "tel", "sor", "ve", "lin", "dar", "po", "sen", "mar", "qui", "ben", "tor", "al", "ne", "gri",
    "sha", "ul", "fen", "bo", "wex", "cy", "hol",
];
const VOCABULARY: u64 = 30_000;

/// A small deterministic generator (SplitMix64): chance that can be repeated.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.roll() % n.max(1)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    /// A word's rank under Zipf's law: the logarithm of the rank is uniform.
    fn rank(&mut self) -> u64 {
        let uniform = self.roll() as f64 / u64::MAX as f64;
        ((VOCABULARY as f64).powf(uniform) as u64).min(VOCABULARY)
    }
}

fn word(rank: u64) -> String {
    let mut dice = Dice::new(rank.wrapping_mul(0x51_7C_C1));
    let syllables = 2 + dice.below(3);
    (0..syllables).map(|_| dice.pick(&SYLLABLES)).collect()
}

/// A made-up memory of eight to thirty words.
pub fn memory(dice: &mut Dice) -> String {
    let length = 8 + dice.below(23);
    let words = (0..length)
        .map(|_| if dice.below(100) < 36 { dice.pick(&FUNCTION_WORDS).to_owned() } else { word(dice.rank()) });
    words.collect::<Vec<_>>().join(" ")
}

/// A made-up question of a few words.
pub fn question(dice: &mut Dice) -> String {
    let opening = dice.pick(&QUESTION_WORDS);
    let content = 2 + dice.below(4);
    let words: Vec<String> = (0..content).map(|_| word(dice.rank())).collect();
    format!("{opening} {}?", words.join(" "))
}
