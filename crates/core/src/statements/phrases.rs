//! Spellings of the same thing: contractions, fixed phrases, and Chinese words, rewritten before words are compared.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Endings that English writes together with the word before.
const CONTRACTIONS: [(&str, &str); 6] =
    [("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"), ("'m", " am"), ("'d", " would")];

/// Phrases and what they are read as; nothing after the sign leaves them out. Lower case, without accents.
const PHRASES: &str = "as i said=\nlike i said=\nby the way=\njust so you know=\nfor the record=\nof course=\nfrom now on=\n\
    going forward=\nas a rule=\nin general=\nat the moment=\nthese days=\non our side=\non my side=\non my end=\nfor me=\n\
    remember that=\nnote that=\nkeep in mind that=\ndon't forget that=\nthat is decided=\nas well=also\nany more=longer\n\
    anymore=longer\nno longer=not\nnot longer=not\nno more=not\ninstead of=not\nrather than=not\nprefer not=not\nwould rather not=not\n\
    drop support=not support\ndropped support=not support\nend support=not support\nused to work as=\nused to work=work\nused to be=was\n\
    give up=quit\ngiven up=quit\ngave up=quit\ngave them up=quit\ngiven them up=quit\ncan not stand=hate\ncan not bear=hate\n\
    can not eat=\ncan not have=\ncan not drink=\nmay not eat=\nmust not eat=\n\
    go out=\ngoes out=\ngo for a run=running\ngo for a walk=walking\ngo for a swim=swimming\ngo running=running\n\
    for a living=\nwork as=\nworks as=\nworked as=\nemployed as=\ntake care of=responsible\ntakes care of=responsible\n\
    in charge of=responsible\nlook after=responsible\nlooks after=responsible\n\
    every second=every2\nevery other=every2\nevery second week=every2\nevery other week=every2\nevery every two weeks=every2\nevery 2 weeks=every2\nbiweekly=every2\nfortnightly=every2\nevery2 week=every2\n\
    every day=daily\neach day=daily\nseven days a week=daily\n7 days a week=daily\nday in day out=daily\njeden tag=daily\ntaglich=daily\ntous les jours=daily\n\
    todos los dias=daily\ncada dia=daily\nevery night=nightly\neach night=nightly\nevery week=weekly\nonce a week=weekly\neach week=weekly\n\
    every month=monthly\nonce a month=monthly\neach month=monthly\nevery year=yearly\nonce a year=yearly\neach year=yearly\nannually=yearly\n\
    every morning=mornings\neach morning=mornings\nevery evening=evening\n\
    years old=\nyear old=\nyears of age=\nans=\nanos=\njahre alt=\n\
    step by step=stepwise\none step at a time=stepwise\none thing at a time=stepwise\nschritt fur schritt=stepwise\npas a pas=stepwise\npaso a paso=stepwise\n\
    before bed=bedtime\nbefore going to bed=bedtime\nrun until=finish\nruns until=finish\nvalid until=finish\nup to=until\nfinished by=deadline\ndone by=deadline\ncompleted by=deadline\nhanded in by=deadline\npull request=pull-request\npull requests=pull-request\nmerge request=pull-request\nmerge requests=pull-request\n\
    time zone=timezone\ndata base=database\ncode base=codebase\nweb site=website\n\
    mises en production=deploy\nmise en production=deploy\nbase de datos=database\nbase de donnees=database\n\
    report to=manager\nreports to=manager\nreporting to=manager\nanswers to=manager\n\
    in front of=before\nprior to=before\nsplit up=divorced\nmum and dad=parents\nmom and dad=parents\nmother and father=parents\nper du=duzen\nwalls of text=wordy\nwall of text=wordy\nlong winded=wordy\nto the point=brief\nin a few words=brief\nper day=daily\nper week=weekly\nper month=monthly\n\
    a day=daily\na month=monthly\n24/7=daily\nask me before=not without okay\nask before=not without okay\ncheck with me before=not without okay\n\
    s'il te plait=\ns'il vous plait=\npor favor=\nau fait=\npor cierto=\nbest friend=bestfriend\nold hand=veteran\n\
    make sure=\nmake sure to=\nbe sure to=\nremember to=\ntry to=\nfeel free to=\ni want you to=\ni would like you to=\ni like you to=";

/// Chinese words, and what they are read as.
const CHINESE: [(&str, &str); 68] = [
    ("星期天", "周日"),
    ("星期日", "周日"),
    ("礼拜天", "周日"),
    ("周天", "周日"),
    ("星期", "周"),
    ("礼拜", "周"),
    ("每周", "周"),
    ("周一", " day1 "),
    ("周二", " day2 "),
    ("周三", " day3 "),
    ("周四", " day4 "),
    ("周五", " day5 "),
    ("周六", " day6 "),
    ("周日", " day7 "),
    ("每天", " daily "),
    ("每日", " daily "),
    ("住在", " live "),
    ("家在", " live "),
    ("居住在", " live "),
    ("我住", "我 live "),
    ("发版", " deploy "),
    ("发布", " deploy "),
    ("上线", " deploy "),
    ("部署", " deploy "),
    ("直属领导", " manager "),
    ("领导", " manager "),
    ("上司", " manager "),
    ("老板", " manager "),
    ("经理", " manager "),
    ("主管", " manager "),
    ("直接汇报", " manager "),
    ("汇报", " manager "),
    ("名字", " name "),
    ("姓名", " name "),
    ("名叫", " name "),
    ("叫做", " name "),
    ("叫", " name "),
    ("回答", " answer "),
    ("回复", " answer "),
    ("答复", " answer "),
    ("妈妈", " mother "),
    ("母亲", " mother "),
    ("爸爸", " father "),
    ("父亲", " father "),
    ("不能吃", ""),
    ("吃不了", ""),
    ("一律", ""),
    ("一概", ""),
    ("固定", ""),
    ("时间", ""),
    ("使用", "用"),
    ("采用", "用"),
    ("喜爱", "喜欢"),
    ("讨厌", "不喜欢"),
    ("简洁", " brief "),
    ("精炼", " brief "),
    ("精简", " brief "),
    ("简短", " brief "),
    ("简明", " brief "),
    ("长篇大论", " wordy "),
    ("啰嗦", " wordy "),
    ("冗长", " wordy "),
    ("答案", " answer "),
    ("越好", ""),
    ("写", "用"),
    ("直接", ""),
    ("工作", ""),
    ("一点", ""),
];

type ByFirst = HashMap<&'static str, Vec<(Vec<&'static str>, Vec<&'static str>)>>;

static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut all: ByFirst = HashMap::new();
    for line in PHRASES.lines() {
        let (from, to) = line.split_once('=').unwrap_or((line, ""));
        let from: Vec<&str> = from.split_whitespace().collect();
        if let Some(first) = from.first() {
            all.entry(first).or_default().push((from, to.split_whitespace().collect()));
        }
    }
    // The longest first: `every other` before `every`.
    all.values_mut().for_each(|phrases| phrases.sort_by_key(|(from, _)| std::cmp::Reverse(from.len())));
    all
});

/// The text with contractions written out and Chinese words in one spelling.
pub(super) fn spelled_out(text: &str) -> String {
    let text = text.replace(['’', 'ʼ'], "'").replace('€', " euro ").replace('$', " dollar ").replace('£', " pound ");
    let text = if text.contains('\'') || text.contains("annot") { written_out(&text) } else { text };
    let text = with_german_dates(text);
    if text.is_ascii() {
        return text;
    }
    CHINESE.iter().fold(text, |text, (from, to)| if text.contains(from) { text.replace(from, to) } else { text })
}

/// `am 30.9.` is the 30th of September, where the text is German.
fn with_german_dates(text: String) -> String {
    const GERMAN: &str = " am bis zum ist der die das wir ich und seit vom ab ";
    let is_german =
        || text.split(' ').filter(|word| GERMAN.contains(&format!(" {} ", word.to_lowercase()))).count() >= 2;
    let date = |word: &str| {
        let (day, month) = word.strip_suffix('.')?.split_once('.')?;
        let (day, month): (u8, usize) = (day.parse().ok()?, month.parse().ok()?);
        ((1..=31).contains(&day) && (1..=12).contains(&month)).then(|| format!("{day} month{month}"))
    };
    if !text.split(' ').any(|word| date(word).is_some()) || !is_german() {
        return text;
    }
    text.split(' ').map(|word| date(word).unwrap_or_else(|| word.to_owned())).collect::<Vec<_>>().join(" ")
}

fn written_out(text: &str) -> String {
    let word = |word: &str| match word {
        "can't" | "Can't" | "cannot" | "Cannot" => "can not".to_owned(),
        "won't" | "Won't" => "will not".to_owned(),
        word => CONTRACTIONS.iter().fold(word.to_owned(), |word, (short, long)| word.replace(short, long)),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// What a phrase that begins here is read as, and how many words it has.
pub(super) fn phrase_at(words: &[&str]) -> Option<(usize, &'static [&'static str])> {
    let phrases = BY_FIRST.get(*words.first()?)?;
    let found = phrases.iter().find(|(from, _)| words.len() >= from.len() && words[..from.len()] == from[..]);
    found.map(|(from, to)| (from.len(), to.as_slice()))
}
