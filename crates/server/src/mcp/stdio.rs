//! Standard input and output: one client, and a process that ends when the client does.
//!
//! A client that is killed may leave its end of the pipe to another process, which keeps the pipe open for ever. So the
//! parent is watched too; by asking who it is, because the signal that the system would send comes also when only the
//! thread that started this process ends.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::http::LONGEST_REQUEST;
use super::server::{CALLS_AT_ONCE, Server, Way};

/// How often the parent is looked for.
const LOOK: Duration = Duration::from_secs(1);

/// A client says something at once. One that is silent for so many looks from the start was gone before the first.
const SILENT_LOOKS: usize = 30;

/// How long answers that are under way are waited for, and then writes.
const LAST_ANSWERS: Duration = Duration::from_secs(6);
const LAST_WRITES: Duration = Duration::from_secs(30);

/// Serves one client until it goes, its parent dies, or `stop` is done; then finishes what was begun.
pub async fn serve_stdio(keeper: Arc<dyn Keeper>, stop: impl Future<Output = ()>) {
    let parent = parent();
    let heard = Arc::new(AtomicBool::new(false));
    let server = Server::new(keeper, Way::Stdio, Arc::new(Semaphore::new(CALLS_AT_ONCE)));
    let work = server.work();
    let (input, output) = stdio_pipes();
    let lines = AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_REQUEST);
    let transport = Listening { inner: lines, is_begun: false, heard: Arc::clone(&heard) };
    let ending = CancellationToken::new();
    let token = ending.clone();
    let serving = async move {
        match server.serve_with_ct(transport, token).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::info!(%error, "the client went before it said what it wants"),
        }
    };
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = orphaned(parent, &heard) => {
            ending.cancel();
        }
        () = stop => {
            ending.cancel();
            let _ = tokio::time::timeout(LAST_ANSWERS, &mut serving).await;
        }
    }
    work.close();
    if tokio::time::timeout(LAST_WRITES, work.wait()).await.is_err() {
        tracing::warn!("a call was given up; what it did not confirm is not stored");
    }
}

/// Done when the process that started this one is gone.
async fn orphaned(parent: Option<u32>, heard: &AtomicBool) {
    let may_be_silent = std::io::stdin().is_terminal();
    let mut looks = 0;
    loop {
        tokio::time::sleep(LOOK).await;
        looks += 1;
        let is_silent = looks >= SILENT_LOOKS && !heard.load(Ordering::Relaxed) && !may_be_silent;
        if self::parent() != parent || is_silent {
            tracing::info!(is_silent, "nobody is there any more");
            return;
        }
    }
}

#[cfg(unix)]
fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}

/// A transport on which a stray message before the beginning is no reason to hang up.
struct Listening<T> {
    inner: T,
    is_begun: bool,
    heard: Arc<AtomicBool>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Listening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.heard.store(true, Ordering::Relaxed);
            self.is_begun |= begins(&message);
            if self.is_begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
            tracing::debug!("a message before the beginning is left alone");
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// Whether a message begins a conversation: `initialize`, or a request that says itself which revision it speaks.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}
