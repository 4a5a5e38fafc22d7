//! `mnemal health`.

use std::time::Duration;

use anyhow::Result;
use mnemal::ports::{Clock as _, SystemClock};
use mnemal_server::{ServerSettings, reachable};

use crate::args::{Global, Health};
use crate::output::Output;
use crate::{config, remote, time};

/// Interval of requests to a server that is not ready yet. Source: own default; a person does not notice it.
const AGAIN: Duration = Duration::from_millis(100);

/// Queries the named server, or that of the settings, until it is ready or the time is over.
#[expect(clippy::disallowed_methods, reason = "waits for a server, which tells nobody that it came")]
pub(super) async fn run(global: &Global, call: &Health, output: &Output) -> Result<u8> {
    let url = if let Some(url) = remote::named(global) {
        url
    } else {
        let settings: ServerSettings = config::section(global, "server")?;
        format!("http://{}", reachable(settings.listen))
    };
    let wait = call.wait.as_deref().map(time::duration_micros).transpose()?.unwrap_or_default();
    let wait = Duration::from_micros(wait.unsigned_abs());
    let clock = SystemClock::default();
    let until = clock.monotonic().saturating_add(wait);
    loop {
        match remote::is_ready(&url) {
            Err(error) if remote::may_come(&error) && clock.monotonic() < until => {
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error),
            Ok(said) if output.is_machine() => return output.print(&said).map(|()| 0),
            Ok(_) => return output.print(&format!("ready {url}")).map(|()| 0),
        }
    }
}
