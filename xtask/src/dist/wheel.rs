//! Wheel for pip: the package for Python with all its modules, the native one among them, and the program as a script.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

use super::pack::{self, Entry};
use super::parts::{NAME, Parts, REPOSITORY, SERVER, files};

/// The client for Python.
const CLIENT: &str = "integrations/python";

/// Makes the wheel.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let manifest: Table = parts.text(&format!("{CLIENT}/pyproject.toml"))?.parse()?;
    let project =
        manifest.get("project").and_then(Value::as_table).context("pyproject.toml has no project")?;
    let version = text(project, "version")?;
    if version != parts.version {
        bail!("the client for Python has version {version}, the program {}", parts.version);
    }
    let release = format!("{NAME}-{version}");
    let info = format!("{release}.dist-info");
    let mut entries = modules(parts)?;
    match &parts.module {
        Some(module) => {
            let path = format!("{NAME}/{}", parts.target.module());
            entries.push(Entry::file(path, module.as_slice()));
        }
        None => println!("wheel: without the engine for Python, which was not built"),
    }
    entries.push(parts.program(&format!("{release}.data/scripts/")));
    let licenses = parts.licenses(&format!("{info}/licenses/"))?;
    let names: Vec<&str> = licenses.iter().filter_map(|entry| entry.path.rsplit('/').next()).collect();
    entries.push(Entry::file(format!("{info}/METADATA"), metadata(parts, project, &names)?));
    entries.push(Entry::file(format!("{info}/WHEEL"), tags(&parts.target.wheel)));
    entries.extend(licenses);
    entries.push(Entry::file(format!("{info}/RECORD"), record(&entries, &info)));
    Ok(vec![Entry::file(name(parts), pack::zip(&entries, parts.stamp)?)])
}

/// Returns the name of the wheel.
pub(super) fn name(parts: &Parts) -> String {
    format!("{NAME}-{}-py3-none-{}.whl", parts.version, parts.target.wheel)
}

fn modules(parts: &Parts) -> Result<Vec<Entry>> {
    let modules = files(&parts.root.join(CLIENT).join(NAME))?;
    Ok(modules.into_iter().map(|(name, bytes)| Entry::file(format!("{NAME}/{name}"), bytes)).collect())
}

fn text<'p>(project: &'p Table, key: &str) -> Result<&'p str> {
    project.get(key).and_then(Value::as_str).with_context(|| format!("pyproject.toml has no {key}"))
}

/// Writes the metadata of the distribution. Source: the core metadata of Python packages, version 2.4.
fn metadata(parts: &Parts, project: &Table, licenses: &[&str]) -> Result<String> {
    let license = project.get("license").and_then(|license| license.get("text")?.as_str());
    let mut lines = vec![
        "Metadata-Version: 2.4".to_owned(),
        format!("Name: {NAME}"),
        format!("Version: {}", parts.version),
        format!("Summary: {}", text(project, "description")?),
        format!("License-Expression: {}", license.context("pyproject.toml has no license")?),
    ];
    lines.extend(licenses.iter().map(|name| format!("License-File: {name}")));
    lines.push(format!("Project-URL: Source, {REPOSITORY}"));
    lines.push(format!("Requires-Python: {}", text(project, "requires-python")?));
    let extras = project.get("optional-dependencies").and_then(Value::as_table);
    for (extra, needs) in extras.into_iter().flatten() {
        lines.push(format!("Provides-Extra: {extra}"));
        let needs = needs.as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(needs.map(|need| format!("Requires-Dist: {need}; extra == \"{extra}\"")));
    }
    lines.push("Description-Content-Type: text/markdown".to_owned());
    let readme = parts.text(&format!("{CLIENT}/README.md"))?;
    // The registry of the Model Context Protocol looks for its name here.
    Ok(format!("{}\n\n{readme}\n<!-- mcp-name: {SERVER} -->\n", lines.join("\n")))
}

/// Writes what the wheel is for: one line for each tag that its name has compressed.
fn tags(platforms: &str) -> String {
    let mut text = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n".to_owned();
    for platform in platforms.split('.') {
        // Writing into a string cannot fail.
        let _written = writeln!(text, "Tag: py3-none-{platform}");
    }
    text
}

/// Lists every file with its digest and size, and itself without.
pub(super) fn record(entries: &[Entry], info: &str) -> String {
    let mut text = String::new();
    for Entry { path, bytes, .. } in entries {
        let _written = writeln!(text, "{path},sha256={},{}", pack::sha256_of_wheel(bytes), bytes.len());
    }
    text + &format!("{info}/RECORD,,\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample::{self, VERSION};

    fn wheel() -> (String, Vec<Entry>) {
        let made = make(&sample::parts()).unwrap().remove(0);
        (made.path, sample::unzip(&made.bytes))
    }

    #[test]
    fn the_name_and_the_tag_are_those_of_the_program() {
        let (name, entries) = wheel();
        assert_eq!(name, format!("mnemal-{VERSION}-py3-none-manylinux_2_28_x86_64.whl"));
        let tags = sample::text(&entries, &format!("mnemal-{VERSION}.dist-info/WHEEL"));
        assert!(tags.ends_with("\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n"), "{tags}");
        assert_eq!(super::tags("a.b").matches("Tag: py3-none-").count(), 2);
    }

    #[test]
    fn the_record_has_the_digest_of_every_file() {
        let (_, entries) = wheel();
        let record = sample::text(&entries, &format!("mnemal-{VERSION}.dist-info/RECORD"));
        assert_eq!(record.lines().count(), entries.len());
        for entry in &entries {
            let line = record.lines().find(|line| line.starts_with(&format!("{},", entry.path))).unwrap();
            let digest = format!("sha256={},{}", pack::sha256_of_wheel(&entry.bytes), entry.bytes.len());
            let expected = if entry.path.ends_with("/RECORD") { "," } else { digest.as_str() };
            assert_eq!(line.split_once(',').unwrap().1, expected, "{}", entry.path);
        }
        assert!(entries.last().unwrap().path.ends_with("/RECORD"));
    }

    #[test]
    fn the_program_is_a_script_and_the_client_is_complete() {
        let (_, entries) = wheel();
        let script = sample::file(&entries, &format!("mnemal-{VERSION}.data/scripts/mnemal"));
        assert_eq!((script.mode, &script.bytes), (0o755, &sample::parts().program));
        for module in ["__init__.py", "client.py", "langgraph.py", "py.typed"] {
            sample::file(&entries, &format!("mnemal/{module}"));
        }
        assert!(entries.iter().all(|entry| !entry.path.contains("__pycache__")));
    }

    #[test]
    fn the_native_module_is_there_if_it_was_built() {
        let (_, entries) = wheel();
        let parts = sample::parts();
        assert_eq!(Some(&sample::file(&entries, "mnemal/_engine.abi3.so").bytes), parts.module.as_ref());
        assert!(entries.iter().any(|entry| entry.path == "mnemal/_engine.pyi"));
        let made = make(&Parts { module: None, ..parts }).unwrap().remove(0);
        assert!(sample::unzip(&made.bytes).iter().all(|entry| !entry.path.contains("_engine.abi3")));
    }

    #[test]
    fn the_metadata_has_the_extras_and_the_name_of_the_server() {
        let (_, entries) = wheel();
        let metadata = sample::text(&entries, &format!("mnemal-{VERSION}.dist-info/METADATA"));
        let (head, body) = metadata.split_once("\n\n").unwrap();
        assert!(head.contains(
            "\nProvides-Extra: langgraph\nRequires-Dist: langgraph>=1.0; extra == \"langgraph\"\n"
        ));
        assert!(
            head.contains("\nLicense-Expression: MIT OR Apache-2.0\n")
                && head.contains("\nRequires-Python: >=")
        );
        assert!(
            body.starts_with("# mnemal") && body.ends_with("<!-- mcp-name: io.github.mnemal/mnemal -->\n")
        );
    }

    #[test]
    fn two_wheels_of_one_program_are_the_same() {
        assert_eq!(make(&sample::parts()).unwrap(), make(&sample::parts()).unwrap());
    }
}
