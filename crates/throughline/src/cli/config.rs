//! `throughline config show|check|set|edit`

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::ports::Clock as _;
use throughline_server::Setting;
use toml_edit::Value;

use super::edit::{in_editor, keep_in};
use super::failure::Failure;
use super::reply::Reply;
use super::section::SectionEdit;
use super::{Answer, style};
use crate::config;
use crate::world::{self, Home, WorldClock};

/// Show, check or change the configuration
#[derive(Subcommand)]
pub(super) enum ConfigCommand {
    /// Every setting in force, and where it comes from
    Show,
    /// Read the config file and say what is wrong with it
    Check,
    /// Set one value in the config file; comments and everything else stay
    Set(Set),
    /// Open the config file in your editor; it is written only if it is valid
    Edit,
}

/// Set one value in the config file
#[derive(Args)]
pub(super) struct Set {
    /// The key, such as `memory.recall_limit`; `throughline config show` lists all
    key: String,
    /// The value: a number, `true`, `false`, a word, or a list such as `["a", "b"]`
    #[arg(allow_hyphen_values = true)]
    value: String,
}

impl Set {
    fn run(&self, home: &Home) -> Answer {
        let Some((section, key)) = self.key.rsplit_once('.') else {
            let hint =
                "a key has a section in front, such as `memory.recall_limit`; `throughline config show` lists all";
            return Err(Failure::new(format!("`{}` is no key", self.key), hint));
        };
        let by_hand = format!("set `{key}` under `{section}` there");
        let with = |value: Value| SectionEdit::read(home, &by_hand)?.changed(section, &[(key, value)], &[]);
        // What is no number, truth value or list, or may not be one here, is text.
        let typed = self.value.parse::<Value>().ok().map(with);
        let edit = match typed {
            Some(Ok(edit)) => edit,
            Some(Err(failure)) => with(self.value.as_str().into()).map_err(|_| failure)?,
            None => with(self.value.as_str().into()).map_err(|failure| self.named(failure))?,
        };
        written(&edit)
    }
}

impl Set {
    /// The same failure, with the word that stands where a number, a truth value or a list belongs: it is no secret, as
    /// the text in the place of a name may be.
    fn named(&self, failure: Failure) -> Failure {
        let given = style::one_line(&self.value, 40);
        failure.saying(&format!("`{}` is text, ", self.key), &format!("`{}` cannot be `{given}`: ", self.key))
    }
}

/// Sets a value in the config file, or takes it out, for a caller other than the terminal; an error is its message and a hint.
pub(crate) fn change(home: &Home, key: &str, value: Option<Value>) -> Result<(), (String, Option<String>)> {
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let set: Vec<(&str, Value)> = value.map(|value| (name, value)).into_iter().collect();
    let removed = if set.is_empty() { vec![name] } else { Vec::new() };
    let read = SectionEdit::read(home, "change it in the file");
    let edit = read.and_then(|edit| edit.changed(section, &set, &removed)).map_err(Failure::told)?;
    if edit.before != edit.after { edit.write().map_err(Failure::told) } else { Ok(()) }
}

fn edit(home: &Home) -> Answer {
    let before = SectionEdit::read(home, "change it in your editor")?;
    let text = in_editor(&before.before, ".toml", "set one value: `throughline config set KEY VALUE`")?;
    let now = WorldClock::from_environment()?.now();
    let kept = |failure: Failure| keep_in(&home.config, now, &text, failure);
    let edit = before.replaced(text.clone()).map_err(kept)?;
    written(&edit).map_err(kept)
}

fn written(edit: &SectionEdit) -> Answer {
    let path = edit.path.display().to_string();
    let is_changed = edit.before != edit.after;
    if is_changed {
        edit.write()?;
    }
    let text = if is_changed {
        let told = style::difference(&path, &edit.before, &edit.after);
        format!("{told}{}; a daemon that runs reads it when it is started again\n", "written".green())
    } else {
        "nothing to change: it says so already\n".to_owned()
    };
    Ok(Reply::new(&json!({ "path": path, "changed": is_changed }), text))
}

impl ConfigCommand {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        match &self {
            Self::Set(set) => return set.run(&home),
            Self::Edit => return edit(&home),
            Self::Show | Self::Check => {}
        }
        let loaded = config::load(&home.config)?;
        world::check(&loaded)?;
        let path = loaded.path.as_ref().map(|path| path.display().to_string());
        match self {
            Self::Check => {
                let told = match &path {
                    Some(path) => format!("{path} is fine\n"),
                    None => "no config file yet: the defaults are in force\n".to_owned(),
                };
                Ok(Reply::new(&json!({ "path": path, "ok": true }), told))
            }
            _ => {
                let shown = config::shown(&loaded);
                let row = |setting: &Setting| {
                    vec![setting.key.clone(), style::plain(&setting.value), setting.from.to_owned()]
                };
                let table = shown.settings.iter().map(row);
                let title = path.clone().unwrap_or("no config file".to_owned());
                let text =
                    format!("{}\n\n{}", title.dimmed(), style::table(&["key", "value", "from"], table.collect()));
                Ok(Reply::new(&shown, text))
            }
        }
    }
}
