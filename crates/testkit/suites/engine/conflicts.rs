//! A person whose editor saves before every write of ours: what was to be written is kept beside the file, and nothing of
//! theirs is touched.

use std::sync::atomic::{AtomicU64, Ordering};

use throughline_core::engine::{EngineError, StartSession};
use throughline_core::model::{Document, MemorySection, Namespace, Significance};
use throughline_core::ports::{DocumentError, ToolCall};

use super::*;

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// Documents as files, and somebody who saves one of them before every write.
struct Restless {
    inner: FileDocuments,
    /// The file, and what is saved before the number of the save.
    saves: Option<(PathBuf, String)>,
    saved: AtomicU64,
}

impl Documents for Restless {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.inner.read(name)
    }
    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        if let Some((file, text)) = &self.saves {
            let nth = self.saved.fetch_add(1, Ordering::SeqCst);
            std::fs::write(file, format!("{text}- save {nth}\n")).unwrap();
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

/// A world with files in which somebody saves `file`, below the place's directory, before every write.
fn restless(file: &str, text: &str) -> Place {
    place_with_files(|inner, dir| {
        let path = dir.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        Arc::new(Restless { inner, saves: Some((path, text.to_owned())), saved: AtomicU64::new(0) })
    })
}

/// The name of the copy that an error tells of.
#[track_caller]
fn copy<T: std::fmt::Debug>(outcome: Result<T, EngineError>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.code().as_str(), "conflict");
    assert!(error.hint().unwrap().contains("delete the copy"), "{error}");
    match error {
        EngineError::Document(DocumentError::KeptBeside { copy, .. }) => copy,
        other => panic!("{other:?}"),
    }
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with(".documents")).collect();
    names.sort();
    names
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_projects_fact_is_kept_beside_a_file_that_never_rests() {
    let world = restless("apollo/memory.md", "# Mine\n");
    let dir = world.dir.path().join("apollo");
    world.engine.projects().add("apollo", dir.to_str()).unwrap();
    let file = document("projects/apollo");
    let fact = ("The build runs with just".to_owned(), Significance::new(4).unwrap());
    let record = || world.engine.memories().record(&file, std::slice::from_ref(&fact), MemorySection::Is);
    let kept = copy(record());
    assert_eq!(kept, "memory.conflict-2026-03-01-120000.md");
    assert_eq!(copy(record()), "memory.conflict-2026-03-01-120000-2.md", "never over another");
    let text = std::fs::read_to_string(dir.join(&kept)).unwrap();
    assert!(text.starts_with("# Mine\n") && text.contains("[sig:4] The build runs with just"), "{text}");
    let theirs = std::fs::read_to_string(dir.join("memory.md")).unwrap();
    assert!(theirs.starts_with("# Mine\n- save ") && !theirs.contains("just"), "{theirs}");
    assert_eq!(names(&dir), [&format!("{}-2.md", &kept[..kept.len() - 3]), &kept, "memory.md"]);
    assert_eq!(recalled(&world, "build just"), [""; 0], "a copy is no memory");
    let health = world.engine.health().check();
    assert_eq!((health.problems.len(), health.remarks.len()), (0, 2), "{health:?}");
    assert!(health.remarks[0].contains("beside `projects/apollo`"), "{health:?}");
    std::fs::remove_file(dir.join(&kept)).unwrap();
    assert_eq!(world.engine.health().check().remarks.len(), 1);
}

#[test]
fn a_line_of_identity_is_kept_as_privately_as_the_profile() {
    let world = restless("data/user/profile.md", &format!("- Ada\n- my token is {SECRET}\n"));
    let dir = world.dir.path().join("data/user");
    let kept = copy(world.engine.memories().remember(&NewMemory {
        layer: throughline_core::model::Layer::Identity,
        ..NewMemory::fact("Lives in Lisbon")
    }));
    let text = std::fs::read_to_string(dir.join(&kept)).unwrap();
    assert!(text.contains("- Lives in Lisbon\n") && text.contains("[redacted:"), "{text}");
    assert!(!text.contains(SECRET), "a secret stays in the one file that the person keeps it in");
    #[cfg(unix)]
    assert_eq!(mode(&dir.join(&kept)), 0o600);
    let listed = world.documents.list(&"user".parse().unwrap()).unwrap();
    assert_eq!(listed, [document("user/profile")], "a copy is no document");
    assert_eq!(recalled(&world, "Lisbon"), [""; 0]);
    let address = format!("user/{}", kept.trim_end_matches(".md"));
    let read = world.engine.documents().read(&address.parse::<Namespace>().unwrap()).unwrap();
    assert_eq!(read.as_deref(), Some(text.as_str()), "it can be read");
    assert!(world.engine.documents().write(&document(&address), "x", None).is_err(), "and not written");
    assert_eq!(recalled(&world, "Lisbon"), [""; 0], "nor found, once it was read");
}

#[test]
fn an_assistant_is_told_where_its_line_is() {
    let world = restless("data/user/profile.md", "- Ada\n");
    let session = "chat:one".parse().unwrap();
    world.engine.sessions().start(&StartSession::new(session)).unwrap();
    let arguments = r#"{"action":"add","layer":"L0","content":"Lives in Lisbon"}"#.to_owned();
    let call = ToolCall { id: "1".to_owned(), name: "memory_write".to_owned(), arguments };
    let answer = world.engine.tools().call(&"chat:one".parse().unwrap(), &call);
    let error = &answer.content["error"];
    assert!(answer.is_error && error["code"] == "conflict", "{answer:?}");
    assert!(error["message"].as_str().unwrap().contains("profile.conflict-2026-03-01-120000.md"), "{answer:?}");
    let kept = world.dir.path().join("data/user/profile.conflict-2026-03-01-120000.md");
    assert!(std::fs::read_to_string(kept).unwrap().contains("- Lives in Lisbon\n"));
}

#[test]
fn what_is_only_taken_away_leaves_no_copy() {
    let world = restless("data/user/notes.md", "- a particular xylophone\n");
    let id = recall(&world, "xylophone")[0].memory.entry.id.to_string();
    let outcome = world.engine.memories().forget(&id);
    assert!(matches!(outcome, Err(EngineError::Document(DocumentError::Conflict { .. }))), "{outcome:?}");
    assert_eq!(names(&world.dir.path().join("data/user")), ["notes.md"]);
}
