//! Conversion of parsed records into events.

use std::collections::HashMap;
use std::ops::Range;

use mnemal_core::{
    ChannelId, EventId, EventKind, InstallationKey, Metadata, NewEvent, Origin, SessionId, Speaker,
    Timestamp, UserId, Zone,
};

use super::{Format, ImportOptions, OwnHistory, TIME_INFERRED};
use crate::limit::{LONGEST_METADATA, metadata_bytes};
use crate::log::imported_id;

/// Longest piece of a split text. Source: the limit of an event, less room for secret placeholders.
const LONGEST_PIECE: usize = 192 * 1024;
/// Bytes of a source's name in session names. Source: half of what a name may have.
const LONGEST_STEM: usize = 128;
/// Room that flags of the pipeline need in the metadata.
const FLAGS: usize = 256;

/// A parsed record.
#[derive(Clone, Debug)]
pub(super) struct ParsedRecord {
    pub(super) kind: EventKind,
    pub(super) content: String,
    pub(super) session: String,
    /// A wider conversation, whose times help if the session has none.
    pub(super) conv: Option<String>,
    pub(super) speaker: Option<String>,
    /// Whose it is, where the format keeps several users apart; a user that is asked for comes first.
    pub(super) user: Option<UserId>,
    /// Whether a person said it, as far as the format shows.
    pub(super) human: bool,
    pub(super) at: Option<(Timestamp, Zone)>,
    /// Identifies the record within its format; not stored in the log.
    pub(super) source: Vec<String>,
    pub(super) parent: Option<EventId>,
    pub(super) metadata: Metadata,
}

/// An event whose time may still be unknown.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: EventId,
    event: NewEvent,
    timed: bool,
    conv: Option<String>,
}

impl Turn {
    pub(super) fn bytes(&self) -> usize {
        self.event.content.len() + metadata_bytes(&self.event.metadata)
    }
}

/// Builder of events that tracks the earliest time of each conversation.
#[derive(Debug)]
pub(super) struct Turns {
    format: Format,
    options: ImportOptions,
    key: InstallationKey,
    sessions: HashMap<String, Timestamp>,
    convs: HashMap<String, Timestamp>,
    /// The channel and session of an agent's session file.
    place: Option<(String, String)>,
    /// Number of the current line.
    pub(super) line: u64,
    /// Byte offset of the line.
    pub(super) start: u64,
    /// Events of the current line.
    pub(super) made: Vec<Turn>,
    /// The ids of all events of the line, wanted or not.
    pub(super) said: Vec<EventId>,
    /// The ids of withdrawn events, of this line and of earlier ones.
    pub(super) withdrawn: Vec<EventId>,
    /// Whether the line's parent was not read, so that its withdrawals are unknown.
    pub(super) is_orphan: bool,
    /// Parts of the line that gave no event.
    pub(super) remarks: Vec<&'static str>,
    /// Parts of the line that could not be parsed; the others gave their events.
    pub(super) broken: Vec<String>,
}

impl Turns {
    pub(super) fn new(format: Format, options: &ImportOptions, key: InstallationKey) -> Self {
        Self {
            format,
            options: options.clone(),
            key,
            sessions: HashMap::new(),
            convs: HashMap::new(),
            place: None,
            line: 0,
            start: 0,
            made: Vec::new(),
            said: Vec::new(),
            withdrawn: Vec::new(),
            is_orphan: false,
            remarks: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Clears the output of a line.
    pub(super) fn clear(&mut self) {
        self.made.clear();
        self.said.clear();
        self.withdrawn.clear();
        self.is_orphan = false;
        self.remarks.clear();
        self.broken.clear();
    }

    /// Takes the file for an agent's session named `CHANNEL:CHAT`: by its key, else by its file name, in which a `_` replaces
    /// the colon.
    pub(super) fn take_session(&mut self, key: Option<&str>) {
        let stem = self.stem();
        let stem = stem.strip_suffix(".jsonl").unwrap_or(&stem);
        let parts = key.and_then(|key| key.split_once(':')).or_else(|| stem.split_once('_'));
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        if let Some((channel, chat)) = parts.filter(|(channel, chat)| is_word(channel) && !chat.is_empty()) {
            self.place = Some((channel.to_owned(), format!("{channel}:{chat}")));
        }
    }

    /// Returns the name of a conversation without one: the file's name.
    pub(super) fn stem(&self) -> String {
        if let Some((_, session)) = &self.place {
            return session.clone();
        }
        let name = self.options.source.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = name.chars().filter(|letter| !letter.is_control()).collect();
        let name = name.get(..name.floor_char_boundary(LONGEST_STEM)).unwrap_or_default();
        if name.is_empty() { self.format.as_str().to_owned() } else { name.to_owned() }
    }

    /// Returns the name that distinguishes this file from others of its format.
    pub(super) fn file(&self) -> String {
        self.options.source.clone()
    }

    /// Returns the key for record names.
    pub(super) fn key(&self) -> &InstallationKey {
        &self.key
    }

    /// Whether a record of this `conv` is wanted.
    pub(super) fn wants(&self, conv: &str) -> bool {
        self.options.conv.only().is_none_or(|only| only == conv)
    }

    /// Tracks the time of a record in a conversation, whether or not the record becomes an event.
    pub(super) fn note_time(&mut self, session: &str, conv: Option<&str>, at: Timestamp) {
        let earliest = |known: &mut HashMap<String, Timestamp>, name: &str| match known.get_mut(name) {
            Some(known) => *known = (*known).min(at),
            None => {
                known.insert(name.to_owned(), at);
            }
        };
        earliest(&mut self.sessions, session);
        if let Some(conv) = conv {
            earliest(&mut self.convs, conv);
        }
    }

    /// Notes a part that gives no event.
    pub(super) fn remark(&mut self, what: &'static str) {
        self.remarks.push(what);
    }

    /// Notes a part that could not be parsed.
    pub(super) fn fail(&mut self, why: String) {
        self.broken.push(why);
    }

    /// Returns a parsed time; an invalid one is noted and inferred, so that the text is not lost.
    pub(super) fn time(
        &mut self,
        read: Result<Option<(Timestamp, Zone)>, String>,
    ) -> Option<(Timestamp, Zone)> {
        read.unwrap_or_else(|why| {
            self.fail(why);
            None
        })
    }

    /// Makes the event, or several if the text is too long for one; returns the id of the last.
    pub(super) fn emit(&mut self, said: &ParsedRecord) -> Result<EventId, String> {
        let name = |what: &str, why: mnemal_core::Error| format!("field `{what}`: {why}");
        if let Some((at, _)) = &said.at {
            self.note_time(&said.session, said.conv.as_deref(), *at);
        }
        if metadata_bytes(&said.metadata) + FLAGS > LONGEST_METADATA {
            return Err(format!("caption and other fields longer than {LONGEST_METADATA} bytes"));
        }
        let (occurred_at, zone) = said.at.clone().unwrap_or((self.options.now, self.options.zone.clone()));
        let event = NewEvent {
            session: match &self.options.session {
                Some(session) => session.clone(),
                None => SessionId::new(said.session.as_str()).map_err(|why| name("session", why))?,
            },
            channel: match &self.options.channel {
                Some(channel) => channel.clone(),
                None => ChannelId::new(self.channel()).map_err(|why| name("channel", why))?,
            },
            speaker: said
                .speaker
                .as_deref()
                .map(Speaker::new)
                .transpose()
                .map_err(|why| name("speaker", why))?,
            user: self.options.user.clone().or_else(|| said.user.clone()),
            agent: self.options.agent.clone(),
            origin: origin(self.options.origin, self.format, said),
            kind: said.kind.clone(),
            parent: said.parent,
            metadata: said.metadata.clone(),
            content: String::new(),
            idempotency_key: None,
            occurred_at,
            zone,
        };
        Ok(self.pieces(&event, said))
    }

    fn pieces(&mut self, event: &NewEvent, said: &ParsedRecord) -> EventId {
        let record = self.record(said);
        let is_wanted = self.options.roles.only().is_none_or(|roles| roles.contains(&said.kind.role()));
        let mut parent = said.parent;
        let mut last = EventId(0);
        for (place, range) in split(&said.content).into_iter().enumerate() {
            let piece = if place == 0 { String::new() } else { format!("#{}", place + 1) };
            let key = format!("import:{}:{record}{piece}", self.format.as_str());
            last = imported_id(&self.key, &key);
            self.said.push(last);
            if !is_wanted {
                continue;
            }
            self.made.push(Turn {
                id: last,
                event: NewEvent {
                    content: said.content.get(range).unwrap_or_default().to_owned(),
                    idempotency_key: Some(key),
                    parent,
                    ..event.clone()
                },
                timed: said.at.is_some(),
                conv: said.conv.clone(),
            });
            parent = Some(last);
        }
        last
    }

    /// Returns the name of a record: a keyed hash of format, source id, content, and destination.
    fn record(&self, said: &ParsedRecord) -> String {
        let name = |name: Option<&str>| name.unwrap_or_default().to_owned();
        let mut parts = vec![
            self.format.as_str().to_owned(),
            name(self.options.session.as_ref().map(SessionId::as_str)),
            name(self.options.channel.as_ref().map(ChannelId::as_str)),
            spelled(&said.content),
            name(said.speaker.as_deref()),
            name(said.metadata.get("caption").map(String::as_str)),
        ];
        parts.extend(said.source.iter().cloned());
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        let hash = self.key.hash("import", &parts);
        hash.iter().take(16).fold(String::with_capacity(32), |mut text, byte| {
            use std::fmt::Write as _;
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn channel(&self) -> &str {
        match (&self.place, self.format) {
            (Some((channel, _)), _) => channel,
            (None, Format::Neutral) => "import",
            (None, named) => named.as_str(),
        }
    }

    /// Gives an event its time: its own, the earliest of its conversation, or that of the import.
    pub(super) fn finish(&self, turn: Turn, zone_at: impl Fn(Timestamp) -> Zone) -> NewEvent {
        let mut event = turn.event;
        if !turn.timed {
            let by_conv = turn.conv.as_deref().and_then(|conv| self.convs.get(conv));
            let by_session = self.sessions.get(event.session.as_str());
            event.occurred_at = by_session.or(by_conv).copied().unwrap_or(self.options.now);
            event.zone = zone_at(event.occurred_at);
            event.metadata.insert(TIME_INFERRED.to_owned(), "true".to_owned());
        }
        event
    }
}

/// Normalizes a text for record identity: a later export may end its lines and its texts differently.
fn spelled(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().split('\n').map(str::trim_end).collect();
    lines.join("\n")
}

/// Returns the origin of a record's words.
fn origin(own: OwnHistory, format: Format, said: &ParsedRecord) -> Origin {
    // Files that an agent keeps for its owner and that the owner can read; conclusions of a service do not count.
    let is_memory = matches!(format, Format::MemoryMd | Format::RockBot)
        && matches!(said.kind, EventKind::Decision(_) | EventKind::Observation);
    match (own, &said.kind) {
        (OwnHistory::Yes, _) if is_memory => Origin::UserConfirmed,
        (OwnHistory::Unsaid, _) if is_memory => Origin::Assistant,
        (OwnHistory::Yes, _) if said.human => Origin::UserConfirmed,
        (OwnHistory::Captured, _) if said.human => Origin::UserDirect,
        (OwnHistory::Captured, EventKind::AssistantMessage | EventKind::ToolCall { .. }) => Origin::Assistant,
        (OwnHistory::Captured, EventKind::ToolResult { .. }) => Origin::ToolExternal,
        _ => Origin::Import,
    }
}

/// Splits a text that is too long for one event, after a line break if there is one.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while text.len() - from > LONGEST_PIECE {
        let most = text.floor_char_boundary(from + LONGEST_PIECE);
        let piece = text.get(from..most).unwrap_or_default();
        let end = piece.rfind('\n').map_or(most, |place| from + place + 1);
        pieces.push(from..end);
        from = end;
    }
    pieces.push(from..text.len());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_no_byte_and_breaks_at_lines() {
        let line = format!("{}\n", "é".repeat(40_000));
        let text = line.repeat(5);
        let pieces = split(&text);
        assert_eq!(pieces.iter().filter_map(|range| text.get(range.clone())).collect::<String>(), text);
        assert!(pieces.len() > 1 && pieces.iter().all(|range| range.len() <= LONGEST_PIECE));
        assert!(text.get(pieces[0].clone()).unwrap().ends_with('\n'));
        assert_eq!(split("").first(), Some(&(0..0)));
    }
}
