//! Functions of the core, for SQL that derives values. The schema itself uses none of them: any SQLite can write the file.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use throughline_core::lineage::normalised;
use throughline_core::model::{StatementDigest, TextDigest};
use throughline_core::recall::distinct_words;
use throughline_core::text::tokens;

use crate::error::unreadable;
use crate::rows::to_json;

pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("text_digest", 4, flags, text_digest)?;
    connection.create_scalar_function("estimated_tokens", 1, flags, estimated_tokens)?;
    connection.create_scalar_function("statement_digest", 2, flags, statement_digest)?;
    connection.create_scalar_function("distinct_words", 1, flags, words)
}

/// `text_digest(namespace, layer, project, content)`
fn text_digest(context: &Context<'_>) -> rusqlite::Result<String> {
    let (namespace, layer): (String, String) = (context.get(0)?, context.get(1)?);
    let (project, content): (Option<String>, String) = (context.get(2)?, context.get(3)?);
    let layer = layer.parse().map_err(unreadable)?;
    Ok(TextDigest::of(&namespace, layer, project.as_deref(), &content).as_str().to_owned())
}

/// `statement_digest(key, content)`: nothing where the content has too few words.
fn statement_digest(context: &Context<'_>) -> rusqlite::Result<Option<Vec<u8>>> {
    let key: Vec<u8> = context.get(0)?;
    let text = normalised(context.get_raw(1).as_str()?);
    Ok(text.map(|text| StatementDigest::of(&key, &text).as_bytes().to_vec()))
}

/// `estimated_tokens(text)`
fn estimated_tokens(context: &Context<'_>) -> rusqlite::Result<usize> {
    Ok(tokens::estimate(context.get_raw(0).as_str()?))
}

/// `distinct_words(text)`: a JSON list.
fn words(context: &Context<'_>) -> rusqlite::Result<String> {
    to_json(&distinct_words(context.get_raw(0).as_str()?))
}
