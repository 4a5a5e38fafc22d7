//! Values on the wire: 64-bit numbers, text, bytes.

use std::error::Error as StdError;
use std::fmt;

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::sql::Value;

type Unfit = Box<dyn StdError + Sync + Send>;

/// A value that is sent. Its debug form shows no content, because the driver logs what it sends.
pub(super) struct Parameter(pub(super) Value);

impl Parameter {
    /// Returns the type as which the server must take it, so that it infers no narrower one.
    pub(super) fn of(value: &Value) -> Type {
        match value {
            Value::Null => Type::UNKNOWN,
            Value::Int(_) => Type::INT8,
            Value::Text(_) => Type::TEXT,
            Value::Blob(_) => Type::BYTEA,
        }
    }
}

impl fmt::Debug for Parameter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self.0 {
            Value::Null => "null",
            Value::Int(_) => "a number",
            Value::Text(_) => "a text",
            Value::Blob(_) => "bytes",
        })
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Unfit> {
        match (&self.0, of) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Int(value), &Type::INT8) => out.put_i64(*value),
            (Value::Int(value), &Type::INT4) => out.put_i32(i32::try_from(*value)?),
            (Value::Int(value), &Type::INT2) => out.put_i16(i16::try_from(*value)?),
            (Value::Text(value), &Type::TEXT) => put_text(value, out),
            (Value::Blob(value), &Type::BYTEA) => out.put_slice(value),
            _ => return Err(format!("{self:?} does not fit a parameter of the type {of}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The character that introduces the two characters which are not stored as themselves.
const ESCAPE: u8 = 1;

/// Writes a text. A stored text cannot hold U+0000: it is stored as U+0001 and `0`, and U+0001 as U+0001 and `1`, which keeps the
/// order of bytes.
fn put_text(text: &str, out: &mut BytesMut) {
    if !text.bytes().any(|byte| byte <= ESCAPE) {
        return out.put_slice(text.as_bytes());
    }
    for byte in text.bytes() {
        if byte <= ESCAPE {
            out.put_slice(&[ESCAPE, b'0' + byte]);
        } else {
            out.put_u8(byte);
        }
    }
}

/// Reads a text that [`put_text`] wrote.
fn take_text(stored: &[u8]) -> Result<String, Unfit> {
    if !stored.contains(&ESCAPE) {
        return Ok(std::str::from_utf8(stored)?.to_owned());
    }
    let mut text = Vec::with_capacity(stored.len());
    let mut bytes = stored.iter().copied();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            ESCAPE => match bytes.next() {
                Some(digit @ (b'0' | b'1')) => digit - b'0',
                _ => return Err("a text holds an unknown character".into()),
            },
            other => other,
        });
    }
    Ok(String::from_utf8(text)?)
}

/// A value that is read.
pub(super) struct Column(pub(super) Value);

impl<'a> FromSql<'a> for Column {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Unfit> {
        Ok(Self(match *of {
            Type::INT8 => Value::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => Value::Int(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT2 => Value::Int(i16::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => Value::Int(i64::from(raw != [0])),
            Type::NUMERIC => Value::Int(whole(raw)?),
            Type::TEXT | Type::NAME | Type::VARCHAR | Type::UNKNOWN => Value::Text(take_text(raw)?),
            Type::BYTEA => Value::Blob(raw.to_vec()),
            _ => return Err(format!("a column has the type {of}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Unfit> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Digits of a stored decimal number are in base 10,000.
const BASE: i64 = 10_000;
/// The sign of a positive decimal number, and of a negative one.
const SIGNS: [u16; 2] = [0, 0x4000];

/// Reads a decimal number without a fraction: the sum of 64-bit numbers has that type.
fn whole(raw: &[u8]) -> Result<i64, Unfit> {
    let (words, rest) = raw.as_chunks::<2>();
    let mut words = words.iter().map(|word| u16::from_be_bytes(*word));
    let mut next = || words.next().ok_or("a number ends too early");
    let (digits, weight, sign, _scale) = (next()?, next()?.cast_signed(), next()?, next()?);
    let places = usize::try_from(i32::from(weight) + 1).unwrap_or_default();
    if !rest.is_empty() || usize::from(digits) > places {
        return Err("a number has a fraction".into());
    }
    let mut value = 0_i64;
    for place in 0..places {
        let digit = if place < usize::from(digits) { i64::from(next()?) } else { 0 };
        value = value
            .checked_mul(BASE)
            .and_then(|value| value.checked_add(digit))
            .ok_or("a number is too large")?;
    }
    match SIGNS.iter().position(|known| *known == sign) {
        Some(0) => Ok(value),
        Some(_) => Ok(-value),
        None => Err("a number is none".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_keeps_its_place_in_the_order_of_bytes() {
        let texts =
            ["", "\0", "\0\0", "\u{1}", "\u{1}0", "\u{2}", "0", "a", "a\0", "a\0b", "a\u{1}", "ab", "日\0本"];
        let mut stored = Vec::new();
        for text in texts {
            let mut out = BytesMut::new();
            put_text(text, &mut out);
            assert!(!out.contains(&0), "{text:?}");
            assert_eq!(take_text(&out).unwrap(), text);
            stored.push(out.to_vec());
        }
        assert!(stored.is_sorted_by(|one, two| one < two), "{stored:?}");
        assert!(
            take_text(&[b'a', 1]).is_err() && take_text(&[1, b'2']).is_err() && take_text(&[0xff]).is_err()
        );
    }

    #[test]
    fn a_whole_decimal_number_is_read_and_a_fraction_refused() {
        let number =
            |words: &[u16]| whole(&words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>());
        assert_eq!(number(&[0, 0, 0, 0]).unwrap(), 0);
        assert_eq!(number(&[1, 0, 0, 0, 7]).unwrap(), 7);
        assert_eq!(number(&[1, 1, 0, 0, 3]).unwrap(), 30_000);
        assert_eq!(number(&[2, 1, 0x4000, 0, 3, 21]).unwrap(), -30_021);
        assert!(number(&[1, 0xffff, 0, 4, 5_000]).is_err(), "a half");
        assert!(number(&[1, 0, 0xc000, 0, 1]).is_err(), "not a number");
        assert!(number(&[1, 0, 0, 0]).is_err() && number(&[1, 9, 0, 0, 9_999]).is_err());
    }

    #[test]
    fn what_the_driver_logs_has_no_content() {
        let shown = format!(
            "{:?}",
            [Parameter("a secret".into()), Parameter(Value::Blob(vec![9])), Parameter(77_i64.into())]
        );
        assert!(!shown.contains("secret") && !shown.contains('9') && !shown.contains("77"), "{shown}");
    }
}
