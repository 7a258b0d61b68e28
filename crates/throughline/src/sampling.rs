//! Connected clients that offer sampling. One process asks them at a time: it holds a lock, and others leave to it what is due.

mod sampler;

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use throughline_core::ports::SamplingClient;

use crate::world::{Home, World};
use crate::{lock_file, models};

pub(crate) use sampler::Sampler;

/// The clients of this process that offer sampling.
#[derive(Default)]
pub(crate) struct SamplingClients {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The latest last.
    clients: Vec<Arc<dyn SamplingClient>>,
    /// Held while a client is connected.
    lock: Option<File>,
}

impl SamplingClients {
    pub(crate) fn add(&self, client: Arc<dyn SamplingClient>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clients.push(client);
    }

    /// The client to ask: the latest that is connected. None where another process asks its own.
    pub(crate) fn current(&self, home: &Home) -> Option<Arc<dyn SamplingClient>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clients.retain(|client| client.is_connected());
        let Some(latest) = state.clients.last().cloned() else {
            state.lock = None;
            return None;
        };
        if state.lock.is_none() && !is_offered(home) {
            state.lock = lock_file::take(&lock_of(home)).unwrap_or_else(|error| {
                // Before the first use there is no home yet.
                tracing::debug!(%error, "the lock for sampling cannot be taken");
                None
            });
        }
        state.lock.is_some().then_some(latest)
    }
}

/// Whether a process of this home, possibly this one, has a client that offers sampling.
pub(crate) fn is_offered(home: &Home) -> bool {
    lock_file::is_held(&lock_of(home))
}

/// Whether what is due belongs to another process, which has a client to ask.
pub(crate) fn is_elsewhere(world: &World) -> bool {
    // Looked at first, chosen or not: the lock says that a client is there to be chosen.
    let has_client = world.sampling.current(&world.home).is_some();
    models::uses_sampling(&world.config.config) && !has_client && is_offered(&world.home)
}

fn lock_of(home: &Home) -> PathBuf {
    home.data.join("sampling.lock")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use throughline_core::ports::{ModelError, SamplingReply, SamplingRequest};

    use super::*;

    struct Client(&'static str, AtomicBool);

    impl SamplingClient for Client {
        fn name(&self) -> &str {
            self.0
        }

        fn is_connected(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }

        fn sample(&self, _: &SamplingRequest, _: &mut dyn FnMut() -> bool) -> Result<SamplingReply, ModelError> {
            Err(ModelError::Cancelled)
        }
    }

    fn client(name: &'static str) -> Arc<Client> {
        Arc::new(Client(name, AtomicBool::new(true)))
    }

    #[test]
    fn one_process_asks_and_the_next_takes_over() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::at(place.path().to_owned());
        let (here, there) = (SamplingClients::default(), SamplingClients::default());
        let name = |clients: &SamplingClients| clients.current(&home).map(|client| client.name().to_owned());
        assert_eq!((name(&here), is_offered(&home)), (None, false));
        let (first, second) = (client("first"), client("second"));
        here.add(Arc::clone(&first) as Arc<dyn SamplingClient>);
        assert_eq!((name(&here).as_deref(), is_offered(&home)), (Some("first"), true));
        there.add(client("elsewhere"));
        assert_eq!(name(&there), None, "another process asks its client");
        here.add(Arc::clone(&second) as Arc<dyn SamplingClient>);
        assert_eq!(name(&here).as_deref(), Some("second"), "the latest");
        second.1.store(false, Ordering::Relaxed);
        assert_eq!(name(&here).as_deref(), Some("first"));
        first.1.store(false, Ordering::Relaxed);
        assert_eq!((name(&here), is_offered(&home)), (None, false));
        assert_eq!(name(&there).as_deref(), Some("elsewhere"));
    }
}
