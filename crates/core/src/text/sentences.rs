//! Sentences: text goes in, its sentences come out as slices of it, long ones as their clauses.
//!
//! Never happens: a sentence that ends inside a path, a number, an address or a common abbreviation. The work is linear.

use super::steps;

/// A sentence beyond this many characters is cut at its commas; CJK characters count for more.
const LONG: usize = 240;

/// The width of a character in the count above.
const CJK_WIDTH: usize = 3;

/// Words that a full stop follows without ending the sentence, in lower case.
const ABBREVIATIONS: &str =
    " e.g i.e eg ie vs mr mrs ms dr prof st bzw z.b d.h u.a ca approx sr fig p.ej ej sra dña cf p.ex mme feat dept ";

/// Those that end the sentence where a capital follows: `at 8 a.m. Tom calls`.
const MAY_END: &str = " etc inc ltd jr al a.m p.m est jan feb mar apr jun jul aug sep sept oct nov dec ";

/// Those before a number alone.
const BEFORE_NUMBERS: &str = " no nr ";

/// What stands before an ordinal in German: `am 14. September`.
const BEFORE_ORDINALS: &str = " am vom bis zum der den dem des die ab seit beim im jeden jeder jedes ";

/// Han, kana and Hangul with their punctuation: text without spaces between its words.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Letters and digits of spaced scripts.
pub fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '*' | '_' | '”' | '’' | '»' | '」' | '』' | '）' | '】')
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '；' | '…' | '．' | '｡')
}

/// The sentences of a text, trimmed, none of them empty: of each paragraph, heading and list item (without its marker).
/// A fenced block of code is one piece, without its fences.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut at, mut is_code) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        steps::count(line.len());
        let end = at + line.len();
        let plain = line.trim();
        let is_fence = plain.starts_with("```") || plain.starts_with("~~~");
        let content = without_marker(plain);
        // What was gathered so far ends before this line.
        if is_fence || !is_code && (plain.is_empty() || content.len() != plain.len()) {
            push_block(&mut out, &text[start..at], is_code);
            start = if is_fence { end } else { end - line.trim_start().len() + (plain.len() - content.len()) };
        }
        is_code ^= is_fence;
        // A heading has no second line.
        if !is_code && plain.starts_with('#') && content.len() != plain.len() {
            push_block(&mut out, &text[start..end], false);
            start = end;
        }
        at = end;
    }
    push_block(&mut out, &text[start..], is_code);
    out
}

fn push_block<'a>(out: &mut Vec<&'a str>, block: &'a str, is_code: bool) {
    if !is_code {
        out.extend(of_line(block));
    } else if block.chars().any(char::is_alphanumeric) {
        out.push(block.trim_matches('\n'));
    }
}

/// A line without what makes it a heading, a quotation or an item of a list.
fn without_marker(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line[digits..].strip_prefix(['.', ')']).filter(|_| (1..=3).contains(&digits));
    let bullet = line.strip_prefix(['-', '*', '+', '•', '>']);
    let heading = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
    match number.or(bullet).or(heading) {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => line,
    }
}

/// The sentences of one line or paragraph of prose, trimmed, none of them empty; long ones as their clauses.
pub fn of_line(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    whole_of_line(line).into_iter().for_each(|sentence| push(&mut out, sentence));
    out
}

/// The same, each of them whole.
pub fn whole_of_line(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        steps::count(1);
        if !is_stop(c) || is_left_out(line, at, c) {
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
        let goes_on =
            || plain && is_abbreviation(&line[start..at], &line[end..]) || is_quoted_stop(&line[at..], end - at);
        if (wide && c != '…') || (at_gap && !goes_on()) {
            out.push(line[start..end].trim());
            start = end;
        }
    }
    out.push(line[start..].trim());
    out.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    out
}

/// `“…”` stands for words that were left out: it ends nothing.
fn is_left_out(line: &str, at: usize, c: char) -> bool {
    c == '…' && line[..at].ends_with(['“', '"', '«', '„', '「'])
}

/// Whether a stop belongs to what is quoted: `I read "Who Knew?" by Ada`.
fn is_quoted_stop(from_stop: &str, len: usize) -> bool {
    let (marks, after) = from_stop.split_at(len);
    marks.ends_with(['"', '”', '’', '\'', '»', '*', '_']) && after.trim_start().starts_with(char::is_lowercase)
}

fn push<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    if width(sentence) <= LONG { out.push(sentence) } else { push_clauses(out, sentence) }
}

fn width(text: &str) -> usize {
    steps::count(text.len());
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
pub fn clauses(sentence: &str) -> Vec<&str> {
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

/// Whether the text ends in an abbreviation, an initial, an ordinal or the number of a list item.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let is_gap = |c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“');
    let word = before.rsplit(is_gap).next().unwrap_or_default();
    let next = after.trim_start();
    steps::count(word.len() + (after.len() - next.len()));
    if word.is_empty() || word.len() > 8 || next.is_empty() {
        return false;
    }
    let lower = word.to_lowercase();
    let is_in = |list: &str| list.contains(&format!(" {lower} "));
    is_in(ABBREVIATIONS)
        || is_initials(word, next)
        || is_in(MAY_END) && !next.starts_with(char::is_uppercase)
        || is_in(BEFORE_NUMBERS) && next.starts_with(|c: char| c.is_ascii_digit())
        || is_ordinal(word, before[..before.len() - word.len()].trim_end())
}

/// `J. Smith`, `J.D. Salinger`, `z. B.`
fn is_initials(word: &str, next: &str) -> bool {
    let is_one = |part: &str| part.chars().count() == 1 && part.chars().all(char::is_alphabetic);
    let is_upper = word.split('.').all(|part| is_one(part) && part.chars().all(char::is_uppercase));
    let is_name = next.starts_with(char::is_uppercase) && !OPENERS.contains(&format!(" {} ", first_word(next)));
    // `in the U.S. Tom lives` cannot be told from `J.D. Salinger`; countries are more often the end.
    let is_place = matches!(word, "U.S" | "U.K" | "U.S.A" | "E.U" | "D.C" | "L.A" | "I");
    let short = next.split('.').next().unwrap_or_default();
    steps::count(short.len());
    is_upper && !is_place && (is_name || word.len() == 1) || is_one(word) && is_one(short) && next.len() > short.len()
}

/// Words that begin a sentence and no name.
const OPENERS: &str = " I I'm I've My We Our The It He She They This That There And But So You ";

fn first_word(text: &str) -> &str {
    text.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default()
}

/// `1.` at the beginning, or `am 14.`
fn is_ordinal(word: &str, before: &str) -> bool {
    let is_number = word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    steps::count(last.len());
    is_number && (before.is_empty() || BEFORE_ORDINALS.contains(&format!(" {last} ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(line: &str, expected: &[&str]) {
        assert_eq!(of_line(line), expected, "of {line:?}");
    }

    #[test]
    fn splits_where_sentences_end() {
        check("It works. Now the docs!  Really? yes", &["It works.", "Now the docs!", "Really?", "yes"]);
        check("Edit src/main.rs v1.2 at 3.5 GB. Done", &["Edit src/main.rs v1.2 at 3.5 GB.", "Done"]);
        check("Ask Dr. Who, e.g. J. Smith. ok", &["Ask Dr. Who, e.g. J. Smith.", "ok"]);
        check("In Sep. 14 came. In Sep. Tom came", &["In Sep. 14 came.", "In Sep.", "Tom came"]);
        check("By J.D. Salinger. In the U.S. We left", &["By J.D. Salinger.", "In the U.S.", "We left"]);
        check("Wir nutzen z. B. Rust. Am 14. September", &["Wir nutzen z. B. Rust.", "Am 14. September"]);
        check("I said no. See no. 5. It is 14. Done", &["I said no.", "See no. 5.", "It is 14.", "Done"]);
        check("I read “…” by Ada and \"Why?\" by Bo", &["I read “…” by Ada and \"Why?\" by Bo"]);
        check("He said \"stop.\" Then left.", &["He said \"stop.\"", "Then left."]);
        check("so... what now?!", &["so...", "what now?!"]);
        check("我们决定用Rust。好的！下次再说？嗯", &["我们决定用Rust。", "好的！", "下次再说？", "嗯"]);
        check("「行く。」と言った。終わり", &["「行く。」", "と言った。", "終わり"]);
        check("真的吗?我不信", &["真的吗?", "我不信"]);
        check("...", &[]);
        check("", &[]);
    }

    #[test]
    fn splitting_is_linear() {
        for piece in [
            "tea ", "tea. ", "a. ", "e.g. ", "am 1. ", "1. ", "...", "。", "…", "\"a.\" ", "a, ", "茶，", "\n",
            "- tea\n", "# T\n", "```\n", "A.b ",
        ] {
            steps::check_linear(piece, 20, |text| sentences(text).len());
            // What stood before each of them was read anew, down to its first blank.
            steps::check_linear(piece, 40, |text| sentences(&format!("{}{text}", " ".repeat(text.len()))).len());
        }
    }

    #[test]
    fn cuts_long_sentences_at_their_commas() {
        let clause = "this is a clause of some length that goes on";
        let long = [clause; 9].join(", ");
        let parts = of_line(&long);
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

    fn check_text(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text), expected, "of {text:?}");
    }

    #[test]
    fn paragraphs_lists_headings_and_code_are_apart() {
        check_text("One line\nof prose. Two.\n\nThree", &["One line\nof prose.", "Two.", "Three"]);
        check_text(
            "# Plan\nShip it. Soon.\n- first item\n- second\n  goes on",
            &["Plan", "Ship it.", "Soon.", "first item", "second\n  goes on"],
        );
        check_text("1. one. two\n2) three\n> quoted", &["one.", "two", "three", "quoted"]);
        check_text("Run:\n```sh\nls. -l\n\n- x\n```\nDone.", &["Run:", "ls. -l\n\n- x", "Done."]);
        check_text(
            "See https://a.example/x.y?z=1. Then v1.2, e.g. Dr. Who.",
            &["See https://a.example/x.y?z=1.", "Then v1.2, e.g. Dr. Who."],
        );
        check_text("第一句。第二句！\n• 第三", &["第一句。", "第二句！", "第三"]);
        check_text("```\nunclosed", &["unclosed"]);
        check_text("\n\n---\n", &[]);
    }

    proptest! {
        #[test]
        fn sentences_are_slices_in_order(text in "([a-z.!? \\n#>*`1。！-]|```|e\\.g\\. ){0,80}") {
            let mut at = 0;
            for sentence in sentences(&text) {
                prop_assert!(!sentence.trim().is_empty());
                at += text[at..].find(sentence).ok_or_else(|| TestCaseError::fail("not in order"))?;
                at += sentence.len();
            }
        }
    }
}
