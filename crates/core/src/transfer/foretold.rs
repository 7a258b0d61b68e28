//! What a store would count if it took a bundle in: the rules of [`Transfer::adopt`](crate::ports::Transfer::adopt),
//! for the dry run. Touches nothing.

use crate::transfer::TransferService;
use std::collections::{HashMap, HashSet};

use crate::error::Done;
use crate::model::{Change, ChangeId, DocumentName, Entry, EntryId, Kind, Namespace, Status, TaskStatus, TurnId, Verb};
use crate::ports::{Adopted, Bundle};

/// Where a key is taken.
type Key = (Namespace, Option<String>, String);

/// What is here, as far as it decides.
struct Here {
    /// What every change did.
    verbs: HashMap<ChangeId, Verb>,
    /// Every memory, line or not: inactive entries with their version.
    known: HashMap<EntryId, Option<u32>>,
    keys: HashSet<Key>,
}

impl TransferService<'_> {
    /// What taking a bundle in would do to the store.
    pub(crate) fn foretold(&self, bundle: &Bundle) -> Done<Adopted> {
        let stored = self.bundles.bundle()?;
        let changes = self.kernel.changes.changes(usize::MAX)?;
        let mut here = Here::of(&stored, changes.into_iter().map(|change| (change.id, change.verb)).collect());
        let mut adopted = Adopted::default();
        here.memories(&stored, bundle, &mut adopted);
        let mut turns: HashSet<&TurnId> = stored.turns.iter().map(|turn| &turn.id).collect();
        adopted.turns = bundle.turns.iter().filter(|turn| turns.insert(&turn.id)).count() as u64;
        let of = |task: &crate::model::Task| (task.id.to_string(), task.version, task.status == TaskStatus::Removed);
        let past = stored.task_history.iter().map(|version| (of(&version.task), &version.change));
        adopted.tasks = here.work(stored.tasks.iter().map(of), past, bundle.tasks.iter().map(of));
        let of = |project: &crate::model::Project| {
            (project.name.to_string(), project.version, project.status == Status::Inactive)
        };
        let past = stored.project_history.iter().map(|version| (of(&version.project), &version.change));
        adopted.projects = here.work(stored.projects.iter().map(of), past, bundle.projects.iter().map(of));
        Ok(adopted)
    }
}

/// A task or a project: its name, its version, and whether it was taken away.
type Thing = (String, u32, bool);

impl Here {
    fn of(stored: &Bundle, verbs: HashMap<ChangeId, Verb>) -> Self {
        let mut here = Self { verbs, known: HashMap::new(), keys: HashSet::new() };
        for entry in stored.memories.iter().map(|memory| &memory.entry) {
            let is_gone = entry.kind == Kind::Entry && entry.status == Status::Inactive;
            here.known.insert(entry.id.clone(), is_gone.then_some(entry.version));
            here.takes_its_key(entry);
        }
        here
    }

    fn memories(&mut self, stored: &Bundle, bundle: &Bundle, adopted: &mut Adopted) {
        let past: Vec<(&str, u32, &Change)> = stored
            .history
            .iter()
            .map(|version| (version.entry.id.as_str(), version.entry.version, &version.change))
            .collect();
        let past = Past::of(past.into_iter());
        let documents: HashSet<&DocumentName> = bundle.document_history.iter().map(|version| &version.name).collect();
        for entry in bundle.memories.iter().map(|memory| &memory.entry) {
            match (entry.kind, &entry.namespace) {
                (Kind::Entry, _) => self.entry(entry, &past, adopted),
                (Kind::Bullet, Namespace::Document(name)) if documents.contains(name) => {
                    self.known.entry(entry.id.clone()).or_default();
                }
                _ => {}
            }
        }
    }

    fn entry(&mut self, entry: &Entry, past: &Past<'_>, adopted: &mut Adopted) {
        let Some(known) = self.known.get(&entry.id).copied() else {
            self.known.insert(entry.id.clone(), None);
            adopted.added += 1;
            if !self.takes_its_key(entry) {
                adopted.inactive.push(entry.id.clone());
            }
            return;
        };
        let gone = known.filter(|_| entry.status == Status::Active);
        if gone.is_none_or(|version| !past.was_undone(entry.id.as_str(), version, &self.verbs)) {
            adopted.kept += 1;
        } else if self.takes_its_key(entry) {
            self.known.insert(entry.id.clone(), None);
            adopted.added += 1;
        } else {
            adopted.kept += 1;
            adopted.inactive.push(entry.id.clone());
        }
    }

    /// Whether an entry can have its key, which is then taken; one without a key, or that is inactive, always can.
    fn takes_its_key(&mut self, entry: &Entry) -> bool {
        match &entry.key {
            Some(key) if entry.status == Status::Active => {
                // No project and one without a name are the same place.
                let project = entry.project.clone().filter(|project| !project.is_empty());
                self.keys.insert((entry.namespace.clone(), project, key.clone()))
            }
            _ => true,
        }
    }

    /// How many tasks or projects would be new, or back.
    fn work<'a>(
        &self,
        here: impl Iterator<Item = Thing>,
        past: impl Iterator<Item = (Thing, &'a Change)>,
        coming: impl Iterator<Item = Thing>,
    ) -> u64 {
        let past: Vec<(Thing, &Change)> = past.collect();
        let past = Past::of(past.iter().map(|((name, version, _), change)| (name.as_str(), *version, *change)));
        let mut here: HashMap<String, (u32, bool)> =
            here.map(|(name, version, is_gone)| (name, (version, is_gone))).collect();
        let mut count = 0;
        for (name, version, is_gone) in coming {
            let is_taken = here
                .get(&name)
                .is_none_or(|(at, was_gone)| *was_gone && !is_gone && past.was_undone(&name, *at, &self.verbs));
            if is_taken {
                count += 1;
                here.insert(name, (version, false));
            }
        }
        count
    }
}

/// Which change made each version.
struct Past<'a>(HashMap<(&'a str, u32), &'a Change>);

impl<'a> Past<'a> {
    fn of(versions: impl Iterator<Item = (&'a str, u32, &'a Change)>) -> Self {
        Self(versions.map(|(name, version, change)| ((name, version), change)).collect())
    }

    /// Whether this version was made by undoing what brought the thing here: an import, or its first change. An undone
    /// change that left no trace here was an import elsewhere.
    fn was_undone(&self, name: &str, version: u32, verbs: &HashMap<ChangeId, Verb>) -> bool {
        let undo = self.0.get(&(name, version)).filter(|change| change.verb == Verb::Undo);
        let Some(undo) = undo else { return false };
        let verb = undo.undoes.as_ref().and_then(|id| verbs.get(id));
        let first = self.0.get(&(name, 1)).map(|change| &change.id);
        verb.is_none_or(|verb| *verb == Verb::Import) || first.is_some() && first == undo.undoes.as_ref()
    }
}
