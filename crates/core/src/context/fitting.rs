//! Which memories fit a message well enough to be given with it.
//!
//! Memories come first, evidence (turns and summaries) behind them. A floor decides for each: what does not fit surely
//! enough is left out, and a message that nothing fits gets nothing. A message that names a time admits what was said then.

use std::collections::HashSet;

use crate::error::Done;
use crate::model::{EntryId, Kind, Layer, SessionId, Source, Turn};
use crate::ports::Page;
use crate::recall::analysis::stems;
use crate::recall::find::Fallback;
use crate::recall::fold::{fold, fold_around};
use crate::recall::{Filter, FoundBy, Hit, Projects, Question, RecallRequest, Scope, Why, distinct_words, past};
use crate::settings::InjectAt;

use super::asked::{self, asks_same};
use super::muted::is_muted;
use super::passage::passage;
use super::repeats::SeenText;
use super::{ContextRequest, ContextService};

/// How surely something must fit to be given: a memory, what was said, the same where the message asks about the past, and
/// what is of a time that the message names.
const MEMORY_FLOOR: f64 = 0.15;
const TURN_FLOOR: f64 = 0.02;
const PAST_FLOOR: f64 = 0.015;
/// The archive's own entries, where the message does not ask about the past.
const ARCHIVE_FLOOR: f64 = 0.42;
const TIME_FLOOR: f64 = 0.015;
/// A summary repeats what turns say: without a question about the past it must fit very surely.
const SUMMARY_FLOOR: f64 = 0.5;

/// A turn must fit this share as surely as the best one, more where it has no word of the message: otherwise it only stands
/// beside the answer.
const BESIDE_BEST: f64 = 0.15;
const BESIDE_BEST_BY_MEANING: f64 = 0.4;

/// So many summaries are given at most.
const SUMMARIES: usize = 2;

/// So many are looked at: what is in view already, or below the floor, makes room for others.
const LOOKED_AT: usize = 60;

/// So many that were found and left out are noted, with the reason.
const NOTED: usize = 5;

/// So many tasks that were done and share words with a message are looked at; it may name so many.
pub const CANDIDATE_TASKS: usize = 50;
const NAMED_TASKS: usize = 2;

/// What fits a message.
#[derive(Debug, Default)]
pub(super) struct Fitting {
    /// To be given, memories before evidence.
    pub(super) given: Vec<Hit>,
    /// Found, and left out.
    pub(super) left: Vec<Hit>,
}

impl ContextService<'_> {
    /// What fits a message and does not stand in view already.
    pub(super) fn fitting(&self, request: &ContextRequest, message: &str, opening: &str) -> Done<Fitting> {
        let settings = self.kernel.settings;
        let question = Question::of(message, &self.kernel.local_now());
        let (in_view, mut texts) = self.in_view(request)?;
        texts.add(opening);
        let tasks = self.named_tasks(message)?;
        let mut found = self.found(request, message, &question, &tasks)?;
        self.projects.without_quoted(&mut found)?;
        let (summaries, statements): (Vec<Hit>, Vec<Hit>) = found.into_iter().partition(is_session_summary);
        let best = best_turn(&statements);
        let is_sure = |hit: &Hit| hit.score >= floor(hit, &question, &tasks, best);
        let sure: HashSet<EntryId> =
            statements.iter().filter(|hit| is_sure(hit)).map(|hit| hit.memory.entry.id.clone()).collect();
        let (spoken, asked) = (distinct_words(message), asked::content(message));
        let muted = self.muted(request.project.as_deref())?;
        let is_in_view = |hit: &Hit| {
            let entry = &hit.memory.entry;
            in_view.contains(&entry.id) || texts.has(&entry.content)
        };
        let is_news = |hit: &Hit| {
            let entry = &hit.memory.entry;
            let is_question = || is_turn(hit) && entry.source == Source::User && asks_same(&entry.content, &asked);
            // What reads the text comes last.
            let may_be_given = may_be_given(hit) && !is_muted(hit, &muted) && !is_weak(hit, &question);
            let says_something = || !is_small_talk(hit) && !is_question() && adds_something(&entry.content, &spoken);
            may_be_given && !is_in_view(hit) && says_something()
        };
        // A memory and the turns it came from are one statement: one of them must fit.
        let fits = |hit: &Hit| sure.contains(&hit.memory.entry.id) || hit.evidence.iter().any(|id| sure.contains(id));
        let (mut fitting, left): (Vec<Hit>, Vec<Hit>) = fold_around(statements, is_in_view).into_iter().partition(fits);
        fitting.retain(is_news);
        let mut left: Vec<Hit> = left.into_iter().filter(is_news).take(NOTED).collect();
        // A summary is evidence of what it repeats. It is given itself where it fits and no turn of its conversation does.
        let told: HashSet<SessionId> =
            fitting.iter().filter(|hit| is_turn(hit)).filter_map(|hit| hit.memory.entry.session.clone()).collect();
        let is_told = |hit: &Hit| hit.memory.entry.session.as_ref().is_some_and(|session| told.contains(session));
        fitting.extend(summaries.into_iter().filter(is_news));
        let (summaries, mut fitting): (Vec<Hit>, Vec<Hit>) = fold(fitting).into_iter().partition(is_session_summary);
        let (summaries, others): (Vec<Hit>, Vec<Hit>) =
            summaries.into_iter().partition(|hit| is_sure(hit) && !is_told(hit));
        fitting.extend(summaries.into_iter().take(SUMMARIES));
        left.extend(others);
        left.truncate(NOTED);
        let (mut given, mut evidence): (Vec<Hit>, Vec<Hit>) = fitting.into_iter().partition(is_memory);
        given.truncate(settings.recall_limit);
        // Passages of the vault stand behind the memories and take no memory's place.
        evidence
            .extend(self.vault.passages_for(message).into_iter().filter(|hit| !in_view.contains(&hit.memory.entry.id)));
        evidence.truncate(settings.evidence_limit);
        given.extend(evidence);
        texts.leave_out_repeats(&mut given);
        for hit in given.iter_mut().filter(|hit| !is_memory(hit)) {
            hit.memory.entry.content = passage(&hit.memory.entry.content, &question).into_owned();
        }
        Ok(Fitting { given, left })
    }

    /// What the model sees already, by id and as text: what was given in this conversation, and its own turns that are
    /// still sent; or what the host says. A statement may be kept under several ids.
    fn in_view(&self, request: &ContextRequest) -> Done<(HashSet<EntryId>, SeenText)> {
        let settings = self.kernel.settings;
        let shows_again = request.repeat || settings.inject_repeat || settings.inject_at == InjectAt::SystemPrompt;
        let (mut ids, mut texts) = (HashSet::new(), SeenText::default());
        if let Some(in_view) = &request.in_view {
            in_view.texts.iter().for_each(|text| texts.add(text));
            return Ok((in_view.ids.iter().cloned().collect(), texts));
        }
        let Some(session) = &request.session else { return Ok((ids, texts)) };
        if !shows_again {
            let given = self.injections.injected(session)?;
            self.recall.texts(&given)?.iter().for_each(|text| texts.add(text));
            ids.extend(given);
        }
        for turn in self.sent(session)? {
            texts.add(&turn.content);
            ids.insert(EntryId::new(turn.id.as_str()));
        }
        Ok((ids, texts))
    }

    /// The turns of a conversation that are still sent to its model.
    pub(crate) fn window(&self, session: &SessionId) -> Done<Vec<EntryId>> {
        Ok(self.sent(session)?.into_iter().map(|turn| EntryId::new(turn.id.as_str())).collect())
    }

    fn sent(&self, session: &SessionId) -> Done<Vec<Turn>> {
        let Some(state) = self.session_store.session(session)? else { return Ok(Vec::new()) };
        let turns = self.turns.turns_after(session, state.kept_from)?;
        Ok(turns.into_iter().map(|(_, turn)| turn).collect())
    }

    /// Everything that may fit, best first: by what is said, by the tasks that are named, and by the time.
    fn found(&self, request: &ContextRequest, message: &str, question: &Question, tasks: &[String]) -> Done<Vec<Hit>> {
        let recall = self.for_message(request, message, question)?;
        let mut hits = self.recall.find(&recall, Fallback::Nothing)?;
        for task in tasks {
            // A task that is named is meant, whatever project this conversation is about.
            let filter = Filter {
                layers: vec![Layer::Archive],
                kinds: vec![Kind::Entry],
                task: Some(task.clone()),
                projects: Projects::Any,
                ..recall.filter.clone()
            };
            let named = self.recall.find(&RecallRequest { filter, limit: 1, ..recall.clone() }, Fallback::Nothing)?;
            hits.extend(named);
        }
        for time in &question.times {
            let filter = Filter { since: Some(time.from), until: Some(time.until), ..recall.filter.clone() };
            hits.extend(
                self.recall.find(&RecallRequest { filter: filter.clone(), ..recall.clone() }, Fallback::Nothing)?,
            );
            let summaries = Filter { layers: vec![Layer::Archive], kinds: vec![Kind::Entry], ..filter };
            let listing =
                self.entries.list(&summaries, &Page { limit: self.kernel.settings.recall_limit, cursor: None })?;
            let by_date = |memory| Hit::of(memory, Why::only(FoundBy::Date));
            hits.extend(listing.memories.into_iter().map(by_date));
        }
        // What a conversation's own summary says is still in its window, as turns or as that summary.
        let is_own = |hit: &Hit| is_session_summary(hit) && hit.memory.entry.session == request.session;
        let mut seen = HashSet::new();
        hits.retain(|hit| !is_own(hit) && seen.insert(hit.memory.entry.id.clone()));
        self.recall.lineage.current(hits, &recall)
    }

    /// Tasks that were done and that a message names, the latest first.
    fn named_tasks(&self, message: &str) -> Done<Vec<String>> {
        let words = distinct_words(message);
        let mut about = self.task_store.done_tasks_sharing(&words, CANDIDATE_TASKS)?;
        about.retain(|task| past::is_about(&words, task));
        about.sort_by_key(|task| std::cmp::Reverse(task.done_at));
        Ok(about.into_iter().take(NAMED_TASKS).map(|task| task.id.to_string()).collect())
    }

    /// What is in reach of a conversation.
    fn for_message(&self, request: &ContextRequest, message: &str, question: &Question) -> Done<RecallRequest> {
        let user = self.kernel.settings.namespace.clone();
        let scope = request.session.clone().map_or(Scope::Everything, |session| Scope::Session { session, user });
        let projects = self.projects.reach(request.project.as_deref(), question)?;
        let filter = Filter { scope, projects, ..Filter::recallable(self.kernel.now) };
        Ok(RecallRequest { query: message.to_owned(), limit: LOOKED_AT, filter })
    }
}

fn is_session_summary(hit: &Hit) -> bool {
    hit.memory.entry.key.as_deref().is_some_and(|key| key.starts_with("session_"))
}

fn is_memory(hit: &Hit) -> bool {
    hit.memory.entry.layer != Layer::Archive
}

/// Working memory stands in the opening; what tools printed is no evidence of anything that was said.
fn may_be_given(hit: &Hit) -> bool {
    let entry = &hit.memory.entry;
    match entry.kind {
        Kind::Bullet => entry.layer != Layer::Archive,
        Kind::Turn => entry.source != Source::System,
        Kind::Entry | Kind::Chunk => true,
    }
}

/// The value of one feature of a hit.
fn feature(hit: &Hit, name: &str) -> f64 {
    hit.why.features.iter().find(|feature| feature.name == name).map_or(0.0, |feature| feature.value)
}

/// Whether a memory has no more than one weak word in common with the message, nor its meaning.
fn is_weak(hit: &Hit, question: &Question) -> bool {
    /// In units of what five rare words say: about one rare word, or two ordinary ones.
    const STRONG: f64 = 0.19;
    /// In units of four standard deviations above the mean of unrelated texts.
    const SAME_MEANING: f64 = 0.9;
    let value = |name: &str| feature(hit, name);
    let answers = question.is_asking && value("cover") >= 0.3;
    is_memory(hit)
        && value("strength") < STRONG
        && !answers
        && value("meaning") < SAME_MEANING
        && value("personal") < 0.5
}

/// Whether a turn says next to nothing and is found by what stands around it: "Sounds lovely!".
fn is_small_talk(hit: &Hit) -> bool {
    const WORDS: usize = 2;
    let is_beside = ["cover", "answers", "time"].iter().all(|name| feature(hit, name) == 0.0);
    let words = || stems(&hit.memory.entry.content).iter().filter(|(_, is_stop)| !is_stop).count();
    is_turn(hit) && is_beside && words() <= WORDS
}

/// So much of a text must be the message itself for the text to say nothing more.
const REPEATED: f64 = 0.9;

/// Whether a text says more than the message itself: "run it again" is not answered by the same words of last week.
fn adds_something(text: &str, spoken: &[String]) -> bool {
    // So many words are not all of a message that has so few.
    if text.split_whitespace().nth(3 * spoken.len()).is_some() || surely_adds_something(text, spoken) {
        return true;
    }
    let words = distinct_words(text);
    let known = words.iter().filter(|word| spoken.binary_search(word).is_ok()).count();
    words.is_empty() || (known as f64) < REPEATED * words.len() as f64
}

/// The same as far as the first words of an English text tell. A word gives two terms at most; those of the others may all be
/// known.
fn surely_adds_something(text: &str, spoken: &[String]) -> bool {
    if !text.is_ascii() {
        return false;
    }
    // The `s` of `Ada's` is no word.
    let is_word = |word: &&str| !word.is_empty() && !word.eq_ignore_ascii_case("s");
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word);
    let most = 2 * words().count();
    let enough = ((1.0 - REPEATED) * most as f64) as usize + 1;
    let mut unknown: Vec<String> = Vec::new();
    for word in words() {
        for term in distinct_words(word) {
            if spoken.binary_search(&term).is_err() && !unknown.contains(&term) {
                unknown.push(term);
            }
        }
        if unknown.len() > enough {
            return true;
        }
    }
    false
}

/// Whether a turn says more of the message than one weak word, or follows a question that has words of it.
fn has_words_of_message(hit: &Hit) -> bool {
    const MORE_THAN_WEAK: f64 = 0.2;
    feature(hit, "cover") >= MORE_THAN_WEAK || feature(hit, "answers") > 0.0
}

fn is_turn(hit: &Hit) -> bool {
    hit.memory.entry.kind == Kind::Turn
}

/// How surely the best turn fits.
fn best_turn(hits: &[Hit]) -> f64 {
    hits.iter().filter(|hit| is_turn(hit)).map(|hit| hit.score).fold(0.0, f64::max)
}

/// How surely this must fit, where the best turn fits as surely as `best`.
fn floor(hit: &Hit, question: &Question, tasks: &[String], best: f64) -> f64 {
    let least = best * if has_words_of_message(hit) { BESIDE_BEST } else { BESIDE_BEST_BY_MEANING };
    let entry = &hit.memory.entry;
    let is_of_time = question.times.iter().any(|time| time.from <= entry.created_at && entry.created_at < time.until);
    let is_of_task = entry.task.as_ref().is_some_and(|task| tasks.contains(task));
    if is_of_time || is_of_task {
        // A message that says little beyond the time asks for whatever was then.
        return if question.says_little() || is_of_task { 0.0 } else { TIME_FLOOR };
    }
    // "Thanks!", "run it again": nothing is asked that a memory could answer.
    if question.says_little() && !question.is_asking {
        return f64::INFINITY;
    }
    match (entry.kind, is_memory(hit), question.asks_past) {
        (Kind::Turn, false, true) => PAST_FLOOR.max(least),
        (_, false, true) => PAST_FLOOR,
        (Kind::Entry, false, false) if is_session_summary(hit) => SUMMARY_FLOOR,
        (Kind::Entry, false, false) => ARCHIVE_FLOOR,
        (_, true, _) => MEMORY_FLOOR,
        (_, false, false) => TURN_FLOOR.max(least),
    }
}
