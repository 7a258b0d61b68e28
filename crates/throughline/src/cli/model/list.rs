//! `throughline model list`

use clap::Args;
use serde_json::json;

use super::super::reply::Reply;
use super::super::{Answer, style};
use crate::config::{self, Config};
use crate::models::available::{Available, available};
use crate::world::Home;

/// Show which models could summarise and remember, which one does, and what each costs
#[derive(Args)]
pub(in crate::cli) struct List {}

impl List {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let config = config::load(&home.config)?.config;
        let found = available(&config.model, &home);
        let rows = found.iter().map(row).collect();
        let table = style::table(&["", "MODEL", "AVAILABLE", "WHERE", "COSTS"], rows);
        let answer = json!({ "models": found, "model": config.model.model, "consolidation": override_of(&config) });
        Ok(Reply::new(&answer, format!("{table}{}", told(&config))))
    }
}

fn row(model: &Available) -> Vec<String> {
    let mark = if model.chosen { "*" } else { "" };
    let is_there = if model.available { "yes" } else { "no" };
    let detail = match model.models.as_slice() {
        [] => model.detail.clone(),
        models => models.join(", "),
    };
    [mark, &model.name, is_there, &style::plain(&detail), model.costs].map(str::to_owned).to_vec()
}

/// Another provider that summarises and remembers, where one is set.
fn override_of(config: &Config) -> Option<&str> {
    config.memory.consolidation_provider.as_deref()
}

fn told(config: &Config) -> String {
    let model = config.model.model.as_deref().map(|model| format!("* uses the model {}\n", style::plain(model)));
    let instead = override_of(config).map(|provider| {
        format!("`consolidation_provider` under [memory] is {}, which comes first\n", style::plain(provider))
    });
    let choose =
        "`throughline model use NAME` tries a model and chooses it; `throughline stats` shows what was spent\n";
    [model, instead].into_iter().flatten().chain([choose.to_owned()]).collect()
}
