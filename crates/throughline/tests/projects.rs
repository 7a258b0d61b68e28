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
fn a_memory_file_that_is_there_already_makes_a_project() {
    let project = Project::unregistered();
    std::fs::write(project.file(), "## What Is\n- [sig:5] Never push to main\n").unwrap();
    project.below(&["project", "record", "CI takes five minutes"]).done();
    let name = project.dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(project.home.found(&["push", "--project", name]), ["Never push to main"]);
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
    let asked = ["context", "--session", "web:1", "--message", "the zebra crossing"];
    assert!(!project.home.run(&asked).done().contains("- ["), "a conversation about no project");
    let asked = ["context", "--session", "web:1", "--project", "apollo", "--message", "the zebra crossing"];
    assert!(project.home.run(&asked).done().contains("Zebra crossing"));
    project.home.run(&["project", "remove", "apollo"]).done();
    assert!(project.text().contains("Zebra crossing"), "the file is the project's own");
}
