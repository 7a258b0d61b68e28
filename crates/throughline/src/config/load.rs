//! The config file on disk: which one it is, what it says, and the first one that a new home gets.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::declare::Table;
use super::error::ConfigError;
use super::parse::{Format, tree, typed};
use super::settings::{Config, TABLES};

/// The names a config file may have, in the order in which they are named.
const NAMES: [&str; 4] = ["config.toml", "config.yaml", "config.yml", "config.json"];

/// Settings, and where they come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// The file, where there is one.
    pub path: Option<PathBuf>,
    /// The dotted keys that the file sets; all others have their default.
    pub given: BTreeSet<String>,
}

/// Finds the one config file in `dir`. Two of them are an error: nobody could say which one holds.
pub fn find(dir: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let mut found: Option<PathBuf> = None;
    for path in NAMES.map(|name| dir.join(name)) {
        if !path.try_exists().map_err(|source| ConfigError::Read { path: path.clone(), source })? {
            continue;
        }
        if let Some(first) = found {
            return Err(ConfigError::TwoFiles { first, second: path });
        }
        found = Some(path);
    }
    Ok(found)
}

/// Reads the settings in `dir`; without a file they are the defaults.
pub fn load(dir: &Path) -> Result<Loaded, ConfigError> {
    let Some(path) = find(dir)? else { return Ok(Loaded::default()) };
    let text = fs::read_to_string(&path).map_err(|source| ConfigError::Read { path: path.clone(), source })?;
    let format = Format::of(&path).unwrap_or(Format::Toml);
    let read = tree(&text, format).and_then(|root| {
        let given = TABLES.iter().flat_map(|table| set_keys(table, &root)).collect();
        Ok((typed(root)?, given))
    });
    match read {
        Ok((config, given)) => Ok(Loaded { config, path: Some(path), given }),
        Err(source) => Err(ConfigError::InFile { path, source: Box::new(source) }),
    }
}

fn set_keys(table: &Table, root: &Map<String, Value>) -> Vec<String> {
    let (first, rest) = table.name.split_once('.').map_or((table.name, None), |(first, rest)| (first, Some(rest)));
    let found = root.get(first).and_then(|found| rest.map_or(Some(found), |rest| found.get(rest)));
    let keys = found.and_then(Value::as_object).into_iter().flatten();
    keys.filter(|(_, value)| !value.is_null()).map(|(key, _)| format!("{}.{key}", table.name)).collect()
}

/// Writes `config.toml` for a new home, readable by its owner alone. It never touches a config that is there,
/// whatever its format: that is `AlreadyExists`.
pub fn write_first_run(dir: &Path) -> io::Result<PathBuf> {
    for path in NAMES.map(|name| dir.join(name)) {
        if path.try_exists()? {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("`{}` is there", path.display())));
        }
    }
    let mut directories = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut directories, 0o700);
    directories.recursive(true).create(dir)?;
    let path = dir.join(NAMES[0]);
    // Whole or not at all: another first run must not read half a file, and only one of them may win.
    let mut draft = tempfile::NamedTempFile::new_in(dir)?;
    draft.write_all(super::FIRST_RUN.as_bytes())?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(&path).map_err(|error| error.error)?;
    Ok(path)
}
