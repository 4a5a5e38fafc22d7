//! `mnemal mcp`.

use anyhow::Result;
use mnemal_server::mcp::{Options, Profile, serve_stdio};

use crate::args::{Global, Mcp, McpProfile};
use crate::output::Output;

/// Serves the space to one client on stdin and stdout until stdin ends.
pub(super) async fn run(global: &Global, call: &Mcp, output: &Output) -> Result<u8> {
    let memory = super::open(global, output).await?;
    let profile = match call.profile {
        McpProfile::Core => Profile::Core,
        McpProfile::Readonly => Profile::Readonly,
        McpProfile::Compat => Profile::Compat,
        McpProfile::Full => Profile::Full,
        McpProfile::Chatgpt => Profile::Chatgpt,
        McpProfile::Classic => Profile::Classic,
    };
    let served = serve_stdio(memory.clone(), Options::default().with_profile(profile)).await;
    super::settled(global, &memory, served.map(|()| 0).map_err(Into::into)).await
}
