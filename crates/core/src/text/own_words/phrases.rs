//! The words and line forms by which foreign text is recognised, in English, Chinese, German, French and Spanish.

use crate::text::sentences::is_cjk;

/// What a line announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// Nothing: the next line is as good as this one.
    None,
    /// Material, behind this byte of the line.
    Material(usize),
}

/// Elements of clients' transcripts: none of them holds words of the person.
const TRANSCRIPT_TAGS: &str = " bash-input bash-stdout bash-stderr local-command-stdout local-command-stderr local-command-caveat \
    function_results function_calls function_result system-reminder command-message command-name command-args command-contents \
    tool_result tool_use tool_response tool-output tool_output task-notification user-prompt-submit-hook hook_context \
    memory-context stdout stderr output document documents file file_contents environment_context user_instructions ide_selection \
    ide_opened_file search_results result results antml context page webpage email transcript quote blockquote ";

pub(super) fn is_transcript_tag(name: &str) -> bool {
    TRANSCRIPT_TAGS.contains(&format!(" {} ", name.to_ascii_lowercase()))
}

/// Names of headers of mails, invitations, tickets, commits and the like.
const HEADERS: &str = "|from|to|cc|bcc|subject|date|sent|reply-to|received|message-id|mime-version|content-type|author|committer|when|\
    where|organizer|attendees|invitees|rating|customer|ticket|ticket id|priority|reporter|assignee|posted by|posted|company|\
    applicant|candidate|发件人|收件人|主题|日期|发送时间|抄送|时间|地点|作者|评分|客户|工单|应聘者|von|an|betreff|datum|gesendet|kunde|\
    bewertung|de|à|objet|envoyé|date d'envoi|asunto|para|enviado|fecha|cliente|valoración|respondent|participant|interviewee|";

pub(super) fn is_header(line: &str) -> bool {
    let Some((name, _)) = line.split_once([':', '：']) else { return false };
    let name = name.trim().trim_matches('*').to_lowercase();
    !name.is_empty() && name.chars().count() <= 16 && HEADERS.contains(&format!("|{name}|"))
}

pub(super) fn is_forward_mark(line: &str) -> bool {
    const MARKS: [&str; 16] = [
        "forwarded message",
        "original message",
        "begin forwarded",
        "ursprüngliche nachricht",
        "weitergeleitete nachricht",
        "message transféré",
        "message d'origine",
        "mensaje reenviado",
        "mensaje original",
        "转发的邮件",
        "原始邮件",
        "转发邮件",
        "begin:vcalendar",
        "begin:vevent",
        "-----begin ",
        "diff --git ",
    ];
    let lower = line.to_lowercase();
    let is_commit =
        lower.strip_prefix("commit ").is_some_and(|id| id.len() >= 7 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    is_commit || MARKS.iter().any(|mark| lower.contains(mark))
}

/// `On Tue, 5 May, Ana wrote:`.
pub(super) fn is_attribution(line: &str) -> bool {
    const BEGINS: [&str; 8] = ["on ", "am ", "le ", "el ", "在", "于", "den ", "ha scritto"];
    const VERBS: [&str; 7] = [" wrote", "schrieb", " a écrit", "escribió", "写道", "寫道", " posted"];
    let lower = line.to_lowercase();
    let ends = lower.trim_end().ends_with([':', '：']);
    ends && VERBS.iter().any(|verb| lower.contains(verb)) && BEGINS.iter().any(|begin| lower.starts_with(begin))
}

/// A line that begins with a date, a time or a level, as logs and exported chats do.
pub(super) fn is_stamped(line: &str) -> bool {
    let rest = line.trim_start_matches(['[', '(', '*', '_']);
    let stamp = rest.find(|c: char| !(c.is_ascii_digit() || "/.:-,TZ年月日 ".contains(c))).unwrap_or(rest.len());
    let digits = rest[..stamp].bytes().filter(u8::is_ascii_digit).count();
    let has_time = rest[..stamp].contains(':') || rest[..stamp].matches(['/', '-']).count() >= 2;
    let is_closed = line.starts_with('[') && rest[stamp..].starts_with([']', 'A', 'P']);
    digits >= 3 && has_time && (is_closed || digits >= 6 || rest[stamp..].starts_with(['-', '–']))
}

/// Labels that people put in front of their own words.
const OWN_LABELS: &str = "|note|notes|ps|p.s.|p.s|rule|rules|decision|update|todo|correction|preference|preferences|important|reminder|\
    fyi|edit|context|background|also|question|remember|btw|fact|problem|issue|error|result|answer|例如|注意|更正|规则|决定|偏好|补充|\
    另外|背景|问题|说明|备注|记住|请记住|wichtig|hinweis|regel|korrektur|entscheidung|frage|merke|nota|regla|corrección|decisión|importante|\
    remarque|règle|correction|décision|rappel|";

/// `Ana: I hate tabs`, `Ana [10:32]: …`, `张三：我不吃辣`.
pub(super) fn is_speaker_line(line: &str) -> bool {
    // `Ana — Today at 1:07 AM`, and below it what Ana wrote.
    let ends_in_time = line.trim_end_matches(" AM").trim_end_matches(" PM").rsplit(' ').next().is_some_and(is_time);
    if ends_in_time
        && line.split_whitespace().count() <= 7
        && line.contains([' ', '—'])
        && !line.contains("  ")
        && line.contains(['—', '[', '(', '·'])
    {
        return true;
    }
    let Some((name, said)) = line.split_once([':', '：']) else { return false };
    let name = name.trim().trim_matches(['*', '_', '<', '>', '@']);
    let name = name.split(['[', '(', '（']).next().unwrap_or_default().trim();
    let words = name.split_whitespace().count();
    let letters = name.chars().count();
    let is_han = name.contains(is_cjk);
    let is_named =
        if is_han { letters <= 6 } else { words <= 3 && letters <= 30 && name.starts_with(char::is_uppercase) };
    let is_own = OWN_LABELS.contains(&format!("|{}|", name.to_lowercase()));
    !name.is_empty() && is_named && !is_own && !said.trim().is_empty() && !said.starts_with("//")
}

fn is_time(word: &str) -> bool {
    let word = word.trim_matches(['[', ']', '(', ')']);
    word.split_once(':').is_some_and(|(hours, minutes)| {
        !hours.is_empty()
            && hours.len() <= 2
            && minutes.len() >= 2
            && word.bytes().all(|b| b.is_ascii_digit() || b == b':')
    })
}

/// `key: value` of a configuration.
pub(super) fn is_setting(line: &str) -> bool {
    let line = line.trim_start_matches("- ");
    let Some((name, _)) = line.split_once([':', '=']) else { return false };
    let name = name.trim();
    !name.is_empty()
        && !name.contains(' ')
        && name.is_ascii()
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '"' || c == '_')
}

/// `a,b,c`: a row of a table.
pub(super) fn is_record(line: &str) -> bool {
    let tight = line.match_indices(',').filter(|(at, _)| !line[at + 1..].starts_with([' ', '\n'])).count();
    tight >= 2 || line.matches('\t').count() >= 2 || line.matches(';').count() >= 3
}

/// Words by which a line hands over what follows its colon, or the lines below it.
const HANDOVER: &str = "|wrote|writes|said|says|saying|sent|replied|reply|message|messages|mail|email|e-mail|letter|quote|quoting|\
    transcript|log|logs|output|stdout|stderr|trace|traceback|readme|contributing|article|snippet|code|config|json|yaml|csv|ticket|\
    review|reviews|feedback|survey|lyrics|poem|novel|story|translate|translation|proofread|correct|rewrite|rephrase|summarize|\
    summarise|summary|following|below|pasted|paste|forwarded|bio|profile|cv|resume|ad|posting|tweet|post|terms|faq|invite|minutes|\
    chat|conversation|thread|diff|patch|changelog|contract|clause|excerpt|paragraph|passage|text|sentence|sentences|essay|caption|\
    dialogue|dialog|script|prompt|handbook|guidelines|guideline|policy|manual|wiki|docs|documentation|page|website|spec|rfc|comment|\
    comments|commit|shouted|told|answered|asked|goes|reads|line|lines|copy|screenshot|subtitle|subtitles|interview|answers|responses|\
    testimonial|testimonials|spiel|rollenspiel|rôle|rol|description|template|draft|speech|quoted|states|claims|character|persona|roleplay|as|\
    schrieb|schreibt|sagt|sagte|meinte|geschickt|nachricht|übersetze|übersetz|übersetzen|korrigiere|korrigier|folgende|folgender|\
    folgendes|folgenden|fehler|ausgabe|artikel|bewertung|protokoll|vertrag|lebenslauf|satz|lied|gedicht|zitat|antwort|kommentar|anzeige|\
    écrit|dit|disait|envoyé|courriel|traduis|traduire|corrige|suivant|suivante|suivants|journal|erreur|sortie|texte|avis|extrait|\
    lettre|phrase|chanson|poème|citation|réponse|commentaire|annonce|\
    escribió|dijo|dice|envió|mandó|mensaje|correo|traduce|traducir|siguiente|siguientes|registro|salida|texto|artículo|\
    reseña|carta|frase|canción|poema|cita|respuesta|comentario|anuncio|";
const HANDOVER_HAN: [&str; 54] = [
    "写道",
    "说",
    "發來",
    "发来",
    "发的",
    "回复",
    "原文",
    "如下",
    "以下",
    "下面",
    "翻译",
    "翻譯",
    "润色",
    "改写",
    "日志",
    "报错",
    "输出",
    "代码",
    "邮件",
    "简历",
    "评论",
    "反馈",
    "歌词",
    "文章",
    "聊天记录",
    "记录",
    "摘要",
    "总结",
    "文档",
    "通知",
    "公告",
    "帖子",
    "合同",
    "条款",
    "台词",
    "改病句",
    "作文",
    "改改",
    "往下写",
    "续写",
    "造句",
    "角色",
    "扮演",
    "留言",
    "投诉",
    "评价",
    "问卷",
    "这段话",
    "这句话",
    "这段",
    "写着",
    "提到",
    "采访",
    "自我介绍",
];

/// Beginnings of lines that show something.
const SHOWING: [&str; 22] = [
    "here's what",
    "here is what",
    "here's the",
    "here is the",
    "here are",
    "this is what",
    "this is the",
    "this is from",
    "see below",
    "pasting",
    "i'm pasting",
    "fwd",
    "fw:",
    "hier ist",
    "hier die",
    "hier der",
    "hier das",
    "voici",
    "voilà",
    "aquí está",
    "aquí tienes",
    "te paso",
];
const SHOWING_HAN: [&str; 8] = ["这是", "下面是", "以下是", "贴一下", "贴个", "转发", "看一下这", "看看这"];

/// Verbs of work on a text.
const WORK: &str = "|review|summarize|summarise|translate|rewrite|rephrase|proofread|shorten|improve|edit|polish|check|correct|explain|\
    reply|respond|answer|analyse|analyze|classify|extract|parse|convert|format|turn|critique|thoughts|mean|means|read|fix|\
    übersetze|übersetz|fasse|fass|korrigiere|korrigier|prüfe|prüf|erkläre|erklär|antworte|verbessere|lies|\
    traduis|résume|corrige|vérifie|explique|réponds|améliore|relis|lis|\
    traduce|resume|corrige|revisa|explica|responde|mejora|lee|";
const WORK_HAN: [&str; 13] =
    ["总结", "翻译", "润色", "改写", "解释", "看看", "看一下", "回复", "分析", "检查", "修改", "点评", "提取"];
const POINTING: &str = "|this|these|it|below|following|attached|that|their|his|her|dies|das|diese|diesen|dieser|ce|cet|cette|ces|ça|esto|este|\
    esta|estos|estas|";
const POINTING_HAN: [&str; 5] = ["这", "以下", "下面", "他", "她"];

/// What a line announces; `has_more` says whether other lines follow.
pub(super) fn lead_of(line: &str, has_more: bool) -> Lead {
    if let Some(colon) = handing_colon(line) {
        return Lead::Material(colon);
    }
    if !has_more {
        return Lead::None;
    }
    let lower = line.to_lowercase();
    let hands = is_one(&lower, HANDOVER) || HANDOVER_HAN.iter().any(|word| lower.contains(word));
    let shows = SHOWING.iter().any(|words| lower.starts_with(words) || lower.contains(&format!(", {words}")))
        || SHOWING_HAN.iter().any(|words| lower.contains(words));
    let works = (is_one(&lower, WORK) || WORK_HAN.iter().any(|word| lower.contains(word)))
        && (is_one(&lower, POINTING) || POINTING_HAN.iter().any(|word| lower.contains(word)));
    let ends_in_colon = line.trim_end().ends_with([':', '：']);
    let points = is_one(&lower, POINTING) || ["下面", "以下", "这两", "这几"].iter().any(|word| lower.contains(word));
    let asks = line.contains(['?', '？']) && (points || lower.contains('这'));
    // `explain clause 7`, and below it clause 7.
    let orders = lower.split(|c: char| !c.is_alphabetic()).next().is_some_and(|first| is_one(first, WORK));
    let is_lead = works || asks || orders || (shows && hands) || (ends_in_colon && !is_own_list(&lower));
    if is_lead { Lead::Material(line.len()) } else { Lead::None }
}

/// The colon behind words that hand something over, where more than a few words follow it.
fn handing_colon(line: &str) -> Option<usize> {
    let colon = line.char_indices().find(|(at, c)| match c {
        ':' => line[at + 1..].starts_with([' ', '"', '“', '\'']) || line[at + 1..].starts_with(is_cjk),
        '：' => true,
        _ => false,
    });
    let (at, mark) = colon?;
    let lower = line[..at].to_lowercase();
    let follows = line[at + mark.len_utf8()..].trim();
    let hands =
        is_one(&lower, HANDOVER) || is_one(&lower, WORK) || HANDOVER_HAN.iter().any(|word| lower.contains(word));
    (hands && !follows.is_empty() && !is_own_list(&lower)).then_some(at)
}

/// Whether the lead of a list speaks of the person's own matters.
fn is_own_list(lower: &str) -> bool {
    const OWN: &str = "|my preferences|my rules|our rules|our conventions|my setup|our setup|our stack|my stack|about me|about us|remember|\
        for the record|some facts|facts about|our team|the rules|house rules|ground rules|conventions|please follow|from now on|\
        meine regeln|unsere regeln|über mich|unser team|mes règles|nos règles|à propos de moi|mis reglas|nuestras reglas|sobre mí|";
    const OWN_HAN: [&str; 10] =
        ["我的要求", "我的偏好", "我们的规则", "记住", "关于我", "我们的约定", "规则", "约定", "要求", "几点说明"];
    let is_handed = is_one(lower, "|wrote|writes|said|says|sent|readme|handbook|wiki|article|page|email|mail|");
    !is_handed
        && (OWN.split('|').filter(|words| !words.is_empty()).any(|words| lower.contains(words))
            || OWN_HAN.iter().any(|words| lower.contains(words)))
}

fn is_one(lower: &str, words: &str) -> bool {
    let mut parts =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '-') || is_cjk(c)).filter(|word| !word.is_empty());
    parts.any(|word| words.contains(&format!("|{word}|")))
}

/// Words that say whose the text before them is.
const ATTRIBUTIONS: [&str; 43] = [
    "——这",
    "—— 这",
    "——他",
    "——她",
    "— that's",
    "— this is what",
    "- that's what",
    "that's what he",
    "that's what she",
    "that's what they",
    "that's what my",
    "that's what the",
    "that is what he",
    "that is what she",
    "that is what they",
    "that is what my",
    "that is what the",
    "is what they wrote",
    "is what he wrote",
    "is what she wrote",
    "is what they said",
    "is what he said",
    "is what she said",
    "wrote my ",
    "so schreibt",
    "so schrieb",
    "so steht es",
    "das hat er",
    "das hat sie",
    "das schrieb",
    "c'est ce qu'",
    "voilà ce qu",
    "eso es lo que",
    "es lo que dijo",
    "es lo que escribió",
    "这是他",
    "这是她",
    "以上是",
    "他是这么说",
    "她是这么说",
    "他这么写",
    "她这么写",
    "end quote",
];

/// The message behind the last sentence that says whose the text before it is.
pub(super) fn after_attribution(message: &str) -> &str {
    let lower: String = message.chars().map(|c| if c.is_ascii() { c.to_ascii_lowercase() } else { c }).collect();
    let last = ATTRIBUTIONS.iter().filter_map(|words| lower.rfind(words)).max();
    let Some(at) = last else { return message };
    let end = message[at..].find(['.', '。', '\n', '!', '！']).map_or(message.len(), |end| at + end);
    message[end..].trim_start_matches(['.', '。', '!', '！'])
}
