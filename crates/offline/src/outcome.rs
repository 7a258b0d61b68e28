//! What an assistant found and the person accepted: the cause of a problem, and what mended it.

use std::sync::LazyLock;

use throughline_core::consolidation::facts::FactKind;
use throughline_core::model::Role;

use super::extract::Fact;
use super::language::language;
use super::lexicon::count_words;
use super::moves::{moves, without_fillers};
use super::phrases::Phrases;
use super::veto::is_vetoed;
use super::{groups, reference};

/// How the person says that it was right.
static ACCEPTS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "yes that|yep that|yes, that|that fixed|that was it|that worked|that did it|that solved|it works|works now|working now|fixed|solved|\
        you were right|you're right|spot on|exactly that|exactly|bingo|nailed it|confirmed|good catch|indeed|turns out you|great, that|\
        perfect, that|yes it was|yup|that's it|that's the one|all green|tests pass|passes now|no more errors|it's gone|problem solved|\
        好了|解决了|搞定|可以了|对，就是|没错|果然|确实|就是这个|修好了|正常了|不报错了|是的，|通过了|你说得对|你说对了|成功了|终于|真的是|原来是|\
        ja genau|genau|stimmt|läuft|läuft wieder|geht wieder|funktioniert|das war's|das war es|gelöst|behoben|super, das|treffer|du hattest recht|passt|\
        oui|c'était ça|c'est ça|ça marche|ça fonctionne|réglé|résolu|exactement|parfait|tu avais raison|bien vu|nickel|c'est bon|\
        sí|era eso|eso era|ya funciona|funciona|resuelto|solucionado|exacto|tenías razón|perfecto|listo|arreglado|en efecto|confirmado",
    )
});

/// How an assistant tells a cause or a cure.
static FINDS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "root cause|the cause|caused by|because|due to|the problem|the issue|the culprit|the bug|the fix|missing|stale|turns out|the reason|\
        comes from|was set to|is set to|instead of|leaks|leaking|expired|overrides|conflict|mismatch|race condition|points to|\
        原因|因为|问题|导致|由于|根因|没有|缺|过期|冲突|错误地|是…造成|造成|指向|覆盖|\
        ursache|liegt an|lag an|liegt am|weil|problem|fehlt|veraltet|abgelaufen|verursacht|\
        la cause|à cause|parce que|problème|vient de|vient du|manque|manquant|expiré|périmé|provoque|\
        la causa|porque|problema|se debe|falta|caducado|caducó|provoca|culpa|debido",
    )
});

/// How the person names the cause themselves.
static OWN_FINDS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "it was|it's because|it is because|it was because|the cause was|the culprit was|the problem was|the issue was|the bug was|the fix was|turns out|\
        turned out|was caused by|root cause|原来是|是因为|原因是|问题是|问题出在|问题在|就是|果然是|es lag|lag an|lag am|die ursache|das problem war|der fehler war|\
        war schuld|schuld war|c'était|la cause|le problème venait|le problème était|ça venait|era el|era la|era que|era por|la causa|el problema era|\
        el fallo era|resultó",
    )
});

/// A longer sentence of an assistant is no finding.
const MAX_SENTENCE: usize = 300;

/// The facts that the person accepts with a message: `found` has the sentences of the assistant's last one.
pub(super) fn accepted(sentences: &[String], found: &[String], before: &[(Role, String)]) -> Vec<Fact> {
    let Some(first) = sentences.first() else { return Vec::new() };
    let starts = without_fillers(first);
    let accepts = ACCEPTS.begin(first)
        || ACCEPTS.begin(starts)
        || sentences.iter().take(2).any(|sentence| ACCEPTS.are_in(sentence));
    let is_doubted = sentences.iter().any(|sentence| sentence.ends_with(['?', '？']));
    if !accepts || found.is_empty() || is_doubted {
        return Vec::new();
    }
    if let Some(own) = own_cause(sentences) {
        let trouble = before.iter().rev().filter(|(role, _)| *role == Role::User).find_map(|(_, text)| trouble(text));
        let text = trouble.map_or_else(|| own.clone(), |trouble| format!("{trouble}: {own}"));
        return vec![Fact { kind: FactKind::Fact, text }];
    }
    let tells = |sentence: &&String| {
        FINDS.are_in(sentence)
            && !is_vetoed(sentence)
            && count_words(sentence) >= 4
            && sentence.chars().count() <= MAX_SENTENCE
    };
    let cause = found.iter().find(tells).map(|sentence| without_fillers(sentence).to_owned());
    cause.filter(|text| !reference::points(text)).map(|text| Fact { kind: FactKind::Fact, text }).into_iter().collect()
}

/// The cause in the person's own words.
fn own_cause(sentences: &[String]) -> Option<String> {
    let parts = sentences.iter().flat_map(|sentence| moves(sentence));
    let named = |part: &&str| OWN_FINDS.begin(part) || OWN_FINDS.are_in(part);
    // `it was exactly that` names nothing.
    let points = |part: &&str| {
        POINTERS.iter().any(|word| part.to_lowercase().trim_end_matches(['.', '。', '!', '！']).ends_with(word))
    };
    let says = |part: &&str| named(part) && !points(part) && count_words(part) >= 3 && !is_vetoed(part);
    parts.into_iter().find(says).map(str::to_owned)
}

const POINTERS: [&str; 12] =
    ["that", "it", "this", "ça", "eso", "esto", "das", "es", "这个", "这个原因", "这样", "原因"];

/// What did not work, as the person said it.
fn trouble(text: &str) -> Option<String> {
    let language = language(text)?;
    let is_trouble = groups::in_sentence(text, language).contains(&"trouble");
    let text = without_fillers(text).trim_end_matches(['.', '。', '!', '！', '?', '？', ' ', ',']);
    (is_trouble && (2..=25).contains(&count_words(text))).then(|| text.to_owned())
}
