//! Acts, done by a process and noted in the plain collections as far as they were confirmed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;
use throughline_core::engine::{Consolidation, Edit, NewMemory, Said, Visibility, Worker};
use throughline_core::model::{EntryId, Layer, Role, SessionId};
use throughline_core::ports::{Brief, Cost, Model, ModelError, Reply, SummaryOf};
use throughline_core::recall::{Filter, RecallRequest};
use throughline_testkit::simulated::PlantedBug;
use throughline_testkit::{first_fence_tag, reply, stores};

use super::plain::{Known, Words};
use super::steps::{Act, Mood, PROCESSES};
use super::world::{Got, World};

/// Lines of the profile, at most: it has a limit.
const MOST_LINES: usize = 12;

const KEYS: [&str; 2] = ["first-key", "second-key"];

impl World {
    /// Does an act; tells what became of it. `is_first`: not in the middle of another one.
    pub(crate) fn act(self: &Arc<Self>, process: usize, act: &Act, is_first: bool) -> String {
        if is_first {
            self.plain.lock().unwrap().meanwhile.clear();
        }
        match act {
            Act::Remember { hostile } => self.remember(process, is_first, None, *hostile),
            Act::RememberKeyed { key } => self.remember(process, is_first, Some(KEYS[key % KEYS.len()]), false),
            Act::Edit { which } => self.edit(process, is_first, *which),
            Act::Forget { which } => self.forget(process, is_first, *which),
            Act::ForgetAndUndo { which } => self.forget_and_undo(process, is_first, *which),
            Act::Erase { which } => self.erase(process, is_first, *which),
            Act::Say { session } => self.say(process, is_first, &name(*session)),
            Act::Consolidate { session, mood } => self.consolidate(process, is_first, &name(*session), *mood),
            Act::Identity => self.identity(process, is_first),
            Act::Save => {
                if self.plain.lock().unwrap().lines.len() < MOST_LINES {
                    self.save();
                }
                "saved".to_owned()
            }
            Act::Give { session, which } => self.give(process, is_first, &name(*session), *which),
            Act::Recall { which } => self.recall(process, is_first, *which),
            Act::Export => told(&self.verb(process, is_first, |engine| {
                let export = engine.transfer().export()?;
                self.plain.lock().unwrap().export = Some(export);
                Ok(())
            })),
            Act::Import => {
                let Some(export) = self.plain.lock().unwrap().export.clone() else { return "nothing".to_owned() };
                told(&self.verb(process, is_first, |engine| engine.transfer().import(&export).map(drop)))
            }
            Act::Jump { minutes } => {
                self.clock.advance(SignedDuration::from_mins(*minutes));
                "jumped".to_owned()
            }
            Act::Reopen => {
                // A process cannot be ended in the middle of another one's verb, as far as its lock goes.
                self.reopen(process);
                "reopened".to_owned()
            }
        }
    }

    fn remember(&self, process: usize, is_first: bool, key: Option<&str>, hostile: bool) -> String {
        let text = self.plain.lock().unwrap().new_text(hostile);
        let new = NewMemory { key: key.map(str::to_owned), ..NewMemory::fact(text.clone()) };
        let got = self.verb(process, is_first, |engine| engine.memories().remember(&new));
        let mut plain = self.plain.lock().unwrap();
        match &got {
            Got::Done(remembered) => {
                let entry = &remembered.memory.entry;
                if entry.content != text || !remembered.superseded.is_empty() {
                    self.wrong(format!("{text:?} became {entry:?} in the place of {:?}", remembered.superseded));
                }
                match plain.by_id(&entry.id) {
                    Some(nth) => plain.says(nth, text, is_first),
                    None => {
                        plain.add(Some(entry.id.clone()), key.map(str::to_owned), text);
                        let nth = plain.facts.len() - 1;
                        plain.meanwhile.extend((!is_first).then_some(nth));
                    }
                }
            }
            Got::Unsure(_) => plain.add(None, key.map(str::to_owned), text),
            Got::Undone(_) => {}
        }
        told(&got)
    }

    fn edit(&self, process: usize, is_first: bool, which: usize) -> String {
        let Some((nth, id, text)) = self.picked(which) else { return "nothing".to_owned() };
        let edit = Edit { content: Some(text.clone()), ..Edit::default() };
        let got = self.verb(process, is_first, |engine| engine.memories().edit(id.as_str(), &edit));
        let mut plain = self.plain.lock().unwrap();
        match &got {
            Got::Done(_) => plain.says(nth, text, is_first),
            Got::Unsure(_) => drop(plain.facts[nth].now.insert(text)),
            Got::Undone(_) => {}
        }
        told(&got)
    }

    fn forget(&self, process: usize, is_first: bool, which: usize) -> String {
        let Some((nth, id, _)) = self.picked(which) else { return "nothing".to_owned() };
        let got = self.verb(process, is_first, |engine| engine.memories().forget(id.as_str()));
        let fact = &mut self.plain.lock().unwrap().facts[nth];
        match &got {
            Got::Done(_) => fact.active = Known::No,
            Got::Unsure(_) if fact.active == Known::Yes => fact.active = Known::Unknown,
            _ => {}
        }
        told(&got)
    }

    /// Forgets, and takes it back at once; nothing comes in between.
    fn forget_and_undo(&self, process: usize, is_first: bool, which: usize) -> String {
        let Some((nth, id, _)) = self.picked(which) else { return "nothing".to_owned() };
        if !is_first || self.plain.lock().unwrap().facts[nth].active != Known::Yes {
            return "nothing".to_owned();
        }
        self.moments.arm(None);
        let engine = self.engine(process);
        // A file that was saved is a change too, from when it is noticed; an export notices it.
        let noticed = engine.transfer().export().map(drop);
        let done = noticed.and_then(|()| engine.memories().forget(id.as_str())).and_then(|_| engine.history().undo());
        if let Err(error) = &done {
            self.wrong(format!("what was just forgotten does not come back: {error:?}"));
        }
        "undone".to_owned()
    }

    fn erase(&self, process: usize, is_first: bool, which: usize) -> String {
        let Some((nth, id, _)) = self.picked(which) else { return "nothing".to_owned() };
        let got = self.verb(process, is_first, |engine| engine.memories().erase(id.as_str(), false));
        let fact = &mut self.plain.lock().unwrap().facts[nth];
        match &got {
            Got::Done(_) => fact.exists = Known::No,
            Got::Unsure(_) if fact.exists == Known::Yes => fact.exists = Known::Unknown,
            _ => {}
        }
        told(&got)
    }

    fn say(&self, process: usize, is_first: bool, session: &SessionId) -> String {
        let (asked, answered) = {
            let mut plain = self.plain.lock().unwrap();
            (plain.new_text(false), plain.new_text(false))
        };
        let said = [Said::now(Role::User, asked.clone()), Said::now(Role::Assistant, answered.clone())];
        let got = self.verb(process, is_first, |engine| engine.sessions().observe(session, &said));
        let mut plain = self.plain.lock().unwrap();
        let conversation = plain.conversations.entry(session.clone()).or_default();
        conversation.is_mixed |= !is_first;
        let is_kept = match &got {
            Got::Done(_) => Known::Yes,
            Got::Unsure(_) => Known::Unknown,
            Got::Undone(_) => return told(&got),
        };
        conversation.words.extend([asked, answered].map(|text| Words { text, is_kept }));
        told(&got)
    }

    fn consolidate(self: &Arc<Self>, process: usize, is_first: bool, session: &SessionId, mood: Mood) -> String {
        if !self.is_begun(session) {
            return "nothing".to_owned();
        }
        let model = MoodyModel {
            world: Arc::clone(self),
            session: session.clone(),
            other: (process + 1) % PROCESSES,
            mood,
            was_asked: AtomicBool::new(false),
        };
        let worker = Worker { holder: stores::holder(&format!("process {process}")), is_gone: &|_| false };
        let got = self.verb(process, is_first, |engine| engine.consolidation().run(session, &model, None, &worker));
        match &got {
            Got::Done(Consolidation::Done(done)) => format!("consolidated {} turns", done.compacted),
            Got::Done(Consolidation::Archived(done)) => format!("archived {} turns", done.compacted),
            Got::Done(Consolidation::Failed { failures, .. }) => format!("failed {failures} times"),
            other => told(other),
        }
    }

    fn identity(&self, process: usize, is_first: bool) -> String {
        let text = {
            let mut plain = self.plain.lock().unwrap();
            if plain.lines.len() >= MOST_LINES {
                return "nothing".to_owned();
            }
            plain.new_text(false)
        };
        let new = NewMemory { layer: Layer::Identity, ..NewMemory::fact(text.clone()) };
        let got = self.verb(process, is_first, |engine| engine.memories().remember(&new));
        let is_kept = match &got {
            Got::Done(_) => Known::Yes,
            Got::Unsure(_) => Known::Unknown,
            Got::Undone(_) => return told(&got),
        };
        self.plain.lock().unwrap().lines.push(Words { text, is_kept });
        told(&got)
    }

    /// What goes to a model has one fence, which nothing that is stored ends, and the message behind it as it was typed.
    fn give(&self, process: usize, is_first: bool, session: &SessionId, which: usize) -> String {
        let Some((nth, ..)) = self.picked(which).filter(|_| self.is_begun(session)) else {
            return "nothing".to_owned();
        };
        let fact = self.plain.lock().unwrap().facts[nth].clone();
        let words = fact.now.first().cloned().unwrap_or_default().replace("</memory-context>", "");
        let message = format!("what do you know about {words}?");
        let got = self.verb(process, is_first, |engine| engine.context().give(session, &message, Visibility::Once));
        let Got::Done(context) = &got else { return told(&got) };
        let mut text = context.message.clone().unwrap_or_default();
        if self.bug == Some(PlantedBug::FenceNotEscaped) {
            text = text.replace("(/memory-context>", "</memory-context>");
        }
        if let Err(why) = is_fenced(&text, &message) {
            self.wrong(format!("{why}: {text:?}"));
        }
        format!("gave {} memories", context.parts.len())
    }

    /// An active fact is found by its words, and a forgotten one is not.
    fn recall(&self, process: usize, is_first: bool, which: usize) -> String {
        let Some((nth, ..)) = self.picked(which) else { return "nothing".to_owned() };
        let before = self.plain.lock().unwrap().facts[nth].clone();
        let got = self.verb(process, is_first, |engine| found(engine, before.now.first().unwrap()));
        let Got::Done(found) = &got else { return told(&got) };
        let is_found = before.id.as_ref().is_some_and(|id| found.contains(id));
        if is_first && !self.moments.passed().happened && is_found != (before.active == Known::Yes) {
            self.wrong(format!("{before:?} is found: {is_found}"));
        }
        format!("found {}", found.len())
    }

    fn is_begun(&self, session: &SessionId) -> bool {
        let plain = self.plain.lock().unwrap();
        let words = plain.conversations.get(session).map(|conversation| &conversation.words);
        words.is_some_and(|words| words.iter().any(|words| words.is_kept == Known::Yes))
    }

    /// A fact, its id, and a new text.
    fn picked(&self, which: usize) -> Option<(usize, EntryId, String)> {
        let mut plain = self.plain.lock().unwrap();
        let nth = plain.pick(which)?;
        let text = plain.new_text(false);
        Some((nth, plain.facts[nth].id.clone()?, text))
    }
}

/// The ids that the first word of a text finds.
pub(crate) fn found(
    engine: &throughline_core::engine::Engine,
    text: &str,
) -> Result<Vec<EntryId>, throughline_core::engine::EngineError> {
    let query = text.split(' ').next().unwrap_or_default().to_owned();
    let filter = Filter::recallable(engine.now());
    let recall = engine.recall().recall(&RecallRequest { query, limit: 50, filter })?;
    Ok(recall.hits.into_iter().map(|hit| hit.memory.entry.id).collect())
}

fn is_fenced(text: &str, message: &str) -> Result<(), &'static str> {
    let Some(block) = text.strip_suffix(message) else { return Err("the message is not as it was typed") };
    if block.is_empty() {
        return Ok(());
    }
    let inside = block.strip_prefix("<memory-context>").and_then(|rest| rest.strip_suffix("</memory-context>\n\n"));
    let Some(inside) = inside else { return Err("what is given is not fenced") };
    if first_fence_tag(inside).is_some() { Err("the fence is broken") } else { Ok(()) }
}

fn told<T>(got: &Got<T>) -> String {
    match got {
        Got::Done(_) => "done".to_owned(),
        Got::Undone(why) => format!("not done: {why}"),
        Got::Unsure(why) => format!("perhaps done: {why}"),
    }
}

fn name(session: usize) -> SessionId {
    format!("cli:{}", session % 2).parse().unwrap()
}

/// A model with a mood. It notes which turns it was shown.
struct MoodyModel {
    world: Arc<World>,
    session: SessionId,
    other: usize,
    mood: Mood,
    was_asked: AtomicBool,
}

impl MoodyModel {
    /// What happens while it thinks, the first time.
    fn meanwhile(&self) {
        let session = usize::from(self.session.as_str() == "cli:1");
        match self.mood {
            Mood::Slow => {
                self.world.clock.advance(SignedDuration::from_mins(11));
                self.world.act(self.other, &Act::Consolidate { session, mood: Mood::Sound }, false);
            }
            Mood::Interrupted => drop(self.world.act(self.other, &Act::Say { session }, false)),
            _ => {}
        }
    }
}

impl Model for MoodyModel {
    fn provider(&self) -> &'static str {
        "simulated"
    }

    fn name(&self) -> &str {
        "moody"
    }

    fn cost(&self) -> Cost {
        Cost::Free
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, _: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        if let Brief::Summarise(brief) = brief {
            let shown = brief.turns.iter().map(|turn| turn.id.clone());
            self.world.plain.lock().unwrap().shown.extend(shown);
        }
        if !self.was_asked.swap(true, Ordering::SeqCst) {
            self.meanwhile();
        }
        match (self.mood, brief) {
            (Mood::Failing, _) => Err(ModelError::Unreachable { provider: "simulated", why: "it is down".to_owned() }),
            (Mood::Garbage, _) => Ok(reply("<html><body>502 {\"facts\": [")),
            (_, Brief::Summarise(_)) => {
                let text = self.world.plain.lock().unwrap().new_text(false);
                Ok(reply(format!("## Working on\n- {text}")))
            }
            _ => Ok(reply(r#"{"facts": []}"#)),
        }
    }
}
