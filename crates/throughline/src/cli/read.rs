//! `throughline read ADDRESS`, `throughline profile`, `throughline working`

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::{ListedThread, Tier};
use throughline_core::model::{ContentHash, DocumentName, Namespace, SessionId};

use super::edit::{in_editor, keep};
use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Print any part of memory as Markdown
#[derive(Args)]
pub(super) struct Read {
    /// user/profile, user/working, user/facts, global, sessions/cli:main, vault/files, vault/ID …
    #[arg(required_unless_present = "tier")]
    address: Option<String>,
    /// A whole tier instead: short (one conversation), project, user or vault
    #[arg(long, value_name = "TIER", conflicts_with = "address", value_parser = ["short", "project", "user", "vault"])]
    tier: Option<String>,
    /// The conversation, for the short tier
    #[arg(long, value_name = "ID", default_value = "cli:main", requires = "tier")]
    session: String,
    /// The project, for its tier
    #[arg(long, value_name = "NAME", required_if_eq("tier", "project"))]
    project: Option<String>,
}

impl Read {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(tier) = &self.tier {
            return self.tier(tier, world);
        }
        let address: Namespace = self.address.unwrap_or_default().parse()?;
        let rendered = world.engine.documents().rendered(&address)?;
        let nothing = rendered.markdown.is_none();
        let shown = rendered.markdown.clone().unwrap_or_else(|| format!("{address} is empty\n"));
        Ok(Reply::new(&rendered, style::plain(&shown)).or_nothing(nothing))
    }

    /// A whole tier.
    fn tier(&self, name: &str, world: &World) -> Answer {
        let tier = match name {
            "short" => Tier::Short(SessionId::on_channel("cli", &self.session)?),
            "project" => Tier::Project(self.project.clone().unwrap_or_default()),
            "user" => Tier::User,
            _ => Tier::Vault,
        };
        let text = world.engine.context().tier(&tier)?;
        let shown = text.clone().unwrap_or_else(|| format!("the tier `{name}` is empty\n"));
        let nothing = text.is_none();
        Ok(Reply::new(&json!({ "tier": name, "text": text }), style::plain(&shown)).or_nothing(nothing))
    }
}

/// Who the assistants think you are
#[derive(Args)]
pub(super) struct Profile {
    /// Open it in your editor
    #[arg(long)]
    edit: bool,
}

impl Profile {
    pub(super) fn run(self, world: &World) -> Answer {
        if self.edit {
            let namespace = world.engine.settings().namespace.as_ref();
            let namespace = namespace.ok_or(throughline_core::engine::EngineError::NoNamespace)?;
            edit(&DocumentName::profile(namespace), world)?;
        }
        let Some((text, usage)) = world.engine.documents().profile()? else {
            let text = "no profile yet; try `throughline remember --layer identity \"My name is …\"`\n";
            return Ok(Reply::new(&json!({ "text": null, "usage": null }), text).or_nothing(true));
        };
        let flag = if usage.is_over() { " over the limit: assistants cannot add to it" } else { "" };
        let shown = format!("{}\n\n{}{}\n", style::plain(text.trim_end()), usage.dimmed(), flag.yellow());
        Ok(Reply::new(&json!({ "text": text, "usage": usage }), shown))
    }
}

/// Opens a document in the person's editor and writes back what they saved, unless it changed meanwhile.
fn edit(name: &DocumentName, world: &World) -> Result<(), Failure> {
    let document = world.engine.documents().get(name)?;
    let hash = document.as_ref().map_or_else(ContentHash::missing, |d| d.hash.clone());
    let without_one = format!("give the new text on standard input: `throughline write {name}`");
    let text = in_editor(&document.map(|document| document.text).unwrap_or_default(), ".md", &without_one)?;
    world.engine.documents().write(name, &text, Some(&hash)).map_err(|error| keep(&text, error.into(), world))?;
    Ok(())
}

/// What has been going on lately
#[derive(Args)]
pub(super) struct Working {
    #[command(subcommand)]
    command: Option<WorkingCommand>,
}

#[derive(Subcommand)]
enum WorkingCommand {
    /// Close a thread: it is finished, and no conversation goes on from it
    Close(Close),
}

#[derive(Args)]
struct Close {
    /// Its id, its conversation, or its title
    thread: String,
}

impl Close {
    fn run(self, world: &World) -> Answer {
        let closed = world.engine.threads().close(&self.thread)?;
        let told = format!("closed {}: {}\n", style::short(closed.id.as_str()).yellow(), style::plain(&closed.title));
        Ok(Reply::new(&closed, told))
    }
}

impl Working {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(WorkingCommand::Close(close)) = self.command {
            return close.run(world);
        }
        let working = world.engine.threads().working_memory()?;
        let (Some(text), Some(updated_at), Some(expires_at)) = (&working.text, working.updated_at, working.expires_at)
        else {
            let text = "no recent context: nothing was written, or it has expired\n";
            return Ok(Reply::new(&working, text).or_nothing(true));
        };
        let now = world.now();
        let about = format!("updated {} · expires {}", style::date(updated_at, &now), style::date(expires_at, &now));
        let thread = |thread: &ListedThread| {
            let place = thread.project.as_ref().map(|project| format!(" · {project}")).unwrap_or_default();
            let about = format!("{}{place} · expires {}", thread.session, style::date(thread.expires_at, &now));
            let title = style::one_line(&thread.title, style::width());
            format!(
                "{}  {title}\n        {}\n",
                style::short(thread.id.as_str()).yellow(),
                style::plain(&about).dimmed()
            )
        };
        let threads: String = working.threads.iter().map(thread).collect();
        let shown = format!("{}\n\n{}\n\n{threads}", style::plain(text), about.dimmed());
        Ok(Reply::new(&working, format!("{}\n", shown.trim_end())))
    }
}
