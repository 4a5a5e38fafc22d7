//! Language packs are TOML files; a section is one table of such a file, read by key.

use mnemal_core::{Error, Result};
use toml::de::{DeTable, DeValue};

/// A parsed pack file.
#[derive(Debug)]
pub(crate) struct PackFile<'t>(DeTable<'t>);

impl<'t> PackFile<'t> {
    /// Reads a pack file.
    ///
    /// # Errors
    /// `Invalid` with the place of the first mistake.
    pub(crate) fn parse(text: &'t str) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|error| Error::invalid(format!("a pack: {error}")))?;
        Ok(Self(table.into_inner()))
    }

    /// Returns the whole file as a section.
    pub(crate) fn root(&self) -> Section<'_> {
        Section(&self.0)
    }
}

/// One table of a pack. A missing key reads as empty; a value of another type is an error that names the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'p>(&'p DeTable<'p>);

impl<'p> Section<'p> {
    /// Returns the keys in the order of the file's table.
    pub(crate) fn keys(self) -> impl Iterator<Item = &'p str> {
        self.0.keys().map(|key| key.get_ref().as_ref())
    }

    fn value(self, key: &str) -> Option<&'p DeValue<'p>> {
        self.0.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
    }

    /// Returns a text, or `None`.
    pub(crate) fn text(self, key: &str) -> Result<Option<&'p str>> {
        self.value(key).map(|value| value.as_str().ok_or_else(|| wrong(key, "a text"))).transpose()
    }

    /// Returns a list of texts.
    pub(crate) fn lines(self, key: &str) -> Result<Vec<&'p str>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let lines = value.as_array().map(|array| array.iter().map(|line| line.get_ref().as_str()).collect());
        lines.flatten().ok_or_else(|| wrong(key, "a list of texts"))
    }

    /// Returns a number, or `None`.
    pub(crate) fn number(self, key: &str) -> Result<Option<f32>> {
        self.value(key).map(|value| number(value).ok_or_else(|| wrong(key, "a number"))).transpose()
    }

    /// Returns a list of numbers.
    pub(crate) fn numbers(self, key: &str) -> Result<Vec<f32>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let numbers =
            value.as_array().map(|array| array.iter().map(|value| number(value.get_ref())).collect());
        numbers.flatten().ok_or_else(|| wrong(key, "a list of numbers"))
    }

    /// Returns a whole number, or `None`.
    pub(crate) fn count(self, key: &str) -> Result<Option<usize>> {
        let read = |value: &DeValue<'_>| match value {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        self.value(key).map(|value| read(value).ok_or_else(|| wrong(key, "a whole number"))).transpose()
    }

    /// Returns whether a key stands and is true.
    pub(crate) fn flag(self, key: &str) -> Result<bool> {
        let flag = self.value(key).map(|value| value.as_bool().ok_or_else(|| wrong(key, "true or false")));
        Ok(flag.transpose()?.unwrap_or_default())
    }

    /// Returns the table under a key, or `None`.
    pub(crate) fn section(self, key: &str) -> Result<Option<Section<'p>>> {
        let table = self.value(key).map(|value| value.as_table().ok_or_else(|| wrong(key, "a table")));
        Ok(table.transpose()?.map(Section))
    }

    /// Returns the tables under a key that is written `[[key]]`.
    pub(crate) fn sections(self, key: &str) -> Result<Vec<Section<'p>>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let tables = value.as_array().map(|array| {
            array.iter().map(|table| table.get_ref().as_table().map(Section)).collect::<Option<Vec<_>>>()
        });
        tables.flatten().ok_or_else(|| wrong(key, "a list of tables"))
    }
}

fn number(value: &DeValue<'_>) -> Option<f32> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

fn wrong(key: &str, expected: &str) -> Error {
    Error::invalid(format!("a pack: `{key}` must be {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_reads_each_kind_of_value_and_names_a_wrong_one() {
        let text = "cue = ['a', 'b']\nprior = 0.8\nend = true\n[months]\njan = '1'\n[[rule]]\nid = 'x'\n";
        let file = PackFile::parse(text).unwrap();
        let root = file.root();
        assert_eq!(root.lines("cue").unwrap(), ["a", "b"]);
        assert_eq!(root.number("prior").unwrap(), Some(0.8));
        assert!(root.flag("end").unwrap() && !root.flag("start").unwrap());
        assert_eq!(root.section("months").unwrap().unwrap().text("jan").unwrap(), Some("1"));
        assert_eq!(root.sections("rule").unwrap().len(), 1);
        assert!(root.text("cue").unwrap_err().to_string().contains("`cue`"));
        assert!(PackFile::parse("a = ").is_err());
    }
}
