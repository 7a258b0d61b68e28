//! Which updates are done, and which messages hold a reply that is being written: kept across restarts.
//!
//! The Bot API gives an update again until one behind it is asked for. So nothing is asked for behind an update that is not
//! done, and those that are done already are passed over.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::channels::Desk;

/// As many strangers as are remembered; more are not answered at all.
const MOST_STRANGERS: usize = 1000;

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Marks {
    /// The bot that these are about: another has other updates.
    bot: i64,
    /// All updates before this one are done.
    next: Option<i64>,
    /// Updates behind it that are done.
    done: BTreeSet<i64>,
    /// The messages that show the reply to an update, while it is written.
    drafts: BTreeMap<i64, Vec<i64>>,
    /// Chats that were told that they are not on the list.
    refused: BTreeSet<i64>,
}

/// What is kept, and what is under way.
#[derive(Debug, Default)]
pub(super) struct Book {
    marks: Marks,
    pending: BTreeSet<i64>,
}

impl Book {
    /// What was kept for this bot, if anything.
    pub(super) fn of(bot: i64, kept: Option<&str>) -> Self {
        let kept = kept.and_then(|kept| serde_json::from_str::<Marks>(kept).ok()).filter(|marks| marks.bot == bot);
        Self { marks: kept.unwrap_or(Marks { bot, ..Marks::default() }), pending: BTreeSet::new() }
    }

    /// The first update to ask for; none if there never was one.
    pub(super) fn offset(&self) -> Option<i64> {
        self.pending.first().copied().or(self.marks.next)
    }

    /// Takes an update in hand that came when those from `asked` on were asked for, unless it is done or in hand already.
    ///
    /// One with a smaller id than was asked for belongs to a new sequence: the Bot API begins one after a week of silence.
    pub(super) fn take(&mut self, update: i64, asked: Option<i64>) -> bool {
        if asked.is_some_and(|asked| update < asked) && self.pending.is_empty() {
            self.marks.next = None;
            self.marks.done.clear();
        }
        // An answer may be older than what was done since it was asked for.
        let is_known = self.marks.next.is_some_and(|next| update < next) || self.marks.done.contains(&update);
        self.marks.next = self.marks.next.max(Some(update + 1));
        !is_known && self.pending.insert(update)
    }

    /// An update is done.
    pub(super) fn finish(&mut self, update: i64) {
        self.pending.remove(&update);
        self.marks.drafts.remove(&update);
        self.marks.done.insert(update);
        let first = self.pending.first().copied();
        self.marks.done.retain(|done| first.is_some_and(|first| *done > first));
    }

    /// What is kept, as text.
    fn text(&self) -> String {
        let marks = Marks { next: self.offset(), ..self.marks.clone() };
        serde_json::to_string(&marks).unwrap_or_default()
    }
}

/// The book, shared by all that are at work.
pub(super) struct Ledger {
    desk: Desk,
    book: Mutex<Book>,
}

impl Ledger {
    pub(super) fn new(desk: Desk, book: Book) -> Self {
        Self { desk, book: Mutex::new(book) }
    }

    pub(super) async fn offset(&self) -> Option<i64> {
        self.book.lock().await.offset()
    }

    /// Takes an update in hand; see [`Book::take`].
    pub(super) async fn take(&self, update: i64, asked: Option<i64>) -> bool {
        self.book.lock().await.take(update, asked)
    }

    /// An update is done that needed nothing: it does not matter if it comes again.
    pub(super) async fn pass(&self, update: i64) {
        self.book.lock().await.finish(update);
    }

    /// An update is done.
    pub(super) async fn finish(&self, update: i64) {
        self.change(|book| book.finish(update)).await;
    }

    /// The messages that were sent for an update before it was done.
    pub(super) async fn drafts(&self, update: i64) -> Vec<i64> {
        self.book.lock().await.marks.drafts.get(&update).cloned().unwrap_or_default()
    }

    /// These messages show the reply to an update.
    pub(super) async fn draft(&self, update: i64, messages: Vec<i64>) {
        self.change(|book| drop(book.marks.drafts.insert(update, messages))).await;
    }

    /// Whether a chat that is not on the list is told so: once.
    pub(super) async fn refuse(&self, chat: i64) -> bool {
        let is_known = {
            let book = self.book.lock().await;
            book.marks.refused.contains(&chat) || book.marks.refused.len() >= MOST_STRANGERS
        };
        if !is_known {
            self.change(|book| book.marks.refused.extend([chat])).await;
        }
        !is_known
    }

    /// Changes the book and keeps it. Where that fails, the channel goes on: an update may come twice after a restart.
    async fn change(&self, change: impl FnOnce(&mut Book)) {
        let mut book = self.book.lock().await;
        change(&mut book);
        if let Err(problem) = self.desk.keep_marks(book.text()).await {
            tracing::warn!(problem = problem.message, "what was answered on Telegram is not noted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The book as the next process finds it.
    fn again(book: &Book) -> Book {
        Book::of(1, Some(&book.text()))
    }

    #[test]
    fn an_update_is_taken_once_and_asked_for_until_it_is_done() {
        let mut book = Book::of(1, None);
        assert_eq!(book.offset(), None);
        assert!([10, 11, 12].into_iter().all(|id| book.take(id, None)));
        assert!(!book.take(11, None));
        book.finish(11);
        assert_eq!(book.offset(), Some(10), "10 is not done");
        assert!(!book.take(11, Some(10)), "done behind one that is not");
        // Killed: 10 and 12 come again, 11 does not count twice.
        let mut book = again(&book);
        assert_eq!(book.offset(), Some(10));
        assert_eq!([10, 11, 12].map(|id| book.take(id, Some(10))), [true, false, true]);
        book.finish(10);
        assert!(!book.take(10, Some(10)), "the answer to an older question");
        book.finish(12);
        assert_eq!((book.offset(), book.marks.done.len()), (Some(13), 0));
        assert_eq!(again(&book).offset(), Some(13));
    }

    #[test]
    fn a_sequence_that_begins_anew_is_heard_and_another_bot_has_its_own() {
        let mut book = Book::of(1, None);
        book.take(5000, None);
        book.finish(5000);
        let mut book = again(&book);
        assert!(book.take(17, Some(5001)));
        book.finish(17);
        assert_eq!(book.offset(), Some(18));
        assert_eq!(Book::of(2, Some(&book.text())).offset(), None);
        assert_eq!(Book::of(1, Some("{")).offset(), None);
    }

    #[test]
    fn messages_of_a_reply_are_known_until_it_is_done() {
        let mut book = Book::of(1, None);
        book.take(3, None);
        book.marks.drafts.insert(3, vec![70, 71]);
        assert_eq!(again(&book).marks.drafts[&3], [70, 71]);
        book.finish(3);
        assert!(again(&book).marks.drafts.is_empty());
    }
}
