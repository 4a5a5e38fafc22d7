//! Messages, one by one or as a mailbox.

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Address, Message, MessageParser};
use mnemal_core::{Metadata, Passage, Timestamp};

use super::Content;

/// Most names of one line of senders or receivers. Source: own choice.
const NAMES: usize = 20;

/// Reads one message.
///
/// # Errors
/// The reason.
pub(super) fn read(bytes: &[u8]) -> Result<Content, String> {
    let passage = message(bytes).ok_or("not a message")?;
    let mut fields = Metadata::new();
    fields.extend(passage.headings.first().map(|subject| ("title".to_owned(), subject.clone())));
    Ok(Content { fields, written_at: passage.at, passages: vec![passage] })
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

/// Returns a message as a passage under its subject; attachments are named and not read.
fn message(bytes: &[u8]) -> Option<Passage> {
    let mail = MessageParser::default().parse(bytes)?;
    let mut lines = Vec::new();
    for (name, people) in [("From", mail.from()), ("To", mail.to())] {
        lines.extend(
            people.map(said).filter(|people| !people.is_empty()).map(|people| format!("{name}: {people}")),
        );
    }
    lines.extend(mail.date().map(|date| format!("Date: {}", date.to_rfc3339())));
    lines.extend(mail.subject().map(|subject| format!("Subject: {subject}")));
    lines.extend(attachments(&mail));
    let bodies = (0..mail.text_body_count()).filter_map(|place| mail.body_text(place));
    let body: Vec<String> = bodies.map(|body| body.replace("\r\n", "\n")).collect();
    let body = body.join("\n");
    if lines.is_empty() && body.trim().is_empty() {
        return None;
    }
    let at = mail.date().and_then(|date| date.to_timestamp().checked_mul(1_000_000));
    Some(Passage {
        text: format!("{}\n\n{body}", lines.join("\n")),
        headings: mail.subject().map(|subject| subject.trim().to_owned()).into_iter().collect(),
        page: None,
        at: at.and_then(|micros| Timestamp::from_micros(micros).ok()),
    })
}

fn attachments(mail: &Message<'_>) -> Option<String> {
    use mail_parser::MimeHeaders as _;
    let names: Vec<&str> = mail.attachments().filter_map(|part| part.attachment_name()).take(NAMES).collect();
    (!names.is_empty()).then(|| format!("Attachments: {}", names.join(", ")))
}

fn said(people: &Address<'_>) -> String {
    let one = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address).map(str::to_owned),
    };
    let people: Vec<String> =
        people.iter().take(NAMES).filter_map(|person| one(person.name(), person.address())).collect();
    people.join(", ")
}
