//! Files about all packages of a release: the formula for Homebrew, the entry of the protocol's registry, digests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::pack::{self, Entry};
use super::parts::{NAME, REPOSITORY, SERVER, SUMMARY, files, version};

/// The file of the digests.
pub(super) const SUMS: &str = "SHA256SUMS";
/// The form of an entry of the registry. Source: the registry of the Model Context Protocol, of 2025-12-11.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// Platforms of Homebrew, each by the word of the formula for the system, that for the processor, and its triple.
const FORMULA: [(&str, &str, &str); 4] = [
    ("macos", "arm", "aarch64-apple-darwin"),
    ("macos", "intel", "x86_64-apple-darwin"),
    ("linux", "arm", "aarch64-unknown-linux-gnu"),
    ("linux", "intel", "x86_64-unknown-linux-gnu"),
];

/// The packages of all platforms.
#[derive(Debug)]
pub(super) struct Release {
    /// The version.
    version: String,
    /// Where they are.
    folder: PathBuf,
}

impl Release {
    /// Takes the packages of a folder.
    pub(super) fn of(root: &Path, folder: &Path) -> Result<Self> {
        Ok(Self { version: version(root)?, folder: folder.to_path_buf() })
    }

    /// Returns where a package is loaded from.
    fn address(&self, name: &str) -> String {
        format!("{REPOSITORY}/releases/download/v{}/{name}", self.version)
    }
}

/// Writes the formula for Homebrew, of the archives that are there.
pub(super) fn formula(release: &Release) -> Result<Vec<Entry>> {
    let packages = files(&release.folder)?;
    let mut platforms = String::new();
    for system in ["macos", "linux"] {
        let mut inner = String::new();
        for (_, processor, triple) in FORMULA.iter().filter(|(of, ..)| *of == system) {
            let name = format!("{NAME}-{}-{triple}.tar.gz", release.version);
            let Some((_, bytes)) = packages.iter().find(|(found, _)| *found == name) else { continue };
            let (address, sum) = (release.address(&name), pack::sha256(bytes));
            // Writing into a string cannot fail.
            let _written = writeln!(
                inner,
                "    on_{processor} do\n      url \"{address}\"\n      sha256 \"{sum}\"\n    end"
            );
        }
        if !inner.is_empty() {
            let _written = write!(platforms, "  on_{system} do\n{inner}  end\n\n");
        }
    }
    if platforms.is_empty() {
        println!("{} has no archive that Homebrew installs: no formula", release.folder.display());
        return Ok(Vec::new());
    }
    Ok(vec![Entry::file("mnemal.rb", written(&release.version, &platforms))])
}

fn written(version: &str, platforms: &str) -> String {
    format!(
        r##"class Mnemal < Formula
  desc "{SUMMARY}"
  homepage "{REPOSITORY}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

{platforms}  def install
    bin.install "mnemal"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/mnemal.bash" => "mnemal"
    fish_completion.install "completions/mnemal.fish"
    zsh_completion.install "completions/_mnemal"
    doc.install "NOTICE", "THIRD-PARTY.txt"
  end

  service do
    run [opt_bin/"mnemal", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/mnemal --version")
    assert_match "remembers", shell_output("#{{bin}}/mnemal demo")
  end
end
"##
    )
}

/// Writes the entry of the registry: the packages of npm and pip, the image, and the bundles that are there.
pub(super) fn server(release: &Release) -> Result<Vec<Entry>> {
    let version = &release.version;
    let argument = json!([{"type": "positional", "value": "mcp"}]);
    let standard = json!({"type": "stdio"});
    let mut packages = vec![
        json!({"registryType": "npm", "identifier": NAME, "version": version, "runtimeHint": "npx",
            "packageArguments": argument, "transport": standard}),
        json!({"registryType": "pypi", "identifier": NAME, "version": version, "runtimeHint": "uvx",
            "packageArguments": argument, "transport": standard}),
        json!({"registryType": "oci", "identifier": format!("ghcr.io/mnemal/mnemal:{version}"), "runtimeHint": "docker",
            "runtimeArguments": [{"type": "named", "name": "--mount", "value": "type=volume,source=mnemal,target=/data"}],
            "packageArguments": argument, "transport": standard}),
    ];
    for (name, bytes) in files(&release.folder)? {
        if Path::new(&name).extension().is_some_and(|extension| extension == "mcpb") {
            packages.push(json!({"registryType": "mcpb", "identifier": release.address(&name),
                "fileSha256": pack::sha256(&bytes), "transport": standard}));
        }
    }
    let entry: Value = json!({
        "$schema": SCHEMA,
        "name": SERVER,
        "title": NAME,
        "description": SUMMARY,
        "version": version,
        "repository": {"url": REPOSITORY, "source": "github"},
        "websiteUrl": REPOSITORY,
        "packages": packages,
    });
    Ok(vec![Entry::file("server.json", format!("{entry:#}\n"))])
}

/// Writes the digests of all files, as `sha256sum --check` reads them.
pub(super) fn sums(release: &Release) -> Result<Vec<Entry>> {
    let files = files(&release.folder)?.into_iter().filter(|(name, _)| name != SUMS);
    let lines = files.map(|(name, bytes)| format!("{}  {name}\n", pack::sha256(&bytes)));
    Ok(vec![Entry::file(SUMS, lines.collect::<String>())])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::dist::sample;

    /// Runs with a folder of stand-ins for packages.
    fn with_release(name: &str, check: impl FnOnce(&Release)) {
        let folder = std::env::temp_dir().join(format!("mnemal-xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for file in ["mnemal-1.2.3-x86_64-unknown-linux-gnu.tar.gz", "mnemal-1.2.3-linux-x64.mcpb", SUMS] {
            fs::write(folder.join(file), file).unwrap();
        }
        check(&Release { version: "1.2.3".to_owned(), folder: folder.clone() });
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_formula_names_the_archives_that_are_there_with_their_digests() {
        with_release("formula", |release| {
            let text = sample::text(&formula(release).unwrap(), "mnemal.rb");
            let sum = pack::sha256(b"mnemal-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
            let address = "releases/download/v1.2.3/mnemal-1.2.3-x86_64-unknown-linux-gnu.tar.gz\"";
            assert!(text.contains(&format!("{address}\n      sha256 \"{sum}\"\n")), "{text}");
            assert!(
                text.contains("  on_linux do\n    on_intel do\n") && !text.contains("on_macos"),
                "{text}"
            );
            assert!(text.contains("#{bin}/mnemal --version"), "{text}");
        });
    }

    #[test]
    fn the_entry_of_the_registry_has_what_its_schema_requires() {
        with_release("server", |release| {
            let entry: Value =
                serde_json::from_str(&sample::text(&server(release).unwrap(), "server.json")).unwrap();
            assert_eq!(
                (&entry["name"], &entry["version"]),
                (&json!("io.github.mnemal/mnemal"), &json!("1.2.3"))
            );
            let packages = entry["packages"].as_array().unwrap();
            let kinds: Vec<&str> = packages.iter().map(|one| one["registryType"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["npm", "pypi", "oci", "mcpb"]);
            assert!(
                packages
                    .iter()
                    .all(|one| one["transport"]["type"] == "stdio" && one["identifier"].is_string())
            );
            assert_eq!(packages[3]["fileSha256"], pack::sha256(b"mnemal-1.2.3-linux-x64.mcpb"));
        });
    }

    #[test]
    fn digests_are_of_every_file_but_their_own() {
        with_release("sums", |release| {
            let text = sample::text(&sums(release).unwrap(), SUMS);
            assert_eq!(text.lines().count(), 2);
            let line =
                format!("{}  mnemal-1.2.3-linux-x64.mcpb", pack::sha256(b"mnemal-1.2.3-linux-x64.mcpb"));
            assert!(text.lines().any(|found| found == line), "{text}");
        });
    }
}
