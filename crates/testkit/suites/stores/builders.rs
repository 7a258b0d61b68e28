//! What several checks build on.

use super::*;

pub(super) fn session() -> SessionId {
    "cli:a".parse().unwrap()
}

pub(super) fn new(at: i64) -> NewSession {
    NewSession {
        id: session(),
        title: None,
        project: None,
        task: None,
        person: None,
        base_prompt: None,
        at: minute(at),
    }
}

pub(super) fn state(store: &dyn Store) -> SessionState {
    done(store.session(&session())).unwrap()
}

/// Appends turns `t0`, `t1`, …; gives the positions behind them.
pub(super) fn say(store: &dyn Store, count: usize) -> Vec<Position> {
    let turns: Vec<Turn> = (0..count).map(|n| turn(&format!("t{n}"), "cli:a", &format!("word{n}"))).collect();
    done(store.append(&turns));
    done(store.turns_after(&session(), Position::default())).into_iter().map(|(at, _)| at).collect()
}

pub(super) fn consolidated(from: Position, to: Position, kept_from: Position, summary: Option<&str>) -> Op {
    let turn = |text| Turn { role: Role::Summary, at: minute(7), ..turn("summary", "cli:a", text) };
    Op::Consolidated { session: session(), from, to, kept_from, summary: summary.map(turn) }
}

pub(super) fn task(id: &str, title: &str) -> Task {
    Task {
        id: TaskId::new(id),
        title: title.to_owned(),
        status: TaskStatus::Open,
        state: String::new(),
        project: None,
        created_at: minute(0),
        updated_at: minute(0),
        done_at: None,
        archive: None,
        version: 0,
    }
}

pub(super) fn full_task(id: &str) -> Task {
    Task {
        status: TaskStatus::Done,
        state: "half of it\nis done 用户".to_owned(),
        project: Some("apollo".to_owned()),
        updated_at: minute(4),
        done_at: Some(minute(3)),
        archive: Some(EntryId::new("archived")),
        ..task(id, "write the parser")
    }
}

pub(super) fn project(name: &str) -> Project {
    Project {
        name: name.parse().unwrap(),
        dir: None,
        status: Status::Active,
        created_at: minute(0),
        updated_at: minute(0),
        version: 0,
    }
}

/// The task, not wanted any more.
pub(super) fn removed(task: &Task) -> Task {
    Task { status: TaskStatus::Removed, ..task.clone() }
}

/// The project, no longer registered.
pub(super) fn retired(project: &Project) -> Project {
    Project { status: Status::Inactive, ..project.clone() }
}

/// Stores a task; gives it as it now is.
pub(super) fn put_task(store: &dyn Store, task: &Task) -> Task {
    assert_eq!(done(apply(store, Verb::Task, &[Op::Task(task.clone())])), [], "only entries are given back");
    done(store.task(&task.id)).unwrap()
}

/// Stores a project; gives it as it now is.
pub(super) fn register(store: &dyn Store, project: &Project) -> Project {
    assert_eq!(done(apply(store, Verb::Project, &[Op::Project(project.clone())])), []);
    done(store.project(&project.name)).unwrap()
}

pub(super) fn run(job: Job, at: i64) -> Run {
    let what = format!("run {at}");
    Run { job, started_at: minute(at), ended_at: minute(at + 1), outcome: RunOutcome::Done, what }
}

/// A search for the words of a query.
pub(super) fn searching(query: &str, filter: Filter, limit: usize) -> Search {
    Search { terms: Terms::of_query(query).as_slice().to_vec(), also: Vec::new(), filter, limit, turns: limit }
}

/// A recall that returned these.
pub(super) fn recall(id: &str, query: &str, at: i64, hits: &[&str]) -> RecallRecord {
    let part = |name: &str, value, points| Contribution { name: name.to_owned(), value, points };
    let why = Why { features: vec![part("own", 0.75, 3.0), part("base", 1.0, -2.5)], ..Why::only(FoundBy::Words) };
    let hit = |id: &&str| {
        let id = EntryId::new(*id);
        RecalledHit { id, kind: Kind::Entry, score: why.score(), why: why.clone(), given: false, evidence: Vec::new() }
    };
    RecallRecord {
        recall_id: RecallId::new(id),
        at: minute(at),
        session: None,
        by: AskedBy::Tool,
        query: query.to_owned(),
        hits: hits.iter().map(hit).collect(),
    }
}

/// All that was said in a session.
pub(super) fn said_in(store: &dyn Store, session: &SessionId) -> Vec<Turn> {
    done(store.turns_after(session, Position::default())).into_iter().map(|(_, turn)| turn).collect()
}

/// Numbers that look random and are always the same.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }

    pub(super) fn some<T: Clone>(&mut self, of: &[T]) -> Vec<T> {
        of.iter().filter(|_| self.roll(3) == 0).cloned().collect()
    }

    pub(super) fn maybe<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        (self.roll(3) == 0).then(|| self.pick(of))
    }
}
