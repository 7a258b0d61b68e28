//! The thoughts that some models put in front of their answer, taken out while it streams.
//!
//! Only a block that the reply begins with is taken for thoughts: an answer *about* `<think>` stays as it is.

const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

#[derive(Debug)]
pub(super) enum Thoughts {
    /// Nothing but what may become a tag so far.
    Undecided(String),
    /// Within a block that this ends; with the end of what was seen.
    Thinking { close: &'static str, tail: String },
    /// The answer itself.
    Talking,
}

impl Default for Thoughts {
    fn default() -> Self {
        Self::Undecided(String::new())
    }
}

impl Thoughts {
    /// Appends what of `piece` belongs to the answer.
    pub(super) fn leave_out(&mut self, piece: &str, answer: &mut String) {
        match self {
            Self::Talking => answer.push_str(piece),
            Self::Undecided(held) => {
                held.push_str(piece);
                let held = std::mem::take(held);
                self.decide(held.trim_start(), answer);
            }
            Self::Thinking { close, tail } => {
                tail.push_str(piece);
                let Some(at) = tail.find(*close) else {
                    let keep = tail.floor_char_boundary(tail.len().saturating_sub(close.len()));
                    tail.drain(..keep);
                    return;
                };
                let rest = tail.split_off(at + close.len());
                *self = Self::default();
                self.leave_out(&rest, answer);
            }
        }
    }

    /// What was held back at the end was no tag. Thoughts without an end stay out.
    pub(super) fn end(&mut self, answer: &mut String) {
        if let Self::Undecided(held) = self {
            answer.push_str(held);
            *self = Self::Talking;
        }
    }

    fn decide(&mut self, text: &str, answer: &mut String) {
        if let Some((open, close)) = TAGS.into_iter().find(|(open, _)| text.starts_with(open)) {
            *self = Self::Thinking { close, tail: String::new() };
            self.leave_out(&text[open.len()..], answer);
        } else if TAGS.iter().any(|(open, _)| open.starts_with(text)) {
            *self = Self::Undecided(text.to_owned());
        } else {
            *self = Self::Talking;
            answer.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &str, expected: &str) {
        let by_characters: Vec<String> = reply.chars().map(String::from).collect();
        for pieces in [vec![reply.to_owned()], by_characters] {
            let (mut thoughts, mut answer) = (Thoughts::default(), String::new());
            for piece in &pieces {
                thoughts.leave_out(piece, &mut answer);
            }
            thoughts.end(&mut answer);
            assert_eq!(answer, expected, "of {reply:?} in {} pieces", pieces.len());
        }
    }

    #[test]
    fn leading_thoughts_are_left_out_however_they_are_cut() {
        check("hello", "hello");
        check("\n hello ", "hello ");
        check("<think>hm, 你好…</think>\n\nhello", "hello");
        check("<thinking>a</thinking><reasoning>b < c</reasoning>hello", "hello");
        check("<think>without end", "");
        check("<thi", "<thi");
        check("<b>bold</b>", "<b>bold</b>");
        check("The tag <think>x</think> is one", "The tag <think>x</think> is one");
        check("<think></think>", "");
    }
}
