//! `throughline config show|check`

use clap::Subcommand;
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::reply::Reply;
use super::{Answer, style};
use crate::config;
use crate::world::{Home, settings};

/// Show or check the configuration
#[derive(Subcommand)]
pub(super) enum ConfigCommand {
    /// Every setting in force, and where it comes from
    Show,
    /// Read the config file and say what is wrong with it
    Check,
}

impl ConfigCommand {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let loaded = config::load(&home.config)?;
        settings(&loaded)?;
        let path = loaded.path.as_ref().map(|path| path.display().to_string());
        match self {
            Self::Check => {
                let told = match &path {
                    Some(path) => format!("{path} is fine\n"),
                    None => "no config file yet: the defaults are in force\n".to_owned(),
                };
                Ok(Reply::new(&json!({ "path": path, "ok": true }), told))
            }
            Self::Show => {
                let rows = config::rows(&loaded);
                let table = rows
                    .iter()
                    .map(|(key, value, from)| vec![key.clone(), style::plain(value), from.as_str().to_owned()]);
                let title = path.clone().unwrap_or("no config file".to_owned());
                let text =
                    format!("{}\n\n{}", title.dimmed(), style::table(&["key", "value", "from"], table.collect()));
                let settings: Vec<_> = rows
                    .iter()
                    .map(|(key, value, from)| json!({ "key": key, "value": value, "from": from.as_str() }))
                    .collect();
                Ok(Reply::new(&json!({ "path": path, "settings": settings }), text))
            }
        }
    }
}
