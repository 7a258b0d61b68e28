//! The words by which a claim is compared with a clause, in English, Chinese, German, French and Spanish.

/// Words with which a model speaks of the person, and words that carry no meaning of their own.
pub(super) const LIGHT: &str = " person user speaker name call use work live have be do want need like team project they their them she he her his \
    currently now also nutzer nutzerin utilisateur utilisatrice usuario usuaria that which state mention say report ask 用户 go make get keep come put new already";

pub(super) const NEGATIONS: &str = " not no never none without don't doesn't didn't isn't aren't wasn't won't can't cannot mustn't shouldn't wouldn't \
    haven't hasn't n't neither nor nicht kein keine keinen keinem keiner nie niemals ohne pas jamais sans aucun aucune ni nunca jamás sin \
    ningún ninguna tampoco dont doesnt cant wont ";

pub(super) const NEGATIONS_HAN: [&str; 8] = ["不", "没", "别", "勿", "禁止", "无法", "未", "非"];

pub(super) const CONDITIONS: &str = " if maybe perhaps might would could suppose imagine unless considering wish probably possibly falls vielleicht \
    würde könnte wäre peut-être pourrait serait quizá quizás podría sería ojalá hypothetically pretend ";

pub(super) const CONDITIONS_HAN: [&str; 10] =
    ["如果", "要是", "假如", "也许", "可能", "假设", "说不定", "考虑", "万一", "的话"];

pub(super) const QUANTIFIERS: &str = " always never every all only both everyone everything immer nie alle jeder nur toujours jamais tous chaque \
    seulement siempre nunca todos cada solo sólo ";

pub(super) const QUANTIFIERS_HAN: [&str; 9] = ["总是", "从不", "所有", "只", "都", "每", "一直", "永远", "从来"];

/// Words that change what a clause says: a claim that leaves one out says something else.
pub(super) const MODIFIERS: &str = " barely hardly almost nearly nobody formerly previously will won't gonna rarely seldom kaum fast beinahe früher \
    werde werden wird selten presque autrefois bientôt apenas casi antes pronto that this these those ce cette ces ese esa este esta \
    dieser diese dieses ";

pub(super) const MODIFIER_PHRASES: [&str; 17] = [
    "used to ",
    "let's say",
    "for example",
    "this example",
    "for instance",
    "going to ",
    "zum beispiel",
    "par exemple",
    "por ejemplo",
    "以前",
    "曾经",
    "差点",
    "几乎",
    "打算",
    "比如",
    "例如",
    "假装",
];

/// Words after which something is taken back.
pub(super) const TAKES_BACK: [&str; 16] = [
    "no wait",
    "sorry, no",
    "sorry no",
    "i meant",
    "i mean ",
    "scratch that",
    "correction",
    "oops",
    "不对",
    "哦不",
    "更正",
    "说错",
    "ich meinte",
    "je voulais dire",
    "quise decir",
    "wait,",
];

/// Words around which order matters.
pub(super) const PIVOTS: &str = " only nur seulement uniquement solo sólo over than instead rather not to from before after for by of statt als nach von vor plutôt que avant après en lugar \
    vez antes después ";

pub(super) const PIVOTS_HAN: [&str; 8] = ["再", "比", "而不是", "不是", "给", "向", "替", "胜过"];

/// People that a clause may be about.
pub(super) const PEOPLE: &str = " wife husband partner son daughter mother father mom mum dad sister brother manager boss colleague teammate friend \
    neighbor neighbour roommate client customer kid kids child children parents doctor landlord coworker aunt uncle cousin frau mann \
    sohn tochter mutter vater schwester bruder chef chefin kollege kollegin freund freundin kunde femme mari fils fille mère père sœur \
    frère collègue ami amie client mujer marido hijo hija madre padre hermana hermano jefe jefa compañero amigo amiga cliente he she they \
    er ils elles él ella ellos ";

pub(super) const PEOPLE_HAN: [&str; 22] = [
    "老婆", "老公", "妻子", "丈夫", "儿子", "女儿", "妈", "爸", "姐", "妹", "哥", "弟", "经理", "老板", "同事", "朋友",
    "客户", "室友", "他", "她", "邻居", "领导",
];
