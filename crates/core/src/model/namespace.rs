//! Addresses. A [`Namespace`] is where a memory lives; a [`Name`] is one safe component of it.
//!
//! Goes in: any text. Comes out: an address whose parts can never reach outside their directory, or an error that says
//! which rule was broken. Never happens: a path separator, a dot name, a control character or a reserved device name
//! inside a [`Name`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::document::copied_from;
use super::ids::SessionId;

/// Longest component, in bytes: leaves room for `.md` and a temporary suffix within the usual limit of 255.
const MAX_BYTES: usize = 180;

/// Device names that some file systems give a meaning to, whatever their case or extension.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// First components that mean something else than a person's namespace.
const ROOTS: [&str; 6] = ["global", "sessions", PROJECTS, "vault", "backups", "exports"];

/// Below this stand the documents of projects, each in its project's own directory.
const PROJECTS: &str = "projects";

/// Why a name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("a name cannot be empty")]
    Empty,
    /// Too long for a file system.
    #[error("the name `{given}` is longer than {MAX_BYTES} bytes")]
    TooLong {
        /// The start of what was given.
        given: String,
    },
    /// A character that could change the meaning of a path or of a terminal.
    #[error("the name {given:?} contains {character:?}")]
    Character {
        /// The whole name.
        given: String,
        /// The first character that is refused.
        character: char,
    },
    /// `.`, `..`, a hidden name, or a trailing dot or space.
    #[error("the name {given:?} starts with a dot or a space, or ends with one")]
    Edge {
        /// The whole name.
        given: String,
    },
    /// A device name such as `CON`, or a first component that has its own meaning.
    #[error("the name `{given}` is reserved")]
    Reserved {
        /// The whole name.
        given: String,
    },
    /// No `channel:id`.
    #[error("`{given}` is not a session: expected `channel:id`")]
    NotASession {
        /// The whole id.
        given: String,
    },
    /// Nothing is kept under this address.
    #[error("`{given}` is not an address of memory")]
    NotAnAddress {
        /// The whole address.
        given: String,
    },
}

impl NameError {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotASession { .. } => "write the channel too, as in `cli:main` or `telegram:123`",
            Self::NotAnAddress { .. } => {
                "try `user/profile`, `user/working`, `user/facts`, `global` or `sessions/cli:main`"
            }
            _ => "use letters, digits, spaces, `-`, `_` and `.` inside the name",
        }
    }
}

/// One safe component of an address, in Unicode's composed form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct Name(String);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two names must not share within one directory: case and Unicode form folded away.
    pub fn folded(&self) -> String {
        fold_name(&self.0)
    }
}

/// Folds case and Unicode form, for finding names that a file system might take for each other.
pub fn fold_name(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// The rules that names and session ids share: present, short, and free of separators and invisible characters.
pub(super) fn check_text(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(NameError::TooLong { given: text.chars().take(40).collect() });
    }
    let refused = |c: &char| {
        c.is_control()
            || matches!(c, '/' | '\\' | '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{FFFD}')
    };
    if let Some(character) = text.chars().find(refused) {
        return Err(NameError::Character { given: text.to_owned(), character });
    }
    Ok(())
}

impl FromStr for Name {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let text: String = if text.is_ascii() { text.to_owned() } else { text.nfc().collect() };
        check_text(&text)?;
        let given = || text.clone();
        if let Some(character) = text.chars().find(|c| matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|' | '~' | '$'))
        {
            return Err(NameError::Character { given: given(), character });
        }
        if text.starts_with(['.', ' ', '-']) || text.ends_with(['.', ' ']) {
            return Err(NameError::Edge { given: given() });
        }
        let folded = fold_name(&text);
        let stem = folded.split('.').next().unwrap_or_default();
        if RESERVED.contains(&stem.trim_end()) || folded.contains('/') || folded.starts_with('.') {
            return Err(NameError::Reserved { given: given() });
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A document: a namespace and at least one more component, `user/profile`, `user/notes/travel`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DocumentName {
    namespace: Name,
    path: Vec<Name>,
}

impl DocumentName {
    /// The profile of a namespace: identity, layer 0.
    pub fn profile(namespace: &Name) -> Self {
        Self::well_known(namespace, "profile")
    }

    /// The working memory of a namespace.
    pub fn working(namespace: &Name) -> Self {
        Self::well_known(namespace, "working")
    }

    /// How the person works, of a namespace.
    pub fn patterns(namespace: &Name) -> Self {
        Self::well_known(namespace, "patterns")
    }

    /// The memory file of a project.
    pub fn project(name: &Name) -> Self {
        Self { namespace: Name(PROJECTS.to_owned()), path: vec![name.clone()] }
    }

    /// The person's own memory file, for facts that belong to no project.
    pub fn memory(namespace: &Name) -> Self {
        Self::well_known(namespace, "memory")
    }

    /// The project whose memory file this is.
    pub fn as_project(&self) -> Option<&Name> {
        match self.path.as_slice() {
            [only] if self.namespace.as_str() == PROJECTS => Some(only),
            _ => None,
        }
    }

    fn well_known(namespace: &Name, name: &str) -> Self {
        Self { namespace: namespace.clone(), path: vec![Name(name.to_owned())] }
    }

    /// The first component.
    pub fn namespace(&self) -> &Name {
        &self.namespace
    }

    /// All components, the namespace first.
    pub fn components(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.namespace).chain(&self.path)
    }

    /// Its file in the last of its folders: `profile.md`; a plain text file has its own ending in its name, `notes.txt`.
    pub fn file(&self) -> String {
        let last = self.path.last().map(Name::as_str).unwrap_or_default();
        if self.as_project().is_none() && (last.ends_with(".txt") || last.ends_with(".md")) {
            return last.to_owned();
        }
        format!("{last}.md")
    }

    /// Whether this is `{ns}/profile`.
    pub fn is_profile(&self) -> bool {
        self.is("profile")
    }

    /// Whether this is `{ns}/working`.
    pub fn is_working(&self) -> bool {
        self.is("working")
    }

    /// Whether this is no document but what could not be written to one.
    pub fn is_copy(&self) -> bool {
        self.as_project().is_none() && self.path.last().is_some_and(|last| copied_from(last.as_str()).is_some())
    }

    fn is(&self, name: &str) -> bool {
        self.as_project().is_none() && matches!(self.path.as_slice(), [only] if only.as_str() == name)
    }
}

/// Addresses are texts to whoever reads JSON.
macro_rules! text_schema {
    ($name:ident, $example:literal) => {
        impl utoipa::ToSchema for $name {}
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let kind = utoipa::openapi::schema::Type::String;
                utoipa::openapi::ObjectBuilder::new().schema_type(kind).examples([$example]).into()
            }
        }
    };
}
text_schema!(DocumentName, "user/profile");
text_schema!(Namespace, "user/facts");

impl FromStr for DocumentName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.parse()? {
            Namespace::Document(name) => Ok(name),
            _ => Err(NameError::NotAnAddress { given: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for DocumentName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<DocumentName> for String {
    fn from(name: DocumentName) -> Self {
        name.to_string()
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.namespace)?;
        self.path.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

/// The address of memory: of entries or of a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Namespace {
    /// Entries that belong to no person: `global`.
    Global,
    /// A person's entries: `{ns}/facts`.
    Facts(Name),
    /// What belongs to one conversation: `sessions/<channel:id>`.
    Session(SessionId),
    /// A collection of the vault: `vault/<name>`.
    Vault(Name),
    /// A Markdown document: `{ns}/profile`, `{ns}/working`, `{ns}/notes/travel`; a project's own is `projects/<name>`.
    Document(DocumentName),
}

impl FromStr for Namespace {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let not_an_address = || NameError::NotAnAddress { given: text.to_owned() };
        if text == "global" {
            return Ok(Self::Global);
        }
        let (root, rest) = text.split_once('/').ok_or_else(not_an_address)?;
        match root {
            "sessions" => Ok(Self::Session(rest.parse()?)),
            PROJECTS => Ok(Self::Document(DocumentName::project(&rest.parse()?))),
            "vault" => Ok(Self::Vault(rest.parse()?)),
            _ => {
                let namespace = parse_root(root)?;
                if rest == "facts" {
                    return Ok(Self::Facts(namespace));
                }
                let path = without_ending(rest).split('/').map(str::parse).collect::<Result<Vec<Name>, _>>()?;
                Ok(Self::Document(DocumentName { namespace, path }))
            }
        }
    }
}

/// A path below a namespace without the ending of its file: `profile.md` is `profile`. Only `facts.md` keeps it, because
/// `facts` is the address of entries.
fn without_ending(mut path: &str) -> &str {
    while let Some(shorter) = path.strip_suffix(".md").filter(|shorter| *shorter != "facts") {
        path = shorter;
    }
    path
}

/// Reads a person's namespace: a name that no other address begins with.
pub(super) fn parse_root(text: &str) -> Result<Name, NameError> {
    let name: Name = text.parse()?;
    if ROOTS.contains(&name.folded().as_str()) {
        return Err(NameError::Reserved { given: text.to_owned() });
    }
    Ok(name)
}

impl Name {
    /// Reads a person's namespace, as in `memory.user_namespace`: a name that no other address begins with.
    pub fn user_namespace(text: &str) -> Result<Self, NameError> {
        parse_root(text)
    }
}

impl TryFrom<String> for Namespace {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Namespace> for String {
    fn from(namespace: Namespace) -> Self {
        namespace.to_string()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Facts(name) => write!(f, "{name}/facts"),
            Self::Session(id) => write!(f, "sessions/{id}"),
            Self::Vault(name) => write!(f, "vault/{name}"),
            Self::Document(name) => write!(f, "{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for text in [
            "global",
            "user/facts",
            "user/profile",
            "user/notes/travel",
            "sessions/telegram:123",
            "projects/blue bird",
            "vault/manuals",
            "josé/profile",
            "用户/working",
            "user/facts.md",
            "user/notes.txt",
            "projects/site.md",
        ] {
            assert_eq!(text.parse::<Namespace>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_ending_of_a_file_is_no_part_of_its_name() {
        for (given, name, file) in [
            ("user/profile.md", "user/profile", "profile.md"),
            ("user/profile.md.md", "user/profile", "profile.md"),
            ("user/notes/travel.md", "user/notes/travel", "travel.md"),
            ("user/notes/facts.md", "user/notes/facts", "facts.md"),
            ("user/facts.md", "user/facts.md", "facts.md"),
            ("user/notes.txt", "user/notes.txt", "notes.txt"),
        ] {
            let parsed: DocumentName = given.parse().unwrap();
            assert_eq!((parsed.to_string().as_str(), parsed.file().as_str()), (name, file));
        }
    }

    #[test]
    fn refuses_names_that_could_leave_their_directory() {
        for text in [
            "",
            "user",
            "/etc/passwd",
            "user/",
            "user//x",
            "user/../x",
            "../user/x",
            "user/.hidden",
            "user/a\0b",
            "user/a\\b",
            "user/c:x",
            "user/CON",
            "user/nul.txt",
            "user/x.",
            "user/x ",
            "sessions/../x:1",
            "sessions/abc",
            "sessions/a:b/c",
            "global/x",
            "Global/x",
            "backups/x",
            "projects/..",
            "vault/a/b",
            "user/\u{202e}x",
            "user/．．/x",
            "user/~root",
            "user/-rf",
        ] {
            assert!(text.parse::<Namespace>().is_err(), "{text:?} was accepted");
        }
        assert!("a".repeat(181).parse::<Name>().is_err());
    }

    #[test]
    fn composes_unicode_so_that_one_name_has_one_spelling() {
        assert_eq!("jose\u{301}".parse::<Name>().unwrap(), "josé".parse::<Name>().unwrap());
        assert_eq!("Straße".parse::<Name>().unwrap().folded(), "straße");
        assert_eq!("User".parse::<Name>().unwrap().folded(), "user");
    }

    #[test]
    fn a_bare_session_gets_its_channel() {
        assert_eq!(SessionId::on_channel("cli", "main").unwrap().as_str(), "cli:main");
        assert_eq!(SessionId::on_channel("cli", "web:1").unwrap().as_str(), "web:1");
    }
}
