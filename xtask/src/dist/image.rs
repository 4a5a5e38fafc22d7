//! Folder from which the container image is built, with the files for compose beside it.

use anyhow::Result;

use super::pack::Entry;
use super::parts::Parts;

/// Where the image is described.
const SOURCE: &str = "packaging/docker";
/// The folder that is made.
const FOLDER: &str = "image";

/// Makes the folder; programs of several processors lie beside each other in it. The image is for Linux alone.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    if !parts.is_for_linux() {
        return Ok(Vec::new());
    }
    let mut entries = vec![parts.program(&format!("{FOLDER}/linux/{}/", parts.target.debian()))];
    for name in ["Dockerfile", "compose.yml", "compose.ollama.yml"] {
        entries.push(Entry::file(format!("{FOLDER}/{name}"), parts.source(&format!("{SOURCE}/{name}"))?));
    }
    entries.push(Entry::file(format!("{FOLDER}/data/.keep"), ""));
    entries.extend(parts.licenses(&format!("{FOLDER}/"))?);
    Ok(entries)
}

/// Returns what a Dockerfile copies from its folder on a platform.
pub(super) fn copied(dockerfile: &str, platform: &str) -> Vec<String> {
    let lines = dockerfile.lines().filter_map(|line| line.strip_prefix("COPY "));
    let mut sources = Vec::new();
    for line in lines.filter(|line| !line.contains("--from=")) {
        let mut words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with("--")).collect();
        let _target = words.pop();
        sources.extend(words.iter().map(|word| word.replace("${TARGETPLATFORM}", platform)));
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn everything_that_the_image_copies_is_in_the_folder() {
        let made = make(&sample::parts()).unwrap();
        let sources = copied(&sample::text(&made, "image/Dockerfile"), "linux/amd64");
        assert!(sources.len() > 3 && sources.contains(&"linux/amd64/mnemal".to_owned()), "{sources:?}");
        for source in sources {
            let path = format!("image/{source}");
            let is_there =
                made.iter().any(|entry| entry.path == path || entry.path.starts_with(&format!("{path}/")));
            assert!(is_there, "{path}");
        }
    }

    #[test]
    fn the_image_runs_without_rights_and_looks_after_itself() {
        let made = make(&sample::parts()).unwrap();
        let dockerfile = sample::text(&made, "image/Dockerfile");
        for line in ["USER 65532:65532", "VOLUME /data", "CMD [\"serve\"]"] {
            assert!(dockerfile.lines().any(|found| found == line), "{line}");
        }
        assert!(dockerfile.contains("HEALTHCHECK") && dockerfile.contains(super::super::parts::SERVER));
    }
}
