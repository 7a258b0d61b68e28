//! The daemon: one process that holds the memory for every channel and shows it to its owner.
//!
//! Goes in: HTTP on loopback, from programs with the token and from the person's own browser. Comes out: what the engine's
//! verbs answer. Never happens: an answer to anybody else, a page that loads something from elsewhere, SQL.

#[cfg(test)]
extern crate self as throughline_server;

pub mod access;
mod channels;
mod connections;
mod daemon;
mod events;
mod host;
mod http;
mod in_process;
pub mod mcp;
mod panel;
mod problem;
mod proxy;
mod scheduler;

pub use channels::{Author, ChannelHost, ChannelSecret, ChannelSettings, Incoming, TelegramSettings, WebhookSettings};
pub use daemon::{Daemon, Listening, ServeError, Tls, certificate_digest};
pub use host::{
    Ahead, ClientState, Connect, Connecting, ConnectionChange, Exports, FileChange, Host, Kept, ModelWork, Observing,
    Setting, SettingValue, Settings, SkippedFiles, Synced, Unreadable, VaultAdded, VaultFiles,
};
pub use http::chat::{ChatEvent, ChatMessage, ChatModel, Talks};
pub use in_process::InProcess;
pub use problem::{Code, Current, Problem};
pub use proxy::{ProxySettings, Upstreams};
pub use scheduler::{Chores, Rhythm, Worked};
