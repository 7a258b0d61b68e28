//! What is never kept, however it sounds: questions, reports of what others said, text without a subject of its own.

use std::sync::LazyLock;

use throughline_core::text::sentences::clauses;

use super::moves::has_verb;
use super::phrases::Phrases;

/// Somebody else's words or opinion.
static REPORTED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "he said|she said|they said|said that|says that|told me|tells me|asked me|wrote that|claims that|claimed that|according to|\
        boss says|boss said|manager says|manager said|i heard that|i read that|rumor|rumour|apparently|supposedly|allegedly|\
        she says|he says|they say|people say|in the story|in the book|in the movie|in the game|in my dream|fictional|pretend|imagine|\
        just kidding|joking|hypothetically|\
        sagt dass|sagte dass|meinte dass|hat gesagt|sagte er|sagte sie|angeblich|laut meinem|laut meiner|im buch|im film|\
        a dit que|dit que|m'a dit|il paraît|selon mon|selon ma|dans le film|dans le livre|\
        dijo que|dice que|me dijo|según mi|al parecer|en la película|en el libro",
    )
});
const REPORTED_HAN: [&str; 24] = [
    "他说",
    "她说",
    "们说",
    "老板说",
    "同事说",
    "朋友说",
    "客户说",
    "据说",
    "听说",
    "有人说",
    "他們說",
    "说：",
    "说:",
    "告诉我",
    "开玩笑",
    "故事里",
    "小说里",
    "梦里",
    "客服说",
    "网上说",
    "新闻说",
    "群里",
    "说明书",
    "上写着",
];

/// How something goes at the moment, in Chinese: what was just tried, and what it shows.
const SYMPTOMS_HAN: [&str; 30] = [
    "还是报",
    "还是不行",
    "还是一样",
    "还是有",
    "还是没",
    "还是连不",
    "在跑",
    "跑完了",
    "装好了",
    "卡住",
    "我这边显示",
    "报同样",
    "试了一下",
    "我试了",
    "还没好",
    "发你了",
    "你再看看",
    "我先按",
    "日志里有",
    "日志显示",
    "比之前",
    "比刚才",
    "涨到",
    "跌到",
    "的时候在",
    "一直转",
    "没反应",
    "还挺",
    "挺好看",
    "感觉第",
];

/// Beginnings of what is ordered once, in Chinese, and the words by which an order stands.
const ONCE_HAN: [&str; 14] = [
    "再来",
    "再给",
    "再写",
    "再加",
    "换一种",
    "换个",
    "换一个",
    "先别",
    "先把",
    "先不",
    "把这",
    "把第",
    "改得",
    "帮我把",
];
const STANDING_HAN: [&str; 9] = ["以后", "今后", "每次", "一律", "都要", "都用", "从今", "往后", "必须"];

/// Guesses and conditions contrary to fact.
static SUPPOSED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "had i|had we|were i|assuming|suppose|supposing|imagine|maybe|perhaps|what if|let's say|i wish|if only|quizá|quizás|tal vez|a lo mejor|ojalá|imagina|\
        peut-être|imagine|supposons|et si|vielleicht|angenommen|stell dir vor|wenn doch",
    )
});
const SUPPOSED_HAN: [&str; 12] =
    ["我猜", "我怀疑", "估计是", "应该不是", "也许", "早知道", "假如", "假设", "要是", "说不定", "万一", "倘若"];

/// What makes all that follows in a message something that is only imagined.
static PRETENDED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "pretend|let's pretend|imagine|suppose|let's say|let's imagine|role-play|roleplay|role play|let's role-play|let's roleplay|let's role play|\
        stell dir vor|angenommen|tu so|tun wir so|rollenspiel|imaginons|supposons|faisons semblant|fais comme si|imagina|supongamos|finge|hagamos como|\
        假设|假装|想象|角色扮演|我们来角色扮演",
    )
});

/// Words that ask in Chinese, wherever they stand.
const ASKING_HAN: [&str; 22] = [
    "能不能",
    "是不是",
    "有没有",
    "会不会",
    "要不要",
    "可不可以",
    "好不好",
    "行不行",
    "对不对",
    "多少钱",
    "多少啊",
    "为啥",
    "为什么",
    "怎么办",
    "怎么样",
    "什么时候",
    "哪个",
    "哪里",
    "几点",
    "咋",
    "请问",
    "行吗",
];

/// Work, wishes and intentions of the moment, and what only hands something over; English without [`ADVERBS`].
static PASSING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "i'm working on|i am working on|i'm trying|i am trying|i'm debugging|i'm fixing|i keep getting|i'm getting|here are|here is|\
        here's|i'm thinking|i am thinking|i was thinking|i've been thinking|i'm planning to|i'm planning on|i'm looking|i'm going to|i'm gonna|\
        i like the idea|i love the idea|i like the sound|i love the sound|i like the suggestion|i like the suggestions|i love the suggestion|\
        i like the concept|i like the look|i love the look|i like the fact|i like the way|i love the way|i like how|i love how|i like that|i love that|i like this|i love this|\
        i like these|i love these|i like those|i love those|i like your|i love your|i like all|i love all|i like it|i love it|\
        i'll|i will|i might|i may|i could use|i could try|i could do|i'd like|i'd love|i'd say|i'd be|i'd appreciate|i would like|i would love|i would say|\
        i can see|i can keep|i can take|i can charge|i can create|i can save|i can find|i can make|i can start|i can add|i can go|i can be|i can have|i can use|i can try|i can imagine|i can't wait|i cannot wait|i can't believe|\
        i'm open to|i'm interested|i'm intrigued|i'm excited|i'm able|i'm curious|i'm worried|i'm concerned|i'm hoping|i'm considering|\
        i'm deciding|i'm torn|i'm leaning|i'm wondering|i'm glad|i'm happy|i'm sure|i'm not sure|i'm unsure|i'm ready|i'm stuck|i'm off to|\
        i'm about to|i'm having trouble|i'm having issues|i'm having some|i'm having problems|i'm having a hard|i'm having difficulty|i'm looking|\
        i'm proud|i'm grateful|i'm thankful|i'm thrilled|i'm stoked|i'm amazed|i'm determined|i'm loving|i'm enjoying|i'm aiming|\
        i've heard|i've been meaning|i've been trying|i've been wanting|i've been looking|i've been considering|i've been wondering|\
        i've been thinking|i've been feeling|i've been hearing|i've been having|i've got to|i gotta|i haven't tried|i haven't considered|\
        i haven't thought|i haven't decided|i never thought|\
        i want to|i want some|i need to|i need some|i need help|i think|i believe|i guess|i hope|i wonder|i remember|i don't really|\
        i don't remember|i don't think|i don't know|i feel|i felt|i was wondering|i appreciate|i agree|i understand|i know|i see|\
        i noticed you|i noticed that you|i realize|i realized|i'm definitely|i'm sorry|i'm afraid|i was surprised|i was impressed|\
        i didn't know|i didn't realize|i didn't think|i was planning|i was just|i was going|i got the idea|i got to|i had the chance|i had a blast|i had fun|\
        i had no idea|i learned a lot|i learned so much|i've had good experience|i've had good experiences|i've had great experiences|i'm inspired|i'm a bit|\
        i'm a little|i've been exploring|i've been researching|i've been experimenting|i've been experiencing|i've been perfecting|i've been seeing|i've been craving|i loved the|i suggested|i had a lovely|i had a great|\
        i find that|i've been interested|i've been getting inspiration|i was moved|\
        i was lucky|i'm not too|let's keep|let's see|let's hope|let's make|i've attached|i attached|i'm a mix|i'm doing|\
        speaking of|moreover|furthermore|no we|no this|no it's|no she|no they|no you|thanks|that's|this is my|these are my|attached is|we should|we could|we might|we'll see|\
        我正在|我在做|我在写|我在修|我在调|这是我的|ich arbeite gerade|ich versuche|hier ist|hier sind|\
        j'essaie|je suis en train|voici|estoy intentando|estoy trabajando en|aquí está|aquí tienes",
    )
});

/// Words between a subject and its verb that change nothing of what is said.
const ADVERBS: &str = " really actually also just still definitely particularly especially mostly currently probably certainly truly totally absolutely \
    honestly completely 100% so very super pretty quite now then even already more most kinda especially specifically mainly primarily always \
    only too both simply seriously personally obviously generally ";

/// What begins an adjunct: the subject comes behind its comma.
static ADJUNCTS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "as for|as far as|for|regarding|in terms of|on|in|with|when it comes to|at|after|before|to|from|given|considering|\
        overall|instead|also|besides|however|eventually|next|later|tomorrow|tonight|today|now|then|if|once|while|when|for now|for example|\
        for instance|in addition|in general|in fact|of course|by the way|until then|as much as|even though|although",
    )
});

/// A text from its main clause on: `As for the dessert, I'll try it` is `I'll try it`, and so is `for dessert I'll try it`.
fn main_clause(text: &str) -> &str {
    let mut rest = text;
    if ADJUNCTS.begin(text) && clauses(text).len() == 1 {
        let subject = [" I ", " I'm ", " I'll ", " I've ", " we "].iter().filter_map(|words| text.find(words)).min();
        return subject.map_or(text, |at| &text[at + 1..]);
    }
    for clause in clauses(text) {
        if clause.len() == rest.len() || !ADJUNCTS.begin(rest.trim_start()) {
            break;
        }
        rest = &rest[clause.len()..];
    }
    rest.trim_start()
}

/// Its first words without adverbs.
fn without_adverbs(text: &str) -> String {
    let is_kept = |(nth, word): &(usize, &str)| {
        let plain = word.trim_end_matches(',').to_lowercase();
        *nth > 6 || !ADVERBS.contains(&format!(" {plain} "))
    };
    text.split(' ').enumerate().filter(is_kept).map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// What an answer offers: whoever likes it speaks of the answer.
static OFFERED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "idea|ideas|suggestion|suggestions|template|tip|tips|aspect|option|options|recommendation|recommendations|mix of|version|approach|exercises|\
        plan|list|examples|outline|layout|itinerary|recipe|recipes|first one|second one|last one|style",
    )
});

/// `I like the template, it's simple`: a remark about the answer.
pub(super) fn is_remark(text: &str) -> bool {
    static LIKES: LazyLock<Phrases> =
        LazyLock::new(|| Phrases::new("i like the|i love the|i like your|i love your|i liked the|i loved the"));
    let plain = without_adverbs(text);
    let first = clauses(&plain).first().map_or(plain.as_str(), |clause| *clause).to_owned();
    LIKES
        .after(&first)
        .is_some_and(|rest| OFFERED.are_in(rest) && !first.contains(" of my ") && !first.contains(" of our "))
}

/// Whether a text says what the person is up to, wishes or feels at the moment.
fn is_passing(text: &str) -> bool {
    [text, main_clause(text)].into_iter().any(|text| PASSING.begin(&without_adverbs(text)))
}

/// What people say of anything: it tells how they feel, and nothing about them.
static SENTIMENTS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "is key|are key|is important|is crucial|is essential|is vital|is rewarding|are important|it's important|matters to me|means a lot|means so much|\
        means the world|all the difference|huge difference|big difference|big impact|game changer|game-changer|keeps me going|keep me going|keeps us going|\
        keep us going|keeps me motivated|keep me motivated|stay motivated|stay positive|staying positive|helps me become|is a reminder|good reminder|\
        great reminder|valuable reminder|is therapy|is my escape|inspires me|inspired me|inspire me|motivates me|motivate me|over the moon|a dream come true|\
        my dreams|our dreams|our goals|my journey|so powerful|so fulfilling|is fulfilling|eye-opening|eye opening|pay off|paid off|shine through|hard work|\
        thing i enjoy|something i enjoy|i'm always working on|make a difference|making a difference|a better place|learning experience|sense of|helps us|taught me|personal growth|had a blast|part of my life|our future|great success|huge success|\
        my imagination|my creativity|grateful|thankful|a blessing|so proud|fun time|a great time|an amazing time|is both scary",
    )
});

/// What speaks to somebody about what they said or have.
static ADDRESSED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "you mentioned|you said|you suggested|you recommended|you provided|you gave|you listed|you told|you shared|you sent|you wrote|\
        your suggestion|your suggestions|your advice|your tips|your help|your idea|your ideas|your support|your words|your story|your message|\
        these suggestions|these tips|these ideas|those ideas|those suggestions|those tips|of you|with you|see you|thank you|told you|tell you|ask you|\
        you're|you've|your",
    )
});

/// Whether a sentence makes all that follows it something that is only imagined.
pub(super) fn pretends(sentence: &str) -> bool {
    PRETENDED.begin(sentence)
}

/// Whether a statement may not be kept.
pub(super) fn is_vetoed(text: &str) -> bool {
    let text = text.trim();
    let end = text.trim_end_matches(['"', '”', ')', '）', '*', '。', '!', '！', ' ']);
    let is_question =
        end.ends_with(['?', '？', '吗', '嗎', '呢', '么']) || text.contains(['？', '¿']) || text.contains("? ");
    let opens_quote = text.starts_with(['"', '“', '「', '『', '«', '‘', '`']);
    let is_reported = || REPORTED.are_in(text) || REPORTED_HAN.into_iter().any(|words| text.contains(words));
    let is_supposed = || {
        clauses(text).iter().any(|clause| SUPPOSED.begin(clause.trim_start()))
            || SUPPOSED_HAN.into_iter().any(|words| text.contains(words))
    };
    let is_shown = || SYMPTOMS_HAN.into_iter().any(|words| text.contains(words));
    let asks = || ASKING_HAN.into_iter().any(|words| text.contains(words));
    // 这是财务发的说明
    let is_text = |clause: &&str| ["说明", "邮件", "日志", "报错", "原文"].iter().any(|words| clause.contains(words));
    let hands_over = || clauses(text).into_iter().skip(1).filter(is_text).any(|clause| clause.starts_with("这是"));
    is_question
        || opens_quote
        || is_passing(text)
        || is_remark(text)
        || is_reported()
        || is_supposed()
        || asks()
        || hands_over()
        || is_shown()
        || is_ordered_once(text)
}

/// 换一种写法，短一点; and 不要带颜色的, which is the rest of an order.
fn is_ordered_once(text: &str) -> bool {
    let is_rest =
        (text.starts_with("不要") || text.starts_with('别')) && text.ends_with('的') && text.chars().count() < 8;
    let stands = STANDING_HAN.into_iter().any(|words| text.contains(words));
    !stands && (is_rest || ONCE_HAN.into_iter().any(|words| text.starts_with(words)))
}

/// Whether an English text speaks to somebody about what they said or have.
pub(super) fn is_addressed(text: &str) -> bool {
    ADDRESSED.are_in(text) || speaks_to(text)
}

/// `You follow the path`, and `For me, it was when we left`, which says nothing alone.
pub(super) fn speaks_to(text: &str) -> bool {
    static YOU: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("you"));
    static POINTING: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("it|it's|that|that's|this|they|they're"));
    let main = main_clause(text);
    YOU.begin(main) || main.len() < text.len() && POINTING.begin(main)
}

/// Whether an English text tells a feeling or an opinion that everybody has.
pub(super) fn is_sentiment(text: &str) -> bool {
    SENTIMENTS.are_in(&without_adverbs(text))
}

/// Whether an English text orders something once: `please update the page`, not `please keep it short`.
pub(super) fn is_single_order(text: &str) -> bool {
    static PLEASE: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("please|pls"));
    static STANDING: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "keep|use|avoid|don't|do not|never|always|only|stick|call me|answer|reply|respond|speak|no|not|make sure|ask|leave|prefer|address|stop|\
            from now on|in future|when|whenever|be|let me|tell me before|treat|assume",
        )
    });
    static TASKS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "describe|provide|include|ensure|generate|elaborate|discuss|compose|acting as|act as|considering|given that",
        )
    });
    TASKS.begin(text) || PLEASE.after(text).is_some_and(|rest| !STANDING.begin(rest))
}

/// Whether an English text speaks of `him`, `this topic` or `my old one` and does not name it.
pub(super) fn is_nameless(text: &str) -> bool {
    static THINGS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "this topic|this field|this area|this project|this place|this game|this book|this one|that one|previous one|old one|new one|other one|\
            last one|same one|new ones|old ones|been there|went there|was there|were there|got there",
        )
    });
    let is_thing = !text.starts_with("The ")
        && THINGS.are_in(text)
        && !has_capital(text.split_once(' ').map_or("", |(_, rest)| rest));
    static PERSONS: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("he|him|she|he's|she's|himself|herself"));
    is_thing || PERSONS.are_in(text) && !has_capital(text) && !RELATED.are_in(text)
}

/// Whether a word is written as a name.
fn has_capital(text: &str) -> bool {
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && !word.starts_with("I'") && word != "I";
    text.split_whitespace().any(is_name)
}

/// People that a pronoun behind them stands for.
static RELATED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "wife|husband|partner|son|daughter|mother|father|mom|mum|dad|sister|brother|manager|boss|colleague|coworker|teammate|lead|doctor|dentist|\
        landlord|landlady|friend|girlfriend|boyfriend|roommate|neighbor|neighbour|coach|professor|teacher|therapist|dog|cat|puppy|kitten|niece|nephew|\
        cousin|aunt|uncle|grandma|grandpa|grandmother|grandfather|baby|kid|child|boy|girl|client|agent|guy|man|woman|person|someone|somebody|mentor",
    )
});

/// Whether somebody or something is named that can act: a pronoun, or a verb that only a sentence has.
fn has_subject(text: &str) -> bool {
    static SUBJECTS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "i|i'm|i've|i'd|i'll|we|we're|we've|we'll|it|it's|he|she|they|you|this|that|there|is|are|was|were|has|have|will|must|should|can|can't|\
            don't|doesn't|never|always|use|avoid|keep|prefer|needs|goes|runs|lives|works",
        )
    });
    SUBJECTS.are_in(text)
}

/// Whether an English text begins in the middle of a sentence: `such as the red one`.
pub(super) fn is_rest(text: &str) -> bool {
    static HEADLESS: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "by|of|led|including|such as|especially after|especially when|even when|for example since|for example, since|based on all|which|who|whose|than|or|where|featuring|called|named|due to|back to",
        )
    });
    HEADLESS.begin(text)
}

/// Whether an English text is the rest of a sentence: `by Ada Berg.`, `on 4 June.`
pub(super) fn is_fragment(text: &str) -> bool {
    static LOOSE: LazyLock<Phrases> = LazyLock::new(|| {
        Phrases::new(
            "on|in|at|for|from|with|about|during|after|before|since|until|through|between|under|to|like|based on|that|as",
        )
    });
    static JOINING: LazyLock<Phrases> = LazyLock::new(|| Phrases::new("when|while|because|as for|whenever|although"));
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_gerund = first.len() > 5 && first.ends_with("ing") && first.starts_with(char::is_lowercase);
    // The ending of a plural is no sign of a verb where nobody acts.
    let acts = || has_subject(text) || text.contains(", ") || text.contains(|c: char| c.is_ascii_digit());
    let is_open = (LOOSE.begin(text) || is_gerund) && (!has_verb(&text[first.len()..]) || !acts() && LOOSE.begin(text));
    is_rest(text) || is_open || JOINING.begin(text) && !text.contains(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_reports_are_not_kept() {
        for text in
            ["Do I live in Rome?", "我住在哪里呢", "My boss said I live in Rome", "他说我住在罗马", "“I live in Rome”"]
        {
            assert!(is_vetoed(text), "{text:?}");
        }
        for text in ["I live in Rome", "我住在罗马。", "We never deploy on Fridays!"] {
            assert!(!is_vetoed(text), "{text:?}");
        }
    }

    #[test]
    fn intentions_of_the_moment_are_not_kept() {
        for text in [
            "I'll grab a coffee",
            "I'm really just looking for a lamp",
            "As for the lamp, I'm mostly interested in the red one",
            "For the party, I might also bake",
            "for the party I'm torn between two cakes",
            "结果差了3%，这是他发的说明",
            "I really like the template, it's simple and easy to use.",
            "I like the wine pairing suggestions.",
            "换一种写法，短一点",
            "不要带颜色的",
            "装好了，现在在跑初始化",
            "客服说要七个工作日",
            "日志里有三条 error，都是同一个接口",
            "我猜是网络的问题",
        ] {
            assert!(is_vetoed(text), "{text:?}");
        }
        for text in [
            "以后先把结论写出来",
            "不要用驼峰命名",
            "For the API, we always use JSON",
            "I really like tea",
            "I love the energy of live shows",
            "I like the style of my house",
            "In Rome, I work at Acme",
        ] {
            assert!(!is_vetoed(text), "{text:?}");
        }
    }

    #[test]
    fn what_lost_its_beginning_says_nothing() {
        for text in [
            "for the native speaker interviews",
            "by Ada Berg.",
            "on 4 June",
            "of those 12 boats",
            "creating music",
            "when I left",
        ] {
            assert!(is_fragment(text), "{text:?}");
        }
        for text in ["On Mondays, I swim", "In Rome it is warm", "The port is 80", "when I travel, I take the train"] {
            assert!(!is_fragment(text), "{text:?}");
        }
    }

    #[test]
    fn feelings_and_words_to_somebody_are_told_from_facts() {
        assert!(is_addressed("I saw that you're in Rome") && !is_addressed("I live in Rome"));
        assert!(is_sentiment("Rest is really important") && !is_sentiment("The port is 80"));
    }
}
