//! Authorization: keys, their rights, and their storage.
//!
//! A key is a name for a program. It is shown once, when it is made, and kept as a hash; what it may do stands beside the
//! hash. The *local key* is the one that a person's own programs share: it lies in a file that only its owner can read.

mod key;
mod keyring;
mod right;

pub(crate) use crate::hex::hex;

pub(crate) use self::key::base32;
pub use self::key::{KeyId, Secret};
pub use self::keyring::{Issued, KeyEntry, Keyring, NewKey, local_key};
pub use self::right::{Class, Principal, Right, Rights};
