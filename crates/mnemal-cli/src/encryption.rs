//! Encrypted exports, in the format of `age-encryption.org/v1`.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;

use age::armor::ArmoredReader;
use age::stream::StreamWriter;
use age::x25519::Recipient;
use age::{DecryptError, Decryptor, Encryptor, IdentityFile};
use mnemal::{Error, ErrorKind, Result};

/// The first bytes of an encrypted file, binary or armored. Source: C2SP, age.md.
const BEGINNINGS: [&[u8]; 2] = [b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// Parses the public keys of the recipients.
pub(crate) fn recipients(keys: &[String]) -> Result<Vec<Recipient>> {
    let read = |key: &String| key.trim().to_ascii_lowercase().parse();
    let refused =
        |why: &str| Error::invalid(format!("not a recipient of age, which is age1 and 58 letters: {why}"));
    keys.iter().map(|key| read(key).map_err(refused)).collect()
}

/// Encrypts a stream for some recipients. An unfinished file cannot be decrypted.
pub(crate) fn writer<W: Write>(out: W, recipients: &[Recipient]) -> Result<StreamWriter<W>> {
    let each = recipients.iter().map(|one| one as &dyn age::Recipient);
    let encryptor = Encryptor::with_recipients(each)
        .map_err(|why| Error::invalid("an encrypted export needs somebody who can read it").because(why))?;
    encryptor
        .wrap_output(out)
        .map_err(|why| Error::new(ErrorKind::Unavailable, "cannot write what is encrypted").because(why))
}

/// Whether a file with these first bytes is encrypted.
pub(crate) fn is_sealed(beginning: &[u8]) -> bool {
    BEGINNINGS.iter().any(|one| beginning.starts_with(one))
}

/// Returns the content of a file, decrypted with the keys of `identity` if it is encrypted.
///
/// # Errors
/// `Invalid` for an encrypted file without a matching key, and for a tampered header; `Unavailable` when it cannot be read.
/// Tampering after the header is an error of the reader.
pub(crate) fn opened(
    mut file: Box<dyn BufRead + Send>,
    name: &str,
    identity: Option<&Path>,
) -> Result<Box<dyn BufRead + Send>> {
    let most = BEGINNINGS.map(<[u8]>::len).into_iter().max().unwrap_or_default();
    let mut beginning = Vec::with_capacity(most);
    let unreadable = |why| Error::new(ErrorKind::Unavailable, format!("cannot read {name}")).because(why);
    file.by_ref().take(most as u64).read_to_end(&mut beginning).map_err(unreadable)?;
    let is_sealed = is_sealed(&beginning);
    let file = Cursor::new(beginning).chain(file);
    if !is_sealed {
        return Ok(Box::new(file));
    }
    let identity = identity.ok_or_else(|| {
        Error::invalid(format!("{name} is encrypted: name the file with your key, --identity FILE"))
    })?;
    let no_key = |why| Error::invalid(format!("{} holds no key of age", identity.display())).because(why);
    let keys = std::fs::File::open(identity)
        .map_err(|why| Error::invalid(format!("cannot open {}", identity.display())).because(why))?;
    let keys = IdentityFile::from_buffer(BufReader::new(keys)).map_err(no_key)?;
    let refused = |why| refusal(name, why);
    let keys = keys.into_identities().map_err(refused)?;
    let sealed = Decryptor::new(ArmoredReader::new(file)).map_err(refused)?;
    if sealed.is_scrypt() {
        let how =
            format!("{name} is encrypted with a passphrase: open it with `age -d` and import what comes out");
        return Err(Error::new(ErrorKind::Unsupported, how));
    }
    let plain = sealed.decrypt(keys.iter().map(|key| &**key)).map_err(refused)?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, plain)))
}

fn refusal(name: &str, why: DecryptError) -> Error {
    match why {
        DecryptError::NoMatchingKeys => Error::invalid(format!("{name} is encrypted for somebody else")),
        DecryptError::Io(why) => {
            Error::new(ErrorKind::Unavailable, format!("cannot read {name}")).because(why)
        }
        why => Error::invalid(format!("{name} is encrypted and damaged")).because(why),
    }
}
