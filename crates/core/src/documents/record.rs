//! Memory files: what is, what happened, what is done. Facts are bullets with a weight; everything else is a person's.

use std::cell::RefCell;

use serde::Serialize;

use crate::documents::{DocumentService, fold_blanks};
use crate::error::{Done, EngineError};
use crate::input;
use crate::model::{Bullet, DocumentName, EntryId, Importance, MemorySection, Name, Significance, Status, Verb};
use crate::text::{bullets, sections};

/// The receipt for facts that were recorded.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Recorded {
    /// The memory file.
    pub file: DocumentName,
    /// The ids of the lines that now say it.
    pub ids: Vec<EntryId>,
    /// Those lines, and what became of each.
    pub lines: Vec<RecordedLine>,
}

/// A line of a memory file that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct RecordedLine {
    /// Its id, which follows from its text.
    pub id: EntryId,
    /// What it says.
    pub content: String,
    /// What became of it.
    pub outcome: LineOutcome,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineOutcome {
    /// It is new.
    Created,
    /// It stood in another section.
    Moved,
    /// It was there already.
    Unchanged,
}

/// The weight and the words of a fact.
type Fact = (Significance, String);

impl DocumentService<'_> {
    /// The memory file of a project, or the person's own; nothing for a project without a directory.
    pub fn memory_file(&self, project: Option<&str>) -> Done<Option<DocumentName>> {
        let Some(project) = project else {
            let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
            return Ok(Some(DocumentName::memory(namespace)));
        };
        let known = project.parse().ok().map(|name: Name| self.project_store.project(&name)).transpose()?.flatten();
        let placed = known.filter(|project| project.dir.is_some() && project.status == Status::Active);
        Ok(placed.map(|project| DocumentName::project(&project.name)))
    }

    /// Adds facts to what is done: one that stands in another section moves there, one that is done already stays.
    pub(crate) fn record_done(&self, file: &DocumentName, facts: &[(String, Significance)]) -> Done<Recorded> {
        let section = MemorySection::Done;
        self.check_namespace(file)?;
        let lines =
            facts.iter().map(|(fact, weight)| self.fact_line(fact, *weight, section)).collect::<Done<Vec<_>>>()?;
        if lines.is_empty() {
            return Err(EngineError::invalid("the text", "is empty"));
        }
        let outcomes = RefCell::new(Vec::new());
        let text = self.rewrite(file, Verb::Remember, &|current| {
            let mut text = begun(file, &current.text);
            let mut all = Vec::new();
            for line in &lines {
                let (next, outcome) = with_fact(file, text, line, section);
                text = next;
                all.push((line.1.clone(), outcome));
            }
            *outcomes.borrow_mut() = all;
            Ok(Some(text))
        })?;
        Ok(receipt(file, &text, section, outcomes.into_inner()))
    }

    /// Moves a fact of a memory file to what is done: by the id of its line, or by its words. One that does not stand
    /// there is recorded as done; a reference that can only be an id must be one.
    pub fn complete(&self, file: &DocumentName, reference: &str) -> Done<Recorded> {
        self.check_namespace(file)?;
        let reference = reference.trim();
        let fact = self.fact_line(reference, Importance::default().significance(), MemorySection::Done)?;
        let outcome = RefCell::new(None);
        let text = self.rewrite(file, Verb::Remember, &|current| {
            let begun = begun(file, &current.text);
            let lines = bullets::parse(file, &begun);
            let is_said = lines.iter().any(|line| line.content == fact.1);
            let named = |line: &&Bullet| reference.len() >= 6 && line.id.as_str().starts_with(reference);
            let (content, (text, became)) = match lines.iter().find(named).filter(|_| !is_said) {
                Some(line) => (line.content.clone(), with_done(file, begun.clone(), line)),
                None if !is_said && looks_like_id(reference) => {
                    let (reference, text) = (reference.to_owned(), current.text.clone());
                    return Err(EngineError::NoLine { reference, name: file.clone(), text });
                }
                None => (fact.1.clone(), with_fact(file, begun, &fact, MemorySection::Done)),
            };
            *outcome.borrow_mut() = Some((content, became));
            Ok(Some(text))
        })?;
        Ok(receipt(file, &text, MemorySection::Done, outcome.into_inner().into_iter().collect()))
    }

    fn fact_line(&self, fact: &str, weight: Significance, section: MemorySection) -> Done<Fact> {
        Ok((weight, self.fact_text(fact, section)?))
    }

    /// The words of a fact; what happened begins with its day.
    pub(crate) fn fact_text(&self, fact: &str, section: MemorySection) -> Done<String> {
        let (text, _) = input::content(&fold_blanks(fact))?;
        let today = self.kernel.local_now().date().to_string();
        let is_dated = text.get(..10).is_some_and(|start| start.parse::<jiff::civil::Date>().is_ok());
        let date = if section == MemorySection::Happened && !is_dated { format!("{today} ") } else { String::new() };
        Ok(format!("{date}{text}"))
    }
}

/// A memory file; a new one has its three sections.
pub(crate) fn begun(file: &DocumentName, text: &str) -> String {
    if !text.is_empty() {
        return text.to_owned();
    }
    let title = file.components().last().map(Name::to_string).unwrap_or_default();
    let headings = [sections::IS, sections::HAPPENED, sections::DONE].map(|names| format!("## {}\n", names[0]));
    format!("# {title}\n\n{}", headings.join("\n"))
}

/// The file with a fact in a section. One that stands there stays; what is done leaves the section that it stood in.
fn with_fact(file: &DocumentName, text: String, fact: &Fact, section: MemorySection) -> (String, LineOutcome) {
    let said: Vec<Bullet> = bullets::parse(file, &text).into_iter().filter(|line| line.content == fact.1).collect();
    let open = said.iter().find(|line| !is_done(&text, line)).filter(|_| section == MemorySection::Done);
    match open.or(said.first()) {
        Some(line) if section == MemorySection::Done => with_done(file, text, line),
        Some(_) => (text, LineOutcome::Unchanged),
        None => (with_line(&text, fact, section), LineOutcome::Created),
    }
}

/// The file with one of its lines among what is done.
fn with_done(file: &DocumentName, text: String, line: &Bullet) -> (String, LineOutcome) {
    if is_done(&text, line) {
        return (text, LineOutcome::Unchanged);
    }
    let rest = bullets::without(&text, line);
    let is_there =
        bullets::parse(file, &rest).iter().any(|other| other.content == line.content && is_done(&rest, other));
    let fact = (line.importance.significance(), line.content.clone());
    (if is_there { rest } else { with_line(&rest, &fact, MemorySection::Done) }, LineOutcome::Moved)
}

fn is_done(text: &str, line: &Bullet) -> bool {
    sections::holds(text, sections::DONE, line.span.start)
}

fn with_line(text: &str, (weight, line): &Fact, section: MemorySection) -> String {
    let line = format!("[sig:{}] {line}", weight.value());
    sections::with_added(text, headings(section), &line, Importance::default())
}

/// Whether a text is one word that a person can only have meant as an id, perhaps with a slip.
fn looks_like_id(text: &str) -> bool {
    (6..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// What became of each line, with its id in the file as it now is.
fn receipt(file: &DocumentName, text: &str, section: MemorySection, outcomes: Vec<(String, LineOutcome)>) -> Recorded {
    let all = bullets::parse(file, text);
    let mut lines: Vec<RecordedLine> = Vec::new();
    for (content, outcome) in outcomes {
        let said = || all.iter().filter(|line| line.content == content);
        let here = said().find(|line| sections::holds(text, headings(section), line.span.start));
        let Some(line) = here.or_else(|| said().next()) else { continue };
        if lines.iter().all(|known| known.id != line.id) {
            lines.push(RecordedLine { id: line.id.clone(), content, outcome });
        }
    }
    Recorded { file: file.clone(), ids: lines.iter().map(|line| line.id.clone()).collect(), lines }
}

/// How a section is called.
pub(crate) fn headings(section: MemorySection) -> &'static [&'static str] {
    match section {
        MemorySection::Is => sections::IS,
        MemorySection::Happened => sections::HAPPENED,
        MemorySection::Done => sections::DONE,
    }
}
