//! Expected tokens are those of Hugging Face's `tokenizers` 0.22 with the same files.

use std::path::Path;

use proptest::prelude::*;

use super::{Pieces, Tokenizer, Unigram};
use crate::builtin;

/// BERT's tokens without the two around them.
fn bert(text: &str) -> Vec<u32> {
    let tokens = builtin::tokenizer().encode(text, 1000);
    assert_eq!((tokens.first(), tokens.last()), (Some(&101), Some(&102)));
    tokens[1..tokens.len() - 1].to_vec()
}

#[test]
fn bert_splits_words_punctuation_and_pieces() {
    assert_eq!(bert("Hello, World!"), [7592, 1010, 2088, 999]);
    assert_eq!(bert("unaffable embeddings"), [14477, 20961, 3468, 7861, 8270, 4667, 2015]);
    assert_eq!(
        bert("don't e-mail foo_bar@example.com: $3.50 (50%)"),
        [
            2123, 1005, 1056, 1041, 1011, 5653, 29379, 1035, 3347, 1030, 2742, 1012, 4012, 1024, 1002, 1017, 1012,
            2753, 1006, 2753, 1003, 1007
        ]
    );
    assert_eq!(bert("“quoted” — dash… ¿qué?"), [1523, 9339, 1524, 1517, 11454, 1529, 1094, 10861, 1029]);
}

#[test]
fn bert_lowercases_and_strips_accents() {
    assert_eq!(bert("Crème brûlée naïve Zürich"), [13675, 21382, 7987, 9307, 2063, 15743, 10204]);
    assert_eq!(bert("İstanbul Straße ΑΒΓς"), [9960, 2358, 27807, 1155, 29720, 29721, 19579]);
    assert_eq!(bert("ﬁne Ⅻ ½ ²"), [1984, 2638, 100, 1092, 1082]);
}

#[test]
fn bert_takes_cjk_characters_apart_and_keeps_other_scripts() {
    assert_eq!(bert("東京 is in 日本です"), [1879, 1755, 2003, 1999, 1864, 1876, 1665, 30184]);
    assert_eq!(
        bert("안녕하세요 мир Ёлка"),
        [
            1463, 30006, 30021, 29992, 30010, 30025, 30005, 30006, 29997, 30009, 29999, 30013, 1191, 10325, 16856,
            1185, 29436, 28598
        ]
    );
    assert_eq!(bert("नमस्ते दुनिया"), [1327, 29867, 29874, 29859, 1325, 29863, 29877, 29868, 29876]);
}

#[test]
fn bert_drops_control_characters_and_knows_unknown_words() {
    assert_eq!(
        bert("tab\there\nnew\r\nline\u{a0}nbsp\u{200b}zero\u{200d}join"),
        [21628, 2182, 2047, 2240, 1050, 5910, 2361, 6290, 29147, 28765]
    );
    assert_eq!(bert("emoji 👍🏽 ok 🦀"), [7861, 29147, 2072, 100, 7929, 100]);
    assert_eq!(bert(&format!("{} end", "x".repeat(101))), [100, 2203]);
    assert_eq!(bert("a\u{301}e\u{308} \u{fffd} \u{e000} \u{7}bell"), [29347, 4330]);
    assert_eq!(bert(""), [0; 0]);
    assert_eq!(bert(" \t "), [0; 0]);
}

#[test]
fn special_tokens_in_a_text_are_text() {
    assert_eq!(bert("[SEP]"), [1031, 19802, 1033]);
}

#[test]
fn tokens_stop_at_the_limit() {
    let tokenizer = builtin::tokenizer();
    let tokens = tokenizer.encode(&"word ".repeat(1_000_000), 128);
    assert_eq!((tokens.len(), tokens[0], tokens[127]), (128, 101, 102));
    assert_eq!(tokenizer.encode(&"unaffable".repeat(3), 4).len(), 4);
}

fn unigram() -> Tokenizer {
    #[derive(serde::Deserialize)]
    struct File {
        model: Model,
    }
    #[derive(serde::Deserialize)]
    struct Model {
        vocab: Vec<(String, f32)>,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/unigram.json");
    let file: File = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    Tokenizer { pieces: Pieces::Unigram(Unigram::new(file.model.vocab.into_iter(), 3)), first: 0, last: 2 }
}

#[test]
fn unigram_takes_the_likeliest_split() {
    let tokenizer = unigram();
    let check = |text: &str, expected: &[u32]| assert_eq!(tokenizer.encode(text, 1000), expected, "{text}");
    check("We deploy on Fridays", &[0, 4, 107, 6, 4, 11, 6, 17, 16, 8, 27, 4, 43, 4, 132, 12, 15, 11, 10, 27, 5, 2]);
    check("the memories of an assistant", &[0, 19, 4, 120, 53, 4, 32, 134, 2]);
    check("記憶 检索 ☃☃ snow", &[0, 4, 209, 200, 4, 3, 202, 4, 3, 4, 5, 24, 49, 2]);
    check("ﬁne  spaces\t here", &[0, 59, 52, 6, 4, 5, 17, 10, 14, 30, 4, 33, 26, 6, 2]);
    check("", &[0, 2]);
    check("unknown Ж letters ЖЖ", &[0, 4, 18, 24, 28, 24, 49, 24, 4, 3, 4, 65, 7, 7, 26, 5, 4, 3, 2]);
    let mixed = "我们在星期五部署 and more words of everyday language";
    check(
        mixed,
        &[
            0, 4, 211, 207, 216, 213, 208, 214, 212, 210, 31, 4, 22, 44, 6, 135, 5, 53, 105, 11, 10, 27, 4, 16, 32, 25,
            18, 10, 25, 6, 2,
        ],
    );
    assert_eq!(tokenizer.encode(mixed, 5).len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_tokens_within_the_limit(text in any::<String>(), limit in 3_usize..20) {
        for tokens in [builtin::tokenizer().encode(&text, limit), unigram().encode(&text, limit)] {
            prop_assert!((2..=limit).contains(&tokens.len()));
        }
    }
}
