//! `throughline config show|check`

use clap::Subcommand;
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_server::Setting;

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
