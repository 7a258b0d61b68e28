//! Sessions that begin while another process writes: their host gets its answer at once, and they are noted as soon as the
//! writer is done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline_core::engine::{Engine, EngineError, StartSession, Started};
use throughline_core::model::SessionId;

use super::App;
use crate::problem::Problem;

/// Sessions that have begun and are not noted yet.
#[derive(Default)]
pub(crate) struct Starting(Mutex<HashMap<SessionId, StartSession>>);

impl Starting {
    /// What a session that is not noted yet is about.
    pub(crate) fn get(&self, id: &SessionId) -> Option<StartSession> {
        self.sessions().get(id).cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, StartSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a session, or finds it begun. Never waits for another process that writes.
pub(super) async fn begin(app: &Arc<App>, start: StartSession, is_named: bool) -> Result<Started, Problem> {
    let asked = start.clone();
    let begun = app.engine(move |engine| {
        Ok(match begin_or_find(&engine.for_replies(), &asked, is_named) {
            Err(EngineError::Store(error)) if error.is_unwritten() => (engine.sessions().preview(&asked)?, false),
            started => (started?, true),
        })
    });
    let (started, is_noted) = begun.await?;
    if !is_noted {
        note_later(app, start);
    }
    Ok(started)
}

fn begin_or_find(engine: &Engine, start: &StartSession, is_named: bool) -> Result<Started, EngineError> {
    if is_named { engine.sessions().start(start) } else { engine.sessions().start_new(start) }
}

/// Notes a session as soon as no other process writes.
fn note_later(app: &Arc<App>, start: StartSession) {
    tracing::warn!(session = %start.id, "another process writes: the session is noted later");
    app.starting.sessions().insert(start.id.clone(), start.clone());
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let id = start.id.clone();
        if let Err(problem) = app.engine(move |engine| Ok(engine.sessions().start(&start)?)).await {
            tracing::warn!(session = %id, problem = problem.message, "the session is not noted");
        }
        app.starting.sessions().remove(&id);
    });
}
