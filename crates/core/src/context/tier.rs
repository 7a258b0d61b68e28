//! The four tiers of memory, each as one Markdown text.

use crate::error::{Done, EngineError};
use crate::model::{DocumentName, Namespace, SessionId};

use super::ContextService;

/// How far a memory reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tier {
    /// One conversation, until it ends.
    Short(SessionId),
    /// One project, for every assistant that works there.
    Project(String),
    /// The person, across all projects.
    User,
    /// Everybody: the vault.
    Vault,
}

impl ContextService<'_> {
    /// A tier as Markdown; none if it is empty.
    pub fn tier(&self, tier: &Tier) -> Done<Option<String>> {
        match tier {
            Tier::Short(session) => {
                let state = self.session(session)?;
                if state.session.ended_at.is_some() {
                    Ok(None)
                } else {
                    self.documents.read(&Namespace::Session(session.clone()))
                }
            }
            Tier::Project(name) => Ok(self.projects.file(&self.projects.named(name)?)?.map(|file| file.text)),
            Tier::User => self.user_tier(),
            Tier::Vault => self.vault.text(None),
        }
    }

    /// Every document of the person, each under its address. Working memory that has expired is left out.
    fn user_tier(&self) -> Done<Option<String>> {
        let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        let mut parts = Vec::new();
        for name in self.documents.names(namespace)? {
            if let Some(text) = self.shown(&name)?.filter(|text| !text.trim().is_empty()) {
                parts.push(format!("<!-- {name} -->\n\n{}\n", text.trim_end()));
            }
        }
        Ok((!parts.is_empty()).then(|| parts.join("\n")))
    }

    fn shown(&self, name: &DocumentName) -> Done<Option<String>> {
        if name.is_working() {
            return Ok(self.threads.working_memory()?.text);
        }
        match self.documents.read(&Namespace::Document(name.clone())) {
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read; going on without");
                Ok(None)
            }
            text => text,
        }
    }
}
