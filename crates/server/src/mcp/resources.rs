//! Parts of memory that a client may put before its model: `memory://profile` and the like.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use throughline_core::engine::{Engine, Readable};

use super::conversation::{self, Caller};
use crate::problem::{Code, Problem};

const SCHEME: &str = "memory://";
const MARKDOWN: &str = "text/markdown";

/// Every resource that has one address.
const PARTS: [(&str, &str, &str); 4] = [
    ("profile", "Profile", "Who the person is: always in view, at most 1,000 characters"),
    ("working", "Working memory", "What was going on lately; expires by itself"),
    ("patterns", "Patterns", "How the person works: habits and preferences"),
    ("project", "Project memory", "The shared memory file of the project that this client works on"),
];

/// The resources that are there: the person's where there is a person, the project's where there is a project.
pub(super) fn list(engine: &Engine, caller: &Caller) -> Result<Vec<Resource>, Problem> {
    let settings = engine.settings();
    let is_person = settings.namespace.is_some();
    let has_project = settings.enabled && project(engine, caller)?.is_some();
    let is_there = |name: &str| settings.enabled && if name == "project" { has_project } else { is_person };
    let described = |&(name, title, about): &(&str, &str, &str)| {
        Resource::new(format!("{SCHEME}{name}"), name)
            .with_title(title)
            .with_description(about)
            .with_mime_type(MARKDOWN)
    };
    Ok(PARTS.iter().filter(|(name, ..)| is_there(name)).map(described).collect())
}

/// The resources that have many addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let entry = ResourceTemplate::new(format!("{SCHEME}entry/{{id}}"), "entry")
        .with_title("One memory")
        .with_description("A memory by its id, as memory_recall gives it")
        .with_mime_type(MARKDOWN);
    vec![entry]
}

/// What stands at an address.
pub(super) fn read(engine: &Engine, caller: &Caller, uri: &str) -> Result<ReadResourceResult, Problem> {
    let text = engine
        .context()
        .readable(&part(engine, caller, uri)?)?
        .unwrap_or_else(|| "Nothing is stored here yet.\n".to_owned());
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MARKDOWN)]))
}

fn part(engine: &Engine, caller: &Caller, uri: &str) -> Result<Readable, Problem> {
    let unknown = || {
        let hint =
            "there are memory://profile, memory://working, memory://patterns, memory://project and memory://entry/ID";
        Problem::new(Code::NotFound, format!("there is no resource `{uri}`"), hint)
    };
    match uri.strip_prefix(SCHEME).ok_or_else(unknown)? {
        "profile" => Ok(Readable::Profile),
        "working" => Ok(Readable::Working),
        "patterns" => Ok(Readable::Patterns),
        "project" => project(engine, caller)?.map(Readable::Project).ok_or_else(no_project),
        other => match other.strip_prefix("entry/") {
            Some(id) if !id.is_empty() => Ok(Readable::Entry(id.to_owned())),
            _ => Err(unknown()),
        },
    }
}

/// The project whose memory is meant: the one that the client works on, else the only one there is.
pub(super) fn project(engine: &Engine, caller: &Caller) -> Result<Option<String>, Problem> {
    if let Some(project) = conversation::project(engine, caller)? {
        return Ok(Some(project));
    }
    let mut placed = engine.projects().list()?.into_iter().filter(|project| project.dir.is_some());
    Ok(placed.next().filter(|_| placed.next().is_none()).map(|project| project.name.to_string()))
}

fn no_project() -> Problem {
    let hint = "`throughline project add NAME --dir DIR` registers the directory that the client works in";
    Problem::new(Code::NotFound, "this client works on no project that is known", hint)
}
