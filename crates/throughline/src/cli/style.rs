//! How memory looks on a terminal. Stored text is data: it can never move the cursor or change a colour.

use comfy_table::{ContentArrangement, Table, presets};
use jiff::{Timestamp, Zoned};
use owo_colors::OwoColorize as _;
use similar::{ChangeTag, TextDiff};
use throughline_core::engine::EmbeddingProgress;
use throughline_core::model::{EntryId, Memory, Source, Status};
use throughline_core::recall::{Hit, Why};
pub(super) use throughline_core::text::count;
use throughline_core::when;
use unicode_width::UnicodeWidthStr as _;

/// How much of an id is shown: more than the six characters that name it.
const SHORT_ID: usize = 8;

/// Lines around a difference that stay visible.
const AROUND: usize = 2;

/// So many reasons for a score are shown, those that count most.
const MOST_REASONS: usize = 4;

/// What fits less than this is not worth a line.
pub(super) const LEAST_SHOWN: f64 = 0.01;

/// The widest that running text gets.
const MAX_WIDTH: usize = 100;

/// Text in which every control character is visible instead of obeyed.
pub(crate) fn plain(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => c,
    };
    text.chars().map(visible).collect()
}

/// The beginning of an id.
pub(crate) fn short(id: &str) -> String {
    plain(id.get(..SHORT_ID).unwrap_or(id))
}

/// The width to write for.
pub(super) fn width() -> usize {
    terminal_size::terminal_size().map_or(MAX_WIDTH, |(width, _)| usize::from(width.0).clamp(40, 160))
}

/// Text on one line, cut where the line ends.
pub(super) fn one_line(text: &str, max: usize) -> String {
    let text = plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if text.chars().count() <= max {
        return text;
    }
    let cut: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// Running text, broken at blanks, each line behind an indent.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let room = width().saturating_sub(indent);
    let margin = " ".repeat(indent);
    let mut out = String::new();
    for line in text.lines() {
        let mut used = 0;
        out.push_str(&margin);
        for word in line.split(' ') {
            let size = word.width();
            if used > 0 && used + 1 + size > room {
                out.push('\n');
                out.push_str(&margin);
                used = 0;
            } else if used > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += size;
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// A table without lines, as wide as the terminal.
pub(super) fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width()).unwrap_or(100))
        .set_header(headings.iter().map(|heading| heading.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| plain(cell)));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let (heading, body) = lines.split_first().map_or(("", &[][..]), |(heading, body)| (heading.as_str(), body));
    format!("{}\n{}\n", heading.dimmed(), body.join("\n"))
}

/// Whose word it is, said to the person it belongs to.
pub(super) fn who(source: Source) -> &'static str {
    match source {
        Source::User => "you",
        Source::Agent => "assistant",
        Source::System => "throughline",
    }
}

/// Everything about a memory but its text, on one line.
fn about(memory: &Memory, now: &Zoned) -> String {
    let entry = &memory.entry;
    let mut parts = vec![when::describe(entry.updated_at, now), who(entry.source).to_owned()];
    parts.extend(entry.key.iter().map(|key| format!("key {key}")));
    parts.push(format!("sig {}", memory.significance.value()));
    parts.extend(entry.tags.iter().map(|tag| format!("#{tag}")));
    parts.extend(entry.project.iter().map(|project| format!("project {project}")));
    parts.push(entry.namespace.to_string());
    if entry.status == Status::Inactive {
        parts.push("forgotten".to_owned());
    }
    plain(&parts.join(" · "))
}

/// A memory in two lines: what it says, and about it.
pub(super) fn memory(memory: &Memory, now: &Zoned) -> String {
    let indent = " ".repeat(SHORT_ID + 2);
    let content = plain(&memory.entry.content).replace('\n', &format!("\n{indent}"));
    format!("{}  {content}\n{indent}{}\n", short(memory.entry.id.as_str()).yellow(), about(memory, now).dimmed())
}

/// A memory in two lines of the terminal's width: the beginning of what it says, and about it.
pub(crate) fn brief(memory: &Memory, now: &Zoned) -> String {
    let indent = SHORT_ID + 2;
    let room = width().saturating_sub(indent);
    let (content, about) = (one_line(&memory.entry.content, room), one_line(&about(memory, now), room));
    format!("{}  {content}\n{}{}\n", short(memory.entry.id.as_str()).yellow(), " ".repeat(indent), about.dimmed())
}

/// A hit: a memory, whole or in two lines, and with `why` what made its score.
pub(crate) fn hit(hit: &Hit, now: &Zoned, full: bool, why: bool) -> String {
    let mut text = if full { memory(&hit.memory, now) } else { brief(&hit.memory, now) };
    if let Some(withdrawn) = hit.withdrawn {
        text.push_str(&format!("{}{}\n", " ".repeat(SHORT_ID + 2), withdrawn.yellow()));
    }
    if why {
        let (indent, why) = (" ".repeat(SHORT_ID + 2), &hit.why);
        let how = format!("fits {}, by its {}: {}", percent(hit.score), why.found_by.word(), reasons(why));
        text.push_str(&format!("{indent}{}\n", how.cyan()));
        if !hit.evidence.is_empty() {
            text.push_str(&format!("{indent}{}\n", also(&hit.evidence).cyan()));
        }
    }
    text
}

/// The note that secrets of these kinds were left out; empty where there were none.
pub(super) fn left_out(kinds: &[&str]) -> String {
    match kinds {
        [] => String::new(),
        kinds => format!("{} a secret was left out ({})\n", "note:".yellow().bold(), kinds.join(", ")),
    }
}

/// How surely something fits.
pub(super) fn percent(score: f64) -> String {
    let percent = score * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// What counted most for a score and against it.
pub(super) fn reasons(why: &Why) -> String {
    let features = || why.features.iter().filter(|feature| feature.name != "base");
    let shown = features().take(MOST_REASONS).map(|feature| format!("{} {:+.1}", feature.name, feature.points));
    let shown: Vec<String> = shown.collect();
    let others = features().count().saturating_sub(MOST_REASONS);
    let weighed = match (shown.is_empty(), others) {
        (true, _) => return "not weighed".to_owned(),
        (false, 0) => shown.join(", "),
        (false, _) => format!("{}, {others} smaller", shown.join(", ")),
    };
    let order = why.order_points() - why.points();
    if order == 0.0 { weighed } else { format!("{weighed}; among the hits {order:+.1} for rare words") }
}

/// What says the same.
pub(super) fn also(evidence: &[EntryId]) -> String {
    let ids: Vec<String> = evidence.iter().take(MOST_REASONS).map(|id| short(id.as_str())).collect();
    let others = evidence.len() - ids.len();
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("also in {}{others}", ids.join(", "))
}

/// A date as people write it, with how long ago it was.
pub(super) fn date(at: Timestamp, now: &Zoned) -> String {
    when::describe(at, now)
}

/// A text's difference, line by line, under its name.
pub(super) fn difference(name: &str, before: &str, after: &str) -> String {
    let mut text = format!("{}\n", plain(name).bold());
    let diff = TextDiff::from_lines(before, after);
    for (nth, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if nth > 0 {
            text.push_str(&format!("{}\n", "…".dimmed()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = plain(change.value().trim_end_matches(['\n', '\r']));
            text.push_str(&match change.tag() {
                ChangeTag::Delete => format!("{}\n", format!("- {line}").red()),
                ChangeTag::Insert => format!("{}\n", format!("+ {line}").green()),
                ChangeTag::Equal => format!("  {line}\n"),
            });
        }
    }
    text.push('\n');
    text
}

/// How far a model is with the memories.
pub(super) fn embedded(progress: &EmbeddingProgress) -> String {
    let refused = if progress.refused > 0 { format!(", {} refused", progress.refused) } else { String::new() };
    let (embedded, of) = (progress.embedded, count(progress.of, "memory", "memories"));
    format!("embedded {embedded} of {of} by {}{refused}", plain(&progress.model))
}
