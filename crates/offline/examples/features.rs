//! Prints what the classifier sees of labelled sentences, for `scripts/fit-offline`: `LABEL<TAB>TEXT` goes in,
//! `LABEL<TAB>LANGUAGE<TAB>FEATURE<TAB>FEATURE…` comes out.

use std::io::{BufRead as _, Write as _};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((label, text)) = line.split_once('\t') else { continue };
        if let Some((language, features)) = throughline_offline::features(text) {
            writeln!(out, "{label}\t{}\t{}", language.code(), features.join("\t"))?;
        }
    }
    out.flush()
}
