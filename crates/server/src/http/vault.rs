//! `/api/vault`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::{VaultListing, VaultRemoved};
use throughline_core::model::Name;
use throughline_core::vault::VaultAnswer;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named};
use super::{Answer, App, limit};
use crate::VaultAdded;
use crate::problem::{Code, Problem};

/// How many passages a search gives, and at most.
const PASSAGES: usize = 5;
const MOST_PASSAGES: usize = 100;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(search)).routes(routes!(remove))
}

/// Lists the documents of the vault
#[utoipa::path(get, path = "/api/vault", tag = "vault",
    responses((status = 200, description = "By path", body = VaultListing)))]
async fn list(State(app): State<Arc<App>>) -> Answer<VaultListing> {
    app.host(|host| host.vault_documents()).await.map(Json)
}

/// Files and folders on this machine.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Files {
    /// Absolute paths; none stands for the memory's own vault folder.
    paths: Vec<String>,
    /// The collection that they belong to.
    into: Option<Name>,
}

/// Brings files and folders of this machine into the vault, or up to date
#[utoipa::path(post, path = "/api/vault", tag = "vault", request_body = Files,
    responses((status = 200, description = "What became of them", body = VaultAdded)))]
async fn add(State(app): State<Arc<App>>, Body(files): Body<Files>) -> Answer<VaultAdded> {
    if let Some(path) = files.paths.iter().find(|path| !std::path::Path::new(path).is_absolute()) {
        let hint = "give absolute paths on the machine that the daemon runs on";
        return Err(Problem::new(Code::Invalid, format!("`{path}` is not an absolute path"), hint));
    }
    app.host(move |host| host.vault_add(&files.paths, files.into)).await.map(Json)
}

/// What to look for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VaultQuestion)]
struct Question {
    /// In plain words.
    query: String,
    /// How many at most.
    #[schema(minimum = 0, maximum = 100)]
    limit: Option<usize>,
}

/// Finds passages of files, by words and, with an embedder, by meaning
#[utoipa::path(post, path = "/api/vault/search", tag = "vault", request_body = Question,
    responses((status = 200, description = "Best first", body = VaultAnswer)))]
async fn search(State(app): State<Arc<App>>, Body(asked): Body<Question>) -> Answer<VaultAnswer> {
    let limit = limit(asked.limit, PASSAGES, MOST_PASSAGES)?;
    app.host(move |host| host.vault_search(&asked.query, limit)).await.map(Json)
}

/// Takes a document out of the vault; the file stays where it is
#[utoipa::path(delete, path = "/api/vault/{id}", tag = "vault",
    params(("id" = String, Path, description = "An id, or the beginning of one")),
    responses((status = 200, description = "What was taken out", body = VaultRemoved)))]
async fn remove(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<VaultRemoved> {
    app.host(move |host| host.vault_remove(&[id])).await.map(Json)
}
