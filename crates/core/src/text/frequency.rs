//! How common a term is in ordinary language: a term of the index goes in, a Zipf value comes out.
//!
//! The value says how rare a word is by itself, whatever a store holds: a store of ten memories knows as much about it as
//! one of a million. The table is searched in place, so that a short process pays nothing to load it. Its format is in
//! `examples/frequency-table.rs`, its origin and licence in `frequency.LICENSE.md`.

use std::cmp::Ordering;

/// Entries that are compressed together. More make the table smaller and a look-up longer.
pub const BLOCK: usize = 16;

const TABLE: &[u8] = include_bytes!("frequency.bin");

/// The Zipf value of a term that is not in the table: about once in thirty million words.
const UNKNOWN: f32 = 1.5;

/// The Zipf value of a term that is every word of a text.
const CERTAIN: f32 = 9.0;

/// How common a term of `recall::analysis` is: the logarithm of how often it occurs in a billion words, from about 1.5
/// (not listed) to 8. Where languages share a spelling, the one where it is most common counts.
pub fn zipf(term: &str) -> f32 {
    if term.bytes().all(|b| b.is_ascii_digit()) {
        return number(term);
    }
    let listed = find(term);
    if term.is_ascii() {
        return listed.unwrap_or(UNKNOWN);
    }
    let simplified = simplify(term);
    let listed = simplified.as_deref().and_then(find).into_iter().chain(listed).reduce(f32::max);
    listed.unwrap_or_else(|| unlisted_pair(simplified.as_deref().unwrap_or(term)))
}

/// How much it says that a term occurs: the negative binary logarithm of its probability.
pub fn bits(term: &str) -> f32 {
    (CERTAIN - zipf(term)) * std::f32::consts::LOG2_10
}

/// Numbers are as common as their length: measured on English text, where the year is the longest common one.
fn number(digits: &str) -> f32 {
    match digits.len() {
        0 => CERTAIN,
        1 => 5.7,
        2 => 5.0,
        3 => 3.5,
        4 if digits.starts_with("19") || digits.starts_with("20") => 4.5,
        4 => 2.5,
        _ => UNKNOWN,
    }
}

/// Two characters of an unspaced script that meet where words meet are as probable as their meeting by chance.
fn unlisted_pair(term: &str) -> f32 {
    let mut chars = term.char_indices().map(|(at, _)| at).skip(1);
    let (Some(middle), None) = (chars.next(), chars.next()) else { return UNKNOWN };
    let (left, right) = term.split_at(middle);
    let chance = |left: f32, right: f32| left + right - CERTAIN;
    find(left).zip(find(right)).map_or(UNKNOWN, |(left, right)| chance(left, right).max(UNKNOWN))
}

/// The parts of the table.
struct Parts {
    offsets: &'static [[u8; 4]],
    characters: &'static [[u8; 6]],
    blocks: &'static [u8],
}

fn parts() -> Option<Parts> {
    let (counts, rest) = TABLE.split_at_checked(8)?;
    let [blocks, characters] = counts.as_chunks::<4>().0 else { return None };
    let (offsets, rest) = rest.split_at_checked(u32::from_le_bytes(*blocks) as usize * 4)?;
    let (characters, blocks) = rest.split_at_checked(u32::from_le_bytes(*characters) as usize * 6)?;
    Some(Parts { offsets: offsets.as_chunks().0, characters: characters.as_chunks().0, blocks })
}

impl Parts {
    fn block(&self, offset: [u8; 4]) -> &'static [u8] {
        self.blocks.get(u32::from_le_bytes(offset) as usize..).unwrap_or_default()
    }
}

/// The value that the table has for a term.
fn find(term: &str) -> Option<f32> {
    let parts = parts()?;
    let after = parts.offsets.partition_point(|offset| {
        entries(parts.block(*offset)).next().is_some_and(|entry| entry.rest <= term.as_bytes())
    });
    let block = parts.block(*parts.offsets.get(after.checked_sub(1)?)?);
    let mut word = Vec::with_capacity(32);
    for entry in entries(block).take(BLOCK) {
        word.truncate(entry.shared);
        word.extend_from_slice(entry.rest);
        match word.as_slice().cmp(term.as_bytes()) {
            Ordering::Less => {}
            Ordering::Equal => return Some(f32::from(entry.value) / 10.0),
            Ordering::Greater => return None,
        }
    }
    None
}

/// One line of a block: how much it shares with the line before, the rest, and ten times the Zipf value.
struct Entry {
    shared: usize,
    rest: &'static [u8],
    value: u8,
}

fn entries(mut block: &'static [u8]) -> impl Iterator<Item = Entry> {
    std::iter::from_fn(move || {
        let (&lengths, after) = block.split_first()?;
        let (length, after) = match usize::from(lengths & 15) {
            15 => after.split_first().map(|(more, after)| (15 + usize::from(*more), after))?,
            length => (length, after),
        };
        let (rest, after) = after.split_at_checked(length)?;
        let (&value, after) = after.split_first()?;
        block = after;
        Some(Entry { shared: usize::from(lengths >> 4), rest, value })
    })
}

/// A term with simplified characters, where it has traditional ones: the Chinese words of the table are simplified.
fn simplify(term: &str) -> Option<String> {
    let characters = parts()?.characters;
    let simplified = |c: char| -> Option<char> {
        let mut bytes = [0; 4];
        let bytes = c.encode_utf8(&mut bytes).as_bytes();
        let at = characters.binary_search_by(|pair| pair[..3].cmp(bytes)).ok()?;
        str::from_utf8(&characters[at][3..]).ok()?.chars().next()
    };
    let folded: String = term.chars().map(|c| simplified(c).unwrap_or(c)).collect();
    (folded != term).then_some(folded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recall::analysis::index_text;

    fn check_order(terms: &[&str]) {
        for pair in terms.windows(2) {
            assert!(zipf(pair[0]) > zipf(pair[1]), "{pair:?}: {} and {}", zipf(pair[0]), zipf(pair[1]));
            assert!(bits(pair[0]) < bits(pair[1]), "{pair:?}");
        }
    }

    /// Each term of a text with its value.
    fn values(text: &str) -> Vec<(String, f32)> {
        index_text(text).split(' ').map(|term| (term.to_owned(), zipf(term))).collect()
    }

    #[test]
    fn common_words_come_before_rare_ones() {
        check_order(&["the", "run", "migration", "postgres"]);
        check_order(&["und", "heut", "zusammenhang"]);
        check_order(&["les", "semaine", "fromage"]);
        check_order(&["que", "semana", "ayuntamiento"]);
        check_order(&["的", "我们", "猫", "龘"]);
        check_order(&["の", "会議", "餃子"]);
        check_order(&["2", "12", "2024", "512", "8443", "1234567"]);
        check_order(&["и", "человек"]);
    }

    #[test]
    fn values_are_absolute() {
        assert!((7.5..8.0).contains(&zipf("the")), "{}", zipf("the"));
        assert!((7.5..8.0).contains(&zipf("的")), "{}", zipf("的"));
        assert_eq!(zipf("qwghlmzz"), UNKNOWN);
        assert_eq!(zipf("a1b2c3d4"), UNKNOWN);
        assert!((4.0..5.0).contains(&bits("the")), "{}", bits("the"));
        assert!((24.0..26.0).contains(&bits("qwghlmzz")));
    }

    #[test]
    fn a_stem_is_as_common_as_its_words_together() {
        assert!(zipf("databas") >= zipf("database"));
        assert!(zipf("run") > zipf("running"));
    }

    #[test]
    fn every_common_word_is_listed_in_its_index_form() {
        for text in ["Running databases everywhere", "Straße müde über", "été élève", "mañana niño", "東京 會議 資料庫"]
        {
            for (term, value) in values(text) {
                assert!(value > UNKNOWN, "{term} of {text}");
            }
        }
    }

    #[test]
    fn traditional_characters_are_as_common_as_simplified_ones() {
        for (traditional, simplified) in [("國", "国"), ("國家", "国家"), ("語言", "语言"), ("們", "们")] {
            assert!(zipf(traditional) >= zipf(simplified), "{traditional}");
        }
    }

    #[test]
    fn pairs_across_two_words_are_estimated() {
        assert!(zipf("的猫") > zipf("龘猫"));
        assert!(zipf("的猫") < zipf("猫"));
        assert!(zipf("我的") > zipf("我猫"));
    }

    #[test]
    fn the_table_is_sorted_and_every_entry_is_found() {
        let parts = parts().unwrap();
        assert!(TABLE.len() <= 400 * 1024, "{} bytes", TABLE.len());
        let (mut last, mut word, mut count) = (Vec::new(), Vec::new(), 0);
        for (at, entry) in entries(parts.blocks).enumerate() {
            assert!(at % BLOCK != 0 || entry.shared == 0);
            word.truncate(entry.shared);
            word.extend_from_slice(entry.rest);
            assert!(word > last, "{:?}", String::from_utf8_lossy(&word));
            last.clone_from(&word);
            let term = str::from_utf8(&word).unwrap();
            assert_eq!(find(term), Some(f32::from(entry.value) / 10.0), "{term}");
            count += 1;
        }
        assert_eq!(parts.offsets.len(), usize::div_ceil(count, BLOCK));
        assert!(count > 40_000, "{count} entries");
        assert!(parts.characters.is_sorted());
    }

    proptest! {
        #[test]
        fn any_term_has_a_value(term in any::<String>()) {
            prop_assert!((UNKNOWN..=CERTAIN).contains(&zipf(&term)));
        }
    }
}
