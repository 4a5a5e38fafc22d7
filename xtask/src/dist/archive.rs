//! Archive to unpack anywhere: the program, its manual, completions and licenses.

use anyhow::Result;

use super::pack::{self, Entry};
use super::parts::{NAME, Parts};
use super::target::System;

/// Makes the archive: a zip for Windows, else a tar.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let release = parts.archive();
    let mut entries = vec![parts.program(&format!("{release}/"))];
    entries.push(Entry::file(format!("{release}/README.md"), parts.source("README.md")?));
    entries.extend(parts.licenses(&format!("{release}/"))?);
    for (name, page) in &parts.man {
        entries.push(Entry::file(format!("{release}/man/{name}"), page.as_slice()));
    }
    for (shell, script) in &parts.completions {
        let file = completions(shell);
        entries.push(Entry::file(format!("{release}/completions/{file}"), script.as_slice()));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let packed = if parts.target.system == System::Windows {
        Entry::file(format!("{release}.zip"), pack::zip(&entries, parts.stamp)?)
    } else {
        Entry::file(format!("{release}.tar.gz"), pack::tar_gz(&entries, parts.stamp)?)
    };
    Ok(vec![packed])
}

/// Returns the name under which a shell finds its completions.
fn completions(shell: &str) -> String {
    match shell {
        "zsh" => format!("_{NAME}"),
        "powershell" => format!("_{NAME}.ps1"),
        other => format!("{NAME}.{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample::{self, VERSION};

    #[test]
    fn the_archive_has_the_program_its_pages_and_the_licenses_in_one_folder() {
        let made = make(&sample::parts()).unwrap().remove(0);
        assert_eq!(made.path, format!("mnemal-{VERSION}-x86_64-unknown-linux-gnu.tar.gz"));
        let entries = sample::untar(&made.bytes);
        let folder = format!("mnemal-{VERSION}-x86_64-unknown-linux-gnu/");
        assert!(entries.iter().all(|entry| entry.path.starts_with(&folder)));
        for path in
            ["man/mnemal.1", "completions/mnemal.bash", "completions/_mnemal", "NOTICE", "THIRD-PARTY.txt"]
        {
            sample::file(&entries, &format!("{folder}{path}"));
        }
        assert_eq!(sample::file(&entries, &format!("{folder}mnemal")).mode, 0o755);
    }

    #[test]
    fn the_archive_for_windows_is_a_zip() {
        let mut parts = sample::parts();
        parts.target.system = System::Windows;
        let made = make(&parts).unwrap().remove(0);
        let folder = format!("mnemal-{VERSION}-x86_64-pc-windows-msvc");
        assert_eq!(made.path, format!("{folder}.zip"));
        sample::file(&sample::unzip(&made.bytes), &format!("{folder}/mnemal.exe"));
    }
}
