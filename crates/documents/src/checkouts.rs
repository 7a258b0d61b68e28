//! Which directory is under version control, and which directory is its project's.
//!
//! Goes in: a directory without links in its path. Comes out: where its checkout begins, and the directory of the project.
//! Never happens: that a file in a checkout leads to a repository that does not know this checkout.

use std::fs;
use std::path::{Path, PathBuf};

use throughline_core::ports::Checkout;

/// What a checkout has at its top.
const MARKERS: [&str; 3] = [".git", ".jj", ".hg"];

/// Longest file of a repository that is read here.
const LONGEST: u64 = 4096;

/// The checkout that a directory lies in; else the nearest directory with a file of this name. Neither `home` nor anything
/// above it counts.
pub(crate) fn find(dir: &Path, home: Option<&Path>, file: &str) -> Option<Checkout> {
    let below_home = || dir.ancestors().take_while(|dir| Some(*dir) != home);
    let checkout = below_home().find(|dir| MARKERS.iter().any(|marker| dir.join(marker).symlink_metadata().is_ok()));
    if let Some(top) = checkout {
        let project = main_checkout(top).filter(|main| Some(main.as_path()) != home);
        return Some(Checkout { project: project.unwrap_or_else(|| top.to_owned()), top: top.to_owned() });
    }
    let has_file = |dir: &&Path| dir.join(file).symlink_metadata().is_ok_and(|found| !found.is_dir());
    below_home().find(has_file).map(|dir| Checkout { top: dir.to_owned(), project: dir.to_owned() })
}

/// The main checkout, where this one is a linked worktree of Git's. A submodule is a repository of its own.
fn main_checkout(top: &Path) -> Option<PathBuf> {
    let link = top.join(".git");
    let own = resolved(top, text(&link)?.strip_prefix("gitdir:")?)?;
    let common = resolved(&own, &text(&own.join("commondir"))?)?;
    // A repository knows its worktrees: a link that anybody could have written into an archive leads nowhere.
    let back = resolved(&own, &text(&own.join("gitdir"))?)?;
    if back != link.canonicalize().ok()? || !own.starts_with(&common) {
        return None;
    }
    let is_inside = common.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.'));
    Some(if is_inside { common.parent()?.to_owned() } else { common })
}

/// A short plain file, trimmed.
fn text(path: &Path) -> Option<String> {
    let is_short = path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    is_short.then(|| fs::read_to_string(path).ok()).flatten().map(|text| text.trim().to_owned())
}

/// A path as it is written in a file of this directory.
fn resolved(dir: &Path, written: &str) -> Option<PathBuf> {
    dir.join(written.trim()).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        _root: tempfile::TempDir,
        home: PathBuf,
    }

    impl Machine {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let home = root.path().canonicalize().unwrap().join("ada");
            fs::create_dir(&home).unwrap();
            Self { _root: root, home }
        }

        fn dir(&self, below: &str) -> PathBuf {
            let dir = self.home.join(below);
            fs::create_dir_all(&dir).unwrap();
            dir
        }

        fn file(&self, below: &str, text: &str) {
            self.dir(Path::new(below).parent().unwrap().to_str().unwrap());
            fs::write(self.home.join(below), text).unwrap();
        }

        /// Top and project of the checkout that a directory lies in, below the home directory.
        fn found(&self, below: &str) -> Option<(String, String)> {
            let found = find(&self.dir(below), Some(&self.home), "memory.md")?;
            let shown = |path: &Path| path.strip_prefix(&self.home).unwrap().to_str().unwrap().to_owned();
            Some((shown(&found.top), shown(&found.project)))
        }
    }

    fn both(dir: &str) -> Option<(String, String)> {
        Some((dir.to_owned(), dir.to_owned()))
    }

    #[test]
    fn a_directory_under_version_control_is_found_from_any_folder_below() {
        let machine = Machine::new();
        for marker in MARKERS {
            let dir = format!("src/with{marker}");
            machine.dir(&format!("{dir}/{marker}"));
            assert_eq!(machine.found(&format!("{dir}/a/b")), both(&dir));
        }
        assert_eq!(machine.found("src"), None);
        machine.dir(".git");
        assert_eq!((machine.found("src"), machine.found("")), (None, None), "the home directory is no project");
    }

    #[test]
    fn a_memory_file_counts_where_nothing_is_under_version_control() {
        let machine = Machine::new();
        machine.file("notes/memory.md", "");
        assert_eq!(machine.found("notes/deep"), both("notes"));
        machine.dir("repo/.git");
        machine.file("repo/docs/memory.md", "");
        assert_eq!(machine.found("repo/docs"), both("repo"));
    }

    #[test]
    fn worktrees_share_the_main_checkout_and_submodules_stand_alone() {
        let machine = Machine::new();
        machine.file("main/.git/worktrees/feature/commondir", "../..\n");
        machine.file("main/.git/worktrees/feature/gitdir", &format!("{}/feature/.git\n", machine.home.display()));
        machine.file("feature/.git", &format!("gitdir: {}/main/.git/worktrees/feature\n", machine.home.display()));
        assert_eq!(machine.found("feature/src"), Some(("feature".to_owned(), "main".to_owned())));
        machine.dir("main/.git/modules/sub");
        machine.file("main/sub/.git", "gitdir: ../.git/modules/sub\n");
        assert_eq!(machine.found("main/sub"), both("main/sub"));
    }

    #[test]
    fn a_link_that_the_repository_does_not_know_leads_nowhere() {
        let machine = Machine::new();
        machine.file("main/.git/worktrees/feature/commondir", "../..\n");
        machine.file("main/.git/worktrees/feature/gitdir", &format!("{}/feature/.git\n", machine.home.display()));
        machine.file("feature/.git", "gitdir: nowhere\n");
        machine.file("evil/.git", &format!("gitdir: {}/main/.git/worktrees/feature\n", machine.home.display()));
        assert_eq!(machine.found("evil"), both("evil"));
    }
}
