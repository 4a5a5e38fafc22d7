//! Licenses of third parties whose code is in the program or in the module for Python, as one text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::dependencies::{self, Crate};

/// How the names of files begin that hold a license or a notice.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Folders below the root of a crate in which one is searched: code in C lies in some.
const DEPTH: usize = 4;
/// Most bytes of such a file.
const LONGEST: u64 = 200_000;

/// Returns the licenses of all third parties on a platform: a list, then each text once, with the crates that it is of, and the
/// crates that come without a text.
pub(super) fn text(root: &Path, triple: &str) -> Result<String> {
    written(&dependencies::of_all(root, triple)?)
}

fn written(crates: &[Crate]) -> Result<String> {
    let mut text =
        "The program mnemal and its module for Python have code of these crates. Their licenses follow.\n\n"
            .to_owned();
    let mut licenses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut textless = Vec::new();
    for one in crates.iter().filter(|one| !one.is_own) {
        let license = one.license.as_deref().unwrap_or("see its text");
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{} {}: {license}", one.name, one.version);
        let files = found(&one.folder, DEPTH)?;
        if files.is_empty() {
            textless.push(one);
        }
        for file in files {
            let license =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let crates = licenses.entry(license.replace('\r', "").trim().to_owned()).or_default();
            let name = format!("{} {}", one.name, one.version);
            if !crates.contains(&name) {
                crates.push(name);
            }
        }
    }
    for (license, crates) in &licenses {
        let _written = write!(text, "\n{}\n{}\n\n{license}\n", "-".repeat(80), crates.join(", "));
    }
    text.push_str(&list(&textless));
    Ok(text)
}

/// Lists crates whose packages hold no text of a license, and prints them; nothing where there are none.
fn list(textless: &[&Crate]) -> String {
    if textless.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{}\nThe packages of these crates hold no text of a license. What they name, and where their source is:\n\n",
        "-".repeat(80)
    );
    for one in textless {
        let license = one.license.as_deref().unwrap_or("no license named");
        let repository = one.repository.as_deref().unwrap_or("no repository named");
        println!("no text of a license: {} {} ({license})", one.name, one.version);
        let _written = writeln!(text, "{} {}: {license}, {repository}", one.name, one.version);
    }
    text
}

fn found(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 1 {
            files.extend(found(&entry.path(), depth - 1)?);
        } else if kind.is_file() && is_license(&entry) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn is_license(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy().to_uppercase();
    let is_code = Path::new(&name)
        .extension()
        .is_some_and(|extension| ["RS", "PY", "SH"].iter().any(|code| extension == *code));
    let is_short = entry.metadata().is_ok_and(|metadata| metadata.len() <= LONGEST);
    is_short && !is_code && NAMES.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for the sources of crates.
    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mnemal-xtask-{name}-{}", std::process::id()))
    }

    /// A crate with its folder.
    fn made(name: &str, folder: &Path) -> Crate {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        Crate {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            repository: Some(format!("https://example.org/{name}")),
            folder,
            is_own: false,
            uses: Vec::new(),
        }
    }

    #[test]
    fn each_text_stands_once_with_the_crates_that_it_is_of() {
        let folder = folder("notices");
        let licensed = |name: &str| {
            let one = made(name, &folder);
            fs::create_dir_all(one.folder.join("c/code")).unwrap();
            fs::write(one.folder.join("LICENSE-MIT"), "Do what you want.\r\n").unwrap();
            fs::write(one.folder.join("license.rs"), "fn no() {}\n").unwrap();
            one
        };
        let crates = [licensed("a"), licensed("b"), Crate { is_own: true, ..licensed("own") }];
        fs::write(folder.join("b/c/code/COPYING"), "Code in C.").unwrap();
        let text = written(&crates).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(text.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n"), "{text}");
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nDo what you want.\n"), "{text}");
        assert!(text.contains("\nb 1.0.0\n\nCode in C.\n"), "{text}");
        assert!(!text.contains("own 1.0.0") && !text.contains("fn no"), "{text}");
        assert!(!text.contains("no text of a license"), "{text}");
    }

    #[test]
    fn a_crate_without_a_text_is_listed_at_the_end_and_one_that_cannot_be_read_is_an_error() {
        let folder = folder("notices-textless");
        let crates = [made("a", &folder)];
        let text = written(&crates).unwrap();
        fs::write(folder.join("a/LICENSE"), b"\xff\xfe").unwrap();
        let error = written(&crates).unwrap_err().to_string();
        fs::remove_dir_all(&folder).unwrap();
        assert!(text.ends_with("\n\na 1.0.0: MIT, https://example.org/a\n"), "{text}");
        assert!(error.starts_with("cannot read ") && error.contains("LICENSE"), "{error}");
    }
}
