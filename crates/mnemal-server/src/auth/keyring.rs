//! The keyring: key hashes in one small file, which every process reloads when it changes.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mnemal::admin::{AuditAct, AuditLog, AuditRecord};
use mnemal_core::{Error, ErrorKind, Origin, Result, SpaceId, Timestamp, UserId, Within};
use serde::{Deserialize, Serialize};

use crate::auth::{KeyClass, KeyId, Principal, Right, Rights, Secret};

/// The file's name in the data directory.
const NAME: &str = "keys.json";
/// Maximum length of a key's name, in bytes. Source: own default, a line of a list.
const LONGEST_NAME: usize = 64;

/// The keys of an installation; cheap to clone.
///
/// An update takes an exclusive file lock, writes a new file and renames it into place, so that a reader sees the old keys or the
/// new ones. A server checks the file's modification time before each authentication: a key that another process revoked is
/// rejected from the next request on.
#[derive(Clone, Debug)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    audit: Option<AuditLog>,
    known: Mutex<LoadedKeys>,
}

#[derive(Debug, Default)]
struct LoadedKeys {
    /// Modification time and length of the loaded file; `None` before the first load and without a file.
    file: Option<(SystemTime, u64)>,
    rows: Arc<Vec<KeyRow>>,
}

/// The properties of a new key.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// For people, at most 64 bytes.
    pub name: String,
    /// The class of its holder, which decides whether it can vouch for the user's words.
    pub class: KeyClass,
    /// Its rights.
    pub rights: Rights,
    /// Its spaces; all spaces only together with [`Right::Admin`] or [`Right::Metrics`].
    pub spaces: Within<Vec<SpaceId>>,
    /// The user that it is restricted to, if any; not together with those two rights.
    pub user: Option<UserId>,
    /// Its expiry.
    pub expires_at: Option<Timestamp>,
}

/// A newly created key.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    /// Its stored entry.
    pub entry: KeyEntry,
    /// The key itself, which cannot be retrieved again.
    pub secret: Secret,
}

/// The public properties of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// Its public id.
    pub id: KeyId,
    /// For people.
    pub name: String,
    /// The class of its holder, which decides whether it can vouch for the user's words.
    pub class: KeyClass,
    /// Its rights.
    pub rights: Rights,
    /// Its spaces.
    pub spaces: Within<Vec<SpaceId>>,
    /// The user that it is restricted to, if any.
    pub user: Option<UserId>,
    /// Its creation time.
    pub created_at: Timestamp,
    /// Its expiry.
    pub expires_at: Option<Timestamp>,
    /// Its revocation time.
    pub revoked_at: Option<Timestamp>,
}

impl KeyEntry {
    /// Whether it is valid at a moment.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A key as stored in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRow {
    id: String,
    name: String,
    class: String,
    sha256: String,
    rights: Vec<String>,
    /// `null` for all spaces.
    spaces: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Microseconds of Unix time, as are the two fields below.
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<i64>,
}

impl Keyring {
    /// Creates it from the data directory; neither it nor the file need exist.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self::audited(data, None)
    }

    /// As [`new`](Self::new), with an audit log of created and revoked keys.
    pub fn audited(data: impl Into<PathBuf>, audit: Option<AuditLog>) -> Self {
        Self(Arc::new(Inner { folder: data.into(), audit, known: Mutex::default() }))
    }

    /// Creates a key.
    ///
    /// # Errors
    /// `Invalid` for an invalid name, no rights, all spaces without the right `admin` or `metrics`, or one user together with one
    /// of these; `Unavailable` when the file cannot be written; `Corrupt` when it cannot be parsed.
    pub fn create(&self, new: NewKey, now: Timestamp) -> Result<IssuedKey> {
        check(&new)?;
        let secret = Secret::random()?;
        let entry = KeyEntry {
            id: secret.id().clone(),
            name: new.name,
            class: new.class,
            rights: new.rights,
            spaces: new.spaces,
            user: new.user,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
        };
        let row = KeyRow::of(&entry, secret.digest());
        self.change(|rows| {
            rows.push(row);
            Ok(())
        })?;
        self.audit(AuditAct::KeyCreated, &entry.id, now)?;
        Ok(IssuedKey { entry, secret })
    }

    /// Returns all keys, oldest first, including expired and revoked ones.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be read, `Corrupt` when it has another format.
    pub fn list(&self) -> Result<Vec<KeyEntry>> {
        self.rows()?.iter().map(KeyRow::entry).collect()
    }

    /// Revokes a key permanently; idempotent.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id; as [`create`](Self::create).
    pub fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<KeyEntry> {
        let entry = self.change(|rows| {
            let row = rows.iter_mut().find(|row| row.id == id.as_str());
            let row = row.ok_or_else(|| Error::not_found(format!("no key {id}")))?;
            row.revoked_at.get_or_insert(now.as_micros());
            row.entry()
        })?;
        self.audit(AuditAct::KeyRevoked, id, now)?;
        Ok(entry)
    }

    fn audit(&self, act: AuditAct, id: &KeyId, now: Timestamp) -> Result<()> {
        match &self.0.audit {
            Some(log) => log.append_done(&AuditRecord::new(act, Origin::UserDirect).id(id), now),
            None => Ok(()),
        }
    }

    /// Returns the principal of a key; `None` for an unknown, expired or revoked one.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn principal(&self, secret: &Secret, now: Timestamp) -> Result<Option<Principal>> {
        let rows = self.rows()?;
        let Some(row) = rows.iter().find(|row| row.id == secret.id().as_str()) else { return Ok(None) };
        let is_it = secret.is_of(&row.sha256);
        let entry = row.entry()?;
        Ok((is_it && entry.holds_at(now)).then_some(Principal {
            id: entry.id.to_string(),
            class: entry.class,
            rights: entry.rights,
            spaces: entry.spaces,
            user: entry.user,
        }))
    }

    /// Returns the rows, reloaded if the file has changed.
    fn rows(&self) -> Result<Arc<Vec<KeyRow>>> {
        let path = self.0.folder.join(NAME);
        let file = match path.metadata() {
            Ok(file) => file.modified().ok().map(|time| (time, file.len())),
            Err(cause) if cause.kind() == IoKind::NotFound => None,
            Err(cause) => return Err(failed("read", &path, cause)),
        };
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.file != file {
            known.rows = Arc::new(read(&path)?);
            known.file = file;
        }
        Ok(Arc::clone(&known.rows))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<KeyRow>) -> Result<T>) -> Result<T> {
        let folder = &self.0.folder;
        make_folder(folder)?;
        let (path, lock) = (folder.join(NAME), folder.join("keys.lock"));
        let held = private(&lock, OpenOptions::new().create(true).truncate(false)).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        let _held = held.map_err(|cause| failed("lock", &lock, cause))?;
        let mut rows = read(&path)?;
        let done = change(&mut rows)?;
        write(
            &path,
            &serde_json::to_vec_pretty(&rows).map_err(|cause| Error::internal("keys").because(cause))?,
        )?;
        // The next access reloads the file, however coarse the file system's clock is.
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).file = None;
        Ok(done)
    }
}

/// Returns the local key, shared by a user's own programs, and creates it if it does not exist: 32 random bytes in a file that
/// only its owner can read.
///
/// # Errors
/// `Corrupt` for a file without a key, `Unavailable` when it can be neither read nor created.
pub fn local_key(path: &Path) -> Result<Secret> {
    match std::fs::read_to_string(path) {
        Ok(text) => Secret::parse(&text).ok_or_else(|| {
            let what = format!("{} holds no key; remove it, and a new one is made", path.display());
            Error::new(ErrorKind::Corrupt, what)
        }),
        Err(cause) if cause.kind() == IoKind::NotFound => {
            if let Some(folder) = path.parent() {
                make_folder(folder)?;
            }
            let secret = Secret::random()?;
            let draft = path.with_extension(secret.id().as_str());
            let linked = private(&draft, OpenOptions::new().create_new(true)).and_then(|mut file| {
                file.write_all(secret.expose().as_bytes())?;
                file.sync_all()?;
                // Of two processes that start together, one is first, and both use its key.
                std::fs::hard_link(&draft, path)
            });
            let _tidied = std::fs::remove_file(&draft);
            match linked {
                Ok(()) => Ok(secret),
                Err(cause) if cause.kind() == IoKind::AlreadyExists => local_key(path),
                Err(cause) => Err(failed("make", path, cause)),
            }
        }
        Err(cause) => Err(failed("read", path, cause)),
    }
}

impl KeyRow {
    fn of(entry: &KeyEntry, sha256: String) -> Self {
        Self {
            id: entry.id.as_str().to_owned(),
            name: entry.name.clone(),
            class: entry.class.as_str().to_owned(),
            sha256,
            rights: entry.rights.names().into_iter().map(str::to_owned).collect(),
            spaces: entry.spaces.only().map(|spaces| spaces.iter().map(ToString::to_string).collect()),
            user: entry.user.as_ref().map(ToString::to_string),
            created_at: entry.created_at.as_micros(),
            expires_at: entry.expires_at.map(Timestamp::as_micros),
            revoked_at: entry.revoked_at.map(Timestamp::as_micros),
        }
    }

    fn entry(&self) -> Result<KeyEntry> {
        let rights = self
            .rights
            .iter()
            .map(|name| Right::from_name(name).ok_or_else(|| corrupt(format!("{name:?} is no right"))));
        let spaces =
            self.spaces.as_ref().map(|names| names.iter().map(SpaceId::new).collect::<Result<Vec<_>>>());
        let time = |micros: Option<i64>| micros.map(Timestamp::from_micros).transpose();
        Ok(KeyEntry {
            id: KeyId::new(&self.id)?,
            name: self.name.clone(),
            class: KeyClass::from_name(&self.class).ok_or_else(|| corrupt("a class is app or agent"))?,
            rights: Rights::new(rights.collect::<Result<Vec<_>>>()?),
            spaces: spaces.transpose()?.map_or(Within::All, Within::Only),
            user: self.user.as_ref().map(UserId::new).transpose()?,
            created_at: Timestamp::from_micros(self.created_at)?,
            expires_at: time(self.expires_at)?,
            revoked_at: time(self.revoked_at)?,
        })
    }
}

fn check(new: &NewKey) -> Result<()> {
    let name = new.name.trim();
    if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "a name of a key has 1 to {LONGEST_NAME} bytes and no control characters"
        )));
    }
    if new.rights == Rights::default() {
        return Err(Error::invalid("a key needs a right: read, write, erase, metrics or admin"));
    }
    let is_of_server = new.rights.include(Right::Admin) || new.rights.include(Right::Metrics);
    if new.user.is_some() && is_of_server {
        return Err(Error::invalid("a key of one user has neither the right admin nor metrics"));
    }
    let is_bound = new.spaces.only().is_some_and(|spaces| !spaces.is_empty());
    let reads = Right::Read;
    if !is_bound && new.rights.include(reads) && !new.rights.include(Right::Admin) {
        return Err(Error::invalid("a key that is no admin's is bound to spaces; name at least one"));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<KeyRow>> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|cause| corrupt(format!("{} is not a list of keys", path.display())).because(cause)),
        Err(cause) if cause.kind() == IoKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(failed("read", path, cause)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = path.with_extension("json-new");
    let written = private(&draft, OpenOptions::new().create(true).truncate(true)).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    });
    written.map_err(|cause| failed("write", path, cause))
}

fn private(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

fn make_folder(folder: &Path) -> Result<()> {
    if folder.as_os_str().is_empty() || folder.exists() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|cause| failed("make", folder, cause))
}

fn failed(what: &str, path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {what} {}", path.display())).because(cause)
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    fn new(rights: &[Right], spaces: &[&str]) -> NewKey {
        let spaces = spaces.iter().map(|name| SpaceId::new(*name).unwrap()).collect();
        NewKey {
            name: "ci".to_owned(),
            class: KeyClass::Agent,
            rights: Rights::new(rights.iter().copied()),
            spaces: Within::Only(spaces),
            user: None,
            expires_at: Some(at(100)),
        }
    }

    #[test]
    fn a_key_opens_its_spaces_until_it_ends_or_is_revoked_by_another_process() {
        let home = tempfile::tempdir().unwrap();
        let (ring, other) = (Keyring::new(home.path()), Keyring::new(home.path()));
        assert_eq!(ring.list().unwrap(), []);
        let issued = ring.create(new(&[Right::Write], &["team"]), at(1)).unwrap();
        let found = other.principal(&issued.secret, at(2)).unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.class), (issued.entry.id.to_string().as_str(), KeyClass::Agent));
        assert!(found.may(Right::Read) && !found.may(Right::Erase));
        assert!(found.knows(&SpaceId::new("team").unwrap()) && !found.knows(&SpaceId::new("me").unwrap()));
        assert_eq!(other.principal(&issued.secret, at(100)).unwrap(), None, "it has expired");
        assert_eq!(ring.principal(&Secret::random().unwrap(), at(2)).unwrap(), None);
        let ended = ring.revoke(issued.secret.id(), at(3)).unwrap();
        assert_eq!(ended.revoked_at, Some(at(3)));
        assert_eq!(ring.revoke(issued.secret.id(), at(9)).unwrap(), ended, "once is enough");
        assert_eq!(other.principal(&issued.secret, at(4)).unwrap(), None);
        assert_eq!(other.list().unwrap(), [ended]);
    }

    #[test]
    fn the_file_holds_no_key_and_only_its_owner_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let issued = Keyring::new(home.path()).create(new(&[Right::Read], &["a"]), at(1)).unwrap();
        let text = std::fs::read_to_string(home.path().join(NAME)).unwrap();
        let tail = issued.secret.expose().rsplit('_').next().unwrap();
        assert!(text.contains(&issued.secret.digest()) && !text.contains(tail));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(home.path().join(NAME).metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_key_without_rights_spaces_or_a_name_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let ring = Keyring::new(home.path());
        let refused = |key: NewKey| ring.create(key, at(1)).unwrap_err().kind();
        assert_eq!(refused(new(&[], &["a"])), ErrorKind::Invalid);
        assert_eq!(refused(new(&[Right::Read], &[])), ErrorKind::Invalid);
        let everywhere = NewKey { spaces: Within::All, ..new(&[Right::Erase], &[]) };
        assert_eq!(refused(everywhere.clone()), ErrorKind::Invalid);
        assert_eq!(
            refused(NewKey { name: "a\nb".to_owned(), ..new(&[Right::Read], &["a"]) }),
            ErrorKind::Invalid
        );
        assert!(ring.create(NewKey { rights: Rights::new([Right::Admin]), ..everywhere }, at(1)).is_ok());
        assert!(ring.create(new(&[Right::Metrics], &[]), at(1)).is_ok());
    }

    #[test]
    fn the_local_key_is_made_once_and_a_broken_file_is_told() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/local.key");
        let made = local_key(&path).unwrap();
        assert_eq!(local_key(&path).unwrap(), made);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(local_key(&path).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
