//! Writes the table that `text::frequency` reads, out of lines on standard input: `scripts/word-frequencies` calls it.
//!
//! A line is `language TAB word TAB probability`, or `simplified TAB traditional character TAB simplified one`. A term
//! is as probable as all words together that the index analyses into it; of several languages the highest counts.
//!
//! The table, all numbers little-endian: `u32` count of blocks, `u32` count of traditional characters, `u32` offset of
//! each block, six bytes for each traditional character (it and the simplified one, three bytes each, sorted), then the
//! blocks. A block has [`BLOCK`] entries in the order of their bytes: a byte with the length of the prefix shared with the
//! entry before (high half; 0 in the first) and of the rest (low half; 15 stands for 15 plus the next byte), the rest
//! itself, and a byte with ten times the Zipf value.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Error, Read, Write};

use throughline_core::recall::analysis::index_text;
use throughline_core::text::frequency::BLOCK;

/// What fits half a byte.
const HALF: usize = 15;

fn main() -> Result<(), Error> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let (terms, characters) = read(&text).ok_or_else(|| Error::other("a line is not `kind TAB text TAB value`"))?;
    std::io::stdout().write_all(&table(&terms, &characters))
}

/// Terms with their probability, and pairs of a traditional and a simplified character.
type Input = (BTreeMap<String, f64>, BTreeMap<String, String>);

fn read(text: &str) -> Option<Input> {
    let mut languages: BTreeMap<&str, HashMap<String, f64>> = BTreeMap::new();
    let mut characters = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        let (kind, word, value) = (fields.next()?, fields.next()?, fields.next()?);
        if kind == "simplified" {
            characters.insert(word.to_owned(), value.to_owned());
            continue;
        }
        let probability: f64 = value.parse().ok()?;
        let index = index_text(word);
        for term in index.split(' ').filter(|term| !term.is_empty()).collect::<BTreeSet<_>>() {
            *languages.entry(kind).or_default().entry(term.to_owned()).or_default() += probability;
        }
    }
    let mut terms: BTreeMap<String, f64> = BTreeMap::new();
    for (term, probability) in languages.into_values().flatten() {
        let highest = terms.entry(term).or_default();
        *highest = highest.max(probability);
    }
    characters.retain(|_, simplified| terms.contains_key(simplified));
    Some((terms, characters))
}

fn table(terms: &BTreeMap<String, f64>, characters: &BTreeMap<String, String>) -> Vec<u8> {
    let (mut offsets, mut blocks, mut last) = (Vec::new(), Vec::new(), "");
    for (at, (term, probability)) in terms.iter().enumerate() {
        let starts = at % BLOCK == 0;
        if starts {
            offsets.push(blocks.len());
        }
        let shared = if starts { 0 } else { shared_prefix(last, term) };
        let rest = &term.as_bytes()[shared..];
        blocks.push((shared << 4 | rest.len().min(HALF)) as u8);
        if let Some(more) = rest.len().checked_sub(HALF) {
            blocks.push(more as u8);
        }
        blocks.extend_from_slice(rest);
        blocks.push(((probability.log10() + 9.0) * 10.0).round().clamp(0.0, 90.0) as u8);
        last = term;
    }
    let mut table = Vec::new();
    for number in [offsets.len(), characters.len()].into_iter().chain(offsets) {
        table.extend_from_slice(&(number as u32).to_le_bytes());
    }
    for (traditional, simplified) in characters {
        table.extend_from_slice(traditional.as_bytes());
        table.extend_from_slice(simplified.as_bytes());
    }
    table.extend_from_slice(&blocks);
    table
}

fn shared_prefix(last: &str, term: &str) -> usize {
    last.bytes().zip(term.bytes()).take(HALF).take_while(|(a, b)| a == b).count()
}
