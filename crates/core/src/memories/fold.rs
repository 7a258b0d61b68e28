//! Fold: of entries and lines that say the same, one stands. One change, which an undo takes back as a whole.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Race as _, conflict, retry};
use crate::memories::correct::with_copies;
use crate::memories::{MemoryService, bullet_in};
use crate::model::{
    ChangeId, Document, DocumentName, Entry, EntryId, Kind, Layer, Memory, Namespace, Significance, Source, Verb,
};
use crate::ports::{Op, Page};
use crate::recall::{Filter, distinct_words};
use crate::statements::Meaning;
use crate::text::bullets;

/// How many memories are read at a time.
const PAGE: usize = 1000;

/// Memories are compared where they share a word that no more than so many have.
const COMMON: usize = 200;

/// Documents that change, as they were and as they will be.
pub(super) type Opened = HashMap<DocumentName, (Document, String)>;

/// Operations and documents of one change.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) ops: Vec<Op>,
    pub(super) documents: Opened,
}

impl Steps {
    /// The documents that change.
    pub(super) fn changed(&self) -> Vec<(Document, String)> {
        self.documents.values().filter(|(before, after)| before.text != *after).cloned().collect()
    }
}

/// A memory that repeats another.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct FoldedCopy {
    /// What both say, in the words of the one that stands.
    pub content: String,
    /// The memory that stands, and where it is.
    pub kept: EntryId,
    /// Its place.
    pub kept_in: Namespace,
    /// The copy.
    pub folded: EntryId,
    /// Its place.
    pub folded_from: Namespace,
}

/// What was folded, or would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Fold {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Each copy, with the one that stands.
    pub copies: Vec<FoldedCopy>,
    /// What `undo` reverts; none if nothing changed.
    pub change: Option<ChangeId>,
}

impl MemoryService<'_> {
    /// Makes one of the entries and lines that say the same, or says which those are.
    pub fn fold(&self, dry_run: bool) -> Done<Fold> {
        self.documents.notice_all()?;
        retry(
            || conflict("memory"),
            || {
                let groups = groups(self.statements()?.into_iter().map(|memory| memory.entry).collect());
                let copies = groups.iter().flat_map(|group| copies_of(group)).collect::<Vec<_>>();
                if dry_run || copies.is_empty() {
                    return Ok(Some(Fold { dry_run, copies, change: None }));
                }
                let change = self.kernel.change(Verb::Merge);
                let steps = self.folding(&groups)?;
                let committed =
                    self.documents.commit_as(&change, &steps.ops, &steps.changed()).unless_outrun()?.flatten();
                Ok(committed.map(|_| Fold { dry_run, copies, change: Some(change.id) }))
            },
        )
    }

    /// Everything active that is a statement: knowledge and identity.
    pub(super) fn statements(&self) -> Done<Vec<Memory>> {
        let layers = vec![Layer::Identity, Layer::Knowledge];
        let filter = Filter { layers, ..Filter::recallable(self.kernel.now) };
        let mut page = Page { limit: PAGE, cursor: None };
        let mut all = Vec::new();
        loop {
            let listing = self.entries.list(&filter, &page)?;
            all.extend(listing.memories);
            if listing.cursor.is_none() {
                return Ok(all);
            }
            page.cursor = listing.cursor;
        }
    }

    /// What folding takes: copies become inactive or leave their documents, and what stands gets what they add.
    fn folding(&self, groups: &[Vec<Entry>]) -> Done<Steps> {
        let Steps { mut ops, mut documents } = Steps::default();
        for group in groups {
            let (stands, copies) = (&group[0], &group[1..]);
            for copy in copies {
                match &copy.namespace {
                    Namespace::Document(name) if copy.kind == Kind::Bullet => {
                        let text = self.opened(name, &mut documents)?;
                        if let Some(bullet) = bullet_in(name, text, &copy.id) {
                            *text = bullets::without(text, &bullet);
                        }
                    }
                    _ => ops.push(Op::Update(self.retired(copy))),
                }
            }
            match &stands.namespace {
                Namespace::Document(name) if stands.kind == Kind::Bullet => {
                    let heaviest = group.iter().map(|entry| entry.importance).fold(stands.importance, |a, b| a.max(b));
                    let text = self.opened(name, &mut documents)?;
                    if let Some(bullet) = bullet_in(name, text, &stands.id).filter(|line| line.importance != heaviest) {
                        *text = bullets::with_replaced(text, &bullet, &bullet.content, heaviest);
                    }
                }
                _ => ops.push(Op::Update(self.standing_entry(stands, copies))),
            }
        }
        Ok(Steps { ops, documents })
    }

    /// An entry with what its copies add. Labels that do not fit beside its own are left out.
    fn standing_entry(&self, stands: &Entry, copies: &[Entry]) -> Entry {
        let next = with_copies(Entry { updated_at: self.kernel.now, ..stands.clone() }, copies);
        let tags = input::labels(&next.tags).map_or_else(|_| stands.tags.clone(), |labels| labels.tags);
        Entry { tags, ..next }
    }

    pub(super) fn opened<'d>(&self, name: &DocumentName, documents: &'d mut Opened) -> Done<&'d mut String> {
        if !documents.contains_key(name) {
            let document = self.documents.current_document(name)?;
            let text = document.text.clone();
            documents.insert(name.clone(), (document, text));
        }
        let missing = || EngineError::NotFound { reference: name.to_string() };
        documents.get_mut(name).map(|(_, text)| text).ok_or_else(missing)
    }
}

/// Memories that say the same, the one that stands first; each in one group at most.
fn groups(mut all: Vec<Entry>) -> Vec<Vec<Entry>> {
    all.sort_by(|a, b| standing(b).cmp(&standing(a)).then(a.created_at.cmp(&b.created_at)).then(a.id.cmp(&b.id)));
    let words: Vec<Vec<String>> = all.iter().map(|entry| distinct_words(&entry.content)).collect();
    let mut having: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, word) in words.iter().enumerate().flat_map(|(at, words)| words.iter().map(move |word| (at, word))) {
        having.entry(word).or_default().push(at);
    }
    let meanings: Vec<Meaning> = all.iter().map(|entry| Meaning::of(&entry.content)).collect();
    let mut taken: HashSet<usize> = HashSet::new();
    let mut groups = Vec::new();
    for (at, first) in all.iter().enumerate() {
        if !taken.insert(at) {
            continue;
        }
        let mut places: Vec<&Vec<usize>> = words[at].iter().map(|word| &having[word.as_str()]).collect();
        places.sort_by_key(|places| places.len());
        let rare = places.iter().enumerate().filter(|(nth, places)| *nth == 0 || places.len() <= COMMON);
        let later: BTreeSet<usize> =
            rare.flat_map(|(_, places)| places.iter().copied()).filter(|other| *other > at).collect();
        let is_copy = |other: &usize| {
            let is_free = !taken.contains(other) && may_go(first, &all[*other]);
            is_free && first.project == all[*other].project && meanings[at].is_same(&meanings[*other])
        };
        let copies: Vec<usize> = later.into_iter().filter(is_copy).collect();
        if !copies.is_empty() {
            groups.push(std::iter::once(first).chain(copies.iter().map(|at| &all[*at])).cloned().collect());
            taken.extend(copies);
        }
    }
    groups
}

/// Which of several stands, the greatest: a line of the profile, a line that a person wrote, what has a key, what weighs most,
/// whose word counts most.
fn standing(entry: &Entry) -> (bool, bool, bool, Significance, Source) {
    let is_line = entry.kind == Kind::Bullet;
    let is_persons = is_line && (entry.source == Source::User || entry.project.is_some());
    (entry.layer == Layer::Identity, is_persons, entry.key.is_some(), entry.importance.significance(), entry.source)
}

/// Two keys are two memories, and the memory file of a project is its own.
fn may_go(stands: &Entry, copy: &Entry) -> bool {
    let has_keys = stands.key.is_some() && copy.key.is_some();
    let is_of_project = copy.kind == Kind::Bullet && copy.project.is_some();
    !has_keys && !is_of_project
}

fn copies_of(group: &[Entry]) -> Vec<FoldedCopy> {
    let stands = &group[0];
    let copy = |copy: &Entry| FoldedCopy {
        content: stands.content.clone(),
        kept: stands.id.clone(),
        kept_in: stands.namespace.clone(),
        folded: copy.id.clone(),
        folded_from: copy.namespace.clone(),
    };
    group[1..].iter().map(copy).collect()
}
