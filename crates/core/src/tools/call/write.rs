//! Tools that write. A batch is planned as a whole and applied as one change, or nothing is.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use crate::documents::{IdentityUsage, fold_blanks};
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Race as _, conflict, retry};
use crate::memories::{Correction, NewMemory, Outcome};
use crate::model::{Bullet, Document, DocumentName, Entry, EntryId, Importance, Kind, Layer, Status, Verb};
use crate::ports::Op;
use crate::recall::find::Fallback;
use crate::recall::{Filter, Projects, RecallRequest, Scope, similarity};
use crate::text::{bullets, sections, tokens};
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
    /// A line of identity that is there now.
    Line(String),
    /// A memory that is there now, others that may say the same, and what it replaced.
    Stored { id: EntryId, outcome: &'static str, near: Near, superseded: Option<EntryId> },
    /// Something that is gone now.
    Removed(EntryId),
}

/// What a batch will do.
#[derive(Default)]
struct Plan {
    ops: Vec<Op>,
    profile: Option<(Document, String)>,
    receipts: Vec<Receipt>,
}

impl Caller<'_> {
    pub(crate) fn write(&self, wanted: Write) -> Done<ToolAnswer> {
        let operations = operations(wanted)?;
        let documents = self.engine.documents();
        let in_the_way: RefCell<Option<(Document, String)>> = RefCell::default();
        let exhausted = || match in_the_way.take() {
            Some((before, after)) => documents.kept_beside(&before.name, &after),
            None => conflict("memory"),
        };
        retry(exhausted, || {
            let plan = self.planned(&operations)?;
            let changed = plan.profile.iter().filter(|(before, after)| before.text != *after).cloned();
            let committed = documents.commit(verb(&operations), &plan.ops, &changed.collect::<Vec<_>>());
            let is_files = matches!(committed, Ok(None));
            match committed.unless_outrun()?.flatten() {
                Some(entries) => self.receipts(plan, &entries).map(Some),
                None => {
                    in_the_way.replace(plan.profile.filter(|_| is_files));
                    Ok(None)
                }
            }
        })
    }

    /// Everything that a batch does, decided against what is there now.
    fn planned(&self, operations: &[Operation]) -> Done<Plan> {
        let mut plan = Plan::default();
        for (at, operation) in operations.iter().enumerate() {
            self.plan(operation, &mut plan).map_err(|error| at_operation(at, operations.len(), error))?;
        }
        // What a person made too long may be shortened step by step.
        if let Some((before, after)) = plan.profile.as_ref().filter(|(before, after)| is_longer(&before.text, after)) {
            self.engine.documents().check_identity(&before.name, after)?;
        }
        Ok(plan)
    }

    fn plan(&self, operation: &Operation, plan: &mut Plan) -> Done<()> {
        match operation.layer {
            WriteLayer::L2 => {
                let problem = "L2 is the archive, which is written by the system alone; use L0 or L1";
                Err(EngineError::invalid("the layer", problem))
            }
            WriteLayer::L0 => self.plan_identity(operation, plan),
            WriteLayer::L1 => self.plan_knowledge(operation, plan),
        }
    }

    fn plan_identity(&self, operation: &Operation, plan: &mut Plan) -> Done<()> {
        let engine = &self.engine;
        let namespace = engine.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        if !operation.tags.is_empty() {
            return Err(EngineError::invalid("identity", "takes no tags; use L1, or leave them out"));
        }
        let name = DocumentName::profile(namespace);
        let (before, text) = match plan.profile.take() {
            Some(planned) => planned,
            None => {
                let document = engine.documents().current_document(&name)?;
                (document.clone(), document.text)
            }
        };
        let (after, receipt) = match operation.action {
            Action::Add => added_line(&name, &text, operation)?,
            Action::Update => {
                let bullet = self.line(&name, &text, operation)?;
                let (weight, content) = line_of(operation)?;
                let importance = weight.unwrap_or(bullet.importance);
                let changed = bullets::with_replaced(&text, &bullet, &content, importance);
                check_line(&name, &changed, &content)?;
                (changed, Receipt::Line(content))
            }
            Action::Remove => {
                let bullet = self.line(&name, &text, operation)?;
                (bullets::without(&text, &bullet), Receipt::Removed(bullet.id))
            }
        };
        plan.profile = Some((before, after));
        plan.receipts.push(receipt);
        Ok(())
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

    fn plan_knowledge(&self, operation: &Operation, plan: &mut Plan) -> Done<()> {
        if operation.section.is_some() {
            return Err(EngineError::invalid("the section", "belongs to L0 alone; use tags"));
        }
        let engine = &self.engine;
        match operation.action {
            Action::Add => {
                let new = NewMemory {
                    source: engine.kernel.actor.who,
                    tags: operation.tags.clone(),
                    project: if has_project(&operation.tags) { None } else { self.project.clone() },
                    session: Some(self.session.clone()),
                    provenance: self.said()?,
                    ..NewMemory::fact(content(operation)?)
                };
                let (entry, _) = engine.memories().draft(&new)?;
                let (same, near) = self.near(&entry, plan)?;
                let (id, outcome) = match same {
                    Some(id) => (id, "unchanged"),
                    None => (entry.id.clone(), "created"),
                };
                if outcome == "created" {
                    plan.ops.push(Op::Insert(entry));
                }
                plan.receipts.push(Receipt::Stored { id, outcome, near, superseded: None });
            }
            Action::Update => {
                let wrong = self.knowledge(target(operation)?, plan)?;
                let correction = Correction {
                    content: content(operation)?.to_owned(),
                    source: engine.kernel.actor.who,
                    tags: operation.tags.clone(),
                    session: Some(self.session.clone()),
                    provenance: self.said()?,
                };
                let planned = engine.memories().plan_correction(&wrong, &correction)?;
                let is_new = planned.outcome != Outcome::Unchanged;
                let (outcome, superseded) = if is_new { ("updated", Some(wrong.id)) } else { ("unchanged", None) };
                plan.ops.extend(planned.ops);
                let (id, near) = (planned.stands, Vec::new());
                plan.receipts.push(Receipt::Stored { id, outcome, near, superseded });
            }
            Action::Remove => {
                let entry = self.knowledge(target(operation)?, plan)?;
                plan.receipts.push(Receipt::Removed(entry.id.clone()));
                plan.ops.push(Op::Update(engine.memories().retired(&entry)));
            }
        }
        Ok(())
    }

    /// The knowledge that a target means: active, and no line of a document.
    fn knowledge(&self, target: &str, plan: &Plan) -> Done<Entry> {
        let id = self.engine.memories().resolve(target)?;
        let entry = self.engine.memories().memory(&id)?.entry;
        let is_planned = plan.ops.iter().any(|op| matches!(op, Op::Update(retired) if retired.id == id));
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

    /// The memory that says exactly this, and those that may say it in other words.
    fn near(&self, new: &Entry, plan: &Plan) -> Done<(Option<EntryId>, Near)> {
        let content = new.content.as_str();
        let filter = Filter {
            scope: Scope::Only(self.engine.kernel.facts()),
            layers: vec![Layer::Knowledge],
            // What is known of no project is known of every one; what is known of another is not known of this.
            projects: Projects::NoneOr(new.project.iter().cloned().collect()),
            ..Filter::recallable(self.engine.kernel.now)
        };
        let request = RecallRequest { query: content.to_owned(), limit: 5, filter };
        let hits = self.engine.recall().find(&request, Fallback::Nothing)?;
        let stays =
            |entry: &Entry| !plan.ops.iter().any(|op| matches!(op, Op::Update(retired) if retired.id == entry.id));
        let entries: Vec<Entry> = hits.into_iter().map(|hit| hit.memory.entry).filter(stays).collect();
        let folded = |text: &str| fold_blanks(text).to_lowercase();
        let same = entries.iter().find(|entry| folded(&entry.content) == folded(content)).map(|entry| entry.id.clone());
        let is_near = |entry: &Entry| same.as_ref() != Some(&entry.id) && similarity(&entry.content, content) >= NEAR;
        let near = entries.into_iter().filter(is_near).map(|entry| (entry.id, entry.content)).collect();
        Ok((same, near))
    }

    fn receipts(&self, plan: Plan, stored: &[Entry]) -> Done<ToolAnswer> {
        // The store keeps what is said twice once: a receipt names the memory that is there.
        let planned = plan.ops.iter().filter_map(|op| match op {
            Op::Insert(entry) | Op::Update(entry) => Some(&entry.id),
            _ => None,
        });
        let stands: HashMap<&EntryId, &EntryId> = planned.zip(stored.iter().map(|entry| &entry.id)).collect();
        let profile = plan.profile.map(|(before, after)| (before.name, after));
        let usage = profile.as_ref().map(|(_, text)| IdentityUsage::of(text).to_string());
        let receipt = |receipt: &Receipt| -> Done<Value> {
            Ok(match receipt {
                Receipt::Removed(id) => json!({ "id": id, "outcome": "removed" }),
                Receipt::Line(content) => {
                    let lines = profile.as_ref().map(|(name, text)| bullets::parse(name, text)).unwrap_or_default();
                    let id = lines.into_iter().find(|line| line.content == *content).map(|line| line.id);
                    json!({ "id": id, "outcome": "stored", "layer": "L0", "recallable": id.is_some() })
                }
                Receipt::Stored { id, outcome, near, superseded } => {
                    let near: Vec<Value> = near
                        .iter()
                        .map(|(id, content)| json!({ "id": id, "content": tokens::cut(content, NEAR_TOKENS) }))
                        .collect();
                    let standing = stands.get(id).copied().unwrap_or(id);
                    let is_known = standing != id && *outcome == "created";
                    let (id, outcome) = (standing, if is_known { "unchanged" } else { *outcome });
                    let recallable = self.is_found(id)?;
                    json!({ "id": id, "outcome": outcome, "layer": "L1", "recallable": recallable,
                            "similar": near, "superseded": superseded })
                }
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

    /// Whether a recall finds what was just stored.
    pub(crate) fn is_found(&self, id: &EntryId) -> Done<bool> {
        let Some(memory) = self.engine.store.memory(id)? else { return Ok(false) };
        let filter = Filter { layers: vec![memory.entry.layer], ..Filter::recallable(self.engine.kernel.now) };
        let request = RecallRequest { query: memory.entry.content, limit: 20, filter };
        Ok(self.engine.recall().find(&request, Fallback::Letters)?.iter().any(|hit| hit.memory.entry.id == *id))
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
    Ok((weight, fold_blanks(content)))
}

/// Identity with one more line, where it is not there already.
fn added_line(name: &DocumentName, text: &str, operation: &Operation) -> Done<(String, Receipt)> {
    let (weight, content) = line_of(operation)?;
    let importance = weight.unwrap_or_default();
    if bullets::parse(name, text).iter().any(|line| line.content == content) {
        return Ok((text.to_owned(), Receipt::Line(content)));
    }
    let longer = match &operation.section {
        Some(section) => sections::with_added(text, &[input::title(section)?.as_str()], &content, importance),
        None => bullets::with_added(text, &content, importance),
    };
    check_line(name, &longer, &content)?;
    Ok((longer, Receipt::Line(content)))
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
