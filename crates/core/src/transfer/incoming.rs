//! What taking an export in does: decided once, for the import and for the dry run.

use std::collections::HashSet;

use crate::error::{Done, EngineError};
use crate::model::{
    Actor, Change, ContentHash, DocumentName, DocumentVersion, Kind, Memory, Namespace, Role, SessionId, Source, Verb,
};
use crate::ports::{Bundle, ErasureMark};
use crate::text::redact::redact;
use crate::transfer::{Export, Imported, TransferService};

use super::checked::check_document;
use super::{EXPORT_VERSION, ExportedDocument, SetAside, checked};

/// What taking an export in does.
pub(crate) struct Incoming<'a> {
    /// What goes to the store.
    pub(crate) bundle: Bundle,
    /// The lines and the history of projects' memory files: kept once their projects are known here.
    pub(super) of_projects: Bundle,
    /// Documents that are written.
    pub(super) to_write: Vec<(DocumentName, &'a str)>,
    /// What becomes of the documents; the store's own counts are missing yet.
    pub(crate) imported: Imported,
}

impl TransferService<'_> {
    /// Decides what becomes of an export under a change. Changes nothing.
    pub(crate) fn incoming<'a>(&self, change: &Change, export: &'a Export) -> Done<Incoming<'a>> {
        if export.version != EXPORT_VERSION {
            let problem = format!("format {} is not known here (this program knows {EXPORT_VERSION})", export.version);
            return Err(EngineError::BadExport { problem });
        }
        self.documents.notice_all()?;
        let mut bundle = checked(&export.bundle, self.kernel.now)?;
        self.without_foreign_summaries(&mut bundle)?;
        let (to_write, of_projects, imported) = Default::default();
        let mut incoming = Incoming { bundle, of_projects, to_write, imported };
        for document in &export.documents {
            if document.name.as_project().is_some() {
                self.stays(document, &mut incoming);
            } else {
                self.comes(document, &mut incoming)?;
            }
        }
        self.document_history(change, export, &mut incoming)?;
        Ok(incoming)
    }

    /// A summary comes along with a conversation that is new here. In one that goes on here it would be sent in the place of what was
    /// said, although nobody here made it.
    fn without_foreign_summaries(&self, bundle: &mut Bundle) -> Done<()> {
        let summaries = bundle.turns.iter().filter(|turn| turn.role == Role::Summary);
        let sessions: HashSet<SessionId> = summaries.map(|turn| turn.session.clone()).collect();
        let mut here = HashSet::new();
        for session in sessions {
            if self.session_store.session(&session)?.is_some() {
                here.insert(session);
            }
        }
        bundle.turns.retain(|turn| turn.role != Role::Summary || !here.contains(&turn.session));
        Ok(())
    }

    /// A project's memory file stays as it is, whatever the export says.
    fn stays(&self, exported: &ExportedDocument, incoming: &mut Incoming<'_>) {
        let here = self.files.read(&exported.name).unwrap_or_else(|error| {
            tracing::warn!(%error, "the memory file of a project cannot be read");
            None
        });
        if here.is_none_or(|here| here.text != exported.text) {
            incoming.imported.left_out.push(exported.name.clone());
        }
    }

    /// A document of the person: written where it is new, and put beside the one here where they differ.
    fn comes<'a>(&self, exported: &'a ExportedDocument, incoming: &mut Incoming<'a>) -> Done<()> {
        let ExportedDocument { name, text } = exported;
        self.documents.check_namespace(name)?;
        check_document(name, text)?;
        match self.files.read(name)? {
            Some(here) if here.text == *text => {}
            None => {
                incoming.imported.documents.push(name.clone());
                incoming.to_write.push((name.clone(), text.as_str()));
            }
            Some(_) => {
                let aside = self.aside(name, text)?;
                if self.files.read(&aside)?.is_none() {
                    incoming.to_write.push((aside.clone(), text.as_str()));
                }
                incoming.imported.set_aside.push(SetAside { name: name.clone(), aside });
            }
        }
        Ok(())
    }

    /// Leaves the versions in the bundle that are to be kept, those of projects apart, and adds what is written.
    fn document_history(&self, change: &Change, export: &Export, incoming: &mut Incoming<'_>) -> Done<()> {
        let here: HashSet<DocumentName> = self.history.known_documents()?.into_iter().map(|known| known.name).collect();
        let Incoming { bundle, of_projects, to_write, imported } = incoming;
        // What is known here has a history of its own, even if its file was removed.
        bundle.document_history.retain(|version| !here.contains(&version.name));
        let is_of_project = |version: &mut DocumentVersion| version.name.as_project().is_some();
        of_projects.document_history = bundle.document_history.extract_if(.., is_of_project).collect();
        of_projects.memories = bundle.memories.extract_if(.., |memory| is_line_of_project(memory)).collect();
        bundle.document_history.retain(|version| {
            let is_current = export.documents.iter().any(|document| document.name == version.name);
            imported.documents.contains(&version.name) || !is_current
        });
        for (name, text) in to_write {
            let versions = self.history.document_versions(name)?;
            let last = versions.iter().chain(&bundle.document_history).rfind(|version| version.name == *name);
            if last.is_none_or(|version| version.hash != ContentHash::of(text)) {
                let number = last.map_or(1, |version| version.version + 1);
                bundle.document_history.push(version_of(name, Some(text), number, change));
            }
        }
        Ok(())
    }

    /// A name beside `name` that is free, or holds this very text already.
    fn aside(&self, name: &DocumentName, text: &str) -> Done<DocumentName> {
        let mut nth = 1;
        loop {
            let suffix = if nth == 1 { String::new() } else { format!("-{nth}") };
            let aside: DocumentName = format!("{name}-imported{suffix}").parse()?;
            if self.files.read(&aside)?.is_none_or(|there| there.text == text) {
                return Ok(aside);
            }
            nth += 1;
        }
    }

    /// Keeps the history of projects' memory files, now that their projects are known. It ends with the file as it
    /// stands here: nobody made a change that an undo could take for its own, and write into the project.
    pub(crate) fn adopt_project_history(
        &self,
        change: &Change,
        mut of_projects: Bundle,
        since: &ErasureMark,
    ) -> Done<()> {
        let names: HashSet<DocumentName> =
            of_projects.document_history.iter().map(|version| version.name.clone()).collect();
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            let here = self.files.read(&name).ok().flatten().map(|document| document.text);
            let hash = here.as_deref().map_or_else(ContentHash::missing, ContentHash::of);
            let versions = of_projects.document_history.iter().filter(|version| version.name == name);
            let last = versions.max_by_key(|version| version.version);
            if let Some(number) = last.filter(|last| last.hash != hash).map(|last| last.version + 1) {
                let editor = Actor::new(Source::User, "editor");
                let found = self.kernel.acting(&editor).change(Verb::Write);
                of_projects.document_history.push(version_of(&name, here.as_deref(), number, &found));
            }
        }
        self.bundles.adopt(change, &of_projects, since, &mut |_| true)?;
        Ok(())
    }
}

fn is_line_of_project(memory: &Memory) -> bool {
    match (memory.entry.kind, &memory.entry.namespace) {
        (Kind::Bullet, Namespace::Document(name)) => name.as_project().is_some(),
        _ => false,
    }
}

fn version_of(name: &DocumentName, text: Option<&str>, version: u32, change: &Change) -> DocumentVersion {
    let hash = text.map_or_else(ContentHash::missing, ContentHash::of);
    let text = text.map(|text| redact(text).text.into_owned());
    DocumentVersion { name: name.clone(), version, text, hash, change: change.clone() }
}
