//! Whether a message says that what was worked on is finished. Pure.

use std::collections::HashSet;

use crate::consolidation::facts::{has, is_denied_or_conditional};
use crate::recall::analysis;
use crate::text::own_words::{own_words, without_quotations};
use crate::text::sentences::{clauses, sentences};

/// Clauses that say it, in lower case.
const FINISHED: [&str; 62] = [
    "done",
    "all done",
    "it's done",
    "it is done",
    "that's done",
    "that is done",
    "this is done",
    "we're done",
    "we are done",
    "we're done here",
    "i'm done",
    "i am done",
    "finished",
    "all finished",
    "it's finished",
    "it is finished",
    "that's finished",
    "that is finished",
    "this is finished",
    "we're finished",
    "i'm finished",
    "completed",
    "that's completed",
    "it's shipped",
    "case closed",
    "you can close it",
    "you can close this",
    "close this",
    "close it",
    "erledigt",
    "ist erledigt",
    "das ist erledigt",
    "das wäre erledigt",
    "alles erledigt",
    "das hat sich erledigt",
    "fertig",
    "wir sind fertig",
    "ich bin fertig",
    "das ist fertig",
    "abgeschlossen",
    "das ist abgeschlossen",
    "c'est fait",
    "c'est fini",
    "c'est terminé",
    "terminé",
    "hecho",
    "ya está hecho",
    "está hecho",
    "terminado",
    "ya está",
    "fatto",
    "搞定",
    "搞定了",
    "都搞定了",
    "已经搞定了",
    "完成了",
    "已经完成了",
    "做完了",
    "都做完了",
    "弄好了",
    "完了しました",
    "終わりました",
];

/// Clauses that may stand beside it and say nothing.
const POLITE: [&str; 26] = [
    "thanks",
    "thank you",
    "thanks a lot",
    "thank you very much",
    "great",
    "perfect",
    "nice",
    "cool",
    "ok",
    "okay",
    "good",
    "yes",
    "bye",
    "super",
    "danke",
    "vielen dank",
    "danke dir",
    "merci",
    "gracias",
    "perfecto",
    "grazie",
    "好",
    "好的",
    "谢谢",
    "谢谢你",
    "ありがとう",
];

/// Words that such a clause may end with.
const ENDINGS: [&str; 6] = ["now", "then", "already", "jetzt", "thanks", "for now"];

/// Whether a message says that what was worked on is finished, and says nothing else.
pub fn is_closing(message: &str) -> bool {
    let folded = message.to_lowercase().replace('’', "'");
    let clauses: Vec<&str> = folded
        .split(['.', ',', '!', ';', '\n', '，', '。', '！', '、', '–', '—'])
        .map(str::trim)
        .filter(|clause| !clause.is_empty() && !POLITE.contains(clause))
        .collect();
    !clauses.is_empty() && clauses.into_iter().all(says_finished)
}

fn says_finished(clause: &str) -> bool {
    let shorter = ENDINGS.iter().find_map(|end| clause.strip_suffix(end)).map(str::trim_end);
    FINISHED.contains(&clause) || shorter.is_some_and(|shorter| FINISHED.contains(&shorter))
}

/// Words that say of a thing that it is finished, in lower case.
const FINISHES: &str = " done finished shipped merged deployed released launched completed complete fixed solved resolved live closed erledigt \
    fertig abgeschlossen veröffentlicht gelöst behoben fini finie terminé terminée livré livrée réglé réglée résolu hecho hecha terminado \
    terminada listo lista resuelto resuelta ";
const FINISHES_HAN: [&str; 9] =
    ["完成了", "搞定了", "做完了", "上线了", "修好了", "解决了", "结束了", "发布了", "弄好了"];

/// Words that say that it is not, or not yet.
const UNFINISHED: &str = " almost nearly half partly mostly until once when before soon will should must need needs fast beinahe bald wenn bis presque \
    bientôt quand casi pronto cuando hasta ";

/// Whether a message says of the thing with this title that it is finished: a clause that is no question, denies nothing
/// and names it.
pub(crate) fn finishes(message: &str, title: &str) -> bool {
    let named = stems(title);
    let names_it = |clause: &str| {
        let shared = named.intersection(&stems(clause)).count();
        shared > 0 && shared >= named.len().min(2) && shared * 5 >= named.len() * 3
    };
    let own = own_words(message).into_iter().map(without_quotations).collect::<Vec<_>>().join("\n");
    sentences(&own).into_iter().filter(|sentence| !sentence.trim_end().ends_with(['?', '？'])).any(|sentence| {
        let is_it = |clause: &&str| {
            let lower = clause.to_lowercase();
            has(&lower, FINISHES, &FINISHES_HAN)
                && !is_denied_or_conditional(&lower)
                && !has(&lower, UNFINISHED, &[])
                && names_it(clause)
        };
        clauses(sentence).iter().any(is_it)
    })
}

fn stems(text: &str) -> HashSet<String> {
    let light = ["work", "done", "finish", "ship", "merg", "deploy", "fix"];
    let all = analysis::stems(text).into_iter().filter(|(_, is_stop)| !is_stop).map(|(stem, _)| stem);
    all.filter(|stem| !light.contains(&stem.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_says_that_it_is_finished() {
        for said in
            ["Done", "done!", "Done, thanks.", "OK, that's finished now", "erledigt", "Das ist erledigt, danke!"]
        {
            assert!(is_closing(said), "{said}");
        }
        for said in ["搞定了", "好的，搞定了。谢谢", "C’est fait", "All done. Thank you!", "hecho, gracias"]
        {
            assert!(is_closing(said), "{said}");
        }
        for said in
            ["", "thanks", "done?", "not done", "is it done", "get it done", "done with the first part", "almost done"]
        {
            assert!(!is_closing(said), "{said}");
        }
    }

    #[test]
    fn knows_which_thing_is_finished() {
        let title = "Moving the billing service from Heroku to Fly";
        for said in [
            "the billing service is moved to Fly, that is done: the Heroku billing service move is finished",
            "btw the billing move from Heroku is finished",
            "Good news: the move of billing from Heroku to Fly is deployed!",
        ] {
            assert!(finishes(said, title), "{said}");
        }
        for said in [
            "the billing move from Heroku is not finished",
            "is the billing move from Heroku finished?",
            "once the billing move from Heroku is finished we celebrate",
            "the billing move from Heroku is almost finished",
            "the invoice is finished",
            "> the billing move from Heroku is finished\n\nhe wrote that, wrong",
            "if the billing move from Heroku is finished, tell me",
        ] {
            assert!(!finishes(said, title), "{said}");
        }
        assert!(finishes("登录页面修好了", "登录页面"));
        assert!(!finishes("登录页面还没修好", "登录页面"));
    }
}
