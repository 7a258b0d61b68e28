//! How a person begins to say something that lasts: tables, each row with what follows it when it does not count.
//!
//! Only the beginning of a clause is looked at: a statement that is announced late is more often a question, a story or
//! a quotation.

use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use throughline_core::consolidation::facts::FactKind as Kind;

use super::lexicon::fold;
use super::phrases::Phrases;

/// One row; phrases stand between bars, in lower case.
struct Row {
    kind: Kind,
    first: bool,
    whole: bool,
    detail: bool,
    phrases: &'static str,
    except: &'static str,
    needs: &'static str,
}

/// How a statement begins.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) kind: Kind,
    /// Counts at the beginning of a sentence only: a bare imperative in the middle belongs to something else.
    pub(super) first: bool,
    /// Says everything already: nothing has to follow.
    pub(super) whole: bool,
    /// Only with a name or a number: without one it is about the moment.
    pub(super) detail: bool,
    pub(super) phrases: Phrases,
    /// What may not follow.
    pub(super) except: Phrases,
    /// One of these must follow, somewhere; empty is anything.
    pub(super) needs: Phrases,
}

/// The openings by the first characters of their phrases, in the order of the table.
static INDEX: LazyLock<HashMap<char, Vec<Opening>>> = LazyLock::new(|| {
    let mut index: HashMap<char, Vec<Opening>> = HashMap::new();
    for row in OPENINGS {
        let mut firsts: Vec<char> =
            row.phrases.split('|').filter_map(|phrase| phrase.trim_start().chars().next()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        for first in firsts {
            index.entry(first).or_default().push(row.opening());
        }
    }
    index
});

/// The openings of which one may stand at the beginning of a text.
pub(super) fn openings(text: &str) -> &'static [Opening] {
    text.chars().next().and_then(|first| INDEX.get(&fold(first))).map_or(&[], Vec::as_slice)
}

impl Row {
    fn opening(&self) -> Opening {
        Opening {
            kind: self.kind,
            first: self.first,
            whole: self.whole,
            detail: self.detail,
            phrases: Phrases::new(self.phrases),
            except: Phrases::new(self.except),
            needs: Phrases::new(self.needs),
        }
    }
}

const fn row(kind: Kind, phrases: &'static str, except: &'static str) -> Row {
    Row { kind, first: false, whole: false, detail: false, phrases, except, needs: "" }
}

const fn with(kind: Kind, phrases: &'static str, needs: &'static str) -> Row {
    Row { kind, first: false, whole: false, detail: false, phrases, except: "", needs }
}

const fn first(kind: Kind, phrases: &'static str, except: &'static str) -> Row {
    Row { kind, first: true, whole: false, detail: false, phrases, except, needs: "" }
}

const fn detailed(kind: Kind, first: bool, phrases: &'static str, except: &'static str) -> Row {
    Row { kind, first, whole: false, detail: true, phrases, except, needs: "" }
}

/// What points at something that a later conversation cannot see.
const POINTING: &str = "it|this|that|these|those|them|you|your|yours|the first|the second|the third|the last|the latter|\
    the former|the other|the idea|the way|the one|the new one|the old one|the same|option|the time|the flow|how|what|where|when|to know|to see|\
    to ask|to think|to understand|to say|everything|all of|both|one of|either|neither|这|這|那|它|你|您|第一|第二|第三|上面|前面|\
    后面|什么|哪|他|她|eso|esto|das|dies|ça|cela";

const LIKES: &str = "it|this|that|these|those|them|you|your|yours|the|how|what|where|when|to know|to see|to ask|to think|\
    to say|to bother|to admit|人|的|everything|all of|both|one of|either|neither|option|him|her|这|這|那|它|你|您|第|上面|前面|后面|什么|哪|他|她|eso|esto|das|dies|ça|\
    cela";

const SMALL: &str = "fine|ok|okay|good|not|just|all|alright|great|perfect|working|that|this|the other|the first|the second|\
    nothing|no|me|there|here|too|really|very|still|only|a bit|pretty|quite|wondering|thinking|curious|having|getting|trying|\
    going|looking|stuck|confused|done|sorry|sure|glad|happy|about|can|could|should|might";

/// In the order in which they are tried.
const OPENINGS: &[Row] = &[
    // Corrections.
    detailed(
        Kind::Correction,
        true,
        "no, it's|no it's|no, it is|no, it was|no, the|no, my|no, we use|no, use|no, we are|no, we're|actually, it's|actually it's|\
        actually, it is|actually, my|actually my|actually, the|actually the|nope, it's|actually, we use|actually we use|actually, use",
        SMALL,
    ),
    first(
        Kind::Correction,
        "no, i'm|no, i am|no, i live|no, i work|no, i use|no, i prefer|actually, i'm|actually i'm|actually, i live|actually i live|\
        actually, i work|actually i work|actually, i prefer|actually i prefer|actually, i use|actually i use|i no longer live|i no longer work|i no longer use",
        SMALL,
    ),
    first(
        Kind::Correction,
        "that's wrong|that is wrong|that's not right|that's incorrect|that is incorrect|that's not correct|that's not true|\
        you're wrong|you got it wrong|you got that wrong|correction:|i meant to say|what i meant was|i meant|no, i meant",
        "to|it|well|that|what|you|because|but|and i don't|for me|no|thanks|ok",
    ),
    first(
        Kind::Correction,
        "不对|不對|其实是|其實是|其实我叫|其实我住|其实我是|其实我在|其实我的|其实叫|更正|纠正一下|糾正一下|你弄错了|你搞错了|你记错了|你说错了|我说错了|说错了|错了|我说的是|我的意思是|我指的是|\
        nein, ich|nein, es ist|das ist falsch|eigentlich heiße|no, es|no, me llamo|en realidad me|en realidad es|non, c'est|\
        en fait, c'est|en fait je",
        "劲|你|称|吧|啊|呀|的|哦|这样|勁|还|又|仍|报错|不行|我搞|我弄|我错|nicht so|bien",
    ),
    Row {
        kind: Kind::Correction,
        first: true,
        whole: false,
        detail: false,
        phrases: "不是",
        except: "的|吧|我|说|这|那|这个意思|很|只|所有|因为|每",
        needs: "，是|,是|, 是|，而是|而是|，应该是",
    },
    Row {
        kind: Kind::Correction,
        first: true,
        whole: false,
        detail: false,
        phrases: "actually|no,|nope,",
        except: "thanks|thank|that|this|it|i don't|i do not|i didn't|don't|do not|can|could|please|not|let's|you|what|why|how",
        needs: ", not|, and not|, rather than",
    },
    // Things to come back to.
    first(
        Kind::FollowUp,
        "remind me|please remind me|can you remind me|could you remind me|don't forget to|don't let me forget|todo:|to do:|\
        ask me again|i still need to|i still have to|we still need to|we still have to|we should revisit|let's revisit",
        "what|how|why|who|when|where|which|again|of what|of the|that|it",
    ),
    first(Kind::FollowUp, "next time", "bye|then|maybe|i guess|i'll|i will|i'm|i'll see|around|please be|it|that"),
    with(
        Kind::FollowUp,
        "i need to|i have to|i must|we need to|we have to|we must|i should",
        "by monday|by tuesday|by wednesday|by thursday|by friday|by saturday|by sunday|by tomorrow|tomorrow|next week|next month|\
        by january|by february|by march|by april|by may|by june|by july|by august|by september|by october|by november|by december|\
        by the end of|before monday|before friday",
    ),
    Row {
        kind: Kind::FollowUp,
        first: true,
        whole: false,
        detail: false,
        phrases: "by monday|by tuesday|by wednesday|by thursday|by friday|by saturday|by sunday|by tomorrow|by next week|next week|\
            tomorrow",
        except: "",
        needs: "i need to|i have to|i must|we need to|we have to|we must|remind me",
    },
    first(
        Kind::FollowUp,
        "提醒我|请提醒我|請提醒我|到时候提醒我|回头提醒我|明天提醒我|下周提醒我|记得提醒我|別忘了|别忘了|不要忘了|记得|記得|下次|待办|明天我要|明天我得|下周我要|下周我得|erinnere mich|\
        recuérdame|rappelle-moi|忘れずに",
        "吗|嗎|你|我们|以前|那|上次|当时|小时候|见|再聊|再说|吧|聊|再来|一定|我|不|见面|怎么|什么|运行|启动|打开|登录|再",
    ),
    with(Kind::FollowUp, "下周|下週|明天|后天|周一|周二|周三|周四|周五|周六|周日|月底|下个月", "提醒我|记得"),
    with(
        Kind::FollowUp,
        "我还需要|我还要|我得在|我要在|我需要在|我必须在",
        "明天|下周|下個|下个|周一|周二|周三|周四|周五|周六|周日|月底|之前|号前",
    ),
    // Who the person is.
    row(
        Kind::Identity,
        "my name is|my name's|i'm called|i am called|i go by|you can call me|please call me|my full name is|my first name is|\
        my last name is|my pronouns are|my birthday is|my timezone is|my time zone is|my native language is|\
        my mother tongue is|my first language is|my hometown is|my job title is|my email is|\
        my email address is|i live in|i live near|i now live in|i moved to|i've moved to|i have moved to|i relocated to|i'm based in|i am based in|i come from|i was born in|i was born on|i work as|\
        i work at|i work for|i'm employed|i speak|我的名字是|我的名字叫|我名叫|我住在|我家在|我搬到|我搬去|我现在住在|我家住|我来自|我來自|我的职业是|我的工作是|我的生日是|我生日是|\
        我的时区是|我的母语是|我的邮箱是|我老家在|我的老家|我出生|我姓|我会说|我會說|我任职|我就职|我供职|ich heiße|mein name ist|ich wohne in|ich lebe in|\
        ich arbeite als|ich arbeite bei|ich komme aus|me llamo|mi nombre es|vivo en|trabajo como|trabajo en|soy de|\
        je m'appelle|mon nom est|j'habite|je travaille chez|je travaille comme|je viens de|私の名前は|私は東京に住",
        "not|to|with|about|up|for|with you|wrong|in the|名|动|什么|吗|它|a lot|this|that|fear|hope|too|好|啥",
    ),
    row(
        Kind::Identity,
        "i work in|i'm from|i am from",
        "the|progress|my|this|that|here|now|a loop|theory|most|both|it|all",
    ),
    row(
        Kind::Identity,
        "call me",
        "later|back|when|if|at|on|tomorrow|today|tonight|crazy|old|again|now|a|the|by|in|old-fashioned|maybe|when|names|asap|stupid",
    ),
    with(
        Kind::Identity,
        "i'm a|i'm an|i am a|i am an|i'm the|i am the",
        "engineer|developer|programmer|designer|teacher|student|doctor|nurse|manager|lawyer|writer|researcher|scientist|\
        consultant|founder|freelancer|architect|analyst|accountant|professor|journalist|musician|photographer|chef|translator|\
        electrician|carpenter|pharmacist|psychologist|economist|physicist|chemist|biologist|director|cto|ceo|admin|\
        administrator|maintainer|retiree|pensioner|parent|citizen|native speaker",
    ),
    row(
        Kind::Identity,
        "我叫|请叫我|叫我|你可以叫我|可以叫我|你叫我",
        "你|他|她|了|不|车|外卖|做|去|来|别|帮|怎|什|啥|的|过|写|改|先|它|们|出|在",
    ),
    with(
        Kind::Identity,
        "我是|我是一名|我是一个|我是一位|我是个|我是做|我现在是",
        "程序员|工程师|工程師|老师|教师|学生|研究生|博士|设计师|医生|律师|产品经理|会计|护士|作家|记者|研究员|自由职业|开发者|开发|创业者|项目经理|架构师|运营|销售|厨师|翻译|公务员|国人|海人|京人|\
        州人|川人|东人|南人|北人|西人|江人|湾人|港人|津人|圳人|庆人|前端|后端|的创始人",
    ),
    row(
        Kind::Identity,
        "my job is|my role is|my profession is",
        "failing|running|stuck|slow|broken|taking|done|crashing|being|not|to|in|still|never|always|a mess|too|so|very",
    ),
    Row {
        kind: Kind::Identity,
        first: false,
        whole: false,
        detail: false,
        phrases: "我在",
        except: "想|找|考虑|准备|看|工作|上班|上学|读书|念书|家|这|那|公司|路上",
        needs: "工作|上班|上学|读书|任教|念书|读博|读研",
    },
    with(Kind::Identity, "我今年|i'm|i am", "岁|years old"),
    with(
        Kind::Fact,
        "i have a|i have an|i have one|i have two|i have three|我有",
        "kid|kids|child|children|son|daughter|sons|daughters|dog named|dog called|cat named|cat called|个孩子|个女儿|个儿子",
    ),
    row(
        Kind::Fact,
        "my wife's name is|my husband's name is|my partner's name is|my son's name is|my daughter's name is|my dog's name is|\
        my cat's name is|my wife is called|my husband is called|my son is called|my daughter is called|my dog is called|\
        my cat is called|my boss is called|我爱人叫|我老婆叫|我老公叫|我妻子叫|我丈夫叫|我女儿叫|我儿子叫|我的女儿叫|我的儿子叫|我家的猫叫|我家猫叫|我家的狗叫|我家狗叫|我的猫叫|我的狗叫|我女朋友叫|\
        我男朋友叫",
        "我|你|what|什么",
    ),
    with(
        Kind::Fact,
        "my daughter|my son|my wife|my husband|my partner|my kid|my kids|my child|my mother|my father|my mum|my mom|my dad|my dog|\
        my cat|我女儿|我儿子|我老婆|我老公|我妻子|我丈夫|我妈|我爸|我妈妈|我爸爸",
        "is allergic|are allergic|allergic to|is vegetarian|is vegan|birthday|过敏|吃素|不吃|生日|對",
    ),
    // What was decided.
    row(
        Kind::Decision,
        "we decided|we've decided|we have decided|i decided|i've decided|i have decided|we agreed|we settled on|decision:|\
        the decision is|our decision is|hemos decidido|decidimos|nous avons décidé|on a décidé|wir haben beschlossen|\
        wir haben entschieden|wir haben uns entschieden",
        "it|this|so|yet|against it|nothing|already|that one|that's",
    ),
    row(
        Kind::Decision,
        "let's go with|lets go with|let's use|let's stick with|let's stick to|we'll go with|we'll use|we will use|we're going with|\
        we are going with|i'm going with|i'll go with|i've chosen|we've chosen|we chose|wir nehmen|wir verwenden|vamos a usar|\
        vamos con|on va utiliser",
        POINTING,
    ),
    with(
        Kind::Decision,
        "we moved from|we've moved from|we have moved from|we switched from|we've switched from|we migrated from|\
        we've migrated from|we changed from|we moved our|we migrated our|我们从|我們從|我们已经从",
        "to|换到|换成|迁移到|迁到|搬到|改用|切换到|换到了|換成",
    ),
    row(
        Kind::Decision,
        "we switched to|we've switched to|we have switched to|we migrated to|we've migrated to|我们改用|我们换成|我们迁移到",
        POINTING,
    ),
    row(
        Kind::Decision,
        "我们决定|我們決定|我决定|我決定|决定用|最终决定|最后决定|那就用|那我们就用|我们就用|就用|那就选|就选|那就定|我们选|我们选择|最后我们选|我们确定|最终选|已经决定|に決めました",
        "这|那|它|你|吧|了|上面|前面|不|什么|哪|他|第",
    ),
    // What must be respected.
    row(
        Kind::Constraint,
        "i'm allergic to|i am allergic to|i don't eat|i do not eat|i can't eat|i cannot eat|i don't drink|i can't drink|i only use|i only eat|i only drink|\
        i only work|i only read|we must|we must not|we can't use|we cannot use|i must not|from now on|you must|you must never|you must always|\
        you should always|you should never|please always|please never|don't ever|do not ever|please don't ever|make sure you always|\
        make sure to always|make sure you never|ich darf nicht|soy alérgico|soy alérgica|je suis allergique",
        "be kidding|be joking|be|have|know|understand|admit|say|it|this|that|those|you",
    ),
    detailed(
        Kind::Constraint,
        false,
        "my budget is|our budget is|the budget is|the deadline is|our deadline is|my deadline is",
        "not|too",
    ),
    row(
        Kind::Constraint,
        "i never",
        "knew|heard|thought|saw|seen|said|got|had|was|been|expected|imagined|really|meant|noticed|understood|realized|realised|\
        tried|did|received|asked|used|could|would|finished|met|told|went|know|see|get|can|found|wanted|made|sent|gave",
    ),
    row(
        Kind::Constraint,
        "i always",
        "thought|wondered|knew|wanted|forget|get|had|was|felt|believed|run into|see|end up|forgot|mix|confuse|struggle|found|loved|\
        liked|hated|said|prefer|prefers|assumed|did|used to",
    ),
    row(Kind::Constraint, "i must", "say|admit|have|be|confess|know|see|go|thank|ask|apologize|apologise"),
    first(
        Kind::Constraint,
        "never",
        "mind|heard|knew|seen|thought|been|had|got|again|ever mind|have|has|will|would|a|the|in my|say never|did|was|too late|tried|used|worked|it|that|this|\
        really|gets|works|happened|better|used to",
    ),
    first(
        Kind::Constraint,
        "always",
        "a|nice|good|great|happy|the same|fun|welcome|has|have been|been|was|is|did|had|it|that|this|the|fails|works|returns|gets|so|on time|on|in|\
        wanted|loved",
    ),
    first(Kind::Constraint, "must not|only use|only answer|only reply|only write|only ever", POINTING),
    first(
        Kind::Constraint,
        "immer|niemals|siempre|nunca|toujours|ne jamais|il ne faut jamais|必ず|絶対に",
        "noch|mehr|más|plus|de rien",
    ),
    first(
        Kind::Constraint,
        "千万别|千万不要|别用|必须|必須|一定要|不要|绝不|絕不|绝对不要|永远不要|以后都|以后不要|以后请|以后别|以后要|从现在起|从现在开始|从今以后|务必|禁止|切勿|请务必|请不要|请始终|请一直",
        "紧|担心|客气|急|紧张|的|说|了|你|我|这|那|它|怕|误会|着急|吧|是|再|他|她|在意|啊|呀|害怕|难过|介意",
    ),
    row(
        Kind::Constraint,
        "我必须|我们必须|我對|我不吃|我不喝|我不能吃|我只用|我只吃|我只喝|我从不|我從不|我从来不|我绝不|我们不能用|我的预算|预算是|预算不超过|截止日期是|我总是|我一直用|我们只用",
        "说|承认|走|过|这|那|它|你|知道|觉得|问",
    ),
    with(Kind::Constraint, "我对|我對", "过敏|過敏"),
    Row {
        kind: Kind::Constraint,
        first: false,
        whole: true,
        detail: false,
        phrases: "i'm vegetarian|i am vegetarian|i'm vegan|i am vegan|i'm a vegetarian|i'm a vegan|i'm lactose intolerant|\
            i'm diabetic|i'm colorblind|i'm colourblind|i'm color blind|i'm dyslexic|i'm deaf|i'm blind|我是色盲|我色盲|我吃素|我是素食|ich bin vegetarier|soy vegetariano|soy vegetariana|je suis végétarien",
        except: "",
        needs: "",
    },
    with(
        Kind::Constraint,
        "please answer|please reply|please respond|please write|请用|以后用|用",
        "in english|in german|in french|in spanish|in chinese|in japanese|in italian|in portuguese|in dutch|in korean|in russian|\
        in polish|in turkish|中文回|英文回|英语回|中文答|日语回|德语回",
    ),
    // What the person likes.
    row(
        Kind::Preference,
        "i prefer|i strongly prefer|i much prefer|i generally prefer|i always prefer|we prefer|i'm used to|\
        i'm a fan of|i'm not a fan of|i'm a big fan of|我更喜欢|我更喜歡|我比较喜欢|我最喜欢|我偏好|我偏爱|我倾向|我倾向于|ich bevorzuge|ich ziehe|prefiero|\
        je préfère|の方が好き",
        POINTING,
    ),
    row(Kind::Preference, "my favorite|my favourite", "part|thing about|bit|line|one|so far"),
    row(
        Kind::Preference,
        "i usually|我一般|我平时|我通常",
        "get|see|have|don't|forget|end up|find|hit|run into|do it|do this|do that|般|都|不|会|是|这|那|没",
    ),
    row(
        Kind::Preference,
        "i like|i really like|i love|i really love|i hate|i really hate|i don't like|i do not like|i really don't like|i dislike|\
        i can't stand|i enjoy|我喜欢|我喜歡|我很喜欢|我特别喜欢|我不喜欢|我不喜歡|我不太喜欢|我讨厌|我討厭|我爱|我不爱|我习惯|我習慣|我不习惯|\
        ich mag|ich hasse|me gusta|me gustan|no me gusta|me encanta|odio|j'aime|je n'aime pas|j'adore|je déteste|私は",
        LIKES,
    ),
];
