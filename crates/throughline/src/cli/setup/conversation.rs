//! The questions that setup asks in a terminal. Nothing is changed before the last one is answered.

use owo_colors::OwoColorize as _;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use throughline_clients::Client;

use super::plan::{Choices, Seen, plan};
use super::{clients, model, profile};
use crate::cli::failure::Failure;
use crate::cli::style;
use crate::models::available::{Available, Choice};

/// The questions and the terminal on which they are asked.
struct Talk {
    editor: DefaultEditor,
    /// How many headings were shown.
    at: usize,
}

/// Asks about everything that is open; none where the person does not agree in the end.
pub(super) fn ask(seen: &Seen) -> Result<Option<Choices>, Failure> {
    let mut talk = Talk { editor: DefaultEditor::new().map_err(broken)?, at: 0 };
    anstream::println!("{}", "Throughline: one memory for all your assistants, on this machine".green().bold());
    anstream::println!("Enter takes what is offered; nothing is changed before the last question.");
    let choices = Choices {
        clients: talk.clients(seen)?,
        sources: talk.sources(seen)?,
        profile: talk.profile(seen)?,
        model: talk.model(&seen.models)?,
        service: talk.service(seen)?,
    };
    let plan = plan(seen, &choices);
    if plan.is_empty() {
        return Ok(Some(choices));
    }
    anstream::println!("\n{}\n{}", "That makes".bold(), plan.told().trim_end());
    Ok(talk.yes("Do it?", true)?.then_some(choices))
}

impl Talk {
    fn heading(&mut self, title: &str) {
        self.at += 1;
        anstream::println!("\n{}", format!("{}  {title}", self.at).bold());
    }

    fn clients(&mut self, seen: &Seen) -> Result<Vec<Client>, Failure> {
        self.heading("Assistants");
        if seen.clients.is_empty() {
            anstream::println!("   none was found; `throughline connect` lists those that are known");
        }
        for one in seen.clients.iter().filter(|one| one.is_connected || one.problem.is_some()) {
            let state = one
                .problem
                .as_ref()
                .map_or("is connected".to_owned(), |problem| format!("cannot be connected: {problem}"));
            anstream::println!("   {}", style::plain(&format!("{} {state}", one.client)));
        }
        let open = clients::open(&seen.clients);
        let names: Vec<String> = open.iter().map(Client::to_string).collect();
        let chosen = self.choose("Connect them?", &names)?;
        Ok(chosen.into_iter().map(|nth| open[nth]).collect())
    }

    fn sources(&mut self, seen: &Seen) -> Result<Vec<usize>, Failure> {
        self.heading("What you have already");
        let new: Vec<usize> = (0..seen.sources.len()).filter(|nth| seen.sources[*nth].is_new()).collect();
        if new.is_empty() {
            let known = if seen.sources.is_empty() { "nothing was found" } else { "all of it is here" };
            anstream::println!("   {known}; docs/importing.md lists what can be taken in");
        }
        let named = |nth: &usize| {
            let step = seen.sources[*nth].step(super::sources::Action::Import);
            format!("{}: {}", step.name, step.counted())
        };
        let chosen = self.choose("Take it in?", &new.iter().map(named).collect::<Vec<_>>())?;
        Ok(chosen.into_iter().map(|nth| new[nth]).collect())
    }

    fn profile(&mut self, seen: &Seen) -> Result<Vec<String>, Failure> {
        self.heading("You");
        if seen.profile > 0 {
            let lines = style::count(seen.profile as u64, "line", "lines");
            anstream::println!("   your profile has {lines}; `throughline profile --edit` changes it");
            return Ok(Vec::new());
        }
        anstream::println!("   every conversation begins with your answers; Enter skips a question");
        profile::QUESTIONS.iter().map(|question| self.line(question)).collect()
    }

    fn model(&mut self, models: &[Available]) -> Result<Option<model::Chosen>, Failure> {
        self.heading("The model that makes memories of conversations");
        let offers = model::offers(models);
        let now = models.iter().find(|model| model.chosen);
        let now = now.map_or("offline".to_owned(), |model| format!("{} ({})", model.name, model.costs));
        anstream::println!("   in use: {now}");
        if offers.is_empty() {
            return Ok(None);
        }
        for (nth, offer) in offers.iter().enumerate() {
            anstream::println!("   {}  {}: {}", nth + 1, offer.name, offer.costs);
        }
        let chosen = loop {
            let line = self.line("Another one? Its number, or Enter to keep it")?;
            match line.parse::<usize>().ok().and_then(|nth| offers.get(nth.checked_sub(1)?)) {
                Some(offer) => break *offer,
                None if line.is_empty() || is_no(&line) => return Ok(None),
                None => anstream::println!("   a number from 1 to {}", offers.len()),
            }
        };
        let Some(choice) = Choice::named(&chosen.name) else { return Ok(None) };
        let needs_name = matches!(choice, Choice::OpenAi | Choice::Anthropic);
        let named = if needs_name { self.line("Which of its models?")? } else { String::new() };
        if needs_name && named.is_empty() {
            anstream::println!("   none was named: the model stays as it is");
            return Ok(None);
        }
        Ok(Some(model::Chosen { choice, model: Some(named).filter(|named| !named.is_empty()) }))
    }

    fn service(&mut self, seen: &Seen) -> Result<bool, Failure> {
        self.heading("The daemon: the panel in your browser, and work in the background");
        if !seen.service.is_open() {
            let step = seen.service.plan(true);
            let state = step.reason.unwrap_or_else(|| "it is a service already".to_owned());
            anstream::println!("   {}", style::plain(&state));
            return Ok(false);
        }
        self.yes("Start it with your session, as a service of yours?", true)
    }

    /// Several of a list: all, none, or some by their numbers. An empty list is not asked about.
    fn choose(&mut self, question: &str, items: &[String]) -> Result<Vec<usize>, Failure> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        for (nth, item) in items.iter().enumerate() {
            anstream::println!("   {}  {}", nth + 1, style::plain(item));
        }
        loop {
            let or_some = if items.len() > 1 { ", or numbers such as 1 2" } else { "" };
            let line = self.line(&format!("{question} [Y/n{or_some}]"))?;
            if let Some(chosen) = chosen(&line, items.len()) {
                return Ok(chosen);
            }
            match items.len() {
                1 => anstream::println!("   y or n"),
                most => anstream::println!("   y for all, n for none, or numbers from 1 to {most}"),
            }
        }
    }

    fn yes(&mut self, question: &str, usual: bool) -> Result<bool, Failure> {
        loop {
            let line = self.line(&format!("{question} {}", if usual { "[Y/n]" } else { "[y/N]" }))?;
            match line.as_str() {
                "" => return Ok(usual),
                line if is_yes(line) => return Ok(true),
                line if is_no(line) => return Ok(false),
                _ => anstream::println!("   y or n"),
            }
        }
    }

    fn line(&mut self, question: &str) -> Result<String, Failure> {
        let line = self.editor.readline(&format!("   {question} ")).map_err(broken)?;
        Ok(line.trim().to_owned())
    }
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.to_lowercase().as_str())
}

fn is_no(line: &str) -> bool {
    ["n", "no"].contains(&line.to_lowercase().as_str())
}

/// Which of so many a line means; none where it means nothing.
fn chosen(line: &str, count: usize) -> Option<Vec<usize>> {
    if line.is_empty() || is_yes(line) {
        return Some((0..count).collect());
    }
    if is_no(line) {
        return Some(Vec::new());
    }
    let numbers = line.split([' ', ',']).filter(|part| !part.is_empty());
    let place = |part: &str| part.parse::<usize>().ok()?.checked_sub(1).filter(|nth| *nth < count);
    numbers.map(place).collect()
}

fn broken(error: ReadlineError) -> Failure {
    let message = match error {
        ReadlineError::Interrupted | ReadlineError::Eof => "stopped: nothing was changed".to_owned(),
        error => format!("cannot read from the terminal: {error}"),
    };
    Failure::new(message, "`throughline setup` begins again; `--dry-run` shows what it would do")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_means_all_none_or_some() {
        for (line, expected) in [
            ("", Some(vec![0, 1, 2])),
            ("Y", Some(vec![0, 1, 2])),
            ("no", Some(vec![])),
            ("1 3", Some(vec![0, 2])),
            ("2,3", Some(vec![1, 2])),
            ("4", None),
            ("0", None),
            ("codex", None),
        ] {
            assert_eq!(chosen(line, 3), expected, "{line}");
        }
    }
}
