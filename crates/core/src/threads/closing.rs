//! Whether a message says that what was worked on is finished. Pure.

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
}
