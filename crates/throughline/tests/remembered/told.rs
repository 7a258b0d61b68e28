//! Three conversations of one person, some days apart, and what is asked weeks later.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Home, until};
use super::{hook, question};

/// When the questions are asked: what was fresh then has expired.
const LATER: &str = "2026-04-05T18:00:00Z";

pub(crate) const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\n";

/// What was said in turn, the person first.
struct Told {
    session: &'static str,
    day: &'static str,
    said: &'static [&'static str],
}

const TOLD: [Told; 3] = [
    Told {
        session: "7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01",
        day: "2026-03-01",
        said: &[
            "Morning! Let's set up storage for the bike shop.",
            "Good morning! Two candidates come to mind: SQLite, which needs no server, and Postgres.",
            "We will have three workers that write at the same time.",
            "SQLite allows one writer at a time, so the workers would queue up behind each other.",
            "Then let's go with Postgres instead of SQLite, because of the concurrent writers.",
            "Agreed, Postgres it is. I'll add it to docker-compose.",
            "Nice. Now write the migration that adds a frame_size column to bikes.",
            "Done: migrations/0007_frame_size.sql. Shall I apply it?",
            "Apply it on staging. Don't run it on production yourself, I do production migrations by hand.",
            "Understood. It is applied on staging; production is left to you.",
            "Great, that looks right.",
            "Happy to help. Anything else?",
            "No, that's all for today, thanks!",
            "See you!",
        ],
    },
    Told {
        session: "1c9d0e7a-55aa-4f6b-8b1e-7d2f0c3b4a02",
        day: "2026-03-04",
        said: &[
            "Hi, I need a break from work. Can you help me plan the weekend?",
            "Of course. What do you have in mind?",
            "My sister Ines visits. Her birthday is on 14 June, but we celebrate early this year.",
            "How nice! A dinner at home, perhaps?",
            "Yes. I'm vegetarian and I don't eat mushrooms.",
            "Then a lasagna with spinach and ricotta would work well.",
            "Sounds good. She likes jazz, so put on some music, too.",
            "A playlist with Bill Evans would fit a quiet evening.",
            "Perfect. How long does the lasagna take?",
            "About an hour: twenty minutes to prepare, forty in the oven.",
            "ok",
            "Enjoy the evening!",
        ],
    },
    Told {
        session: "e4a7c1b8-2d93-4b0f-a6e5-90f1d2c3b403",
        day: "2026-03-09",
        said: &[
            "The checkout test is flaky again.",
            "It waits for a fixed second before it looks at the cart. I'd wait for the cart itself.",
            "Do that.",
            "Done. I ran it fifty times and it passed each time.",
            "And the header overlaps the logo on small screens.",
            "The header has a fixed height; a min-height solves it.",
            "Yes please.",
            "Fixed, and checked at 320, 480 and 768 pixels.",
            "Run it again, please.",
            "All 212 tests pass.",
            "Thanks!",
            "You're welcome.",
        ],
    },
];

/// A question, and a text that must be given for it; none means that nothing may be.
pub(crate) struct Story {
    pub(crate) asks: String,
    pub(crate) is_given: Option<&'static str>,
}

/// About something else, four hundred words.
fn long() -> String {
    let sentences = "I spent the morning with the newsletter of the cycling club. The first part tells how the tour along \
        the coast went: forty riders, two punctures, and a headwind that nobody had ordered. The second part lists the \
        rides of the season, with the distances and the meeting points, and asks people to bring lights. \
        I am not happy with the order yet, since the list is dull and the story is not. ";
    format!("{} What do you think of the tone?", sentences.repeat(6))
}

pub(crate) fn stories() -> Vec<Story> {
    let story = |asks: &str, is_given| Story { asks: asks.to_owned(), is_given };
    let end = "\n\nOne more thing: when is the birthday of Ines?";
    vec![
        story("apply the migration to prod", Some("I do production migrations by hand")),
        story("what should I cook tonight?", Some("vegetarian")),
        story("which database did we pick", Some("Postgres instead of SQLite")),
        story(&format!("{}{end}", long()), Some("14 June")),
        story(&format!("{}{end}", long().repeat(5)), Some("14 June")),
        story("run it again", None),
        story("thanks!", None),
    ]
}

/// A home in which all of that was said, by way of an assistant's hooks, and has its vectors.
pub(crate) fn home() -> Home {
    let mut home = Home::with_config("config.toml", CONFIG);
    for told in &TOLD {
        home.set_now(&format!("{}T12:00:00Z", told.day));
        let event =
            json!({ "session_id": told.session, "transcript_path": transcript(&home, told), "cwd": home.root() });
        hook(&home, "session-start", &event);
        hook(&home, "stop", &event);
        hook(&home, "session-end", &event);
        let id = format!("claude-code:{}", told.session);
        until(|| home.json(&["session", "show", &id])["session"]["consolidated"].as_u64().filter(|done| *done > 0));
    }
    home.set_now(LATER);
    home.run(&["reindex", "--vectors"]).done();
    let embedded = || home.json(&["stats"])["embeddings"].clone();
    until(|| embedded()["embedded"].as_u64().filter(|count| *count > 30 && embedded()["of"] == *count));
    home
}

/// What Claude Code keeps of a conversation.
fn transcript(home: &Home, told: &Told) -> PathBuf {
    let row = |(at, text): (usize, &&str)| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let content = if at % 2 == 0 { json!(text) } else { json!([{ "type": "text", "text": text }]) };
        let row = json!({
            "type": role, "uuid": format!("{}-{at}", told.session), "sessionId": told.session, "isSidechain": false,
            "timestamp": format!("{}T10:{at:02}:00.000Z", told.day), "message": { "role": role, "content": content },
        });
        format!("{row}\n")
    };
    let path = home.root().join(format!("{}.jsonl", told.session));
    std::fs::write(&path, told.said.iter().enumerate().map(row).collect::<String>()).unwrap();
    path
}

/// Asks everything, each in a conversation of its own, and says what went wrong.
#[track_caller]
pub(crate) fn check(way: &str, ask: impl Fn(usize, &str) -> question::Given) {
    let mut wrong = Vec::new();
    for (at, story) in stories().iter().enumerate() {
        let given = ask(at, &story.asks);
        let asked: String = story.asks.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        match story.is_given {
            Some(text) if !given.all().contains(text) => wrong.push(format!("`{asked}` lacks `{text}`: {given:?}")),
            None if !given.block.is_empty() => wrong.push(format!("`{asked}` is given {:?}", given.block)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{way}:\n{}", wrong.join("\n"));
}
