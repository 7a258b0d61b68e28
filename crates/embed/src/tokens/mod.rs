//! From text to token numbers, as the models expect them.

pub(crate) mod bert;
pub(crate) mod unigram;
pub(crate) mod vocabulary;

#[cfg(test)]
mod tests;

pub(crate) use bert::WordPiece;
pub(crate) use unigram::Unigram;
pub(crate) use vocabulary::Vocabulary;

/// A tokenizer with the tokens that stand around every text.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    /// How text is split.
    pub(crate) pieces: Pieces,
    /// In front of a text.
    pub(crate) first: u32,
    /// Behind it.
    pub(crate) last: u32,
}

/// How text is split.
#[derive(Debug)]
pub(crate) enum Pieces {
    /// BERT's words and pieces of words.
    WordPiece(WordPiece),
    /// The likeliest split (SentencePiece).
    Unigram(Unigram),
}

impl Tokenizer {
    /// The tokens of a text, at most `limit` with the two around it. What is beyond is not even looked at. A special
    /// token that is spelled out in a text is text.
    pub(crate) fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut tokens = vec![self.first];
        let room = limit.saturating_sub(1).max(1);
        match &self.pieces {
            Pieces::WordPiece(pieces) => pieces.encode(text, room, &mut tokens),
            Pieces::Unigram(pieces) => pieces.encode(text, room, &mut tokens),
        }
        tokens.push(self.last);
        tokens
    }
}
