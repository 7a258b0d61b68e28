//! Off the record: pauses, excluded places, and messages that ask not to be remembered.
//!
//! While memory is paused, and in an excluded place, nothing is observed and nothing is given; a person's own commands
//! still work. A message that asks for it is not kept, nor is the reply to it. Of a turn that is not kept, only the id
//! stays, and not among the turns: whoever reads a client's transcript again knows that it was seen, and nothing that
//! works on turns ever meets an empty one.

mod exclude;
mod phrases;

use std::path::Path;

use jiff::{Span, Timestamp};
use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::model::{Name, Pause, Role, SessionId, Turn, TurnId};
use crate::ports;

pub use exclude::Exclude;
pub use phrases::asks_not_to_be_kept;

/// Why nothing is observed or given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrecorded {
    /// The channel or the directory is excluded.
    Excluded,
    /// Memory is paused.
    Paused(Pause),
}

/// Whether memory is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PauseState {
    /// Whether nothing is observed or given at the moment.
    pub paused: bool,
    /// Since when.
    pub since: Option<Timestamp>,
    /// When it ends by itself; none if it lasts until `resume`.
    pub until: Option<Timestamp>,
}

impl From<Option<Pause>> for PauseState {
    fn from(pause: Option<Pause>) -> Self {
        let until = pause.and_then(|pause| pause.until);
        Self { paused: pause.is_some(), since: pause.map(|pause| pause.since), until }
    }
}

/// Pauses, and what is off the record.
#[derive(Clone, Copy)]
pub struct OffRecordService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) unrecorded: &'e dyn ports::OffRecord,
    pub(crate) project_store: &'e dyn ports::Projects,
}

impl OffRecordService<'_> {
    /// Observes and gives nothing from now on: for a while, such as `1h`, or until [`resume`](Self::resume).
    pub fn pause(&self, lasting: Option<&str>) -> Done<PauseState> {
        let until = lasting.map(|lasting| self.later(lasting)).transpose()?;
        let pause = Pause { since: self.kernel.now, until };
        self.unrecorded.begin_pause(&pause)?;
        Ok(Some(pause).into())
    }

    /// The end of a while that begins now.
    fn later(&self, lasting: &str) -> Done<Timestamp> {
        let span = lasting.trim().parse::<Span>().ok();
        let until = span.and_then(|span| self.kernel.local_now().checked_add(span).ok()).map(|until| until.timestamp());
        let wrong =
            || EngineError::invalid("the length of a pause", format!("is `{lasting}`; write `30m`, `1h` or `2 days`"));
        until.filter(|until| *until > self.kernel.now).ok_or_else(wrong)
    }

    /// Ends a pause; says how it was before.
    pub fn resume(&self) -> Done<PauseState> {
        let before = self.paused()?;
        if before.is_some() {
            self.unrecorded.end_pauses(self.kernel.now)?;
        }
        Ok(before.into())
    }

    /// Whether memory is paused now.
    pub fn state(&self) -> Done<PauseState> {
        Ok(self.paused()?.into())
    }

    /// A pause lasts until its end, whatever a clock that was set back says about its beginning.
    fn paused(&self) -> Done<Option<Pause>> {
        let pauses = self.unrecorded.pauses()?;
        Ok(pauses.into_iter().rfind(|pause| pause.until.is_none_or(|until| self.kernel.now < until)))
    }

    /// Why a session is off the record, if it is. A project is excluded with its directory.
    pub(crate) fn reason(&self, session: Option<&SessionId>, project: Option<&str>) -> Done<Option<Unrecorded>> {
        if self.is_excluded(session, project)? {
            return Ok(Some(Unrecorded::Excluded));
        }
        Ok(self.paused()?.map(Unrecorded::Paused))
    }

    /// Whether a session takes place where nothing is observed or given.
    pub(crate) fn is_excluded(&self, session: Option<&SessionId>, project: Option<&str>) -> Done<bool> {
        let exclude = &self.kernel.settings.exclude;
        if exclude.everything || session.is_some_and(|session| exclude.covers_channel(session)) {
            return Ok(true);
        }
        let Some(name) = project.filter(|_| !exclude.directories.is_empty()) else { return Ok(false) };
        let Ok(name) = name.parse::<Name>() else { return Ok(false) };
        let dir = self.project_store.project(&name)?.and_then(|project| project.dir);
        Ok(dir.is_some_and(|dir| exclude.covers_directory(Path::new(&dir))))
    }

    /// An error where memory may not be used for a session.
    pub(crate) fn check(&self, session: Option<&SessionId>, project: Option<&str>) -> Done<()> {
        match self.reason(session, project)? {
            None => Ok(()),
            Some(Unrecorded::Excluded) => Err(EngineError::Excluded),
            Some(Unrecorded::Paused(pause)) => Err(EngineError::Paused { until: pause.until }),
        }
    }

    /// An error where the person asked that their latest message is not remembered.
    pub(crate) fn check_latest(&self, session: &SessionId) -> Done<()> {
        if self.unrecorded.is_latest_unkept(session)? { Err(EngineError::Unrecorded) } else { Ok(()) }
    }

    /// The turns that are kept; the others are noted by their ids. In an excluded place not even that is done.
    pub(crate) fn sift(&self, session: &SessionId, project: Option<&str>, turns: Vec<Turn>) -> Done<Sifted> {
        let off = self.reason(Some(session), project)?;
        if off == Some(Unrecorded::Excluded) {
            return Ok(Sifted { unkept: turns.len(), ..Sifted::default() });
        }
        let pauses = self.unrecorded.pauses()?;
        let follows_unkept = self.unrecorded.is_latest_unkept(session)?;
        let is_paused = |turn: &Turn| off.is_some() || pauses.iter().any(|pause| pause.covers(turn.at));
        let (kept, unkept, is_latest) = sifted(turns, follows_unkept, &is_paused);
        if !unkept.is_empty() || is_latest != follows_unkept {
            self.unrecorded.note_unkept(session, &unkept, is_latest)?;
        }
        Ok(Sifted { kept, unkept: unkept.len() })
    }
}

/// What is kept of what was said.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sifted {
    pub(crate) kept: Vec<Turn>,
    /// How many are not.
    pub(crate) unkept: usize,
}

/// Tells turns that are kept from those that are not, and whether the latest message is one of these. A reply goes with the
/// message that it answers.
fn sifted(turns: Vec<Turn>, follows_unkept: bool, is_paused: &dyn Fn(&Turn) -> bool) -> (Vec<Turn>, Vec<TurnId>, bool) {
    let mut is_unkept = follows_unkept;
    let (mut kept, mut unkept) = (Vec::new(), Vec::new());
    for turn in turns {
        if turn.role == Role::User {
            is_unkept = is_paused(&turn) || asks_not_to_be_kept(&turn.content);
        }
        if is_unkept || is_paused(&turn) {
            unkept.push(turn.id);
        } else {
            kept.push(turn);
        }
    }
    (kept, unkept, is_unkept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(role: Role, content: &str) -> Turn {
        let (id, session) = (TurnId::new(content), "cli:main".parse().unwrap());
        Turn { id, session, role, speaker: None, content: content.to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    fn kept(turns: &[(Role, &str)], follows_unkept: bool) -> Vec<String> {
        let turns = turns.iter().map(|(role, text)| turn(*role, text)).collect();
        let (kept, ..) = sifted(turns, follows_unkept, &|turn| turn.content.contains("paused"));
        kept.into_iter().map(|turn| turn.content).collect()
    }

    #[test]
    fn a_message_that_asks_for_it_is_not_kept_nor_is_the_reply() {
        use Role::{Assistant, Tool, User};
        let said = [
            (User, "hello"),
            (Assistant, "hi"),
            (User, "off the record: I am leaving"),
            (Tool, "looked up"),
            (Assistant, "good luck"),
            (User, "what is due?"),
            (Assistant, "nothing"),
        ];
        assert_eq!(kept(&said, false), ["hello", "hi", "what is due?", "nothing"]);
    }

    #[test]
    fn a_reply_that_comes_later_follows_the_message_before_it() {
        use Role::{Assistant, User};
        assert_eq!(kept(&[(Assistant, "good luck")], true), [""; 0]);
        assert_eq!(kept(&[(Assistant, "good luck"), (User, "next")], true), ["next"]);
        assert_eq!(kept(&[(User, "paused"), (Assistant, "reply"), (User, "next")], false), ["next"]);
        assert_eq!(kept(&[(User, "said before"), (Assistant, "paused")], false), ["said before"]);
    }
}
