//! Tools that write. A batch is planned as a whole and applied as one change, or nothing is.

use serde_json::{Value, json};

use crate::documents::{IdentityUsage, fold_blanks};
use crate::error::{Done, EngineError};
use crate::input;
use crate::memories::place::{Placed, Placement, Statement, Wanted};
use crate::memories::{Correction, NewMemory, Outcome, Stored};
use crate::model::{Bullet, DocumentName, Entry, EntryId, Importance, Kind, Layer, Status, Verb};
use crate::ports::Op;
use crate::recall::find::Fallback;
use crate::recall::{Filter, Hit, Projects, RecallRequest, Scope, similarity};
use crate::text::{bullets, tokens};
use crate::tools::parameters::{Action, Operation, Write, WriteLayer};

use super::{Caller, ToolAnswer};

/// What shares this much with a new memory may be the same in other words.
const NEAR: f64 = 0.5;

/// What a receipt shows of each, in tokens.
const NEAR_TOKENS: usize = 100;

/// The most operations of one batch.
const MOST: usize = 50;

/// Memories that may say the same in other words.
type Near = Vec<(EntryId, String)>;

/// What became of one operation; its id is looked up when all is written.
enum Receipt {
    /// A line of identity that is there now, by its words.
    Line(String),
    /// A memory that is there now, with others that may say the same.
    Stored { placed: Placed, outcome: &'static str, near: Near },
    /// Something that is gone now.
    Removed(EntryId),
}

/// What a batch did.
struct Plan {
    receipts: Vec<Receipt>,
    /// The profile, where the batch wrote it.
    profile: Option<String>,
}

impl Caller<'_> {
    pub(crate) fn write(&self, wanted: Write) -> Done<ToolAnswer> {
        let operations = operations(wanted)?;
        self.engine.documents().notice_all_or_warn();
        let plan = |placement: &mut Placement| self.planned(&operations, placement);
        let (plan, stored) = self.engine.memories().write_placed(verb(&operations), &plan)?;
        self.receipts(&plan, &stored)
    }

    /// Everything that a batch does, decided against what is there now.
    fn planned(&self, operations: &[Operation], placement: &mut Placement) -> Done<Plan> {
        placement.check_limit_later();
        let mut receipts = Vec::new();
        for (at, operation) in operations.iter().enumerate() {
            let receipt = self.plan(operation, placement).map_err(|error| at_operation(at, operations.len(), error))?;
            receipts.push(receipt);
        }
        // What a person made too long may be shortened step by step.
        for (before, after) in placement.documents().iter().filter(|(before, after)| is_longer(&before.text, after)) {
            self.engine.documents().check_identity(&before.name, after)?;
        }
        let name = self.engine.kernel.settings.namespace.as_ref().map(DocumentName::profile);
        let profile = name.and_then(|name| placement.text(&name).map(str::to_owned));
        Ok(Plan { receipts, profile })
    }

    fn plan(&self, operation: &Operation, placement: &mut Placement) -> Done<Receipt> {
        match operation.layer {
            WriteLayer::L2 => {
                let problem = "L2 is the archive, which is written by the system alone; use L0 or L1";
                Err(EngineError::invalid("the layer", problem))
            }
            WriteLayer::L0 => self.plan_identity(operation, placement),
            WriteLayer::L1 => self.plan_knowledge(operation, placement),
        }
    }

    fn plan_identity(&self, operation: &Operation, placement: &mut Placement) -> Done<Receipt> {
        let engine = &self.engine;
        let namespace = engine.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        if !operation.tags.is_empty() {
            return Err(EngineError::invalid("identity", "takes no tags; use L1, or leave them out"));
        }
        let name = DocumentName::profile(namespace);
        engine.memories().open_document(&name, placement)?;
        let text = placement.text(&name).unwrap_or_default().to_owned();
        let (after, receipt) = match operation.action {
            Action::Add => return self.plan_line(operation, placement),
            Action::Update => {
                let bullet = self.line(&name, &text, operation)?;
                let (weight, content) = line_of(operation)?;
                let importance = weight.unwrap_or(bullet.importance);
                let changed = bullets::with_replaced(&text, &bullet, &content, importance);
                check_line(&name, &changed, &content)?;
                return self.plan_other_words(&name, changed, &bullet, content, placement);
            }
            Action::Remove => {
                let bullet = self.line(&name, &text, operation)?;
                (bullets::without(&text, &bullet), Receipt::Removed(bullet.id))
            }
        };
        placement.set_text(&name, after);
        Ok(receipt)
    }

    /// A line of identity in other words; what says the same elsewhere goes.
    fn plan_other_words(
        &self,
        name: &DocumentName,
        text: String,
        former: &Bullet,
        content: String,
        placement: &mut Placement,
    ) -> Done<Receipt> {
        let line = bullets::parse(name, &text).into_iter().find(|line| line.span.start == former.span.start);
        placement.set_text(name, text);
        let (entry, _) = self.engine.memories().draft(&self.new_memory(content.clone(), Vec::new(), None)?)?;
        if let Some(line) = line.filter(|line| line.content != former.content) {
            self.engine.memories().supersede_copies(&Entry { id: line.id, ..entry }, placement)?;
        }
        Ok(Receipt::Line(content))
    }

    /// One more line of identity, where nothing says it already.
    fn plan_line(&self, operation: &Operation, placement: &mut Placement) -> Done<Receipt> {
        let (weight, content) = line_of(operation)?;
        let (entry, _) = self.engine.memories().draft(&self.new_memory(content, Vec::new(), None)?)?;
        let entry = Entry { importance: weight.unwrap_or_default(), ..entry };
        let section = operation.section.as_deref().map(input::title).transpose()?;
        let placed = self.engine.memories().place(&Statement::new(entry, Wanted::Profile { section }), placement)?;
        Ok(Receipt::Line(placed.content))
    }

    /// A memory in the assistant's own words, with what the person said last as its source.
    fn new_memory(&self, content: String, tags: Vec<String>, project: Option<String>) -> Done<NewMemory> {
        let (source, provenance) = (self.engine.kernel.actor.who, self.said()?);
        Ok(NewMemory {
            source,
            tags,
            project,
            session: Some(self.session.clone()),
            provenance,
            ..NewMemory::fact(content)
        })
    }

    /// The line of identity that an operation means, by its id or the beginning of it.
    fn line(&self, name: &DocumentName, text: &str, operation: &Operation) -> Done<Bullet> {
        let target = target(operation)?;
        let mut lines = bullets::parse(name, text);
        let exact = lines.iter().position(|line| line.id.as_str() == target);
        let begins = |line: &Bullet| target.len() >= 6 && line.id.as_str().starts_with(target);
        let at = exact.or_else(|| lines.iter().position(begins));
        let lines_of =
            || EngineError::NoLine { reference: target.to_owned(), name: name.clone(), text: text.to_owned() };
        at.map(|at| lines.remove(at)).ok_or_else(lines_of)
    }

    fn plan_knowledge(&self, operation: &Operation, placement: &mut Placement) -> Done<Receipt> {
        if operation.section.is_some() {
            return Err(EngineError::invalid("the section", "belongs to L0 alone; use tags"));
        }
        let engine = &self.engine;
        match operation.action {
            Action::Add => {
                let project = if has_project(&operation.tags) { None } else { self.project.clone() };
                let new = self.new_memory(content(operation)?.to_owned(), operation.tags.clone(), project)?;
                let (entry, _) = engine.memories().draft(&new)?;
                let placed = engine.memories().place(&Statement::new(entry.clone(), Wanted::Knowledge), placement)?;
                let near = self.near(&entry, &placed, placement)?;
                Ok(Receipt::Stored { outcome: placed.outcome.as_str(), placed, near })
            }
            Action::Update => {
                let wrong = self.knowledge(target(operation)?, placement)?;
                let correction = Correction {
                    content: content(operation)?.to_owned(),
                    source: engine.kernel.actor.who,
                    tags: operation.tags.clone(),
                    session: Some(self.session.clone()),
                    provenance: self.said()?,
                };
                let (placed, _) = engine.memories().plan_correction(&wrong, &correction, placement)?;
                let outcome = if placed.outcome == Outcome::Unchanged { "unchanged" } else { "updated" };
                Ok(Receipt::Stored { placed, outcome, near: Vec::new() })
            }
            Action::Remove => {
                let entry = self.knowledge(target(operation)?, placement)?;
                placement.put(Op::Update(engine.memories().retired(&entry)));
                Ok(Receipt::Removed(entry.id))
            }
        }
    }

    /// The knowledge that a target means: active, and no line of a document.
    fn knowledge(&self, target: &str, placement: &Placement) -> Done<Entry> {
        let id = self.engine.memories().resolve(target)?;
        let entry = self.engine.memories().memory(&id)?.entry;
        let is_planned = placement.is_retired(&id);
        let problem = match (entry.kind, entry.layer, entry.status) {
            _ if is_planned => "is changed by an earlier operation of this batch already",
            (Kind::Entry, Layer::Knowledge, Status::Active) => return Ok(entry),
            (Kind::Entry, Layer::Archive, _) => "belongs to the archive (L2), which is written by the system alone",
            (Kind::Entry, _, _) => "is not active any more: it was forgotten, or something took its place",
            (_, Layer::Identity, _) => "is a line of identity: use layer L0",
            _ => "is a line of a document, which the person edits",
        };
        Err(EngineError::invalid("the target", format!("`{target}` {problem}")))
    }

    /// Memories that may say the same in other words as one that is to be stored.
    fn near(&self, new: &Entry, placed: &Placed, placement: &Placement) -> Done<Near> {
        let content = new.content.as_str();
        let filter = Filter {
            scope: Scope::Only(self.engine.kernel.facts()),
            kinds: vec![Kind::Entry],
            layers: vec![Layer::Knowledge],
            // What is known of no project is known of every one; what is known of another is not known of this.
            projects: Projects::NoneOr(new.project.iter().cloned().collect()),
            ..Filter::recallable(self.engine.kernel.now)
        };
        let request = RecallRequest { query: content.to_owned(), limit: 5, filter };
        let hits = self.engine.recall().find_alike(&request)?.into_iter().map(|hit| hit.memory.entry);
        let is_near = |entry: &Entry| {
            entry.id != placed.id && !placement.is_retired(&entry.id) && similarity(&entry.content, content) >= NEAR
        };
        Ok(hits.filter(is_near).map(|entry| (entry.id, entry.content)).collect())
    }

    fn receipts(&self, plan: &Plan, stored: &Stored) -> Done<ToolAnswer> {
        let name = self.engine.kernel.settings.namespace.as_ref().map(DocumentName::profile);
        let usage = plan.profile.as_ref().map(|text| IdentityUsage::of(text).to_string());
        let lines = name.zip(plan.profile.as_ref()).map(|(name, text)| bullets::parse(&name, text)).unwrap_or_default();
        let receipt = |receipt: &Receipt| -> Done<Value> {
            Ok(match receipt {
                Receipt::Removed(id) => json!({ "id": id, "outcome": "removed" }),
                Receipt::Line(content) => {
                    let id = lines.iter().find(|line| line.content == *content).map(|line| &line.id);
                    json!({ "id": id, "outcome": "stored", "layer": "L0", "recallable": id.is_some() })
                }
                Receipt::Stored { placed, outcome, near } => self.stored_receipt(placed, outcome, near, stored)?,
            })
        };
        let receipts = plan.receipts.iter().map(receipt).collect::<Done<Vec<_>>>()?;
        let words = |receipt: &Value| {
            let id = receipt["id"].as_str().unwrap_or_default();
            format!("{} {}", receipt["outcome"].as_str().unwrap_or_default(), id.get(..6).unwrap_or(id))
        };
        let summary = receipts.iter().map(words).collect::<Vec<_>>().join(", ");
        let mut content = if receipts.len() == 1 { receipts[0].clone() } else { json!({ "receipts": receipts }) };
        if let Some(usage) = usage {
            content["usage"] = json!(usage);
        }
        Ok(ToolAnswer::new(summary, content))
    }

    fn stored_receipt(&self, placed: &Placed, outcome: &str, near: &Near, stored: &Stored) -> Done<Value> {
        let near: Vec<Value> = near
            .iter()
            .map(|(id, content)| json!({ "id": id, "content": tokens::cut(content, NEAR_TOKENS) }))
            .collect();
        // The store keeps what is said twice once: a receipt names the memory that is there.
        let id = stored.id(&placed.id);
        let outcome = if *id == placed.id { outcome } else { "unchanged" };
        let layer = if placed.document.as_ref().is_some_and(DocumentName::is_profile) { "L0" } else { "L1" };
        let superseded = match placed.superseded.as_slice() {
            [] => Value::Null,
            [one] => json!(one),
            several => json!(several),
        };
        let recallable = self.is_found(id)?;
        Ok(json!({ "id": id, "outcome": outcome, "layer": layer, "recallable": recallable,
                   "similar": near, "superseded": superseded }))
    }

    /// Whether a recall finds what was just stored.
    pub(crate) fn is_found(&self, id: &EntryId) -> Done<bool> {
        let Some(memory) = self.engine.store.memory(id)? else { return Ok(false) };
        let filter = Filter { layers: vec![memory.entry.layer], ..Filter::recallable(self.engine.kernel.now) };
        let request = RecallRequest { query: memory.entry.content, limit: 20, filter };
        let has_it = |hits: Vec<Hit>| hits.iter().any(|hit| hit.memory.entry.id == *id);
        let recall = self.engine.recall();
        // Its own words find it among a few candidates; a text without words needs the whole search.
        Ok(has_it(recall.find_alike(&request)?) || has_it(recall.find(&request, Fallback::Letters)?))
    }
}

fn verb(operations: &[Operation]) -> Verb {
    match operations {
        [Operation { action: Action::Remove, .. }] => Verb::Forget,
        [Operation { action: Action::Update, .. }] => Verb::Correct,
        _ => Verb::Remember,
    }
}

fn has_project(tags: &[String]) -> bool {
    tags.iter().any(|tag| tag.starts_with("project:"))
}

/// The operations that are asked for, in one form.
fn operations(wanted: Write) -> Done<Vec<Operation>> {
    let Write { action, layer, content, target_id, tags, section, operations } = wanted;
    if operations.len() > MOST {
        return Err(EngineError::invalid("operations", format!("number {}; at most {MOST} fit", operations.len())));
    }
    match (action, layer, operations.is_empty()) {
        (Some(action), Some(layer), true) => Ok(vec![Operation { action, layer, content, target_id, tags, section }]),
        (None, None, false) => Ok(operations),
        (_, _, false) => Err(EngineError::invalid("the arguments", "give one operation or `operations`, not both")),
        _ => Err(EngineError::invalid("the arguments", "need `action` (add, update, remove) and `layer` (L0, L1)")),
    }
}

fn at_operation(at: usize, of: usize, error: EngineError) -> EngineError {
    match error {
        EngineError::Invalid { field, problem } if of > 1 => {
            EngineError::invalid("the batch", format!("was not applied: in operation {}, {field} {problem}", at + 1))
        }
        error => error,
    }
}

fn content(operation: &Operation) -> Done<&str> {
    let missing = || EngineError::invalid("the content", "is missing: add and update need it");
    operation.content.as_deref().filter(|text| !text.trim().is_empty()).ok_or_else(missing)
}

fn target(operation: &Operation) -> Done<&str> {
    let missing = || EngineError::invalid("the target", "is missing: update and remove need `target_id`");
    operation.target_id.as_deref().map(str::trim).filter(|id| !id.is_empty()).ok_or_else(missing)
}

/// The weight, where it is written, and the text of a line of identity.
fn line_of(operation: &Operation) -> Done<(Option<Importance>, String)> {
    let (text, _) = input::content(&fold_blanks(content(operation)?))?;
    let (weight, content) = bullets::weight(&text);
    Ok((weight, fold_blanks(&content)))
}

fn check_line(name: &DocumentName, text: &str, content: &str) -> Done<()> {
    if bullets::parse(name, text).iter().any(|line| line.content == content) {
        return Ok(());
    }
    Err(EngineError::invalid("the content", "cannot stand as a line of the profile"))
}

fn is_longer(before: &str, after: &str) -> bool {
    IdentityUsage::of(after).chars > IdentityUsage::of(before).chars
}
