//! The daemon's life: bind, serve, and stop after what was acknowledged is done.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::access::{Names, Token};
use crate::http::{self, App};
use crate::{Host, Problem};

/// How long connections may take to end once the daemon is asked to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody else has the port, or the address is not this machine's.
    #[error("cannot listen on {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The host has nothing that nobody can guess.
    #[error("cannot begin: {}", .0.message)]
    Host(Problem),
    /// The connection to everybody was lost.
    #[error("cannot go on serving")]
    Serve(#[source] std::io::Error),
}

/// A daemon that listens.
pub struct Daemon {
    listener: TcpListener,
    app: Arc<App>,
}

impl Daemon {
    /// Listens on `address`, answering only to its loopback names and `more`.
    pub async fn bind(
        host: Arc<dyn Host>,
        address: SocketAddr,
        token: Token,
        more: &[String],
    ) -> Result<Self, ServeError> {
        let bind = |source| ServeError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let port = listener.local_addr().map_err(bind)?.port();
        let names = Names::new(port, false, more);
        let app = Arc::new(App::new(host, token, names).map_err(ServeError::Host)?);
        Ok(Self { listener, app })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// A one-time link to the panel.
    pub fn link(&self) -> Result<String, Problem> {
        self.app.link()
    }

    /// Serves until `stop` is done, and then until the last answer is out.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let stopping = self.app.stopping.clone();
        let router = http::router(self.app);
        let stop = {
            let stopping = stopping.clone();
            async move {
                stop.await;
                stopping.cancel();
            }
        };
        let served = axum::serve(self.listener, router).with_graceful_shutdown(stop);
        // Work that has begun goes on on its own thread; only connections that nobody closes are left behind.
        let patience = async {
            stopping.cancelled().await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            served = served => served.map_err(ServeError::Serve),
            () = patience => Ok(()),
        }
    }
}
