//! EPUB books, chapter by chapter in reading order.

use std::collections::HashMap;

use super::Content;
use super::archive::Archive;
use super::html::Page;
use super::markup::{self, Language, Markup};
use super::word::fields;

/// Reads a book.
///
/// # Errors
/// The reason.
pub(super) fn read(bytes: &[u8]) -> Result<Content, String> {
    let mut archive = Archive::open(bytes)?;
    let container = archive.text("META-INF/container.xml")?.ok_or("not an EPUB file: it has no container")?;
    let package = rootfile(&container).ok_or("not an EPUB file: its container names no package")?;
    let text = archive.text(&package)?.ok_or("not an EPUB file: its package is not there")?;
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut page = Page::default();
    for chapter in chapters(&text) {
        if let Some(path) = resolve(folder, &chapter)
            && let Some(text) = archive.text(&path)?
        {
            // The chapters of a book are XHTML whether or not they say so.
            page.add_as(&text, Language::Xml);
        }
    }
    let mut content = page.finish();
    content.fields.extend(fields(&text));
    Ok(content)
}

fn rootfile(container: &str) -> Option<String> {
    let mut path = None;
    markup::read(container, Language::Xml, &mut |piece| {
        if let Markup::Open(name, mut attributes) = piece
            && name == "rootfile"
            && path.is_none()
        {
            path = attributes.remove("full-path");
        }
    });
    path
}

/// Returns the files of the chapters, in reading order.
fn chapters(package: &str) -> Vec<String> {
    let mut files: HashMap<String, String> = HashMap::new();
    let mut order = Vec::new();
    markup::read(package, Language::Xml, &mut |piece| {
        let Markup::Open(name, mut attributes) = piece else { return };
        match name.rsplit(':').next() {
            Some("item") => {
                if let (Some(id), Some(file)) = (attributes.remove("id"), attributes.remove("href")) {
                    files.insert(id, file);
                }
            }
            Some("itemref") => order.extend(attributes.remove("idref")),
            _ => {}
        }
    });
    order.iter().filter_map(|id| files.get(id).cloned()).collect()
}

/// Returns the name of a file in the container; `None` when it leads out of it.
fn resolve(folder: &str, file: &str) -> Option<String> {
    let file = unescaped(file.split('#').next().unwrap_or_default());
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Decodes percent escapes such as `%20`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%');
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
