//! What stands behind the question mark, read into a form: numbers and switches out of their texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::value::{Error as Wrong, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::http::problem::Problem;

/// Reads a query.
///
/// # Errors
/// `invalid_request` for an unknown name, one that stands twice, or a value of another type.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(query: &str) -> Result<T, Problem> {
    let mut fields: BTreeMap<Cow<'_, str>, Part<'_>> = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if let Some(_twice) = fields.insert(name.clone(), Part(value)) {
            return Err(Problem::invalid(format!("{name:?} stands twice in the query")));
        }
    }
    T::deserialize(MapDeserializer::new(fields.into_iter()))
        .map_err(|wrong: Wrong| Problem::invalid(format!("query: {wrong}")))
}

/// One value, as text until the form says what it is.
#[derive(Debug)]
struct Part<'a>(Cow<'a, str>);

impl IntoDeserializer<'_> for Part<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident => $visit:ident),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            let value = self.0.trim().parse().map_err(|_| Wrong::custom(format!("{:?} is no such value", self.0)))?;
            visitor.$visit(value)
        })*
    };
}

impl<'de> Deserializer<'de> for Part<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.0.into_owned())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    parsed! {
        deserialize_bool => visit_bool, deserialize_u8 => visit_u8, deserialize_u16 => visit_u16,
        deserialize_u32 => visit_u32, deserialize_u64 => visit_u64, deserialize_i64 => visit_i64,
        deserialize_f32 => visit_f32, deserialize_f64 => visit_f64,
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_enum(self.0.into_owned().into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u128 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Form {
        limit: Option<u32>,
        current: Option<bool>,
        q: Option<String>,
    }

    #[test]
    fn values_are_read_as_the_form_wants_them() {
        let read = |query| read::<Form>(query);
        assert_eq!(read("").unwrap(), Form::default());
        let whole = Form { limit: Some(7), current: Some(true), q: Some("a b&c".to_owned()) };
        assert_eq!(read("limit=7&current=true&q=a+b%26c").unwrap(), whole);
        for wrong in ["limit=x", "limit=-1", "current=1", "limits=3", "limit=1&limit=2"] {
            assert_eq!(read(wrong).unwrap_err().code(), "invalid_request", "{wrong}");
        }
    }
}
