//! The memory for assistants that speak the Model Context Protocol: on standard input and output, and over HTTP.
//!
//! Goes in: requests of a client, in any revision that the SDK knows. Comes out: the tools of the core, parts of memory as
//! resources, and a few prompts. Never happens: a tool that the core does not offer, a failure that ends the connection,
//! anything but the protocol on standard output.

mod conversation;
mod http;
mod logging;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod server;
mod stdio;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use throughline_core::engine::{Engine, Settings};
use throughline_core::ports::SamplingClient;

use crate::Problem;

pub(crate) use http::routes;
pub use stdio::serve_stdio;

/// Who keeps the memory: what an MCP server asks of the program that runs it. Methods may block where they do not say
/// otherwise.
pub trait Keeper: Send + Sync + 'static {
    /// How the memory is set up, without opening it.
    fn settings(&self) -> Result<Settings, Problem>;

    /// The memory in the hands of an assistant; opened on first use, and tried anew after a failure.
    fn engine(&self) -> Result<Engine, Problem>;

    /// A short word that no other connection has.
    fn word(&self) -> Result<String, Problem>;

    /// The directory that the client works in, where its process says so.
    fn directory(&self) -> Option<PathBuf>;

    /// A client connected that offers sampling. Returns at once: whether it is ever asked is the config's decision.
    fn offer_sampling(&self, client: Arc<dyn SamplingClient>);
}
