//! The words that decide how statements compare: what may be left out, what means the same, what must match exactly.
//!
//! Lists in lower case without accents. They hold common words of a language, never the words of one statement.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::recall::analysis;

/// Function words of English, German, French and Spanish: grammar, without a meaning of their own.
const FUNCTION: &str = "a an the and or of to in on at by for from with about into as is are was were be been being am \
    do does did done doing have has had having will would shall should can could may might must i me my mine myself we us \
    our ours you your yours he him his she her hers it its they them their theirs this that these those what which who \
    whom whose when where why how there here so than too very just s t d ll m re ve if then up out off go goes going \
    under per one ones way each every all any some such own via mostly \
    der die das den dem des ein eine einen einem einer eines und oder ist sind war waren bin bist sein hat habe haben hast \
    ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unseres du dich dir dein deine \
    sie ihr ihre er es im am um auf aus bei mit nach von vom zu zum zur fur als wie dass wenn kann konnen muss mussen wird \
    werden bis sich auch man jeden jede jedes lauft \
    le la les un une des du de au aux et ou est sont suis es etait ai as ont avons avez je j me moi mon ma mes nous notre \
    nos tu te toi ton ta tes il elle on ils elles ce c cet cette ces se s qu que qui dans sur pour par avec chez a en lieu \
    fait faire tous toutes tout toute y d l \
    el los las uno una unos unas y o soy eres somos son era yo mi mis me nosotros nuestro nuestra nuestros tu tus su sus se \
    lo al del con por para como cada todo toda todos todas hay esta estan esto este ese";

/// Chinese characters of grammar.
const FUNCTION_HAN: &str =
    "的了是我你您他她它们們在有和就也都很吗呢吧啊呀么这那与或及请一个把被给从对用还会要到时候上里着过得地为于以我们";

/// Words that add little: adverbs, fillers, verbs that any noun can have.
const LIGHT: &str = "please still always usually normally generally typically basically really simply already anyway \
    ever now currently exactly approximately roughly around almost quite pretty also both only need happen occur use \
    make get put take let bitte immer noch jetzt eigentlich gerade ruhig schon toujours encore actuellement \
    maintenant plait siempre todavia ahora actualmente favor everything something anything thing stuff \
    occasion set decide decision settle yes ok well oh hey btw fyi user person keep kept keeping";

/// Words that say little of themselves: a statement that has one more of them is no other statement.
const GENERIC: &str = "write run work hour rate number version system time date place part subject type kind sort value level person \
    whole entire regular current store listen serve tourne lauft funciona year month people address job role position site \
    location standort host port message become remain even arbeite arbeitet travaille trabajo trabaja";

/// Words that deny what follows them.
const DENYING: &str = "not no never without none cannot nor neither nobody nothing avoid stop quit \
    nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais sans aucun aucune ni evite no nunca sin ningun \
    ninguna tampoco evita jamas non nichts niemand nada rien";

/// Words that deny in Chinese.
pub(super) const DENYING_HAN: &str = "不没别无未勿戒";

/// After these, what was denied ends.
const TURNING: &str = "but because since however though aber sondern weil mais pero porque sino";

/// Words that mean the same here, the first of a group stands for all. Written as stems or plain words.
const GROUPS: &str = "deploy deployment release rollout ship launch deploiement despliegue mise/en/production mises/en/production 发版 发布 上线 部署\n\
    answer reply respond response antwort antworten antworte reponse repondre respuesta responder contesta\n\
    mother mum mom mama mommy mutter mere madre\nfather dad papa vater pere padre\n\
    car vehicle auto voiture coche\nbike bicycle cycle cycling fahrrad velo bici bicicleta\n\
    flat apartment wohnung appartement piso\ncompany firm business firma entreprise empresa\n\
    employee staff worker people mitarbeiter empleado\nmanager boss supervisor chef jefe jefa vorgesetzter\n\
    developer programmer coder entwickler developpeur desarrollador\n\
    start begin\nfinish complete end expire\nbuy purchase\nlive reside living dwell wohne wohnt wohnen lebe habite habiter vivo vive vivir\n\
    like love enjoy adore\nhate dislike detest loathe despise\nprefer favour favor rather lieber prefiero prefere bevorzuge\n\
    brief short concise terse succinct kurz knapp bref court breve corto\n\
    fast quick quickly rapid\nbig large\nsmall little tiny\nmovie film\nholiday vacation\nshop store\n\
    repository repo repositories depot\ndocumentation docs doc\ndatabase db datenbank basededatos\n\
    configuration config settings\nlimit cap restrict\nstore retain retention kept save hold held aufbewahren conserver guardar\n\
    staging stage preprod preproduction\nproduction prod\ndevelopment dev\n\
    pull-request pr merge-request\npostgres postgresql\njavascript js\ntypescript ts\nkubernetes k8s\n\
    remove delete erase loschen supprimer borrar\nexplain explanation erklaren expliquer explicar\n\
    schedule scheduled\nmeeting meet meetings besprechung reunion reunir reunimos\n\
    deadline due abgabe abgeben\nallergy allergic allergisch allergie allergique alergia alergico alergica\n\
    afraid scared fear frightened terrified terrify phobia\npaediatrician pediatrician\ncolour color\n\
    employer arbeitgeber employeur\nchild kid children kids\njob occupation profession\nlead led leads leading head heads\n\
    responsible responsibility charge\nname called named call llama llamo nombre heisst heisse nom appelle\nlocation standort located site ubicacion stand steht\nwrite written\nspend budget cost\n\
    direct straight directly\napproval approve approvals okay\ncode source\nold alt vieux viejo\n\
    git vcs\ncheap inexpensive\nexpensive costly pricey\nteam crew\nphone telephone\nill sick unwell\n\
    photo picture photograph\nlaptop notebook\nlawyer attorney\nteach teacher teaching lehrer lehrerin\n\
    avoid refrain\nhappy glad pleased\nangry mad\nsad unhappy\ncity town\nroad street\nhelp assist assistance\n\
    important crucial essential vital\nwrong incorrect mistaken\ncorrect right\nchoose pick select chose chosen\n\
    speak talk\ngoal aim target\nproblem issue trouble\nidea thought\nbreakfast fruhstuck\ncheck verify\nfix repair\n\
    change modify alter\nbuild compile\nerror failure\nuser-name username\nemail e-mail mail";

/// Environments, devices and regions in which the same property has values of its own.
const ENVIRONMENTS: &str = "staging production development testing test qa preview sandbox demo canary local laptop desktop phone \
    tablet mac pc ci linux windows macos android ios frontend backend client eu us uk asia region \
    testsystem produktivsystem pruebas produccion preproduccion";

/// Members of a family and others whom a person has one or several of.
const RELATIONS: &str = "mother father sister brother son daughter wife husband partner spouse girlfriend boyfriend cousin uncle \
    aunt nephew niece grandmother grandfather grandma grandpa grandson granddaughter parent parents friend neighbour neighbor \
    colleague manager client customer child cat dog twin stepmother stepfather stepson stepdaughter stepbrother stepsister fiance fiancee \
    schwester bruder sohn tochter frau mann freund freundin schwager schwagerin oma opa tante onkel hund katze \
    soeur frere fils fille femme mari ami amie cousine oncle tante chien chat \
    hermana hermano hijo hija esposa esposo marido mujer amigo amiga prima primo tia tio abuela abuelo perro gato";

/// Words that say that it is another one.
const OTHERS: &str = "other others another second third different else elsewhere extra additional ander andere anderen weitere \
    zweite autre autres deuxieme seconde otra otro otras otros segunda segundo except";

/// What comes in front of a word of kinship and makes it another.
pub(super) const KINSHIP: [&str; 9] = ["-in-law", "step-", "beau-", "belle-", "ex-", "half-", "great-", "co-", "demi-"];

/// Words between two things of which one does something to the other.
const ASYMMETRIC: &str = "before after than over above below depend report manage call owe block import inherit precede \
    follow beat replace teach lead manager vor nach uber avant apres sur antes despues sobre older younger bigger smaller faster slower";

fn set(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// The words of a list, and their stems.
pub(super) fn stems(list: &str) -> HashSet<String> {
    list.split_whitespace().flat_map(|word| [word.to_owned(), stem(word)]).collect()
}

/// A word by its stem; what has a hyphen stays as it is.
pub(super) fn stem(word: &str) -> String {
    if word.contains('-') {
        return word.to_owned();
    }
    analysis::stems(word).into_iter().next().map_or_else(|| word.to_owned(), |(stem, _)| stem)
}

static FUNCTIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(FUNCTION));
static LIGHTS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(LIGHT));
static GENERICS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(GENERIC));
static DENIALS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(DENYING));
static TURNS: LazyLock<HashSet<&str>> = LazyLock::new(|| set(TURNING));
static PLACES: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ENVIRONMENTS));
static KIN: LazyLock<HashSet<&str>> = LazyLock::new(|| set(RELATIONS));
static OTHER: LazyLock<HashSet<&str>> = LazyLock::new(|| set(OTHERS));
static ORDERED: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ASYMMETRIC));
static GROUPED: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let group = |line: &'static str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        line.split_whitespace().flat_map(move |word| [(stem(word), first), (word.to_owned(), first)])
    };
    GROUPS.lines().flat_map(group).collect()
});

/// Whether a word is grammar.
pub(super) fn is_function(word: &str) -> bool {
    FUNCTIONS.contains(word)
}

/// Whether a Chinese character is grammar.
pub(super) fn is_function_han(c: char) -> bool {
    FUNCTION_HAN.contains(c)
}

/// Whether a word adds little.
pub(super) fn is_light(word: &str) -> bool {
    LIGHTS.contains(word)
}

/// Whether a word says little of itself.
pub(super) fn is_generic(word: &str) -> bool {
    GENERICS.contains(word)
}

/// Whether a word denies what follows it.
pub(super) fn is_denying(word: &str) -> bool {
    DENIALS.contains(word)
}

/// Whether a word denies the verb that stands before it.
pub(super) fn is_denying_verb_before(word: &str) -> bool {
    word.starts_with("kein") || matches!(word, "nicht" | "pas" | "jamais" | "nie")
}

/// Whether what was denied before this word is no longer denied after it.
pub(super) fn is_turning(word: &str) -> bool {
    TURNS.contains(word)
}

/// Whether a word names an environment, or whose a thing is, or that it is another one: such words must match exactly.
pub(super) fn is_sharp(word: &str) -> bool {
    PLACES.contains(word) || is_relation(word) || OTHER.contains(word)
}

/// Whether a word says whose mother, dog or manager something is.
pub(super) fn is_relation(word: &str) -> bool {
    KIN.contains(word) || KINSHIP.iter().any(|part| word.contains(part))
}

/// Whether it matters which of two things stands before this word.
pub(super) fn is_asymmetric(word: &str) -> bool {
    ORDERED.contains(word)
}

/// The word that stands for all that mean the same.
pub(super) fn grouped(word: &str) -> Option<&'static str> {
    GROUPED.get(word).copied()
}
