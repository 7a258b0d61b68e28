//! Mute: never given, still searchable.

use crate::error::Done;
use crate::input;
use crate::model::{Memory, Mute};

use super::MemoryService;

impl MemoryService<'_> {
    /// Stops giving a memory: nowhere any more, or not in the sessions of one project. It can still be searched for.
    pub fn mute(&self, reference: &str, project: Option<&str>) -> Done<Memory> {
        self.documents.notice_all()?;
        let memory = self.resolve(reference)?;
        let project = project.map(input::project).transpose()?;
        self.mutes.mute(&Mute { memory: memory.clone(), project, at: self.kernel.now })?;
        self.with_mutes(self.memory(&memory)?)
    }

    /// Takes a mute back.
    pub fn unmute(&self, reference: &str, project: Option<&str>) -> Done<Memory> {
        self.documents.notice_all()?;
        let memory = self.resolve(reference)?;
        self.mutes.unmute(&memory, project)?;
        self.with_mutes(self.memory(&memory)?)
    }

    /// A memory with where it is not given.
    pub(super) fn with_mutes(&self, memory: Memory) -> Done<Memory> {
        Ok(memory.with_mutes(&self.mutes.mutes()?))
    }
}
