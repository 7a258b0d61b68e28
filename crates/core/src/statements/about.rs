//! What a statement is about, as thing, property and value: `I live in Lisbon` is my home, Lisbon.

use super::numbers;
use super::phrases::spelled_out;
use super::reading::{Reading, Word};
use crate::recall::analysis;

/// The property of a thing that a statement gives a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// What the person is called.
    Name,
    /// Where the person lives.
    Home,
    /// For whom the person works.
    Employer,
    /// The person's time zone.
    TimeZone,
    /// To whom the person reports.
    Manager,
    /// What the person works as.
    Role,
    /// Where the person was born.
    Birthplace,
    /// What any other thing is.
    Is,
}

impl Property {
    /// Words with which people say it, to look for what is known of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Name => "name called call heisse appelle llamo 叫 名字",
            Self::Home => "live living home moved based reside wohne lebe habite vivo 住在 家在 搬到",
            Self::Employer => "work employer employed joined company arbeite travaille trabajo 上班 公司",
            Self::TimeZone => "time zone timezone zeitzone fuseau zona horaria 时区",
            Self::Manager => "manager boss supervisor report chef jefe 经理 老板 领导 上司 汇报",
            Self::Role | Self::Birthplace | Self::Is => "",
        }
    }

    /// Whether a person can have one value of it only.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Name | Self::Home | Self::Employer | Self::TimeZone)
    }
}

/// Thing, property and value of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The property.
    pub property: Property,
    thing: Reading,
    value: Reading,
}

/// Sentences that give the person's own properties a value, `{}`. Lower case, without accents; apart by bars.
const FORMS: [(Property, &str); 7] = [
    (
        Property::Name,
        "my name is {}|call me {}|i am called {}|i go by {}|you can call me {}|people call me {}|{} is my name|\
        ich heisse {}|mein name ist {}|nenn mich {}|je m'appelle {}|mon nom est {}|mon prenom est {}|appelle moi {}|\
        me llamo {}|mi nombre es {}|llamame {}|我叫{}|我的名字是{}|我名叫{}|叫我{}|请叫我{}",
    ),
    (
        Property::Home,
        "i live in {}|i am living in {}|i am based in {}|i reside in {}|my home is in {}|my home is {}|home is {}|\
        {} is home for me|{} is my home|{} is where i live|i moved to {}|i have moved to {}|i relocated to {}|we live in {}|\
        we moved to {}|we have moved to {}|my home town is {}|i have been living in {}|ich wohne in {}|ich lebe in {}|ich bin nach {} gezogen|mein wohnort ist {}|\
        j'habite a {}|j'habite en {}|j'habite au {}|je vis a {}|je vis en {}|j'ai demenage a {}|vivo en {}|yo vivo en {}|resido en {}|\
        me mude a {}|me he mudado a {}|我住在{}|我住{}|我家在{}|我搬到了{}|我搬到{}|我搬去了{}|我现在住在{}|我现在住{}|我居住在{}",
    ),
    (
        Property::Employer,
        "i work for {}|i work at {}|i am employed at {}|i am employed by {}|my employer is {}|i joined {}|\
        i have joined {}|i started at {}|i have started at {}|ich arbeite bei {}|ich arbeite fur {}|mein arbeitgeber ist {}|je travaille chez {}|\
        je travaille pour {}|mon employeur est {}|trabajo para {}|mi empresa es {}|我在{}上班|我就职于{}|我供职于{}|我的公司是{}",
    ),
    (
        Property::TimeZone,
        "my time zone is {}|my timezone is {}|i am in the {} time zone|i am in the {} timezone|i am on {} time|\
        {} is my time zone|{} is my timezone|meine zeitzone ist {}|mon fuseau horaire est {}|mi zona horaria es {}|我的时区是{}|我在{}时区",
    ),
    (
        Property::Manager,
        "my manager is {}|my boss is {}|my supervisor is {}|i report to {}|{} is my manager|{} is my boss|\
        {} is my supervisor|{} manages me|my new manager is {}|my new boss is {}|mein chef ist {}|meine chefin ist {}|mon chef est {}|mon manager est {}|ma cheffe est {}|\
        mi jefe es {}|mi jefa es {}|我的经理是{}|我的老板是{}|我的上司是{}|我的领导是{}|我的直属领导是{}|我的主管是{}|{}是我的经理|{}是我的老板|\
        {}是我的上司|{}是我的领导|{}是我的直属领导|{}是我的主管|我向{}汇报|我的工作直接向{}汇报|我直接向{}汇报|我的工作向{}汇报",
    ),
    (
        Property::Role,
        "i am a {}|i am an {}|i work as a {}|i work as an {}|i work as {}|my job is {}|ich arbeite als {}|ich bin {} von beruf|\
        je travaille comme {}|trabajo como {}|trabajo de {}|我的职业是{}|我是一名{}|我是一个{}|我是一位{}",
    ),
    (
        Property::Birthplace,
        "i was born in {}|{} is where i was born|ich bin in {} geboren|je suis ne a {}|je suis nee a {}|\
        naci en {}|我出生在{}|我出生于{}|我在{}出生",
    ),
];

/// What stands before a statement and is no part of it.
const OPENINGS: &str = "no|nope|sorry|actually|oh|wait|well|ok|okay|yes|so|and|but|btw|by the way|as i said|like i said|correction|i mean|i meant|\
    in fact|to be clear|remember that|please remember that|note that|remember|fyi|hi|hello|also|nein|eigentlich|ubrigens|non|en fait|au fait|en realidad|por cierto|\
    from now on|as of|these days|at the moment|不对|不是|其实|对了|顺便说一下|更正|请记住|记住|不|哦|现在|目前|抱歉|说错了|我说错了|我的意思是";

/// What stands after a value and is no part of it.
const CLOSINGS: [&str; 9] =
    [" at the moment", " these days", " any more", " anymore", " instead", " again", " already", " please", "了"];

/// Words that end a value: what follows says why, or more.
const ENDS: [&str; 14] = [
    " because ",
    " since ",
    " and ",
    " but ",
    " not ",
    " with ",
    " so ",
    " instead of ",
    " rather than ",
    " weil ",
    " und ",
    " car ",
    " porque ",
    " y ",
];

/// Thing, property and value of a statement; none if it has another form.
pub fn about(text: &str) -> Option<About> {
    let (plain, written) = clause(text)?;
    let own = FORMS.iter().find_map(|(property, forms)| {
        let value = forms.split('|').find_map(|form| value_in(&plain, form))?;
        Some((*property, value))
    });
    match own {
        Some((property, value)) => own_about(property, value, &written),
        None => is_form(&plain),
    }
}

fn own_about(property: Property, value: &str, written: &str) -> Option<About> {
    // `I work at night` names no employer: a single value is a name.
    let is_named = !value.is_ascii() || names(written, value);
    let is_place_of_work = property.is_single() && !is_named;
    let about = About { property, thing: Reading::default(), value: Reading::of(value) };
    (!is_place_of_work && !about.value.is_empty()).then_some(about)
}

/// Whether a value is written with a capital letter or a digit.
fn names(written: &str, value: &str) -> bool {
    let first = value.split(' ').find(|word| !matches!(*word, "a" | "an" | "the" | "la" | "le")).unwrap_or(value);
    written.split_whitespace().any(|word| {
        let is_it = analysis::fold(&word.to_lowercase()).trim_matches(|c: char| !c.is_alphanumeric()) == first;
        is_it
            && word
                .trim_start_matches(|c: char| !c.is_alphanumeric())
                .starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    })
}

/// The first clause that says something, without what stands before it: folded, and as it is written.
pub(super) fn clause(text: &str) -> Option<(String, String)> {
    let written = spelled_plainly(text);
    let mut best = None;
    for clause in written.split([',', ';', '!', '?', '，', '。', '；', '！', '？', '\n', '—']) {
        let clause = clause.trim().trim_end_matches('.');
        let plain = analysis::fold(&clause.to_lowercase()).replace("我现在", "我").replace("我目前", "我");
        let plain = without_openings(&without_now(&plain));
        if !plain.is_empty() {
            best = Some((without_closings(plain), clause.to_owned()));
            break;
        }
    }
    best
}

/// Contractions written out, and one kind of blank.
fn spelled_plainly(text: &str) -> String {
    let text = if text.is_ascii() || !text.chars().any(crate::text::sentences::is_cjk) {
        spelled_out(text)
    } else {
        text.to_owned()
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// That it is so now is said by every statement.
fn without_now(clause: &str) -> String {
    const NOW: &str = " now currently jetzt inzwischen maintenant desormais actuellement ahora actualmente ";
    clause.split(' ').filter(|word| !NOW.contains(&format!(" {word} "))).collect::<Vec<_>>().join(" ")
}

fn without_openings(clause: &str) -> String {
    let mut rest = clause.trim();
    while let Some(shorter) = OPENINGS.split('|').map(str::trim).find_map(|opening| {
        let after = rest.strip_prefix(opening)?;
        let is_word_end = !opening.is_ascii() || after.is_empty() || after.starts_with([' ', ':']);
        is_word_end.then(|| after.trim_start_matches([' ', ':', '：']))
    }) {
        rest = shorter;
    }
    rest.to_owned()
}

fn without_closings(mut clause: String) -> String {
    while let Some(shorter) = CLOSINGS.iter().find_map(|closing| clause.strip_suffix(closing)) {
        clause.truncate(shorter.len());
    }
    clause
}

/// What stands in the place of `{}` where the clause has this form.
fn value_in<'a>(clause: &'a str, form: &str) -> Option<&'a str> {
    let (before, after) = form.trim().split_once("{}")?;
    let rest = clause.strip_prefix(before)?;
    let value = if after.is_empty() { ended(rest) } else { rest.strip_suffix(after)? };
    let value = value.trim();
    let is_short = value.split(' ').count() <= 6 && value.chars().count() <= 60;
    (!value.is_empty()
        && is_short
        && (before.is_empty() || !before.ends_with(char::is_alphanumeric) || !before.is_ascii()))
    .then_some(value)
}

fn ended(value: &str) -> &str {
    let padded = ENDS.iter().filter_map(|end| value.find(end)).min();
    padded.map_or(value, |at| &value[..at])
}

/// `the staging port is 5433`: what any thing is.
fn is_form(clause: &str) -> Option<About> {
    const COPULAS: [&str; 10] = [" is ", " are ", " was ", " ist ", " sind ", " est ", " sont ", " es ", " son ", "是"];
    let (at, copula) = COPULAS
        .iter()
        .filter_map(|copula| clause.find(copula).map(|at| (at, *copula)))
        .min_by_key(|(at, copula)| (*at, usize::MAX - copula.len()))?;
    let (thing, value) = (&clause[..at], ended(&clause[at + copula.len()..]));
    let about = About { property: Property::Is, thing: Reading::of(thing), value: Reading::of(value) };
    let is_short = about.thing.words.len() <= 5 && about.value.words.len() <= 6;
    let is_denied = about.value.words.iter().any(|word| word.is_denied);
    (is_short && !is_denied && !about.thing.is_empty() && !about.value.is_empty()).then_some(about)
}

impl About {
    /// Whether two statements give the same property of the same thing a value.
    pub fn is_of_same_property(&self, other: &Self) -> bool {
        self.property == other.property && is_equal(&self.thing, &other.thing)
    }

    /// How many words thing and value have.
    pub(super) fn len(&self) -> usize {
        self.thing.words.len() + self.value.words.len()
    }

    /// Property and value, its words in the order of the alphabet.
    pub(super) fn canonical(&self) -> String {
        format!("{:?}: {}", self.property, sorted(&self.value).join(" "))
    }

    /// The words of thing and value.
    pub(super) fn into_words(self) -> Vec<Word> {
        self.thing.words.into_iter().chain(self.value.words).collect()
    }

    /// Whether they give it the same value.
    pub fn has_same_value(&self, other: &Self) -> bool {
        is_equal(&self.value, &other.value)
    }

    /// Whether the two values are of one sort, so that one can take the place of the other: a place takes none of a time.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.property != Property::Is
            || self.sorts().into_iter().zip(other.sorts()).any(|(one, another)| one && another)
    }

    /// Whether the value has a number, a day or month, a name.
    fn sorts(&self) -> [bool; 3] {
        let has = |is: &dyn Fn(&Word) -> bool| self.value.words.iter().any(is);
        let is_calendar = |word: &Word| numbers::is_calendar(&word.text) || numbers::is_period(&word.text);
        [
            has(&|word| word.is_number() && !is_calendar(word)),
            has(&is_calendar),
            has(&|word| word.is_name && !word.is_number()),
        ]
    }
}

fn is_equal(a: &Reading, b: &Reading) -> bool {
    sorted(a) == sorted(b)
}

fn sorted(reading: &Reading) -> Vec<String> {
    let mut words: Vec<String> = reading.words.iter().map(|word| word.text.clone()).collect();
    words.sort_unstable();
    words.dedup();
    words
}
