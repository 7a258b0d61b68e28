//! The sentences of a conversation, each with who said it.

use throughline_core::model::{Person, Role, Turn};
use throughline_core::text::sentences::of_line;

use super::moves::without_fillers;
use super::one_line;
use super::remember::refers_back;
use super::weigh::{Sentence, Speaker};
use throughline_core::text::prose::{self, Form};

/// The sentences of everybody, in order; those of other people with their name.
pub(super) fn read(turns: &[Turn], person: &Person) -> Vec<Sentence> {
    let mut out = Vec::new();
    for (nth, turn) in turns.iter().enumerate() {
        let speaker = match turn.role {
            Role::User => Speaker::Person,
            Role::Assistant | Role::Summary => Speaker::Assistant,
            Role::Tool => {
                let told = prose::telling_line(&turn.content);
                out.extend(told.map(|line| Sentence::new(one_line(line), Speaker::Tool, Form::Error, nth)));
                continue;
            }
            Role::System => continue,
        };
        let by = turn.speaker.clone().filter(|_| person.is_other(turn));
        for piece in prose::pieces(&turn.content) {
            let parts = if piece.form == Form::Prose { of_line(piece.text) } else { vec![piece.text] };
            for part in parts {
                let text = one_line(part);
                if speaker == Speaker::Person && refers_back(&text) {
                    keep_last(&mut out);
                    continue;
                }
                let sentence = Sentence::new(without_fillers(&text).to_owned(), speaker, piece.form, nth);
                out.push(Sentence { by: by.clone(), is_item: piece.is_item, ..sentence });
            }
        }
    }
    out
}

/// `Remember that.` means the sentence before it.
fn keep_last(sentences: &mut [Sentence]) {
    if let Some(last) = sentences.last_mut().filter(|last| last.speaker == Speaker::Person && !last.is_question()) {
        last.keep();
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus::turn;
    use super::*;

    #[test]
    fn words_of_others_have_their_name() {
        let said = |speaker: &str, text: &str| Turn { speaker: Some(speaker.to_owned()), ..turn("user", text) };
        let turns =
            [said("Grace", "I fly to Oslo on Monday."), said("Ada", "I bake bread."), turn("user", "I like rye.")];
        let lines: Vec<String> = read(&turns, &Person::named("Ada")).iter().map(Sentence::line).collect();
        assert_eq!(lines, ["Grace: I fly to Oslo on Monday.", "I bake bread.", "I like rye."]);
    }
}
