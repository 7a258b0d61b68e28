//! What is never kept, however it sounds: questions, reports of what others said, text without a subject of its own.

use std::sync::LazyLock;

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
const REPORTED_HAN: [&str; 18] = [
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
];

/// Guesses and conditions contrary to fact.
static SUPPOSED: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "assuming|suppose|supposing|imagine|maybe|perhaps|what if|let's say|i wish|if only|quizá|quizás|tal vez|a lo mejor|ojalá|imagina|\
        peut-être|imagine|supposons|et si|vielleicht|angenommen|stell dir vor|wenn doch",
    )
});
const SUPPOSED_HAN: [&str; 8] = ["也许", "早知道", "假如", "假设", "要是", "说不定", "万一", "倘若"];

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

/// Work of the moment, and what only hands something over.
static PASSING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "i'm working on|i am working on|i'm trying|i am trying|i'm debugging|i'm fixing|i'm currently|i keep getting|i'm getting|here are|here is|\
        here's|i'm thinking|i am thinking|i was thinking|i've been thinking|i'm planning to|i'm planning on|i'm looking forward|i'm looking for|\
        i'm looking to|i like the idea|i love the idea|i'll|i will|i'm going to|i'm gonna|i'm definitely|i'm open to|i'm interested in|\
        i'm really interested|i'm excited|i'm so excited|i'm really excited|i'm able to|i'm curious|i'm worried|i'm hoping|i'm considering|\
        i'm glad|i'm happy|i'm sure|i'm not sure|i'm also considering|i've heard|i've been meaning|i've been trying|i've been wanting|\
        i want to|i'd like|i'd love|i would like|i would love|i need to|i need some|i need help|i think|i guess|i hope|i remember|i don't really|\
        i don't remember|i can see|i could use|i feel|i was wondering|i appreciate|i agree|i understand|i know|i see|i'm trying|i'm also|\
        speaking of|definitely|thanks|that's|this is my|these are my|attached is|我正在|我在做|我在写|我在修|我在调|这是我的|ich arbeite gerade|ich versuche|hier ist|hier sind|\
        j'essaie|je suis en train|voici|estoy intentando|estoy trabajando en|aquí está|aquí tienes",
    )
});

/// Whether a statement may not be kept.
pub(super) fn is_vetoed(text: &str) -> bool {
    let text = text.trim();
    let end = text.trim_end_matches(['"', '”', ')', '）', '*', '。', '!', '！', ' ']);
    let is_question =
        end.ends_with(['?', '？', '吗', '嗎', '呢', '么']) || text.contains(['？', '¿']) || text.contains("? ");
    let opens_quote = text.starts_with(['"', '“', '「', '『', '«', '‘', '`']);
    let is_reported = || REPORTED.are_in(text) || REPORTED_HAN.into_iter().any(|words| text.contains(words));
    let is_supposed = || SUPPOSED.begin(text) || SUPPOSED_HAN.into_iter().any(|words| text.contains(words));
    let asks = || ASKING_HAN.into_iter().any(|words| text.contains(words));
    is_question || opens_quote || PASSING.begin(text) || is_reported() || is_supposed() || asks()
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
}
