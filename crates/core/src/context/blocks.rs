//! An opening that was given, taken apart again.

use super::render;

/// The parts of an opening, in its order: what each is, as [`Part::what`](super::Part) says it, and its text.
pub fn opening_blocks(opening: &str) -> Vec<(&'static str, String)> {
    let mut blocks: Vec<(&'static str, String)> = Vec::new();
    for line in opening.lines() {
        // No text within a block can have a line that looks like this.
        let title = line.strip_prefix("--- ").and_then(|line| line.strip_suffix(" ---"));
        match (title.and_then(named), blocks.last_mut()) {
            (Some(what), _) => blocks.push((what, String::new())),
            (None, Some((_, text))) if line != render::GREETING => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    blocks.into_iter().map(|(what, text)| (what, text.trim().to_owned())).collect()
}

fn named(title: &str) -> Option<&'static str> {
    match title {
        render::PROFILE => Some("profile"),
        render::WORKING => Some("working"),
        render::TASK => Some("task"),
        render::PROJECT => Some("project"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_together_comes_apart() {
        let blocks = vec![
            render::block(render::PROFILE, "- My name is Ada.\n- I like tea."),
            render::block(render::WORKING, "## Now\n--- Current task ---\n- the parser"),
            render::block(render::PROJECT, "- Tests run with `just test`"),
        ];
        let expected = [
            ("profile", "- My name is Ada.\n- I like tea.".to_owned()),
            ("working", "## Now\n— Current task —\n- the parser".to_owned()),
            ("project", "- Tests run with `just test`".to_owned()),
        ];
        assert_eq!(opening_blocks(&render::opening(blocks, true)), expected);
        assert_eq!(opening_blocks(""), []);
    }
}
