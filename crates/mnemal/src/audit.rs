//! The audit log of administrative acts: one line of JSON for each, chained by keyed hashes, without any text of a memory.
//!
//! A line holds its number, the act, the space, the origin, ids and counts, the hash of the line before, and its own hash, which
//! only a holder of the installation's key can make. A second file of one line holds the number of lines, so that truncation is
//! detected.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, ErrorKind as IoKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, InstallationKey, Origin, Result, SpaceId, Timestamp};

use crate::engine::Engine;
use crate::settings::Settings;

/// The file's name, in the folder of the installation's key.
pub(crate) const NAME: &str = "audit.jsonl";
/// Key derivation label of the line hashes.
const PURPOSE: &str = "audit";
/// Key derivation label of the hash over the log's length.
const LENGTH: &str = "audit length";
/// Key derivation label of the short hash over the trust settings.
const TRUST: &str = "audit trust";
/// Hexadecimal digits of that hash. Source: own default, 64 bits.
const SHORT: usize = 16;
/// Placeholder for trust settings that were never recorded.
const UNKNOWN: &str = "-";
/// Field prefix of the previous line's hash.
const PREVIOUS: &str = ",\"previous\":\"";
/// Field prefix of the line's own hash, which ends the line.
const HASH: &str = ",\"hash\":\"";
/// The previous hash of the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Maximum number of ids in a line; the rest is counted. Source: own default, a line of at most 4 KB.
const MOST_IDS: usize = 100;
/// Size of the file's tail that holds the last whole line, in bytes. Source: twice the longest line.
const TAIL: u64 = 16 * 1_024;

/// The kind of an audited act.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditAct {
    /// Events were erased.
    Forget,
    /// A history was imported.
    Import,
    /// The whole space was exported.
    Export,
    /// The space was backed up.
    Backup,
    /// The space was restored from a backup.
    Restore,
    /// A quarantined record was released.
    Release,
    /// The space was removed.
    SpaceRemoved,
    /// A key was made.
    KeyCreated,
    /// A key was revoked.
    KeyRevoked,
    /// The settings for secrets or for low-trust records changed.
    TrustSettings,
}

impl AuditAct {
    /// Returns the name used in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forget => "forget",
            Self::Import => "import",
            Self::Export => "export",
            Self::Backup => "backup",
            Self::Restore => "restore",
            Self::Release => "release",
            Self::SpaceRemoved => "space_removed",
            Self::KeyCreated => "key_created",
            Self::KeyRevoked => "key_revoked",
            Self::TrustSettings => "trust_settings",
        }
    }
}

/// One act as it is logged: ids and counts, no text.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    act: AuditAct,
    by: Origin,
    space: Option<SpaceId>,
    ids: Vec<String>,
    counts: Vec<(&'static str, u64)>,
}

impl AuditRecord {
    /// Creates an entry from an act and its origin.
    pub fn new(act: AuditAct, by: Origin) -> Self {
        Self { act, by, space: None, ids: Vec::new(), counts: Vec::new() }
    }

    /// Sets the space.
    #[must_use]
    pub fn space(mut self, space: &SpaceId) -> Self {
        self.space = Some(space.clone());
        self
    }

    /// Adds an id; beyond 100 ids the rest is counted.
    #[must_use]
    pub fn id(mut self, id: impl fmt::Display) -> Self {
        self.ids.push(id.to_string());
        self
    }

    /// Adds a count.
    #[must_use]
    pub fn count(mut self, what: &'static str, count: u64) -> Self {
        self.counts.push((what, count));
        self
    }
}

/// The result of an audit log check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditCheck {
    /// Number of whole lines.
    pub lines: u64,
    /// The hash of the last line, to be stored elsewhere as an anchor; `None` for an empty log.
    pub head: Option<String>,
    /// Bytes of an unfinished last line after a crash; the next append removes them.
    pub torn: u64,
    /// Integrity violations, one sentence each.
    pub findings: Vec<String>,
}

/// The audit log of an installation.
#[derive(Clone, Debug)]
pub struct AuditLog {
    path: PathBuf,
    key: InstallationKey,
}

/// The recorded length of the log, in the second file.
struct LogLength {
    lines: u64,
    /// Hash of the last line.
    hash: String,
    /// Hash of the trust settings that were recorded last.
    trust: String,
}

/// The end of the log.
struct LogEnd {
    number: u64,
    hash: String,
    /// Bytes of its whole lines.
    whole: u64,
    torn: u64,
}

impl AuditLog {
    /// Opens the log of an installation, in the folder of its key file; the key is created if it does not exist.
    ///
    /// # Errors
    /// `Corrupt` for a file that is not a key, `Unavailable` when it can be neither read nor created.
    #[cfg(feature = "sqlite")]
    pub fn beside(key_file: &Path) -> Result<Self> {
        let key = crate::key_file::read_or_make(key_file)?;
        Ok(Self::new(key_file.with_file_name(NAME), key))
    }

    /// Creates the log from a path, which need not exist, and the installation's key.
    pub fn new(path: impl Into<PathBuf>, key: InstallationKey) -> Self {
        Self { path: path.into(), key }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an act, durably. An unfinished line of an earlier crash is removed, and counted in this one.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be written, `Corrupt` when its last line does not belong to this log.
    pub fn append(&self, act: &AuditRecord, at: Timestamp) -> Result<()> {
        self.add(act, at, None)
    }

    /// Records a change of the trust settings, if they differ from those recorded last.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn note_trust(&self, settings: &Settings, at: Timestamp) -> Result<()> {
        let (privacy, share) = (&settings.privacy, settings.context.low_trust_share);
        let hourly = (privacy.agent_items_per_hour, privacy.external_items_per_hour);
        let said = format!("{:?} {:?} {share} {hourly:?}", privacy.secrets, privacy.extra_patterns);
        let short: String = hex(&self.key.hash(TRUST, &[said.as_bytes()])).chars().take(SHORT).collect();
        if self.length()?.is_some_and(|known| known.trust == short) {
            return Ok(());
        }
        let act = AuditRecord::new(AuditAct::TrustSettings, Origin::Engine).id(&short);
        self.add(&act, at, Some(&short))
    }

    /// Appends an act that has already been performed.
    ///
    /// # Errors
    /// As [`append`](Self::append); the message says that the act itself is not undone.
    pub fn append_done(&self, act: &AuditRecord, at: Timestamp) -> Result<()> {
        self.append(act, at).map_err(|why| {
            let what = format!("{} is done and does not stand in the audit log", act.act.as_str());
            Error::new(ErrorKind::Unavailable, what).because(why)
        })
    }

    fn add(&self, act: &AuditRecord, at: Timestamp, trust: Option<&str>) -> Result<()> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path).map_err(|why| self.unwritable(why))?;
        file.lock().map_err(|why| self.unwritable(why))?;
        let end = self.end(&mut file)?;
        let line = self.line(act, at, &end);
        let mut written = || -> std::io::Result<()> {
            file.set_len(end.whole)?;
            file.seek(SeekFrom::Start(end.whole))?;
            file.write_all(line.as_bytes())?;
            file.sync_data()
        };
        written().map_err(|why| self.unwritable(why))?;
        // The lock is held until both files are written; after a crash in between, the log is longer than its recorded length,
        // which is accepted.
        let before = self.length()?.map_or_else(|| UNKNOWN.to_owned(), |known| known.trust);
        let hash = hash_of(&line).unwrap_or(NOTHING).to_owned();
        self.note_length(&LogLength {
            lines: end.number + 1,
            hash,
            trust: trust.map_or(before, str::to_owned),
        })
    }

    /// Reads all lines and checks each against its hash, the line before, and the recorded number of lines.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be read.
    pub fn verify(&self) -> Result<AuditCheck> {
        let mut check = AuditCheck::default();
        let file = match File::open(&self.path) {
            Ok(file) => Some(file),
            Err(why) if why.kind() == IoKind::NotFound => None,
            Err(why) => return Err(self.unreadable(why)),
        };
        let mut before = NOTHING.to_owned();
        let mut reader = file.map(BufReader::new);
        while let Some(reader) = &mut reader {
            let mut bytes = Vec::new();
            if reader.read_until(b'\n', &mut bytes).map_err(|why| self.unreadable(why))? == 0 {
                break;
            }
            if bytes.last() != Some(&b'\n') {
                check.torn = bytes.len() as u64;
                break;
            }
            check.lines += 1;
            let line = String::from_utf8_lossy(&bytes);
            self.judge(line.trim_end(), &before, &mut check);
            hash_of(&line).unwrap_or_default().clone_into(&mut before);
        }
        check.head = (check.lines > 0).then(|| before.clone());
        match self.length()? {
            None if check.lines > 1 => {
                check.findings.push("nothing says how many lines there should be".to_owned());
            }
            Some(known) if known.lines > check.lines => {
                check.findings.push(format!("{} lines are gone from its end", known.lines - check.lines));
            }
            Some(known) if known.lines == check.lines && known.hash != before => {
                check.findings.push("its last line is another one than was written".to_owned());
            }
            _ => {}
        }
        Ok(check)
    }

    fn judge(&self, line: &str, before: &str, check: &mut AuditCheck) {
        let number = check.lines;
        let hash = hash_of(line).unwrap_or_default();
        let body = line.split_once(HASH).map_or(line, |(body, _)| body);
        if self.hash(body) != hash {
            check.findings.push(format!("line {number} was changed"));
        }
        let previous = body.rsplit_once(PREVIOUS).map(|(_, previous)| previous.trim_end_matches('"'));
        if previous != Some(before) || !body.starts_with(&format!("{{\"n\":{number},")) {
            check.findings.push(format!("line {number} does not follow what stands before it"));
        }
    }

    fn line(&self, act: &AuditRecord, at: Timestamp, end: &LogEnd) -> String {
        let mut body = format!("{{\"n\":{},\"at\":\"{at}\",\"act\":\"{}\"", end.number + 1, act.act.as_str());
        let _ = write!(body, ",\"by\":\"{}\"", act.by.as_str());
        if let Some(space) = &act.space {
            let _ = write!(body, ",\"space\":\"{}\"", plain(space.as_str()));
        }
        let ids: Vec<String> = act.ids.iter().take(MOST_IDS).map(|id| format!("\"{}\"", plain(id))).collect();
        let _ = write!(body, ",\"ids\":[{}],\"counts\":{{", ids.join(","));
        let unlisted = act.ids.len().saturating_sub(MOST_IDS) as u64;
        let more = [("ids_unlisted", unlisted), ("torn_bytes", end.torn)];
        let counts = act.counts.iter().copied().chain(more.into_iter().filter(|(_, count)| *count > 0));
        let counts: Vec<String> = counts.map(|(what, count)| format!("\"{what}\":{count}")).collect();
        let _ = write!(body, "{}}}{PREVIOUS}{}\"", counts.join(","), end.hash);
        let hash = self.hash(&body);
        format!("{body}{HASH}{hash}\"}}\n")
    }

    fn hash(&self, body: &str) -> String {
        hex(&self.key.hash(PURPOSE, &[body.as_bytes()]))
    }

    /// Returns the end of the log; a line without a line break does not count.
    fn end(&self, file: &mut File) -> Result<LogEnd> {
        let bytes = file.metadata().map_err(|why| self.unwritable(why))?.len();
        let from = bytes.saturating_sub(TAIL);
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.read_to_end(&mut tail))
            .map_err(|why| self.unwritable(why))?;
        let ends = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (whole, torn) = tail.split_at_checked(ends).unwrap_or_default();
        let torn = torn.len() as u64;
        if whole.is_empty() && from == 0 {
            return Ok(LogEnd { number: 0, hash: NOTHING.to_owned(), whole: 0, torn });
        }
        let text = String::from_utf8_lossy(whole);
        let last = text.lines().last().unwrap_or_default();
        let number = last.strip_prefix("{\"n\":").and_then(|rest| rest.split(',').next()?.parse().ok());
        if let (Some(number), Some(hash)) = (number, hash_of(last)) {
            return Ok(LogEnd { number, hash: hash.to_owned(), whole: bytes - torn, torn });
        }
        let what = format!("the last line of {} is none of an audit log", self.path.display());
        Err(Error::new(ErrorKind::Corrupt, what))
    }

    /// Writes the recorded length to a new file that replaces the old one atomically.
    fn note_length(&self, length: &LogLength) -> Result<()> {
        let said = format!("{} {} {}", length.lines, length.hash, length.trust);
        let seal = hex(&self.key.hash(LENGTH, &[said.as_bytes()]));
        let (path, draft) = (self.with_end("length"), self.with_end("length.new"));
        let written = || -> std::io::Result<()> {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&draft)?;
            file.write_all(format!("{said} {seal}\n").as_bytes())?;
            file.sync_data()?;
            std::fs::rename(&draft, &path)
        };
        written().map_err(|why| self.unwritable(why))
    }

    /// Reads the recorded length and the hash of the last line.
    fn length(&self) -> Result<Option<LogLength>> {
        let text = match std::fs::read_to_string(self.with_end("length")) {
            Ok(text) => text,
            Err(why) if why.kind() == IoKind::NotFound => return Ok(None),
            Err(why) => return Err(self.unreadable(why)),
        };
        let Some((said, seal)) = text.trim_end().rsplit_once(' ') else { return Ok(None) };
        if hex(&self.key.hash(LENGTH, &[said.as_bytes()])) != seal {
            return Ok(None);
        }
        let mut parts = said.split(' ');
        let lines = parts.next().and_then(|lines| lines.parse().ok());
        let (hash, trust) = (parts.next().map(str::to_owned), parts.next().map(str::to_owned));
        Ok(lines.zip(hash).zip(trust).map(|((lines, hash), trust)| LogLength { lines, hash, trust }))
    }

    fn with_end(&self, end: &str) -> PathBuf {
        self.path.with_extension(end)
    }

    fn unwritable(&self, why: std::io::Error) -> Error {
        let what = format!("cannot write the audit log {}", self.path.display());
        Error::new(ErrorKind::Unavailable, what).because(why)
    }

    fn unreadable(&self, why: std::io::Error) -> Error {
        let what = format!("cannot read the audit log {}", self.path.display());
        Error::new(ErrorKind::Unavailable, what).because(why)
    }
}

impl Engine {
    /// Logs an act that has been performed, if an audit log is configured.
    ///
    /// # Errors
    /// `Unavailable` when it could not be logged; the act itself is not undone.
    pub(crate) fn audit(&self, act: &AuditRecord) -> Result<()> {
        match &self.parts().audit {
            Some(log) => log.append_done(act, self.now()),
            None => Ok(()),
        }
    }
}

/// Returns the hash at the end of a line.
fn hash_of(line: &str) -> Option<&str> {
    line.trim_end().strip_suffix("\"}")?.rsplit_once(HASH).map(|(_, hash)| hash)
}

/// Removes characters that JSON would escape; names and ids contain none.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !matches!(letter, '"' | '\\')).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &tempfile::TempDir) -> AuditLog {
        AuditLog::new(folder.path().join(NAME), InstallationKey::new([7; 32]))
    }

    fn filled(folder: &tempfile::TempDir, acts: u64) -> AuditLog {
        let log = log(folder);
        for n in 0..acts {
            let space = SpaceId::new("default").unwrap();
            let act = AuditRecord::new(AuditAct::Forget, Origin::UserDirect).space(&space);
            log.append(&act.id(format!("evt_{n}")).count("events", n), Timestamp::from_micros(1).unwrap())
                .unwrap();
        }
        log
    }

    fn lines(log: &AuditLog) -> Vec<String> {
        std::fs::read_to_string(log.path()).unwrap().lines().map(str::to_owned).collect()
    }

    fn with(log: &AuditLog, lines: &[String]) -> AuditCheck {
        std::fs::write(log.path(), lines.iter().fold(String::new(), |all, line| all + line + "\n")).unwrap();
        log.verify().unwrap()
    }

    #[test]
    fn what_was_written_holds_and_each_line_is_json() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(log(&folder).verify().unwrap(), AuditCheck::default());
        let log = filled(&folder, 5);
        let check = log.verify().unwrap();
        assert_eq!((check.lines, check.torn, check.findings.len()), (5, 0, 0), "{check:?}");
        for (number, line) in (1..).zip(lines(&log)) {
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!((&value["n"], &value["act"]), (&number.into(), &"forget".into()));
        }
    }

    #[test]
    fn a_line_that_was_changed_removed_added_or_moved_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let log = filled(&folder, 6);
        let good = lines(&log);
        let other = AuditLog::new(log.path(), InstallationKey::new([8; 32]));
        assert_eq!(other.verify().unwrap().findings.len(), 7, "another key made none of it");
        let mut tampered: Vec<(&str, Vec<String>)> = Vec::new();
        for place in 0..good.len() {
            let mut changed = good.clone();
            changed[place] = changed[place].replace("\"events\":", "\"events\":1");
            tampered.push(("changed", changed));
            let mut removed = good.clone();
            removed.remove(place);
            tampered.push(("removed", removed));
            let mut twice = good.clone();
            twice.insert(place, good[place].clone());
            tampered.push(("twice", twice));
        }
        for place in 1..good.len() {
            let mut moved = good.clone();
            moved.swap(place - 1, place);
            tampered.push(("moved", moved));
        }
        tampered.push(("all gone", Vec::new()));
        for (what, lines) in tampered {
            let check = with(&log, &lines);
            assert!(!check.findings.is_empty(), "{what}: {lines:#?}");
        }
        assert!(with(&log, &good).findings.is_empty());
        std::fs::remove_file(log.with_end("length")).unwrap();
        assert_eq!(log.verify().unwrap().findings.len(), 1);
    }

    #[test]
    fn settings_of_trust_are_named_when_they_are_others() {
        let folder = tempfile::tempdir().unwrap();
        let (log, at) = (log(&folder), Timestamp::from_micros(1).unwrap());
        let mut settings = Settings::default();
        let named = |settings: &Settings| {
            log.note_trust(settings, at).unwrap();
            log.append(&AuditRecord::new(AuditAct::Export, Origin::UserDirect), at).unwrap();
            lines(&log).iter().filter(|line| line.contains("trust_settings")).count()
        };
        assert_eq!((named(&settings), named(&settings)), (1, 1));
        settings.privacy.secrets = crate::settings::SecretMode::Allow;
        assert_eq!((named(&settings), named(&settings)), (2, 2));
        assert_eq!((named(&Settings::default()), log.verify().unwrap().findings.len()), (3, 0));
    }

    #[test]
    fn what_a_kill_leaves_is_told_and_the_next_act_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let log = filled(&folder, 3);
        let whole = std::fs::read(log.path()).unwrap();
        let ends: Vec<usize> =
            whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        // A torn third line of any length; the recorded length is still two.
        let second = hash_of(&lines(&log)[1]).unwrap().to_owned();
        log.note_length(&LogLength { lines: 2, hash: second, trust: UNKNOWN.to_owned() }).unwrap();
        for cut in ends[1]..whole.len() {
            std::fs::write(log.path(), &whole[..cut]).unwrap();
            let check = log.verify().unwrap();
            assert_eq!((check.lines, check.torn), (2, (cut - ends[1]) as u64));
            assert!(check.findings.is_empty(), "{check:?}");
        }
        let act = AuditRecord::new(AuditAct::Export, Origin::UserDirect);
        log.append(&act, Timestamp::from_micros(2).unwrap()).unwrap();
        let check = log.verify().unwrap();
        assert_eq!((check.lines, check.torn, check.findings.len()), (3, 0, 0), "{check:?}");
        assert!(lines(&log)[2].contains("\"torn_bytes\":"));
        // A crash between the line and its recorded length.
        log.note_length(&LogLength { lines: 2, hash: NOTHING.to_owned(), trust: UNKNOWN.to_owned() })
            .unwrap();
        assert!(log.verify().unwrap().findings.is_empty());
        std::fs::write(log.path(), "no line of it\n").unwrap();
        assert_eq!(log.append(&act, Timestamp::MAX).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
