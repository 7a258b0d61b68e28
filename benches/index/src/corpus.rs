//! Made-up memories and questions, analysed as the program does it.

use jiff::{Timestamp, tz::TimeZone};
use throughline_core::recall::{self, Terms, analysis};

use crate::Failure;
use crate::synthetic::{self, Dice};

const BATCH: u64 = 10_000;

pub(crate) struct Corpus {
    pub(crate) size: u64,
}

impl Corpus {
    /// Hands out the analysed memories, numbered from 1, some at a time.
    pub(crate) fn each(&self, mut each: impl FnMut(&[(i64, String)]) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut dice = Dice::new(1);
        let mut next = 1;
        while next <= self.size {
            let end = (next + BATCH).min(self.size + 1);
            let batch: Vec<(i64, String)> =
                (next..end).map(|nth| (nth as i64, analysis::index_text(&synthetic::memory(&mut dice)))).collect();
            each(&batch)?;
            next = end;
        }
        Ok(())
    }
}

/// A question as terms.
pub(crate) struct Question {
    /// What recall looks for.
    pub(crate) content: Vec<String>,
    /// With its stop words.
    pub(crate) all: Vec<String>,
}

pub(crate) fn questions(count: usize) -> Vec<Question> {
    let mut dice = Dice::new(2);
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let question = || {
        let text = synthetic::question(&mut dice);
        let content = recall::Question::of(&text, &now).terms();
        let stopped = Terms::of_query(&text).stopped();
        let all = content.iter().chain(stopped.as_slice()).cloned().collect();
        Question { content, all }
    };
    std::iter::repeat_with(question).take(count).collect()
}
