//! What a directory that is a project by itself is called.

use std::path::{Component, Path};

use crate::model::Name;

/// Longest name that is made here, in characters.
const LONGEST: usize = 60;

/// How many directories of one name and with the same parents are told apart by a number.
const MOST_NUMBERS: usize = 99;

/// The first name for a directory that is free: its own, then with the names of its parents in front, then with a number.
pub(super) fn name_for(dir: &Path, is_taken: impl Fn(&Name) -> bool) -> Option<Name> {
    let mut parts: Vec<String> = dir.components().filter_map(part).collect();
    let own = parts.last()?.strip_suffix(".git").map(str::to_owned).or_else(|| parts.last().cloned())?;
    if let Some(last) = parts.last_mut() {
        last.clone_from(&own);
    }
    let with_parents = (1..=parts.len()).map(|count| parts[parts.len() - count..].join("-"));
    let numbered = (2..=MOST_NUMBERS).map(|number| format!("{own}-{number}"));
    with_parents.chain(numbered).filter_map(|text| safe(&text)).find(|name| !is_taken(name))
}

fn part(component: Component<'_>) -> Option<String> {
    match component {
        Component::Normal(part) => part.to_str().map(str::to_owned),
        _ => None,
    }
}

/// A directory's name as one that can name a project.
fn safe(text: &str) -> Option<Name> {
    let letter = |c: char| if c.is_alphanumeric() || " -_.+@#,()".contains(c) { c } else { '-' };
    let text: String = text.chars().map(letter).collect();
    let text: String = text.trim_start_matches(['.', ' ', '-']).chars().take(LONGEST).collect();
    text.trim_end_matches(['.', ' ', '-']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dir: &str, taken: &[&str], expected: Option<&str>) {
        let name = name_for(Path::new(dir), |name| taken.contains(&name.as_str()));
        assert_eq!(name.as_ref().map(Name::as_str), expected);
    }

    #[test]
    fn a_project_is_named_after_its_root_and_on_a_clash_after_its_parent_too() {
        check("/home/ada/api", &[], Some("api"));
        check("/home/ada/api", &["api"], Some("ada-api"));
        check("/home/ada/api", &["api", "ada-api"], Some("home-ada-api"));
        check("/api", &["api"], Some("api-2"));
        check("/api", &["api", "api-2"], Some("api-3"));
        check("/srv/shop.git", &[], Some("shop"));
    }

    #[test]
    fn a_name_that_cannot_name_a_project_is_made_safe() {
        check("/home/ada/.dotfiles", &[], Some("dotfiles"));
        check("/home/ada/a:b~c", &[], Some("a-b-c"));
        check("/home/ada/用户", &[], Some("用户"));
        check("/home/ada/con", &[], Some("ada-con"));
        check("/", &[], None);
        assert!(name_for(Path::new(&format!("/{}", "x".repeat(300))), |_| false).is_some());
    }
}
