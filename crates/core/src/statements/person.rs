//! Whom a statement concerns: the person, or what they work on; whether it is a rule, or true of one day only.

use super::lasting::is_lasting;
use crate::recall::analysis;

/// Beginnings of statements about the person, and of what they ask of whoever answers them. Apart by bars.
const PERSONAL: &str = "i|i'm|i've|i'd|i'll|my|me|call me|answer|answers|reply|replies|respond|keep your|write to me|talk to me|\
    explain|address me|don't call me|never call me|your|you|tell me|ask me|give me|send me|be brief|be concise|be direct|be blunt|\
    don't use emojis|no emojis|use metric|use celsius|the person|the user|the person's|the user's|\
    ich|mein|meine|nenn|duze|antworte|erklare|je|j'ai|j'habite|j'aime|mon|ma|mes|tutoie|reponds|appelle|yo|mi|mis|soy|tengo|vivo|\
    trabajo|prefiero|llamame|responde|tuteame";

/// How an assistant's note on the person begins, whom it does not name: `User prefers tabs`, `Has a dog`. Apart by bars.
const NOTED: &str = "user|user's|users|is|has|likes|dislikes|loves|hates|enjoys|lives|works|speaks|prefers|wants|wishes|avoids|\
    needs|owns|plays|studies|studied|drives|eats|drinks|follows|grew up|was born|goes by|allergic|vegetarian|vegan";

/// What is under way makes a note one of the moment, not one of who the person is. Apart by bars.
const UNDER_WAY: &str = "working on|is building|is planning|is considering|is developing|is preparing|is writing|is trying|\
    is looking|is learning|is exploring|is using|wants to build|wants to create|wants to write|plans to|asked|is reading";

/// The same in Chinese.
const PERSONAL_HAN: [&str; 11] =
    ["我", "请叫我", "叫我", "回答", "回复", "请用", "对我", "跟我", "称呼我", "别叫我", "答案"];

/// Who speaks for several speaks of what they do together.
const TOGETHER_HAN: [&str; 2] = ["我们", "咱们"];

/// Words by which a statement is about answers, wherever they stand. Apart by bars.
const OF_ANSWERS: &str = "your answers|your replies|your responses|your answer|your reply|when you reply|when you answer|\
    when answering|call me|deinen antworten|tes reponses|tus respuestas";

/// Words of rules, wherever they stand. Apart by bars.
const RULES: &str = "always|never|must|must not|don't|do not|we use|we don't use|instead of|rather than|forbidden|required|\
    mandatory|not allowed|immer|nie|niemals|muss|darf nicht|toujours|jamais|doit|siempre|nunca|debe|prohibido";
const RULES_HAN: [&str; 12] =
    ["必须", "不要", "禁止", "不能", "只能", "总是", "永远", "一律", "务必", "不准", "统一用", "不得"];

/// Words that name a day by its distance from today. Apart by bars.
const RELATIVE: &str = "today|tomorrow|yesterday|tonight|this week|next week|last week|this month|next month|last month|this year|\
    next year|last year|this morning|this afternoon|this evening|this weekend|next weekend|ago|next monday|next tuesday|\
    next wednesday|next thursday|next friday|next saturday|next sunday|heute|morgen|gestern|nachste woche|diese woche|\
    letzte woche|demain|hier|aujourd'hui|la semaine prochaine|cette semaine|hoy|manana|ayer|la semana que viene|esta semana";
const RELATIVE_HAN: [&str; 18] = [
    "今天",
    "明天",
    "昨天",
    "后天",
    "前天",
    "今晚",
    "明晚",
    "这周",
    "下周",
    "上周",
    "本周",
    "这个月",
    "下个月",
    "上个月",
    "今年",
    "明年",
    "去年",
    "刚才",
];

/// Words in front of a statement that are no part of it.
const OPENINGS: [&str; 13] = [
    "no ",
    "please ",
    "actually ",
    "and ",
    "also ",
    "but ",
    "so ",
    "remember that ",
    "bitte ",
    "oh ",
    "yes ",
    "by the way ",
    "from now on ",
];

/// Whether a statement is about the person, or about how to answer and treat them.
pub fn is_about_person(text: &str) -> bool {
    let plain = plain(text);
    let begins = |word: &str| plain.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let written = text.trim_start();
    let begins_han = PERSONAL_HAN.iter().any(|word| written.starts_with(word));
    let is_together = TOGETHER_HAN.iter().any(|word| written.starts_with(word));
    PERSONAL.split('|').any(begins) || begins_han && !is_together || has_one(&plain, OF_ANSWERS)
}

/// Whether a note that an assistant keeps is about who the person is, or how to answer them: not what they are at.
pub fn is_note_on_person(text: &str) -> bool {
    let plain = plain(text);
    let begins = |word: &str| plain.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let is_noted = NOTED.split('|').any(begins) || text.trim_start().starts_with("用户");
    (is_noted || is_about_person(text)) && !has_one(&plain, UNDER_WAY) && is_lasting(text)
}

/// Whether a statement is a rule: what is always, never or only done.
pub fn is_rule(text: &str) -> bool {
    has_one(&plain(text), RULES) || RULES_HAN.iter().any(|word| text.contains(word))
}

/// Whether a statement names a day by its distance: said again on another day, it says something else.
pub fn has_relative_date(text: &str) -> bool {
    has_one(&plain(text), RELATIVE) || RELATIVE_HAN.iter().any(|word| text.contains(word))
}

/// Whether one of the phrases stands in the text, as whole words.
pub(super) fn has_one(plain: &str, phrases: &str) -> bool {
    let padded = format!(" {plain} ");
    phrases.split('|').any(|phrase| padded.contains(&format!(" {phrase} ")))
}

/// Lower case, without accents and openings, its words apart by one blank.
pub(super) fn plain(text: &str) -> String {
    let lower = analysis::fold(&text.replace('’', "'").to_lowercase());
    let words = lower.replace(|c: char| !c.is_alphanumeric() && c != '\'', " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = words.as_str();
    while let Some(shorter) = OPENINGS.iter().find_map(|opening| rest.strip_prefix(opening)) {
        rest = shorter;
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_the_person_is_told_from_what_they_work_on() {
        for text in [
            "I prefer tabs over spaces",
            "Please keep your answers brief",
            "Call me Sam",
            "我对花生过敏",
            "Ich bin Vegetarierin",
            "The person is allergic to peanuts",
        ] {
            assert!(is_about_person(text), "{text}");
        }
        for text in
            ["We use pnpm, not npm", "Never run migrations on production", "我们用飞书沟通", "The API is stable"]
        {
            assert!(!is_about_person(text), "{text}");
        }
    }

    #[test]
    fn an_assistants_note_on_the_person_is_told_from_what_they_are_at() {
        for text in [
            "Has a dog called Otto",
            "User prefers answers in British English",
            "The user's name is Ada",
            "Is a luthier in Porto.",
            "Wants answers without emojis",
            "Call me Sam",
        ] {
            assert!(is_note_on_person(text), "{text}");
        }
        for text in [
            "User is working on a parser in Rust",
            "Is planning a trip to Porto",
            "User asked about lute strings yesterday",
            "The Porto guide is written in British English.",
            "Otto eats at seven",
        ] {
            assert!(!is_note_on_person(text), "{text}");
        }
    }

    #[test]
    fn rules_and_relative_dates_are_recognised() {
        assert!(
            is_rule("Never run migrations on production") && is_rule("We use pnpm, not npm") && is_rule("必须用 pnpm")
        );
        assert!(!is_rule("The parser is written in Rust"));
        assert!(has_relative_date("The dentist is tomorrow") && has_relative_date("明天开会"));
        assert!(!has_relative_date("The dentist is on 5 May"));
    }
}
