//! Files in which assistants keep what was said.

use std::cell::Cell;
use std::io::{Cursor, Read, Result, Seek, SeekFrom};

use throughline_clients::Client;
use throughline_clients::transcripts::{Spoken, own_words, read};
use throughline_core::model::Role;

/// Longest thing that anybody said, as it is kept.
const LONGEST: usize = 64 * 1024;

/// A file that counts the bytes that are read of it.
struct Counted<'a> {
    file: Cursor<&'a [u8]>,
    read: &'a Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read);
        Ok(read)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}

pub(super) fn run(bytes: &[u8]) {
    let (client, bytes) = super::choice(bytes, &Client::ALL);
    let first = said(client, bytes, &|_| false);
    assert_eq!(first, said(client, bytes, &|_| false), "the same file says the same");
    let mut ids: Vec<&str> = first.iter().map(|spoken| spoken.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), first.len(), "each has a name of its own");
    // What is known already is not new, and nothing else is.
    let again = said(client, bytes, &|spoken| first.iter().any(|known| known.id == spoken.id));
    assert_eq!(again, [], "all of it is known");
    let text = super::text(bytes);
    for role in [Role::User, Role::Assistant] {
        let own = own_words(role, &text);
        assert!(own.is_none_or(|own| !own.is_empty() && own.len() <= LONGEST && own.len() <= text.len()));
    }
}

fn said(client: Client, bytes: &[u8], is_known: &dyn Fn(&Spoken) -> bool) -> Vec<Spoken> {
    let read_bytes = Cell::new(0);
    let file = Counted { file: Cursor::new(bytes), read: &read_bytes };
    let news = read(client, "one", file, bytes.len() as u64, is_known).expect("bytes in memory can be read");
    // Looked at once for its shape and once for its rows.
    assert!(read_bytes.get() <= 2 * bytes.len(), "{} bytes read of {}", read_bytes.get(), bytes.len());
    for spoken in &news.said {
        assert!(!spoken.text.trim().is_empty() && spoken.text.len() <= LONGEST, "{spoken:?}");
        assert!(!spoken.id.is_empty());
    }
    news.said
}
