//! PDF, page by page.

mod reading_order;

use std::panic::{AssertUnwindSafe, catch_unwind};

use mnemal_core::Passage;
use pdf_extract::{Document, output_doc_page};

use self::reading_order::PageWriter;
use super::Content;

/// Reads a document; an unreadable page is skipped as long as there is another one.
///
/// # Errors
/// The reason: it is damaged, encrypted, or holds pictures of text only.
pub(super) fn read(bytes: &[u8]) -> Result<Content, String> {
    let document = Document::load_mem(bytes).map_err(|why| format!("no readable PDF: {why}"))?;
    if document.is_encrypted() {
        return Err("an encrypted PDF".to_owned());
    }
    let mut passages = Vec::new();
    let mut broken = None;
    for page in document.get_pages().into_keys() {
        let mut writing = PageWriter::default();
        match read_page(&document, &mut writing, page) {
            Ok(()) if writing.text.trim().is_empty() => {}
            Ok(()) => {
                let text = writing.text.trim_matches(['\n', ' ']).to_owned();
                passages.push(Passage { text, page: Some(page), ..Passage::default() });
            }
            Err(why) => broken = Some(format!("no readable PDF: page {page}: {why}")),
        }
    }
    match (passages.is_empty(), broken) {
        (true, Some(why)) => Err(why),
        (true, None) => Err("holds no text: its pages are pictures, or empty".to_owned()),
        (false, _) => Ok(Content { passages, ..Content::default() }),
    }
}

/// Reads a page. The library panics on some malformed pages; that is harmless, because this process reads one file only.
///
/// # Errors
/// The reason.
fn read_page(document: &Document, writing: &mut PageWriter, page: u32) -> Result<(), String> {
    let read = catch_unwind(AssertUnwindSafe(|| output_doc_page(document, writing, page)));
    match read {
        Ok(done) => done.map_err(|why| why.to_string()),
        Err(_panic) => Err("what draws it is damaged".to_owned()),
    }
}
