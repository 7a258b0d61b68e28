//! The four tiers of memory, each as one Markdown text.

use crate::model::{DocumentName, Namespace, SessionId};

use super::{Done, Engine, EngineError};

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

impl Engine {
    /// A tier as Markdown; nothing where it is empty.
    pub fn tier(&self, tier: &Tier) -> Done<Option<String>> {
        match tier {
            Tier::Short(session) => {
                let state = self.state(session)?;
                if state.session.ended_at.is_some() {
                    Ok(None)
                } else {
                    self.read(&Namespace::Session(session.clone()))
                }
            }
            Tier::Project(name) => {
                let known = self.project(name)?.project.name;
                let no_directory = || EngineError::NoDirectory { project: known.clone() };
                let file = self.memory_file(Some(known.as_str()))?.ok_or_else(no_directory)?;
                self.read(&Namespace::Document(file))
            }
            Tier::User => self.user_tier(),
            Tier::Vault => self.vault_text(None),
        }
    }

    /// Every document of the person, each under its address. Working memory that has expired is left out.
    fn user_tier(&self) -> Done<Option<String>> {
        let namespace = self.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        let mut parts = Vec::new();
        for name in self.documents.list(namespace)? {
            if let Some(text) = self.shown(&name)?.filter(|text| !text.trim().is_empty()) {
                parts.push(format!("<!-- {name} -->\n\n{}\n", text.trim_end()));
            }
        }
        Ok((!parts.is_empty()).then(|| parts.join("\n")))
    }

    fn shown(&self, name: &DocumentName) -> Done<Option<String>> {
        if name.is_working() {
            return Ok(self.working()?.map(|working| working.content));
        }
        match self.read(&Namespace::Document(name.clone())) {
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read; going on without");
                Ok(None)
            }
            text => text,
        }
    }
}
