//! Whether a message asks not to be remembered: "don't remember this", "off the record".
//!
//! In: the words of a message. Out: yes or no. Only a request counts: "I don't remember this", "why don't you remember
//! that?" and quoted text are none. Phrases that mean something else to a programmer ("don't store this in memory",
//! "不要记录日志") are left out: a message that is silently not kept is worse than one that has to be forgotten later.

/// Words that may stand in front of a request without changing it.
const LEADING: [&str; 31] = [
    "please",
    "pls",
    "plz",
    "kindly",
    "just",
    "also",
    "ok",
    "okay",
    "hey",
    "btw",
    "actually",
    "bitte",
    "und",
    "aber",
    "nur",
    "stp",
    "svp",
    "s'il",
    "te",
    "vous",
    "plaît",
    "plait",
    "et",
    "mais",
    "por",
    "favor",
    "y",
    "pero",
    "claude",
    "chatgpt",
    "assistant",
];

/// Words that may also join a request to what the person says of themselves: "I read it, but don't remember it".
const JOINING: [&str; 4] = ["and", "but", "so", "then"];

/// What such a clause is more often: no request.
const OF_ONESELF: [&str; 4] =
    ["don't remember it", "don't remember that", "do not remember it", "do not remember that"];

/// Requests in languages with spaces: the beginning of a clause, after [`LEADING`] words.
const REQUESTS: [&str; 52] = [
    "don't remember this",
    "don't remember that",
    "don't remember it",
    "don't remember any of this",
    "don't remember what i",
    "do not remember this",
    "do not remember that",
    "do not remember it",
    "do not remember any of this",
    "do not remember what i",
    "don't memorize this",
    "don't memorise this",
    "do not memorize this",
    "do not memorise this",
    "don't add this to your memory",
    "do not add this to your memory",
    "don't save this to your memory",
    "do not save this to your memory",
    "don't save this in your memory",
    "do not save this in your memory",
    "don't store this in your memory",
    "do not store this in your memory",
    "don't keep this in your memory",
    "do not keep this in your memory",
    "off the record",
    "this is off the record",
    "that's off the record",
    "this stays off the record",
    "keep this off the record",
    "keep it off the record",
    "keep that off the record",
    "strictly off the record",
    "totally off the record",
    "completely off the record",
    // German
    "behalte das für dich",
    "behalt das für dich",
    "behalte es für dich",
    "behalte dies für dich",
    "merk dir das nicht",
    "merke dir das nicht",
    "nicht merken",
    "das nicht merken",
    // French
    "ne retiens pas",
    "ne le retiens pas",
    "ne retenez pas",
    "ne le retenez pas",
    "ne mémorise pas",
    "ne mémorisez pas",
    // Spanish
    "no lo recuerdes",
    "no recuerdes esto",
    "no recuerdes eso",
    "no lo memorices",
];

/// Requests in languages without spaces, wherever they stand.
const UNSPACED: [&str; 16] = [
    "别记住",
    "不要记住",
    "不用记住",
    "请勿记住",
    "别记下",
    "不要记下",
    "别记录",
    "不要记录",
    "请勿记录",
    "不要記住",
    "別記住",
    "不要記錄",
    "覚えないで",
    "記憶しないで",
    "記録しないで",
    "기억하지 마",
];

/// Things that programs record: what follows makes it a remark about a program.
const RECORDED: [&str; 10] = ["日志", "日誌", "错误", "錯誤", "log", "异常", "数据", "数据库", "請求", "请求"];

/// Clauses end here. A comma, because a request is often put behind one.
const ENDS: [char; 20] =
    ['.', '!', '?', ';', ':', ',', '\n', '(', ')', '[', ']', '—', '–', '…', '。', '，', '！', '；', '：', '*'];

/// Whether a message asks not to be remembered.
pub fn asks_not_to_be_kept(message: &str) -> bool {
    let own =
        own_lines(message).to_lowercase().replace(['’', '‘', '`'], "'").replace(" - ", "\n").replace("dont ", "don't ");
    is_requested_unspaced(&own) || own.split_inclusive(ENDS).any(is_request)
}

/// The message without quoted lines and code.
fn own_lines(message: &str) -> String {
    let mut is_code = false;
    let mut own = String::new();
    for line in message.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.trim_start().starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// Whether a clause begins with a request, or ends with one that "please" introduces. A question asks something else.
fn is_request(clause: &str) -> bool {
    if clause.ends_with(['?', '？']) {
        return false;
    }
    let words: Vec<&str> = clause.trim_end_matches(ENDS).split_whitespace().collect();
    let is_leading = |word: &&&str| LEADING.contains(*word) || JOINING.contains(*word);
    let first = words.iter().take_while(is_leading).count();
    let rest = words[first..].join(" ");
    if words[..first].iter().all(|word| JOINING.contains(word)) && first > 0 {
        return begins_with_request(&rest) && !OF_ONESELF.iter().any(|remark| rest.starts_with(remark));
    }
    let polite = words.iter().rposition(|word| ["please", "pls", "bitte"].contains(word)).map(|at| at + 1);
    std::iter::once(first).chain(polite).any(|from| begins_with_request(&words[from..].join(" ")))
}

fn begins_with_request(text: &str) -> bool {
    REQUESTS.iter().any(|request| {
        text.strip_prefix(request).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') && !is_of_a_thing(rest))
    })
}

/// "Don't remember that function" speaks of a function; "don't remember that I was there" does not.
fn is_of_a_thing(rest: &str) -> bool {
    const GOES_ON: [&str; 24] = [
        "i",
        "i'm",
        "we",
        "my",
        "and",
        "but",
        "or",
        "in",
        "for",
        "to",
        "at",
        "please",
        "when",
        "because",
        "as",
        "either",
        "one",
        "conversation",
        "message",
        "chat",
        "und",
        "et",
        "y",
        "ça",
    ];
    const ALSO: [&str; 8] = ["cela", "ceci", "esto", "eso", "so", "bitte", "s'il", "by"];
    let next = rest.split_whitespace().next().unwrap_or_default();
    !GOES_ON.contains(&next) && !ALSO.contains(&next)
}

fn is_requested_unspaced(text: &str) -> bool {
    UNSPACED.iter().any(|request| {
        text.match_indices(request).any(|(at, _)| {
            let rest = &text[at + request.len()..];
            !RECORDED.iter().any(|thing| rest.trim_start().starts_with(thing))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_understood() {
        for message in [
            "Don't remember this: my sister is expecting.",
            "My salary is 95,000 - please don't remember this",
            "my salary is 95,000 please don’t remember that",
            "OK, do not remember any of this. I am looking for another job.",
            "Off the record, I think Bo is leaving.",
            "off the record: we may move to Oslo",
            "This is off the record.",
            "We may be bought by Acme (off the record)",
            "Please keep this off the record, it is about Ana",
            "dont remember this",
            "Don't remember that I was there",
            "Behalte das für dich: ich suche eine neue Stelle.",
            "Ich bin krank, bitte nicht merken.",
            "Merk dir das nicht, aber ich gehe bald",
            "Ne retiens pas ça, je vais démissionner",
            "Je change de poste. S'il te plaît ne retiens pas cela.",
            "No lo recuerdes: voy a renunciar",
            "别记住这个，我要换工作了",
            "我下个月离职，不要记录。",
            "このことは覚えないでください",
        ] {
            assert!(asks_not_to_be_kept(message), "{message}");
        }
    }

    #[test]
    fn remarks_are_no_requests() {
        for message in [
            "I don't remember this",
            "I read the paper but don't remember it",
            "I read the paper, but don't remember it.",
            "Why don't you remember that?",
            "You don't remember this, do you?",
            "Honestly I do not remember that function",
            "don't remember that function, use the other one",
            "don't store this in memory, write it to disk",
            "Don't save this file yet",
            "What does \"off the record\" mean?",
            "The minister spoke off the record to two papers",
            "take it off the record list",
            "> off the record: quoted\nWhat do you make of this mail?",
            "```\n# don't remember this\n```\nWhat does this comment mean?",
            "Ich kann mir das nicht merken",
            "Je ne retiens pas les noms",
            "不要记录日志到这个文件",
            "记住这个",
            "Remember this",
            "",
        ] {
            assert!(!asks_not_to_be_kept(message), "{message}");
        }
    }
}
