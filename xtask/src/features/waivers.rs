//! Waived requirements, each with the reason.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

/// Reads `[[waiver]]` tables with `id` (or a list `ids`) and `reason`; returns identifier → reason.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, String>> {
    let table: Table = text.parse().context("cannot read the waivers")?;
    let listed = match table.get("waiver") {
        None => return Ok(BTreeMap::new()),
        Some(value) => value.as_array().context("`waiver` is not a list of tables")?,
    };
    let mut waivers = BTreeMap::new();
    for waiver in listed {
        let reason = field(waiver, "reason")?;
        for id in ids(waiver)? {
            if waivers.insert(id.clone(), reason.clone()).is_some() {
                bail!("{id} is waived twice");
            }
        }
    }
    Ok(waivers)
}

fn ids(waiver: &Value) -> Result<Vec<String>> {
    let Some(listed) = waiver.get("ids") else { return Ok(vec![field(waiver, "id")?]) };
    let ids = listed.as_array().context("`ids` is not a list")?;
    ids.iter().map(|id| Ok(id.as_str().context("an identifier is not text")?.to_owned())).collect()
}

fn field(waiver: &Value, key: &str) -> Result<String> {
    let value = waiver.get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if value.is_empty() {
        bail!("a waiver has no {key}: {waiver}");
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_comments_waives_nothing() {
        assert!(read("# nothing yet\n").unwrap().is_empty());
    }

    #[test]
    fn one_reason_may_waive_several() {
        let waivers = read("[[waiver]]\nids = [\"GB-01\", \"GB-02\"]\nreason = \"no server yet\"\n").unwrap();
        assert_eq!(waivers.keys().collect::<Vec<_>>(), ["GB-01", "GB-02"]);
    }

    #[test]
    fn a_waiver_needs_a_reason_and_stands_once() {
        let one = "[[waiver]]\nid = \"GB-01\"\nreason = \"later\"\n";
        assert_eq!(read(one).unwrap(), BTreeMap::from([("GB-01".to_owned(), "later".to_owned())]));
        assert!(read(&one.repeat(2)).is_err());
        assert!(read("[[waiver]]\nid = \"GB-01\"\nreason = \" \"\n").is_err());
    }
}
