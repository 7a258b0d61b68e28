//! English.

use super::{check, check_kind};

#[test]
fn identity() {
    check_kind(
        "identity",
        &[
            "My name is Ada Lovelace.",
            "my name's Bob",
            "I'm called Maximilian.",
            "You can call me Max.",
            "Call me Ishmael.",
            "I'm Ada, a developer from London.",
            "I am Grace Hopper.",
            "I work as a nurse in Leeds.",
            "I work at Siemens.",
            "I work for a small publisher.",
            "I live in Zurich, near the lake.",
            "I'm based in Nairobi.",
            "I'm from Porto.",
            "My timezone is UTC+8.",
            "My native language is Polish.",
            "My birthday is on 3 May.",
            "I'm a backend engineer at a bank.",
            "I speak German and a little Finnish.",
            "My pronouns are they/them.",
            "I'm 34 years old.",
        ],
    );
}

#[test]
fn wishes() {
    check_kind(
        "preference",
        &[
            "I prefer tabs over spaces.",
            "For Python, I prefer Black with 100 columns.",
            "I like short answers.",
            "I love hiking in autumn.",
            "I hate long meetings.",
            "I don’t like cilantro.",
            "I do not like dark themes.",
            "I can't stand popups.",
            "My favourite editor is Helix.",
            "I usually write in the morning.",
            "We prefer small pull requests.",
        ],
    );
    check_kind(
        "constraint",
        &[
            "Never push to main without a review.",
            "Always answer in British English.",
            "Please never use emojis in commit messages.",
            "I never eat meat.",
            "I always run the linter before a commit.",
            "We must support Python 3.9.",
            "You must not touch the legacy folder.",
            "I'm allergic to peanuts.",
            "I'm vegetarian.",
            "From now on, write dates as ISO 8601.",
            "Only use the standard library.",
            "My budget is 800 euros.",
            "The deadline is 14 March.",
            "I don't eat pork.",
            "I'm colorblind.",
            "Please answer in German.",
            "never call me before 10am",
        ],
    );
}

#[test]
fn changes_and_plans() {
    check_kind(
        "decision",
        &[
            "We decided to use Postgres for the queue.",
            "I've decided to drop Windows support.",
            "Let's go with SQLite.",
            "Let's stick with semantic versioning.",
            "We'll use axum for the server.",
            "We agreed to meet every second Tuesday.",
            "Decision: ship on the 12th.",
            "We moved from Postgres to SQLite.",
            "We've switched to Helix.",
        ],
    );
    check_kind(
        "correction",
        &[
            "No, it's spelled Kathryn with a K.",
            "No, the meeting is on Thursday.",
            "Actually, my flight leaves at 9:40.",
            "Actually I live in Bern now.",
            "That's wrong, the port is 5433.",
            "I meant the staging server.",
            "Correction: the invoice number is 4711.",
            "no it's Tuesday not Wednesday",
            "Actually, invoices are sent monthly, not weekly.",
            "No, reviews happen in pairs, not alone.",
            "I no longer work at Google.",
            "Actually the standup is at 10, not 9:30.",
            "No, I meant whole wheat starter, not rye",
        ],
    );
    check_kind(
        "follow_up",
        &[
            "Remind me to call the dentist.",
            "Can you remind me to water the plants on Sunday?",
            "I need to submit my taxes by April 15.",
            "Don't forget to rotate the keys.",
            "By Friday I need to send the report.",
            "I need to renew my passport by the end of June.",
            "Next time, start with the failing test.",
            "I still need to write the changelog.",
            "TODO: add a benchmark for the parser",
        ],
    );
}

#[test]
fn without_its_frame() {
    check("so we'll use Kafka for events", "decision");
    check("Sorry, I meant Tuesday.", "correction: I meant Tuesday.");
    check("Btw, I prefer tabs.", "preference: I prefer tabs.");
    check("Oh, and by the way, I live in Rome.", "identity: I live in Rome.");
    check("Hi, my name is Ada and I live in Rome.", "identity: my name is Ada and I live in Rome.");
    check("Remember that the wifi password hint is our cat.", "fact: the wifi password hint is our cat.");
    check("Please remember: the gate code changes monthly.", "fact: the gate code changes monthly.");
    check("Please remember that I prefer aisle seats.", "preference: I prefer aisle seats.");
    check("Keep in mind that the office closes at six.", "fact: the office closes at six.");
    check("My name is Ada, can you help me?", "identity: My name is Ada");
    check("I'm vegetarian, what should I cook tonight?", "constraint: I'm vegetarian");
    check("Our tax rate in Portugal is 23%, remember that.", "fact: Our tax rate in Portugal is 23%");
    check("Thanks! I prefer the metric system.", "preference: I prefer the metric system.");
}

#[test]
fn negatives() {
    check_kind(
        "",
        &[
            "Do you know what I prefer?",
            "What is my name?",
            "Should I always use tabs?",
            "If I liked tea I would say so.",
            "I would prefer to know first.",
            "I'd like to see the code.",
            "I'd prefer to wait.",
            "She said I prefer tabs.",
            "My boss told me I must attend.",
            "He says \"never use goto\".",
            "\"I prefer tabs\" is what they all answer.",
            "I like it.",
            "I love this!",
            "I like your idea.",
            "I prefer the second option.",
            "I like the plan.",
            "Never mind.",
            "Never heard of it.",
            "I never knew that.",
            "I always forget the syntax.",
            "It must be a bug.",
            "I must say, this is nice.",
            "I must have missed it.",
            "Remember that.",
            "Don't forget that.",
            "We moved on to the next topic.",
            "We switched to that.",
            "Let's go with that.",
            "Let's use this one.",
            "Let's go with option 2.",
            "Actually, can you show me the file?",
            "Actually, I'm wondering about the tests.",
            "Actually never mind.",
            "No, it's fine.",
            "No, that's all, thanks.",
            "No thanks.",
            "That's wrong.",
            "I'm a bit confused.",
            "I'm a little tired.",
            "I'm Done with this file now.",
            "I'm not sure.",
            "I'm working on the parser.",
            "Call me later.",
            "Remind me what we said.",
            "Do you remember that I live in Rome?",
            "Remember when it broke?",
            "I remember the old version.",
            "For example, I prefer tabs.",
            "Suppose I live in Rome.",
            "Imagine we decided to rewrite it.",
            "Maybe I prefer tabs.",
            "I prefer tea today.",
            "For now I prefer the old layout.",
            "The tests are failing again.",
            "Can you fix src/main.rs?",
            "Thanks, that works!",
            "Fix the parser.",
            "Run the tests.",
            "The function always returns null.",
            "It never works on Windows.",
            "They decided to leave.",
            "I think the port is wrong.",
            "I guess I prefer tabs.",
            "See you next time!",
            "I have a question.",
            "Translate: I live in Paris.",
            "How do I remind users to log in?",
            "I need to fix this bug.",
            "The user must log in first.",
            "I wish I lived in Rome.",
            "I work in progress bars a lot with that.",
            "I hate to bother you, but the tests fail.",
            "I like where we are going.",
            "I always get an error when I run npm install.",
            "I never got a reply from the server.",
            "I'm from the QA team.",
            "Let's use a regex here.",
            "We'll use the same approach as before.",
            "We decided nothing yet.",
            "No, the other file.",
            "No, the error is still there.",
            "Actually, the tests pass now.",
            "No, my code doesn't compile.",
            "I meant the second one.",
            "Always on time, these trains.",
            "You must import the module first, right?",
            "The deadline is approaching.",
            "My job is failing in CI.",
            "My email is not being delivered.",
            "I speak for everyone.",
            "Remember the milk.",
            "Next time I'll do better.",
            "I usually get a 404 there.",
            "My favorite part is the ending.",
            "Users say it like this: I live in Paris.",
            "In the story, I live in a castle.",
            "Generate test data, my name is Foo.",
            "Write a poem: I love winter.",
        ],
    );
}
