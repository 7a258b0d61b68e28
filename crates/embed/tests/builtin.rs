//! The built-in model against a plain forward pass in numpy over the same rounded weights.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use throughline_core::ports::{EmbedFor, Embedder as _};
use throughline_embed::BuiltinEmbedder;

fn embed(texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    BuiltinEmbedder.embed(&texts, EmbedFor::Storing).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

const LONG: &str = "I have been thinking about the trip we planned for next summer, and I believe that we should book the \
    flights early because prices always go up in spring, and also ask Maria whether her sister would like to come along \
    with the two children, since the house by the lake has five bedrooms and there is a garden where they can play while we \
    prepare dinner, read, swim or simply sit in the sun; last year it rained for four days, so let us also look for a museum \
    or two, an indoor pool and some good restaurants in the neighbourhood, and make a list of what everybody likes to eat \
    before we go shopping at the market on Saturday morning.";

/// The first six numbers and the last, as a textbook BERT in numpy computes them from the rounded weights. The vectors of the
/// published 32-bit weights have a cosine of .97 to .98 with these.
const EXPECTED: [(&str, [f32; 7]); 4] = [
    ("when do we ship a release?", [-0.002337, -0.026405, 0.032579, 0.025985, -0.000834, 0.027270, 0.049088]),
    ("We deploy on Fridays", [0.000936, 0.002326, 0.038794, -0.055983, 0.032750, -0.020248, -0.031586]),
    (
        "Crème brûlée, naïve façade — Zürich! 東京 is in 日本; prices: $3.50 (approx.) foo_bar@example.com",
        [0.058657, 0.041548, 0.092614, -0.049425, 0.003975, -0.024348, 0.046106],
    ),
    (LONG, [0.051913, 0.001232, 0.082984, 0.072255, -0.042078, 0.036506, -0.008378]),
];

#[test]
fn vectors_are_those_of_a_plain_forward_pass() {
    let vectors = embed(&EXPECTED.map(|(text, _)| text));
    for ((text, expected), vector) in EXPECTED.iter().zip(&vectors) {
        assert_eq!(vector.len(), 384);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5, "{text}");
        let numbers = vector[..6].iter().chain(vector.last());
        for (number, expected) in numbers.zip(expected) {
            assert!((number - expected).abs() < 1e-4, "{text}: {number} instead of {expected}");
        }
    }
}

#[test]
fn a_vector_does_not_depend_on_the_other_texts() {
    let together = embed(&["We deploy on Fridays", LONG, "", "The standup is at 9:30", LONG]);
    for (text, vector) in [("We deploy on Fridays", &together[0]), (LONG, &together[4]), ("", &together[2])] {
        let alone = &embed(&[text])[0];
        assert!(alone.iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-5), "{text}");
    }
    assert_eq!(embed(&[]), [[0.0; 0]; 0]);
}

#[test]
fn paraphrases_are_nearer_than_unrelated_texts() {
    let facts = ["We deploy on Fridays", "I'm vegetarian", "My dog's name is Biscuit", "The standup is at 9:30"];
    let questions = [
        "when do we ship a release?",
        "what should I cook tonight?",
        "what is my pet called?",
        "what time is the daily meeting?",
    ];
    let (facts, questions) = (embed(&facts), embed(&questions));
    for (number, question) in questions.iter().enumerate() {
        let own = cosine(question, &facts[number]);
        let others = facts.iter().enumerate().filter(|(other, _)| *other != number);
        let nearest = others.map(|(_, fact)| cosine(question, fact)).fold(f32::MIN, f32::max);
        assert!(own > nearest, "question {number}: {own} for its fact, {nearest} for another");
    }
}
