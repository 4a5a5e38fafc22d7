//! Mail messages, single or as a mailbox.

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Address, Message, MessageParser, MessagePart, PartType};
use mnemal_core::{Metadata, Passage, Timestamp};

use super::{Content, html};

/// Most names of senders or recipients on one line. Source: own choice.
const NAMES: usize = 20;
/// Deepest nesting of attached messages. Source: own choice; forwards of forwards.
const DEEPEST: usize = 8;

/// Reads one message.
///
/// # Errors
/// The reason.
pub(super) fn read(bytes: &[u8]) -> Result<Content, String> {
    let passages = message(bytes);
    let first = passages.first().ok_or("not a message")?;
    let mut fields = Metadata::new();
    fields.extend(first.headings.first().map(|subject| ("title".to_owned(), subject.clone())));
    Ok(Content { fields, written_at: first.at, passages })
}

/// Reads a mailbox: each message is a passage with its own time.
///
/// # Errors
/// The reason.
pub(super) fn read_all(bytes: &[u8]) -> Result<Content, String> {
    let mut passages = Vec::new();
    for mail in MessageIterator::new(bytes) {
        let mail = mail.map_err(|why| format!("a damaged mailbox: {why}"))?;
        passages.extend(message(mail.contents()));
    }
    if passages.is_empty() {
        return Err("a mailbox without a message".to_owned());
    }
    Ok(Content { passages, ..Content::default() })
}

/// Returns a message as a passage under its subject, followed by the attached messages; other attachments are named and not
/// read.
fn message(bytes: &[u8]) -> Vec<Passage> {
    let mut passages = Vec::new();
    if let Some(mail) = MessageParser::default().parse(bytes) {
        add(&mail, 0, &mut passages);
    }
    passages
}

fn add(mail: &Message<'_>, depth: usize, passages: &mut Vec<Passage>) {
    let mut lines = Vec::new();
    for (name, people) in [("From", mail.from()), ("To", mail.to())] {
        lines.extend(
            people
                .map(address_text)
                .filter(|people| !people.is_empty())
                .map(|people| format!("{name}: {people}")),
        );
    }
    lines.extend(mail.date().map(|date| format!("Date: {}", date.to_rfc3339())));
    lines.extend(mail.subject().map(|subject| format!("Subject: {subject}")));
    lines.extend(attachments(mail));
    let body = body(mail);
    if !lines.is_empty() || !body.trim().is_empty() {
        let at = mail.date().and_then(|date| date.to_timestamp().checked_mul(1_000_000));
        passages.push(Passage {
            text: format!("{}\n\n{body}", lines.join("\n")),
            headings: mail.subject().map(|subject| subject.trim().to_owned()).into_iter().collect(),
            page: None,
            at: at.and_then(|micros| Timestamp::from_micros(micros).ok()),
        });
    }
    for part in mail.attachments() {
        if let PartType::Message(attached) = &part.body
            && depth < DEEPEST
        {
            add(attached, depth + 1, passages);
        }
    }
}

/// Returns the body of a message: its plain parts, and those in HTML if the plain ones are blank.
fn body(mail: &Message<'_>) -> String {
    let texts = |places: &[u32]| -> String {
        let parts = places.iter().filter_map(|place| mail.parts.get(*place as usize));
        let texts = parts.filter_map(|part| match &part.body {
            PartType::Text(text) => Some(text.replace("\r\n", "\n")),
            PartType::Html(page) => Some(html::text(page)),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let plain = texts(&mail.text_body);
    if plain.trim().is_empty() { texts(&mail.html_body) } else { plain }
}

fn attachments(mail: &Message<'_>) -> Option<String> {
    use mail_parser::MimeHeaders as _;
    let name = |part: &MessagePart<'_>| match &part.body {
        PartType::Message(attached) => {
            Some(attached.subject().or_else(|| part.attachment_name()).unwrap_or("a message").to_owned())
        }
        _ => part.attachment_name().map(str::to_owned),
    };
    let names: Vec<String> = mail.attachments().filter_map(name).take(NAMES).collect();
    (!names.is_empty()).then(|| format!("Attachments: {}", names.join(", ")))
}

fn address_text(people: &Address<'_>) -> String {
    let one = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address).map(str::to_owned),
    };
    let people: Vec<String> =
        people.iter().take(NAMES).filter_map(|person| one(person.name(), person.address())).collect();
    people.join(", ")
}
