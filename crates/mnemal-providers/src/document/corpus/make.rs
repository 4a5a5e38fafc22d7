//! Test-file generators.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Makes a container.
pub(super) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Makes a container with a link in it.
pub(super) fn zip_with_link() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("word/document.xml", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Makes a document of a word processor out of the inside of its body.
pub(super) fn docx(body: &str) -> Vec<u8> {
    let styles = r#"<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>"#;
    let core =
        "<cp:coreProperties><dc:title>The lease</dc:title><dc:creator>Ana</dc:creator></cp:coreProperties>";
    let document = format!("<?xml version=\"1.0\"?><w:document><w:body>{body}</w:body></w:document>");
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/styles.xml", styles.as_bytes()),
        ("docProps/core.xml", core.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ])
}

/// Makes a book of chapters.
pub(super) fn epub(chapters: &[(&str, &str)]) -> Vec<u8> {
    let item = |(n, (name, _)): (usize, &(&str, &str))| format!("<item id=\"c{n}\" href=\"{name}\"/>");
    let items: Vec<String> = chapters.iter().enumerate().map(item).collect();
    let spine: Vec<String> =
        (0..chapters.len()).rev().map(|n| format!("<itemref idref=\"c{n}\"/>")).collect();
    let (items, spine) = (items.concat(), spine.concat());
    let package = format!(
        "<package><metadata><dc:title>A book</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    );
    let container = r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
    let mut files: Vec<(String, &[u8])> = vec![
        ("META-INF/container.xml".to_owned(), container.as_bytes()),
        ("OEBPS/book.opf".to_owned(), package.as_bytes()),
    ];
    for (name, text) in chapters {
        files.push((format!("OEBPS/{}", name.replace("%20", " ")), text.as_bytes()));
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    zip(&files)
}

/// Makes a PDF with one line of text a page.
pub(super) fn pdf(pages: &[&str]) -> Vec<u8> {
    let pages: Vec<String> =
        pages.iter().map(|text| format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET")).collect();
    pdf_of(&pages)
}

/// Makes a PDF of what draws each page.
pub(super) fn pdf_of(pages: &[String]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (n, stream) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * n
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.extend_from_slice(format!("{n} 0 obj\n{object}\nendobj\n").as_bytes());
    }
    let start = file.len();
    file.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let trailer =
        format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.extend_from_slice(trailer.as_bytes());
    file
}
