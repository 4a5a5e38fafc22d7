//! Bundle for clients of the Model Context Protocol that install servers by a click, with the program in it.

use anyhow::Result;
use serde_json::{Value, json};

use super::pack::{self, Entry};
use super::parts::{LICENSE, NAME, Parts, REPOSITORY, SUMMARY};

/// The version of the manifest. Source: the specification of MCPB; 0.4 adds a kind of server for Python alone.
const MANIFEST: &str = "0.3";

/// Makes the bundle.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let mut entries = vec![
        Entry::file("manifest.json", format!("{:#}\n", manifest(parts))),
        parts.program("server/"),
        Entry::file("README.md", parts.source("README.md")?),
    ];
    entries.extend(parts.licenses("")?);
    Ok(vec![Entry::file(name(parts), pack::zip(&entries, parts.stamp)?)])
}

/// Returns the name of the bundle.
pub(super) fn name(parts: &Parts) -> String {
    let (system, processor) = parts.target.node();
    format!("{NAME}-{}-{system}-{processor}.mcpb", parts.version)
}

fn manifest(parts: &Parts) -> Value {
    let program = format!("server/{}", parts.target.file());
    json!({
        "manifest_version": MANIFEST,
        "name": NAME,
        "display_name": NAME,
        "version": parts.version,
        "description": SUMMARY,
        "long_description": "Your agents remember across conversations: what you said, what you prefer, what was decided. \
            Everything stays in one file on this machine, nothing is sent anywhere, and every line of a context names \
            the words that it comes from.",
        "author": {"name": "The mnemal authors", "url": REPOSITORY},
        "repository": {"type": "git", "url": format!("{REPOSITORY}.git")},
        "homepage": REPOSITORY,
        "documentation": format!("{REPOSITORY}/blob/main/docs/guide/src/mcp.md"),
        "support": format!("{REPOSITORY}/issues"),
        "license": LICENSE,
        "keywords": ["memory", "recall", "offline"],
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": {
                "command": format!("${{__dirname}}/{program}"),
                "args": ["--space", "${user_config.space}", "mcp"],
                "env": {},
            },
        },
        // The tools are told when the server is asked.
        "tools_generated": true,
        "prompts_generated": true,
        "compatibility": {"platforms": [parts.target.node().0]},
        "user_config": {
            "space": {
                "type": "string",
                "title": "Space",
                "description": "The name of the memory that is used",
                "default": "default",
                "required": false,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample::{self, VERSION};

    #[test]
    fn the_bundle_has_the_program_that_its_manifest_starts() {
        let made = make(&sample::parts()).unwrap().remove(0);
        assert_eq!(made.path, format!("mnemal-{VERSION}-linux-x64.mcpb"));
        let entries = sample::unzip(&made.bytes);
        assert_eq!(entries[0].path, "manifest.json");
        let manifest: Value = serde_json::from_slice(&entries[0].bytes).unwrap();
        for required in ["manifest_version", "name", "version", "description", "author", "server"] {
            assert!(!manifest[required].is_null(), "{required}");
        }
        assert_eq!(manifest["server"]["type"], "binary");
        let entry = manifest["server"]["entry_point"].as_str().unwrap();
        assert_eq!(sample::file(&entries, entry).mode, 0o755);
        assert_eq!(manifest["server"]["mcp_config"]["command"], format!("${{__dirname}}/{entry}"));
        assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    }
}
