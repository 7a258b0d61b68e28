//! What a browser's pass opens: the routes that the panel's pages use, and no more. Paths of this machine's files are for
//! whoever has the token: a browser that names one could have any file read and searched.

use axum::http::Method;

use crate::problem::{Code, Problem};

/// What pages read, as the part of the path behind `/api/`.
const READ: [&str; 22] = [
    "activity",
    "changes",
    "chat",
    "connections",
    "documents",
    "events",
    "export",
    "health",
    "import",
    "jobs",
    "memories",
    "projects",
    "recalls",
    "reflections",
    "review",
    "sessions",
    "settings",
    "stats",
    "status",
    "tasks",
    "threads",
    "vault",
];

/// Whether this is one of the panel's own files, which hold nothing of the memory.
pub(super) fn is_file(method: &Method, path: &str) -> bool {
    matches!(*method, Method::GET | Method::HEAD) && (path == "/" || path.starts_with("/assets/"))
}

/// Lets a browser through to what the panel needs.
pub(super) fn check(method: &Method, path: &str) -> Result<(), Problem> {
    let noun_and_rest = path.strip_prefix("/api/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
    if noun_and_rest.is_some_and(|(noun, rest)| is_open(method, noun, rest)) {
        return Ok(());
    }
    let (message, hint) = match noun_and_rest.map(|(noun, _)| noun) {
        Some("vault") => {
            ("a browser cannot name files of this machine", "add them on the terminal: `throughline vault add PATH`")
        }
        Some("projects") => (
            "a browser cannot name directories of this machine",
            "use the terminal: `throughline project add NAME --dir PATH`, `throughline project trust NAME`",
        ),
        Some("sessions") if *method == Method::DELETE => {
            ("a browser cannot erase a conversation", "use the terminal: `throughline forget --session ID --erase`")
        }
        Some("links") => ("a browser cannot let in another", "`throughline open` gives a new link"),
        _ => {
            ("a browser is let in to what the panel needs, and this is not part of it", "send the token from a program")
        }
    };
    Err(Problem::new(Code::Forbidden, message, hint))
}

fn is_open(method: &Method, noun: &str, rest: &str) -> bool {
    match (method, noun) {
        (&Method::GET | &Method::HEAD, noun) => READ.contains(&noun),
        (&Method::POST | &Method::PUT | &Method::PATCH | &Method::DELETE, "documents" | "memories" | "tasks") => true,
        (&Method::POST, "backup" | "chat" | "import" | "recall" | "reflect" | "undo") => rest.is_empty(),
        (&Method::POST, "context") => rest == "preview",
        // A client is named and never a file: what is written there is ours alone.
        (&Method::POST | &Method::DELETE, "connections" | "review") => !rest.is_empty(),
        (&Method::DELETE, "threads") => !rest.is_empty(),
        // Only numbers and truth values: nothing that is run, opened or sent to.
        (&Method::PUT, "settings") => !rest.is_empty(),
        (&Method::POST, "jobs") => rest.ends_with("/run"),
        (&Method::POST, "sessions") => ["/compact", "/end", "/reset"].iter().any(|verb| rest.ends_with(verb)),
        (&Method::POST, "vault") => rest == "search",
        (&Method::DELETE, "vault") => !rest.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_opens_what_the_panel_needs_and_no_more() {
        let is_open = |method: &str, path: &str| check(&method.parse().unwrap(), path).is_ok();
        for (method, path) in [
            ("GET", "/api/memories/a/history"),
            ("GET", "/api/export"),
            ("GET", "/api/events"),
            ("PUT", "/api/documents/user/profile"),
            ("POST", "/api/memories/bulk"),
            ("DELETE", "/api/vault/a"),
            ("POST", "/api/vault/search"),
            ("POST", "/api/jobs/backup/run"),
            ("POST", "/api/sessions/web:1/end"),
            ("GET", "/api/import"),
            ("POST", "/api/import"),
            ("POST", "/api/context/preview"),
            ("GET", "/api/review"),
            ("POST", "/api/review/a"),
            ("DELETE", "/api/review/a"),
            ("POST", "/api/connections/codex"),
            ("DELETE", "/api/connections/codex"),
            ("DELETE", "/api/threads/a"),
            ("PUT", "/api/settings/memory.recall_limit"),
        ] {
            assert!(is_open(method, path), "{method} {path}");
        }
        for (method, path) in [
            ("POST", "/api/vault"),
            ("POST", "/api/vault/"),
            ("POST", "/api/projects"),
            ("DELETE", "/api/projects/a"),
            ("POST", "/api/projects/a/trust"),
            ("DELETE", "/api/sessions/web:1"),
            ("POST", "/api/sessions/web:1/erasure"),
            ("DELETE", "/api/projects/a/erasure"),
            ("POST", "/api/links"),
            ("POST", "/api/context"),
            ("GET", "/api/context/tiers/user"),
            ("POST", "/api/connections"),
            ("POST", "/api/sessions"),
            ("POST", "/api/sessions/web:1/turns"),
            ("POST", "/api/sessions/web:1/context"),
            ("POST", "/api/tools/memory_recall"),
            ("GET", "/api/openapi.json"),
            ("GET", "/mcp"),
            ("POST", "/mcp"),
            ("GET", "/elsewhere"),
        ] {
            assert!(!is_open(method, path), "{method} {path}");
        }
    }
}
