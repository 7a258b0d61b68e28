//! The sections of working memory: told apart, compared with what was last written, and rendered. Pure.

use crate::model::{Thread, ThreadId, ThreadStatus};
use crate::text::tokens;

/// A thread that would get less than this is left out, in tokens.
const LEAST: usize = 24;

/// A section of working memory, and the thread that it shows, if one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section<'t> {
    /// Its bytes, without white space around it.
    pub(crate) text: String,
    /// The thread that it shows.
    pub(crate) thread: Option<&'t Thread>,
    /// Whether the person wrote it, or changed it since it was last rendered.
    pub(crate) is_own: bool,
}

impl Section<'_> {
    /// Whether it shows a thread that is closed: the file could not be written then, and follows with the next change.
    pub(crate) fn is_of_closed(&self) -> bool {
        !self.is_own && self.thread.is_some_and(|thread| thread.status == ThreadStatus::Closed)
    }
}

/// Whether a section shows a thread.
type Shows<'a> = dyn Fn(&str, &Thread) -> bool + 'a;

/// The sections of a file's content, in their order, each with the thread of these that it shows. A section that reads as
/// it was last rendered is that thread's; one that does not is the person's, and shows the thread of the same heading.
pub(crate) fn read<'t>(content: &str, threads: &'t [Thread]) -> Vec<Section<'t>> {
    let texts = split(content);
    let mut shown: Vec<Option<&Thread>> = vec![None; texts.len()];
    let mut left: Vec<&Thread> = threads.iter().filter(|thread| thread.rendered.is_some()).collect();
    let same = |text: &str, thread: &Thread| thread.rendered.as_deref() == Some(text.replace("\r\n", "\n").as_str());
    let titled = |text: &str, thread: &Thread| heading(text) == Some(thread.title.as_str());
    for is_it in [&same as &Shows<'_>, &titled] {
        for (text, shown) in texts.iter().zip(&mut shown).filter(|(_, shown)| shown.is_none()) {
            if let Some(at) = left.iter().position(|thread| is_it(text, thread)) {
                *shown = Some(left.remove(at));
            }
        }
    }
    let section = |(text, thread): (&str, Option<&'t Thread>)| Section {
        text: text.to_owned(),
        thread,
        is_own: !thread.is_some_and(|thread| same(text, thread)),
    };
    texts.into_iter().zip(shown).map(section).collect()
}

/// The text before the first heading and each section, without empty ones.
fn split(content: &str) -> Vec<&str> {
    pieces(content).into_iter().map(str::trim).filter(|text| !text.is_empty()).collect()
}

/// The text before the first heading and each section, byte for byte.
fn pieces(content: &str) -> Vec<&str> {
    let is_heading = |line: &str| line.starts_with("## ");
    let mut starts = vec![0];
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        if is_heading(line) && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(content.len());
    starts.windows(2).map(|pair| &content[pair[0]..pair[1]]).collect()
}

/// A file without the sections that show one of these threads: by their heading, or as they were last rendered. None if it shows
/// none of them.
pub fn without_threads(text: &str, threads: &[Thread]) -> Option<String> {
    let shows = |section: &str| {
        let same = |thread: &Thread| thread.rendered.as_deref() == Some(section.trim());
        let titled = |thread: &Thread| heading(section) == Some(thread.title.as_str());
        section.starts_with("## ") && threads.iter().any(|thread| same(thread) || titled(thread))
    };
    let left: String = pieces(text).into_iter().filter(|section| !shows(section)).collect();
    (left != text).then_some(left)
}

/// The title of a section.
fn heading(section: &str) -> Option<&str> {
    section.lines().next()?.strip_prefix("## ").map(str::trim)
}

/// Whether a section has a heading of working memory as it was before there were threads.
pub(crate) fn has_older_heading(section: &str) -> bool {
    const HEADINGS: [&str; 5] =
        ["Working on", "Decisions", "Preferences and constraints", "Open threads", "Carried over"];
    heading(section).is_some_and(|title| HEADINGS.contains(&title))
}

/// What working memory says of these threads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// Each thread's section, in their order.
    pub(crate) sections: Vec<(ThreadId, String)>,
    /// Threads for which there is no room.
    pub(crate) displaced: Vec<ThreadId>,
}

/// Renders threads, the newest first. While there are others, one thread takes half of the room that is left.
pub(crate) fn render(threads: &[&Thread], max_tokens: usize) -> Rendering {
    let mut rendering = Rendering::default();
    let mut room = max_tokens;
    for (nth, thread) in threads.iter().enumerate() {
        let allowed = if nth + 1 == threads.len() { room } else { (room / 2).max(LEAST.min(room)) };
        let whole = section(thread);
        let cut = tokens::cut(&whole, allowed);
        let is_whole = cut.len() == whole.len();
        if !is_whole && (allowed < LEAST || !cut.contains('\n')) {
            rendering.displaced.push(thread.id.clone());
            continue;
        }
        room = room.saturating_sub(tokens::estimate(cut) + 1);
        rendering.sections.push((thread.id.clone(), cut.to_owned()));
    }
    rendering
}

/// A thread's section: its title, and its content with headings below that.
fn section(thread: &Thread) -> String {
    let lower = |line: &str| match line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")) {
        Some(title) => format!("### {title}"),
        None => line.to_owned(),
    };
    let content: Vec<String> = thread.content.lines().map(lower).collect();
    format!("## {}\n\n{}", thread.title, content.join("\n").trim()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: &str, title: &str, content: &str) -> Thread {
        let at = "2026-03-01T12:00:00Z".parse().unwrap();
        let plain = Thread {
            id: ThreadId::new(id),
            namespace: "user".parse().unwrap(),
            session: format!("cli:{id}").parse().unwrap(),
            title: title.to_owned(),
            project: None,
            task: None,
            content: content.to_owned(),
            rendered: None,
            status: ThreadStatus::Open,
            created_at: at,
            updated_at: at,
            expires_at: at,
            version: 1,
        };
        Thread { rendered: Some(section(&plain)), ..plain }
    }

    fn kinds(content: &str, threads: &[Thread]) -> Vec<(Option<String>, bool)> {
        let id = |section: Section<'_>| (section.thread.map(|thread| thread.id.to_string()), section.is_own);
        read(content, threads).into_iter().map(id).collect()
    }

    #[test]
    fn headings_inside_a_thread_are_lowered() {
        let parser = thread("a", "Parser", "# Top\n## Working on\n- it\n### Below");
        assert_eq!(section(&parser), "## Parser\n\n### Top\n### Working on\n- it\n### Below");
    }

    #[test]
    fn what_reads_as_rendered_is_ours_and_the_rest_is_the_persons() {
        let threads = [thread("a", "Parser", "- half"), thread("b", "Lexer", "- all")];
        let text = "## Parser\n\n- half\n\n## Lexer\n\n- nearly all\n\n## Mine\n- note\n";
        let expected = [(Some("a".to_owned()), false), (Some("b".to_owned()), true), (None, true)];
        assert_eq!(kinds(text, &threads), expected);
        assert_eq!(kinds(&text.replace('\n', "\r\n"), &threads), expected, "line ends are no edit");
        assert_eq!(kinds("before\n## Lexer\n\n- all", &threads), [(None, true), (Some("b".to_owned()), false)]);
        assert_eq!(kinds("", &threads), []);
    }

    #[test]
    fn two_threads_of_one_title_are_told_apart() {
        let threads = [thread("a", "Parser", "- half"), thread("b", "Parser", "- all")];
        let expected = [(Some("a".to_owned()), true), (Some("b".to_owned()), false)];
        assert_eq!(kinds("## Parser\n- mine\n\n## Parser\n\n- all", &threads), expected);
    }

    #[test]
    fn the_newest_come_first_and_the_oldest_make_room() {
        let long = "- word word word\n".repeat(100);
        let threads: Vec<Thread> = ["a", "b", "c", "d", "e", "f", "g"].map(|id| thread(id, id, &long)).into();
        let all: Vec<&Thread> = threads.iter().collect();
        let rendering = render(&all, 200);
        let size: usize = rendering.sections.iter().map(|(_, text)| tokens::estimate(text) + 1).sum();
        assert!(size <= 200, "{size}");
        assert_eq!(rendering.sections[0].0.as_str(), "a");
        assert!(rendering.sections.len() > 2 && !rendering.displaced.is_empty(), "{rendering:?}");
        let alone = render(&all[..1], 200);
        assert!(tokens::estimate(&alone.sections[0].1) > 150, "one that is alone takes all of it");
    }
}
