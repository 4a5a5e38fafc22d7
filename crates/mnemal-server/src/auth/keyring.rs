//! The keyring: key hashes in one small file, which every process reloads when it changes, or in the database of the spaces.

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
/// How long the keys of a database stay known, in microseconds. Source: own choice: a request costs no trip for them.
#[cfg(feature = "postgres")]
const BELIEVED: i64 = 1_000_000;
/// Maximum length of a key's name, in bytes. Source: own default, a line of a list.
const LONGEST_NAME: usize = 64;

/// The keys of an installation; cheap to clone.
///
/// In a file, an update takes an exclusive lock, writes a new file and renames it into place, so that a reader sees the old keys
/// or the new ones; a server checks the file's modification time before each authentication, so that a key that another process
/// revoked is rejected from the next request on. In a database, an update replaces the version that it read; a key that another
/// server revoked is rejected a second later at most, and a new one is accepted at once.
#[derive(Clone, Debug)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: KeySource,
    audit: Option<AuditLog>,
    known: Mutex<LoadedKeys>,
}

/// Where the keys are.
#[derive(Debug)]
enum KeySource {
    /// In a file of this folder.
    Folder(PathBuf),
    /// In a document of a database.
    #[cfg(feature = "postgres")]
    Database(mnemal::admin::PostgresDatabase),
}

#[derive(Debug, Default)]
struct LoadedKeys {
    /// Modification time and length of the loaded file; `None` before the first load and without a file.
    file: Option<(SystemTime, u64)>,
    /// When the rows were loaded from a database; `None` before the first load and after a change.
    #[cfg(feature = "postgres")]
    loaded_at: Option<Timestamp>,
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
        Self::of(KeySource::Folder(data.into()), audit)
    }

    /// Returns the keys in a database, which all its servers share.
    #[cfg(feature = "postgres")]
    pub fn in_database(database: mnemal::admin::PostgresDatabase, audit: Option<AuditLog>) -> Self {
        Self::of(KeySource::Database(database), audit)
    }

    fn of(source: KeySource, audit: Option<AuditLog>) -> Self {
        Self(Arc::new(Inner { source, audit, known: Mutex::default() }))
    }

    /// Creates a key.
    ///
    /// # Errors
    /// `Invalid` for an invalid name, no rights, all spaces without the right `admin` or `metrics`, or one user together with one
    /// of these; `Unavailable` when the file cannot be written; `Corrupt` when it cannot be parsed.
    pub async fn create(&self, new: NewKey, now: Timestamp) -> Result<IssuedKey> {
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
        self.change(move |rows| {
            rows.push(row.clone());
            Ok(())
        })
        .await?;
        self.audit(AuditAct::KeyCreated, &entry.id, now)?;
        Ok(IssuedKey { entry, secret })
    }

    /// Returns all keys, oldest first, including expired and revoked ones.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be read, `Corrupt` when it has another format.
    pub async fn list(&self) -> Result<Vec<KeyEntry>> {
        self.fresh_rows().await?.iter().map(KeyRow::entry).collect()
    }

    /// Revokes a key permanently; idempotent.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id; as [`create`](Self::create).
    pub async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<KeyEntry> {
        let entry = self
            .change(|rows| {
                let row = rows.iter_mut().find(|row| row.id == id.as_str());
                let row = row.ok_or_else(|| Error::not_found(format!("no key {id}")))?;
                row.revoked_at.get_or_insert(now.as_micros());
                row.entry()
            })
            .await?;
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
    pub async fn principal(&self, secret: &Secret, now: Timestamp) -> Result<Option<Principal>> {
        let rows = self.rows_with(secret.id(), now).await?;
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

    /// Returns rows in which a key may be missing only if it does not exist.
    #[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "a file is read whole"))]
    async fn rows_with(&self, id: &KeyId, now: Timestamp) -> Result<Arc<Vec<KeyRow>>> {
        match &self.0.source {
            KeySource::Folder(folder) => self.rows_of(folder),
            #[cfg(feature = "postgres")]
            KeySource::Database(database) => {
                let known = || self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
                let kept = {
                    let known = known();
                    let is_new =
                        known.loaded_at.is_some_and(|at| at <= now && now < at.plus_micros(BELIEVED));
                    is_new.then(|| Arc::clone(&known.rows))
                };
                if let Some(rows) = kept.filter(|rows| rows.iter().any(|row| row.id == id.as_str())) {
                    return Ok(rows);
                }
                let rows = Arc::new(parse(database.document(NAME).await?.1.as_bytes(), NAME)?);
                let mut known = known();
                (known.rows, known.loaded_at) = (Arc::clone(&rows), Some(now));
                Ok(rows)
            }
        }
    }

    /// Returns the rows as they are now.
    async fn fresh_rows(&self) -> Result<Arc<Vec<KeyRow>>> {
        match &self.0.source {
            KeySource::Folder(folder) => self.rows_of(folder),
            #[cfg(feature = "postgres")]
            KeySource::Database(database) => {
                Ok(Arc::new(parse(database.document(NAME).await?.1.as_bytes(), NAME)?))
            }
        }
    }

    /// Returns the rows of a file, reloaded if it has changed.
    fn rows_of(&self, folder: &Path) -> Result<Arc<Vec<KeyRow>>> {
        let path = folder.join(NAME);
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

    /// Changes the rows; in a database perhaps several times, until nobody else has changed them meanwhile.
    async fn change<T>(&self, change: impl Fn(&mut Vec<KeyRow>) -> Result<T>) -> Result<T> {
        let folder = match &self.0.source {
            KeySource::Folder(folder) => folder,
            #[cfg(feature = "postgres")]
            KeySource::Database(database) => loop {
                let (version, body) = database.document(NAME).await?;
                let mut rows = parse(body.as_bytes(), NAME)?;
                let done = change(&mut rows)?;
                let body = String::from_utf8_lossy(&rendered(&rows)?).into_owned();
                if database.replace_document(NAME, version, &body).await? {
                    self.0.known.lock().unwrap_or_else(PoisonError::into_inner).loaded_at = None;
                    return Ok(done);
                }
            },
        };
        make_folder(folder)?;
        let (path, lock) = (folder.join(NAME), folder.join("keys.lock"));
        let held = private(&lock, OpenOptions::new().create(true).truncate(false)).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        let _held = held.map_err(|cause| failed("lock", &lock, cause))?;
        let mut rows = read(&path)?;
        let done = change(&mut rows)?;
        write(&path, &rendered(&rows)?)?;
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

/// Reads rows; nothing is no rows.
fn parse(bytes: &[u8], from: &str) -> Result<Vec<KeyRow>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_slice(bytes)
        .map_err(|cause| corrupt(format!("{from} is not a list of keys")).because(cause))
}

fn rendered(rows: &[KeyRow]) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(rows).map_err(|cause| Error::internal("keys").because(cause))
}

fn read(path: &Path) -> Result<Vec<KeyRow>> {
    match std::fs::read(path) {
        Ok(bytes) => parse(&bytes, &path.display().to_string()),
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

    #[tokio::test]
    async fn a_key_opens_its_spaces_until_it_ends_or_is_revoked_by_another_process() {
        let home = tempfile::tempdir().unwrap();
        let (ring, other) = (Keyring::new(home.path()), Keyring::new(home.path()));
        assert_eq!(ring.list().await.unwrap(), []);
        let issued = ring.create(new(&[Right::Write], &["team"]), at(1)).await.unwrap();
        let found = other.principal(&issued.secret, at(2)).await.unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.class), (issued.entry.id.to_string().as_str(), KeyClass::Agent));
        assert!(found.may(Right::Read) && !found.may(Right::Erase));
        assert!(found.knows(&SpaceId::new("team").unwrap()) && !found.knows(&SpaceId::new("me").unwrap()));
        assert_eq!(other.principal(&issued.secret, at(100)).await.unwrap(), None, "it has expired");
        assert_eq!(ring.principal(&Secret::random().unwrap(), at(2)).await.unwrap(), None);
        let ended = ring.revoke(issued.secret.id(), at(3)).await.unwrap();
        assert_eq!(ended.revoked_at, Some(at(3)));
        assert_eq!(ring.revoke(issued.secret.id(), at(9)).await.unwrap(), ended, "once is enough");
        assert_eq!(other.principal(&issued.secret, at(4)).await.unwrap(), None);
        assert_eq!(other.list().await.unwrap(), [ended]);
    }

    #[tokio::test]
    async fn the_file_holds_no_key_and_only_its_owner_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let issued = Keyring::new(home.path()).create(new(&[Right::Read], &["a"]), at(1)).await.unwrap();
        let text = std::fs::read_to_string(home.path().join(NAME)).unwrap();
        let tail = issued.secret.expose().rsplit('_').next().unwrap();
        assert!(text.contains(&issued.secret.digest()) && !text.contains(tail));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(home.path().join(NAME).metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[tokio::test]
    async fn a_key_without_rights_spaces_or_a_name_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let ring = Keyring::new(home.path());
        let refused = async |key: NewKey| ring.create(key, at(1)).await.unwrap_err().kind();
        assert_eq!(refused(new(&[], &["a"])).await, ErrorKind::Invalid);
        assert_eq!(refused(new(&[Right::Read], &[])).await, ErrorKind::Invalid);
        let everywhere = NewKey { spaces: Within::All, ..new(&[Right::Erase], &[]) };
        assert_eq!(refused(everywhere.clone()).await, ErrorKind::Invalid);
        assert_eq!(
            refused(NewKey { name: "a\nb".to_owned(), ..new(&[Right::Read], &["a"]) }).await,
            ErrorKind::Invalid
        );
        assert!(
            ring.create(NewKey { rights: Rights::new([Right::Admin]), ..everywhere }, at(1)).await.is_ok()
        );
        assert!(ring.create(new(&[Right::Metrics], &[]), at(1)).await.is_ok());
    }

    #[tokio::test]
    async fn the_local_key_is_made_once_and_a_broken_file_is_told() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/local.key");
        let made = local_key(&path).unwrap();
        assert_eq!(local_key(&path).unwrap(), made);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(local_key(&path).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
