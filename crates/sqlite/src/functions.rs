//! Functions of the core that migrations call in SQL. The schema itself uses none of them: any SQLite can write the file.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use throughline_core::model::TextDigest;

use crate::error::unreadable;

pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("text_digest", 4, flags, text_digest)
}

/// `text_digest(namespace, layer, project, content)`
fn text_digest(context: &Context<'_>) -> rusqlite::Result<String> {
    let (namespace, layer): (String, String) = (context.get(0)?, context.get(1)?);
    let (project, content): (Option<String>, String) = (context.get(2)?, context.get(3)?);
    let layer = layer.parse().map_err(unreadable)?;
    Ok(TextDigest::of(&namespace, layer, project.as_deref(), &content).as_str().to_owned())
}
