//! The filter: a store answers as `Filter::admits` does.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use throughline_core::recall::Projects;

use super::candidates::ids;
use super::*;

/// The word that everything in the crowd contains.
const WORD: &str = "crowd";

/// How many entries and bullets are in it.
const CROWD: usize = 200;

const ADDRESSES: [&str; 12] = [
    "global",
    "user/facts",
    "user0/facts",
    "user-x/facts",
    "User/facts",
    "someone/facts",
    "sessions/cli:a",
    "sessions/cli:b",
    "projects/apollo",
    "vault/papers",
    "user/profile",
    "someone/notes/user",
];
const LAYERS: [Layer; 3] = [Layer::Identity, Layer::Knowledge, Layer::Archive];
const PROJECTS: [&str; 3] = ["apollo", "zeus", "Apollo"];
const TASKS: [&str; 2] = ["t1", "t2"];
const SOURCES: [Source; 3] = [Source::User, Source::Agent, Source::System];
const TAGS: [&str; 5] = ["red", "blue", "50%", "\"q\"", "re"];

/// Just below and at the beginning of steps of significance.
static WEIGHTS: LazyLock<[Importance; 6]> =
    LazyLock::new(|| [0.0, 0.124, 0.375, 0.624, 0.625, 0.875].map(|value| Importance::new(value).unwrap()));

fn owned<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

fn crowd(dice: &mut Dice) -> Vec<Entry> {
    let one = |n: usize| {
        let namespace = address(dice.pick(&ADDRESSES));
        let kind = if matches!(namespace, Namespace::Document(_)) { Kind::Bullet } else { Kind::Entry };
        Entry {
            kind,
            namespace,
            layer: dice.pick(&LAYERS),
            project: dice.maybe(&owned(PROJECTS)),
            task: dice.maybe(&owned(TASKS)),
            tags: dice.some(&owned(TAGS)),
            importance: dice.pick(&*WEIGHTS),
            created_at: minute(dice.roll(10) as i64),
            source: dice.pick(&SOURCES),
            session: dice.maybe(&["cli:a".parse().unwrap(), "cli:b".parse().unwrap()]),
            status: if dice.roll(4) == 0 { Status::Inactive } else { Status::Active },
            expires_at: dice.maybe(&[minute(5), minute(8)]),
            ..entry(&format!("e{n}"), &format!("{WORD} {n}"))
        }
    };
    (0..CROWD).map(one).collect()
}

fn filters(dice: &mut Dice) -> Vec<Filter> {
    let (cli_a, user) = ("cli:a".parse().unwrap(), "user".parse().unwrap());
    let mut scopes: Vec<Scope> = ADDRESSES.iter().map(|text| Scope::Only(address(text))).collect();
    scopes.push(Scope::Session { session: cli_a, user: None });
    scopes.push(Scope::Session { session: "cli:a".parse().unwrap(), user: Some(user) });
    scopes.push(Scope::Session { session: "cli:b".parse().unwrap(), user: Some("nobody".parse().unwrap()) });
    let none_or = |projects: &[&str]| Projects::NoneOr(projects.iter().map(|&name| name.to_owned()).collect());
    let projects =
        [Projects::Only("apollo".to_owned()), none_or(&[]), none_or(&["apollo"]), none_or(&["zeus", "Apollo"])];
    let plain = Filter::default;
    let mut filters = vec![plain(), Filter::recallable(minute(5)), plain().tagged("project:zeus").tagged("task:t1")];
    filters.extend(scopes.iter().map(|scope| Filter { scope: scope.clone(), ..plain() }));
    filters.extend(projects.iter().map(|projects| Filter { projects: projects.clone(), ..plain() }));
    for _ in 0..400 {
        filters.push(Filter {
            scope: dice.maybe(&scopes).unwrap_or_default(),
            kinds: dice.some(&[Kind::Entry, Kind::Bullet, Kind::Turn]),
            layers: dice.some(&LAYERS),
            projects: dice.maybe(&projects).unwrap_or_default(),
            task: dice.maybe(&owned(TASKS)),
            tags: dice.maybe(&owned(TAGS)).into_iter().collect(),
            significance: dice.maybe(&WEIGHTS.map(Importance::significance)),
            since: dice.maybe(&[minute(0), minute(3), minute(9), minute(99)]),
            until: dice.maybe(&[minute(0), minute(3), minute(9), minute(99)]),
            source: dice.maybe(&SOURCES),
            session: dice.maybe(&["cli:a".parse().unwrap(), "cli:b".parse().unwrap()]),
            status: dice.maybe(&[Status::Active, Status::Inactive]),
            live_at: dice.maybe(&[minute(4), minute(5), minute(8)]),
            without_working: dice.maybe(&[true]).unwrap_or_default(),
        });
    }
    filters
}

/// Fills a store; gives what it holds, turns in the shape of memories.
fn populate(store: &dyn Store, dice: &mut Dice) -> Vec<Entry> {
    let mut all = crowd(dice);
    let ops: Vec<Op> = all.iter().filter(|entry| entry.kind == Kind::Entry).cloned().map(Op::Insert).collect();
    done(apply(store, Verb::Remember, &ops));
    for document in ["user/profile", "someone/notes/user", "projects/apollo"] {
        let lines: Vec<Entry> = all.iter().filter(|entry| entry.namespace == address(document)).cloned().collect();
        index(store, &document.parse().unwrap(), None, &lines);
    }
    let sessions = [("cli:a", None), ("cli:b", Some("apollo".to_owned()))];
    let session = |(id, project): &(&str, Option<String>)| Session {
        id: id.parse().unwrap(),
        title: None,
        project: project.clone(),
        task: None,
        person: None,
        created_at: minute(0),
        updated_at: minute(9),
        ended_at: None,
    };
    let said = |n: i64| Turn { at: minute(n), ..turn(&format!("t{n}"), sessions[n as usize % 2].0, WORD) };
    let turns: Vec<Turn> = (0..10).map(said).collect();
    let bundle = Bundle { sessions: sessions.iter().map(session).collect(), turns, ..Bundle::default() };
    done(store.adopt(&change(Verb::Import), &bundle, &ErasureMark::default(), &mut |_| true));
    all.extend(bundle.turns.iter().map(|turn| Entry {
        kind: Kind::Turn,
        namespace: Namespace::Session(turn.session.clone()),
        layer: Layer::Archive,
        session: Some(turn.session.clone()),
        project: sessions.iter().find(|(id, _)| *id == turn.session.as_str()).and_then(|(_, project)| project.clone()),
        created_at: turn.at,
        updated_at: turn.at,
        ..entry(turn.id.as_str(), &turn.content)
    }));
    all
}

fn admitted(all: &[Entry], filter: &Filter) -> BTreeSet<String> {
    all.iter().filter(|entry| filter.admits(entry)).map(|entry| entry.id.to_string()).collect()
}

#[test]
fn a_listing_holds_what_the_filter_admits() {
    let (store, mut dice) = (make(), Dice::new(1));
    let all = populate(&*store, &mut dice);
    let rows: Vec<Entry> = all.iter().filter(|entry| entry.kind != Kind::Turn).cloned().collect();
    for filter in filters(&mut dice) {
        let listing = done(store.list(&filter, &Page { limit: usize::MAX, cursor: None }));
        let entries: Vec<Entry> = listing.memories.into_iter().map(|memory| memory.entry).collect();
        assert!(entries.is_sorted_by(|a, b| a.created_at >= b.created_at), "newest first: {filter:?}");
        let found: BTreeSet<String> = entries.iter().map(|entry| entry.id.to_string()).collect();
        assert_eq!(found, admitted(&rows, &filter), "{filter:?}");
        assert_eq!(found.len(), entries.len(), "each once: {filter:?}");
        assert!(entries.iter().all(|entry| rows.contains(entry)), "unchanged: {filter:?}");
    }
}

/// What was found itself, without what stands beside it.
fn hits(store: &dyn Store, pool: Pool) -> Vec<String> {
    let found = |candidate: &Candidate| candidate.found_by != FoundBy::Beside;
    ids(store, &pool.candidates.into_iter().filter(found).collect::<Vec<_>>())
}

fn compare(find: &dyn Fn(&dyn Store, Filter) -> Vec<String>) {
    let (store, mut dice) = (make(), Dice::new(2));
    let all = populate(&*store, &mut dice);
    let mut wrong = Vec::new();
    for filter in filters(&mut dice) {
        let found: BTreeSet<String> = find(&*store, filter.clone()).into_iter().collect();
        let expected = admitted(&all, &filter);
        if found != expected {
            let extra: Vec<_> = found.difference(&expected).cloned().collect();
            let missing: Vec<_> = expected.difference(&found).cloned().collect();
            wrong.push(format!("{filter:?}\n  too many: {extra:?}\n  too few: {missing:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} filters are answered wrongly, the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn a_search_finds_what_the_filter_admits() {
    compare(&|store, filter| hits(store, done(store.search(&searching(WORD, filter, usize::MAX)))));
}

#[test]
fn what_is_wanted_anyway_is_what_the_filter_admits() {
    let entries = (0..CROWD).map(|n| EntryId::new(format!("e{n}")));
    let also: Vec<EntryId> = entries.chain((0..10).map(|n| EntryId::new(format!("t{n}")))).collect();
    compare(&|store, filter| {
        let search = Search { terms: Vec::new(), also: also.clone(), filter, limit: 0, turns: 0 };
        hits(store, done(store.search(&search)))
    });
}

#[test]
fn letters_find_what_the_filter_admits() {
    compare(&|store, filter| {
        let found = done(store.contains(&["rowd".to_owned()], &filter, usize::MAX));
        found.into_iter().map(|found| found.memory.entry.id.to_string()).collect()
    });
}

#[test]
fn times_between_two_milliseconds_are_no_exception() {
    let store = make();
    let known = insert(&*store, entry("a", "tea"));
    let just = |micros: i64| Some(minute(0).checked_add(SignedDuration::from_micros(micros)).unwrap());
    for micros in [-1500, -500, 0, 500, 1500] {
        let later = Filter { since: just(micros), ..Filter::default() };
        let sooner = Filter { until: just(micros), ..Filter::default() };
        for filter in [later, sooner] {
            assert_eq!(listed(&*store, &filter).len(), usize::from(filter.admits(&known)), "{filter:?}");
        }
    }
}
