//! The route of Claude's memory tool.

use mnemal_core::ChannelId;

use crate::http::call::{CHANNEL, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::memory_tool::{self, MemoryToolCommand, MemoryToolOutput};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::post(
        "memory_tool",
        "/v1/spaces/{space}/memory-tool",
        "Carries out one command of the memory tool that models are trained with.",
        (of::<MemoryToolCommand>, of::<MemoryToolOutput>, |call| Box::pin(run(call))),
    )]
}

async fn run(call: Call) -> Result<Reply, Problem> {
    let command: MemoryToolCommand = call.body()?;
    let memory = call.memory_or_new().await?;
    Reply::ok(&memory_tool::run(&memory, &ChannelId::new(CHANNEL)?, &command).await?)
}
