//! The moments between two system calls, played one by one: each test stands where a person saved in between.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::fs;
use std::path::PathBuf;

use cap_std::ambient_authority;

use super::*;

struct Place {
    home: tempfile::TempDir,
    dir: Dir,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
        Self { home, dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Saves as most editors do.
    fn save(&self, text: &str) {
        fs::write(self.path("saving"), text).unwrap();
        fs::rename(self.path("saving"), self.path("a.md")).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path("a.md")).unwrap()
    }

    fn names(&self) -> Vec<String> {
        tree::entries(&self.dir).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    /// Our text, exchanged with what is in `a.md`.
    fn exchanged(&self, expected: &str) -> (Temporary<'_>, Print) {
        let mut temporary = Temporary::draft(&self.dir, "ours", Privacy::Owner).unwrap();
        temporary.prepare(&ContentHash::of("ours"), &ContentHash::of(expected)).unwrap();
        let ours = Print::of(&self.dir, &temporary.name).unwrap();
        sys::exchange(&self.dir, &temporary.name, "a.md").unwrap();
        temporary.ours = false;
        (temporary, ours)
    }

    /// Nothing temporary is left.
    #[track_caller]
    fn holds_only(&self, text: &str) {
        assert_eq!((self.text().as_str(), self.names()), (text, vec!["a.md".to_owned()]));
    }
}

#[test]
fn gives_back_a_save_that_came_between_looking_and_exchanging() {
    let place = Place::new();
    place.save("unseen");
    let outcome = replace(&place.dir, "a.md", "ours", &ContentHash::of("seen"), Privacy::Owner);
    assert!(matches!(outcome, Err(Failure::Conflict)), "{outcome:?}");
    place.holds_only("unseen");
}

#[test]
fn gives_back_a_link_or_a_folder_that_came_between_looking_and_exchanging() {
    let place = Place::new();
    fs::create_dir(place.path("a.md")).unwrap();
    fs::write(place.path("a.md/inside"), "kept").unwrap();
    assert!(matches!(
        replace(&place.dir, "a.md", "ours", &ContentHash::of("seen"), Privacy::Owner),
        Err(Failure::Conflict)
    ));
    assert_eq!(fs::read_to_string(place.path("a.md/inside")).unwrap(), "kept");
    assert_eq!(place.names(), ["a.md"]);
}

#[test]
fn the_newest_save_stands_when_a_person_saves_again_while_we_give_back() {
    let place = Place::new();
    place.save("unseen");
    let (temporary, ours) = place.exchanged("seen");
    place.save("newer");
    assert!(matches!(settle(temporary, "a.md", ours, &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("newer");
}

#[test]
fn an_edit_in_place_of_our_own_text_stands_while_we_give_back() {
    let place = Place::new();
    place.save("unseen");
    let (temporary, ours) = place.exchanged("seen");
    fs::write(place.path("a.md"), "edited in place").unwrap();
    assert!(matches!(settle(temporary, "a.md", ours, &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("edited in place");
}

#[test]
fn an_editor_that_had_the_old_file_open_keeps_its_text() {
    let place = Place::new();
    place.save("seen");
    let mut editor = fs::OpenOptions::new().write(true).truncate(true).open(place.path("a.md")).unwrap();
    let (temporary, ours) = place.exchanged("seen");
    editor.write_all(b"typed").unwrap();
    assert!(matches!(settle(temporary, "a.md", ours, &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("typed");
}

#[test]
fn keeps_the_unseen_edit_of_a_document_that_was_removed_while_we_give_back() {
    let place = Place::new();
    place.save("unseen");
    let (temporary, ours) = place.exchanged("seen");
    fs::remove_file(place.path("a.md")).unwrap();
    assert!(matches!(settle(temporary, "a.md", ours, &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("unseen");
}

#[test]
fn a_document_that_was_removed_meanwhile_is_not_brought_back() {
    let place = Place::new();
    assert!(matches!(
        replace(&place.dir, "a.md", "ours", &ContentHash::of("seen"), Privacy::Owner),
        Err(Failure::Conflict)
    ));
    assert!(place.names().is_empty());
}

#[test]
fn never_creates_over_a_file_that_appeared_meanwhile() {
    let place = Place::new();
    place.save("theirs");
    assert!(matches!(create(&place.dir, "a.md", "ours", Privacy::Owner), Err(Failure::Conflict)));
    place.holds_only("theirs");
}

#[test]
fn linking_instead_of_renaming_never_creates_over_a_file_either() {
    let place = Place::new();
    place.save("theirs");
    let draft = Temporary::draft(&place.dir, "ours", Privacy::Owner).unwrap();
    let refused = sys::link_new(&place.dir, &draft.name, "a.md").unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    sys::link_new(&place.dir, &draft.name, "b.md").unwrap();
    drop(draft);
    assert_eq!(place.names(), ["a.md", "b.md"]);
    assert_eq!(place.text(), "theirs");
}

#[test]
fn puts_back_a_save_that_came_between_looking_and_removing() {
    let place = Place::new();
    place.save("unseen");
    assert!(matches!(remove(&place.dir, "a.md", &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("unseen");
}

#[test]
fn without_an_exchange_it_still_looks_before_it_renames() {
    let place = Place::new();
    place.save("unseen");
    let draft = || Temporary::draft(&place.dir, "ours", Privacy::Owner).unwrap();
    assert!(matches!(rename_over(draft(), "a.md", &ContentHash::of("seen")), Err(Failure::Conflict)));
    place.holds_only("unseen");
    rename_over(draft(), "a.md", &ContentHash::of("unseen")).unwrap();
    place.holds_only("ours");
}

#[test]
fn cleans_up_what_a_killed_process_left() {
    let place = Place::new();
    place.save("a");
    let known = role(&ContentHash::of("new"), &ContentHash::of("old"));
    fs::write(place.path(".throughline-1-0.draft.tmp"), "half a te").unwrap();
    fs::write(place.path(&format!(".throughline-1-1.{known}.tmp")), "new").unwrap();
    fs::write(place.path(&format!(".throughline-1-2.{known}.tmp")), "old").unwrap();
    recover(&place.dir);
    place.holds_only("a");
}

#[test]
fn an_edit_that_nobody_saw_is_recovered_as_a_document() {
    let place = Place::new();
    let known = role(&ContentHash::of("new"), &ContentHash::of("old"));
    fs::write(place.path(&format!(".throughline-1-3.{known}.tmp")), "unseen").unwrap();
    recover(&place.dir);
    assert_eq!(place.names(), ["recovered-1-3.md"]);
    assert_eq!(fs::read_to_string(place.path("recovered-1-3.md")).unwrap(), "unseen");
}

#[test]
fn leaves_the_temporary_files_of_other_programs_alone() {
    let place = Place::new();
    let names =
        [".a.md.swp", ".draft.tmp", ".throughline-1-1.a-b.tmp", ".throughline-1-x.draft.tmp", ".throughline.tmp"];
    names.iter().for_each(|name| fs::write(place.path(name), "theirs").unwrap());
    recover(&place.dir);
    assert_eq!(place.names(), names);
}
