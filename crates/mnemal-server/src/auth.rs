//! Authentication and authorization: API keys, their rights, and their storage.
//!
//! A key identifies a program. It is shown once, when it is created, and stored as a hash together with its rights. The *local
//! key* is shared by a user's own programs: it is in a file that only its owner can read.

mod browser;
mod key;
mod keyring;
mod right;

pub(crate) use crate::hex::hex;

pub(crate) use self::browser::{BrowserSessions, CODE_LIFE, Credential, SESSION_LIFE};
pub(crate) use self::key::base32;
pub use self::key::{KeyId, Secret};
pub use self::keyring::{IssuedKey, KeyEntry, Keyring, NewKey, local_key};
pub use self::right::{KeyClass, Principal, Right, Rights};
