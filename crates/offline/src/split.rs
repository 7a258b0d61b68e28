//! Sentences: a line of prose goes in, its sentences come out as slices of it, long ones as their clauses.
//!
//! Never happens: a sentence that ends inside a path, a number or a common abbreviation.

/// A sentence beyond this many characters is cut at its commas; CJK characters count for more.
const LONG: usize = 240;

/// The width of a character in the count above.
const CJK_WIDTH: usize = 3;

/// Words that a full stop follows without ending the sentence, in lower case.
const ABBREVIATIONS: &str = " e.g i.e eg ie etc vs mr mrs ms dr prof st no nr bzw z.b d.h u.a ca approx inc ltd jr sr fig al \
    p.ej sra sr dña cf p.ex mme a.m p.m feat dept est jan feb mar apr jun jul aug sep sept oct nov dec ";

/// Han, kana and Hangul with their punctuation: text without spaces between its words.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Letters and digits of spaced scripts.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '*' | '_' | '”' | '’' | '»' | '」' | '』' | '）' | '】')
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '；' | '…' | '．' | '｡')
}

/// The sentences of `line`, trimmed, none of them empty.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !is_stop(c) {
            continue;
        }
        let (mut end, mut wide) = (at + c.len_utf8(), is_cjk(c) || c == '…');
        let mut plain = c == '.';
        while let Some((next, c)) = chars.next_if(|(_, c)| is_stop(*c) || is_closer(*c)) {
            end = next + c.len_utf8();
            wide |= is_stop(c) && is_cjk(c);
            plain &= !is_stop(c);
        }
        let after = chars.peek().map(|(_, c)| *c);
        let at_gap = after.is_none_or(|c| c.is_whitespace() || (is_cjk(c) && !plain));
        if (wide && c != '…') || (at_gap && !(plain && is_abbreviation(&line[start..at]))) {
            push(&mut out, &line[start..end]);
            start = end;
        }
    }
    push(&mut out, &line[start..]);
    out
}

fn push<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if !sentence.chars().any(char::is_alphanumeric) {
        return;
    }
    if width(sentence) <= LONG { out.push(sentence) } else { push_clauses(out, sentence) }
}

fn width(text: &str) -> usize {
    text.chars().map(|c| if is_cjk(c) { CJK_WIDTH } else { 1 }).sum()
}

/// A long sentence as its clauses, joined as long as they stay short.
fn push_clauses<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    let (mut start, mut at, mut size) = (0, 0, 0);
    let mut push = |part: &'a str| {
        if !part.trim().is_empty() {
            out.push(part.trim());
        }
    };
    for clause in clauses(sentence) {
        let clause_size = width(clause);
        if size > 0 && size + clause_size > LONG * 2 / 3 {
            push(&sentence[start..at]);
            (start, size) = (at, 0);
        }
        size += clause_size;
        at += clause.len();
    }
    push(&sentence[start..]);
}

/// The clauses of a sentence, each with the mark that ends it; together they are the sentence.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = sentence.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let before_space = chars.peek().is_some_and(|(_, c)| c.is_whitespace());
        let ends = match c {
            '，' | '；' | '：' | '—' | '–' => true,
            ',' | ';' | ':' => before_space || chars.peek().is_some_and(|(_, c)| is_cjk(*c)),
            '-' => before_space && sentence[..at].ends_with(' '),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            out.push(&sentence[start..end]);
            start = end;
        }
    }
    out.push(&sentence[start..]);
    out.retain(|clause| !clause.is_empty());
    out
}

/// Whether the text ends in an abbreviation, an initial or the number of a list item.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“')).next().unwrap_or_default();
    let mut chars = word.chars();
    let single =
        matches!((chars.next(), chars.next()), (Some(c), None) if c.is_alphabetic() && c.is_uppercase() && c != 'I');
    let is_all = word.len() == before.trim_start().len();
    let number = is_all && word.len() <= 2 && !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    if single || number {
        return true;
    }
    if word.len() > 8 || word.is_empty() {
        return false;
    }
    let lower = word.to_lowercase();
    ABBREVIATIONS.split(' ').any(|known| known == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        assert_eq!(sentences(line), expected, "of {line:?}");
    }

    #[test]
    fn splits_where_sentences_end() {
        check("It works. Now the docs!  Really? yes", &["It works.", "Now the docs!", "Really?", "yes"]);
        check("Edit src/main.rs v1.2 at 3.5 GB. Done", &["Edit src/main.rs v1.2 at 3.5 GB.", "Done"]);
        check("Ask Dr. Who, e.g. J. Smith. ok", &["Ask Dr. Who, e.g. J. Smith.", "ok"]);
        check("He said \"stop.\" Then left.", &["He said \"stop.\"", "Then left."]);
        check("so... what now?!", &["so...", "what now?!"]);
        check("我们决定用Rust。好的！下次再说？嗯", &["我们决定用Rust。", "好的！", "下次再说？", "嗯"]);
        check("「行く。」と言った。終わり", &["「行く。」", "と言った。", "終わり"]);
        check("真的吗?我不信", &["真的吗?", "我不信"]);
        check("...", &[]);
        check("", &[]);
    }

    #[test]
    fn cuts_long_sentences_at_their_commas() {
        let clause = "this is a clause of some length that goes on";
        let long = [clause; 9].join(", ");
        let parts = sentences(&long);
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|part| long.contains(part) && part.len() <= LONG));
    }

    #[test]
    fn clauses_are_the_sentence() {
        for text in ["a, b; c — d - e:f", "我叫小明，住在上海，喜欢茶。", "1,000 and x-y", ""] {
            assert_eq!(clauses(text).concat(), text);
        }
        assert_eq!(clauses("For Python, I prefer Black"), ["For Python,", " I prefer Black"]);
    }
}
