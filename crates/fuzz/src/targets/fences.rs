//! The fence around what an assistant is given: nothing that is stored closes it, and what stands in it is never read back.

use throughline_core::context::{fenced, neutralise, without_fence};
use throughline_testkit::first_fence_tag;

pub(super) fn run(bytes: &[u8]) {
    holds(&super::text(bytes), neutralise);
}

/// Panics where a text breaks the fence that `escape` is to keep. A test gives an `escape` that does not.
pub fn holds(text: &str, escape: impl Fn(&str) -> String) {
    let inside = escape(text);
    assert_eq!(first_fence_tag(&inside), None, "{inside:?} has a tag of the fence");
    assert_eq!(escape(&inside), inside, "escaping twice changes nothing");
    assert!(has_words_of(&inside, text), "{inside:?} has not the words of {text:?}");
    assert_eq!(without_fence(&inside), inside, "an escaped text has no fence to take off");
    let given = fenced(&inside);
    assert_eq!(without_fence(&given), "", "{inside:?} ends the fence that it stands in");
    let message = "what now?";
    let sent = format!("{given}\n\n{message}");
    assert_eq!(without_fence(&sent), message, "what was given is taken for what was said");
    let bare = without_fence(text);
    assert!(bare.len() <= text.len() && without_fence(&bare).len() <= bare.len());
}

/// Marks change, and what nobody sees is left out; the words stay. An entity for a bracket has letters, too.
fn has_words_of(inside: &str, text: &str) -> bool {
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    text.contains('&') || letters(inside) == letters(text)
}
