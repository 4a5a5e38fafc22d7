//! Documents as events: chunks with their file, heading and page.

use std::ops::Range;

use mnemal_core::{
    AgentId, ChannelId, Document, Error, EventKind, InstallationKey, Metadata, NewEvent, Origin, Passage,
    Result, SessionId, Timestamp, UserId, Zone,
};
use mnemal_text::{CHUNK_CHARACTERS, chunks};

use crate::clean::Cleaner;
use crate::limit::{LONGEST_CONTENT, metadata_bytes};
use crate::log::imported_id;

/// The channel of documents.
pub const DOCUMENTS: &str = "documents";
/// Most chunks of one document. Source: own default; 25 MB of text in chunks of 3,000 characters are some 9,000.
pub const MOST_CHUNKS: usize = 20_000;
/// Longest session name derived from a file name. Source: the limit of a name, less room for the hash of a long one.
const LONGEST_STEM: usize = 200;
/// Most bytes of a document's own metadata. Source: half of what metadata may have.
const LONGEST_FIELDS: usize = 8 * 1024;
/// Most bytes of one heading, and of a path of headings.
const LONGEST_HEADING: (usize, usize) = (240, 1_024);

/// Metadata of a chunk: its document, as [`document_id`] names it.
pub const DOCUMENT: &str = "document";
/// Metadata of a chunk: the name of the file below its folder.
pub const FILE: &str = "file";
/// Metadata of a chunk: its file, whatever its content: a keyed hash of the location.
pub const FILE_ID: &str = "file_id";
/// The conversation of records that link a file to the one with the same bytes.
pub(crate) const COPIES: &str = "copies of documents";
/// Metadata of a chunk: the headings above it, outermost first, with ` > ` between them; indexed with the text.
pub const HEADING: &str = "heading";
/// Metadata of a chunk: its index within the document.
const CHUNK: &str = "chunk";
/// Metadata of a chunk: its page, from 1.
pub const PAGE: &str = "page";

/// Options of document ingestion: chunking and ownership.
#[derive(Clone, Debug)]
pub struct DocumentOptions {
    /// Most characters of a chunk.
    pub chunk_characters: usize,
    /// Most chunks; a document with more is refused.
    pub most_chunks: usize,
    /// The time of documents without one.
    pub now: Timestamp,
    /// The user of the events.
    pub user: Option<UserId>,
    /// The agent of the events.
    pub agent: Option<AgentId>,
}

impl DocumentOptions {
    /// Returns options with the default limits and without a user.
    pub fn new(now: Timestamp) -> Self {
        Self { chunk_characters: CHUNK_CHARACTERS, most_chunks: MOST_CHUNKS, now, user: None, agent: None }
    }
}

/// Returns the cleaned passages, and the number of removed secrets.
///
/// The text is cleaned as a whole, because a secret may begin in one passage and end in the next; in that case the passages are
/// merged into one text.
pub(crate) fn cleaned(document: &Document, cleaner: &Cleaner) -> Result<(Vec<Passage>, u32)> {
    let joined = |passages: &[Passage]| {
        passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
    };
    let before = joined(&document.passages);
    let mut whole = before.clone();
    let redactions = cleaner.clean_text("content", &mut whole)?;
    if whole == before {
        return Ok((document.passages.clone(), redactions));
    }
    let mut passages = document.passages.clone();
    for passage in &mut passages {
        cleaner.clean_text("content", &mut passage.text)?;
    }
    if joined(&passages) == whole {
        return Ok((passages, redactions));
    }
    Ok((vec![Passage { text: whole, ..Passage::default() }], redactions))
}

/// Makes the events of a document, in its order; their keys depend on its bytes alone.
pub(crate) fn events(
    document: &Document,
    passages: &[Passage],
    options: &DocumentOptions,
    key: &InstallationKey,
) -> Result<Vec<NewEvent>> {
    let longest = options.chunk_characters.min(LONGEST_CONTENT / char::MAX.len_utf8());
    let pieces = pieces(passages, longest);
    if pieces.len() > options.most_chunks {
        let (most, has) = (options.most_chunks, pieces.len());
        return Err(Error::invalid(format!("a document has at most {most} chunks, this one has {has}")));
    }
    let id = document_id(key, &document.hash);
    let session = session_of(&document.name, key)?;
    let channel = ChannelId::new(DOCUMENTS)?;
    let base = base(document, &id, key);
    let mut parent = None;
    let mut made = Vec::with_capacity(pieces.len());
    // A record that only names the file has its own key, because a description may come later.
    let first = usize::from(document.undescribed.is_none());
    for (place, piece) in (first..).zip(&pieces) {
        let name = format!("document:{id}:{place}");
        let next = imported_id(key, &name);
        made.push(NewEvent {
            kind: EventKind::Document,
            content: piece.text.to_owned(),
            session: session.clone(),
            channel: channel.clone(),
            parent,
            speaker: None,
            user: options.user.clone(),
            agent: options.agent.clone(),
            occurred_at: piece.passage.at.or(document.written_at).unwrap_or(options.now),
            zone: Zone::utc(),
            origin: Origin::Document,
            idempotency_key: Some(name),
            metadata: of_piece(base.clone(), piece, (place, pieces.len())),
        });
        parent = Some(next);
    }
    Ok(made)
}

/// A chunk with its passage.
struct DocumentPiece<'d> {
    text: &'d str,
    passage: &'d Passage,
    /// Its bytes in the text of the document.
    bytes: Range<usize>,
}

fn pieces(passages: &[Passage], longest: usize) -> Vec<DocumentPiece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for passage in passages {
        for range in chunks(&passage.text, longest) {
            let text = passage.text.get(range.clone()).unwrap_or_default();
            if !text.trim().is_empty() {
                pieces.push(DocumentPiece { text, passage, bytes: start + range.start..start + range.end });
            }
        }
        start += passage.text.len();
    }
    pieces
}

/// Returns the metadata common to all chunks of a document.
fn base(document: &Document, id: &str, key: &InstallationKey) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in &document.fields {
        metadata.insert(name.clone(), value.clone());
        if metadata_bytes(&metadata) > LONGEST_FIELDS {
            metadata.remove(name);
        }
    }
    let own = [(FILE, file_name(document)), ("type", &document.kind), (DOCUMENT, id)];
    metadata.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    metadata.remove(FILE_ID);
    metadata.extend(file_id(document, key).map(|id| (FILE_ID.to_owned(), id)));
    metadata
}

fn of_piece(mut metadata: Metadata, piece: &DocumentPiece<'_>, (place, of): (usize, usize)) -> Metadata {
    metadata.insert(CHUNK.to_owned(), format!("{place}/{of}"));
    metadata.insert("bytes".to_owned(), format!("{}-{}", piece.bytes.start, piece.bytes.end));
    let headings: Vec<String> = piece.passage.headings.iter().map(|heading| one_line(heading)).collect();
    let path = headings.join(" > ");
    if !path.is_empty() {
        metadata.insert(HEADING.to_owned(), cut(&path, LONGEST_HEADING.1).to_owned());
    }
    if let Some(page) = piece.passage.page {
        metadata.insert(PAGE.to_owned(), page.to_string());
    }
    metadata
}

fn one_line(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    cut(&words.join(" "), LONGEST_HEADING.0).to_owned()
}

fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// Returns the record that links a file to another one with the same bytes.
pub(crate) fn copy(
    document: &Document,
    options: &DocumentOptions,
    key: &InstallationKey,
) -> Result<NewEvent> {
    let id = document_id(key, &document.hash);
    let name = file_name(document);
    let whose = file_id(document, key).unwrap_or_else(|| named(&key.hash("file", &[name.as_bytes()])));
    Ok(NewEvent {
        kind: EventKind::Document,
        content: format!("{name} has the same text as a file that is known under another name"),
        session: SessionId::new(COPIES)?,
        channel: ChannelId::new(DOCUMENTS)?,
        parent: None,
        speaker: None,
        user: options.user.clone(),
        agent: options.agent.clone(),
        occurred_at: document.written_at.unwrap_or(options.now),
        zone: Zone::utc(),
        origin: Origin::Document,
        idempotency_key: Some(format!("document:{id}:copy:{whose}")),
        metadata: base(document, &id, key),
    })
}

/// Returns a chunk as that of the file which a record of [`COPIES`] stands for.
pub(crate) fn left_to(chunk: &NewEvent, copy: &NewEvent, key: &InstallationKey) -> Result<NewEvent> {
    let mut chunk = chunk.clone();
    for field in [FILE, FILE_ID] {
        chunk.metadata.remove(field);
        chunk.metadata.extend(copy.metadata.get(field).map(|value| (field.to_owned(), value.clone())));
    }
    let name = copy.metadata.get(FILE).map_or("", String::as_str);
    let id = copy.metadata.get(DOCUMENT).map_or("", String::as_str);
    let place = chunk.metadata.get(CHUNK).and_then(|place| place.split('/').next()).unwrap_or_default();
    chunk.session = session_of(name, key)?;
    chunk.idempotency_key = Some(format!("document:{id}:{place}"));
    chunk.user.clone_from(&copy.user);
    chunk.agent.clone_from(&copy.agent);
    Ok(chunk)
}

/// Returns the conversations that may hold a file: those of its name, of each end of its path, and of copies.
pub(crate) fn sessions_of(name: &str, location: &str, key: &InstallationKey) -> Result<Vec<SessionId>> {
    let ends = location.char_indices().filter(|(_, letter)| matches!(letter, '/' | '\\'));
    let ends = ends.filter_map(|(place, letter)| location.get(place + letter.len_utf8()..));
    let mut sessions = vec![session_of(name, key)?, SessionId::new(COPIES)?];
    for end in ends.filter(|end| !end.is_empty()) {
        let session = session_of(end, key)?;
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    Ok(sessions)
}

/// Returns the stored name of a document's file.
pub(crate) fn file_name(document: &Document) -> &str {
    cut(&document.name, LONGEST_HEADING.1)
}

/// Returns the id of a file, independent of its content: a keyed hash of the location.
pub(crate) fn file_id(document: &Document, key: &InstallationKey) -> Option<String> {
    let location = document.location.as_ref()?;
    Some(named(&key.hash("file", &[location.as_bytes()])))
}

/// Returns the session of a document, named after its file, so that a file can be forgotten by its name.
fn session_of(name: &str, key: &InstallationKey) -> Result<SessionId> {
    let clean: String = name.chars().map(|letter| if letter.is_control() { '_' } else { letter }).collect();
    let tail = || named(&key.hash("file", &[name.as_bytes()]));
    SessionId::new(match clean.len() {
        0 => tail(),
        1..=LONGEST_STEM => clean,
        _ => format!("{}…{}", cut(&clean, LONGEST_STEM), cut(&tail(), 8)),
    })
}

/// Returns the id of the document whose bytes have this hash; it differs between installations.
pub fn document_id(key: &InstallationKey, hash: &[u8; 32]) -> String {
    named(&key.hash("document", &[hash]))
}

fn named(hash: &[u8]) -> String {
    use std::fmt::Write as _;
    hash.iter().take(16).fold(String::with_capacity(32), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
