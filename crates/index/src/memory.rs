//! Segments kept in memory: for tests and measurements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::IndexError;
use crate::store::{Part, SegmentId, SegmentReader, SegmentStore};

/// A store without a disk.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    segments: BTreeSet<SegmentId>,
    parts: BTreeMap<(SegmentId, Part), Arc<[u8]>>,
    given: u32,
}

impl MemoryStore {
    /// How many bytes all parts have.
    pub fn bytes(&self) -> usize {
        self.parts.values().map(|part| part.len()).sum()
    }

    /// Every part, to be changed: what damage looks like.
    pub fn parts_mut(&mut self) -> impl Iterator<Item = (&(SegmentId, Part), &mut Arc<[u8]>)> {
        self.parts.iter_mut()
    }
}

impl SegmentReader for MemoryStore {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        Ok(self.segments.iter().copied().collect())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        Ok(self.parts.get(&(segment, part)).cloned())
    }
}

impl SegmentStore for MemoryStore {
    fn fresh(&mut self) -> Result<SegmentId, IndexError> {
        self.given += 1;
        Ok(SegmentId(self.given))
    }

    fn put(&mut self, segment: SegmentId, part: Part, bytes: &[u8]) -> Result<(), IndexError> {
        self.segments.insert(segment);
        self.parts.insert((segment, part), bytes.into());
        Ok(())
    }

    fn delete(&mut self, segment: SegmentId) -> Result<(), IndexError> {
        self.segments.remove(&segment);
        self.parts.retain(|(of, _), _| *of != segment);
        Ok(())
    }
}
