//! Statements as lines of documents: added, and put in the place of another.

use crate::documents::record::headings;
use crate::documents::{IdentityUsage, fold_blanks};
use crate::error::{Done, EngineError};
use crate::memories::{MemoryService, Outcome, bullet_in};
use crate::model::{Bullet, DocumentName, Entry, EntryId, Importance, MemorySection};
use crate::statements::Meaning;
use crate::text::{bullets, sections};

use super::known::replaced_sentence;
use super::{Placed, Placement};

impl MemoryService<'_> {
    /// Takes a document into the change.
    pub(crate) fn open_document(&self, name: &DocumentName, placement: &mut Placement) -> Done<()> {
        if placement.text(name).is_none() {
            let document = self.documents.current_document(name)?;
            let text = document.text.clone();
            placement.documents.push((document, text));
        }
        Ok(())
    }

    /// The same where an entry can stand in: `false` where it cannot be read, which costs that document alone.
    fn try_document(&self, name: &DocumentName, placement: &mut Placement) -> Done<bool> {
        if placement.without_documents {
            return Ok(false);
        }
        match self.open_document(name, placement) {
            Ok(()) => Ok(true),
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read; going on without");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// One more line of the profile; none if it cannot be one, an error where the profile is full.
    pub(crate) fn add_to_profile(
        &self,
        own: &Entry,
        section: Option<&str>,
        placement: &mut Placement,
    ) -> Done<Option<Placed>> {
        let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        let name = DocumentName::profile(namespace);
        if placement.text(&name).is_none() && !self.try_document(&name, placement)? {
            return Ok(None);
        }
        let text = placement.text(&name).unwrap_or_default();
        let content = fold_blanks(&own.content);
        let longer = match section {
            Some(section) => sections::with_added(text, &[section], &content, own.importance),
            None => bullets::with_added(text, &content, own.importance),
        };
        let usage = IdentityUsage::of(&longer);
        if usage.is_over() && !placement.is_limit_checked_later {
            return Err(EngineError::IdentityFull { name, usage, current: text.to_owned() });
        }
        Ok(put_line(&name, longer, &content, placement))
    }

    /// One more line of a section of a memory file.
    pub(super) fn add_to_file(
        &self,
        name: &DocumentName,
        section: MemorySection,
        own: &Entry,
        placement: &mut Placement,
    ) -> Done<Placed> {
        self.open_document(name, placement)?;
        let text = crate::documents::record::begun(name, placement.text(name).unwrap_or_default());
        let weighed = format!("[sig:{}] {}", own.importance.significance().value(), own.content);
        let longer = sections::with_added(&text, headings(section), &weighed, Importance::default());
        let cannot = || EngineError::invalid("the text", "cannot stand as a line of the file");
        put_line(name, longer, &own.content, placement).ok_or_else(cannot)
    }

    /// Puts a statement in the place of a line, or of the sentence of a line that it replaces; without `says`, that goes.
    /// Nothing where the line is gone; an error where the profile would be too long.
    pub(in crate::memories) fn replace_line(
        &self,
        name: &DocumentName,
        id: &EntryId,
        new: &str,
        says: Option<&str>,
        placement: &mut Placement,
    ) -> Done<Option<Placed>> {
        if !self.try_document(name, placement)? {
            return Ok(None);
        }
        let text = placement.text(name).unwrap_or_default().to_owned();
        let Some(line) = bullet_in(name, &text, id) else { return Ok(None) };
        let content = with_sentence(&line.content, new, says.unwrap_or_default());
        let changed = changed_line(&text, &line, &content);
        if says.is_none() {
            placement.set_text(name, changed);
            return Ok(None);
        }
        let usage = IdentityUsage::of(&changed);
        let is_longer = usage.chars > IdentityUsage::of(&text).chars;
        if name.is_profile() && usage.is_over() && is_longer && !placement.is_limit_checked_later {
            return Err(EngineError::IdentityFull { name: name.clone(), usage, current: text });
        }
        Ok(put_line(name, changed, &content, placement))
    }
}

/// The line with a statement in the place of the sentence that it replaces, or of all where it has one only.
fn with_sentence(line: &str, new: &str, says: &str) -> String {
    let sentence = replaced_sentence(line, &Meaning::of(new), true).filter(|sentence| sentence.len() < line.len());
    let whole = sentence.map_or_else(|| says.to_owned(), |sentence| line.replacen(sentence, says, 1));
    fold_blanks(&whole)
}

fn changed_line(text: &str, line: &Bullet, content: &str) -> String {
    if content.is_empty() {
        bullets::without(text, line)
    } else {
        bullets::with_replaced(text, line, content, line.importance)
    }
}

/// Sets the text of a document where the line is in it, and names the line.
fn put_line(name: &DocumentName, text: String, content: &str, placement: &mut Placement) -> Option<Placed> {
    let (_, content) = bullets::weight(content);
    let content = content.trim();
    let line = bullets::parse(name, &text).into_iter().rfind(|line| line.content == content)?;
    placement.set_text(name, text);
    Some(Placed {
        id: line.id,
        content: line.content,
        document: Some(name.clone()),
        outcome: Outcome::Created,
        is_new: true,
        superseded: Vec::new(),
    })
}
