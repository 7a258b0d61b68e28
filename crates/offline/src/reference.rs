//! What "it", "he" or 他 stands for: the nearest name or thing that was spoken of. A statement whose pronoun has none is dropped.

use std::sync::LazyLock;

use throughline_core::text::sentences::is_cjk;

use super::phrases::Phrases;

/// So many sentences back something is looked for.
const NEAR: usize = 6;

static PERSONS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::new("he|she|he's|she's|his|her|er|ihr|il|elle|él|ella|他|她"));
static THINGS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "it|it's|its|that|that's|this|they|they're|their|these|those|es|das|dies|ça|c'est|cela|ceci|eso|esto|它|它们|这个|那个|这|那|他们|她们",
    )
});

/// Relations that stand for a person.
const RELATIONS: &str = " wife husband partner son daughter mother father mom mum dad sister brother manager boss colleague teammate lead \
    doctor dentist landlord friend girlfriend boyfriend roommate neighbor neighbour coach professor teacher therapist dog cat niece \
    nephew cousin aunt uncle grandma grandpa frau mann sohn tochter mutter vater schwester bruder chef chefin kollege kollegin freundin \
    freund hund katze femme mari fils fille mère père sœur frère chef collègue copine copain chien chat mujer esposa marido hijo hija \
    madre padre hermana hermano jefe jefa compañero compañera novia novio perro gato ";

const VERBS: &str = " is are was were runs run uses use lives live listens has have had starts ends opens closes happens goes needs \
    must should fails keeps returns expires works deploys points ist sind war läuft nutzt liegt heißt hat braucht geht est sont était \
    tourne utilise a doit va es son era está corre usa tiene debe va ";

/// A pronoun at the beginning of a part: its length, and whether it is a person's.
fn pronoun(part: &str) -> Option<(usize, bool)> {
    let person = PERSONS.ends(part).max();
    // 那就 and 这样 point at nothing.
    let is_joining = |end: &usize| {
        part[*end..].starts_with(['就', '我', '么', '样', '边', '里', '时', '天', '年', '次', '周', '咱', '还', '先'])
    };
    let thing = THINGS.ends(part).max().filter(|end| !(part.starts_with(['这', '那']) && is_joining(end)));
    match (person, thing) {
        (Some(person), thing) if thing.is_none_or(|thing| person >= thing) => Some((person, true)),
        (_, Some(thing)) => Some((thing, false)),
        _ => None,
    }
}

/// Whether a part begins with `that`, `this` and the like.
pub(super) fn is_demonstrative(part: &str) -> bool {
    static DEMONSTRATIVES: LazyLock<Phrases> =
        LazyLock::new(|| Phrases::new("that|that's|this|these|those|das|dies|ça|c'est|cela|ceci|eso|esto"));
    DEMONSTRATIVES.begin(part)
}

/// Whether a part points at something that it does not name.
pub(super) fn points(part: &str) -> bool {
    pronoun(part).is_some() || has_bare_object(part)
}

/// `I like it`, `we use that for logs`.
fn has_bare_object(part: &str) -> bool {
    let words: Vec<String> = part
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_pointer = |word: &str| matches!(word, "it" | "this" | "that" | "these" | "those" | "them" | "him" | "her");
    let is_subject =
        |word: &str| matches!(word, "i" | "we" | "i'd" | "i've" | "we've" | "never" | "always" | "don't" | "please");
    let at = words.iter().position(|word| is_pointer(word));
    at.is_some_and(|at| {
        let next = words.get(at + 1).map(String::as_str);
        let is_determiner = matches!(words[at].as_str(), "this" | "that" | "these" | "those" | "her")
            && next.is_some_and(|next| {
                !matches!(next, "for" | "to" | "in" | "on" | "with" | "and" | "way" | "one" | "when" | "is")
            });
        let joins = words[at] == "that" && next.is_some();
        at <= 3 && words.first().is_some_and(|first| is_subject(first)) && !is_determiner && !joins
    })
}

/// A part with a name in the place of its pronoun; none where nothing fits. `before` has the sentences before it, the nearest
/// last.
pub(super) fn resolved(part: &str, before: &[String]) -> Option<String> {
    let (end, is_person) = pronoun(part)?;
    let near = || before.iter().rev().take(NEAR);
    let meant =
        if is_person { near().find_map(|text| person_in(text)) } else { near().find_map(|text| thing_in(text)) }?;
    let (pronoun, rest) = part.split_at(end);
    let lower = pronoun.to_lowercase().replace('’', "'");
    let text = match lower.as_str() {
        "his" | "her" | "its" | "their" => format!("{meant}'s{rest}"),
        "c'est" => format!("{meant} est{rest}"),
        // `It's been`: has.
        lower if lower.ends_with("'s") && [" been", " got"].iter().any(|word| rest.starts_with(word)) => {
            format!("{meant} has{rest}")
        }
        lower if lower.ends_with("'s") => format!("{meant} is{rest}"),
        lower if lower.ends_with("'re") => format!("{meant} are{rest}"),
        _ => format!("{meant}{rest}"),
    };
    Some(text)
}

/// The person that a sentence speaks of: a name beside a relation, a relation, or a name that does something.
fn person_in(text: &str) -> Option<String> {
    if text.contains(is_cjk) {
        return han_person(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let is_name =
        |word: &str| word.starts_with(char::is_uppercase) && bare(word).chars().count() > 1 && !is_common(&bare(word));
    for (at, word) in words.iter().enumerate() {
        let is_relation = RELATIONS.contains(&format!(" {} ", bare(word).to_lowercase()));
        let is_owned = at > 0 && is_possessive(words[at - 1]);
        if is_relation && is_owned {
            let named = words.get(at + 1).filter(|next| is_name(next)).map(|next| bare(next));
            // `Tom is my manager`, `my manager is Tom`.
            let before = words[..at].iter().rev().skip(1).take(3).find(|word| is_name(word)).map(|word| bare(word));
            let after = words[at + 1..].iter().take(3).find(|word| is_name(word)).map(|word| bare(word));
            return named
                .or(before)
                .or(after)
                .or_else(|| Some(format!("{} {}", words[at - 1].to_lowercase(), bare(word))));
        }
    }
    let acts =
        |at: usize| words.get(at + 1).is_some_and(|next| VERBS.contains(&format!(" {} ", bare(next).to_lowercase())));
    (0..words.len()).find(|at| is_name(words[*at]) && acts(*at)).map(|at| bare(words[at]))
}

fn is_possessive(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "my" | "our" | "mein" | "meine" | "unser" | "unsere" | "mon" | "ma" | "notre" | "mi" | "nuestro" | "nuestra"
    )
}

fn is_common(word: &str) -> bool {
    const COMMON: &str = " these those never always please use keep do did does not only there here today would should let all some i the my we our it this that he she they you yes no ok so and but please can could what how why when is are do \
        thanks hi hello der die das ich wir mein le la les je nous mon el los yo mi ";
    // `Don't run it`: an order names nobody.
    word.contains(['\'', '’']) || COMMON.contains(&format!(" {} ", word.to_lowercase()))
}

/// The subject of a sentence: `the staging box`, `our CI`, `Postgres`.
fn thing_in(text: &str) -> Option<String> {
    if text.contains(is_cjk) {
        return han_subject(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let verb = (1..words.len().min(7)).find(|at| VERBS.contains(&format!(" {} ", bare(words[*at]))))?;
    let subject = &words[..verb];
    let first = bare(subject[0]);
    const DETERMINERS: &str =
        " the our my der die das unser unsere mein meine le la les notre nos mon ma el los las nuestro nuestra mi ";
    let is_named = subject[0].starts_with(char::is_uppercase) && !is_common(&first) && subject.len() <= 2;
    let is_thing = DETERMINERS.contains(&format!(" {first} ")) && (2..=5).contains(&subject.len());
    let has_end = subject.iter().any(|word| word.ends_with([',', '.', ':', ';', '?', '!']));
    if (!is_named && !is_thing) || has_end {
        return None;
    }
    let text = subject.join(" ");
    let mut chars = text.chars();
    let lower_first = |first: char| if is_thing { first.to_lowercase().collect::<String>() } else { first.to_string() };
    chars.next().map(|first| lower_first(first) + chars.as_str())
}

fn han_person(text: &str) -> Option<String> {
    const RELATIONS: [&str; 26] = [
        "老婆",
        "老公",
        "妻子",
        "丈夫",
        "爱人",
        "儿子",
        "女儿",
        "妈妈",
        "爸爸",
        "妈",
        "爸",
        "姐姐",
        "妹妹",
        "哥哥",
        "弟弟",
        "经理",
        "老板",
        "领导",
        "同事",
        "导师",
        "医生",
        "房东",
        "室友",
        "男朋友",
        "女朋友",
        "朋友",
    ];
    let text = text.trim();
    for relation in RELATIONS {
        let Some(at) = text.find(relation) else { continue };
        let rest = &text[at + relation.len()..];
        if let Some(name) = ["叫", "是"]
            .into_iter()
            .find_map(|verb| rest.strip_prefix(verb))
            .map(han_word)
            .filter(|name| is_han_name(name))
        {
            return Some(name.to_owned());
        }
        let before = text[..at].trim_end_matches(['我', '们', '的', '是']);
        if is_han_name(before) {
            return Some(before.to_owned());
        }
        let named = han_word(rest);
        if is_han_name(named) && rest[named.len()..].starts_with(['，', ',', '。', '在', '是', '对', '的']) {
            return Some(named.to_owned());
        }
        return Some(format!("我{relation}"));
    }
    han_subject(text).filter(|name| is_han_name(name))
}

fn han_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() || "在是的对有叫，。".contains(c)).unwrap_or(text.len());
    &text[..end]
}

fn is_han_name(text: &str) -> bool {
    let letters = text.chars().count();
    (2..=4).contains(&letters)
        && text.chars().all(|c| is_cjk(c) && c.is_alphanumeric())
        && !text.starts_with(['我', '你', '他', '她', '这', '那', '不', '因'])
}

/// What stands before the verb of a Chinese sentence.
fn han_subject(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['，', ' ']);
    let verb = ["是", "在", "用", "叫", "跑", "有", "要", "会", "负责", "监听", "部署"]
        .into_iter()
        .filter_map(|verb| text.find(verb))
        .min()?;
    let subject = text[..verb].trim();
    let letters = subject.chars().count();
    let is_plain = !subject.contains(['，', ',', '。', '？', '！'])
        && !subject.starts_with(['我', '你', '他', '她', '它', '这', '那']);
    let is_ours = subject.starts_with("我们的") || subject.starts_with("我的");
    ((2..=10).contains(&letters) && (is_plain || is_ours)).then(|| subject.to_owned())
}

/// `Actually, …`, `不对，…`: the words of a correction and what follows them.
pub(super) fn correction(part: &str) -> Option<&str> {
    static OPENERS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "no|nope|actually|sorry|correction|wait|oops|my bad|scratch that|oh wait|no wait|no sorry|no, actually|no, sorry|well actually|\
            that's wrong|that's not right|wrong|not quite|update|i was wrong|i misspoke|small correction|quick correction|my mistake|\
            不对|不是|其实|更正|更正一下|纠正一下|说错了|我说错了|搞错了|我搞错了|我记错了|记错了|写错了|弄错了|不不|错了|哦不|等等|更新一下|不好意思|抱歉|\
            nein|nee|eigentlich|korrektur|sorry|stimmt nicht|falsch|ach nein|moment|doch|halt|\
            non|en fait|correction|pardon|désolé|désolée|faux|erreur|attends|ah non|non pardon|\
            en realidad|corrección|perdón|perdona|espera|me equivoqué|ah no|no perdón|no, perdón",
        )
    });
    let mut rest = part.trim_start();
    let mut is_found = false;
    for _ in 0..3 {
        let ends: Vec<usize> = OPENERS.ends(rest).collect();
        let Some(end) = ends.into_iter().max() else { break };
        let opener = rest[..end].to_lowercase();
        let after = &rest[end..];
        let needs_mark = matches!(
            opener.as_str(),
            "no" | "wait"
                | "update"
                | "halt"
                | "doch"
                | "非"
                | "不是"
                | "wrong"
                | "sorry"
                | "non"
                | "espera"
                | "moment"
        );
        let is_apart = after.starts_with([',', '，', '.', '。', '!', '！', ':', '：', ';', '—', '–', '-', '…'])
            || after.starts_with(" -");
        let is_joined = !needs_mark && (after.starts_with(' ') || opener.contains(is_cjk));
        if !is_apart && !is_joined {
            break;
        }
        let next = after.trim_start_matches([',', '，', '.', '。', '!', '！', ':', '：', ';', '—', '–', '-', ' ', '…']);
        if next.is_empty() {
            break;
        }
        is_found = true;
        rest = next;
    }
    is_found.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(part: &str, before: &[&str], expected: Option<&str>) {
        let before: Vec<String> = before.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(resolved(part, &before).as_deref(), expected, "of {part:?}");
    }

    #[test]
    fn pronouns_are_resolved_to_the_nearest_name() {
        check("He's in Berlin", &["Tom is my manager."], Some("Tom is in Berlin"));
        check("her birthday is in May", &["I have to call my sister Ana."], Some("Ana's birthday is in May"));
        check("She is allergic to nuts", &["My daughter starts school soon."], Some("my daughter is allergic to nuts"));
        check("It listens on 8443", &["The staging box is new."], Some("the staging box listens on 8443"));
        check("他对海鲜过敏", &["我老公叫李伟。"], Some("李伟对海鲜过敏"));
        check("It's been slow", &["The build is new."], Some("the build has been slow"));
        check("It is red", &["thanks!"], None);
        check("it's on port 8081", &["Don't run migrations on production yourself."], None);
        check("It is on port 8081", &["Never run it twice."], None);
        check("We use tabs", &["The repo is new"], None);
    }

    #[test]
    fn corrections_lose_their_openers() {
        for (part, expected) in [
            ("Actually, I live in Porto now", Some("I live in Porto now")),
            ("no, sorry, it's 5433", Some("it's 5433")),
            ("no tabs please", None),
            ("不对，是13万", Some("是13万")),
            ("non, c'est jeudi", Some("c'est jeudi")),
        ] {
            assert_eq!(correction(part), expected, "of {part:?}");
        }
    }
}
