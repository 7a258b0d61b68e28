//! Which of the known languages a text is in, by its script and its most common words.

use throughline_core::text::sentences::{is_cjk, is_word_char};

use super::lexicon::fold;

/// A language that statements are recognised in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// English; also a text too short to tell.
    English,
    /// Chinese.
    Chinese,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::English, Self::Chinese, Self::German, Self::French, Self::Spanish];

    /// Its ISO 639-1 code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
        }
    }
}

/// Words that are common in one of the languages and rare in the others.
const COMMON: [(Language, &str); 4] = [
    (
        Language::English,
        " the and of to is it i my you that we our for on with be are was this have not at in a an please don't i'm it's never \
        always from when which by but so can what how they he she just no as use your if i've do me ",
    ),
    (
        Language::German,
        " der die das und ist ich nicht ein eine einen wir mein meine meinen unser unsere mit auf für fuer von zu im den dem des bei \
        bin sind hat habe haben wird werden auch aber nur noch bitte immer nie kein keine wenn oder wie was es sie er du dir mir \
        mich uns über ueber nach seit als am beim zum zur doch schon heißt heisst ",
    ),
    (
        Language::French,
        " le la les et est je ne pas un une des du nous mon ma mes notre nos avec sur pour dans que qui c'est j'ai il elle on au aux \
        ce cette ces sont suis toujours jamais plus mais ou où par en vous tu moi être était fait très s'il d'un d'une qu'il \
        n'est n'ai j'habite j'utilise j'aime l'équipe ça chez ",
    ),
    (
        Language::Spanish,
        " el la los las y es no un una de del que en mi mis nuestro nuestra con por para se lo al me yo somos estoy está esta este \
        son soy tengo siempre nunca pero como más mas ya hay muy le les nos su sus tu te o si porque cuando donde usamos uso \
        también tambien fue era vivo ",
    ),
];

/// The language of a text; none where it is in a script of another one.
pub(crate) fn language(text: &str) -> Option<Language> {
    let (mut han, mut letters, mut other) = (0, 0, 0);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7ff}' => other += 2,
            c if is_cjk(c) => han += 2,
            c if c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c) => letters += 1,
            _ => other += 1,
        }
    }
    if other > han + letters || (han > 0 && other * 4 > han) {
        return None;
    }
    // Names and terms in Latin letters are common in Chinese.
    if han * 4 > letters {
        return Some(Language::Chinese);
    }
    let folded: String = text.chars().map(fold).collect();
    let words = || folded.split(|c: char| !is_word_char(c) && c != '\'').filter(|word| !word.is_empty());
    let count = |common: &str| words().filter(|word| common.contains(&format!(" {word} "))).count();
    let best = COMMON.iter().map(|(language, common)| (*language, count(common)));
    let (mut language, mut most) = (Language::English, 0);
    for (candidate, found) in best {
        if found > most {
            (language, most) = (candidate, found);
        }
    }
    let marks = |marks: &str| folded.contains(|c| marks.contains(c));
    if most == 0 && marks("äöüß") {
        language = Language::German;
    } else if most == 0 && marks("ñ¿¡") {
        language = Language::Spanish;
    }
    Some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (text, expected) in [
            ("I live in Porto now", Some(Language::English)),
            ("postgres 16 on prod, 15 on staging", Some(Language::English)),
            ("我们用 Postgres 16 和 Kubernetes", Some(Language::Chinese)),
            ("wir deployen immer freitags mittags", Some(Language::German)),
            ("Je préfère les réponses courtes", Some(Language::French)),
            ("Prefiero las respuestas cortas", Some(Language::Spanish)),
            ("私は東京に住んでいます", None),
            ("Я живу в Москве", None),
            ("", Some(Language::English)),
        ] {
            assert_eq!(language(text), expected, "of {text:?}");
        }
    }
}
