//! Parser results for the generated files.

use super::super::{Content, FileKind, read_there};
use super::make::{docx, epub, pdf, pdf_of, zip, zip_with_link};

fn read(kind: FileKind, bytes: &[u8]) -> Content {
    read_there(kind, bytes).unwrap()
}

fn refused(kind: FileKind, bytes: &[u8]) -> String {
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
    let content = read(FileKind::Word, &docx(&body.concat()));
    check(
        &content,
        &[
            ("Rent", Some(1), "Rent\n\nIt is 900 & due monthly.\n\nSigned"),
            ("Rent > Deposit", Some(2), "Deposit\n\nthree |"),
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
    let content = read(FileKind::Epub, &epub(&chapters));
    check(&content, &[("One", None, "One\n\nfirst"), ("Two", None, "Two\n\nsecond")]);
    assert_eq!(content.fields["title"], "A book");
}

#[test]
fn a_pdf_is_read_page_by_page() {
    let content = read(FileKind::Pdf, &pdf(&["The boiler is in the cellar", "", "Call Ben"]));
    check(&content, &[("", Some(1), "The boiler is in the cellar"), ("", Some(3), "Call Ben")]);
}

#[test]
fn turned_text_of_a_pdf_is_read_along_its_own_lines() {
    let say = |matrix: &str, text: &str| format!("BT /F1 12 Tf {matrix} Tm ({text}) Tj ET\n");
    let up = |x: u32, y: u32| format!("0 1 -1 0 {x} {y}");
    let down = |x: u32, y: u32| format!("0 -1 1 0 {x} {y}");
    let page = [
        say("1 0 0 1 72 720", "Before the table."),
        say(&up(100, 400), "PRICE"),
        say(&up(114, 400), "in euros"),
        say(&up(200, 400), "WEIGHT"),
        say(&down(400, 600), "Page 7"),
        say("1 0 0 1 72 300", "Behind the table."),
    ];
    let content = read(FileKind::Pdf, &pdf_of(&[page.concat()]));
    let expect = "Before the table.\n\nPRICE\nin euros\n\nWEIGHT\n\nPage 7\n\nBehind the table.";
    check(&content, &[("", Some(1), expect)]);
}

#[test]
fn a_page_that_is_damaged_costs_no_other_page_of_a_pdf() {
    let good = |text: &str| format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    for damaged in ["BT /F9 12 Tf (x) Tj ET", "BT /F1 x Tf Td Tj ET", "ET", "q q q", ""] {
        let pages = [good("The harbour."), damaged.to_owned(), good("The mill.")];
        let content = read(FileKind::Pdf, &pdf_of(&pages));
        check(&content, &[("", Some(1), "The harbour."), ("", Some(3), "The mill.")]);
        refused(FileKind::Pdf, &pdf_of(&[damaged.to_owned()]));
    }
}

#[test]
fn messages_keep_who_when_and_what_about() {
    let mail = "From: Ana <ana@example.org>\r\nTo: Ben <ben@example.org>\r\nDate: Thu, 5 Mar 2026 10:00:00 +0000\r\nSubject: The boiler\r\n\r\nIt is in the cellar.\r\n";
    let content = read(FileKind::Mail, mail.as_bytes());
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
    let content = read(FileKind::Mailbox, mailbox.as_bytes());
    let subjects: Vec<&str> = content.passages.iter().map(|one| one.headings[0].as_str()).collect();
    assert_eq!(subjects, ["The boiler", "Re"]);
    assert!(content.passages[0].at.is_some() && content.passages[1].text.ends_with("thanks\n"));
}

#[test]
fn a_container_that_means_harm_is_refused_with_the_reason() {
    let bomb = vec![b'a'; 64 * 1024 * 1024];
    let bomb = zip(&[("word/document.xml", &bomb)]);
    assert!(bomb.len() < 200_000, "it is a bomb: {}", bomb.len());
    assert!(refused(FileKind::Word, &bomb).contains("100 times"));
    for name in ["../../etc/cron.d/x", "/etc/passwd", "word/../../x", "..\\x"] {
        let file = zip(&[("word/document.xml", b"<w:t>x</w:t>"), (name, b"x")]);
        assert!(refused(FileKind::Word, &file).contains("outside"), "{name}");
        assert!(refused(FileKind::Epub, &file).contains("outside"), "{name}");
    }
    assert!(refused(FileKind::Word, &zip_with_link()).contains("link"));
    let many: Vec<(String, &[u8])> = (0..10_001).map(|n| (format!("{n}"), &b""[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert!(refused(FileKind::Epub, &zip(&many)).contains("10000 files"));
    let outside = epub(&[("one.xhtml", "<p>first</p>")]);
    let content = read(FileKind::Epub, &outside);
    assert_eq!(content.passages.len(), 1);
}

#[test]
fn nesting_entities_and_unfinished_markup_end() {
    let deep = docx(&format!("{}<w:t>word</w:t>{}", "<w:p>".repeat(300_000), "</w:p>".repeat(300_000)));
    check(&read(FileKind::Word, &deep), &[("", Some(1), "word")]);
    let laughs = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><w:p><w:r><w:t>&b; end</w:t></w:r></w:p>";
    let content = read(FileKind::Word, &docx(laughs));
    assert!(content.passages[0].text.len() < 200, "entities are not expanded");
    assert_eq!(read(FileKind::Word, &docx("<w:p><w:r><w:t>never")).passages[0].text.trim(), "never");
}

#[test]
fn broken_files_are_refused_and_none_brings_the_reader_down() {
    let whole = [
        (FileKind::Pdf, pdf(&["The boiler is in the cellar", "Call Ben"])),
        (FileKind::Word, docx(&paragraph("", "It is 900."))),
        (FileKind::Epub, epub(&[("one.xhtml", "<p>first</p>")])),
    ];
    for (kind, file) in whole {
        for length in (0..file.len()).step_by(file.len() / 40 + 1) {
            let cut = &file[..length];
            let _refused_or_read = read_there(kind, cut);
        }
        assert!(read_there(kind, b"").is_err() && read_there(kind, b"\0\xFF garbage").is_err(), "{kind}");
    }
    let broken = String::from_utf8(pdf(&["x"])).unwrap().replace("/Kids [4 0 R]", "/Kids [2 0 R]");
    assert!(!refused(FileKind::Pdf, broken.as_bytes()).is_empty(), "a page tree that holds itself");
}

/// Returns all text of what was read.
fn text(kind: FileKind, bytes: &[u8]) -> String {
    read(kind, bytes).passages.iter().map(|passage| passage.text.as_str()).collect()
}

fn multipart(parts: &[(&str, &str)]) -> String {
    let head = "From: Ana <ana@example.org>\r\nSubject: Order\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n";
    let parts = parts.iter().map(|(kind, body)| format!("--b\r\nContent-Type: {kind}\r\n\r\n{body}\r\n"));
    format!("{head}{}--b--\r\n", parts.collect::<String>())
}

#[test]
fn a_message_in_html_is_read_as_a_page() {
    let page = "<div>Order 4711</div><div>Shipped to Lyon</div><table><tr><td>Lamp</td><td>40</td></tr><tr><td>Chair</td><td>90</td></tr></table>";
    let mail =
        format!("From: shop@example.org\r\nSubject: Order\r\nContent-Type: text/html\r\n\r\n{page}\r\n");
    let said = text(FileKind::Mail, mail.as_bytes());
    for line in ["Order 4711\n", "Shipped to Lyon\n", "Lamp | 40 |\n", "Chair | 90 |"] {
        assert!(said.contains(line), "{line:?} in {said:?}");
    }
    // A program that writes an empty plain part says all in HTML.
    let both = multipart(&[("text/plain", "  "), ("text/html", page)])
        .replace("multipart/mixed", "multipart/alternative");
    assert!(text(FileKind::Mail, both.as_bytes()).contains("Shipped to Lyon\n"));
    let plain = both.replace("  \r\n", "In words.\r\n");
    let said = text(FileKind::Mail, plain.as_bytes());
    assert!(said.contains("In words.") && !said.contains("Lyon"), "{said}");
}

#[test]
fn an_attached_message_is_read_behind_the_one_that_brings_it() {
    let attached = "From: Ben <ben@example.org>\r\nSubject: The lamp\r\nDate: Thu, 5 Mar 2026 10:00:00 +0000\r\n\r\nIt is broken.\r\n";
    let content = read(
        FileKind::Mail,
        multipart(&[("text/plain", "See below."), ("message/rfc822", attached)]).as_bytes(),
    );
    let found: Vec<(&str, bool)> =
        content.passages.iter().map(|one| (one.headings[0].as_str(), one.text.contains("broken"))).collect();
    assert_eq!(found, [("Order", false), ("The lamp", true)]);
    assert!(content.passages[0].text.contains("Attachments: The lamp"));
    assert!(content.passages[1].at.is_some());
}

#[test]
fn a_chapter_with_tags_that_end_at_once_is_read() {
    let chapter = "<html><head><title/><script src=\"a.js\"/><style/></head><body><h1>Chapter one</h1>\
        <p>The harbour opens at nine.</p><![CDATA[And closes at <five>.]]></body></html>";
    let content = read(FileKind::Epub, &epub(&[("one.xhtml", chapter)]));
    assert_eq!(content.passages[0].headings, ["Chapter one"]);
    assert_eq!(
        content.passages[0].text,
        "Chapter one\n\nThe harbour opens at nine.\n\nAnd closes at <five>.\n\n"
    );
}

#[test]
fn a_word_document_says_each_thing_once_and_in_one_piece() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let boxed = |text: &str| format!("<w:txbxContent><w:p>{}</w:p></w:txbxContent>", run(text));
    let cell = |text: &str| format!("<w:tc><w:p>{}</w:p></w:tc>", run(text));
    let body = [
        format!(
            "<w:p>{}<mc:AlternateContent><mc:Choice>{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>{}</w:p>",
            run("Before "),
            boxed("In the box"),
            boxed("In the box"),
            run("behind.")
        ),
        format!(
            "<w:p><w:moveFrom>{}</w:moveFrom>{}<w:moveTo>{}</w:moveTo></w:p>",
            run("Moved. "),
            run("First. "),
            run("Moved.")
        ),
        "<w:p><w:r><w:t>Call 555</w:t><w:noBreakHyphen/><w:t>0142</w:t></w:r></w:p>".to_owned(),
        "<w:p><w:r><w:t>Tick</w:t><w:ptab/><w:t>42</w:t></w:r></w:p>".to_owned(),
        format!(
            "<w:p><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:p>",
            run("kana"),
            run("漢字")
        ),
        format!("<w:p>{}<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath></w:p>", run("Sum ")),
        format!("<w:p>{}<w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>", run("Oak lasts.")),
        format!(
            "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
            cell("Ada"),
            cell("555 0142"),
            cell("Bo"),
            cell("555 0199")
        ),
    ];
    let document =
        format!("<?xml version=\"1.0\"?><w:document><w:body>{}</w:body></w:document>", body.concat());
    let notes = format!(
        "<w:footnotes><w:footnote w:id=\"2\"><w:p>{}</w:p></w:footnote></w:footnotes>",
        run("So says Mira.")
    );
    let file = zip(&[("word/document.xml", document.as_bytes()), ("word/footnotes.xml", notes.as_bytes())]);
    let expect = "Before behind.\n\nIn the box\n\nFirst. Moved.\n\nCall 555\u{2011}0142\n\nTick\t42\n\n漢字\n\nSum a+b\n\n\
        Oak lasts. [So says Mira.]\n\nAda | 555 0142 |\nBo | 555 0199 |\n\n";
    assert_eq!(text(FileKind::Word, &file), expect);
}
