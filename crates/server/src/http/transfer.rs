//! `/api/export`, `/api/import`

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use throughline_core::engine::{Engine, EngineError, Export, ImportPreview, ImportReport, Imported};
use throughline_core::transfer::formats::{Format, Found, ImportError};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Params};
use super::{Answer, App};
use crate::Host;
use crate::host::Ahead;
use crate::problem::{Code, Problem};

/// What an import may have, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// How long an import may take to arrive: as long as it does, it is its turn.
const ARRIVAL: Duration = Duration::from_secs(300);

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(export))
        .routes(routes!(imported, import))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

/// In which form.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Form {
    /// `json` imports back identical; `markdown` is for reading.
    #[param(inline)]
    format: Option<ExportForm>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ExportForm {
    #[default]
    Json,
    Markdown,
}

/// Gives everything, as JSON or Markdown
#[utoipa::path(get, path = "/api/export", tag = "transfer", params(Form),
    responses((status = 200, description = "Everything",
               content((Export = "application/json"), (String = "text/markdown")))))]
async fn export(State(app): State<Arc<App>>, Params(form): Params<Form>) -> Result<Response, Problem> {
    let form = form.format.unwrap_or_default();
    // Everything may be a lot: it is written out where that disturbs nobody.
    let written = app.engine(move |engine| {
        let export = engine.transfer().export()?;
        Ok(match form {
            ExportForm::Markdown => ("text/markdown; charset=utf-8", export.to_markdown().into_bytes()),
            ExportForm::Json => {
                let bytes = serde_json::to_vec(&export).map_err(|error| Problem::failed(&error, None))?;
                ("application/json", bytes)
            }
        })
    });
    let (kind, bytes) = written.await?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}

/// What to take in: an export of our own, the text of a file of any kind that is known, or a zip archive of such files.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Import {
    /// What `/api/export` gave.
    #[schema(value_type = Option<Object>)]
    export: Option<Box<serde_json::value::RawValue>>,
    /// The name of the file: it helps to tell what it is.
    name: Option<String>,
    /// The text of the file.
    text: Option<String>,
    /// The bytes of a zip archive, in base64.
    archive: Option<String>,
    /// What it is, where that cannot be told.
    format: Option<Format>,
    /// The project that its memories belong to.
    project: Option<String>,
}

/// Whether to do it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct How {
    /// Say what would be added and what would not, and change nothing.
    dry_run: Option<bool>,
}

/// What became, or would become, of an import.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum Taken {
    /// What a file held.
    Found(Box<Reported>),
    /// What an export of our own would do.
    Preview(Box<ImportPreview>),
    /// What an export of our own did.
    Imported(Box<Imported>),
}

/// What a file held, and what is ahead of its conversations.
#[derive(Serialize, ToSchema)]
struct Reported {
    #[serde(flatten)]
    report: ImportReport,
    /// Conversations of which memories are to be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    consolidation: Option<Ahead>,
}

/// Imported conversations that wait.
#[derive(Serialize, ToSchema)]
struct Waiting {
    /// Null where none does.
    consolidation: Option<Ahead>,
}

/// Shows how many imported conversations are not memories yet
#[utoipa::path(get, path = "/api/import", tag = "transfer",
    responses((status = 200, description = "What is ahead of them", body = Waiting)))]
async fn imported(State(app): State<Arc<App>>) -> Answer<Waiting> {
    app.host(|host| Ok(Waiting { consolidation: host.imported()? })).await.map(Json)
}

/// Takes in an export, another assistant's memory, or notes
#[utoipa::path(post, path = "/api/import", tag = "transfer", request_body = Import, params(How),
    responses((status = 200, description = "What became of it", body = Taken)))]
async fn import(State(app): State<Arc<App>>, Params(how): Params<How>, request: Request) -> Answer<Taken> {
    let dry_run = how.dry_run.unwrap_or_default();
    // Before the body is read: what waits has to be small.
    let turn = app.import_turn().await?;
    let arriving = Body::<Import>::from_request(request, &());
    let Body(given) = tokio::time::timeout(ARRIVAL, arriving).await.map_err(|_| {
        Problem::new(Code::Invalid, "the body takes too long to arrive", "send it again, or import it in a terminal")
    })??;
    let work = move |host: &dyn Host| {
        let taken = take_in(host, given, dry_run);
        // Only now, even if nobody waits for the answer any more.
        drop(turn);
        taken
    };
    let mut taken = app.host(work).await?;
    if let Taken::Found(found) = &mut taken
        && !dry_run
        && found.report.turns.added > 0
    {
        found.consolidation = app.host(|host| host.consolidate_imported()).await?;
    }
    Ok(Json(taken))
}

fn take_in(host: &dyn Host, given: Import, dry_run: bool) -> Result<Taken, Problem> {
    match given {
        Import { export: Some(export), name: None, text: None, archive: None, format: None, project: None } => {
            own(host.engine(), export.get().as_bytes(), dry_run)
        }
        Import { export: None, text: Some(text), archive: None, name, format, project } => {
            let name = name.unwrap_or_else(|| "-".to_owned());
            match host.read_export(&name, text.as_bytes(), false, format) {
                Err(ImportError::Own { .. }) if project.is_none() => own(host.engine(), text.as_bytes(), dry_run),
                found => {
                    drop(text);
                    of_others(host.engine(), found.map_err(refused)?, project, dry_run)
                }
            }
        }
        Import { export: None, text: None, archive: Some(archive), name, format, project } => {
            let name = name.unwrap_or_else(|| "the archive".to_owned());
            let bytes = BASE64.decode(archive.as_bytes()).map_err(|error| {
                Problem::new(Code::Invalid, format!("{name} is not base64: {error}"), "send its bytes in base64")
            })?;
            drop(archive);
            let found = host.read_export(&name, &bytes, true, format).map_err(refused)?;
            drop(bytes);
            of_others(host.engine(), found, project, dry_run)
        }
        _ => {
            let hint = "send {\"export\": …} alone, {\"name\", \"text\"} or {\"name\", \"archive\"}";
            Err(Problem::new(Code::Invalid, "it is not clear what to import", hint))
        }
    }
}

fn refused(error: ImportError) -> Problem {
    let code = match error {
        ImportError::Unreadable { may_pass: true, .. } => Code::Failed,
        _ => Code::Invalid,
    };
    Problem::new(code, error.to_string(), error.hint())
}

/// What another program wrote.
fn of_others(engine: &Engine, mut found: Found, project: Option<String>, dry_run: bool) -> Result<Taken, Problem> {
    if let Some(project) = project {
        found.assign(&project);
    }
    let report = engine.transfer().import_found(&found, dry_run, &mut |_, _| {})?;
    Ok(Taken::Found(Box::new(Reported { report, consolidation: None })))
}

/// An export of our own.
fn own(engine: &Engine, bytes: &[u8], dry_run: bool) -> Result<Taken, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bad = |error: serde_json::Error| EngineError::BadExport { problem: error.to_string() };
    let export: Export = serde_json::from_slice(bytes).map_err(bad)?;
    Ok(if dry_run {
        Taken::Preview(Box::new(engine.transfer().preview_import(&export)?))
    } else {
        Taken::Imported(Box::new(engine.transfer().import(&export)?))
    })
}
