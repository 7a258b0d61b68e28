//! Sections of a memory file.

use super::spelled;

/// A section of a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemorySection {
    /// How things stand.
    #[default]
    Is,
    /// What took place.
    Happened,
    /// What is completed.
    Done,
}

spelled!(MemorySection, "section", "is, happened, done", { Is => "is", Happened => "happened", Done => "done" });

impl schemars::JsonSchema for MemorySection {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MemorySection".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": ["is", "happened", "done"] })
    }

    fn inline_schema() -> bool {
        true
    }
}
