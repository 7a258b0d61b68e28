//! `throughline model use`

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use throughline_core::model::Role;
use throughline_core::ports::{Brief, Message};
use throughline_providers::ollama_models;

use super::super::failure::Failure;
use super::super::reply::Reply;
use super::super::section::SectionEdit;
use super::super::{Answer, style};
use crate::config::{self, CommandLine, Config, ModelConfig};
use crate::daemon;
use crate::models::available::Choice;
use crate::models::{command, for_trial};
use crate::world::{self, Home, World};

/// Choose the model that summarises and remembers: try it, then write it to the config file
///
/// It is tried with one short request, which costs what the model costs. If that fails, nothing is changed. The model of a
/// connected assistant (`sampling`) is not tried.
#[derive(Args)]
pub(in crate::cli) struct Use {
    /// Which one
    #[arg(value_parser = choice())]
    name: Choice,
    /// Which of its models, by its own name for it
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Agree to what it costs
    #[arg(long)]
    yes: bool,
    /// Show what would be written, ask the model nothing, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Choose it although it cannot be used at the moment
    #[arg(long)]
    force: bool,
}

fn choice() -> impl TypedValueParser<Value = Choice> {
    let names = PossibleValuesParser::new(Choice::ALL.map(Choice::as_str));
    names.try_map(|name| Choice::named(&name).ok_or("there is no such model"))
}

/// What came of the try.
enum Tried {
    /// It answered, or needs no try.
    Works,
    /// It was not asked: this process has no client, whose model it is.
    Later,
    /// It was not asked.
    No,
    /// It failed, and is chosen nevertheless.
    Failed(String),
}

/// Chooses a model to whose cost the person agreed; gives what came of it.
pub(in crate::cli) fn choose(name: Choice, model: Option<String>) -> Result<String, Failure> {
    let (_, told) = Use { name, model, yes: true, dry_run: false, force: false }.chosen()?;
    Ok(told)
}

impl Use {
    pub(super) fn run(self) -> Answer {
        let (answer, told) = self.chosen()?;
        Ok(Reply::new(&answer, told))
    }

    /// What came of it, for programs and for people.
    fn chosen(&self) -> Result<(serde_json::Value, String), Failure> {
        let home = Home::find()?;
        let config = config::load(&home.config)?.config;
        let wanted = self.wanted(&config.model)?;
        let edit = SectionEdit::read(&home, &by_hand(&wanted))?;
        let edit = edit.changed("model", &set(&keys(&wanted)), &removed(&wanted))?;
        if !self.dry_run && !self.is_agreed()? {
            return Err(Failure::new("not agreed: nothing was changed", "`--yes` agrees to what it costs"));
        }
        let tried = if self.dry_run { Tried::No } else { self.tried(&home, &wanted)? };
        if !self.dry_run {
            edit.write()?;
        }
        let told = self.told(&home, &config, &edit, &tried);
        let answer = json!({
            "name": self.name.as_str(), "provider": wanted.provider, "model": wanted.model, "costs": self.name.costs(),
            "works": match &tried { Tried::Works => Some(true), Tried::Failed(_) => Some(false), Tried::Later | Tried::No => None },
            "written": !self.dry_run, "config": edit.path.display().to_string(),
        });
        Ok((answer, told))
    }

    /// The section as it is to be: what belonged to another provider goes, what belongs to all of them stays.
    fn wanted(&self, now: &ModelConfig) -> Result<ModelConfig, Failure> {
        let is_same = Choice::configured(now) == Some(self.name);
        let kept = if is_same { now.clone() } else { ModelConfig::default() };
        let command = match self.name {
            Choice::Program(ready_made) => Some(CommandLine::Text(ready_made.as_str().to_owned())),
            _ => None,
        };
        let wanted = ModelConfig {
            provider: self.name.provider(),
            command,
            model: self.model.clone().or(kept.model),
            base_url: kept.base_url,
            api_key_env: kept.api_key_env,
            ..now.clone()
        };
        match (self.name, &wanted.model) {
            (Choice::Offline, _) => Ok(ModelConfig { model: None, ..wanted }),
            (Choice::Ollama, None) => Ok(ModelConfig { model: Some(newest_of_ollama()?), ..wanted }),
            (Choice::OpenAi | Choice::Anthropic, None) => {
                let hint = format!("`throughline model use {} --model NAME`", self.name.as_str());
                Err(Failure::new(format!("{} needs to know which model", self.name.as_str()), hint))
            }
            _ => Ok(wanted),
        }
    }

    /// Says what it costs; whether the person agrees. What is free needs no question.
    fn is_agreed(&self) -> Result<bool, Failure> {
        if self.yes || self.name.is_free() {
            return Ok(true);
        }
        anstream::eprintln!("{}\n{}", self.name.as_str(), costs(self.name));
        if !std::io::stdin().is_terminal() {
            return Ok(false);
        }
        let tried = if self.name == Choice::Sampling { "Use it" } else { "Try it now, and use it" };
        anstream::eprint!("{tried} from now on? [y/N] ");
        let _ = anstream::stderr().flush();
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map_err(|error| Failure::io("read your answer", &error))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks it for one word.
    fn tried(&self, home: &Home, wanted: &ModelConfig) -> Result<Tried, Failure> {
        if self.name == Choice::Offline {
            return Ok(Tried::Works);
        }
        if self.name == Choice::Sampling {
            return Ok(Tried::Later);
        }
        let failure = match try_out(home, wanted) {
            Ok(()) => return Ok(Tried::Works),
            Err(failure) => failure,
        };
        if self.force {
            return Ok(Tried::Failed(failure.to_string()));
        }
        Err(failure.with_hint("nothing was changed; `--force` chooses it nevertheless".to_owned()))
    }

    fn told(&self, home: &Home, config: &Config, edit: &SectionEdit, tried: &Tried) -> String {
        let path = style::plain(&edit.path.display().to_string());
        let mut lines = vec![match tried {
            Tried::Works => format!("{} works", self.name.as_str()),
            Tried::Later => LATER.to_owned(),
            Tried::Failed(why) => format!("{} does not work yet: {}", self.name.as_str(), style::plain(why)),
            Tried::No => style::difference(&path, &edit.before, &edit.after).trim_end().to_owned(),
        }];
        lines.push(costs(self.name));
        if self.dry_run {
            lines.push("nothing was asked and nothing was written".to_owned());
            return lines.join("\n");
        }
        lines.push(format!("written to {path}"));
        if let Some(provider) = &config.memory.consolidation_provider {
            let provider = style::plain(provider);
            lines.push(format!("`consolidation_provider` under [memory] is {provider}, which still comes first"));
        }
        if daemon::is_running(home) {
            lines.push("the daemon reads the file when it starts: restart it".to_owned());
        }
        lines.join("\n")
    }
}

const LATER: &str =
    "sampling was not tried: an assistant that offers it is asked while it is connected, else offline does the work";

fn costs(choice: Choice) -> String {
    let costs = choice.costs();
    if choice.is_free() {
        return format!("what it costs: {costs}");
    }
    let whose = "\nthe conversations of all your assistants go to the model of the one that is connected";
    format!(
        "what it costs: {costs}, with two requests for each conversation and a few a day to look back\n\
         `daily_tokens` under [model] sets a limit, `throughline stats` shows what was spent{}",
        if choice == Choice::Sampling { whose } else { "" }
    )
}

fn newest_of_ollama() -> Result<String, Failure> {
    let hint = "start Ollama and `ollama pull` a model, or name one with --model";
    let newest = ollama_models(world::ollama_host().as_deref()).into_iter().next();
    newest.ok_or_else(|| Failure::new("no Ollama answers, or it has no model", hint))
}

/// One request, in the ledger like every other.
fn try_out(home: &Home, wanted: &ModelConfig) -> Result<(), Failure> {
    let failed = |error: crate::models::ModelSetupError| Failure::new(error.to_string(), error.hint());
    let model = for_trial(wanted, &home.config).map_err(failed)?;
    let brief = Brief::Chat {
        system: "You are tried out as the model of a memory.".to_owned(),
        messages: vec![Message::said(Role::User, "Reply with the word: ready")],
        tools: Vec::new(),
    };
    let world = World::open()?;
    command::end_with_this_process();
    let asked = world.engine.models().ask(&*model, &brief, &mut |_| true);
    let hint = "`throughline model list` shows what is there";
    asked.map(drop).map_err(|error| Failure::new(error.to_string(), error.hint().unwrap_or(hint)))
}

/// The keys of the section, the provider first.
fn keys(wanted: &ModelConfig) -> [(&'static str, Option<String>); 5] {
    let provider = serde_json::to_value(wanted.provider).ok().and_then(|word| word.as_str().map(str::to_owned));
    [
        ("provider", provider),
        ("command", wanted.command.as_ref().map(command::line)),
        ("model", wanted.model.clone()),
        ("base_url", wanted.base_url.clone()),
        ("api_key_env", wanted.api_key_env.as_deref().map(str::to_owned)),
    ]
}

fn set(keys: &[(&'static str, Option<String>)]) -> Vec<(&'static str, toml_edit::Value)> {
    keys.iter().filter_map(|(key, value)| Some((*key, value.as_deref()?.into()))).collect()
}

fn by_hand(wanted: &ModelConfig) -> String {
    let set = keys(wanted).into_iter().filter_map(|(key, value)| Some(format!("`{key}` to \"{}\"", value?)));
    let set = set.collect::<Vec<_>>().join(", ");
    let removed = removed(wanted).iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    format!("under `model`, set {set}, and remove {removed}")
}

fn removed(wanted: &ModelConfig) -> Vec<&'static str> {
    keys(wanted).into_iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect()
}
