//! PDF as text by page.

use crate::Skip;
use crate::limits::MAX_TEXT;

pub(crate) fn pages(bytes: &[u8]) -> Result<Vec<String>, Skip> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes);
    let pages = pages.map_err(|error| Skip::Damaged(short(&error.to_string())))?;
    let mut room = MAX_TEXT;
    let kept = pages.into_iter().take_while(|page| {
        let fits = page.len() <= room;
        room = room.saturating_sub(page.len());
        fits
    });
    Ok(kept.map(|page| page.replace('\0', "")).collect())
}

/// What a library says, on one line.
pub(crate) fn short(why: &str) -> String {
    let line: String = why.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_pdf_is_read() {
        let pages = pages(&sample(&["Green tea", "Black coffee"])).unwrap();
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
