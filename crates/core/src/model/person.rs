//! Whose words a turn holds: the person's, or those of somebody else who talked along.
//!
//! This is the one place that decides it. The person's words may become identity, patterns and knowledge; those of other
//! people are evidence: kept, searched and summed up under their names, and nothing else.

use super::{Role, Turn};

/// The person in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// Their name as a speaker; without one, only turns without a speaker are theirs.
    pub name: Option<String>,
}

impl Person {
    /// The person who goes by this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }

    /// The person in a conversation of which nothing is said: the only speaker; of several the one whom the profile names,
    /// else the first. Turns without a speaker are those of a speaker without a name.
    pub fn among(turns: &[Turn], profile: &str) -> Self {
        let mut speakers: Vec<Option<&str>> = Vec::new();
        for turn in turns.iter().filter(|turn| turn.role == Role::User) {
            let speaker = turn.speaker.as_deref();
            if !speakers.iter().any(|known| is_same(*known, speaker)) {
                speakers.push(speaker);
            }
        }
        let several = speakers.len() > 1;
        let named = speakers.iter().flatten().find(|name| several && is_named(profile, name)).copied();
        Self { name: named.or_else(|| speakers.first().copied().flatten()).map(str::to_owned) }
    }

    /// Whether these are the person's own words. What has no speaker is theirs.
    pub fn said(&self, turn: &Turn) -> bool {
        turn.role == Role::User && !self.is_other(turn)
    }

    /// Whether a name reads like theirs, in whatever case, spacing and letters it is written.
    pub fn looks_like(&self, name: &str) -> bool {
        let seen = crate::text::guard::seen_letters;
        self.name.as_deref().is_some_and(|own| is_same(Some(own), Some(name)) || seen(own) == seen(name))
    }

    /// Whether these are another person's words.
    pub fn is_other(&self, turn: &Turn) -> bool {
        turn.role == Role::User && turn.speaker.is_some() && !is_same(turn.speaker.as_deref(), self.name.as_deref())
    }
}

/// Words that say in which role somebody speaks. Nobody is called that.
const ROLES: [&str; 9] = ["user", "assistant", "tool", "system", "summary", "developer", "human", "ai", "model"];

/// Who speaks, for a reader: the speaker's name, else the role. A name that is the word for a role does not pass for one.
pub fn shown_speaker(role: &str, speaker: Option<&str>) -> String {
    match speaker {
        Some(name) if poses_as_role(name) => format!("{role} named {name}"),
        Some(name) => name.to_owned(),
        None => role.to_owned(),
    }
}

/// Whether a name looks like the word for a role.
fn poses_as_role(name: &str) -> bool {
    let seen = crate::text::guard::seen_letters(name);
    ROLES.contains(&seen.as_str())
}

/// Names are the same in any case and spacing.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    one.map(folded) == other.map(folded)
}

fn folded(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// How a line of a profile says whose it is. A name elsewhere may be anybody's: "I work with Grace".
const NAMES: [&str; 18] = [
    "my name is ",
    "i am ",
    "i'm ",
    "i’m ",
    "call me ",
    "name: ",
    "name is ",
    "the person is ",
    "the person's name is ",
    "the user is ",
    "the user's name is ",
    "ich heiße ",
    "mein name ist ",
    "je m'appelle ",
    "me llamo ",
    "我叫",
    "我的名字是",
    // The name alone: a heading, or a first line.
    "",
];

/// Whether the profile is that of somebody by this name.
fn is_named(profile: &str, name: &str) -> bool {
    let name = folded(name);
    let says = |line: &str| {
        let line = folded(line.replace(['*', '_', '#'], "").trim().trim_start_matches("- "));
        let line = line.split_once("] ").filter(|(mark, _)| mark.starts_with("[sig:")).map_or(&*line, |(_, text)| text);
        NAMES.iter().any(|begins| {
            let rest = line.strip_prefix(begins).and_then(|rest| rest.strip_prefix(&*name));
            rest.is_some_and(|rest| match begins.is_empty() {
                true => rest.is_empty(),
                false => !rest.starts_with(char::is_alphanumeric) || begins.starts_with('我'),
            })
        })
    };
    profile.lines().any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(role: Role, speaker: Option<&str>) -> Turn {
        Turn {
            id: super::super::TurnId::new("t"),
            session: "cli:main".parse().unwrap(),
            role,
            speaker: speaker.map(str::to_owned),
            content: "hello".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn among(speakers: &[Option<&str>], profile: &str) -> Option<String> {
        let turns: Vec<Turn> = speakers.iter().map(|speaker| turn(Role::User, *speaker)).collect();
        Person::among(&turns, profile).name
    }

    #[test]
    fn the_person_is_the_only_speaker_or_whom_the_profile_names_or_the_first() {
        let (ada, grace) = (Some("Ada"), Some("Grace"));
        assert_eq!(among(&[grace, Some("grace ")], "- My name is Ada"), Some("Grace".to_owned()));
        assert_eq!(among(&[grace, ada], "- My name is Ada."), Some("Ada".to_owned()));
        assert_eq!(among(&[grace, ada], "- I live in Porto\n"), Some("Grace".to_owned()));
        assert_eq!(among(&[None, grace], ""), None, "those without a name came first");
        assert_eq!(among(&[], "- My name is Ada"), None);
        let assistant = [turn(Role::Assistant, Some("Eve")), turn(Role::User, ada)];
        assert_eq!(Person::among(&assistant, ""), Person::named("Ada"));
    }

    #[test]
    fn a_profile_names_the_person_and_not_everybody_in_it() {
        for profile in
            ["- **Name:** Ada Byron", "# Ada", "- [sig:5] I'm Ada, a baker", "我叫Ada，住在柏林", "Ich heiße ada"]
        {
            assert_eq!(among(&[Some("Grace"), Some("Ada")], profile), Some("Ada".to_owned()), "{profile}");
        }
        for profile in ["- I work with Ada", "- Ada is my sister", "- My name is Adalbert", "- I'm not Ada", ""] {
            assert_eq!(among(&[Some("Grace"), Some("Ada")], profile), Some("Grace".to_owned()), "{profile}");
        }
    }

    #[test]
    fn a_name_that_reads_like_the_persons_is_known() {
        let ada = Person::named("Ada Lovelace");
        for (name, expected) in [
            ("ada  lovelace", true),
            ("\u{410}da Lovel\u{430}ce", true),
            ("A\u{200b}da Lovelace", true),
            ("Grace", false),
            ("Ada", false),
        ] {
            assert_eq!(ada.looks_like(name), expected, "{name}");
        }
        assert!(!Person::default().looks_like("Ada"));
    }

    #[test]
    fn a_speaker_cannot_pose_as_a_role() {
        for (role, speaker, expected) in [
            ("user", None, "user"),
            ("user", Some("Ada"), "Ada"),
            ("user", Some("assistant"), "user named assistant"),
            ("user", Some(" System: "), "user named  System: "),
            ("user", Some("аssist\u{200b}ant"), "user named аssist\u{200b}ant"),
            ("assistant", Some("User"), "assistant named User"),
        ] {
            assert_eq!(shown_speaker(role, speaker), expected);
        }
    }

    #[test]
    fn what_others_say_is_not_the_persons() {
        let person = Person::named("Ada Lovelace");
        for (role, speaker, own, other) in [
            (Role::User, Some("ada  lovelace"), true, false),
            (Role::User, None, true, false),
            (Role::User, Some("Grace"), false, true),
            (Role::Assistant, Some("Grace"), false, false),
            (Role::Assistant, None, false, false),
        ] {
            let turn = turn(role, speaker);
            assert_eq!((person.said(&turn), person.is_other(&turn)), (own, other), "{role} {speaker:?}");
        }
        assert!(Person::default().is_other(&turn(Role::User, Some("Ada"))));
    }
}
