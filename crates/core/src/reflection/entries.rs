//! What reflection does beyond documents: knowledge that says the same becomes one, and what is said again and again is
//! promoted to patterns and profile.

use std::collections::{BTreeSet, HashSet};

use crate::consolidation::facts::{FactKind, Said, Support, support};
use crate::documents::IdentityUsage;
use crate::error::Done;
use crate::model::{
    DocumentName, Entry, EntryId, Importance, Kind, Layer, Name, Role, SessionId, Source, Status, Turn, TurnId,
};
use crate::ports::{Applied, Op, Page};
use crate::recall::find::Fallback;
use crate::recall::{Filter, Hit, Projects, RecallRequest, Scope};
use crate::reflection::ReflectionService;
use crate::statements;
use crate::text::bullets;

use super::draft::Draft;
use super::{Heard, Target};

/// Entries that one pass looks at, the newest.
const LOOKED_AT: usize = 300;
/// Entries that are compared with each.
const COMPARED: usize = 10;
/// Conversations that must say a thing before it is a pattern.
const REPEATED: usize = 3;
/// What `{ns}/patterns` may grow to by itself, in characters.
const PATTERNS_LIMIT: usize = 4000;

impl ReflectionService<'_> {
    /// Merges knowledge that says the same, in the same place and project: at most a share of all there is.
    pub(super) fn draft_merges(&self, target: &Target, heard: &Heard, draft: &mut Draft) -> Done<()> {
        let projects = target.project.clone().map_or(Projects::Any, Projects::Only);
        let filter = Filter {
            scope: Scope::Only(self.kernel.facts()),
            kinds: vec![Kind::Entry],
            layers: vec![Layer::Knowledge],
            projects,
            ..Filter::recallable(self.kernel.now)
        };
        let newest = self.entries.list(&filter, &Page { limit: LOOKED_AT, cursor: None })?.memories;
        let all = self.integrity.stats()?.knowledge as f64;
        let mut left = ((all * self.kernel.settings.reflection.max_share).floor() as usize).max(1);
        if self.kernel.settings.reflection.max_share <= 0.0 {
            return Ok(());
        }
        let mut taken: HashSet<EntryId> = heard.refused.clone();
        taken.extend(draft.ops.iter().filter_map(retires));
        for memory in newest {
            if left == 0 || taken.contains(&memory.entry.id) {
                continue;
            }
            if let Some(line) = self.memories.line_saying(&memory.entry)? {
                left -= 1;
                let (id, name) = (memory.entry.id.clone(), line);
                let what = format!("“{}”, which {name} says", memory.entry.content);
                draft.ops.push(Op::Update(self.memories.retired(&memory.entry)));
                draft.applied.push(Applied { op: "merge".to_owned(), document: None, ids: vec![id.clone()], what });
                taken.insert(id);
                continue;
            }
            let group = self.sayings(&memory.entry, &filter, &taken, left)?;
            if group.len() < 2 {
                continue;
            }
            left = left.saturating_sub(group.len() - 1);
            taken.extend(group.iter().map(|entry| entry.id.clone()));
            let Ok((standing, _)) = self.memories.merged(&group, None) else { continue };
            draft.applied.push(Applied {
                op: "merge".to_owned(),
                document: None,
                ids: group.iter().map(|entry| entry.id.clone()).collect(),
                what: format!("{} memories that say “{}”", group.len(), standing.content),
            });
            draft.ops.extend(group[1..].iter().map(|entry| Op::Update(self.memories.retired(entry))));
            draft.ops.push(Op::Update(standing));
        }
        Ok(())
    }

    /// An entry and those that say the same, the one that stands first: what has a key, then what is vouched for, then what
    /// weighs most, then whose word counts most, then the oldest. Two keys are two memories.
    fn sayings(&self, entry: &Entry, filter: &Filter, taken: &HashSet<EntryId>, left: usize) -> Done<Vec<Entry>> {
        let request = RecallRequest { query: entry.content.clone(), limit: COMPARED, filter: filter.clone() };
        let hits = self.recall.find(&request, Fallback::Nothing)?.into_iter().map(|hit| hit.memory.entry);
        let mut group = vec![entry.clone()];
        for other in hits {
            let is_new = other.id != entry.id && !taken.contains(&other.id) && group.len() <= left;
            let has_room = other.key.is_none() || group.iter().all(|known| known.key.is_none());
            if is_new && has_room && other.project == entry.project && statements::same(&entry.content, &other.content)
            {
                group.push(other);
            }
        }
        group.sort_by(|a, b| {
            let is_vouched = |entry: &Entry| entry.reservation().is_none();
            let weight =
                |entry: &Entry| (entry.key.is_some(), is_vouched(entry), entry.importance.significance(), entry.source);
            weight(b).cmp(&weight(a)).then(a.created_at.cmp(&b.created_at)).then(a.id.cmp(&b.id))
        });
        Ok(group)
    }

    /// Moves to patterns and profile what several conversations said, as far as it fits.
    pub(super) fn draft_promotions(&self, heard: &Heard, draft: &mut Draft) -> Done<()> {
        let Some(namespace) = self.kernel.settings.namespace.clone() else { return Ok(()) };
        let filter = Filter {
            scope: Scope::Only(self.kernel.facts()),
            kinds: vec![Kind::Entry],
            layers: vec![Layer::Knowledge],
            projects: Projects::NoneOr(Vec::new()),
            ..Filter::recallable(self.kernel.now)
        };
        let newest = self.entries.list(&filter, &Page { limit: LOOKED_AT, cursor: None })?.memories;
        let mut left_alone: HashSet<EntryId> = draft.ops.iter().filter_map(retires).collect();
        left_alone.extend(heard.refused.iter().cloned());
        for entry in newest.into_iter().map(|memory| memory.entry) {
            let Some(name) = promoted_to(&entry, &namespace).filter(|_| !left_alone.contains(&entry.id)) else {
                continue;
            };
            let Some((_, after)) = self.drafted(&name, draft)? else { continue };
            let Some(longer) = with_statement(&name, after, &entry.content) else { continue };
            let is_withdrawn = self.recall.lineage.is_withdrawn(&entry.content, Some(entry.updated_at))?;
            if is_withdrawn || self.conversations_saying(&entry)? < REPEATED {
                continue;
            }
            *after = longer;
            let what = format!("“{}” to {name}", entry.content);
            // It moves: what is said has one place.
            draft.ops.push(Op::Update(self.memories.retired(&entry)));
            draft.applied.push(Applied { op: "promote".to_owned(), document: Some(name), ids: vec![entry.id], what });
        }
        Ok(())
    }

    /// How many conversations say what an entry says, in the person's own words.
    fn conversations_saying(&self, entry: &Entry) -> Done<usize> {
        let filter = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
        let request = RecallRequest { query: entry.content.clone(), limit: 50, filter };
        let hits = self.recall.find(&request, Fallback::Nothing)?;
        let turns = hits.into_iter().filter(|hit| hit.memory.entry.source == Source::User).filter_map(turn_of);
        let is_said = |turn: &Turn| {
            support(&entry.content, &Said { before: &[], turns: std::slice::from_ref(turn) }) == Support::Own
        };
        let own = self.speakers().own_words(turns.collect())?;
        let sessions: BTreeSet<SessionId> = own.into_iter().filter(is_said).map(|turn| turn.session).collect();
        Ok(sessions.len())
    }
}

/// The turn that was found.
fn turn_of(hit: Hit) -> Option<Turn> {
    let (entry, speaker) = (hit.memory.entry, hit.speaker);
    Some(Turn {
        id: TurnId::new(entry.id.as_str()),
        session: entry.session?,
        role: Role::User,
        speaker,
        content: entry.content,
        at: entry.created_at,
    })
}

/// A document that says this, in one more line where it does not yet; none if that does not fit.
fn with_statement(name: &DocumentName, text: &str, says: &str) -> Option<String> {
    if bullets::parse(name, text).iter().any(|line| statements::same(&line.content, says)) {
        return Some(text.to_owned());
    }
    let longer = bullets::with_added(text, says, Importance::default());
    let fits = if name.is_profile() {
        !IdentityUsage::of(&longer).is_over()
    } else {
        longer.chars().count() <= PATTERNS_LIMIT
    };
    fits.then_some(longer)
}

fn retires(op: &Op) -> Option<EntryId> {
    match op {
        Op::Update(entry) if entry.status == Status::Inactive => Some(entry.id.clone()),
        _ => None,
    }
}

/// The document that repeated knowledge of this kind belongs into.
fn promoted_to(entry: &Entry, namespace: &Name) -> Option<DocumentName> {
    let is = |kind: FactKind| entry.tags.iter().any(|tag| tag == kind.as_str());
    if entry.reservation().is_some() || !statements::is_lasting(&entry.content) {
        None
    } else if is(FactKind::Identity) {
        Some(DocumentName::profile(namespace))
    } else if is(FactKind::Preference) || is(FactKind::Constraint) {
        Some(DocumentName::patterns(namespace))
    } else {
        None
    }
}
