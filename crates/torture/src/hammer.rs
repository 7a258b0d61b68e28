//! One worker: random verbs from a seed, through the engine that everybody uses.
//!
//! Only what must succeed is asked for, so every error counts. That includes conflicts: a worker never says which
//! version it has seen, it says "this text" or "forget this", and the engine decides such a wish anew when somebody
//! else was faster. (A conflict could only be right for a document written back with the digest that was read, which no
//! worker does.)

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use throughline::synthetic::Dice;
use throughline_core::engine::{Edit, Engine, NewMemory, Remembered};
use throughline_core::model::{DocumentName, EntryId, Kind, Layer, Namespace, Status};
use throughline_core::ports::Page;
use throughline_core::recall::{Filter, RecallRequest};

use crate::said::{Line, Said};
use crate::{Failure, chain, open, person};

/// Who a worker is, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orders {
    /// Its number.
    pub worker: usize,
    /// How often the worker was started again.
    pub life: usize,
    /// Where its chance begins.
    pub seed: u64,
    /// When to stop; without it, when standard input is closed.
    pub ops: Option<u64>,
    /// How many keys everybody shares.
    pub keys: u64,
    /// How many of a hundred operations write under one of them.
    pub keyed: u64,
    /// How many of a hundred operations change the profile, which everybody shares too.
    pub profile: u64,
}

/// A memory that nobody else touches, as it was last acknowledged.
struct Own {
    id: EntryId,
    version: u32,
    word: String,
}

struct Hammer {
    engine: Engine,
    orders: Orders,
    dice: Dice,
    op: u64,
    own: Vec<Own>,
    touched: Vec<String>,
    line: Option<(EntryId, String)>,
}

/// Works until it is told to stop. Gives whether all went well; everything else is on standard output.
pub fn work(home: &Path, orders: Orders) -> bool {
    let mut op = 0;
    match Hammer::open(home, orders).and_then(|mut hammer| hammer.run(&mut op)) {
        Ok(()) => true,
        Err(error) => {
            let error = format!("worker {} life {}: {}", orders.worker, orders.life, chain(&*error));
            // Where even this cannot be printed nobody is listening.
            let _ = say(&Line { op, said: Said::Error { error } });
            false
        }
    }
}

/// One `write` for a whole line: a kill leaves it whole or absent.
fn say(line: &Line) -> Result<(), Failure> {
    let text = format!("{}\n", serde_json::to_string(line)?);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Set when standard input is closed: whoever started us has had enough, or is gone.
fn stopped() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    stop
}

impl Hammer {
    fn open(home: &Path, orders: Orders) -> Result<Self, Failure> {
        let (engine, _) = open(home)?;
        let dice = Dice::new(orders.seed);
        Ok(Self { engine, orders, dice, op: 0, own: Vec::new(), touched: Vec::new(), line: None })
    }

    fn run(&mut self, op: &mut u64) -> Result<(), Failure> {
        let stop = stopped();
        self.clear_the_line_of_an_earlier_life()?;
        while self.orders.ops.map_or_else(|| !stop.load(Ordering::Relaxed), |ops| self.op < ops) {
            self.op += 1;
            *op = self.op;
            self.one()?;
        }
        self.say(Said::Stopped)
    }

    fn say(&self, said: Said) -> Result<(), Failure> {
        say(&Line { op: self.op, said })
    }

    fn one(&mut self) -> Result<(), Failure> {
        let share = self.dice.below(100);
        if share < self.orders.profile {
            return self.profile().map_err(while_doing("change the profile"));
        }
        if share < self.orders.profile + self.orders.keyed {
            return match self.dice.below(100) {
                0..70 => self.remember_shared().map_err(while_doing("remember under a key")),
                70..92 => self.edit_shared().map_err(while_doing("edit under a key")),
                _ => self.forget_shared().map_err(while_doing("forget under a key")),
            };
        }
        match self.dice.below(100) {
            0..42 => self.remember_own().map_err(while_doing("remember")),
            42..57 => self.edit_own().map_err(while_doing("edit")),
            57..67 => self.forget_own().map_err(while_doing("forget")),
            67..85 => self.recall_own().map_err(while_doing("recall")),
            _ => self.list().map_err(while_doing("list")),
        }
    }

    /// A word that nobody else ever writes.
    fn word(&self) -> String {
        format!("w{}l{}o{}", self.orders.worker, self.orders.life, self.op)
    }

    fn text(&self) -> String {
        format!("worker-{} life-{} op-{} {}", self.orders.worker, self.orders.life, self.op, self.word())
    }

    fn remember_own(&mut self) -> Result<(), Failure> {
        let content = self.text();
        let Remembered { memory, .. } = self.engine.memories().remember(&NewMemory::fact(content.clone()))?;
        expect(memory.entry.content == content, || format!("the receipt says {:?}", memory.entry.content))?;
        let (id, version) = (memory.entry.id, memory.entry.version);
        self.own.push(Own { id: id.clone(), version, word: self.word() });
        self.say(Said::Own { id, version, content, status: Status::Active })
    }

    fn edit_own(&mut self) -> Result<(), Failure> {
        let (content, word) = (self.text(), self.word());
        let Some(at) = self.some_own() else { return self.remember_own() };
        let own = &mut self.own[at];
        let edit = Edit { content: Some(content.clone()), ..Edit::default() };
        let entry = self.engine.memories().edit(own.id.as_str(), &edit)?.memory.entry;
        expect((entry.version, &entry.content) == (own.version + 1, &content), || format!("the receipt is {entry:?}"))?;
        (own.version, own.word) = (entry.version, word);
        self.say(Said::Own { id: entry.id, version: entry.version, content, status: Status::Active })
    }

    fn forget_own(&mut self) -> Result<(), Failure> {
        let Some(at) = self.some_own() else { return self.remember_own() };
        let own = self.own.swap_remove(at);
        let content = self.engine.memories().show(own.id.as_str())?.entry.content;
        let forgotten = self.engine.memories().forget(own.id.as_str())?;
        expect(!forgotten.already, || format!("{} was forgotten already", own.id))?;
        self.say(Said::Own { id: own.id, version: own.version + 1, content, status: Status::Inactive })
    }

    fn some_own(&mut self) -> Option<usize> {
        let n = self.own.len() as u64;
        (n > 0).then(|| self.dice.below(n) as usize)
    }

    fn key(&mut self) -> String {
        format!("shared-{}", self.dice.below(self.orders.keys))
    }

    fn remember_shared(&mut self) -> Result<(), Failure> {
        let (key, content) = (self.key(), self.text());
        let new = NewMemory { key: Some(key.clone()), ..NewMemory::fact(content.clone()) };
        let entry = self.engine.memories().remember(&new)?.memory.entry;
        if !self.touched.contains(&key) {
            self.touched.push(key.clone());
        }
        self.say(Said::Shared { id: entry.id, key, version: entry.version, content })
    }

    /// Whatever the key stands for now; once it was written it always stands for something, if only inactive.
    fn edit_shared(&mut self) -> Result<(), Failure> {
        let (key, content) = (self.key(), self.text());
        if !self.touched.contains(&key) {
            return self.remember_shared();
        }
        let edit = Edit { content: Some(content.clone()), ..Edit::default() };
        let entry = self.engine.memories().edit(&key, &edit)?.memory.entry;
        self.say(Said::Shared { id: entry.id, key, version: entry.version, content })
    }

    fn forget_shared(&mut self) -> Result<(), Failure> {
        let key = self.key();
        if !self.touched.contains(&key) {
            return self.remember_shared();
        }
        let forgotten = self.engine.memories().forget(&key)?;
        if forgotten.already { Ok(()) } else { self.say(Said::Dropped { id: forgotten.id, key }) }
    }

    /// What was acknowledged is found at once.
    fn recall_own(&mut self) -> Result<(), Failure> {
        let Some(at) = self.some_own() else { return self.remember_own() };
        let own = &self.own[at];
        let filter = Filter::recallable(self.engine.now());
        let found = self.engine.recall().recall(&RecallRequest { query: own.word.clone(), limit: 10, filter })?;
        let is_there = found.hits.iter().any(|hit| hit.memory.entry.id == own.id);
        expect(is_there, || format!("`{}` is not among the {} hits", own.word, found.hits.len()))
    }

    /// Pages never overlap, whoever writes in between.
    fn list(&self) -> Result<(), Failure> {
        let filter = Filter::recallable(self.engine.now());
        let first = self.engine.memories().list(&filter, &Page { limit: 20, cursor: None })?;
        let Some(cursor) = first.cursor else { return Ok(()) };
        let second = self.engine.memories().list(&filter, &Page { limit: 20, cursor: Some(cursor) })?;
        let twice = second.memories.iter().find(|b| first.memories.iter().any(|a| a.entry.id == b.entry.id));
        expect(twice.is_none(), || format!("{twice:?} is on two pages"))
    }

    /// A line of the profile comes, and goes the next time: few enough to stay within identity's limit.
    fn profile(&mut self) -> Result<(), Failure> {
        if let Some((id, line)) = self.line.take() {
            self.engine.memories().forget(id.as_str())?;
            return self.say(Said::Profile { line, present: false });
        }
        let line = format!("line {}", self.word());
        let new = NewMemory { layer: Layer::Identity, ..NewMemory::fact(line.clone()) };
        let id = self.engine.memories().remember(&new)?.memory.entry.id;
        self.line = Some((id, line.clone()));
        self.say(Said::Profile { line, present: true })
    }

    /// An earlier life was killed before it could take its line back; the limit is for the living.
    fn clear_the_line_of_an_earlier_life(&self) -> Result<(), Failure> {
        let profile = Namespace::Document(DocumentName::profile(&person()?));
        let mine = format!("line w{}l", self.orders.worker);
        let filter = Filter { kinds: vec![Kind::Bullet], ..Filter::default() };
        for memory in self.engine.memories().list(&filter, &Page { limit: 100, cursor: None })?.memories {
            if memory.entry.namespace == profile && memory.entry.content.starts_with(&mine) {
                self.engine
                    .memories()
                    .forget(memory.entry.id.as_str())
                    .map_err(|e| while_doing("clear the profile")(e.into()))?;
                self.say(Said::Profile { line: memory.entry.content, present: false })?;
            }
        }
        Ok(())
    }
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

fn while_doing(doing: &'static str) -> impl Fn(Failure) -> Failure {
    move |error| format!("{doing}: {}", chain(&*error)).into()
}
