//! Licenses of third parties whose code is in the program, as one text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::dependencies::{self, Crate};

/// How the names of files begin that hold a license or a notice.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Folders below the root of a crate in which one is searched: code in C lies in some.
const DEPTH: usize = 4;
/// Most bytes of such a file.
const LONGEST: u64 = 200_000;

/// Returns the licenses of all third parties on a platform: a list, then each text once, with the crates that it is of.
pub(super) fn text(root: &Path, triple: &str) -> Result<String> {
    let crates = dependencies::of_program(root, triple)?;
    Ok(written(&crates))
}

fn written(crates: &[Crate]) -> String {
    let others: Vec<&Crate> = crates.iter().filter(|one| !one.is_own).collect();
    let mut text = "The program mnemal has code of these crates. Their licenses follow.\n\n".to_owned();
    let mut licenses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in others {
        let license = one.license.as_deref().unwrap_or("see its text");
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{} {}: {license}", one.name, one.version);
        for file in found(&one.folder, DEPTH) {
            let Ok(license) = fs::read_to_string(file) else { continue };
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
    text
}

fn found(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 1 {
            files.extend(found(&entry.path(), depth - 1));
        } else if kind.is_file() && is_license(&entry) {
            files.push(entry.path());
        }
    }
    files.sort();
    files
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

    #[test]
    fn each_text_stands_once_with_the_crates_that_it_is_of() {
        let folder = std::env::temp_dir().join(format!("mnemal-xtask-notices-{}", std::process::id()));
        let own = |name: &str, is_own| {
            let folder = folder.join(name);
            fs::create_dir_all(folder.join("c/code")).unwrap();
            fs::write(folder.join("LICENSE-MIT"), "Do what you want.\r\n").unwrap();
            fs::write(folder.join("license.rs"), "fn no() {}\n").unwrap();
            Crate {
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                license: Some("MIT".to_owned()),
                folder,
                is_own,
                uses: Vec::new(),
            }
        };
        let crates = [own("a", false), own("b", false), own("own", true)];
        fs::write(folder.join("b/c/code/COPYING"), "Code in C.").unwrap();
        let text = written(&crates);
        fs::remove_dir_all(&folder).unwrap();
        assert!(text.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n"), "{text}");
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nDo what you want.\n"), "{text}");
        assert!(text.contains("\nb 1.0.0\n\nCode in C.\n"), "{text}");
        assert!(!text.contains("own 1.0.0") && !text.contains("fn no"), "{text}");
    }
}
