//! A change of one section of the config file, which keeps its comments and everything else.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::failure::Failure;
use crate::config::{self, Format, Loaded};
use crate::exports::write_private;
use crate::world::{self, Home};

const HINT: &str = "`throughline config check` says where it is wrong";

/// The config file, before and after a change.
pub(super) struct SectionEdit {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
    /// Whether the file is there.
    exists: bool,
}

impl SectionEdit {
    /// Reads the file, or what a new home gets; `by_hand` says what to change where it is no TOML.
    pub(super) fn read(home: &Home, by_hand: &str) -> Result<Self, Failure> {
        let Some(found) = config::find(&home.config)? else {
            let (path, before) = (home.config.join("config.toml"), config::FIRST_RUN.to_owned());
            return Ok(Self { path, after: before.clone(), before, exists: false });
        };
        // A link stays one.
        let path = found.canonicalize().unwrap_or(found);
        if Format::of(&path) != Some(Format::Toml) {
            return Err(Failure::new(format!("only a TOML file is changed, not {}", path.display()), by_hand));
        }
        let before = std::fs::read_to_string(&path).map_err(|error| Failure::io("read the config file", &error))?;
        Ok(Self { path, after: before.clone(), before, exists: true })
    }

    /// The same, with these keys of a section set and those removed.
    pub(super) fn changed(self, section: &str, set: &[(&str, Value)], removed: &[&str]) -> Result<Self, Failure> {
        let after = edited(&self.before, section, set, removed)?;
        self.replaced(after)
    }

    /// The same, with another text; refused where that is no valid config.
    pub(super) fn replaced(self, after: String) -> Result<Self, Failure> {
        let config = config::parse(&after, Format::Toml)?;
        world::check(&Loaded { config, path: Some(self.path.clone()), ..Loaded::default() })?;
        Ok(Self { after, ..self })
    }

    /// Writes it, unless somebody else changed the file since it was read.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let failed = |error: &std::io::Error| Failure::io("write the config file", error);
        if !self.exists {
            let directory = self.path.parent().map(ToOwned::to_owned).unwrap_or_default();
            // Another process may have been faster: its file is compared below.
            if let Err(error) = config::write_first_run(&directory)
                && error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(failed(&error));
            }
        }
        let now = std::fs::read_to_string(&self.path).map_err(|error| Failure::io("read the config file", &error))?;
        if now != self.before {
            return Err(Failure::new("the config file was changed in the meantime", "run the command again"));
        }
        write_private(&self.path, &self.after).map_err(|error| failed(&error))
    }
}

fn edited(text: &str, section: &str, set: &[(&str, Value)], removed: &[&str]) -> Result<String, Failure> {
    let mut document: DocumentMut = text.parse().map_err(|_| Failure::new("the config file is no TOML", HINT))?;
    let no_table = || Failure::new(format!("`{section}` is no table"), HINT);
    let ends = end_of_file(&mut document, section);
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in section.split('.') {
        table = table.entry(part).or_insert_with(implicit).as_table_like_mut().ok_or_else(no_table)?;
    }
    for (key, value) in set {
        put(table, key, value.clone());
    }
    let comments: String = removed.iter().filter_map(|key| take_out(table, key)).collect();
    if let Some(mut key) = set.first().and_then(|(key, _)| table.key_mut(key)) {
        let decor = key.leaf_decor_mut();
        let own = decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
        decor.set_prefix(format!("{comments}{own}"));
    }
    if let Some(ends) = ends {
        let mut item = document.as_item_mut();
        for part in section.split('.') {
            item = &mut item[part];
        }
        match item.as_table_mut() {
            Some(table) => table.decor_mut().set_prefix(ends),
            None => document.set_trailing(ends),
        }
    }
    Ok(document.to_string())
}

/// Takes the comments at the end of the file, where a new section comes: they are about the section above it.
fn end_of_file(document: &mut DocumentMut, section: &str) -> Option<String> {
    let mut item = Some(document.as_item());
    for part in section.split('.') {
        item = item.and_then(|item| item.get(part));
    }
    let comments = document.trailing().as_str().filter(|text| item.is_none() && text.contains('#'))?.to_owned();
    document.set_trailing("");
    Some(if comments.ends_with("\n\n") { comments } else { format!("{}\n\n", comments.trim_end()) })
}

/// A table whose heading is only written where it has keys.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Sets a key; a comment behind its old value stays.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    // Inserting would take the comments above the key away.
    match table.get_mut(key) {
        Some(item) => {
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// Removes a key; gives the comments above it, which may be about more than the key.
fn take_out(table: &mut dyn TableLike, key: &str) -> Option<String> {
    let above = table.key(key)?.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
    table.remove(key);
    above.contains('#').then_some(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_other_keys_stay() {
        let before = "# mine\n[memory]\nrecall_limit = 3 # few\n\n[model]\n# what I like\nprovider = \"ollama\" # fast\n\
                      # at home\nbase_url = \"http://gpu:1\"\nmodel = \"a\"\ndaily_tokens = 9\n\n[server]\nport = 1\n";
        let set = [("provider", "command".into()), ("command", "codex".into())];
        let after = edited(before, "model", &set, &["base_url", "model", "api_key_env"]).unwrap_or_default();
        assert_eq!(
            after,
            "# mine\n[memory]\nrecall_limit = 3 # few\n\n[model]\n# at home\n# what I like\nprovider = \"command\" # fast\n\
             daily_tokens = 9\ncommand = \"codex\"\n\n[server]\nport = 1\n"
        );
    }

    #[test]
    fn a_section_that_is_not_there_is_added_and_an_inline_one_is_changed() {
        for (before, after) in [
            ("", "[model]\nprovider = \"offline\"\n"),
            ("model = { provider = \"ollama\", model = \"a\" }\n", "model = { provider = \"offline\"}\n"),
        ] {
            assert_eq!(
                edited(before, "model", &[("provider", "offline".into())], &["model"]).unwrap_or_default(),
                after
            );
        }
        let (before, set) = ("[model]\n# provider = \"ollama\"\n# model = \"a\"\n", [("url", "u".into())]);
        let added = edited(before, "store", &set, &[]).unwrap_or_default();
        assert_eq!(added, format!("{before}\n[store]\nurl = \"u\"\n"), "comments stay with their section");
        assert!(edited("model = 7", "model", &[("provider", "offline".into())], &[]).is_err());
    }
}
