//! `tokenizer.json`, or `vocab.txt` where there is none.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};

use super::config::json;
use crate::error::LoadError;
use crate::tokens::{Pieces, Tokenizer, Unigram, Vocabulary, WordPiece};

const FILE: &str = "tokenizer.json";
const WORDS: &str = "vocab.txt";

#[derive(Deserialize)]
struct TokenizerFile {
    normalizer: Option<Normalizer>,
    model: ModelPart,
}

#[derive(Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
}

#[derive(Deserialize)]
struct ModelPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_token: Option<String>,
    unk_id: Option<u32>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    byte_fallback: Option<bool>,
    vocab: Tokens,
}

/// `tokenizer_config.json`
#[derive(Default, Deserialize)]
struct CaseConfig {
    do_lower_case: Option<bool>,
}

/// A model's tokens: with numbers, or with scores and in order.
enum Tokens {
    Numbers(HashMap<String, u32>),
    Scores(Vec<(String, f32)>),
}

/// Reads a directory's tokenizer.
pub(crate) fn read(directory: &Path) -> Result<Tokenizer, LoadError> {
    let Some(file) = json::<TokenizerFile>(directory, FILE)? else { return from_words(directory) };
    let TokenizerFile { normalizer, model } = file;
    match (model.kind.as_deref(), model.vocab) {
        (Some("WordPiece"), Tokens::Numbers(numbers)) => {
            let unknown = model.unk_token.as_deref().unwrap_or("[UNK]");
            let mut pieces = word_piece(numbers, unknown)?;
            pieces.prefix = model.continuing_subword_prefix.unwrap_or(pieces.prefix);
            pieces.longest_word = model.max_input_chars_per_word.unwrap_or(pieces.longest_word);
            set_case(&mut pieces, normalizer)?;
            with_ends(pieces)
        }
        (Some("Unigram"), Tokens::Scores(scores)) if model.byte_fallback != Some(true) => {
            let unknown = model.unk_id.ok_or_else(|| LoadError::unsupported("its tokenizer has no unk_id"))?;
            let pieces = Unigram::new(scores.into_iter(), unknown);
            let (first, last) = (pieces.get("<s>"), pieces.get("</s>"));
            let (Some(first), Some(last)) = (first, last) else { return Err(no_ends("<s>")) };
            Ok(Tokenizer { pieces: Pieces::Unigram(pieces), first, last })
        }
        (kind, _) => Err(LoadError::unsupported(format!("its tokenizer is `{}`", kind.unwrap_or("unknown")))),
    }
}

fn from_words(directory: &Path) -> Result<Tokenizer, LoadError> {
    let path = directory.join(WORDS);
    if !path.is_file() {
        return Err(LoadError::Missing { directory: directory.to_owned(), file: FILE });
    }
    let text = fs::read_to_string(&path).map_err(|source| LoadError::Read { path, source })?;
    let numbers = text.lines().zip(0..).map(|(token, number)| (token.to_owned(), number)).collect();
    let mut pieces = word_piece(numbers, "[UNK]")?;
    let case: CaseConfig = json(directory, "tokenizer_config.json")?.unwrap_or_default();
    pieces.lowercase = case.do_lower_case.unwrap_or(true);
    pieces.strip_accents = pieces.lowercase;
    with_ends(pieces)
}

fn word_piece(numbers: HashMap<String, u32>, unknown: &str) -> Result<WordPiece, LoadError> {
    let vocabulary = Vocabulary::Map(numbers);
    let number = vocabulary.get(unknown);
    let number = number.ok_or_else(|| LoadError::unsupported(format!("its vocabulary has no `{unknown}`")))?;
    Ok(WordPiece::new(vocabulary, number))
}

fn set_case(pieces: &mut WordPiece, normalizer: Option<Normalizer>) -> Result<(), LoadError> {
    match normalizer {
        Some(normalizer) if normalizer.kind == "BertNormalizer" => {
            pieces.lowercase = normalizer.lowercase.unwrap_or(true);
            pieces.strip_accents = normalizer.strip_accents.unwrap_or(pieces.lowercase);
            Ok(())
        }
        Some(normalizer) => Err(LoadError::unsupported(format!("its normalizer is `{}`", normalizer.kind))),
        None => {
            (pieces.lowercase, pieces.strip_accents) = (false, false);
            Ok(())
        }
    }
}

fn with_ends(pieces: WordPiece) -> Result<Tokenizer, LoadError> {
    let (first, last) = (pieces.vocabulary.get("[CLS]"), pieces.vocabulary.get("[SEP]"));
    let (Some(first), Some(last)) = (first, last) else { return Err(no_ends("[CLS]")) };
    Ok(Tokenizer { pieces: Pieces::WordPiece(pieces), first, last })
}

fn no_ends(token: &str) -> LoadError {
    LoadError::unsupported(format!("its vocabulary has no `{token}` or the token that closes it"))
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokensVisitor)
    }
}

/// A multilingual vocabulary has 250,000 tokens: it is read without a copy in between.
struct TokensVisitor;

impl<'de> Visitor<'de> for TokensVisitor {
    type Value = Tokens;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens with their numbers, or a list of tokens with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tokens, A::Error> {
        let mut numbers = HashMap::with_capacity(1 << 15);
        while let Some((token, number)) = map.next_entry()? {
            numbers.insert(token, number);
        }
        Ok(Tokens::Numbers(numbers))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tokens, A::Error> {
        let mut scores = Vec::new();
        while let Some(token) = list.next_element()? {
            scores.push(token);
        }
        Ok(Tokens::Scores(scores))
    }
}
