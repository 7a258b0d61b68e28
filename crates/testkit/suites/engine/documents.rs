//! Documents: identity and its limit, working memory, and a person who edits the files.

use std::sync::Mutex;

use throughline_core::engine::{EngineError, LineOutcome, NewMemory, Outcome};
use throughline_core::model::MemorySection;
use throughline_core::model::{Document, Importance, Layer, Namespace, Verb};
use throughline_core::ports::DocumentError;

use super::*;

fn identity(text: &str) -> NewMemory {
    NewMemory { layer: Layer::Identity, ..NewMemory::fact(text) }
}

#[test]
fn identity_holds_a_thousand_characters_whatever_the_script() {
    for letter in ["a", "用", "é"] {
        let world = place();
        let full = letter.repeat(1000);
        let written = agent(&world).documents().write(&document("user/profile"), &format!("{full}\n"), None).unwrap();
        assert_eq!(written.usage.unwrap().to_string(), "[100% — 1,000/1,000 chars]");
        let error = agent(&world).documents().write(&document("user/profile"), &letter.repeat(1001), None).unwrap_err();
        assert!(matches!(error, EngineError::IdentityFull { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains("[100% — 1,001/1,000 chars]") && said.contains(&full), "{said}");
        assert!(error.hint().is_some());
        assert_eq!(text_of(&world, "user/profile"), Some(format!("{full}\n")), "nothing was written");
    }
}

#[test]
fn a_line_of_identity_is_counted_as_it_would_be_injected() {
    for (length, fits) in [(998, true), (999, false)] {
        let world = place();
        let outcome = world.engine.memories().remember(&identity(&"用".repeat(length)));
        assert_eq!(outcome.is_ok(), fits, "{length}");
        assert_eq!(text_of(&world, "user/profile").is_some(), fits);
    }
}

#[test]
fn what_a_person_made_too_long_loads_and_is_flagged() {
    let world = place();
    let long = format!("- {}\n", "x".repeat(1500));
    assert_eq!(
        world.engine.documents().write(&document("user/profile"), &long, None).unwrap().usage.unwrap().chars,
        1502
    );
    save(&world, "user/profile", &format!("{long}- more\n"));
    let (text, usage) = world.engine.documents().profile().unwrap().unwrap();
    assert!(text.ends_with("- more\n") && usage.is_over());
    let remarks = world.engine.health().check().remarks;
    assert!(remarks.len() == 1 && remarks[0].contains("[150% — 1,509/1,000 chars]"), "{remarks:?}");
    assert!(matches!(agent(&world).memories().remember(&identity("one more")), Err(EngineError::IdentityFull { .. })));
}

#[test]
fn a_line_of_identity_is_stored_once() {
    let world = place();
    let first = world.engine.memories().remember(&identity("lives in\n Lisbon")).unwrap();
    assert_eq!((first.outcome, first.memory.entry.content.as_str()), (Outcome::Created, "lives in Lisbon"));
    assert_eq!(world.engine.memories().remember(&identity("lives in Lisbon")).unwrap().outcome, Outcome::Unchanged);
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- lives in Lisbon\n"));
    assert!(matches!(
        world.engine.memories().remember(&NewMemory { key: Some("k".into()), ..identity("x") }),
        Err(EngineError::Invalid { .. })
    ));
}

#[test]
fn without_a_namespace_identity_is_refused_and_no_document_is_made() {
    let world = place_set(|settings| settings.namespace = None);
    let error = world.engine.memories().remember(&identity("Ada")).unwrap_err();
    assert!(matches!(error, EngineError::NoNamespace), "{error:?}");
    assert!(error.hint().unwrap().contains("user_namespace"));
    assert_eq!(
        (world.engine.documents().profile().unwrap(), world.engine.documents().working().unwrap()),
        (None, None)
    );
    assert_eq!(text_of(&world, "user/profile"), None);
}

#[test]
fn without_a_namespace_the_profile_cannot_be_written_either() {
    let world = place_set(|settings| settings.namespace = None);
    for name in ["user/profile", "user/working"] {
        let outcome = world.engine.documents().write(&document(name), "Ada", None);
        assert!(matches!(outcome, Err(EngineError::NoNamespace)), "{name}: {outcome:?}");
        assert_eq!(text_of(&world, name), None);
    }
}

#[test]
fn working_memory_gets_its_header_and_expires() {
    let world = place();
    let written = world
        .engine
        .documents()
        .write(&document("user/working"), "- shipping the parser\n\nExpires: never\n", None)
        .unwrap();
    let expected = "# Working Memory\nUpdated: 2026-03-01T12:00:00Z\nExpires: 2026-03-15T12:00:00Z\n\n\
                    - shipping the parser\n\nExpires: never\n";
    assert_eq!(written.document.text, expected);
    assert_eq!(world.engine.documents().working().unwrap().unwrap().content, "- shipping the parser\n\nExpires: never");
    assert_eq!(recalled(&world, "parser"), ["shipping the parser"]);
    world.clock.advance(days(14) - jiff::SignedDuration::from_secs(1));
    assert!(world.engine.documents().working().unwrap().is_some());
    world.clock.advance(jiff::SignedDuration::from_secs(1));
    assert_eq!(world.engine.documents().working().unwrap(), None);
    assert_eq!(recalled(&world, "parser"), Vec::<String>::new());
    assert_eq!(text_of(&world, "user/working").as_deref(), Some(expected), "nothing cleans it up");
}

#[test]
fn working_memory_with_a_header_is_kept_as_it_is() {
    let world = place();
    let text = "# Working Memory\nUpdated: 2026-02-01T00:00:00Z\nExpires: 2026-03-02T00:00:00Z\n\n- mine\n";
    assert_eq!(world.engine.documents().write(&document("user/working"), text, None).unwrap().document.text, text);
    world.clock.advance(days(1));
    assert_eq!(world.engine.documents().working().unwrap(), None);
}

#[test]
fn working_memory_is_cut_to_its_budget_and_can_be_off() {
    let world = place_set(|settings| settings.working.max_tokens = 100);
    world.engine.documents().write(&document("user/working"), &"用".repeat(500), None).unwrap();
    assert_eq!(world.engine.documents().working().unwrap().unwrap().content.chars().count(), 100);
    let off = place_set(|settings| settings.working_memory = false);
    off.engine.documents().write(&document("user/working"), "- parser", None).unwrap();
    assert_eq!(off.engine.documents().working().unwrap(), None);
}

#[test]
fn a_persons_edit_is_noticed_versioned_and_undone() {
    let world = place();
    world.engine.documents().write(&document("user/profile"), "- Ada\n", None).unwrap();
    save(&world, "user/profile", "- Ada\n- Lisbon\n");
    assert_eq!(recalled(&world, "Lisbon"), ["Lisbon"]);
    let change = world.engine.history().changes(1).unwrap().remove(0);
    assert_eq!((change.actor, change.verb), (Actor::new(Source::User, "editor"), Verb::Write));
    let versions = world.store.document_versions(&document("user/profile")).unwrap();
    assert_eq!(
        versions.iter().map(|version| version.text.as_deref().unwrap()).collect::<Vec<_>>(),
        ["- Ada\n", "- Ada\n- Lisbon\n"]
    );
    assert_eq!(world.engine.history().undo().unwrap().undone.actor.via, "editor");
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Ada\n"));
}

#[test]
fn a_file_that_was_removed_can_be_brought_back() {
    let world = place();
    world.engine.documents().write(&document("user/profile"), "- Ada\n", None).unwrap();
    world.documents.remove(&document("user/profile"), &ContentHash::of("- Ada\n")).unwrap();
    assert_eq!(recalled(&world, "Ada"), Vec::<String>::new());
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Ada\n"));
    assert_eq!(recalled(&world, "Ada"), ["Ada"]);
}

#[test]
fn a_stale_writer_is_told() {
    let world = place();
    let notes = document("user/notes");
    let first = world.engine.documents().write(&notes, "one", Some(&ContentHash::missing())).unwrap().document.hash;
    save(&world, "user/notes", "mine");
    let stale = world.engine.documents().write(&notes, "two", Some(&first));
    assert!(matches!(stale, Err(EngineError::Document(DocumentError::Conflict { .. }))), "{stale:?}");
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("mine"));
}

/// Documents in which a person saves something just before the program's next write.
#[derive(Default)]
struct Meddling {
    inner: MemoryDocuments,
    save_next: Mutex<Option<String>>,
}

impl Documents for Meddling {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.inner.read(name)
    }
    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        if let Some(saved) = self.save_next.lock().unwrap().take() {
            self.inner.write(name, &saved, expected)?;
        }
        self.inner.write(name, text, expected)
    }
    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.inner.remove(name, expected)
    }
    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.inner.keep_beside(name, text, stamp)
    }
    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.inner.kept_beside(name)
    }
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.inner.list(namespace)
    }
    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.inner.stamp(name)
    }
}

#[test]
fn a_save_in_the_very_moment_of_a_write_is_not_lost() {
    let documents = Arc::new(Meddling::default());
    let world = place_with(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    world.engine.memories().remember(&identity("Ada")).unwrap();
    *documents.save_next.lock().unwrap() = Some("- Ada\n- by hand\n".to_owned());
    world.engine.memories().remember(&identity("Lisbon")).unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Ada\n- by hand\n- Lisbon\n"));
    let versions = world.store.document_versions(&document("user/profile")).unwrap();
    let vias: Vec<_> = versions.iter().map(|version| version.change.actor.via.as_str()).collect();
    assert_eq!(vias, ["test", "editor", "test"]);
}

#[test]
fn a_save_in_the_very_moment_of_a_conditional_write_wins() {
    let documents = Arc::new(Meddling::default());
    let world = place_with(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    let notes = document("user/notes");
    let seen = world.engine.documents().write(&notes, "one", None).unwrap().document.hash;
    *documents.save_next.lock().unwrap() = Some("by hand".to_owned());
    let outcome = world.engine.documents().write(&notes, "two", Some(&seen));
    assert!(matches!(outcome, Err(EngineError::Document(DocumentError::Conflict { .. }))), "{outcome:?}");
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("by hand"));
}

/// Puts a text into a document as a writer does that is killed before its change is committed.
fn half_write(world: &World, name: &str, text: &str) {
    let name = document(name);
    let before = world.documents.read(&name).unwrap().map_or_else(ContentHash::missing, |before| before.hash);
    world.documents.announce(&name, &ContentHash::of(text)).unwrap();
    world.documents.write(&name, text, &before).unwrap();
}

#[test]
fn what_a_killed_writer_left_in_a_file_is_no_edit() {
    let place = place_with_files(|files, _| Arc::new(files));
    let world = &place.world;
    let (profile, notes) = (document("user/profile"), document("user/notes"));
    world.engine.documents().write(&profile, "- Ada\n", None).unwrap();
    half_write(world, "user/profile", "- Ada\n- lives in Lisbon\n");
    half_write(world, "user/notes", "- nobody confirmed this\n");
    assert_eq!(recalled(world, "Lisbon"), [""; 0]);
    assert_eq!(text_of(world, "user/profile").as_deref(), Some("- Ada\n"));
    assert_eq!(text_of(world, "user/notes"), None);
    assert_eq!(world.store.document_versions(&profile).unwrap().len(), 1);
    assert_eq!(world.store.document_versions(&notes).unwrap(), []);
    assert_eq!(world.documents.announced(&profile), None);
    // What is written by hand later stays, though it is the very same text.
    save(world, "user/profile", "- Ada\n- lives in Lisbon\n");
    assert_eq!(recalled(world, "Lisbon"), ["lives in Lisbon"]);
}

#[test]
fn an_edit_of_what_a_killed_writer_left_stays() {
    let place = place_with_files(|files, _| Arc::new(files));
    let world = &place.world;
    world.engine.documents().write(&document("user/profile"), "- Ada\n", None).unwrap();
    half_write(world, "user/profile", "- Ada\n- lives in Lisbon\n");
    save(world, "user/profile", "- Ada\n- lives in Lisbon, since May\n");
    assert_eq!(recalled(world, "Lisbon"), ["lives in Lisbon, since May"]);
}

#[test]
fn any_address_reads_as_markdown() {
    let world = place();
    remember_as(&world, "drink", "likes tea");
    world.engine.documents().write(&document("user/notes"), "- one\n", None).unwrap();
    let read = |address: &str| world.engine.documents().read(&address.parse::<Namespace>().unwrap()).unwrap();
    assert_eq!(read("user/facts").as_deref(), Some("# user/facts\n\n- drink: likes tea\n"));
    assert_eq!(read("user/notes").as_deref(), Some("- one\n"));
    for nothing in ["global", "user/profile", "sessions/cli:main", "projects/apollo"] {
        assert_eq!(read(nothing), None, "{nothing}");
    }
}

#[test]
fn a_line_that_is_erased_is_removed_wherever_the_document_has_it() {
    let world = place();
    world
        .engine
        .documents()
        .write(&document("user/profile"), "- plays chess\n- Lisbon\n- plays chess\n", None)
        .unwrap();
    let line = recall(&world, "chess").remove(0).memory.entry.id;
    world.engine.memories().erase(line.as_str(), false).unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Lisbon\n"));
    assert_eq!(recalled(&world, "chess"), [""; 0]);
}

const MEMORY: &str = "projects/apollo";

/// A world with files, and two directories that a project may have.
fn with_files() -> (Place, [PathBuf; 2]) {
    let place = place_with_files(|files, _| Arc::new(files));
    let dirs = ["one", "two"].map(|name| place.dir.path().join(name));
    dirs.iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
    (place, dirs)
}

fn put(world: &World, dir: &Path) {
    world.engine.projects().add("apollo", dir.to_str()).unwrap();
}

fn said_in(dir: &Path) -> Option<String> {
    std::fs::read_to_string(dir.join("memory.md")).ok()
}

fn versions(world: &World) -> Vec<Option<String>> {
    world.store.document_versions(&document(MEMORY)).unwrap().into_iter().map(|version| version.text).collect()
}

#[test]
fn a_project_whose_directory_is_not_there_has_lost_nothing() {
    let (world, [one, _]) = with_files();
    put(&world, &one);
    let away = one.with_file_name("away");
    world.engine.documents().write(&document(MEMORY), "- a zebra\n", None).unwrap();
    std::fs::rename(&one, &away).unwrap();
    assert_eq!(recalled(&world, "zebra"), ["a zebra"], "what is known of it is still known");
    assert_eq!(versions(&world).len(), 1, "nobody removed it");
    let health = world.engine.health().check();
    let problems = format!("{health:?}");
    assert!(problems.contains("`projects/apollo` cannot be reached"), "{problems}");
    for error in [
        world.engine.documents().read(&MEMORY.parse().unwrap()).unwrap_err(),
        world.engine.documents().write(&document(MEMORY), "- lost\n", None).unwrap_err(),
        world.engine.history().undo().unwrap_err(),
    ] {
        assert!(matches!(error, EngineError::Document(DocumentError::Unreachable { .. })), "{error:?}");
        assert!(error.hint().unwrap().contains("project add NAME --dir DIR"));
    }
    std::fs::rename(&away, &one).unwrap();
    assert_eq!(world.engine.documents().read(&MEMORY.parse().unwrap()).unwrap().as_deref(), Some("- a zebra\n"));
    assert_eq!(versions(&world).len(), 1);
}

#[test]
fn a_project_that_is_moved_has_the_file_of_its_directory_and_an_undo_touches_neither() {
    for there in [None, Some("- a giraffe\n")] {
        let (world, [one, two]) = with_files();
        put(&world, &one);
        world.engine.documents().write(&document(MEMORY), "- a zebra\n", None).unwrap();
        there.iter().for_each(|text| std::fs::write(two.join("memory.md"), text).unwrap());
        put(&world, &two);
        assert_eq!(recalled(&world, "zebra giraffe"), there.map(|_| "a giraffe").into_iter().collect::<Vec<_>>());
        assert_eq!(versions(&world).len(), 2);
        let newest = world.engine.history().changes(1).unwrap().remove(0);
        assert_eq!((newest.verb, newest.actor.via.as_str()), (Verb::Project, "test"), "no edit by hand");
        assert_eq!(world.engine.history().undo().unwrap().undone.verb, Verb::Project);
        assert_eq!(said_in(&one).as_deref(), Some("- a zebra\n"));
        assert_eq!(said_in(&two).as_deref(), there);
        assert_eq!(recalled(&world, "zebra giraffe"), ["a zebra"]);
        assert_eq!(versions(&world).last().unwrap().as_deref(), Some("- a zebra\n"));
        assert_eq!(world.engine.history().undo().unwrap().undone.verb, Verb::Write, "nothing else happened");
        assert_eq!((said_in(&one), said_in(&two).as_deref()), (None, there));
    }
}

#[test]
fn a_directory_that_got_another_name_keeps_its_history() {
    let (world, [one, two]) = with_files();
    put(&world, &one);
    world.engine.documents().write(&document(MEMORY), "- a zebra\n", None).unwrap();
    std::fs::remove_dir(&two).unwrap();
    std::fs::rename(&one, &two).unwrap();
    put(&world, &two);
    assert_eq!((versions(&world).len(), recalled(&world, "zebra")), (1, vec!["a zebra".to_owned()]));
    let changes = world.engine.history().changes(9).unwrap().len();
    recalled(&world, "zebra");
    assert_eq!(world.engine.history().changes(9).unwrap().len(), changes);
}

#[test]
fn a_file_that_was_there_before_its_project_stays_when_that_is_undone() {
    let (world, [one, _]) = with_files();
    std::fs::write(one.join("memory.md"), "- key AKIAIOSFODNN7EXAMPLE\n- a zebra\n").unwrap();
    put(&world, &one);
    assert_eq!(recalled(&world, "zebra"), ["a zebra"]);
    world.engine.history().undo().unwrap();
    assert!(said_in(&one).unwrap().contains("AKIAIOSFODNN7EXAMPLE"));
    assert_eq!((recalled(&world, "zebra"), world.engine.projects().list().unwrap()), (Vec::new(), Vec::new()));
    assert_eq!(world.engine.documents().read(&MEMORY.parse().unwrap()).unwrap(), None, "no project, no document");
}

#[test]
fn a_secret_in_a_file_that_a_project_left_is_no_edit_when_it_comes_back() {
    let (world, [one, two]) = with_files();
    std::fs::write(one.join("memory.md"), "- key AKIAIOSFODNN7EXAMPLE\n- a zebra\n").unwrap();
    put(&world, &one);
    put(&world, &two);
    world.engine.history().undo().unwrap();
    assert!(said_in(&one).unwrap().contains("AKIAIOSFODNN7EXAMPLE"));
    assert_eq!(recalled(&world, "zebra"), ["a zebra"]);
    assert_eq!(world.engine.history().changes(1).unwrap()[0].verb, Verb::Undo, "nobody edited it");
}

#[test]
fn a_removed_project_is_not_looked_at() {
    let (world, [one, two]) = with_files();
    put(&world, &one);
    world.engine.documents().write(&document(MEMORY), "- a zebra\n", None).unwrap();
    world.engine.projects().remove("apollo").unwrap();
    assert_eq!(world.engine.documents().read(&MEMORY.parse().unwrap()).unwrap(), None);
    assert_eq!(versions(&world).len(), 1, "nobody removed its file");
    put(&world, &two);
    world.engine.history().undo().unwrap();
    assert_eq!((said_in(&one).as_deref(), said_in(&two)), (Some("- a zebra\n"), None));
}

#[test]
fn a_directory_belongs_to_one_project() {
    let (world, [one, two]) = with_files();
    put(&world, &one);
    let error = world.engine.projects().add("gemini", one.to_str()).unwrap_err();
    assert!(error.to_string().contains("belongs to the project `apollo`"), "{error}");
    put(&world, &two);
    world.engine.projects().add("gemini", one.to_str()).unwrap();
}

#[test]
fn each_recorded_line_says_what_became_of_it() {
    let world = place();
    let file = document("user/memory");
    let weight = Importance::default().significance();
    let record = |text: &str, section| {
        let mut lines = world.engine.memories().record(&file, &[(text.to_owned(), weight)], section).unwrap().lines;
        (lines.len(), lines.remove(0).outcome)
    };
    assert_eq!(record("ship the parser", MemorySection::Is), (1, LineOutcome::Created));
    assert_eq!(record("ship the parser", MemorySection::Is), (1, LineOutcome::Unchanged));
    assert_eq!(record("ship the parser", MemorySection::Done), (1, LineOutcome::Moved));
    assert_eq!(record("ship the parser", MemorySection::Done), (1, LineOutcome::Unchanged));
    assert_eq!(record("ship the lexer", MemorySection::Done), (1, LineOutcome::Created));
    let text = text_of(&world, "user/memory").unwrap();
    assert!(text.ends_with("## What Is Done\n\n- [sig:3] ship the parser\n- [sig:3] ship the lexer\n"), "{text}");
    let by = |reference: &str| world.engine.documents().complete(&file, reference).map(|done| done.lines[0].outcome);
    assert_eq!(by("ship the parser").unwrap(), LineOutcome::Unchanged);
    assert_eq!(text_of(&world, "user/memory").unwrap(), text, "and stays in its place");
    assert_eq!(record("feed the cat", MemorySection::Is), (1, LineOutcome::Created));
    let id = recall(&world, "cat").remove(0).memory.entry.id;
    assert_eq!(by(&id.as_str()[..8]).unwrap(), LineOutcome::Moved);
    assert_eq!(by(id.as_str()).unwrap(), LineOutcome::Unchanged);
}

#[test]
fn what_looks_like_an_id_and_is_none_is_no_fact() {
    let world = place();
    let file = document("user/memory");
    for reference in ["a1b2c4", "abcdefgh", "abcdefghijklmnop"] {
        let error = world.engine.documents().complete(&file, reference).unwrap_err();
        assert!(matches!(error, EngineError::NoLine { .. }), "{reference}: {error:?}");
    }
    assert_eq!(text_of(&world, "user/memory"), None);
    for fact in ["tests", "Parser", "the parser"] {
        assert_eq!(
            world.engine.documents().complete(&file, fact).unwrap().lines[0].outcome,
            LineOutcome::Created,
            "{fact}"
        );
    }
    save(&world, "user/memory", "## WIS\n- cleanup\n");
    assert_eq!(world.engine.documents().complete(&file, "cleanup").unwrap().lines[0].outcome, LineOutcome::Moved);
}
