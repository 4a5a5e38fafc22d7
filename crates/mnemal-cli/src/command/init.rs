//! `mnemal init`.

use anyhow::Result;
use serde::Serialize;

use crate::args::Global;
use crate::output::Output;
use crate::place::{self, Place};

#[derive(Serialize)]
struct Made {
    space: String,
    database: String,
    installation_key: String,
    configuration: String,
    created: bool,
}

/// Makes what is missing and says where everything is.
pub(super) async fn run(global: &Global, output: &Output) -> Result<u8> {
    let place = Place::find(global)?;
    let created = !place.file.exists();
    let _memory = super::open_one(global, output).await?;
    let made = Made {
        space: place.space.to_string(),
        database: place.file.display().to_string(),
        installation_key: place.key.display().to_string(),
        configuration: place::configuration(global)?.display().to_string(),
        created,
    };
    output.answer(&made, || {
        format!(
            "space            {}{}\ndatabase         {}\ninstallation key {}\nconfiguration    {}\n\nnext: mnemal remember \"Deploys happen on Tuesdays\" --key deploy_day",
            made.space,
            if made.created { " (new)" } else { "" },
            made.database,
            made.installation_key,
            made.configuration,
        )
    })?;
    Ok(0)
}
