//! Where a memory is: its directories and files.

use std::path::PathBuf;

use directories::ProjectDirs;

use super::{OpenError, home_variable};

/// Where things are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The config file's directory.
    pub config: PathBuf,
    /// The directory of the database and the documents.
    pub data: PathBuf,
}

impl Home {
    /// `THROUGHLINE_HOME` for everything, else the platform's own places.
    pub fn find() -> Result<Self, OpenError> {
        if let Some(home) = home_variable() {
            return Ok(Self::at(home));
        }
        let places = ProjectDirs::from("", "", "throughline").ok_or(OpenError::NoHome)?;
        Ok(Self { config: places.config_dir().to_owned(), data: places.data_dir().to_owned() })
    }

    /// Everything in one directory.
    pub fn at(dir: PathBuf) -> Self {
        Self { config: dir.clone(), data: dir }
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data.join("memory.db")
    }

    /// The daemon's bearer token.
    pub fn token(&self) -> PathBuf {
        self.data.join("token")
    }

    /// What the daemon that runs on this home says about itself; locked while it does.
    pub fn daemon(&self) -> PathBuf {
        self.data.join("daemon.json")
    }

    /// What a channel notes about itself.
    pub fn channel(&self, name: &str) -> PathBuf {
        self.data.join(format!("channel-{name}.json"))
    }

    /// What was typed in chats, for the arrow keys.
    pub fn chat_history(&self) -> PathBuf {
        self.data.join("chat-history")
    }

    /// Where `vault.txt` and other files of the vault may be put.
    pub fn vault(&self) -> PathBuf {
        self.data.join("vault")
    }

    /// Where backups go.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }
}
