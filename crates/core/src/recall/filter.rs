//! What may be found. A filter narrows; it never ranks.

use jiff::Timestamp;

use crate::model::{Entry, Kind, Layer, Name, Namespace, SessionId, Significance, Source, Status};

/// Which namespaces are in reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    /// All of them: a person looking at their own memory.
    #[default]
    Everything,
    /// One address.
    Only(Namespace),
    /// What a conversation may see: its own, `global`, its project's and, with a namespace, all of the person's and the archive of
    /// their other conversations.
    Session {
        /// The conversation.
        session: SessionId,
        /// The person's namespace, where one is set.
        user: Option<Name>,
    },
}

/// Which projects are in reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Projects {
    /// All of them, and none.
    #[default]
    Any,
    /// One alone.
    Only(String),
    /// What belongs to no project, or to one of these.
    NoneOr(Vec<String>),
}

/// What may be found; the default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Namespaces.
    pub scope: Scope,
    /// Kinds; empty means all but passages of the vault.
    pub kinds: Vec<Kind>,
    /// Layers; empty means all.
    pub layers: Vec<Layer>,
    /// Projects.
    pub projects: Projects,
    /// The task that it is about.
    pub task: Option<String>,
    /// Labels that must all be there.
    pub tags: Vec<String>,
    /// At least so significant.
    pub significance: Option<Significance>,
    /// Stored at this time or later.
    pub since: Option<Timestamp>,
    /// Stored before this time.
    pub until: Option<Timestamp>,
    /// Whose word it is; nothing means anybody's.
    pub source: Option<Source>,
    /// The conversation that it came from.
    pub session: Option<SessionId>,
    /// Status; nothing means any.
    pub status: Option<Status>,
    /// Leaves out what has expired by then.
    pub live_at: Option<Timestamp>,
    /// Leaves out the lines of working memory, which render its threads: the bullets of the archive.
    pub without_working: bool,
}

impl Filter {
    /// What a recall may return: active, and not expired.
    pub fn recallable(now: Timestamp) -> Self {
        Self { status: Some(Status::Active), live_at: Some(now), ..Self::default() }
    }

    /// Takes a label; `project:x` and `task:y` are the links themselves.
    pub fn tagged(mut self, tag: &str) -> Self {
        match tag.split_once(':') {
            Some(("project", project)) => self.projects = Projects::Only(project.to_owned()),
            Some(("task", task)) => self.task = Some(task.to_owned()),
            _ => self.tags.push(tag.to_owned()),
        }
        self
    }

    /// Whether a kind is in reach. Turns and passages have one layer, no labels and no task: a search that asks for others need not
    /// look at them.
    pub fn wants(&self, kind: Kind) -> bool {
        let is_named = if self.kinds.is_empty() { kind != Kind::Chunk } else { self.kinds.contains(&kind) };
        let only_layer = match kind {
            Kind::Entry | Kind::Bullet => return is_named,
            Kind::Turn => Layer::Archive,
            Kind::Chunk => Layer::Knowledge,
        };
        let has_layer = self.layers.is_empty() || self.layers.contains(&only_layer);
        is_named && has_layer && self.tags.is_empty() && self.task.is_none()
    }

    /// Whether this entry may be found. Stores answer the same question in their own language; this is the meaning.
    pub fn admits(&self, entry: &Entry) -> bool {
        self.wants(entry.kind)
            && self.scope.admits(entry)
            && (self.layers.is_empty() || self.layers.contains(&entry.layer))
            && self.projects.admits(entry.project.as_deref())
            && self.task.as_ref().is_none_or(|task| entry.task.as_ref() == Some(task))
            && self.tags.iter().all(|tag| entry.tags.contains(tag))
            && self.significance.is_none_or(|least| entry.importance.significance() >= least)
            && self.since.is_none_or(|since| entry.created_at >= since)
            && self.until.is_none_or(|until| entry.created_at < until)
            && self.source.is_none_or(|source| entry.source == source)
            && self.session.as_ref().is_none_or(|session| entry.session.as_ref() == Some(session))
            && self.status.is_none_or(|status| entry.status == status)
            && self.live_at.is_none_or(|now| entry.expires_at.is_none_or(|expires| expires > now))
            && !(self.without_working && entry.kind == Kind::Bullet && entry.layer == Layer::Archive)
    }
}

impl Scope {
    fn admits(&self, entry: &Entry) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(namespace) => entry.namespace == *namespace,
            Self::Session { session, user } => match &entry.namespace {
                Namespace::Global => true,
                Namespace::Session(id) => id == session || (user.is_some() && entry.layer == Layer::Archive),
                Namespace::Facts(name) => user.as_ref() == Some(name),
                // Of projects' own documents, the projects in reach decide.
                Namespace::Document(name) => name.as_project().is_some() || user.as_ref() == Some(name.namespace()),
                Namespace::Vault(_) => entry.kind == Kind::Chunk,
            },
        }
    }
}

impl Projects {
    fn admits(&self, project: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Only(only) => project == Some(only),
            Self::NoneOr(own) => project.is_none_or(|project| own.iter().any(|own| own == project)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_no_filter_of_this_sort_admits_are_not_searched() {
        let check = |filter: Filter, expected: &[Kind]| {
            let wanted =
                [Kind::Entry, Kind::Bullet, Kind::Turn, Kind::Chunk].into_iter().filter(|kind| filter.wants(*kind));
            assert_eq!(wanted.collect::<Vec<_>>(), expected, "{filter:?}");
        };
        let (all, memories) = ([Kind::Entry, Kind::Bullet, Kind::Turn], [Kind::Entry, Kind::Bullet]);
        check(Filter::default(), &all);
        check(Filter { layers: vec![Layer::Archive], ..Filter::default() }, &all);
        check(Filter { layers: vec![Layer::Knowledge, Layer::Identity], ..Filter::default() }, &memories);
        check(Filter::default().tagged("tea"), &memories);
        check(Filter::default().tagged("task:tea"), &memories);
        check(Filter::default().tagged("project:tea"), &all);
        let passages = Filter { kinds: vec![Kind::Chunk, Kind::Turn], ..Filter::default() };
        check(passages.clone(), &[Kind::Turn, Kind::Chunk]);
        check(Filter { layers: vec![Layer::Knowledge], ..passages }, &[Kind::Chunk]);
    }
}
