//! An export without what repeats an erased text: summaries, threads, working memory, titles.

use crate::lineage::{ERASED, Trace};
use crate::model::{ContentHash, DocumentName, Entry, Layer, Role, Thread};
use crate::transfer::Export;

impl Export {
    /// The export without what the program made that repeats something erased.
    pub(super) fn without_repeats(self, traces: &[Trace]) -> Self {
        traces.iter().fold(self, Self::without_trace)
    }

    fn without_trace(mut self, trace: &Trace) -> Self {
        let bundle = &mut self.bundle;
        let entries = bundle.memories.iter_mut().map(|memory| &mut memory.entry);
        let versions = bundle.history.iter_mut().map(|version| &mut version.entry);
        let is_summary = |entry: &&mut Entry| entry.layer == Layer::Archive;
        entries.chain(versions).filter(is_summary).for_each(|entry| take_out(trace, &mut entry.content));
        let summaries = bundle.turns.iter_mut().filter(|turn| turn.role == Role::Summary);
        summaries.for_each(|turn| take_out(trace, &mut turn.content));
        let versions = bundle.thread_history.iter_mut().map(|version| &mut version.thread);
        bundle.threads.iter_mut().chain(versions).for_each(|thread| take_out_of_thread(trace, thread));
        for session in &mut bundle.sessions {
            session.title = session.title.take().filter(|title| !trace.is_repeated_by(title));
        }
        for document in self.documents.iter_mut().filter(|document| document.name.is_working()) {
            take_out_of_lines(trace, &document.name, &mut document.text);
        }
        for version in bundle.document_history.iter_mut().filter(|version| version.name.is_working()) {
            if let Some(text) = &mut version.text {
                // A version from which a secret was left out must not look whole afterwards.
                let was_whole = version.hash == ContentHash::of(text);
                take_out_of_lines(trace, &version.name, text);
                version.hash = if was_whole { ContentHash::of(text) } else { version.hash.clone() };
            }
        }
        self
    }
}

fn take_out(trace: &Trace, text: &mut String) {
    if let Some(left) = trace.taken_out_of(text) {
        *text = if left.is_empty() { ERASED.to_owned() } else { left };
    }
}

fn take_out_of_lines(trace: &Trace, name: &DocumentName, text: &mut String) {
    if let Some(left) = trace.taken_out_of_lines(name, text) {
        *text = left;
    }
}

fn take_out_of_thread(trace: &Trace, thread: &mut Thread) {
    let working = DocumentName::working(&thread.namespace);
    take_out_of_lines(trace, &working, &mut thread.content);
    if let Some(rendered) = &mut thread.rendered {
        take_out_of_lines(trace, &working, rendered);
    }
    if trace.is_repeated_by(&thread.title) {
        let title = thread.session.to_string();
        thread.rendered = thread.rendered.take().map(|text| text.replacen(&thread.title, &title, 1));
        thread.title = title;
    }
}
