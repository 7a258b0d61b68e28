//! Identity: one more line of the profile.

use crate::documents::fold_blanks;
use crate::error::{Done, EngineError};
use crate::input;
use crate::model::{Actor, DocumentName, Verb};
use crate::text::bullets;

use super::{MemoryService, NewMemory, Outcome, Remembered};

impl MemoryService<'_> {
    /// One more line of identity.
    pub(crate) fn remember_identity(&self, new: &NewMemory) -> Done<Remembered> {
        let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        if new.key.is_some() || !new.tags.is_empty() || new.project.is_some() {
            return Err(EngineError::invalid("identity", "takes a text and a weight, and no key, tag or project"));
        }
        let (text, redacted) = input::content(&fold_blanks(&new.content))?;
        let (written, content) = bullets::weight(&text);
        let importance = new.importance.or(written).unwrap_or_default();
        let content = fold_blanks(content);
        let name = DocumentName::profile(namespace);
        let has = |text: &str| bullets::parse(&name, text).into_iter().find(|bullet| bullet.content == content);
        let mut outcome = Outcome::Unchanged;
        self.documents.notice(&name)?;
        if self.files.read(&name)?.is_none_or(|document| has(&document.text).is_none()) {
            outcome = Outcome::Created;
            let actor = Actor { who: new.source, ..self.kernel.actor.clone() };
            self.documents.acting(&actor).rewrite(&name, Verb::Remember, &|current| {
                let text = bullets::with_added(&current.text, &content, importance);
                self.documents.check_identity(&name, &text)?;
                if has(&text).is_none() {
                    return Err(EngineError::invalid("the text", "cannot stand as a line of the profile"));
                }
                Ok(Some(text))
            })?;
        }
        let text = self.files.read(&name)?.map(|document| document.text).unwrap_or_default();
        let bullet = has(&text).ok_or_else(|| EngineError::NotFound { reference: name.to_string() })?;
        self.receipt(&bullet.id, outcome, redacted)
    }
}
