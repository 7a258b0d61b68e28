//! The filter of the core, said in SQL. `Filter::admits` is its meaning; the conformance suite compares the two.

use throughline_core::model::{Importance, Kind, Layer, Namespace, Source, Status};
use throughline_core::recall::{Filter, Projects, Scope};
use throughline_stores::rounded_up;

use crate::values::{Value, texts, values};

/// A condition, and what it binds.
pub(crate) struct Condition {
    /// Begins with ` AND ` unless there is none.
    pub(crate) sql: String,
    pub(crate) values: Vec<Value<'static>>,
    /// The number of its first value.
    first: usize,
}

impl Condition {
    /// One that binds its first value to `$first`.
    fn new(first: usize) -> Self {
        Self { sql: String::new(), values: Vec::new(), first }
    }

    /// Adds a condition with a `?` for each of its values.
    pub(crate) fn and<const N: usize>(&mut self, sql: &str, values: [Value<'static>; N]) {
        self.sql.push_str(" AND ");
        let mut values = values.into_iter();
        for (nth, part) in sql.split('?').enumerate() {
            if let Some(value) = if nth > 0 { values.next() } else { None } {
                let place = self.place(value);
                self.sql.push_str(&place);
            }
            self.sql.push_str(part);
        }
    }

    /// Binds one more value; gives its place.
    pub(crate) fn place(&mut self, value: impl Into<Value<'static>>) -> String {
        self.values.push(value.into());
        format!("${}", self.first + self.values.len() - 1)
    }
}

/// The condition for entries and bullets `e`, whose first value is `$first`.
pub(crate) fn condition(filter: &Filter, first: usize) -> Condition {
    let mut condition = Condition::new(first);
    match (filter.wants(Kind::Entry), filter.wants(Kind::Bullet)) {
        (true, true) => {}
        (true, false) => condition.and("e.kind = 'entry'", []),
        (false, true) => condition.and("e.kind = 'bullet'", []),
        (false, false) => condition.and("FALSE", []),
    }
    scope(&mut condition, &filter.scope);
    if !filter.layers.is_empty() {
        let layers = texts(filter.layers.iter().map(|layer| layer.as_str()));
        condition.and("e.layer = ANY(?)", values![layers]);
    }
    projects(&mut condition, "e.project", &filter.projects);
    if let Some(task) = &filter.task {
        condition.and("e.task = ?", values![task.clone()]);
    }
    for tag in &filter.tags {
        condition.and("? = ANY(e.tags)", values![tag.clone()]);
    }
    if let Some(least) = filter.significance {
        condition.and("e.importance >= ?", values![least.least().value()]);
    }
    if let Some(since) = filter.since {
        condition.and("e.created_at >= ?", values![rounded_up(since)]);
    }
    if let Some(until) = filter.until {
        condition.and("e.created_at < ?", values![rounded_up(until)]);
    }
    if let Some(source) = filter.source {
        condition.and("e.source = ?", values![source.as_str()]);
    }
    if let Some(session) = &filter.session {
        condition.and("e.session = ?", values![session.to_string()]);
    }
    if let Some(status) = filter.status {
        condition.and("e.status = ?", values![status.as_str()]);
    }
    if let Some(now) = filter.live_at {
        condition.and("(e.expires_at IS NULL OR e.expires_at > ?)", values![now.as_millisecond()]);
    }
    if filter.without_working {
        condition.and("NOT (e.kind = 'bullet' AND e.layer = 'archive')", []);
    }
    condition
}

fn projects(condition: &mut Condition, column: &str, projects: &Projects) {
    match projects {
        Projects::Any => {}
        Projects::Only(project) => condition.and(&format!("{column} = ?"), values![project.clone()]),
        Projects::NoneOr(own) => {
            condition.and(&format!("({column} IS NULL OR {column} = ANY(?))"), values![own.clone()]);
        }
    }
}

fn scope(condition: &mut Condition, scope: &Scope) {
    match scope {
        Scope::Everything => {}
        Scope::Only(namespace) => condition.and("e.namespace = ?", values![namespace.to_string()]),
        Scope::Session { session, user } => {
            let own = Namespace::Session(session.clone()).to_string();
            match user {
                None => condition.and(
                    "(e.namespace IN ('global', ?) OR (e.namespace >= 'projects/' AND e.namespace < 'projects0'))",
                    values![own],
                ),
                Some(user) => condition.and(
                    // `{ns}/` to `{ns}0` is every address below the namespace: `0` follows `/`.
                    "(e.namespace IN ('global', ?) OR (e.namespace >= ? AND e.namespace < ?) \
                      OR (e.namespace >= 'projects/' AND e.namespace < 'projects0') \
                      OR (e.layer = 'archive' AND e.namespace >= 'sessions/' AND e.namespace < 'sessions0'))",
                    values![own, format!("{user}/"), format!("{user}0")],
                ),
            }
        }
    }
}

/// The condition for turns `t` of sessions `s`: those parts of the filter that mean something for a turn.
pub(crate) fn turn_condition(filter: &Filter, first: usize) -> Condition {
    let mut condition = Condition::new(first);
    // A summary repeats what others said; the evidence is what they said.
    condition.and("t.role <> 'summary'", []);
    match &filter.scope {
        Scope::Everything | Scope::Session { user: Some(_), .. } => {}
        Scope::Only(Namespace::Session(session)) | Scope::Session { session, user: None } => {
            condition.and("s.id = ?", values![session.to_string()]);
        }
        Scope::Only(_) => condition.and("FALSE", []),
    }
    projects(&mut condition, "s.project", &filter.projects);
    let in_layer = filter.layers.is_empty() || filter.layers.contains(&Layer::Archive);
    let is_active = filter.status.is_none_or(|status| status == Status::Active);
    let weighs_enough = filter.significance.is_none_or(|least| least <= Importance::default().significance());
    if !in_layer || !is_active || !weighs_enough || !filter.tags.is_empty() || filter.task.is_some() {
        condition.and("FALSE", []);
    }
    if let Some(since) = filter.since {
        condition.and("t.at >= ?", values![rounded_up(since)]);
    }
    if let Some(until) = filter.until {
        condition.and("t.at < ?", values![rounded_up(until)]);
    }
    if let Some(session) = &filter.session {
        condition.and("s.id = ?", values![session.to_string()]);
    }
    match filter.source {
        None => {}
        Some(Source::User) => condition.and("t.role = 'user'", []),
        Some(Source::Agent) => condition.and("t.role = 'assistant'", []),
        Some(Source::System) => condition.and("t.role IN ('tool', 'system')", []),
    }
    condition
}
