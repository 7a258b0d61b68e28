//! Reflection: fetches, asks the model, and has written what came of it, as one change.

pub mod apply;
mod draft;
mod entries;
pub mod lines;
pub mod plan;
pub mod reply;
pub mod same;
pub mod schedule;

use std::collections::HashSet;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError, chain};
use crate::kernel::{Kernel, Race as _, Worker, conflict, retry};
use crate::memories::MemoryService;
use crate::model::{ChangeId, DocumentName, EntryId, Turn, Verb};
use crate::models::ModelService;
use crate::ports::{
    self, Brief, Dropped, ErasureMark, Model, Op, Pass, PassOutcome, ReflectBrief, ReflectFact, TurnMark, TurnsOf,
};
use crate::projects::ProjectService;
use crate::recall::RecallService;
use crate::sessions::Speakers;
use crate::text::{redact::redact, tokens};
use crate::threads::ThreadService;

use draft::Draft;

pub use apply::apply;
pub use lines::{Line, lines};
pub use plan::{Input, Plan, Step, plan};
pub use reply::{NotOperations, Operation, Proposal, parse};
pub use same::says_the_same;
pub use schedule::{Schedule, is_due, next};

/// Turns that one pass reads, the latest, and the room that they may take in tokens.
const MAX_TURNS: usize = 400;
const TURNS_TOKENS: usize = 12_000;
/// Facts that a model is shown, and the room that they may take in tokens.
const MAX_FACTS: usize = 300;
const FACTS_TOKENS: usize = 12_000;
/// How far the first pass looks back.
const FIRST_LOOK: SignedDuration = SignedDuration::from_hours(24 * 7);
/// Passes, and changes, that are looked through for what was undone.
const PASSES: usize = 50;
const CHANGES: usize = 1000;
/// What the person's own tier is called in the log.
const USER: &str = "user";

/// How memory is looked back on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReflectionSettings {
    /// How often, and when not.
    pub schedule: Schedule,
    /// The share of the facts that one pass may remove or change.
    pub max_share: f64,
    /// Whether repeated knowledge is promoted to patterns and profile.
    pub promote: bool,
    /// Whether knowledge that says the same is merged.
    pub merge: bool,
}

impl Default for ReflectionSettings {
    fn default() -> Self {
        let schedule = Schedule { every_hours: 24, quiet_from: 0, quiet_until: 0 };
        Self { schedule, max_share: 0.2, promote: true, merge: true }
    }
}

/// A document before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Difference {
    /// Which document.
    pub name: DocumentName,
    /// The text before.
    pub before: String,
    /// The text after.
    pub after: String,
}

/// What came of a pass.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Reflection {
    /// The pass, its fields at the same level.
    #[serde(flatten)]
    pub pass: Pass,
    /// Whether it only shows what would be done.
    pub dry_run: bool,
    /// The documents that change.
    pub documents: Vec<Difference>,
}

/// What a pass is about.
struct Target {
    name: String,
    project: Option<String>,
    agent: Option<String>,
    documents: Vec<DocumentName>,
}

/// What was said since the last pass.
struct Heard {
    turns: Vec<Turn>,
    from: TurnMark,
    to: TurnMark,
    /// Memories that a pass touched which a person undid: they are left alone.
    refused: HashSet<EntryId>,
}

/// What a model was asked about one document, and what it proposes.
struct Asked {
    document: DocumentName,
    names: Vec<(String, EntryId)>,
    proposal: Proposal,
}

/// Everything that was asked in one pass.
#[derive(Default)]
struct Answers {
    asked: Vec<Asked>,
    left_alone: Vec<Dropped>,
    failure: Option<String>,
    tokens_in: u64,
    tokens_out: u64,
}

/// Passes of reflection.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Passes {
    /// Newest first, each with the documents that it changed.
    pub passes: Vec<Reflection>,
}

/// Reflects on documents and knowledge.
#[derive(Clone, Copy)]
pub struct ReflectionService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) integrity: &'e dyn ports::Health,
    pub(crate) passes: &'e dyn ports::Reflections,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) models: ModelService<'e>,
    pub(crate) projects: ProjectService<'e>,
    pub(crate) recall: RecallService<'e>,
    pub(crate) threads: ThreadService<'e>,
}

impl ReflectionService<'_> {
    fn speakers(&self) -> Speakers<'_> {
        Speakers { session_store: self.session_store, turns: self.turns, documents: self.documents }
    }

    /// Looks back on the person's own memory, or on a project's: distils, weighs, merges, prunes, promotes. Nothing where
    /// somebody else is at it. A dry run asks the model and writes nothing.
    pub fn run(
        &self,
        project: Option<&str>,
        model: &dyn Model,
        worker: &Worker<'_>,
        dry_run: bool,
    ) -> Done<Option<Reflection>> {
        self.run_on(&self.reflect_target(project)?, model, worker, dry_run)
    }

    /// The same for the person's own memory and what was said to one agent: the client or channel that wrote it.
    pub fn run_for_agent(
        &self,
        agent: &str,
        model: &dyn Model,
        worker: &Worker<'_>,
        dry_run: bool,
    ) -> Done<Option<Reflection>> {
        let person = self.reflect_target(None)?;
        let target = Target { name: format!("{USER} by {agent}"), agent: Some(agent.to_owned()), ..person };
        self.run_on(&target, model, worker, dry_run)
    }

    fn run_on(
        &self,
        target: &Target,
        model: &dyn Model,
        worker: &Worker<'_>,
        dry_run: bool,
    ) -> Done<Option<Reflection>> {
        if dry_run {
            return self.look_back(target, model, &|| Ok(true), dry_run);
        }
        // Passes over the same documents take turns, whatever they listen to.
        let name = format!("reflect {}", target.agent.as_ref().map_or(target.name.as_str(), |_| USER));
        let done = self.kernel.with_lease(&name, worker, |hold| self.look_back(target, model, hold, dry_run))?;
        Ok(done.flatten())
    }

    /// The newest passes first, each with the documents that it changed, as far as their history is kept.
    pub fn list(&self, project: Option<&str>, limit: usize) -> Done<Vec<Reflection>> {
        let passes = self.passes(project, limit)?;
        passes
            .into_iter()
            .map(|pass| Ok(Reflection { documents: self.changed_by(&pass)?, dry_run: false, pass }))
            .collect()
    }

    fn changed_by(&self, pass: &Pass) -> Done<Vec<Difference>> {
        let Some(change) = &pass.change else { return Ok(Vec::new()) };
        let mut names: Vec<DocumentName> = pass.applied.iter().filter_map(|step| step.document.clone()).collect();
        names.sort();
        names.dedup();
        let mut documents = Vec::new();
        for name in names {
            let versions = self.history.document_versions(&name)?;
            let Some(at) = versions.iter().position(|version| version.change.id == *change) else { continue };
            let text = |at: usize| versions[at].text.clone().unwrap_or_default();
            let before = at.checked_sub(1).map(text).unwrap_or_default();
            documents.push(Difference { name, before, after: text(at) });
        }
        Ok(documents)
    }

    /// The newest passes first; of one project, where one is given.
    pub fn passes(&self, project: Option<&str>, limit: usize) -> Done<Vec<Pass>> {
        let target = project.map(|project| self.reflect_target(Some(project))).transpose()?;
        Ok(self.passes.passes(target.as_ref().map(|target| target.name.as_str()), limit)?)
    }

    /// Whether a pass over the person's memory, or a project's, is due at this time and place.
    pub fn is_due(&self, project: Option<&str>, zone: &TimeZone) -> Done<bool> {
        let Some((done, tried)) = self.reflected(project)? else { return Ok(false) };
        let now = self.kernel.now.to_zoned(zone.clone());
        Ok(is_due(&self.kernel.settings.reflection.schedule, done, tried, &now))
    }

    /// When the next pass over the person's memory, or a project's, is due at this place; none if none is.
    pub fn next(&self, project: Option<&str>, zone: &TimeZone) -> Done<Option<Timestamp>> {
        let Some((done, tried)) = self.reflected(project)? else { return Ok(None) };
        let now = self.kernel.now.to_zoned(zone.clone());
        Ok(next(&self.kernel.settings.reflection.schedule, done, tried, &now))
    }

    /// When the last whole pass was, and the last of any kind; none if there are none to be.
    fn reflected(&self, project: Option<&str>) -> Done<Option<(Option<Timestamp>, Option<Timestamp>)>> {
        if !self.kernel.settings.enabled || self.kernel.settings.namespace.is_none() {
            return Ok(None);
        }
        let target = self.reflect_target(project)?;
        let passes = self.passes.passes(Some(&target.name), PASSES)?;
        let is_whole = |pass: &&Pass| pass.outcome != PassOutcome::Failed && pass.reason.is_none();
        let done = passes.iter().find(is_whole).map(|pass| pass.at);
        let done = match done {
            Some(at) => Some(at),
            // Before the first pass, the first conversation begins the count.
            None => self.session_store.sessions()?.iter().map(|state| state.session.created_at).min(),
        };
        Ok(Some((done, passes.first().map(|pass| pass.at))))
    }

    fn reflect_target(&self, project: Option<&str>) -> Done<Target> {
        let Some(project) = project else {
            let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
            let documents = vec![DocumentName::memory(namespace), DocumentName::patterns(namespace)];
            return Ok(Target { name: USER.to_owned(), project: None, agent: None, documents });
        };
        let known = self.projects.get(project)?.project.name;
        let file = self.documents.memory_file(Some(known.as_str()))?;
        let file = file.ok_or_else(|| EngineError::NoDirectory { project: known.clone() })?;
        Ok(Target { name: file.to_string(), project: Some(known.to_string()), agent: None, documents: vec![file] })
    }

    fn look_back(
        &self,
        target: &Target,
        model: &dyn Model,
        is_still_alone: &dyn Fn() -> Done<bool>,
        dry_run: bool,
    ) -> Done<Option<Reflection>> {
        // What persons did before this pass is older than it, for whoever undoes it.
        self.documents.notice_all()?;
        self.kernel.unless_erased(|since| {
            let heard = self.heard(target)?;
            let answers = self.ask_about(target, &heard, model)?;
            retry(
                || conflict(&target.name),
                || {
                    if !is_still_alone()? {
                        return Ok(Some(None));
                    }
                    let written = self.write_pass(target, &heard, &answers, (since, dry_run))?;
                    Ok(written.map(Some))
                },
            )
        })
    }

    /// One attempt to write a pass; `None` where another writer was faster.
    fn write_pass(
        &self,
        target: &Target,
        heard: &Heard,
        answers: &Answers,
        (since, dry_run): (&ErasureMark, bool),
    ) -> Done<Option<Reflection>> {
        let draft = self.draft_pass(target, heard, answers)?;
        let change = self.kernel.change(Verb::Reflect);
        let mut pass = self.pass(target, heard, answers, &draft);
        let documents = draft.differences();
        if dry_run || pass.outcome != PassOutcome::Changed {
            if !dry_run {
                self.passes.note_pass(&pass)?;
            }
            return Ok(Some(Reflection { pass, dry_run, documents }));
        }
        pass.change = Some(change.id.clone());
        let kept = Op::Reflected(Box::new(pass.clone()));
        let ops: Vec<Op> = draft.ops.iter().cloned().chain([kept, Op::Unerased(since.clone())]).collect();
        match self.documents.commit_as(&change, &ops, &draft.changed()) {
            Err(EngineError::Document(error)) => {
                let reason = Some(chain(&error));
                let pass = Pass { change: None, outcome: PassOutcome::Failed, reason, applied: Vec::new(), ..pass };
                self.passes.note_pass(&pass)?;
                Ok(Some(Reflection { pass, dry_run, documents: Vec::new() }))
            }
            committed => {
                let committed = committed.unless_outrun()?.flatten();
                Ok(committed.map(|_| Reflection { pass, dry_run, documents }))
            }
        }
    }

    /// What was said since the last pass that ended well: the latest of it, as far as it fits.
    fn heard(&self, target: &Target) -> Done<Heard> {
        let passes = self.passes.passes(Some(&target.name), PASSES)?;
        let last = passes.iter().find(|pass| pass.outcome != PassOutcome::Failed);
        let after = last.map_or_else(TurnMark::default, |pass| pass.ingested.clone());
        let now = self.kernel.now;
        let first_look = now.checked_sub(FIRST_LOOK).unwrap_or(Timestamp::MIN);
        let since = if last.is_some() { Timestamp::MIN } else { first_look };
        let of = match &target.agent {
            Some(agent) => TurnsOf::Channel(agent.clone()),
            None => target.project.clone().map_or(TurnsOf::NoProject, TurnsOf::Project),
        };
        let (said, to) = self.turns.said_after(&of, &after, since, MAX_TURNS)?;
        let said = self.speakers().own_words(said)?;
        let mut room = TURNS_TOKENS;
        let fits = |turn: &Turn| {
            let size = tokens::estimate(&turn.content) + 10;
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        };
        let mut turns: Vec<Turn> = said.into_iter().rev().take_while(fits).collect();
        turns.reverse();
        Ok(Heard { turns, from: after, to, refused: self.refused(&passes)? })
    }

    /// What an undone pass had touched: whoever took it back does not want it again the next day.
    fn refused(&self, passes: &[Pass]) -> Done<HashSet<EntryId>> {
        let undone: HashSet<ChangeId> =
            self.kernel.changes.changes(CHANGES)?.into_iter().filter_map(|change| change.undoes).collect();
        let taken_back = |pass: &&Pass| pass.change.as_ref().is_some_and(|change| undone.contains(change));
        let applied = passes.iter().filter(taken_back).flat_map(|pass| &pass.applied);
        Ok(applied.flat_map(|step| step.ids.iter().cloned()).collect())
    }

    /// Asks about each document that has something to ask about. A model that fails costs this pass, and nothing else.
    fn ask_about(&self, target: &Target, heard: &Heard, model: &dyn Model) -> Done<Answers> {
        let mut answers = Answers::default();
        for name in &target.documents {
            // What is said goes to the memory file; patterns grow by what is repeated.
            let turns = if lines::has_sections(name) { heard.turns.clone() } else { Vec::new() };
            let facts = match self.facts_of(name, &heard.refused)? {
                Ok(facts) => facts,
                Err(reason) => {
                    answers.left_alone.push(Dropped { op: "read".to_owned(), ids: vec![name.to_string()], reason });
                    continue;
                }
            };
            if facts.is_empty() && turns.is_empty() {
                continue;
            }
            let names = facts.iter().map(|(id, fact)| (fact.id.clone(), id.clone())).collect();
            let facts = facts.into_iter().map(|(_, fact)| fact).collect();
            let brief = Brief::Reflect(ReflectBrief { document: name.clone(), facts, turns, now: self.kernel.now });
            let reply = match self.models.ask(model, &brief, &mut |_| true) {
                Ok(reply) => reply,
                Err(error) => {
                    answers.failure = Some(chain(&error));
                    continue;
                }
            };
            answers.tokens_in += reply.tokens_in;
            answers.tokens_out += reply.tokens_out;
            match parse(&reply) {
                Ok(proposal) => answers.asked.push(Asked { document: name.clone(), names, proposal }),
                Err(error) => answers.failure = Some(error.to_string()),
            }
        }
        if let Some(reason) = &answers.failure {
            tracing::warn!(target = target.name, reason, "a document was not looked back on");
        }
        Ok(answers)
    }

    /// The facts of a document as a model is shown them, or why it is left alone.
    fn facts_of(
        &self,
        name: &DocumentName,
        refused: &HashSet<EntryId>,
    ) -> Done<Result<Vec<(EntryId, ReflectFact)>, String>> {
        let document = match self.documents.current_document(name) {
            Err(EngineError::Document(error)) => return Ok(Err(chain(&error))),
            document => document?,
        };
        if !redact(&document.text).kinds.is_empty() {
            return Ok(Err("it holds a secret, so that a change of it could not be undone".to_owned()));
        }
        let mut room = FACTS_TOKENS;
        let mut facts = Vec::new();
        let lines = lines(name, &document.text).into_iter().filter(|line| !refused.contains(&line.id));
        for (at, line) in lines.enumerate().take(MAX_FACTS) {
            let size = tokens::estimate(&line.text) + 10;
            if size > room {
                break;
            }
            room -= size;
            let at_day = self.day_of(&line)?;
            let fact = ReflectFact {
                id: format!("f{}", at + 1),
                text: line.text,
                significance: line.significance,
                section: line.section,
                at: at_day,
            };
            facts.push((line.id, fact));
        }
        Ok(Ok(facts))
    }

    /// The day that a line carries, or when it was first seen.
    fn day_of(&self, line: &Line) -> Done<Option<Timestamp>> {
        let written = line.text.get(..10).and_then(|day| day.parse::<jiff::civil::Date>().ok());
        if let Some(at) = written.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
            return Ok(Some(at.timestamp()));
        }
        Ok(self.entries.memory(&line.id)?.map(|memory| memory.entry.created_at))
    }

    fn pass(&self, target: &Target, heard: &Heard, answers: &Answers, draft: &Draft) -> Pass {
        let outcome = if !draft.is_empty() {
            PassOutcome::Changed
        } else if answers.failure.is_some() {
            PassOutcome::Failed
        } else {
            PassOutcome::Unchanged
        };
        Pass {
            id: self.kernel.new_id(),
            at: self.kernel.now,
            target: target.name.clone(),
            change: None,
            outcome,
            reason: answers.failure.clone(),
            applied: draft.applied.clone(),
            dropped: draft.dropped.clone(),
            // What a model did not answer to is read again.
            ingested: if answers.failure.is_none() { heard.to.clone() } else { heard.from.clone() },
            tokens_in: answers.tokens_in,
            tokens_out: answers.tokens_out,
        }
    }
}
