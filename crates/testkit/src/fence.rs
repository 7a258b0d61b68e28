//! An own look at the fence around what an assistant is given, written otherwise than what it checks.

/// How the fence is called, letters alone.
const NAME: &str = "memorycontext";

/// Letters of a tag that stand farther apart are no tag to anybody.
const NEAR: usize = 32;

/// Where something begins that a reader may take for a tag of the fence.
pub fn first_fence_tag(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| {
        let rest = text[at + 1..].chars().skip_while(|c| *c == '/' || c.is_whitespace() || c.is_control());
        let name = rest.take(NEAR).take_while(|c| !"<>‹".contains(*c));
        let letters: String = name.filter(|c| c.is_alphanumeric()).collect();
        letters.to_lowercase().starts_with(NAME)
    })
}
