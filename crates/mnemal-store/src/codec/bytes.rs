//! Encoding of numbers and columns; reading checks every length before it reads or allocates.

use mnemal_core::{Error, ErrorKind, Result};

/// Makes the error for damaged bytes.
pub(crate) fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("stored bytes are damaged: {what}"))
}

/// Appends an unsigned number, seven bits per byte, lowest first.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or_default());
}

/// Appends a small number.
pub(super) fn put_small(out: &mut Vec<u8>, number: u32) {
    put_varint(out, u64::from(number));
}

/// Appends a fraction, exactly.
pub(super) fn put_share(out: &mut Vec<u8>, share: f32) {
    out.extend_from_slice(&share.to_le_bytes());
}

/// Appends an id.
pub(super) fn put_id(out: &mut Vec<u8>, id: u128) {
    out.extend_from_slice(&id.to_be_bytes());
}

/// Returns the index of a value in a list, appending it if it is new.
pub(super) fn intern<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    if let Some(place) = all.iter().position(|known| *known == one) {
        return place;
    }
    all.push(one);
    all.len() - 1
}

/// Appends a length.
pub(super) fn put_length(out: &mut Vec<u8>, length: usize) {
    put_varint(out, length as u64);
}

/// Appends a text with its length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Maps a signed number to an unsigned one, small for small magnitudes.
pub(super) fn zigzag(value: i64) -> u64 {
    value.wrapping_shl(1).cast_unsigned() ^ (value >> 63).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// The unread bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| corrupt("they end too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes `rows` values of `width` bytes.
    pub(super) fn column(&mut self, rows: usize, width: usize) -> Result<&'a [u8]> {
        let length = rows.checked_mul(width).ok_or_else(|| corrupt("a column is too long"))?;
        self.take(length)
    }

    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte, rest @ ..] = self.0 else { return Err(corrupt("they end within a number")) };
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(corrupt("a number is too long"))
    }

    pub(super) fn signed(&mut self) -> Result<i64> {
        self.varint().map(unzigzag)
    }

    /// Reads a count of values, each of at least `width` bytes, and checks it against the available bytes before any
    /// allocation.
    pub(super) fn count(&mut self, width: usize) -> Result<usize> {
        let count = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        match count.checked_mul(width) {
            Some(length) if length <= self.0.len() => Ok(count),
            _ => Err(corrupt("a count is larger than what follows")),
        }
    }

    pub(super) fn str(&mut self) -> Result<&'a str> {
        let length = self.count(1)?;
        std::str::from_utf8(self.take(length)?).map_err(|_| corrupt("a name is no text"))
    }

    pub(super) fn text(&mut self) -> Result<String> {
        self.str().map(str::to_owned)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    pub(super) fn bytes<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH]> {
        self.take(LENGTH)?.try_into().map_err(|_| corrupt("they end too early"))
    }

    pub(super) fn id(&mut self) -> Result<u128> {
        self.bytes().map(u128::from_be_bytes)
    }

    pub(super) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.varint()?).map_err(|_| corrupt("a number is too large"))
    }

    pub(super) fn small(&mut self) -> Result<u32> {
        u32::try_from(self.varint()?).map_err(|_| corrupt("a number is too large"))
    }

    pub(super) fn share(&mut self) -> Result<f32> {
        self.bytes().map(f32::from_le_bytes)
    }
}
