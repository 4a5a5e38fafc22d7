//! The erasure receipt: a signed report of a forget that anyone can verify.

use std::fmt::Write as _;

use mnemal_core::{Error, InstallationKey, Result};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::Erasure;
use crate::memory::Memory;

/// The first line, with the format version.
const TITLE: &str = "mnemal erasure receipt 1";
/// Field prefix of the public key, the last line but one.
const PUBLIC: &str = "public-key: ";
const SIGNATURE: &str = "signature: ";

/// The signed report of a forget: lines of names and values, then the public key and the signature (ed25519) over everything
/// before it. It holds ids, counts and places, and no text of a memory.
///
/// It proves that this installation issued it, and that no byte of it was changed. It cannot prove that its content is true; the
/// field `verified` tells whether the bytes were searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureReceipt(String);

/// The content of a receipt with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedReceipt {
    /// The public key of the installation that signed it, as 64 hexadecimal digits.
    pub public_key: String,
    /// Names and values, in order.
    pub fields: Vec<(String, String)>,
}

impl ErasureReceipt {
    /// Writes and signs the receipt.
    pub(super) fn of(erasure: &Erasure, memory: &Memory) -> Self {
        let engine = &memory.engine;
        let mut text = format!("{TITLE}\n");
        let mut field = |name: &str, value: &dyn std::fmt::Display| {
            // Writing into a string cannot fail; a value must be one line.
            let _written = writeln!(text, "{name}: {}", value.to_string().replace(['\n', '\r'], " "));
        };
        field("space", &memory.scope.space);
        field("at", &engine.now());
        if let Some(event) = erasure.event {
            field("decision", &event);
        }
        field("status", &erasure.status.as_str());
        let counts = [
            ("events", erasure.events),
            ("learnings", erasure.learnings),
            ("receipt-lines", erasure.receipts),
            ("completions", erasure.completions),
            ("working", erasure.working),
            ("files", erasure.files),
        ];
        for (name, count) in counts {
            field(name, &count);
        }
        field("wal-checkpoint", &if erasure.truncated { "truncated" } else { "pending" });
        field("verified", &erasure.verified());
        field("grade", &erasure.grade.as_str());
        for place in &erasure.residual {
            field("residual", place);
        }
        for id in &erasure.ids {
            field("event", id);
        }
        Self::signed(text, &engine.parts().key)
    }

    fn signed(mut text: String, key: &InstallationKey) -> Self {
        // Any 32 bytes are a seed of ed25519.
        let Ok(pair) = Ed25519KeyPair::from_seed_unchecked(&key.hash("signature of receipts", &[])) else {
            return Self(text);
        };
        let _written = writeln!(text, "{PUBLIC}{}", hex(pair.public_key().as_ref()));
        let signature = pair.sign(text.as_bytes());
        let _written = writeln!(text, "{SIGNATURE}{}", hex(signature.as_ref()));
        Self(text)
    }

    /// Creates a receipt from the text of a file.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Verifies the signature, and returns the content of the receipt. Compare the public key with the installation's,
    /// [`Engine::public_key`](crate::Engine::public_key), to know who signed it.
    ///
    /// # Errors
    /// `Invalid` for a text that is not a receipt; `Corrupt` for an invalid signature.
    pub fn verify(&self) -> Result<VerifiedReceipt> {
        let no_receipt = || Error::invalid("this is no receipt of a forget");
        let (before, last) =
            self.0.trim_end_matches(['\n', '\r']).rsplit_once('\n').ok_or_else(no_receipt)?;
        let signature = last.strip_prefix(SIGNATURE).and_then(bytes).ok_or_else(no_receipt)?;
        let signed = format!("{before}\n");
        let (said, public) = before.rsplit_once('\n').ok_or_else(no_receipt)?;
        let public_key = public.strip_prefix(PUBLIC).ok_or_else(no_receipt)?;
        let key = bytes(public_key).ok_or_else(no_receipt)?;
        let mut lines = said.lines();
        if lines.next() != Some(TITLE) {
            return Err(no_receipt());
        }
        let field =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fields = lines.map(field).collect::<Option<_>>().ok_or_else(no_receipt)?;
        UnparsedPublicKey::new(&ED25519, &key).verify(signed.as_bytes(), &signature).map_err(|_| {
            Error::new(
                mnemal_core::ErrorKind::Corrupt,
                "the signature does not hold: the receipt was changed, or another key signed it",
            )
        })?;
        Ok(VerifiedReceipt { public_key: public_key.to_owned(), fields })
    }
}

impl crate::Engine {
    /// Returns the public key of this installation, as 64 hexadecimal digits; erasure receipts are verified with it.
    pub fn public_key(&self) -> String {
        public_key(&self.parts().key)
    }
}

fn public_key(key: &InstallationKey) -> String {
    let pair = Ed25519KeyPair::from_seed_unchecked(&key.hash("signature of receipts", &[]));
    pair.map(|pair| hex(pair.public_key().as_ref())).unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use mnemal_core::ErrorKind;

    use super::*;

    fn receipt() -> ErasureReceipt {
        let text = format!("{TITLE}\nspace: test\nevents: 2\nverified: true\n");
        ErasureReceipt::signed(text, &InstallationKey::new([7; 32]))
    }

    // proves: NX-03.8 (the signature)
    #[test]
    fn a_receipt_holds_for_its_installation_and_no_byte_of_it_can_change() {
        let receipt = receipt();
        let verified = receipt.verify().unwrap();
        assert_eq!(verified.public_key, public_key(&InstallationKey::new([7; 32])));
        assert_ne!(verified.public_key, public_key(&InstallationKey::new([8; 32])));
        assert_eq!(verified.fields[1], ("events".to_owned(), "2".to_owned()));
        let text = receipt.as_str();
        for at in 0..text.trim_end().len() {
            let mut changed = text.as_bytes().to_vec();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            let upper = |text: &str| text.to_ascii_uppercase();
            if upper(&changed) == upper(text) {
                continue;
            }
            let error = ErasureReceipt::from_text(changed.clone()).verify().unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Invalid), "{changed}");
        }
        let more = text.replace("verified: true", "verified: true\nresidual: none");
        assert_eq!(ErasureReceipt::from_text(more).verify().unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn what_is_no_receipt_is_refused() {
        for text in ["", "signature: 00", "hello\nworld\n", "public-key: zz\nsignature: zz\n"] {
            assert_eq!(
                ErasureReceipt::from_text(text).verify().unwrap_err().kind(),
                ErrorKind::Invalid,
                "{text:?}"
            );
        }
    }
}
