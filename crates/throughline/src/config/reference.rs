//! The reference that is generated from the declared settings: `defaults.toml` and docs/config.md.

use std::fmt::Write as _;

use serde_json::Value;

use super::declare::Key;
use super::settings::{Config, TABLES};
use super::show::shown;

const HEAD: &str = "\
# Every setting of Throughline with its default. Copy what you want to change into your own config.toml;
# what you leave out stays as it is here. Lines that begin with `# name =` show settings that are unset by default.
";

/// Every key with its help and its default, as a config file.
pub fn defaults_toml() -> String {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let mut text = HEAD.to_owned();
    for table in TABLES {
        let _ = write!(text, "\n[{}]\n", table.name);
        for key in table.keys {
            let _ = write!(text, "\n{}", entry(key, &table.of(&defaults)[key.name]));
        }
    }
    text
}

/// The page docs/config.md.
pub fn reference_page() -> String {
    format!(
        "# Configuration\n\nThe file is `config.toml` in Throughline's home (`throughline` alone says where that is); \
         the same tables may be\nwritten as `config.yaml` or `config.json` instead. `throughline config show` lists \
         what is in force,\n`throughline config check` finds mistakes. Every setting with its default:\n\n\
         ```toml\n{}\n```\n",
        defaults_toml().trim_end()
    )
}

/// The help of a key as comments, then the key with its default; commented out where it is unset.
fn entry(key: &Key, default: &Value) -> String {
    let range = key.takes.range_in_words();
    let help = key.help.iter().map(|line| format!("#{}\n", line.replace("{range}", &range)));
    let value = match default {
        Value::Null => format!("# {} = {}\n", key.name, key.example.unwrap_or_default()),
        default => format!("{} = {}\n", key.name, shown(key.name, default)),
    };
    help.chain([value]).collect()
}
