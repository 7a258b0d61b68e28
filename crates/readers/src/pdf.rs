//! PDF as text by page, and the guard behind which foreign formats are read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::Skip;

/// How long one file may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Formats that nest are read by functions that do.
const STACK: usize = 64 * 1024 * 1024;

/// The most text that a file gives: a small one can claim to hold gigabytes.
const MAX_TEXT: usize = 20 * 1024 * 1024;

pub(crate) fn pages(bytes: Vec<u8>) -> Result<Vec<String>, Skip> {
    let pages =
        guarded(move || pdf_extract::extract_text_from_mem_by_pages(&bytes).map_err(|error| error.to_string()))?;
    let mut room = MAX_TEXT;
    let kept = pages.into_iter().take_while(|page| {
        let fits = page.len() <= room;
        room = room.saturating_sub(page.len());
        fits
    });
    Ok(kept.map(|page| page.replace('\0', "")).collect())
}

/// Runs foreign code on a thread of its own: its panic is an answer, and one that takes too long is left behind.
pub(crate) fn guarded<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, Skip> {
    let (done, wait) = channel();
    let run = move || {
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("its format is damaged".to_owned()));
        // Nobody waits any more where it took too long.
        let _ = done.send(outcome);
    };
    let thread = std::thread::Builder::new().name(GUARDED.to_owned()).stack_size(STACK);
    thread.spawn(run).map_err(|error| Skip::Unreadable(error.to_string()))?;
    match wait.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome.map_err(|why| Skip::Unreadable(short(&why))),
        Err(_) => Err(Skip::Unreadable(format!("it takes longer than {} seconds", PATIENCE.as_secs()))),
    }
}

/// The name of the threads whose panics are answers.
const GUARDED: &str = "vault-reader";

/// Keeps panics of guarded threads off the terminal; all others are shown as before. Call it once, at the start.
pub fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(GUARDED) {
            usual(panic);
        }
    }));
}

fn short(why: &str) -> String {
    let line: String = why.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer() {
        assert!(matches!(guarded::<()>(|| panic!("boom")), Err(Skip::Unreadable(_))));
        assert_eq!(guarded(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_page_of_a_pdf_is_read() {
        let pages = pages(sample(&["Green tea", "Black coffee"])).unwrap();
        assert_eq!(pages.len(), 2);
        assert!(pages[0].contains("Green tea") && pages[1].contains("Black coffee"), "{pages:?}");
    }

    /// A small PDF with a line of text on each page.
    fn sample(texts: &[&str]) -> Vec<u8> {
        let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
        let kids: String = (0..texts.len()).map(|n| format!("{} 0 R ", 4 + 2 * n)).collect();
        objects.push(format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", texts.len()));
        objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned());
        for (n, text) in texts.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {} 0 R \
                 /Resources << /Font << /F1 3 0 R >> >> >>",
                5 + 2 * n
            ));
            let stream = format!("BT /F1 18 Tf 20 100 Td ({text}) Tj ET");
            objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
        }
        let mut pdf = "%PDF-1.4\n".to_owned();
        let mut places = Vec::new();
        for (n, object) in objects.iter().enumerate() {
            places.push(pdf.len());
            pdf.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
        }
        let start = pdf.len();
        pdf.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
        places.iter().for_each(|place| pdf.push_str(&format!("{place:010} 00000 n \n")));
        pdf.push_str(&format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1));
        pdf.into_bytes()
    }
}
