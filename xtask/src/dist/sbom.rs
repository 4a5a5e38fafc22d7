//! Bill of materials: the crates whose code is in the program and in the module for Python, in the form `CycloneDX`.

use anyhow::Result;
use serde_json::{Value, json};

use super::dependencies::{self, Crate};
use super::pack::Entry;
use super::parts::{LICENSE, NAME, Parts, REPOSITORY};

/// The package of the program.
const PROGRAM: &str = "mnemal-cli";

/// Writes the bill of the program's platform.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let list = if parts.module.is_some() { dependencies::of_all } else { dependencies::of_program };
    let crates = list(&parts.root, parts.target.triple())?;
    let bill = bill(&parts.version, &crates);
    Ok(vec![Entry::file(format!("{}.cdx.json", parts.archive()), format!("{bill:#}\n"))])
}

/// Writes the document. Source: the specification of `CycloneDX` 1.6. It has no time and no number, so that it is the same anew.
fn bill(version: &str, crates: &[Crate]) -> Value {
    let components = crates.iter().filter(|one| one.name != PROGRAM).map(component);
    let edges = crates.iter().map(|one| json!({"ref": one.key(), "dependsOn": one.uses}));
    let program = json!({
        "type": "application",
        "bom-ref": format!("{PROGRAM}@{version}"),
        "name": NAME,
        "version": version,
        "licenses": [{"expression": LICENSE}],
        "externalReferences": [{"type": "vcs", "url": REPOSITORY}],
    });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": components.collect::<Vec<_>>(),
        "dependencies": edges.collect::<Vec<_>>(),
    })
}

fn component(one: &Crate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": one.key(),
        "name": one.name,
        "version": one.version,
        "purl": format!("pkg:cargo/{}", one.key()),
    });
    if let (Some(license), Some(fields)) = (&one.license, component.as_object_mut()) {
        fields.insert("licenses".to_owned(), json!([{"expression": license}]));
    }
    component
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_bill_lists_crates_with_licenses_and_what_uses_what() {
        let own = |name: &str, license: Option<&str>, uses: &[&str]| Crate {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            license: license.map(str::to_owned),
            repository: None,
            folder: PathBuf::new(),
            is_own: false,
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
        };
        let crates =
            [own("mnemal-cli", Some("MIT"), &["serde@1.2.3"]), own("serde", Some("MIT OR Apache-2.0"), &[])];
        let bill = bill("1.2.3", &crates);
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.6")));
        assert_eq!(bill["metadata"]["component"]["bom-ref"], "mnemal-cli@1.2.3");
        let components = bill["components"].as_array().unwrap();
        assert_eq!(components.len(), 1);
        assert_eq!(components[0]["purl"], "pkg:cargo/serde@1.2.3");
        assert_eq!(components[0]["licenses"], json!([{"expression": "MIT OR Apache-2.0"}]));
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["serde@1.2.3"]));
    }
}
