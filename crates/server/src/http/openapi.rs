//! The document that describes the API, and the route that gives it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, Content, ContentBuilder, Info, OpenApi, Paths, Ref, RefOr, Required, ResponseBuilder, Schema,
};
use utoipa::{PartialSchema as _, ToSchema as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use crate::problem::ErrorBody;

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

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(document))
}

/// Describes the API: this document
#[utoipa::path(get, path = "/api/openapi.json", tag = "daemon",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
async fn document(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], app.document.get().cloned().unwrap_or_default())
}

/// The whole document, as text.
pub(super) fn written(document: OpenApi) -> String {
    finished(document).to_json().unwrap_or_default()
}

/// Adds what holds for every operation: its name, who may call it, and how it is refused.
fn finished(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_with(Components::new);
    for name in ALIKE {
        if let Some(RefOr::T(schema)) = components.schemas.get_mut(name) {
            *schema = any_of(std::mem::take(schema));
        }
    }
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            name(operation);
            free_body(operation, components);
            if path.starts_with("/api/") {
                operation.security = Some(vec![SecurityRequirement::new(TOKEN, Vec::<String>::new())]);
                refusals(path, operation);
            }
        }
    }
    document
}

/// Answers that are one of several, of which one may look like another.
const ALIKE: [&str; 3] = ["Explained", "Listed", "Taken"];

fn any_of(schema: Schema) -> Schema {
    match schema {
        Schema::OneOf(one) => {
            Schema::AnyOf(one.items.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).build())
        }
        other => other,
    }
}

/// A body of which no field is needed may be left out.
fn free_body(operation: &mut Operation, components: &Components) {
    let Some(RefOr::T(body)) = &mut operation.request_body else { return };
    let content = body.content.values().next();
    let Some(RefOr::T(Content { schema: Some(RefOr::Ref(reference)), .. })) = content else { return };
    let schema = reference.ref_location.rsplit('/').next().and_then(|name| components.schemas.get(name));
    if let Some(RefOr::T(Schema::Object(object))) = schema
        && object.required.is_empty()
    {
        body.required = Some(Required::False);
    }
}

/// `memories_list`: a handler's name is its own within its resource alone.
fn name(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    let own = operation.operation_id.take().unwrap_or_default();
    operation.operation_id = Some(format!("{tag}_{own}"));
}

fn refusals(path: &str, operation: &mut Operation) {
    let has_body = operation.request_body.is_some();
    let has_names = has_body || path.contains('{') || operation.parameters.is_some();
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
    refuse("503", "The database is not in its place; nothing was changed");
    if has_names {
        refuse("404", "Something that is named is not there");
        refuse("409", "A name stands for several things, or somebody else was faster");
    }
    if has_body {
        refuse("413", "The body is too large");
        refuse("415", "Only JSON is taken");
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

    #[test]
    fn every_schema_that_is_referred_to_is_there() {
        let document = written(super::super::api().split_for_parts().1);
        let mark = "\"#/components/schemas/";
        let named: std::collections::BTreeSet<&str> =
            document.split(mark).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let parsed: serde_json::Value = serde_json::from_str(&document).unwrap();
        let missing: Vec<_> = named.iter().filter(|name| parsed["components"]["schemas"][**name].is_null()).collect();
        assert!(named.len() > 100 && missing.is_empty(), "{missing:?}");
    }

    /// Two types of one name would be one schema, and one of them described wrongly.
    #[test]
    fn bodies_of_different_requests_have_schemas_of_their_own() {
        let document = finished(super::super::api().split_for_parts().1);
        let schemas = document.components.unwrap().schemas;
        let has = |schema: &str, property: &str| match &schemas[schema] {
            RefOr::T(Schema::Object(object)) => object.properties.contains_key(property),
            _ => false,
        };
        assert!(has("NewTask", "title") && has("NewProject", "dir"));
        assert!(has("MemoryChange", "significance") && has("Change", "verb"));
        assert!(has("Question", "peek") && has("VaultQuestion", "limit") && !has("VaultQuestion", "peek"));
    }

    #[test]
    fn no_route_of_the_api_is_registered_without_its_description() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let undescribed = concat!(".rou", "te(");
            assert!(!text.contains(undescribed), "{} registers a route by hand: use `routes!`", path.display());
        }
    }
}
