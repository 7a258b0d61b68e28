//! Project memory: a file in the project's own directory, shared with persons and their editors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::path::{Path, PathBuf};

use common::{Home, Ran};
use tempfile::TempDir;

/// A project with folders, and a home that knows it.
struct Project {
    home: Home,
    dir: TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self::unregistered();
        let dir = project.dir.path().to_str().unwrap().to_owned();
        project.home.run(&["project", "add", "apollo", "--dir", &dir]).done();
        project
    }

    fn unregistered() -> Self {
        let dir = tempfile::Builder::new().prefix("project").tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("src/deep")).unwrap();
        Self { home: Home::new(), dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("memory.md")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    /// Runs a command somewhere below the project.
    fn below(&self, args: &[&str]) -> Ran {
        Ran::of(self.home.throughline(args).current_dir(self.dir.path().join("src/deep")).output().unwrap())
    }
}

#[test]
fn a_fact_is_recorded_from_any_folder_below_and_found_within_the_project() {
    let project = Project::new();
    project.below(&["project", "record", "The build runs with just", "--sig", "4"]).done();
    assert!(project.text().contains("## What Is\n\n- [sig:4] The build runs with just\n"), "{}", project.text());
    assert_eq!(project.home.found(&["build", "--project", "apollo"]), ["The build runs with just"]);
    assert_eq!(project.below(&["project", "read"]).done(), project.text());
    assert_eq!(project.home.run(&["read", "projects/apollo"]).done(), project.text());
}

#[test]
fn what_happened_has_a_date_and_what_is_done_is_moved() {
    let mut project = Project::new();
    project.home.set_now("2026-05-07T10:00:00Z");
    project.below(&["project", "record", "Ship the parser"]).done();
    project.below(&["project", "log", "Moved to edition 2024"]).done();
    project.below(&["project", "done", "Ship the parser"]).done();
    let text = project.text();
    assert!(text.contains("## What Happened\n\n- [sig:3] 2026-05-07 Moved to edition 2024\n"), "{text}");
    assert!(text.contains("## What Is Done\n\n- [sig:3] Ship the parser\n"), "{text}");
    assert_eq!(text.matches("Ship the parser").count(), 1);
}

#[test]
fn what_a_person_wrote_stays_byte_for_byte() {
    let project = Project::new();
    let theirs =
        "# Apollo\r\n\r\nOur words.\r\n\r\n## WIS\r\n* one\r\n\r\n\r\n## Notes\r\n\ttabs  and   blanks\r\nno end";
    std::fs::write(project.file(), theirs).unwrap();
    project.below(&["project", "record", "two"]).done();
    let text = project.text();
    assert_eq!(text.replace("- [sig:3] two\r\n", ""), theirs, "{text:?}");
    project.home.run(&["undo"]).done();
    assert_eq!(project.text(), theirs);
}

#[test]
fn a_memory_file_that_is_there_already_makes_a_project_when_something_is_recorded() {
    let project = Project::unregistered();
    std::fs::write(project.file(), "## What Is\n- [sig:5] Never push to main\n").unwrap();
    let name = project.dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(project.below(&["project", "read"]).done(), project.text(), "reading shows it");
    assert!(project.home.found(&["push"]).is_empty(), "and makes no memory of it");
    assert_eq!(project.home.run(&["project", "list", "--json"]).code, 1);
    let said = project.below(&["project", "record", "CI takes five minutes"]).done();
    assert!(said.starts_with(&format!("registered as {name}\n")), "{said}");
    assert_eq!(project.home.found(&["push", "--project", name]), ["Never push to main"]);
    let again = project.below(&["project", "log", "CI is faster"]).done();
    assert!(!again.contains("registered"), "{again}");
}

#[test]
fn a_name_that_another_project_has_gets_its_parents_in_front() {
    let project = Project::unregistered();
    let outer = project.home.path("outer");
    std::fs::create_dir_all(&outer).unwrap();
    let name = project.dir.path().file_name().unwrap().to_str().unwrap();
    project.home.run(&["project", "add", name, "--dir", outer.to_str().unwrap()]).done();
    std::fs::write(project.file(), "- ours\n").unwrap();
    let said = project.below(&["project", "log", "kept"]).done();
    assert!(said.starts_with("registered as ") && said.contains(&format!("-{name}\n")), "{said}");
    assert!(project.text().contains("kept") && !outer.join("memory.md").exists());
}

#[test]
fn a_project_without_a_directory_is_the_one_of_its_name() {
    let project = Project::new();
    let inner = project.dir.path().join("src/deep");
    std::fs::write(inner.join("memory.md"), "- inner\n").unwrap();
    project.home.run(&["project", "add", "deep"]).done();
    project.below(&["project", "record", "kept"]).done();
    assert!(std::fs::read_to_string(inner.join("memory.md")).unwrap().contains("kept"));
    assert!(!project.file().exists(), "nothing went to the outer project");
    assert_eq!(project.home.json(&["project", "show", "deep"])["dir"], inner.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_directory_has_one_project() {
    let project = Project::new();
    let dir = project.dir.path().to_str().unwrap();
    project.home.run(&["project", "add", "gemini", "--dir", dir]).failed(2, "belongs to the project `apollo`", "");
}

#[test]
fn a_removed_project_does_not_come_back_by_itself() {
    let project = Project::new();
    project.below(&["project", "record", "one"]).done();
    let text = project.text();
    project.home.run(&["project", "remove", "apollo"]).done();
    for verb in ["record", "log", "done"] {
        project.below(&["project", verb, "two more"]).failed(2, "`apollo` in", "project add apollo --dir");
    }
    assert_eq!((project.text(), project.home.run(&["project", "list"]).code), (text, 1));
    assert_eq!(project.below(&["project", "read"]).done(), project.text());
}

#[test]
fn a_mistyped_id_is_no_fact_and_each_line_says_what_became_of_it() {
    let project = Project::new();
    let said = |args: &[&str]| project.below(args).done();
    let first = said(&["project", "record", "Ship the parser"]);
    let id = first.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let about = "          created · projects/apollo\n";
    assert_eq!(first, format!("recorded\n{id}  Ship the parser\n{about}"));
    assert!(said(&["project", "record", "Ship the parser"]).starts_with("unchanged\n"));
    project.below(&["project", "done", "a1b2c4"]).failed(1, "no line of `projects/apollo`", "id");
    assert!(said(&["project", "done", &id]).starts_with("moved\n"));
    let json = said(&["project", "record", "Ship the parser", "--section", "done", "--json"]);
    assert!(json.contains("\"outcome\": \"unchanged\""), "{json}");
    assert!(!project.text().contains("a1b2c4"));
}

#[test]
fn a_project_that_moves_takes_nobodys_words_along() {
    let project = Project::new();
    project.below(&["project", "record", "Zebra crossing"]).done();
    let text = project.text();
    let elsewhere = project.home.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    project.home.run(&["project", "add", "apollo", "--dir", elsewhere.to_str().unwrap()]).done();
    assert!(project.home.found(&["zebra"]).is_empty());
    project.home.run(&["undo"]).done();
    assert_eq!((project.text(), elsewhere.join("memory.md").exists()), (text, false));
    assert_eq!(project.home.found(&["zebra"]), ["Zebra crossing"]);
}

#[test]
fn a_directory_that_is_not_there_is_said_and_nothing_is_lost() {
    let project = Project::new();
    project.below(&["project", "record", "Zebra crossing"]).done();
    let (dir, away) = (project.dir.path(), project.home.path("away"));
    std::fs::rename(dir, &away).unwrap();
    project.home.run(&["read", "projects/apollo"]).failed(2, "cannot be reached", "project add NAME --dir DIR");
    let recalled = project.home.run(&["recall", "zebra"]);
    assert!(
        recalled.stdout.contains("Zebra crossing") && recalled.stderr.contains("cannot be reached"),
        "{recalled:?}"
    );
    project.home.run(&["project", "add", "apollo", "--dir", away.to_str().unwrap()]).done();
    assert!(project.home.run(&["read", "projects/apollo"]).done().contains("Zebra crossing"));
    std::fs::rename(&away, dir).unwrap();
}

#[test]
fn outside_of_a_project_nothing_is_written() {
    let project = Project::unregistered();
    project.below(&["project", "record", "lost"]).failed(2, "belongs to no project", "project add");
    project.home.run(&["project", "add", "nowhere"]).done();
    project.below(&["project", "record", "lost", "--project", "nowhere"]).failed(2, "has no directory", "--dir");
    assert!(!project.file().exists());
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    let outside = project.home.path("outside.md");
    std::fs::write(&outside, "secret").unwrap();
    std::os::unix::fs::symlink(&outside, project.file()).unwrap();
    project.below(&["project", "record", "lost"]).failed(2, "not a plain file", "link");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "secret");
    std::fs::remove_file(project.file()).unwrap();

    project.below(&["project", "record", "one"]).done();
    std::fs::set_permissions(project.file(), std::fs::Permissions::from_mode(0o664)).unwrap();
    project.below(&["project", "record", "two"]).done();
    assert_eq!(common::mode(Path::new(&project.file())) & 0o777, 0o664);
}

#[test]
fn other_projects_do_not_see_it_and_a_removed_one_is_left_alone() {
    let project = Project::new();
    project.below(&["project", "record", "Zebra crossing"]).done();
    assert!(project.home.found(&["zebra", "--project", "other"]).is_empty());
    let asked = ["context", "--session", "web:1", "--project", "other", "--message", "where is the zebra?"];
    assert!(!project.home.run(&asked).done().contains("- ["), "a conversation about another project");
    let asked = ["context", "--session", "web:1", "--message", "where is the zebra?"];
    assert!(
        project.home.run(&asked).done().contains("Zebra crossing"),
        "a conversation about no project sees every one"
    );
    let asked = ["context", "--session", "web:1", "--project", "apollo", "--message", "where is the zebra?"];
    assert!(project.home.run(&asked).done().contains("Zebra crossing"));
    project.home.run(&["project", "remove", "apollo"]).done();
    assert!(project.text().contains("Zebra crossing"), "the file is the project's own");
}
