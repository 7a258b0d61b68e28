//! Memory files: what is, what happened, what is done. Facts are bullets with a weight; everything else is a person's.

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::model::{DocumentName, EntryId, Importance, Name, Significance, Verb};
use crate::text::{bullets, sections};
use crate::tools::parameters::MemorySection;

use super::documents::fold_blanks;
use super::{Done, Engine, EngineError, prepare};

/// The receipt for facts that were recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recorded {
    /// The memory file.
    pub file: DocumentName,
    /// The lines that now say it.
    pub ids: Vec<EntryId>,
}

impl Engine {
    /// The memory file of a project, or the person's own; nothing for a project without a directory.
    pub fn memory_file(&self, project: Option<&str>) -> Done<Option<DocumentName>> {
        let Some(project) = project else {
            let namespace = self.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
            return Ok(Some(DocumentName::memory(namespace)));
        };
        let known = project.parse().ok().map(|name: Name| self.store.project(&name)).transpose()?.flatten();
        let placed = known.filter(|project| project.dir.is_some() && project.status == crate::model::Status::Active);
        Ok(placed.map(|project| DocumentName::project(&project.name)))
    }

    /// Adds facts to a section of a memory file; a fact that stands there already stays as it is.
    pub fn record(
        &self,
        file: &DocumentName,
        facts: &[(String, Significance)],
        section: MemorySection,
    ) -> Done<Recorded> {
        self.check_namespace(file)?;
        let lines =
            facts.iter().map(|(fact, weight)| self.fact_line(fact, *weight, section)).collect::<Done<Vec<_>>>()?;
        if lines.is_empty() {
            return Err(EngineError::invalid("the text", "is empty"));
        }
        let text = self.rewrite(file, Verb::Remember, &|current| {
            let begun = begun(file, &current.text);
            Ok(Some(lines.iter().fold(begun, |text, line| with_line(file, text, line, section))))
        })?;
        let says = |content: &str| lines.iter().any(|(_, line)| line == content);
        let found = bullets::parse(file, &text).into_iter().filter(|bullet| says(&bullet.content));
        Ok(Recorded { file: file.clone(), ids: found.map(|bullet| bullet.id).collect() })
    }

    /// Moves a fact of a memory file to what is done: by the id of its line, or by its words. One that does not stand
    /// there is recorded as done.
    pub fn complete(&self, file: &DocumentName, reference: &str) -> Done<Recorded> {
        self.check_namespace(file)?;
        let weight = Importance::default().significance();
        let line = self.fact_line(reference, weight, MemorySection::Done)?;
        let is_meant = |bullet: &crate::model::Bullet| {
            bullet.content == line.1 || reference.len() >= 6 && bullet.id.as_str().starts_with(reference)
        };
        let done = std::cell::RefCell::new(line.1.clone());
        let text = self.rewrite(file, Verb::Remember, &|current| {
            let begun = begun(file, &current.text);
            let Some(bullet) = bullets::parse(file, &begun).into_iter().find(is_meant) else {
                return Ok(Some(with_line(file, begun, &line, MemorySection::Done)));
            };
            let moved = (bullet.importance.significance(), bullet.content.clone());
            *done.borrow_mut() = moved.1.clone();
            let rest = bullets::without(&begun, &bullet);
            Ok(Some(with_line(file, rest, &moved, MemorySection::Done)))
        })?;
        let done = done.into_inner();
        let found = bullets::parse(file, &text).into_iter().filter(|bullet| bullet.content == done);
        Ok(Recorded { file: file.clone(), ids: found.map(|bullet| bullet.id).collect() })
    }

    /// The weight and the words of a fact; what happened begins with its day.
    fn fact_line(&self, fact: &str, weight: Significance, section: MemorySection) -> Done<(Significance, String)> {
        let (text, _) = prepare::content(&fold_blanks(fact))?;
        let today = self.clock.now().to_zoned(TimeZone::UTC).date().to_string();
        let is_dated = text.get(..10).is_some_and(|start| start.parse::<jiff::civil::Date>().is_ok());
        let date = if section == MemorySection::Happened && !is_dated { format!("{today} ") } else { String::new() };
        Ok((weight, format!("{date}{text}")))
    }
}

/// A memory file; a new one has its three sections.
fn begun(file: &DocumentName, text: &str) -> String {
    if !text.is_empty() {
        return text.to_owned();
    }
    let title = file.components().last().map(Name::to_string).unwrap_or_default();
    let headings = [sections::IS, sections::HAPPENED, sections::DONE].map(|names| format!("## {}\n", names[0]));
    format!("# {title}\n\n{}", headings.join("\n"))
}

fn with_line(
    file: &DocumentName,
    text: String,
    (weight, line): &(Significance, String),
    section: MemorySection,
) -> String {
    if bullets::parse(file, &text).iter().any(|bullet| bullet.content == *line) {
        return text;
    }
    let line = format!("[sig:{}] {line}", weight.value());
    sections::with_added(&text, headings(section), &line, Importance::default())
}

/// How a section is called.
pub(super) fn headings(section: MemorySection) -> &'static [&'static str] {
    match section {
        MemorySection::Is => sections::IS,
        MemorySection::Happened => sections::HAPPENED,
        MemorySection::Done => sections::DONE,
    }
}
