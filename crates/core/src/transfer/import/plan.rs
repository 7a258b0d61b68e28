//! What an import does: decided against what is here, touching nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;

use crate::context;
use crate::error::{Done, EngineError};
use crate::input;
use crate::memories::place::Placement;
use crate::model::{
    Change, ChangeId, ContentHash, Entry, EntryId, Kind, Layer, Namespace, Position, Role, SessionId, Source, Status,
    Turn, TurnId, Verb, derived,
};
use crate::off_record::asks_not_to_be_kept;
use crate::ports::{NewSession, Op, Page};
use crate::recall::Filter;
use crate::statements;
use crate::text::redact::redact;
use crate::transfer::TransferService;
use crate::transfer::formats::{Found, FoundMemory, FoundSession, FoundTurn, skip};

use super::ImportReport;

/// How many samples a report shows, and how much of each.
pub(super) const SAMPLES: usize = 5;
const SAMPLE_CHARS: usize = 100;

/// How many entries are read at a time.
const PAGE: usize = 1000;

/// What an import does.
pub(super) struct Plan {
    pub(super) change: Change,
    pub(super) ops: Vec<Op>,
    /// The profile as it is and as it will be.
    pub(super) profile: Placement,
    /// Lines of the profile that another assistant wrote.
    pub(super) learnt: HashSet<EntryId>,
    pub(super) sessions: HashMap<SessionId, NewSession>,
    pub(super) turns: Vec<Turn>,
    pub(super) report: ImportReport,
}

impl Plan {
    /// Decides. `done` are the entries that this very import has stored already, `refused` the ids of changes that it
    /// cannot have.
    pub(crate) fn of(
        engine: &TransferService<'_>,
        found: &Found,
        done: &HashSet<EntryId>,
        refused: &HashSet<ChangeId>,
    ) -> Done<Self> {
        let projects: BTreeSet<&str> = found.memories.iter().filter_map(|memory| memory.project.as_deref()).collect();
        projects.into_iter().try_for_each(|name| input::project(name).map(drop))?;
        let undone = engine.undone_imports()?;
        let change = Change { id: change_id(found, &[&undone, refused]), ..engine.kernel.change(Verb::Import) };
        let report = ImportReport {
            files: found.files.clone(),
            skipped: found.skipped.clone(),
            adjusted: found.adjusted.clone(),
            ..ImportReport::default()
        };
        let mut plan = Self {
            change,
            ops: Vec::new(),
            profile: Placement::default(),
            learnt: HashSet::new(),
            sessions: HashMap::new(),
            turns: Vec::new(),
            report,
        };
        if !found.memories.is_empty() {
            let mut here = Here { undone, ..Here::read(engine)? };
            for memory in &found.memories {
                if memory.layer != Layer::Identity {
                    plan.memory(engine, memory, &mut here, done)?;
                } else if !plan.line(engine, memory, &mut here)? {
                    let knowledge = FoundMemory { layer: Layer::Knowledge, ..memory.clone() }.saved();
                    plan.memory(engine, &knowledge, &mut here, done)?;
                }
            }
        }
        plan.turns(engine, found)?;
        if !plan.ops.is_empty() || !done.is_empty() || !plan.profile.documents().is_empty() {
            plan.report.change = Some(plan.change.id.clone());
        }
        Ok(plan)
    }

    fn memory(
        &mut self,
        engine: &TransferService<'_>,
        found: &FoundMemory,
        here: &mut Here,
        done: &HashSet<EntryId>,
    ) -> Done<()> {
        let (entry, redacted) = match draft(engine, found) {
            Ok(drafted) => drafted,
            Err(error) => {
                skip(&mut self.report.skipped, &found.place, &error.to_string());
                return Ok(());
            }
        };
        let fate = here.fate(engine, &entry, done)?;
        let layer = entry.layer;
        match fate {
            Fate::Here => self.report.tally(layer).here += 1,
            Fate::Differs => self.report.tally(layer).differing += 1,
            Fate::Forgotten => self.report.tally(layer).forgotten += 1,
            Fate::Done => self.report.tally(layer).added += 1,
            Fate::KeyTaken => skip(&mut self.report.skipped, &found.place, "has a key that is taken here"),
            Fate::Back(entry) => {
                self.report.tally(layer).brought_back += 1;
                self.sample(&entry.content);
                here.add(&entry);
                self.ops.push(Op::Update(*entry));
            }
            Fate::New => {
                self.report.tally(layer).added += 1;
                for kind in redacted {
                    *self.report.redacted.entry(kind).or_default() += 1;
                }
                self.sample(&entry.content);
                here.add(&entry);
                self.ops.push(Op::Insert(entry));
            }
        }
        Ok(())
    }

    /// What a person says about themself, or an assistant kept about them, goes to the profile; `false` where it has no room, or there is none.
    fn line(&mut self, engine: &TransferService<'_>, found: &FoundMemory, here: &mut Here) -> Done<bool> {
        let (entry, redacted) = match draft(engine, found) {
            Ok(drafted) => drafted,
            Err(error) => {
                skip(&mut self.report.skipped, &found.place, &error.to_string());
                return Ok(true);
            }
        };
        if here.says(&entry) || here.ids.contains_key(&entry.id) {
            self.report.profile.here += 1;
            return Ok(true);
        }
        if engine.lineage.is_withdrawn(&entry.content, None)? {
            self.report.profile.forgotten += 1;
            return Ok(true);
        }
        if engine.kernel.settings.namespace.is_none() {
            return Ok(false);
        }
        match engine.memories.add_to_profile(&entry, None, &mut self.profile) {
            Ok(Some(line)) => {
                self.report.profile.added += 1;
                for kind in redacted {
                    *self.report.redacted.entry(kind).or_default() += 1;
                }
                self.sample(&line.content);
                if entry.source != Source::User {
                    self.learnt.insert(line.id.clone());
                }
                here.add(&Entry { id: line.id, content: line.content, ..entry });
                Ok(true)
            }
            Ok(None) | Err(EngineError::IdentityFull { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn sample(&mut self, content: &str) {
        if self.report.samples.len() < SAMPLES {
            let line = content.split_whitespace().take(SAMPLE_CHARS + 1).collect::<Vec<_>>().join(" ");
            self.report.samples.push(cut(&line, SAMPLE_CHARS));
        }
    }

    fn turns(&mut self, engine: &TransferService<'_>, found: &Found) -> Done<()> {
        let mut known: HashSet<TurnId> = HashSet::new();
        let mut seen: HashSet<&SessionId> = HashSet::new();
        for session in found.turns.iter().map(|turn| &turn.session).filter(|session| seen.insert(*session)) {
            match engine.session_store.session(session)? {
                None => self.report.sessions += 1,
                Some(_) => {
                    let turns = engine.turns.turns_after(session, Position::default())?;
                    known.extend(turns.into_iter().map(|(_, turn)| turn.id));
                }
            }
        }
        let ids: Vec<TurnId> = found.turns.iter().map(|turn| TurnId::of_host(&turn.session, &turn.name)).collect();
        let erased = engine.lineage.withdrawals.erased_turns(&ids)?;
        let about: HashMap<&SessionId, &FoundSession> =
            found.sessions.iter().map(|session| (&session.id, session)).collect();
        let mut dates = Dates::of(found, engine.kernel.now);
        let mut unkept: HashSet<&SessionId> = HashSet::new();
        for (turn, id) in found.turns.iter().zip(&ids) {
            let at = dates.next(turn);
            // A reply goes with the message that it answers.
            if turn.role == Role::User && asks_not_to_be_kept(&turn.content) {
                unkept.insert(&turn.session);
            } else if turn.role == Role::User {
                unkept.remove(&turn.session);
            }
            if erased.contains(id) {
                self.report.turns.forgotten += 1;
            } else if unkept.contains(&turn.session) {
                skip(&mut self.report.skipped, &turn.place, "is off the record");
            } else {
                self.turn(turn, at, &mut known);
                if let Some(about) = about.get(&turn.session) {
                    self.sessions.entry(turn.session.clone()).or_insert_with(|| opened(about, at));
                }
            }
        }
        Ok(())
    }

    fn turn(&mut self, found: &FoundTurn, at: Timestamp, known: &mut HashSet<TurnId>) {
        let own = context::without_fence(&found.content);
        let refused = match () {
            () if own.trim().is_empty() => Some("has no text"),
            () if own.len() > input::MAX_TURN => Some("is longer than a megabyte"),
            () if own.contains('\0') => Some("contains a NUL character"),
            () if found.role == Role::Summary => Some("has a role that is not known"),
            () => None,
        };
        if let Some(reason) = refused {
            return skip(&mut self.report.skipped, &found.place, reason);
        }
        let id = TurnId::of_host(&found.session, &found.name);
        if !known.insert(id.clone()) {
            self.report.turns.here += 1;
            return;
        }
        let redacted = redact(&own);
        for kind in &redacted.kinds {
            *self.report.redacted.entry(kind).or_default() += 1;
        }
        self.report.turns.added += 1;
        self.report.first_said_at = Some(self.report.first_said_at.map_or(at, |first| first.min(at)));
        self.report.last_said_at = Some(self.report.last_said_at.map_or(at, |last| last.max(at)));
        self.sample(&format!("{}: {}", found.role, redacted.text));
        let content = redacted.text.into_owned();
        let (session, role) = (found.session.clone(), found.role);
        self.turns.push(Turn { id, session, role, speaker: None, content, at });
    }
}

/// What a store is told about a conversation.
fn opened(about: &FoundSession, at: Timestamp) -> NewSession {
    NewSession {
        id: about.id.clone(),
        title: about.title.as_deref().map(|title| redact(title).text.into_owned()),
        project: about.project.clone(),
        task: None,
        person: None,
        base_prompt: None,
        at,
    }
}

/// A text that is cut where it gets too long, and shows it.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

/// The id of the change: the same for the same import, and another once that was undone, or was somebody else's.
fn change_id(found: &Found, taken: &[&HashSet<ChangeId>]) -> ChangeId {
    let memories = found.memories.iter().flat_map(|memory| [memory.id.as_str(), memory.content.as_str()]);
    let turns = found.turns.iter().flat_map(|turn| [turn.session.as_str(), turn.name.as_str()]);
    let content = derived(&memories.chain(turns).collect::<Vec<_>>());
    let mut nth = 1_u64;
    loop {
        let id = ChangeId::new(derived(&["import", &content, &nth.to_string()]));
        if !taken.iter().any(|ids| ids.contains(&id)) {
            return id;
        }
        nth += 1;
    }
}

/// The entry that a found memory asks for, checked and with secrets taken out.
fn draft(engine: &TransferService<'_>, found: &FoundMemory) -> Done<(Entry, Vec<&'static str>)> {
    let (content, redacted) = input::content(&found.content)?;
    let key = found.key.as_deref().map(input::key).transpose()?;
    let labels = input::labels(&found.tags)?;
    let now = engine.kernel.now;
    let created_at = whole(found.created_at.or(found.updated_at).unwrap_or(now).min(now));
    let entry = Entry {
        id: EntryId::new(found.id.as_str()),
        kind: Kind::Entry,
        namespace: engine.kernel.facts(),
        layer: if found.layer == Layer::Archive { Layer::Archive } else { Layer::Knowledge },
        key,
        content,
        source: found.source,
        status: Status::Active,
        importance: found.importance.unwrap_or_default(),
        tags: labels.tags,
        session: None,
        task: labels.task,
        project: found.project.clone().or(labels.project),
        created_at,
        updated_at: whole(found.updated_at.unwrap_or(created_at).min(now)).max(created_at),
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    };
    Ok((entry, redacted))
}

/// A time in whole milliseconds, as stores keep it.
fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

enum Fate {
    New,
    Back(Box<Entry>),
    Here,
    Differs,
    Forgotten,
    /// Stored a moment ago, by this very import.
    Done,
    KeyTaken,
}

/// Where a text stands: the same text there is the same memory.
type Place = (Namespace, Layer, Option<String>, ContentHash);

/// What is here already.
#[derive(Default)]
struct Here {
    ids: HashMap<EntryId, (Status, ContentHash)>,
    said: HashSet<Place>,
    /// Statements by project and words: what says the same in another order or spelling is here.
    statements: HashMap<(Option<String>, Vec<String>), Vec<String>>,
    keys: HashMap<(Namespace, Option<String>, String), ContentHash>,
    undone: HashSet<ChangeId>,
}

impl Here {
    fn read(engine: &TransferService<'_>) -> Done<Self> {
        let filter = Filter { kinds: vec![Kind::Entry, Kind::Bullet], ..Filter::default() };
        let mut here = Self::default();
        let mut page = Page { limit: PAGE, cursor: None };
        loop {
            let listing = engine.entries.list(&filter, &page)?;
            listing.memories.iter().for_each(|memory| here.add(&memory.entry));
            if listing.cursor.is_none() {
                return Ok(here);
            }
            page.cursor = listing.cursor;
        }
    }

    fn add(&mut self, entry: &Entry) {
        let hash = ContentHash::of(&entry.content);
        self.ids.insert(entry.id.clone(), (entry.status, hash.clone()));
        if entry.status == Status::Inactive {
            return;
        }
        if entry.layer != Layer::Archive {
            let words = (entry.project.clone(), statements::words(&entry.content));
            self.statements.entry(words).or_default().push(entry.content.clone());
        }
        match &entry.key {
            Some(key) => {
                self.keys.insert((entry.namespace.clone(), entry.project.clone(), key.clone()), hash);
            }
            None => {
                self.said.insert((entry.namespace.clone(), entry.layer, entry.project.clone(), hash));
            }
        }
    }

    /// Whether an entry or a line of a document in reach says this already, in whatever order or spelling.
    fn says(&self, entry: &Entry) -> bool {
        let words = statements::words(&entry.content);
        let is_same = |said: &String| statements::same(said, &entry.content);
        let of =
            |project: Option<String>| self.statements.get(&(project, words.clone())).into_iter().flatten().any(is_same);
        entry.layer != Layer::Archive && (of(None) || entry.project.is_some() && of(entry.project.clone()))
    }

    fn fate(&self, engine: &TransferService<'_>, entry: &Entry, done: &HashSet<EntryId>) -> Done<Fate> {
        let hash = ContentHash::of(&entry.content);
        if done.contains(&entry.id) {
            return Ok(Fate::Done);
        }
        let known = self.ids.get(&entry.id);
        match known {
            Some((Status::Active, said)) if *said == hash => return Ok(Fate::Here),
            Some((Status::Active, _)) => return Ok(Fate::Differs),
            _ => {}
        }
        let taken = entry
            .key
            .as_ref()
            .and_then(|key| self.keys.get(&(entry.namespace.clone(), entry.project.clone(), key.clone())));
        match taken {
            Some(said) if *said == hash => return Ok(Fate::Here),
            Some(_) => return Ok(Fate::KeyTaken),
            None => {}
        }
        if entry.key.is_none()
            && self.said.contains(&(entry.namespace.clone(), entry.layer, entry.project.clone(), hash))
        {
            return Ok(Fate::Here);
        }
        if known.is_none() {
            if self.says(entry) {
                return Ok(Fate::Here);
            }
            let is_withdrawn = entry.layer != Layer::Archive && engine.lineage.is_withdrawn(&entry.content, None)?;
            return Ok(if is_withdrawn { Fate::Forgotten } else { Fate::New });
        }
        let current = engine.memories.memory(&entry.id)?.entry;
        Ok(engine.brought_back(&current, &self.undone)?.map_or(Fate::Forgotten, |entry| Fate::Back(Box::new(entry))))
    }
}

/// When turns were said: as the file says, else when the one before was, else when the conversation began, else now.
struct Dates {
    latest: HashMap<SessionId, Timestamp>,
    now: Timestamp,
}

impl Dates {
    fn of(found: &Found, now: Timestamp) -> Self {
        let mut latest = HashMap::new();
        for turn in &found.turns {
            if let (Some(at), false) = (turn.at, latest.contains_key(&turn.session)) {
                latest.insert(turn.session.clone(), at);
            }
        }
        Self { latest, now }
    }

    fn next(&mut self, turn: &FoundTurn) -> Timestamp {
        let latest = self.latest.get_mut(&turn.session);
        let at = match (turn.at, latest) {
            (Some(at), Some(latest)) => {
                *latest = at;
                at
            }
            (at, latest) => at.or(latest.copied()).unwrap_or(self.now),
        };
        whole(at.min(self.now))
    }
}
