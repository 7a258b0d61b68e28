//! `throughline model embed`: which model searches by meaning.

use std::path::Path;

use serde_json::json;

use super::put;
use crate::common::{Home, string, until};

fn config(home: &Home) -> String {
    std::fs::read_to_string(home.path("config.toml")).unwrap()
}

/// A model of one layer whose weights follow from a formula: 16 numbers, three words.
fn model(home: &Home) -> std::path::PathBuf {
    let directory = home.root().join("person/tiny-model");
    std::fs::create_dir_all(&directory).unwrap();
    let config = json!({
        "model_type": "bert", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
        "intermediate_size": 16, "vocab_size": 6, "max_position_embeddings": 32,
    });
    std::fs::write(directory.join("config.json"), config.to_string()).unwrap();
    std::fs::write(directory.join("vocab.txt"), "[UNK]\n[CLS]\n[SEP]\nwe\ndeploy\nrelease\n").unwrap();
    weights(&directory);
    directory
}

fn weights(directory: &Path) {
    let layer = "encoder.layer.0";
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![6, 16]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![32, 16]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 16]),
    ];
    for name in ["query", "key", "value"] {
        shapes.push((format!("{layer}.attention.self.{name}.weight"), vec![16, 16]));
        shapes.push((format!("{layer}.attention.self.{name}.bias"), vec![16]));
    }
    for name in ["attention.output.dense", "intermediate.dense", "output.dense"] {
        shapes.push((format!("{layer}.{name}.weight"), vec![16, 16]));
        shapes.push((format!("{layer}.{name}.bias"), vec![16]));
    }
    for name in ["embeddings", &format!("{layer}.attention.output"), &format!("{layer}.output")] {
        shapes.push((format!("{name}.LayerNorm.weight"), vec![16]));
        shapes.push((format!("{name}.LayerNorm.bias"), vec![16]));
    }
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let start = data.len();
        for number in 0..shape.iter().product::<usize>() {
            let value = ((number * 7 + start) % 23) as f32 / 23.0 - 0.4;
            data.extend(value.to_le_bytes());
        }
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}));
    }
    let header = serde_json::Value::Object(header).to_string().into_bytes();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
    std::fs::write(directory.join("model.safetensors"), file).unwrap();
}

#[test]
fn a_directory_is_checked_written_and_used() {
    let home = Home::new();
    let directory = model(&home);
    let chosen = home.json(&["model", "embed", directory.to_str().unwrap()]);
    assert_eq!((&chosen["provider"], &chosen["dimension"]), (&json!("directory"), &json!(16)));
    assert!(string(&chosen["model"]).starts_with("tiny-model@"), "{chosen}");
    assert!(config(&home).contains("# Welcome to Throughline"), "comments stay");
    put(&home, "notes/a.md", "we deploy");
    put(&home, "notes/b.md", "release");
    let added = home.json(&["vault", "add", "notes"]);
    assert_eq!((&added["embeddings"]["embedded"], &added["embeddings"]["problem"]), (&json!(2), &json!(null)));
    let found = home.json(&["vault", "search", "release"]);
    assert_eq!(found["searched_by"], json!("words_and_meaning"), "{found}");
    assert!(home.run(&["vault", "search", "release"]).done().contains("directory/tiny-model@"));
    // The vectors serve until those of the next model are there, and can be asked for where they are.
    home.json(&["model", "embed", "builtin"]);
    // The background may change them between a look at the model and the search, which then goes by words.
    until(|| (home.json(&["vault", "search", "release"])["searched_by"] == json!("words_and_meaning")).then_some(()));
}

#[test]
fn a_directory_that_is_no_model_changes_nothing() {
    let home = Home::new();
    home.json(&["model", "embed", "builtin"]);
    let before = config(&home);
    let directory = model(&home);
    std::fs::remove_file(directory.join("model.safetensors")).unwrap();
    let ran = home.run(&["model", "embed", directory.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("has no model.safetensors") && ran.stderr.contains("hint:"), "{ran:?}");
    assert_eq!(config(&home), before);
}

#[test]
fn none_and_builtin_are_written_with_everything_else_kept() {
    let home = Home::with_config("config.toml", "# mine\n[memory]\nuser_namespace = \"user\" # me\n");
    home.run(&["model", "embed", "none"]).done();
    let written = config(&home);
    assert!(written.starts_with("# mine\n[memory]\nuser_namespace = \"user\" # me\n"), "{written}");
    assert!(written.ends_with("[embeddings]\nprovider = \"none\"\n"), "{written}");
    let told = home.run(&["model", "embed", "builtin"]).done();
    assert!(told.contains("384 numbers per text") && told.contains("vault reembed"), "{told}");
    assert!(config(&home).ends_with("[embeddings]\nprovider = \"builtin\"\n"));
}

#[test]
fn another_format_is_left_alone_with_what_to_write() {
    let text = "{\"memory\": {\"user_namespace\": \"user\"}}";
    let home = Home::with_config("config.json", text);
    let ran = home.run(&["model", "embed", "none"]);
    assert!(ran.code == 2 && ran.stderr.contains("set `provider` under `embeddings` to \"none\""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(home.path("config.json")).unwrap(), text);
}
