//! Models in a directory: tiny ones with made-up weights, against a forward pass written as the textbook has it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_core::ports::{EmbedFor, Embedder as _};
use throughline_embed::{DirectoryEmbedder, LoadError};

#[path = "directory/textbook.rs"]
mod textbook;

/// Sizes that fill neither panels nor groups.
const HIDDEN: usize = 24;
const HEADS: usize = 3;
const INTERMEDIATE: usize = 40;
const LAYERS: usize = 2;
const POSITIONS: usize = 40;
const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "we", "deploy", "on", "friday", "##s", ":", "query", "passage"];

type Tensors = BTreeMap<String, (Vec<usize>, Vec<f64>)>;

/// Made-up weights, all different, of about the size that a trained model has.
fn tensors(vocabulary: usize) -> Tensors {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![vocabulary, HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for (part, outputs, inputs) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INTERMEDIATE, HIDDEN),
            ("output.dense", HIDDEN, INTERMEDIATE),
        ] {
            shapes.push((name(&format!("{part}.weight")), vec![outputs, inputs]));
            shapes.push((name(&format!("{part}.bias")), vec![outputs]));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((name(&format!("{part}.weight")), vec![HIDDEN]));
            shapes.push((name(&format!("{part}.bias")), vec![HIDDEN]));
        }
    }
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // A multiple of 2^-8, which half precision holds exactly.
        ((state >> 33) % 256) as f64 / 256.0 - 0.5
    };
    let filled = shapes.into_iter().map(|(name, shape)| {
        let numbers = (0..shape.iter().product()).map(|_| number()).collect();
        (name, (shape, numbers))
    });
    filled.collect()
}

fn half(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    let (sign, exponent, fraction) = (bits >> 31, (bits >> 23) & 255, bits & 0x7f_ffff);
    if exponent == 0 { 0 } else { (sign << 15 | (exponent - 112) << 10 | fraction >> 13) as u16 }
}

fn safetensors(tensors: &Tensors, prefix: &str, dtype: &str) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (shape, numbers)) in tensors {
        let start = data.len();
        for number in numbers {
            match dtype {
                "F16" => data.extend(half(*number).to_le_bytes()),
                "BF16" => data.extend(((*number as f32).to_bits() >> 16).to_le_bytes()[..2].iter()),
                _ => data.extend((*number as f32).to_le_bytes()),
            }
        }
        let tensor = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(format!("{prefix}{name}"), tensor);
    }
    header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
    let header = Value::Object(header).to_string().into_bytes();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
        "intermediate_size": INTERMEDIATE, "vocab_size": WORDS.len(), "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
    })
}

fn write(directory: &Path, file: &str, value: &Value) {
    let path = directory.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value.to_string()).unwrap();
}

/// A directory with a small BERT.
fn bert() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "config.json", &config());
    let vocabulary: serde_json::Map<String, Value> =
        WORDS.iter().zip(0..).map(|(word, number)| ((*word).to_owned(), json!(number))).collect();
    let tokenizer = json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true, "strip_accents": null},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary},
    });
    write(directory.path(), "tokenizer.json", &tokenizer);
    fs::write(directory.path().join("model.safetensors"), safetensors(&tensors(WORDS.len()), "", "F32")).unwrap();
    directory
}

fn open(directory: &Path) -> DirectoryEmbedder {
    DirectoryEmbedder::open(directory).unwrap()
}

fn embed(directory: &Path, text: &str, purpose: EmbedFor) -> Vec<f32> {
    open(directory).embed(&[text.to_owned()], purpose).unwrap().remove(0)
}

/// What the textbook makes of tokens.
fn expected(tokens: &[usize], first_position: usize, is_mean: bool) -> Vec<f64> {
    let vocabulary = tokens.iter().max().unwrap().max(&(WORDS.len() - 1)) + 1;
    textbook::embed(&tensors(vocabulary), tokens, first_position, is_mean)
}

#[track_caller]
fn assert_near(vector: &[f32], expected: &[f64]) {
    assert_eq!(vector.len(), expected.len());
    for (number, expected) in vector.iter().zip(expected) {
        assert!((f64::from(*number) - expected).abs() < 1e-4, "{vector:?}\n{expected:?}");
    }
}

/// [CLS] we deploy on friday ##s [SEP]
const DEPLOY: [usize; 7] = [2, 4, 5, 6, 7, 8, 3];

#[test]
fn vectors_are_those_of_the_textbook_in_every_number_format() {
    let directory = bert();
    for (prefix, dtype) in [("", "F32"), ("bert.", "F16"), ("0.auto_model.", "BF16")] {
        fs::write(directory.path().join("model.safetensors"), safetensors(&tensors(WORDS.len()), prefix, dtype))
            .unwrap();
        assert_near(&embed(directory.path(), "We deploy on Fridays", EmbedFor::Storing), &expected(&DEPLOY, 0, true));
    }
}

#[test]
fn the_first_token_can_be_the_vector() {
    let directory = bert();
    let pooling = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    write(directory.path(), "1_Pooling/config.json", &pooling);
    assert_near(&embed(directory.path(), "We deploy on Fridays", EmbedFor::Storing), &expected(&DEPLOY, 0, false));
}

#[test]
fn a_vocabulary_of_lines_will_do() {
    let directory = bert();
    fs::remove_file(directory.path().join("tokenizer.json")).unwrap();
    fs::write(directory.path().join("vocab.txt"), WORDS.join("\n")).unwrap();
    assert_near(&embed(directory.path(), "We deploy on Fridays", EmbedFor::Storing), &expected(&DEPLOY, 0, true));
}

#[test]
fn e5_gets_its_prefixes_by_name_and_others_by_their_prompts() {
    let directory = bert();
    let query = [2, 10, 9, 4, 3];
    let passage = [2, 11, 9, 4, 3];
    let mut named = config();
    named["_name_or_path"] = json!("intfloat/e5-small");
    write(directory.path(), "config.json", &named);
    assert_near(&embed(directory.path(), "we", EmbedFor::Searching), &expected(&query, 0, true));
    assert_near(&embed(directory.path(), "we", EmbedFor::Storing), &expected(&passage, 0, true));
    let prompts = json!({"prompts": {"query": "deploy ", "document": ""}});
    write(directory.path(), "config_sentence_transformers.json", &prompts);
    assert_near(&embed(directory.path(), "we", EmbedFor::Searching), &expected(&[2, 5, 4, 3], 0, true));
    assert_near(&embed(directory.path(), "we", EmbedFor::Storing), &expected(&[2, 4, 3], 0, true));
}

#[test]
fn xlm_roberta_counts_positions_from_two() {
    let directory = bert();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/unigram.json"),
        directory.path().join("tokenizer.json"),
    )
    .unwrap();
    let mut roberta = config();
    roberta["model_type"] = json!("xlm-roberta");
    roberta["pad_token_id"] = json!(1);
    roberta["vocab_size"] = json!(260);
    write(directory.path(), "config.json", &roberta);
    fs::write(directory.path().join("model.safetensors"), safetensors(&tensors(260), "roberta.", "F32")).unwrap();
    let tokens = [0, 19, 4, 120, 53, 4, 32, 134, 2];
    let reference = textbook::embed(&tensors(260), &tokens, 2, true);
    assert_near(&embed(directory.path(), "the memories of an assistant", EmbedFor::Storing), &reference);
}

#[test]
fn the_name_follows_the_weights_and_not_the_place() {
    let (one, other) = (bert(), bert());
    let name = |directory: &Path| open(directory).name().rsplit('@').next().unwrap().to_owned();
    assert_eq!(name(one.path()), name(other.path()));
    let mut changed = tensors(WORDS.len());
    changed.get_mut("encoder.layer.0.output.dense.bias").unwrap().1[0] += 0.25;
    fs::write(other.path().join("model.safetensors"), safetensors(&changed, "", "F32")).unwrap();
    assert_ne!(name(one.path()), name(other.path()));
    assert_eq!(open(one.path()).base_url(), Some(one.path().canonicalize().unwrap().to_str().unwrap()));
}

#[test]
fn long_texts_are_cut_at_what_the_model_takes() {
    let directory = bert();
    let embedder = open(directory.path());
    assert_eq!((embedder.tokens(), embedder.dimension(), embedder.layers()), (POSITIONS, HIDDEN, LAYERS));
    let mut tokens = vec![4; POSITIONS];
    (tokens[0], tokens[POSITIONS - 1]) = (2, 3);
    assert_near(&embed(directory.path(), &"we ".repeat(5000), EmbedFor::Storing), &expected(&tokens, 0, true));
    write(directory.path(), "sentence_bert_config.json", &json!({"max_seq_length": 4}));
    assert_near(&embed(directory.path(), &"we ".repeat(9), EmbedFor::Storing), &expected(&[2, 4, 4, 3], 0, true));
}

/// The error of a directory after a change, with its message.
fn refused(change: impl FnOnce(&Path)) -> (LoadError, String) {
    let directory = bert();
    change(directory.path());
    let error = match DirectoryEmbedder::open(directory.path()) {
        Err(error) => error,
        Ok(embedder) => {
            let message = embedder.load().unwrap_err().to_string();
            assert!(embedder.embed(&["we".to_owned()], EmbedFor::Storing).is_err());
            LoadError::Unsupported { what: message }
        }
    };
    let message = error.to_string();
    assert!(!error.hint().is_empty());
    (error, message)
}

#[test]
fn what_cannot_be_computed_is_refused_with_the_reason() {
    let with = |key: &'static str, value: Value| {
        move |directory: &Path| {
            let mut changed = config();
            changed[key] = value;
            write(directory, "config.json", &changed);
        }
    };
    assert!(refused(with("model_type", json!("mpnet"))).1.contains("`mpnet`"));
    assert!(refused(with("hidden_act", json!("relu"))).1.contains("`relu`"));
    assert!(refused(with("position_embedding_type", json!("relative_key"))).1.contains("`relative_key`"));
    assert!(refused(with("num_attention_heads", json!(5))).1.contains("sizes"));
    assert!(refused(with("num_attention_heads", json!(0))).1.contains("sizes"));
    assert!(refused(with("num_hidden_layers", json!(3))).1.contains("encoder.layer.2"));
    assert!(refused(with("vocab_size", json!(99))).1.contains("word_embeddings"));
    let dense = json!([{"type": "sentence_transformers.models.Dense"}]);
    assert!(refused(|directory| write(directory, "modules.json", &dense)).1.contains("Dense"));
    let most = json!({"pooling_mode_max_tokens": true});
    assert!(refused(|directory| write(directory, "1_Pooling/config.json", &most)).1.contains("pools"));
    let bpe = json!({"model": {"type": "BPE", "vocab": {"a": 0}}});
    assert!(refused(|directory| write(directory, "tokenizer.json", &bpe)).1.contains("`BPE`"));
    let mut whole = tensors(WORDS.len());
    whole.remove("encoder.layer.1.output.dense.bias");
    let without = |directory: &Path| {
        fs::write(directory.join("model.safetensors"), safetensors(&whole, "", "F32")).unwrap();
    };
    assert!(refused(without).1.contains("encoder.layer.1.output.dense.bias"));
    let of_integers = |directory: &Path| {
        fs::write(directory.join("model.safetensors"), safetensors(&tensors(WORDS.len()), "", "I8")).unwrap();
    };
    assert!(refused(of_integers).1.contains("`I8`"));
}

#[test]
fn missing_and_damaged_files_are_named() {
    assert!(matches!(DirectoryEmbedder::open(Path::new("/nowhere/at/all")), Err(LoadError::NoDirectory { .. })));
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let (_, message) = refused(|directory| fs::remove_file(directory.join(file)).unwrap());
        assert!(message.contains(file), "{message}");
        for content in [
            "",
            "{",
            "[]",
            "\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}{",
            "\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}",
        ] {
            let (_, message) = refused(|directory| fs::write(directory.join(file), content).unwrap());
            assert!(message.contains(file), "{message}");
        }
    }
    let cut = |directory: &Path| {
        let path = directory.join("model.safetensors");
        let whole = fs::read(&path).unwrap();
        fs::write(path, &whole[..whole.len() - 1]).unwrap();
    };
    assert!(refused(cut).1.contains("model.safetensors"));
}
