//! `throughline reflect`, `throughline reflect log`

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Difference, Passes, Reflection};
use throughline_core::ports::{Applied, Dropped, Pass, PassOutcome};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::background::{self, Passed};
use crate::world::World;

/// Look back on memory: distil, weigh, merge, prune
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Reflect {
    #[command(subcommand)]
    command: Option<ReflectCommand>,
    /// A project's memory file; without it, your own
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only what was said to this client or on this channel, such as claude-code
    #[arg(long, value_name = "NAME", conflicts_with = "project")]
    agent: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do what is due, and nothing else
    #[arg(long, hide = true, conflicts_with_all = ["project", "agent", "dry_run"])]
    due: bool,
}

#[derive(Subcommand)]
enum ReflectCommand {
    /// Show what earlier passes did, the newest first
    Log(Log),
}

/// Show what earlier passes did
#[derive(Args)]
struct Log {
    /// Of one project alone
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// How many passes
    #[arg(long, default_value_t = 10)]
    limit: usize,
}

impl Reflect {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(ReflectCommand::Log(log)) = self.command {
            return log.run(world);
        }
        if self.due {
            let Passed { passes, failures } = background::reflect_due(world, background::NEVER)?;
            failures.iter().for_each(|why| tracing::warn!(why, "memory was not looked back on"));
            return Ok(Reply::new(&Passes { passes }, "").or_failed(!failures.is_empty()));
        }
        let reflection = match &self.agent {
            Some(agent) => background::reflect_for(world, agent, self.dry_run, background::NEVER)?,
            None => background::reflect(world, self.project.as_deref(), self.dry_run)?,
        };
        let busy = || Failure::new("another pass is under way", "try again in a moment");
        let reflection = reflection.ok_or_else(busy)?;
        let failed = reflection.pass.outcome == PassOutcome::Failed;
        Ok(Reply::new(&reflection, told(&reflection)).or_failed(failed))
    }
}

impl Log {
    fn run(self, world: &World) -> Answer {
        let passes = world.engine.reflection().list(self.project.as_deref(), self.limit)?;
        let text = if passes.is_empty() {
            "no passes yet; `throughline reflect` does one\n".to_owned()
        } else {
            passes.iter().map(|done| logged(&done.pass, world)).collect::<Vec<_>>().join("\n")
        };
        let nothing = passes.is_empty();
        Ok(Reply::new(&Passes { passes }, text).or_nothing(nothing))
    }
}

fn logged(pass: &Pass, world: &World) -> String {
    let at = style::date(pass.at, &world.now());
    let change = pass.change.as_ref().map(|id| format!(" · change {}", style::short(id.as_str()))).unwrap_or_default();
    let tokens = pass.tokens_in + pass.tokens_out;
    let about = format!("{at}{change} · {tokens} tokens");
    format!("{}  {}  {}\n{}", style::plain(&pass.target).bold(), pass.outcome, about.dimmed(), steps(pass))
}

fn told(reflection: &Reflection) -> String {
    let pass = &reflection.pass;
    let mut text: String = reflection.documents.iter().map(difference).collect();
    text.push_str(&steps(pass));
    text.push_str(&match (pass.outcome, reflection.dry_run) {
        (PassOutcome::Failed, _) => "nothing was changed\n".to_owned(),
        (PassOutcome::Unchanged, _) => "all is well as it is\n".to_owned(),
        (PassOutcome::Changed, true) => "this would change; nothing was written\n".to_owned(),
        (PassOutcome::Changed, false) => format!("{}; `throughline undo` takes it back\n", "done".green()),
    });
    text
}

/// What a pass did, and what it did not, a line each.
fn steps(pass: &Pass) -> String {
    let done = |step: &Applied| format!("  {} {}\n", step.op.green(), style::plain(&step.what));
    let not = |step: &Dropped| {
        let line = format!("not {} {}: {}", step.op, step.ids.join(" "), step.reason);
        format!("  {}\n", style::plain(&line).dimmed())
    };
    let mut text: String = pass.applied.iter().map(done).chain(pass.dropped.iter().map(not)).collect();
    if let Some(reason) = &pass.reason {
        text.push_str(&format!("  {}\n", style::plain(reason).yellow()));
    }
    text
}

fn difference(difference: &Difference) -> String {
    style::difference(&difference.name.to_string(), &difference.before, &difference.after)
}
