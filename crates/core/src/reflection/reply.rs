//! What a model proposes: parsed strictly, bounded, and judged by nobody yet.

use serde::Deserialize;
use serde_json::Value;

use crate::consolidation::{facts, reply::without_reasoning};
use crate::model::MemorySection;
use crate::ports::{Dropped, Finish, Reply};

/// Longest reply that is read, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// At most this many operations are looked at.
const MAX_OPERATIONS: usize = 200;
/// As much of what a model wrote as a name is kept in the log.
const MAX_NAME: usize = 20;

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// A new fact.
    Add {
        /// The words.
        text: String,
        /// How much it matters.
        #[serde(default)]
        significance: Option<i64>,
        /// Where it goes.
        #[serde(default)]
        section: Option<MemorySection>,
    },
    /// Another weight.
    Reweigh {
        /// The fact.
        id: String,
        /// The new weight.
        significance: i64,
    },
    /// Several facts that become one.
    Merge {
        /// The facts.
        ids: Vec<String>,
        /// What they say together.
        text: String,
    },
    /// A fact that belongs elsewhere.
    Move {
        /// The fact.
        id: String,
        /// Where it belongs.
        section: MemorySection,
    },
    /// A fact that is no longer worth keeping.
    Prune {
        /// The fact.
        id: String,
    },
}

impl Operation {
    /// Its name in the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Reweigh { .. } => "reweigh",
            Self::Merge { .. } => "merge",
            Self::Move { .. } => "move",
            Self::Prune { .. } => "prune",
        }
    }

    /// The facts that it names.
    pub fn ids(&self) -> &[String] {
        match self {
            Self::Add { .. } => &[],
            Self::Reweigh { id, .. } | Self::Move { id, .. } | Self::Prune { id } => std::slice::from_ref(id),
            Self::Merge { ids, .. } => ids,
        }
    }

    /// The note that it was not done.
    pub fn dropped(&self, reason: impl Into<String>) -> Dropped {
        let ids = self.ids().iter().take(MAX_NAME).map(|id| id.chars().take(MAX_NAME).collect()).collect();
        Dropped { op: self.name().to_owned(), ids, reason: reason.into() }
    }
}

/// What a reply proposes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// What can be judged.
    pub operations: Vec<Operation>,
    /// What cannot be read.
    pub unreadable: Vec<Dropped>,
}

/// The reply is not in the schema.
#[derive(Debug, thiserror::Error)]
#[error("the reply is not the JSON that was asked for")]
pub struct NotOperations(#[source] Option<serde_json::Error>);

/// The operations in a reply. Only `{"operations": []}` says that there is nothing to do.
pub fn parse(reply: &Reply) -> Result<Proposal, NotOperations> {
    if reply.finish != Finish::Complete || reply.text.len() > MAX_BYTES {
        return Err(NotOperations(None));
    }
    let text = without_reasoning(&reply.text).map_err(|_| NotOperations(None))?;
    let value = facts::json(text.trim()).map_err(|error| NotOperations(Some(error)))?;
    let Value::Object(mut object) = value else { return Err(NotOperations(None)) };
    let Some(Value::Array(items)) = object.remove("operations") else { return Err(NotOperations(None)) };
    let mut proposal = Proposal::default();
    let unread = |reason: &str| Dropped { op: "unknown".to_owned(), ids: Vec::new(), reason: reason.to_owned() };
    let too_many = items.len().saturating_sub(MAX_OPERATIONS);
    for item in items.into_iter().take(MAX_OPERATIONS) {
        match serde_json::from_value(item) {
            Ok(operation) => proposal.operations.push(operation),
            Err(_) => proposal.unreadable.push(unread("is not one of the operations")),
        }
    }
    if too_many > 0 {
        proposal.unreadable.push(unread(&format!("{too_many} more than are looked at in one pass")));
    }
    Ok(proposal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_schema_in_its_disguises() {
        let plain = r#"{"operations": [{"op": "prune", "id": "f1"}, {"op": "burn"}, 7]}"#;
        for text in [
            plain.to_owned(),
            format!("```json\n{plain}\n```"),
            format!("[{plain}]"),
            serde_json::to_string(plain).unwrap(),
            format!("<think>…</think>{plain}"),
        ] {
            let proposal = parse(&Reply::said(&text)).unwrap();
            assert_eq!(proposal.operations, [Operation::Prune { id: "f1".to_owned() }], "{text}");
            assert_eq!(proposal.unreadable.len(), 2);
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let giant = format!("{{\"operations\": [{}]}}", "{},".repeat(200_000));
        let deep = "[".repeat(100_000);
        for text in
            ["", "delete everything", "<html></html>", "{}", "null", "[]", r#"{"operations": [{"op""#, &giant, &deep]
        {
            assert!(parse(&Reply::said(text)).is_err(), "{}", &text[..text.len().min(40)]);
        }
        let cut = Reply { finish: Finish::CutOff, ..Reply::said(r#"{"operations": []}"#) };
        assert!(parse(&cut).is_err());
        assert_eq!(parse(&Reply::said(r#"{"operations": []}"#)).unwrap(), Proposal::default());
    }

    #[test]
    fn a_flood_is_cut() {
        let many = vec![r#"{"op":"prune","id":"f1"}"#; 1000].join(",");
        let proposal = parse(&Reply::said(format!("{{\"operations\":[{many}]}}"))).unwrap();
        assert_eq!((proposal.operations.len(), proposal.unreadable.len()), (MAX_OPERATIONS, 1));
    }
}
