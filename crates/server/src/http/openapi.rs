//! The document that describes the API, and the route that gives it.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, Info, OpenApi, Paths, Ref, RefOr, ResponseBuilder};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::App;
use crate::problem::ErrorBody;

const ROUTE: &str = "/api/openapi.json";
const TOKEN: &str = "token";

/// What the document says before any route does.
pub(super) fn about() -> OpenApi {
    let mut info = Info::new("Throughline", env!("CARGO_PKG_VERSION"));
    info.description = Some("The memory of a person's AI assistants, on their own machine.".to_owned());
    let mut document = OpenApi::new(info, Paths::new());
    let mut components = Components::new();
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("What is in the file `token`."));
    components.add_security_scheme(TOKEN, SecurityScheme::Http(scheme.build()));
    let mut schemas = Vec::new();
    ErrorBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    document.components = Some(components);
    document
}

/// The document, made once.
pub(super) fn route(document: OpenApi) -> Router<Arc<App>> {
    let text: Arc<str> = finished(document).to_json().unwrap_or_default().into();
    let answer = async move || ([(header::CONTENT_TYPE, "application/json")], text.to_string());
    Router::new().route(ROUTE, get(answer))
}

/// Adds what holds for every operation: its name, who may call it, and how it is refused.
fn finished(mut document: OpenApi) -> OpenApi {
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            name(operation);
            if path.starts_with("/api/") {
                operation.security = Some(vec![SecurityRequirement::new(TOKEN, Vec::<String>::new())]);
                refusals(path, operation);
            }
        }
    }
    document
}

/// `memories_list`: a handler's name is its own within its resource alone.
fn name(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    let own = operation.operation_id.take().unwrap_or_default();
    operation.operation_id = Some(format!("{tag}_{own}"));
}

fn refusals(path: &str, operation: &mut Operation) {
    let mut refuse = |status: &str, why: &str| {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
        let response = ResponseBuilder::new().description(why).content("application/json", content).build();
        operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response));
    };
    refuse("400", "What was sent makes no sense; nothing was changed");
    refuse("401", "Who asks is not known");
    refuse("403", "Not from there");
    refuse("429", "Too many at once");
    refuse("500", "Something here is broken");
    if path.contains('{') {
        refuse("404", "There is no such thing");
        refuse("409", "The name stands for several things, or somebody else was faster");
    }
    if operation.request_body.is_some() {
        refuse("413", "The body is too large");
        refuse("415", "Only JSON is taken");
        refuse("404", "Something that is named in the body is not there");
        refuse("409", "A name stands for several things, or somebody else was faster");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_how_it_is_refused() {
        let document = finished(super::super::api().split_for_parts().1);
        let mut names = std::collections::BTreeSet::new();
        for (path, item) in &document.paths.paths {
            let all = [&item.get, &item.put, &item.post, &item.patch, &item.delete];
            for operation in all.into_iter().flatten() {
                let name = operation.operation_id.clone().unwrap();
                assert!(!name.starts_with('_'), "{path} has no tag");
                assert!(names.insert(name.clone()), "{name} is there twice");
                assert!(operation.summary.is_some(), "{name} says nothing");
                assert_eq!(path.starts_with("/api/"), operation.responses.responses.contains_key("401"), "{path}");
            }
        }
        assert!(names.len() > 50);
    }
}
