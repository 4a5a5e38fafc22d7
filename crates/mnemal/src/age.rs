//! Encryption of exports for the holders of age keys, in the format of `age-encryption.org/v1`.
//!
//! Only writing, and only for X25519 recipients (`age1…`): who has the key reads the export with the `age` program.
//! The primitives are those of `ring`: X25519, HKDF and HMAC with SHA-256, ChaCha20-Poly1305. Source: C2SP, age.md.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use mnemal_core::{Error, ErrorKind, Result};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

/// The first line of a file.
const VERSION: &str = "age-encryption.org/v1";
/// What the key of a stanza is derived for.
const STANZA: &str = "age-encryption.org/v1/X25519";
/// What stands before the data of a recipient.
const PREFIX: &str = "age";
/// Bytes of the key of a file.
const FILE_KEY: usize = 16;
/// Bytes that are sealed at once.
const CHUNK: usize = 64 * 1024;
/// Length of the counter in a chunk's nonce; the last byte says whether it is the last chunk.
const COUNTER: usize = 11;
/// The letters of bech32, by their values. Source: BIP 173.
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// The generators of the checksum of bech32. Source: BIP 173.
const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
/// Letters of a checksum of bech32.
const CHECKSUM: usize = 6;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The public key of somebody who shall be able to read an export, `age1…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeRecipient([u8; 32]);

impl FromStr for AgeRecipient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        decoded(text.trim())
            .map(Self)
            .ok_or_else(|| Error::invalid("not a recipient of age: it is age1 and 58 letters"))
    }
}

/// Encrypts what is written to it for some recipients. What was not [finished](Self::finish) cannot be read.
pub struct AgeWriter<W> {
    out: W,
    key: LessSafeKey,
    chunk: Vec<u8>,
    number: u64,
}

impl<W> fmt::Debug for AgeWriter<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AgeWriter").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<W: Write> AgeWriter<W> {
    /// Writes the header: any of the recipients can read what follows.
    ///
    /// # Errors
    /// `Invalid` without a recipient, or for one whose key is none; `Unavailable` when the output or the system's randomness
    /// fails.
    pub fn new(mut out: W, recipients: &[AgeRecipient]) -> Result<Self> {
        if recipients.is_empty() {
            return Err(Error::invalid("an encrypted export needs somebody who can read it"));
        }
        let random = SystemRandom::new();
        let (mut file_key, mut nonce) = ([0; FILE_KEY], [0; 16]);
        random.fill(&mut file_key).and_then(|()| random.fill(&mut nonce)).map_err(no_randomness)?;
        let mut header = format!("{VERSION}\n");
        for recipient in recipients {
            header.push_str(&stanza(recipient, &file_key, &random)?);
        }
        header.push_str("---");
        let key = derived(&[], &file_key, "header").map_err(no_cipher)?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), header.as_bytes());
        let header = format!("{header} {}\n", base64(tag.as_ref()));
        out.write_all(header.as_bytes()).and_then(|()| out.write_all(&nonce)).map_err(unwritable)?;
        let key = derived(&nonce, &file_key, "payload").and_then(|key| cipher(&key)).map_err(no_cipher)?;
        Ok(Self { out, key, chunk: Vec::with_capacity(CHUNK), number: 0 })
    }

    /// Writes the last chunk and returns the output.
    ///
    /// # Errors
    /// `Unavailable` when the output fails.
    pub fn finish(mut self) -> Result<W> {
        self.seal(Place::Last).and_then(|()| self.out.flush()).map_err(unwritable)?;
        Ok(self.out)
    }

    fn seal(&mut self, place: Place) -> io::Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let nonce = nonce(self.number, place);
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut chunk);
        sealed.map_err(|_| io::Error::other("cannot encrypt"))?;
        self.out.write_all(&chunk)?;
        self.number += 1;
        chunk.clear();
        self.chunk = chunk;
        Ok(())
    }
}

impl<W: Write> Write for AgeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk is sealed when more comes, because the last one is marked and never empty.
        if self.chunk.len() == CHUNK && !bytes.is_empty() {
            self.seal(Place::Before)?;
        }
        let room = CHUNK - self.chunk.len();
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.chunk.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A chunk that is begun cannot be written before it ends.
        self.out.flush()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    Last,
}

fn nonce(number: u64, place: Place) -> Nonce {
    let mut nonce = [0; 12];
    let counter = number.to_be_bytes();
    for (to, from) in nonce.iter_mut().skip(COUNTER - counter.len()).zip(counter) {
        *to = from;
    }
    if let Some(last) = nonce.last_mut() {
        *last = u8::from(place == Place::Last);
    }
    Nonce::assume_unique_for_key(nonce)
}

/// Wraps the key of a file for one recipient.
fn stanza(recipient: &AgeRecipient, file_key: &[u8], random: &SystemRandom) -> Result<String> {
    let own = EphemeralPrivateKey::generate(&X25519, random).map_err(no_randomness)?;
    let share = own.compute_public_key().map_err(no_cipher)?;
    let salt = [share.as_ref(), &recipient.0].concat();
    let theirs = UnparsedPublicKey::new(&X25519, recipient.0);
    let wrapped = agree_ephemeral(own, &theirs, |secret| wrap(&salt, secret, file_key));
    let wrapped = wrapped.map_err(|_| Error::invalid("a recipient's key is none"))?.map_err(no_cipher)?;
    Ok(format!("-> X25519 {}\n{}\n", base64(share.as_ref()), base64(&wrapped)))
}

fn wrap(salt: &[u8], secret: &[u8], file_key: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let key = cipher(&derived(salt, secret, STANZA)?)?;
    let mut wrapped = file_key.to_vec();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut wrapped)?;
    Ok(wrapped)
}

fn derived(salt: &[u8], secret: &[u8], what: &str) -> Result<[u8; 32], Unspecified> {
    let mut key = [0; 32];
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(&[what.as_bytes()], HKDF_SHA256)?.fill(&mut key)?;
    Ok(key)
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey, Unspecified> {
    UnboundKey::new(&CHACHA20_POLY1305, key).map(LessSafeKey::new)
}

/// Returns base64 without padding.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 2);
    for part in bytes.chunks(3) {
        let group =
            part.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..=part.len() {
            let digit = (group >> (18 - 6 * place)) & 63;
            text.push(BASE64.get(digit as usize).copied().map_or('A', char::from));
        }
    }
    text
}

/// Reads the data of a bech32 text with the prefix of age; `None` when it is none.
fn decoded(text: &str) -> Option<[u8; 32]> {
    let text = text.to_ascii_lowercase();
    let data = text.strip_prefix(PREFIX)?.strip_prefix('1')?;
    let value =
        |letter: u8| BECH32.iter().position(|known| *known == letter).and_then(|at| u8::try_from(at).ok());
    let values: Vec<u8> = data.bytes().map(value).collect::<Option<_>>()?;
    let expanded = PREFIX.bytes().map(|letter| letter >> 5);
    let expanded = expanded.chain([0]).chain(PREFIX.bytes().map(|letter| letter & 31));
    if polymod(expanded.chain(values.iter().copied())) != 1 {
        return None;
    }
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for value in values.get(..values.len().checked_sub(CHECKSUM)?)? {
        held = (held << 5 | u32::from(*value)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
        }
    }
    bytes.try_into().ok()
}

fn polymod(values: impl Iterator<Item = u8>) -> u32 {
    values.fold(1, |checksum, value| {
        let top = checksum >> 25;
        let next = (checksum & 0x01ff_ffff) << 5 ^ u32::from(value);
        let wanted = GENERATORS.iter().enumerate().filter(|(bit, _)| top >> bit & 1 == 1);
        wanted.fold(next, |checksum, (_, generator)| checksum ^ generator)
    })
}

fn no_randomness(_: Unspecified) -> Error {
    Error::new(ErrorKind::Unavailable, "the system gives no random bits")
}

fn no_cipher(_: Unspecified) -> Error {
    Error::internal("a cipher refuses a key of its own length")
}

fn unwritable(why: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "cannot write what is encrypted").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipient_is_read_and_a_mistyped_one_is_not() {
        // Source: the README of age.
        let known = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
        let recipient: AgeRecipient = known.parse().unwrap();
        assert_eq!(known.to_uppercase().parse::<AgeRecipient>().unwrap(), recipient);
        for wrong in [
            &known.replace("ql3", "qi3"),
            known.split_at(60).0,
            "age1",
            "",
            "npub1qqqqqq",
            "AGE-SECRET-KEY-1",
        ] {
            assert_eq!(wrong.parse::<AgeRecipient>().unwrap_err().kind(), ErrorKind::Invalid, "{wrong}");
        }
    }

    #[test]
    fn base64_has_no_padding() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    /// Reads a file as the format says, with the only key that `ring` hands out.
    fn opened(own: EphemeralPrivateKey, file: &[u8]) -> Vec<u8> {
        let public = own.compute_public_key().unwrap();
        let text = String::from_utf8_lossy(file).into_owned();
        let lines: Vec<&str> = text.lines().take(4).collect();
        assert_eq!(lines[0], VERSION);
        let bytes = |text: &str| {
            let value =
                |letter: u8| u8::try_from(BASE64.iter().position(|known| *known == letter).unwrap()).unwrap();
            let bits: Vec<u8> = text
                .bytes()
                .flat_map(|letter| (0..6).rev().map(move |bit| value(letter) >> bit & 1))
                .collect();
            let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit);
            bits.chunks_exact(8).map(byte).collect::<Vec<u8>>()
        };
        let share = bytes(lines[1].strip_prefix("-> X25519 ").unwrap());
        let salt = [&*share, public.as_ref()].concat();
        let theirs = UnparsedPublicKey::new(&X25519, share);
        let key = agree_ephemeral(own, &theirs, |secret| derived(&salt, secret, STANZA).unwrap()).unwrap();
        let mut wrapped = bytes(lines[2]);
        let zero = Nonce::assume_unique_for_key([0; 12]);
        let file_key =
            cipher(&key).unwrap().open_in_place(zero, Aad::empty(), &mut wrapped).unwrap().to_vec();
        let signed = format!("{}\n{}\n{}\n---", lines[0], lines[1], lines[2]);
        let mac = hmac::Key::new(hmac::HMAC_SHA256, &derived(&[], &file_key, "header").unwrap());
        hmac::verify(&mac, signed.as_bytes(), &bytes(lines[3].strip_prefix("--- ").unwrap())).unwrap();
        let body = &file[lines.iter().map(|line| line.len() + 1).sum::<usize>()..];
        let (start, body) = body.split_at(16);
        let key = cipher(&derived(start, &file_key, "payload").unwrap()).unwrap();
        let chunks: Vec<&[u8]> = body.chunks(CHUNK + 16).collect();
        let mut plain = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let place = if number + 1 == chunks.len() { Place::Last } else { Place::Before };
            let mut chunk = chunk.to_vec();
            plain.extend_from_slice(
                key.open_in_place(nonce(number as u64, place), Aad::empty(), &mut chunk).unwrap(),
            );
        }
        plain
    }

    #[test]
    fn what_is_written_can_be_read_by_its_recipient() {
        for length in [0, 1, 1_000, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 17] {
            let own = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).unwrap();
            let public: [u8; 32] = own.compute_public_key().unwrap().as_ref().try_into().unwrap();
            let plain: Vec<u8> = (0..length).map(|place| u8::try_from(place % 251).unwrap()).collect();
            let mut writer = AgeWriter::new(Vec::new(), &[AgeRecipient(public)]).unwrap();
            for part in plain.chunks(7_001) {
                writer.write_all(part).unwrap();
            }
            let file = writer.finish().unwrap();
            assert!(!file.windows(60).any(|part| part == plain.get(..60).unwrap_or(&[0; 60])));
            assert_eq!(opened(own, &file), plain, "{length}");
        }
        assert_eq!(AgeWriter::new(Vec::new(), &[]).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
