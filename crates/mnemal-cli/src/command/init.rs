//! `mnemal init`.

use anyhow::Result;
use serde::Serialize;

use crate::args::Global;
use crate::output::Output;
use crate::paths::{self, SpacePaths};

#[derive(Serialize)]
struct InitForm {
    space: String,
    database: String,
    installation_key: String,
    configuration: String,
    created: bool,
    /// Suggested import commands for files of other programs; the files were only detected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offers: Vec<String>,
}

/// Folders in which agents keep memory files, relative to the working directory and the home directory. Source: nanobot and
/// related projects.
const KEPT: [&str; 4] = ["", "memory", ".nanobot/workspace/memory", ".nanobot/workspace/sessions"];

/// Returns the import commands for the files that exist; nothing is imported.
fn offers() -> Vec<String> {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let folders = std::env::current_dir().ok().into_iter().chain(home);
    let mut offers: Vec<String> = Vec::new();
    for folder in folders.flat_map(|folder| KEPT.map(|below| folder.join(below))) {
        let is_sessions = folder.ends_with("workspace/sessions") && folder.is_dir();
        // A memory folder is imported entirely, of any other folder only the one file.
        let is_memory = folder.ends_with("memory") && folder.join("MEMORY.md").is_file();
        let found = if is_sessions || is_memory { folder } else { folder.join("MEMORY.md") };
        let offer = format!("mnemal import {} --format memory-md --dry-run", found.display());
        if found.exists() && !offers.contains(&offer) {
            offers.push(offer);
        }
    }
    offers
}

/// Creates what is missing and prints all paths.
pub(super) async fn run(global: &Global, output: &Output) -> Result<u8> {
    let place = SpacePaths::find(global)?;
    let created = !place.exists(global).await?;
    let _memory = super::open_one(global, output).await?;
    let made = InitForm {
        space: place.space.to_string(),
        database: place.storage.to_string(),
        installation_key: place.key.display().to_string(),
        configuration: paths::configuration(global)?.display().to_string(),
        created,
        offers: offers(),
    };
    output.answer(&made, || {
        let offered = made.offers.iter().map(|offer| format!("\nfound: {offer}")).collect::<Vec<_>>().concat();
        format!(
            "space            {}{}\ndatabase         {}\ninstallation key {}\nconfiguration    {}\n\nnext: mnemal remember \"Deploys happen on Tuesdays\" --key deploy_day{offered}",
            made.space,
            if made.created { " (new)" } else { "" },
            made.database,
            made.installation_key,
            made.configuration,
        )
    })?;
    Ok(0)
}
