//! Packages for npm: the program of one platform, the launcher that finds it, and the client for TypeScript.

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use super::pack::{self, Entry};
use super::parts::{LICENSE, NAME, Parts, REPOSITORY, SERVER, SUMMARY, files};

/// Platforms with a package; npm leaves out those that are not its own. Source: what the release builds.
const PLATFORMS: [&str; 5] = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
/// The client for TypeScript.
const CLIENT: &str = "integrations/typescript";
/// The file of a package's description.
const MANIFEST: &str = "package.json";

/// Makes the package of this platform, and the one that people install.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    Ok(vec![platform(parts)?, launcher(parts)?])
}

/// Makes the client, if it was compiled.
pub(super) fn client(parts: &Parts) -> Result<Vec<Entry>> {
    let built = parts.root.join(CLIENT).join("dist");
    if !built.join("index.js").is_file() {
        println!("{CLIENT} is not compiled (npm install && npm run build there): no package of it");
        return Ok(Vec::new());
    }
    let manifest: Value = serde_json::from_slice(&parts.source(&format!("{CLIENT}/{MANIFEST}"))?)?;
    let version = manifest.get("version").and_then(Value::as_str).context("the client has no version")?;
    if version != parts.version {
        bail!("the client for TypeScript has version {version}, the program {}", parts.version);
    }
    let mut manifest = manifest.as_object().cloned().unwrap_or_default();
    // Of no use to who installs it.
    manifest.retain(|key, _| !["scripts", "devDependencies"].contains(&key.as_str()));
    manifest.insert(
        "repository".to_owned(),
        json!({"type": "git", "url": format!("git+{REPOSITORY}.git"), "directory": CLIENT}),
    );
    let mut entries = vec![Entry::file("README.md", parts.source(&format!("{CLIENT}/README.md"))?)];
    entries
        .extend(files(&built)?.into_iter().map(|(name, bytes)| Entry::file(format!("dist/{name}"), bytes)));
    entries.extend(parts.own_licenses("")?);
    let name = format!("{NAME}-client-{version}.tgz");
    Ok(vec![packed(parts, name, &Value::Object(manifest), entries)?])
}

fn platform(parts: &Parts) -> Result<Entry> {
    let (system, processor) = parts.target.node();
    let mut manifest = described(parts, &format!("@{NAME}/cli-{system}-{processor}"));
    manifest.insert("os".to_owned(), json!([system]));
    manifest.insert("cpu".to_owned(), json!([processor]));
    if parts.target.glibc.is_some() {
        manifest.insert("libc".to_owned(), json!(["glibc"]));
    }
    manifest.insert("preferUnplugged".to_owned(), json!(true));
    let readme = format!(
        "The program of [{NAME}]({REPOSITORY}) for {system}-{processor}. Install the package `{NAME}`.\n"
    );
    let mut entries = vec![parts.program("bin/"), Entry::file("README.md", readme)];
    entries.extend(parts.licenses("")?);
    let [_, name] = names(parts);
    packed(parts, name, &Value::Object(manifest), entries)
}

fn launcher(parts: &Parts) -> Result<Entry> {
    let platforms = PLATFORMS.map(|platform| (format!("@{NAME}/cli-{platform}"), json!(parts.version)));
    let mut manifest = described(parts, NAME);
    manifest.insert("bin".to_owned(), json!({NAME: "launcher.js"}));
    manifest.insert("engines".to_owned(), json!({"node": ">=18"}));
    manifest.insert("mcpName".to_owned(), json!(SERVER));
    manifest.insert("optionalDependencies".to_owned(), Value::Object(platforms.into_iter().collect()));
    let mut entries = vec![
        Entry::program("launcher.js", parts.source("packaging/launcher.js")?),
        Entry::file("README.md", parts.source("README.md")?),
    ];
    entries.extend(parts.own_licenses("")?);
    let [name, _] = names(parts);
    packed(parts, name, &Value::Object(manifest), entries)
}

/// Returns the names of the package that people install, and of that of the platform.
pub(super) fn names(parts: &Parts) -> [String; 2] {
    let (system, processor) = parts.target.node();
    let version = &parts.version;
    [format!("{NAME}-{version}.tgz"), format!("{NAME}-cli-{system}-{processor}-{version}.tgz")]
}

fn described(parts: &Parts, name: &str) -> Map<String, Value> {
    let manifest = json!({
        "name": name,
        "version": parts.version,
        "description": SUMMARY,
        "license": LICENSE,
        "homepage": REPOSITORY,
        "repository": {"type": "git", "url": format!("git+{REPOSITORY}.git")},
        "keywords": ["memory", "agent", "llm", "mcp", "cli"],
    });
    manifest.as_object().cloned().unwrap_or_default()
}

/// Packs a package as `npm pack` does: everything in a folder `package`.
fn packed(parts: &Parts, name: String, manifest: &Value, mut entries: Vec<Entry>) -> Result<Entry> {
    entries.push(Entry::file(MANIFEST, format!("{manifest:#}\n")));
    for entry in &mut entries {
        entry.path = format!("package/{}", entry.path);
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Entry::file(name, pack::tar_gz(&entries, parts.stamp)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample::{self, VERSION};

    fn read(made: &Entry) -> (Vec<Entry>, Value) {
        let entries = sample::untar(&made.bytes);
        let manifest = serde_json::from_str(&sample::text(&entries, "package/package.json")).unwrap();
        (entries, manifest)
    }

    #[test]
    fn the_package_of_a_platform_has_the_program_and_says_where_it_runs() {
        let made = make(&sample::parts()).unwrap();
        assert_eq!(made[0].path, format!("mnemal-cli-linux-x64-{VERSION}.tgz"));
        let (entries, manifest) = read(&made[0]);
        let program = sample::file(&entries, "package/bin/mnemal");
        assert_eq!((program.mode, &program.bytes), (0o755, &sample::parts().program));
        assert_eq!(manifest["name"], "@mnemal/cli-linux-x64");
        assert_eq!(
            json!([manifest["os"], manifest["cpu"], manifest["libc"]]),
            json!([["linux"], ["x64"], ["glibc"]])
        );
        sample::file(&entries, "package/THIRD-PARTY.txt");
    }

    #[test]
    fn the_package_that_people_install_starts_the_one_of_their_platform() {
        let made = make(&sample::parts()).unwrap();
        assert_eq!(made[1].path, format!("mnemal-{VERSION}.tgz"));
        let (entries, manifest) = read(&made[1]);
        let launcher = sample::text(&entries, "package/launcher.js");
        assert!(launcher.starts_with("#!/usr/bin/env node\n") && launcher.contains("@mnemal/cli-"));
        assert_eq!(manifest["bin"], json!({"mnemal": "launcher.js"}));
        assert_eq!(manifest["mcpName"], SERVER);
        assert_eq!(manifest["optionalDependencies"]["@mnemal/cli-linux-x64"], VERSION);
        assert_eq!(sample::file(&entries, "package/launcher.js").mode, 0o755);
        sample::file(&entries, "package/LICENSE-MIT");
        assert!(entries.iter().all(|entry| !entry.path.contains("THIRD-PARTY")), "it has no code of others");
    }

    #[test]
    fn two_packages_of_one_program_are_the_same() {
        assert_eq!(make(&sample::parts()).unwrap(), make(&sample::parts()).unwrap());
    }
}
