//! What the ranking formula sees, written down for fitting its weights.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use throughline_core::recall::{Feature, Measured};

use super::dataset::Query;
use crate::cli::failure::Failure;

/// A file with a line for the names of the features, then one for each question:
/// `{"query_id", "corpus", "gold", "ids", "assistant", "features"}`, a row of features for each candidate.
pub(super) struct FeatureFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl FeatureFile {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
        let mut features = Self { path: path.to_owned(), file: BufWriter::new(file) };
        let names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.name()).collect();
        features.write(&json!({ "names": names }))?;
        Ok(features)
    }

    pub(super) fn add(&mut self, query: &Query, measured: &[Measured]) -> Result<(), Failure> {
        let rounded = |value: f32| (f64::from(value) * 10_000.0).round() / 10_000.0;
        let row = |candidate: &Measured| -> Vec<f64> {
            Feature::ALL.iter().map(|feature| rounded(candidate.features.get(*feature))).collect()
        };
        self.write(&json!({
            "query_id": query.id,
            "corpus": query.corpus,
            "gold": query.gold_ids,
            "ids": measured.iter().map(|candidate| candidate.id.as_str()).collect::<Vec<_>>(),
            "assistant": measured.iter().map(|candidate| candidate.with_assistant).collect::<Vec<_>>(),
            "features": measured.iter().map(row).collect::<Vec<_>>(),
        }))
    }

    fn write(&mut self, line: &Value) -> Result<(), Failure> {
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        written.map_err(|error| Failure::io(&format!("write {}", self.path.display()), &error))
    }
}
