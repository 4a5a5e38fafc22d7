//! Parts of documents, and files of them, in the shapes that programs write.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use anyhow::Result;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::sample::TextWriter;

/// Where a line of quoted text is broken: behind the mark of a text. Source: own choice.
const SOFT: usize = 30;
/// The head of a message behind its sender.
const HEAD: &str = "From: Ada <ada@example.org>\r\nTo: Bo <bo@example.org>\r\nDate: Mon, 02 Mar 2026 09:00:00 +0100\r\nMIME-Version: 1.0\r\n";

/// Writes a line of a letter.
pub(super) fn line(pen: &mut TextWriter<'_>) -> String {
    pen.item()
}

/// Makes a letter of lines.
pub(super) fn mail(lines: &[String]) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    write!(file, "{HEAD}Subject: The harbour\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n")?;
    for line in lines {
        write!(file, "{line}\r\n")?;
    }
    Ok(file)
}

/// Writes a message of a mailbox.
pub(super) fn message(pen: &mut TextWriter<'_>) -> String {
    let item = pen.item();
    let html = format!("<div>{item}</div><table><tr><td>Lamp</td><td>40</td></tr></table>");
    let body = match pen.some(0, 4) {
        0 => format!("Content-Type: text/html; charset=utf-8\r\n\r\n{html}\r\n"),
        1 => {
            let part = |kind: &str, text: &str| {
                format!("--frontier\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n{text}\r\n")
            };
            let parts = part("plain", "") + &part("html", &html);
            format!(
                "Content-Type: multipart/alternative; boundary=\"frontier\"\r\n\r\n{parts}--frontier--\r\n"
            )
        }
        2 => {
            let place = item.char_indices().find(|(place, letter)| *place > SOFT && *letter == ' ');
            let (first, rest) = item.split_at(place.map_or(item.len(), |(place, _)| place));
            let head =
                "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n";
            format!("{head}\r\n{first}=\r\n{rest}\r\n")
        }
        3 => {
            let attached = format!("{HEAD}Subject: Inside\r\n\r\n{item}\r\n");
            format!(
                "Content-Type: multipart/mixed; boundary=\"frontier\"\r\n\r\n--frontier\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n\
                --frontier\r\nContent-Type: message/rfc822\r\n\r\n{attached}\r\n--frontier--\r\n"
            )
        }
        _ => format!("\r\n{item}\r\n"),
    };
    let number = pen.number();
    format!("From ada@example.org Mon Mar  2 09:00:00 2026\r\n{HEAD}Subject: Letter {number}\r\n{body}\r\n")
}

/// Makes a mailbox of messages.
pub(super) fn mailbox(messages: &[String]) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    for message in messages {
        file.write_all(message.as_bytes())?;
    }
    Ok(file)
}

/// Writes a part of the body of a document.
pub(super) fn paragraph(pen: &mut TextWriter<'_>) -> String {
    let item = pen.item();
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let plain = |text: &str| format!("<w:p>{}</w:p>", run(text));
    match pen.some(0, 5) {
        0 => {
            format!("<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>{}</w:p>{}", run("Part"), plain(&item))
        }
        1 => {
            let cell = |text: &str| format!("<w:tc>{}</w:tc>", plain(text));
            format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell(&item), cell("40"))
        }
        2 => {
            let text = format!("<w:txbxContent>{}</w:txbxContent>", plain(&item));
            format!(
                "<w:p><w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing>{text}</w:drawing></mc:Choice>\
                <mc:Fallback><w:pict>{text}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
            )
        }
        3 => {
            let moved = |tag: &str| {
                format!("<w:p><w:{tag} w:id=\"1\" w:author=\"Ada\">{}</w:{tag}></w:p>", run(&item))
            };
            moved("moveFrom") + &moved("moveTo")
        }
        4 => {
            let (first, rest) = item.split_at(item.rfind(' ').unwrap_or_default());
            format!("<w:p>{}{}</w:p>", run(first), run(rest))
        }
        _ => plain(&item),
    }
}

/// Makes a document of the parts of its body.
pub(super) fn word(parts: &[String]) -> Result<Vec<u8>> {
    let styles =
        "<w:styles><w:style w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/></w:style></w:styles>";
    let names = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
        xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\"";
    let body = parts.concat();
    let document = format!("<?xml version=\"1.0\"?><w:document {names}><w:body>{body}</w:body></w:document>");
    zipped(&[
        ("[Content_Types].xml".to_owned(), "<Types/>".to_owned()),
        ("word/styles.xml".to_owned(), styles.to_owned()),
        ("word/document.xml".to_owned(), document),
    ])
}

/// Writes a chapter.
pub(super) fn chapter(pen: &mut TextWriter<'_>) -> String {
    let (number, item) = (pen.number(), pen.item());
    let head = match pen.some(0, 3) {
        0 => "<title/>".to_owned(),
        1 => format!("<title>Part {number}</title><script src=\"x.js\"/><style/>"),
        _ => format!("<title>Part {number}</title>"),
    };
    let body = match pen.some(0, 3) {
        0 => format!("<svg><title/></svg><p>{item}</p>"),
        1 => format!("<ul><li>{item}</li></ul>"),
        2 => format!("<table><tr><td>{item}</td><td>40</td></tr></table>"),
        _ => format!("<p>{item}</p>"),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head>{head}</head>\
        <body><h1>Part {number}</h1>{body}</body></html>"
    )
}

/// Makes a book of chapters.
pub(super) fn book(chapters: &[String]) -> Result<Vec<u8>> {
    let mut files = vec![(
        "META-INF/container.xml".to_owned(),
        "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>".to_owned(),
    )];
    let (mut items, mut spine) = (String::new(), String::new());
    for (number, chapter) in chapters.iter().enumerate() {
        write!(
            items,
            "<item id=\"c{number}\" href=\"c{number}.xhtml\" media-type=\"application/xhtml+xml\"/>"
        )?;
        write!(spine, "<itemref idref=\"c{number}\"/>")?;
        files.push((format!("OEBPS/c{number}.xhtml"), chapter.clone()));
    }
    let metadata = "<metadata><dc:title>Tales</dc:title></metadata>";
    let package = format!("<package>{metadata}<manifest>{items}</manifest><spine>{spine}</spine></package>");
    files.push(("OEBPS/book.opf".to_owned(), package));
    zipped(&files)
}

fn zipped(files: &[(String, String)]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Writes what draws a page.
pub(super) fn page(pen: &mut TextWriter<'_>) -> String {
    let (number, item) = (pen.number(), pen.item());
    match pen.some(0, 2) {
        0 => format!("BT /F1 18 Tf 72 740 Td (Part {number}) Tj ET BT /F1 12 Tf 72 700 Td ({item}) Tj ET"),
        1 => format!("BT /F1 12 Tf 72 720 Td [({item})] TJ 0 -14 Td (It ends here.) Tj ET"),
        _ => format!("q 1 0 0 1 72 720 cm BT /F1 12 Tf 0 0 Td ({item}) Tj ET Q"),
    }
}

/// Makes a PDF of what draws each page.
pub(super) fn pages(pages: &[String]) -> Result<Vec<u8>> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (number, stream) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * number
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        writeln!(file, "{number} 0 obj\n{object}\nendobj")?;
    }
    let (start, size) = (file.len(), objects.len() + 1);
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n")?;
    for place in places {
        writeln!(file, "{place:010} 00000 n ")?;
    }
    writeln!(file, "trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF")?;
    Ok(file)
}
