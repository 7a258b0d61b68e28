//! The filter of the core, said in SQL. `Filter::admits` is its meaning; a test compares the two.

use rusqlite::types::Value;
use throughline_core::model::{Importance, Kind, Layer, Namespace, Source, Status};
use throughline_core::recall::{Filter, Projects, Scope};
use throughline_stores::rounded_up;

/// A condition over `entries e`, and what it binds.
#[derive(Default)]
pub(crate) struct Condition {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Condition {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// One `?` for each of `n` values.
fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}

/// The condition for entries and bullets; begins with ` AND ` unless there is none.
pub(crate) fn condition(filter: &Filter) -> Condition {
    let mut condition = Condition::default();
    match (filter.wants(Kind::Entry), filter.wants(Kind::Bullet)) {
        (true, true) => {}
        (true, false) => condition.and("e.kind = 'entry'", []),
        (false, true) => condition.and("e.kind = 'bullet'", []),
        (false, false) => condition.and("FALSE", []),
    }
    scope(&mut condition, &filter.scope);
    if !filter.layers.is_empty() {
        let layers = filter.layers.iter().map(|layer| text(layer.as_str()));
        condition.and(&format!("e.layer IN ({})", marks(filter.layers.len())), layers);
    }
    match &filter.projects {
        Projects::Any => {}
        Projects::Only(project) => condition.and("e.project = ?", [text(project)]),
        Projects::NoneOr(own) => none_or(&mut condition, "e.project", own),
    }
    if let Some(task) = &filter.task {
        condition.and("e.task = ?", [text(task)]);
    }
    for tag in &filter.tags {
        condition.and("EXISTS (SELECT 1 FROM json_each(e.tags) WHERE value = ?)", [text(tag)]);
    }
    if let Some(least) = filter.significance {
        condition.and("e.importance >= ?", [Value::Real(least.least().value())]);
    }
    if let Some(since) = filter.since {
        condition.and("e.created_at >= ?", [Value::Integer(rounded_up(since))]);
    }
    if let Some(until) = filter.until {
        condition.and("e.created_at < ?", [Value::Integer(rounded_up(until))]);
    }
    if let Some(source) = filter.source {
        condition.and("e.source = ?", [text(source.as_str())]);
    }
    if let Some(session) = &filter.session {
        condition.and("e.session = ?", [text(session.as_str())]);
    }
    if let Some(status) = filter.status {
        condition.and("e.status = ?", [text(status.as_str())]);
    }
    if let Some(now) = filter.live_at {
        condition.and("(e.expires_at IS NULL OR e.expires_at > ?)", [Value::Integer(now.as_millisecond())]);
    }
    if filter.without_working {
        condition.and("NOT (e.kind = 'bullet' AND e.layer = 'archive')", []);
    }
    condition
}

fn none_or(condition: &mut Condition, column: &str, projects: &[String]) {
    let sql = format!("({column} IS NULL OR {column} IN ({}))", marks(projects.len()));
    condition.and(&sql, projects.iter().map(text));
}

fn scope(condition: &mut Condition, scope: &Scope) {
    match scope {
        Scope::Everything => {}
        Scope::Only(namespace) => condition.and("e.namespace = ?", [text(namespace.to_string())]),
        Scope::Session { session, user } => {
            let own = text(Namespace::Session(session.clone()).to_string());
            match user {
                None => condition.and(
                    "(e.namespace IN ('global', ?) OR (e.namespace >= 'projects/' AND e.namespace < 'projects0'))",
                    [own],
                ),
                Some(user) => condition.and(
                    // `{ns}/` to `{ns}0` is every address below the namespace: `0` follows `/`.
                    "(e.namespace IN ('global', ?) OR (e.namespace >= ? AND e.namespace < ?) \
                      OR (e.namespace >= 'projects/' AND e.namespace < 'projects0') \
                      OR (e.layer = 'archive' AND e.namespace >= 'sessions/' AND e.namespace < 'sessions0'))",
                    [own, text(format!("{user}/")), text(format!("{user}0"))],
                ),
            }
        }
    }
}

/// The condition for turns `t` of sessions `s`: those parts of the filter that mean something for a turn.
pub(crate) fn turn_condition(filter: &Filter) -> Condition {
    let mut condition = Condition::default();
    // A summary repeats what others said; the evidence is what they said.
    condition.and("t.role <> 'summary'", []);
    match &filter.scope {
        Scope::Everything => {}
        Scope::Only(Namespace::Session(session)) => condition.and("s.id = ?", [text(session.as_str())]),
        Scope::Only(_) => condition.and("FALSE", []),
        Scope::Session { session, user: None } => condition.and("s.id = ?", [text(session.as_str())]),
        Scope::Session { user: Some(_), .. } => {}
    }
    match &filter.projects {
        Projects::Any => {}
        Projects::Only(project) => condition.and("s.project = ?", [text(project)]),
        Projects::NoneOr(own) => none_or(&mut condition, "s.project", own),
    }
    let in_layer = filter.layers.is_empty() || filter.layers.contains(&Layer::Archive);
    let is_active = filter.status.is_none_or(|status| status == Status::Active);
    let weighs_enough = filter.significance.is_none_or(|least| least <= Importance::default().significance());
    if !in_layer || !is_active || !weighs_enough || !filter.tags.is_empty() || filter.task.is_some() {
        condition.and("FALSE", []);
    }
    if let Some(since) = filter.since {
        condition.and("t.at >= ?", [Value::Integer(rounded_up(since))]);
    }
    if let Some(until) = filter.until {
        condition.and("t.at < ?", [Value::Integer(rounded_up(until))]);
    }
    if let Some(session) = &filter.session {
        condition.and("s.id = ?", [text(session.as_str())]);
    }
    match filter.source {
        None => {}
        Some(Source::User) => condition.and("t.role = 'user'", []),
        Some(Source::Agent) => condition.and("t.role = 'assistant'", []),
        Some(Source::System) => condition.and("t.role IN ('tool', 'system')", []),
    }
    condition
}

/// The condition for passages `c` of documents `d` of the vault: knowledge of the program's, which belongs to no project.
pub(crate) fn chunk_condition(filter: &Filter) -> Condition {
    let mut condition = Condition::default();
    match &filter.scope {
        Scope::Everything | Scope::Session { .. } => {}
        Scope::Only(Namespace::Vault(collection)) => condition.and("d.collection = ?", [text(collection.as_str())]),
        Scope::Only(_) => condition.and("FALSE", []),
    }
    let in_layer = filter.layers.is_empty() || filter.layers.contains(&Layer::Knowledge);
    let is_active = filter.status.is_none_or(|status| status == Status::Active);
    let weighs_enough = filter.significance.is_none_or(|least| least <= Importance::default().significance());
    let is_programs = filter.source.is_none_or(|source| source == Source::System);
    let is_linked = !filter.tags.is_empty() || filter.task.is_some() || filter.session.is_some();
    let in_project = !matches!(filter.projects, Projects::Only(_));
    if !in_layer || !is_active || !weighs_enough || !is_programs || is_linked || !in_project {
        condition.and("FALSE", []);
    }
    if let Some(since) = filter.since {
        condition.and("d.updated_at >= ?", [Value::Integer(rounded_up(since))]);
    }
    if let Some(until) = filter.until {
        condition.and("d.updated_at < ?", [Value::Integer(rounded_up(until))]);
    }
    condition
}
