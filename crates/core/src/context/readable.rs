//! Parts of memory that an assistant may read as a whole.
//!
//! Goes in: which part. Comes out: Markdown without secrets, within a cap. Never happens: a text that closes the fence
//! around it, or anything of what was forgotten.

use jiff::tz::TimeZone;

use crate::context::neutralise;
use crate::error::{Done, EngineError};
use crate::model::{DocumentName, Memory, Name, Namespace, Status};
use crate::text::{redact::redact, tokens};

use super::project::QUOTED;
use super::{ContextService, Tier};

/// What a part may take of the model's window, in tokens.
const MOST_TOKENS: usize = 4000;

/// A part of memory that an assistant may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    /// Who the person is.
    Profile,
    /// What was going on lately, while it is fresh.
    Working,
    /// How the person works.
    Patterns,
    /// The memory file of a project.
    Project(String),
    /// One memory, by its id or key.
    Entry(String),
}

impl ContextService<'_> {
    /// A part of memory, as an assistant may read it; none if it is empty.
    pub fn readable(&self, what: &Readable) -> Done<Option<String>> {
        if !self.kernel.settings.enabled {
            return Err(EngineError::invalid("memory", "is off"));
        }
        self.off_record.check(None, None)?;
        let text = match what {
            Readable::Profile => self.documents.read(&Namespace::Document(DocumentName::profile(self.person()?)))?,
            Readable::Working => {
                self.person()?;
                self.threads.working_memory()?.text.map(|text| self.without_withdrawn(&text))
            }
            Readable::Patterns => self.documents.read(&Namespace::Document(DocumentName::patterns(self.person()?)))?,
            Readable::Project(name) => self.quoted_file(name)?,
            Readable::Entry(reference) => Some(entry(&self.recallable(reference)?)),
        };
        Ok(safe(text))
    }

    /// A whole tier, as an assistant may read it; `None` if it is empty.
    pub fn readable_tier(&self, tier: &Tier) -> Done<Option<String>> {
        let (session, project) = match tier {
            Tier::Short(session) => (Some(session), None),
            Tier::Project(name) => (None, Some(name.as_str())),
            Tier::User | Tier::Vault => (None, None),
        };
        self.off_record.check(session, project)?;
        Ok(safe(self.tier(tier)?))
    }

    /// A project's memory file; as a quotation, while it has lines that nobody accepted.
    fn quoted_file(&self, project: &str) -> Done<Option<String>> {
        let at = self.projects.named(project)?;
        let Some(text) = self.tier(&Tier::Project(project.to_owned()))? else { return Ok(None) };
        if self.projects.is_accepted(&at, &text)? {
            return Ok(Some(text));
        }
        let lines: String = text.lines().map(|line| format!("> {line}\n")).collect();
        Ok(Some(format!("{QUOTED}\n\n{lines}")))
    }

    fn person(&self) -> Done<&Name> {
        self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)
    }

    /// A memory that a recall could give; what was forgotten is not there for an assistant.
    fn recallable(&self, reference: &str) -> Done<Memory> {
        let memory = self.memories.show(reference)?;
        let is_over = memory.entry.expires_at.is_some_and(|at| at <= self.kernel.now);
        let is_there = memory.entry.status == Status::Active && !is_over;
        is_there.then_some(memory).ok_or_else(|| EngineError::NotFound { reference: reference.to_owned() })
    }
}

/// A text without secrets and fences, within the cap; `None` if it is blank.
fn safe(text: Option<String>) -> Option<String> {
    let safe = text.map(|text| neutralise(&redact(&text).text)).filter(|text| !text.trim().is_empty());
    safe.map(|text| tokens::cut(&text, MOST_TOKENS).to_owned())
}

fn entry(memory: &Memory) -> String {
    let entry = &memory.entry;
    let date = entry.updated_at.to_zoned(TimeZone::UTC).date();
    let mut about = vec![
        format!("id: {}", entry.id),
        format!("layer: {}", entry.layer),
        format!("source: {}", entry.source),
        format!("significance: {}", i64::from(memory.significance)),
        format!("updated: {date}"),
    ];
    about.extend(entry.key.as_ref().map(|key| format!("key: {key}")));
    about.extend(entry.project.as_ref().map(|project| format!("project: {project}")));
    about.extend((!entry.tags.is_empty()).then(|| format!("tags: {}", entry.tags.join(", "))));
    let about: String = about.iter().map(|line| format!("- {line}\n")).collect();
    format!("{about}\n{}\n", entry.content)
}
