//! Whether a statement says plainly who the person is: what they are called, what they do for a living, where they live. One such
//! statement is enough for the profile, whatever kind a model gave it.

use super::about::clause;
use crate::recall::analysis;
use crate::text::sentences::is_cjk;

/// What stands in front of a name, in every case. Folded, contractions spelled out; apart by bars.
const NAMED: &str = "my name is |call me |you can call me |people call me |everyone calls me |i am called |i go by |ich heisse |mein name ist |\
    nenn mich |du kannst mich |je m'appelle |mon nom est |mon prenom est |appelle moi |appelle-moi |moi c'est |me llamo |mi nombre es |llamame |\
    yo me llamo ";

/// What stands in front of a name or of much else: what follows must be written as a name.
const PERHAPS_NAMED: &str = "i am |ich bin |je suis |soy |yo soy ";

/// What stands in front of a home.
const HOMES: &str = "i live in |i am based in |i reside in |my home is in |i am from |ich wohne in |ich lebe in |ich komme aus |j'habite |\
    je vis a |je vis en |je viens de |vivo en |yo vivo en |resido en ";

/// What stands in front of a profession.
const PROFESSIONS: &str = "i work as |i am self-employed|i teach |ich arbeite als |je travaille comme |je bosse comme |trabajo como |trabajo de |\
    me dedico a ";

/// What stands in front of an employer: a name, or a place with an article.
const EMPLOYERS: &str = "i work for |i work at |i am employed at |i am employed by |ich arbeite bei |ich arbeite fur |je travaille chez |\
    je travaille pour |je bosse chez |trabajo para |trabajo en ";

/// What stands in front of a business that is theirs.
const OWNERS: &str = "i run |i own |i co-own |i co-run |i manage |i lead |i operate |i have my own |ich fuhre |ich leite |\
    ich betreibe |ich besitze |ich habe eine kleine |ich habe ein kleines |ich habe einen kleinen |ich habe meine eigene |ich habe mein eigenes |\
    je tiens |je dirige |je gere |je possede |j'ai une petite |j'ai un petit |j'ai ma propre |j'ai mon propre |dirijo |regento |gestiono |\
    tengo una pequena |tengo un pequeno |tengo mi propia |tengo mi propio |llevo una pequena |llevo un pequeno ";

/// What ends the name of a business.
const PREPOSITIONS: &str = " in at on for of with from by called named near to that which where im am auf bei fur mit aus namens nahe dans a en au \
    chez pour avec pres para con cerca de llamada llamado que ";

/// Words for a business.
const BUSINESSES: &str = " bakery bakeries shop shops bookshop store bookstore cafe cafes restaurant restaurants diner bar pub business company \
    firm agency studio practice clinic salon hotel hostel farm winery vineyard brewery distillery school gallery startup start-up garage gym \
    pharmacy consultancy nonprofit charity daycare kindergarten guesthouse nursery dairy lab newspaper magazine truck team department \
    boulangerie patisserie boutique magasin librairie entreprise agence cabinet ferme atelier pharmacie ecole societe equipe \
    panaderia pasteleria tienda libreria cafeteria restaurante empresa agencia estudio clinica granja peluqueria taller farmacia escuela negocio \
    equipo ";

/// Parts of a company that somebody runs, where the company follows: `logistics for a seafood importer`.
const FUNCTIONS: &str = " logistics marketing sales operations engineering finance procurement purchasing compliance recruiting communications \
    research production manufacturing fulfilment payroll it hr legal product support ";

/// The same in German, where they end longer words.
const BUSINESSES_DE: &str = "backerei|laden|geschaft|firma|unternehmen|agentur|praxis|hof|kneipe|werkstatt|buchhandlung|apotheke|schule|kanzlei|\
    metzgerei|gartnerei|kita|abteilung";

/// Professions, in languages that put no article in front of them and do not write them with a capital letter.
const OCCUPATIONS: &str = " infirmier infirmiere professeur professeure prof enseignant enseignante medecin avocat avocate ingenieur ingenieure \
    developpeur developpeuse boulanger boulangere cuisinier cuisiniere serveur serveuse etudiant etudiante architecte comptable journaliste \
    graphiste traducteur traductrice vendeur vendeuse agriculteur agricultrice menuisier plombier electricien electricienne retraite retraitee \
    sage-femme pharmacien pharmacienne dentiste psychologue chercheur chercheuse secretaire photographe musicien musicienne \
    enfermero enfermera profesor profesora maestro maestra medico medica abogado abogada ingeniero ingeniera desarrollador desarrolladora \
    programador programadora panadero panadera cocinero cocinera camarero camarera estudiante arquitecto arquitecta contable contador contadora \
    periodista disenador disenadora traductor traductora vendedor vendedora agricultor agricultora carpintero carpintera fontanero fontanera \
    electricista jubilado jubilada farmaceutico farmaceutica dentista psicologo psicologa investigador investigadora fotografo fotografa musico \
    musica matrona ";

/// Words with a capital letter that are no name and no profession.
const NO_NAMES: &str = " ok okay here there monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag \
    samstag sonntag anfang mitte ende fan fans anfanger anfangerin neuling kunde kundin team ";

/// What nobody lives in, however they say it, and no employer.
const NO_PLACES: &str = " fear hope denial misery peace night home random all least first noon midnight scale speed nacht casa equipo la noche ";

/// Beginnings and endings of the same in Chinese.
const NAMED_HAN: [&str; 6] = ["我叫", "我的名字是", "我的名字叫", "我名叫", "我姓", "请叫我"];
const NO_NAMES_HAN: [&str; 12] = ["了", "他", "她", "你", "您", "它", "人", "车", "外", "不", "过", "什"];
const HOMES_HAN: [&str; 6] = ["我住在", "我家在", "我现在住在", "我居住在", "我来自", "我家住"];
const WORK_HAN: [&str; 3] = ["工作", "上班", "任职"];
const PROFESSIONS_HAN: [&str; 6] = ["我的职业是", "我从事", "我是一名", "我是一位", "我就职于", "我供职于"];
const OCCUPATIONS_HAN: [&str; 20] = [
    "医生",
    "护士",
    "老师",
    "教师",
    "教授",
    "律师",
    "工程师",
    "程序员",
    "设计师",
    "厨师",
    "会计",
    "会计师",
    "警察",
    "农民",
    "作家",
    "记者",
    "画家",
    "店主",
    "司机",
    "药剂师",
];
const OWNERS_HAN: [&str; 8] = ["开了一家", "开了家", "开着一家", "开一家", "经营一家", "经营着", "开了一间", "创办了"];

/// Names in Chinese have few characters.
const LONGEST_NAME_HAN: usize = 6;

/// Whether a statement says plainly who the person is.
pub fn tells_who(text: &str) -> bool {
    let Some((plain, written)) = clause(text) else { return false };
    if plain.contains(is_cjk) {
        return tells_who_han(&plain, text);
    }
    let after = |forms: &str| forms.split('|').find_map(|form| plain.strip_prefix(form.trim_start()));
    let is_named = after(NAMED).is_some_and(|name| is_capital(name, &written))
        || after(PERHAPS_NAMED).is_some_and(|rest| is_name(rest, &written) || is_occupation(rest))
        || plain.strip_suffix(" here").is_some_and(|name| is_name(name, &written));
    let is_at_home = after(HOMES).is_some_and(is_place);
    let is_employed = after(EMPLOYERS).is_some_and(|place| is_place(place) && is_definite(place, &written));
    let works = after(PROFESSIONS).is_some_and(|rest| !rest.starts_with("my ") && !rest.starts_with("you "));
    is_named || is_at_home || is_employed || works || after(OWNERS).is_some_and(is_business)
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

fn is_place(place: &str) -> bool {
    !place.is_empty() && !NO_PLACES.contains(&format!(" {} ", first_word(place)))
}

/// Whether a place is named, or has an article.
fn is_definite(place: &str, written: &str) -> bool {
    const ARTICLES: &str = " a an the my our un une una la le el einem einer ";
    ARTICLES.contains(&format!(" {} ", first_word(place))) || is_capital(place, written)
}

/// Whether all words up to the end of a clause, or where it goes on, are written as names.
fn is_name(text: &str, written: &str) -> bool {
    const GOES_ON: &str = " and from und aus et de y at with ";
    let words: Vec<&str> = text.split(' ').take_while(|word| !GOES_ON.contains(&format!(" {word} "))).collect();
    let is_one = |word: &&str| {
        let is_other = NO_NAMES.contains(&format!(" {word} ")) || word.ends_with("ing");
        is_capital(word, written) && !is_other
    };
    (1..=3).contains(&words.len()) && words.iter().all(is_one)
}

/// Whether the first word is written with a capital letter, and not with capital letters alone.
fn is_capital(text: &str, written: &str) -> bool {
    let first = first_word(text);
    let is_it = |word: &&str| analysis::fold(&word.to_lowercase()) == first;
    let is_written = |word: &str| {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        letters.next().is_some_and(char::is_uppercase) && (word.chars().count() < 3 || letters.any(char::is_lowercase))
    };
    written.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(is_it).any(is_written)
}

fn is_occupation(text: &str) -> bool {
    OCCUPATIONS.contains(&format!(" {} ", first_word(text)))
}

/// Whether what somebody runs is a business: `a small bakery in Porto`, not `a script in the shop`.
fn is_business(text: &str) -> bool {
    const ARTICLES: &str = " a an the my our two three four several ein eine einen die den un une la le una el ";
    let is_in = |list: &str, word: &str| list.contains(&format!(" {word} "));
    let rest: Vec<&str> = text.split(' ').skip_while(|word| is_in(ARTICLES, word)).collect();
    let name = rest.iter().take_while(|word| !is_in(PREPOSITIONS, word)).last();
    let is_german = |word: &str| BUSINESSES_DE.split('|').any(|business| word.ends_with(business));
    let is_function = || matches!(rest.as_slice(), [function, "for" | "at", _, ..] if is_in(FUNCTIONS, function));
    name.is_some_and(|word| is_in(BUSINESSES, word) || is_german(word)) || is_function()
}

fn tells_who_han(plain: &str, text: &str) -> bool {
    let after = |forms: &[&str]| forms.iter().find_map(|form| plain.strip_prefix(form));
    let is_name = |name: &str| {
        name.chars().count() <= LONGEST_NAME_HAN && !NO_NAMES_HAN.iter().any(|other| name.starts_with(other))
    };
    let works_at = || {
        let place = WORK_HAN.iter().find_map(|end| plain.strip_prefix("我在")?.strip_suffix(end));
        place.is_some_and(|place| !place.is_empty() && !place.starts_with('家'))
    };
    let is_occupied = || after(&["我是"]).is_some_and(|rest| OCCUPATIONS_HAN.iter().any(|end| rest.ends_with(end)));
    after(&NAMED_HAN).is_some_and(|name| !name.is_empty() && is_name(name))
        || after(&HOMES_HAN).is_some_and(|place| !place.is_empty())
        || after(&PROFESSIONS_HAN).is_some_and(|rest| !rest.is_empty())
        || works_at()
        || is_occupied()
        || plain.starts_with('我') && OWNERS_HAN.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statements::is_lasting;

    #[test]
    fn who_somebody_is_told_plainly() {
        for text in [
            "I'm Marta",
            "I'm Marta.",
            "Hi, I'm Marta Silva",
            "I’m Marta and I run a small bakery",
            "I'm Tom, a plumber from Leeds",
            "My name is Ada.",
            "Call me Sam",
            "Priya here, I run a two-person bakery in Pune",
            "I run a small bakery in Porto",
            "I own a bookshop in Lisbon.",
            "I manage a team of six at a bank",
            "I run logistics for a seafood importer in Lisbon",
            "I lead engineering at a bank",
            "I work as a midwife",
            "I work at a hospital in Leeds",
            "I work for Siemens",
            "I teach maths at a secondary school",
            "I live in Porto",
            "I live in a small village near Ghent",
            "I'm from Chile",
            "Ich bin Marta",
            "Ich bin Krankenschwester",
            "Ich heiße Marta",
            "Ich habe eine kleine Bäckerei in Porto",
            "Ich führe einen Buchladen",
            "Ich arbeite als Lehrerin in Köln",
            "Ich wohne in Hamburg",
            "Je suis Marta",
            "Je suis infirmière",
            "Je m'appelle Marta",
            "Je tiens une petite boulangerie à Porto",
            "Je travaille comme infirmière à Lyon",
            "J'habite à Lyon",
            "Soy Marta, tengo una pequeña panadería en Oporto",
            "Soy enfermera",
            "Me llamo Marta",
            "Trabajo como enfermera en Sevilla",
            "Vivo en Oporto",
            "我叫玛塔",
            "我是护士",
            "我在医院工作",
            "我住在上海",
            "我在波尔图开了一家小面包店",
        ] {
            assert!(tells_who(text) && is_lasting(text), "{text}");
        }
    }

    #[test]
    fn events_moods_plans_and_habits_are_no_identity() {
        for text in [
            "I'm tired",
            "I'm Googling flights",
            "I'm OOO",
            "I'm at the bakery",
            "I'm in Porto",
            "I'm going to run a bakery some day",
            "I want to open a bakery in Porto",
            "I run 5k every morning",
            "I run a script to clean up the shop",
            "I run a marathon in May",
            "I run a small test first",
            "I run marketing campaigns for the launch",
            "I lead research on a new sensor",
            "I manage a spreadsheet for the store",
            "I work at night",
            "I work from home on Fridays",
            "I live for the weekend",
            "I live in fear of heights",
            "I'm a bit lost",
            "I run Photoshop",
            "I own a crowbar",
            "Call me when you are done",
            "My sister lives in Porto",
            "Marta runs a small bakery in Porto",
            "Ich bin müde",
            "Ich bin Montag in Berlin",
            "Ich habe eine Firma angerufen",
            "Je suis fatiguée",
            "Soy nueva aquí",
            "我是说这个文件",
            "叫我起床",
            "我叫了外卖",
            "我在家工作",
            "我明天去上海",
        ] {
            assert!(!tells_who(text), "{text}");
        }
    }
}
