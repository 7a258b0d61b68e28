//! Traits that a whole statement can be: `I don't eat meat` is `I'm a vegetarian`.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexicon::stems;

/// A trait, and the words that say it: one of `denied` denied, or one of `plain`; nothing else may be said but fillers.
struct Trait {
    name: &'static str,
    denied: &'static str,
    plain: &'static str,
    fillers: &'static str,
}

const TRAITS: [Trait; 11] = [
    Trait {
        name: "vegetarian",
        denied: "meat viande carne fleisch 肉 荤",
        plain: "vegetarian veggie vegetarier vegetarierin vegetarisch vegetarien vegetarienne vegetariano vegetariana 素",
        fillers: "eat fish poultry mange poisson como pescado esse fisch ernahre 吃 菜 碰 食",
    },
    Trait { name: "vegan", denied: "", plain: "vegan vegane veganer veganerin vegano vegana", fillers: "eat" },
    Trait {
        name: "teetotal",
        denied: "alcohol alkohol alcool 酒",
        plain: "teetotal teetotaller sober abstinent abstemio abstemia",
        fillers: "drink touch beer wine spirit trinke bier wein schnaps bois bebo lebe live 喝 碰",
    },
    Trait {
        name: "smokeless",
        denied: "smoke smoking cigarette tobacco rauche fume fumo 烟",
        plain: "nonsmoker nichtraucher nichtraucherin",
        fillers: "抽 吸 smoker cigarette",
    },
    Trait {
        name: "celiac",
        denied: "gluten",
        plain: "celiac coeliac celiaca celiaco celiaquia zoliakie coeliaque",
        fillers: "eat disease have puedo comer nada lleve intolerant intolerance",
    },
    Trait {
        name: "lactose",
        denied: "lactose",
        plain: "lactose laktoseintolerant laktoseintoleranz",
        fillers: "intolerant intolerance tolerate handle digest",
    },
    Trait {
        name: "retired",
        denied: "",
        plain: "retired pension pensioner rentner rentnerin jubilado jubilada retraite retraitee 退休",
        fillers: "work longer draw live",
    },
    Trait { name: "childless", denied: "children child kid", plain: "childless kinderlos", fillers: "" },
    Trait {
        name: "brief",
        denied: "wordy verbose lengthy ramble long",
        plain: "brief",
        fillers: "answer explanation text stay be 说 越 得 话",
    },
    Trait {
        name: "informal",
        denied: "siezen sieze vouvoie vouvoiement vouvoyer usted",
        plain: "duzen duze tutoie tutoyer tutoiement tutea tuteame",
        fillers: "brauche entre",
    },
    Trait {
        name: "lefthanded",
        denied: "",
        plain: "lefty lefthander linkshander linkshanderin gaucher gauchere zurdo zurda",
        fillers: "",
    },
];

/// The words of a trait, and their stems.
struct Words {
    name: &'static str,
    denied: HashSet<String>,
    plain: HashSet<String>,
    fillers: HashSet<String>,
}

static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| {
    let words = |kind: &Trait| Words {
        name: kind.name,
        denied: stems(kind.denied),
        plain: stems(kind.plain),
        fillers: stems(kind.fillers),
    };
    TRAITS.iter().map(words).collect()
});

/// The trait that these words are, each with whether it is denied.
pub(super) fn trait_of<'a>(words: impl Iterator<Item = (&'a str, bool)> + Clone) -> Option<&'static str> {
    let found = WORDS.iter().find(|kind| {
        let says =
            |(word, is_denied): (&str, bool)| (if is_denied { &kind.denied } else { &kind.plain }).contains(word);
        let fits =
            |(word, is_denied)| says((word, is_denied)) || kind.fillers.contains(word) || kind.plain.contains(word);
        words.clone().any(says) && words.clone().all(fits)
    });
    found.map(|kind| kind.name)
}
