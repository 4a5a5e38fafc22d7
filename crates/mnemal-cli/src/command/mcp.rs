//! `mnemal mcp`.

use anyhow::Result;
use mnemal_server::mcp::{Options, Profile, ToolAccess, serve_stdio};

use crate::args::{Global, Mcp, McpProfile};
use crate::output::Output;

/// Serves the space to one client on stdin and stdout until stdin ends: through the server that holds the space, if there is one,
/// else from the file.
pub(super) async fn run(global: &Global, call: &Mcp, output: &Output) -> Result<u8> {
    if profile(call) == Profile::Classic {
        tell_of_file(output);
    }
    #[cfg(unix)]
    if let Some(server) = crate::delegate::piped(global, profile(call).as_str()) {
        let memory =
            Box::pin(crate::stdio_proxy::carry(server, options(call), super::open(global, output))).await?;
        return match memory {
            Some(memory) => super::checkpoint(global, &memory, Ok(0)).await,
            None => Ok(0),
        };
    }
    let memory = super::open(global, output).await?;
    let options = if crate::config::is_on(global)? {
        options(call)
    } else {
        options(call).with_reach(ToolAccess::Nothing)
    };
    let served = serve_stdio(memory.clone(), options).await;
    super::checkpoint(global, &memory, served.map(|()| 0).map_err(Into::into)).await
}

/// Returns the options of the MCP server.
pub(super) fn options(call: &Mcp) -> Options {
    Options::default().with_profile(profile(call))
}

/// Tells what happens to the file of the official memory server, if the client's settings still name it.
fn tell_of_file(output: &Output) {
    if crate::paths::variable("MEMORY_FILE_PATH").is_some() {
        output.say(
            "MEMORY_FILE_PATH is neither read nor written: what is stored is in the space. \
             `mnemal import --format mcp-memory FILE` makes what the file holds known to recall.",
        );
    }
}

fn profile(call: &Mcp) -> Profile {
    match call.profile {
        McpProfile::Core => Profile::Core,
        McpProfile::Readonly => Profile::Readonly,
        McpProfile::Compat => Profile::Compat,
        McpProfile::Full => Profile::Full,
        McpProfile::Chatgpt => Profile::Chatgpt,
        McpProfile::Classic => Profile::Classic,
    }
}
