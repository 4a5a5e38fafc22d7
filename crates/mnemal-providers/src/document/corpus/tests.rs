//! What the parsers make of the files.

use super::super::{Content, Kind, read_there};
use super::make::{docx, epub, pdf, zip, zip_with_link};

fn read(kind: Kind, bytes: &[u8]) -> Content {
    read_there(kind, bytes).unwrap()
}

fn refused(kind: Kind, bytes: &[u8]) -> String {
    read_there(kind, bytes).unwrap_err()
}

fn check(content: &Content, expect: &[(&str, Option<u32>, &str)]) {
    let found: Vec<(String, Option<u32>, &str)> =
        content.passages.iter().map(|one| (one.headings.join(" > "), one.page, one.text.trim())).collect();
    let found: Vec<(&str, Option<u32>, &str)> =
        found.iter().map(|(path, page, text)| (path.as_str(), *page, *text)).collect();
    assert_eq!(found, expect);
}

fn paragraph(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn a_word_document_keeps_headings_pages_and_what_it_says_of_itself() {
    let body = [
        paragraph("berschrift1", "Rent"),
        paragraph("", "It is 900 &amp; due monthly."),
        "<w:p><w:r><w:t>Signed</w:t><w:br w:type=\"page\"/></w:r></w:p>".to_owned(),
        paragraph("berschrift2", "Deposit"),
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>three</w:t></w:r></w:p></w:tc></w:tr></w:tbl>".to_owned(),
        "<w:p><w:del><w:r><w:delText>struck</w:delText></w:r></w:del></w:p>".to_owned(),
    ];
    let content = read(Kind::Word, &docx(&body.concat()));
    check(
        &content,
        &[
            ("Rent", Some(1), "Rent\n\nIt is 900 & due monthly.\n\nSigned"),
            ("Rent > Deposit", Some(2), "Deposit\n\nthree\n\n|"),
        ],
    );
    assert_eq!((content.fields["title"].as_str(), content.fields["author"].as_str()), ("The lease", "Ana"));
}

#[test]
fn a_book_is_read_in_the_order_of_its_spine() {
    let chapters = [
        ("two%20b.xhtml", "<html><head><title>x</title></head><body><h1>Two</h1><p>second</p></body></html>"),
        ("one.xhtml", "<html><body><h1>One</h1><p>first</p></body></html>"),
    ];
    let content = read(Kind::Epub, &epub(&chapters));
    check(&content, &[("One", None, "One\n\nfirst"), ("Two", None, "Two\n\nsecond")]);
    assert_eq!(content.fields["title"], "A book");
}

#[test]
fn a_pdf_is_read_page_by_page() {
    let content = read(Kind::Pdf, &pdf(&["The boiler is in the cellar", "", "Call Ben"]));
    check(&content, &[("", Some(1), "The boiler is in the cellar"), ("", Some(3), "Call Ben")]);
}

#[test]
fn messages_keep_who_when_and_what_about() {
    let mail = "From: Ana <ana@example.org>\r\nTo: Ben <ben@example.org>\r\nDate: Thu, 5 Mar 2026 10:00:00 +0000\r\nSubject: The boiler\r\n\r\nIt is in the cellar.\r\n";
    let content = read(Kind::Mail, mail.as_bytes());
    assert_eq!(content.written_at.unwrap().to_string(), "2026-03-05T10:00:00Z");
    let passage = &content.passages[0];
    assert_eq!(passage.headings, ["The boiler"]);
    for part in ["Ana <ana@example.org>", "Ben <ben@example.org>", "It is in the cellar."] {
        assert!(passage.text.contains(part), "{}", passage.text);
    }
    let unix = mail.replace("\r\n", "\n");
    let mailbox = format!(
        "From ana@x Thu Mar  5 10:00:00 2026\n{unix}\nFrom ben@x Thu Mar  5 11:00:00 2026\nSubject: Re\n\nthanks\n"
    );
    let content = read(Kind::Mailbox, mailbox.as_bytes());
    let subjects: Vec<&str> = content.passages.iter().map(|one| one.headings[0].as_str()).collect();
    assert_eq!(subjects, ["The boiler", "Re"]);
    assert!(content.passages[0].at.is_some() && content.passages[1].text.ends_with("thanks\n"));
}

#[test]
fn a_container_that_means_harm_is_refused_with_the_reason() {
    let bomb = vec![b'a'; 64 * 1024 * 1024];
    let bomb = zip(&[("word/document.xml", &bomb)]);
    assert!(bomb.len() < 200_000, "it is a bomb: {}", bomb.len());
    assert!(refused(Kind::Word, &bomb).contains("100 times"));
    for name in ["../../etc/cron.d/x", "/etc/passwd", "word/../../x", "..\\x"] {
        let file = zip(&[("word/document.xml", b"<w:t>x</w:t>"), (name, b"x")]);
        assert!(refused(Kind::Word, &file).contains("outside"), "{name}");
        assert!(refused(Kind::Epub, &file).contains("outside"), "{name}");
    }
    assert!(refused(Kind::Word, &zip_with_link()).contains("link"));
    let many: Vec<(String, &[u8])> = (0..10_001).map(|n| (format!("{n}"), &b""[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert!(refused(Kind::Epub, &zip(&many)).contains("10000 files"));
    let outside = epub(&[("one.xhtml", "<p>first</p>")]);
    let content = read(Kind::Epub, &outside);
    assert_eq!(content.passages.len(), 1);
}

#[test]
fn nesting_entities_and_unfinished_markup_end() {
    let deep = docx(&format!("{}<w:t>word</w:t>{}", "<w:p>".repeat(300_000), "</w:p>".repeat(300_000)));
    check(&read(Kind::Word, &deep), &[("", Some(1), "word")]);
    let laughs = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><w:p><w:r><w:t>&b; end</w:t></w:r></w:p>";
    let content = read(Kind::Word, &docx(laughs));
    assert!(content.passages[0].text.len() < 200, "entities are not expanded");
    assert_eq!(read(Kind::Word, &docx("<w:p><w:r><w:t>never")).passages[0].text.trim(), "never");
}

#[test]
fn broken_files_are_refused_and_none_brings_the_reader_down() {
    let whole = [
        (Kind::Pdf, pdf(&["The boiler is in the cellar", "Call Ben"])),
        (Kind::Word, docx(&paragraph("", "It is 900."))),
        (Kind::Epub, epub(&[("one.xhtml", "<p>first</p>")])),
    ];
    for (kind, file) in whole {
        for length in (0..file.len()).step_by(file.len() / 40 + 1) {
            let cut = &file[..length];
            let _refused_or_read = read_there(kind, cut);
        }
        assert!(read_there(kind, b"").is_err() && read_there(kind, b"\0\xFF garbage").is_err(), "{kind}");
    }
    let broken = String::from_utf8(pdf(&["x"])).unwrap().replace("/Kids [4 0 R]", "/Kids [2 0 R]");
    assert!(!refused(Kind::Pdf, broken.as_bytes()).is_empty(), "a page tree that holds itself");
}
