//! Package for Debian and what descends from it: the program, its service, manual, completions and licenses.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::pack::{self, Entry, RUN};
use super::parts::{NAME, Parts, REPOSITORY, SUMMARY, THIRD_PARTIES};

/// Who is written to about the package.
const MAINTAINER: &str = "The mnemal authors <mnemal@users.noreply.github.com>";
/// The version of the package among those of one version of the program.
const REVISION: &str = "1";
/// Settings that an update leaves as they are.
const SETTINGS: &str = "etc/mnemal/config.toml";
/// Where completions of each shell are searched.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/mnemal"),
    ("fish", "usr/share/fish/vendor_completions.d/mnemal.fish"),
    ("zsh", "usr/share/zsh/vendor-completions/_mnemal"),
];
/// Libraries that come with the C library of the package `libc6`, by the start of their names.
const OF_LIBC: [&str; 6] = ["libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux"];

/// Makes the package; for other systems than Linux there is none.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    if !parts.is_for_linux() {
        return Ok(Vec::new());
    }
    let installed = installed(parts)?;
    let data = pack::tar_gz(&with_folders(&installed), parts.stamp)?;
    let control = pack::tar_gz(&control(parts, &installed)?, parts.stamp)?;
    let members = [
        ("debian-binary", b"2.0\n".as_slice()),
        ("control.tar.gz", control.as_slice()),
        ("data.tar.gz", data.as_slice()),
    ];
    Ok(vec![Entry::file(name(parts), pack::ar(&members, parts.stamp))])
}

/// Returns the name of the package.
pub(super) fn name(parts: &Parts) -> String {
    format!("{NAME}_{}-{REVISION}_{}.deb", parts.version, parts.target.debian())
}

/// Returns everything that is installed, by its path without the first slash.
fn installed(parts: &Parts) -> Result<Vec<Entry>> {
    let documents = format!("usr/share/doc/{NAME}");
    let mut entries = vec![
        parts.program("usr/bin/"),
        Entry::file(SETTINGS, parts.source("packaging/deb/config.toml")?),
        Entry::file("usr/lib/systemd/system/mnemal.service", parts.source("packaging/deb/mnemal.service")?),
        Entry::file(format!("{documents}/copyright"), copyright(parts)?),
        Entry::file(format!("{documents}/NOTICE"), parts.source("NOTICE")?),
        Entry::file(format!("{documents}/{THIRD_PARTIES}"), parts.notices.as_bytes()),
        Entry::file(format!("{documents}/changelog.gz"), pack::gzip(&parts.source("CHANGELOG.md")?)?),
    ];
    for (name, page) in &parts.man {
        entries.push(Entry::file(format!("usr/share/man/man1/{name}.gz"), pack::gzip(page)?));
    }
    for (shell, script) in &parts.completions {
        let place = COMPLETIONS.iter().find(|(known, _)| known == shell);
        entries.extend(place.map(|(_, path)| Entry::file(*path, script.as_slice())));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

/// Puts each folder before what lies in it.
fn with_folders(files: &[Entry]) -> Vec<Entry> {
    let mut entries = vec![folder("./")];
    for file in files {
        for (at, _) in file.path.match_indices('/') {
            let above = folder(&format!("./{}/", file.path.split_at(at).0));
            if !entries.contains(&above) {
                entries.push(above);
            }
        }
        entries.push(Entry { path: format!("./{}", file.path), ..file.clone() });
    }
    entries
}

fn folder(path: &str) -> Entry {
    Entry::program(path, "")
}

/// Writes what the package manager reads. Source: the policy manual of Debian, chapters 5 to 7.
fn control(parts: &Parts, installed: &[Entry]) -> Result<Vec<Entry>> {
    let kilobytes: usize = installed.iter().map(|entry| entry.bytes.len().div_ceil(1_024)).sum();
    let mut text = String::new();
    let depends = depends(parts)?;
    let fields = [
        ("Package", NAME.to_owned()),
        ("Version", format!("{}-{REVISION}", parts.version)),
        ("Architecture", parts.target.debian().to_owned()),
        ("Maintainer", MAINTAINER.to_owned()),
        ("Installed-Size", kilobytes.to_string()),
        ("Depends", depends.join(", ")),
        ("Section", "utils".to_owned()),
        ("Priority", "optional".to_owned()),
        ("Homepage", REPOSITORY.to_owned()),
    ];
    for (field, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{field}: {value}");
    }
    let _written = writeln!(
        text,
        "Description: {SUMMARY}\n \
        Conversations, tool calls and documents go in as events, and a context within\n \
        a budget of tokens comes out. The service is not started until you enable it."
    );
    Ok(vec![
        folder("./"),
        Entry::file("./conffiles", format!("/{SETTINGS}\n")),
        Entry::file("./control", text),
        Entry { mode: RUN, ..Entry::file("./postinst", parts.source("packaging/deb/postinst")?) },
        Entry { mode: RUN, ..Entry::file("./prerm", parts.source("packaging/deb/prerm")?) },
    ])
}

/// Returns the packages of the libraries that the program needs.
fn depends(parts: &Parts) -> Result<Vec<String>> {
    let mut packages = Vec::new();
    if let Some((major, minor)) = parts.target.glibc {
        packages.push(format!("libc6 (>= {major}.{minor})"));
    }
    for library in &parts.target.libraries {
        if library.starts_with("libgcc_s.so") {
            packages.push("libgcc-s1".to_owned());
        } else if !OF_LIBC.iter().any(|start| library.starts_with(start)) {
            bail!("the program needs {library}, for which no package of Debian is known here");
        }
    }
    Ok(packages)
}

/// Writes the licenses in the form that Debian reads.
fn copyright(parts: &Parts) -> Result<String> {
    let indented = |text: &str| {
        let line = |line: &str| if line.is_empty() { " .".to_owned() } else { format!(" {line}") };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
        Upstream-Name: {NAME}\n\
        Source: {REPOSITORY}\n\
        Comment: NOTICE and {THIRD_PARTIES} beside this file are part of it.\n\n\
        Files: *\n\
        Copyright: 2026 the mnemal authors\n\
        License: MIT or Apache-2.0\n\n\
        License: MIT\n{}\n\n\
        License: Apache-2.0\n \
        The text is in /usr/share/common-licenses/Apache-2.0.\n",
        indented(&parts.text("LICENSE-MIT")?)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample::{self, VERSION};

    /// The members of the package, by their names.
    fn members() -> Vec<(String, Vec<u8>)> {
        let made = make(&sample::parts()).unwrap().remove(0);
        assert_eq!(made.path, format!("mnemal_{VERSION}-1_amd64.deb"));
        let mut rest = made.bytes.strip_prefix(b"!<arch>\n").unwrap();
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (head, body) = rest.split_at(60);
            assert!(head.ends_with(b"`\n"), "{head:?}");
            let field =
                |range: std::ops::Range<usize>| std::str::from_utf8(&head[range]).unwrap().trim().to_owned();
            let size: usize = field(48..58).parse().unwrap();
            members.push((field(0..16), body[..size].to_vec()));
            rest = &body[size.next_multiple_of(2)..];
        }
        members
    }

    #[test]
    fn the_members_have_the_order_that_the_package_manager_asks_for() {
        let members = members();
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        assert_eq!(members[0].1, b"2.0\n");
    }

    #[test]
    fn the_control_file_says_what_the_program_needs() {
        let control = sample::untar(&members()[1].1);
        let text = sample::text(&control, "./control");
        assert!(text.contains(&format!("\nVersion: {VERSION}-1\nArchitecture: amd64\n")), "{text}");
        assert!(text.contains("\nDepends: libc6 (>= 2.28), libgcc-s1\n"), "{text}");
        assert!(text.contains("\nDescription: Memory engine") && text.lines().all(|line| !line.is_empty()));
        assert_eq!(sample::text(&control, "./conffiles"), "/etc/mnemal/config.toml\n");
        assert_eq!(sample::file(&control, "./prerm").mode, RUN);
    }

    #[test]
    fn everything_has_its_place_and_stands_behind_its_folder() {
        let data = sample::untar(&members()[2].1);
        assert_eq!(sample::file(&data, "./usr/bin/mnemal").mode, RUN);
        assert_eq!(sample::file(&data, "./usr/share/man/man1/mnemal.1.gz").mode, 0o644);
        for path in ["./usr/share/zsh/vendor-completions/_mnemal", "./usr/share/doc/mnemal/copyright"] {
            sample::file(&data, path);
        }
        let service = sample::text(&data, "./usr/lib/systemd/system/mnemal.service");
        for line in
            ["DynamicUser=yes", "StateDirectory=mnemal", "ProtectSystem=strict", "NoNewPrivileges=yes"]
        {
            assert!(service.lines().any(|found| found == line), "{line}");
        }
        let place = |path: &str| data.iter().position(|entry| entry.path == path).unwrap();
        assert!(place("./") < place("./usr/") && place("./usr/bin/") < place("./usr/bin/mnemal"));
    }

    #[test]
    fn a_library_without_a_package_is_refused() {
        let mut parts = sample::parts();
        parts.target.libraries.push("libssl.so.3".to_owned());
        assert!(make(&parts).unwrap_err().to_string().contains("libssl.so.3"));
    }
}
