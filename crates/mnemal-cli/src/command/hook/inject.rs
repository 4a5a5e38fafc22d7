//! The injected block: preferences and notes at the start of a session, and matching records for a prompt.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;
use mnemal::context::{ContextCall, Section};
use mnemal::types::{GapCause, InstallationKey, Layer};
use mnemal::{Engine, EventFilter, Gap, ImportFormat, LearningFilter, Memory, Scope};

use super::input::{Input, Start};
use super::offer;
use super::reply::Reply;
use super::settings::HookSettings;
use crate::args::Global;
use crate::host::{Capture, Hooks};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::{command, config};

/// Lines of earlier conversations at the start: the end of the last one. Source: own choice; one exchange.
const RECENT_LINES: usize = 2;
/// Minimum number of lines that must fit in an injected text, so that one long line does not displace the others. Source: own
/// choice.
const ROOM_FOR: u32 = 4;

/// Time limit for loading the index before a prompt is answered. Source: half of the 800 ms that the client waits; some 300,000
/// events.
const LOADING: Duration = Duration::from_millis(400);

/// Answers the start of a session: identity, preferences, pinned records, and the end of the last conversation.
pub(super) async fn at_start(
    global: &Global,
    input: &Input,
    settings: &HookSettings,
    hooks: &Hooks,
) -> Result<Reply> {
    let memory = present(global).await?;
    let is_empty = match &memory {
        Some(memory) if SpacePaths::find_several(global)?.exists(global).await? => {
            memory.events().latest(&EventFilter::all(), NonZeroUsize::MIN).await?.is_empty()
        }
        _ => true,
    };
    // Only Claude Code keeps the transcripts of a project in one folder.
    let can_offer = hooks.capture == Capture::Transcript(ImportFormat::ClaudeCode);
    let offer =
        if can_offer && is_empty && input.start == Start::Startup { offer::of_import(input) } else { None };
    let Some(memory) = memory else { return Ok(Reply::default().telling(offer)) };
    let told = match offer {
        None if input.start == Start::Startup => waiting(&memory).await,
        offer => offer,
    };
    if let Some(session) =
        input.session.as_ref().filter(|_| matches!(input.start, Start::Clear | Start::Compact))
    {
        memory.admin().clear_shown(session).await?;
    }
    let mut sections = vec![Section::Identity, Section::Preferences, Section::Knowledge];
    // A resumed conversation has received these lines already; repeating would go further back each time.
    if input.start != Start::Resume {
        sections.push(Section::Recent);
    }
    let call = memory.context("").sections(sections).lines(RECENT_LINES);
    let block = shaped(call, input, settings).await?;
    Ok(Reply::injecting(block).telling(told))
}

/// Says to the person how many memories wait for a review. Nothing is said where none does, or where they cannot be read: then
/// the health of the layer says so.
async fn waiting(memory: &Memory) -> Option<String> {
    let count = memory.preferences().to_review(&LearningFilter::all()).await.ok()?.len();
    let what = if count == 1 { "memory waits" } else { "memories wait" };
    (count > 0).then(|| {
        format!("mnemal: {count} {what} for your review: `mnemal ui`, or `mnemal memory list --waiting`")
    })
}

/// Answers a prompt with matching turns and notes of other sessions; usually with nothing.
pub(super) async fn at_prompt(global: &Global, input: &Input, settings: &HookSettings) -> Result<Reply> {
    if !mnemal::recall::asks_something(&input.prompt) {
        return Ok(Reply::default());
    }
    let Some(memory) = present(global).await? else { return Ok(Reply::default()) };
    // In a larger space the answer covers the newest events only; a hook has no one to report that to.
    let _part = tokio::time::timeout(LOADING, memory.admin().engine().load()).await;
    let call = memory.context(&input.prompt).sections(vec![Section::Recall]).lines(settings.recall_items);
    Ok(Reply::injecting(shaped(call, input, settings).await?))
}

async fn shaped(call: ContextCall, input: &Input, settings: &HookSettings) -> Result<String> {
    let tokens = settings.recall_tokens;
    let mut call = call.budget(tokens).line_tokens(tokens / ROOM_FOR);
    if let Some(session) = &input.session {
        call = call.session(session.clone()).skip_injected();
    }
    let context = call.await?;
    // A graph that lags by the newest turns is no failure: lexical recall finds those turns.
    let is_behind = |gap: &Gap| gap.layer == Layer::Graph && matches!(gap.cause, GapCause::Stale { .. });
    let mut gaps = context.gaps.iter().filter(|gap| !is_behind(gap));
    let failed = gaps.find(|gap| gap.cause != GapCause::NotConfigured);
    // A failed layer is logged, so that it does not look like an empty result; the rest is injected nevertheless.
    if let Some(gap) = failed.filter(|_| context.text.is_empty()) {
        anyhow::bail!("gap: {gap}");
    }
    Ok(context.value.text)
}

/// Opens the space with its secondary spaces, if it exists: a read does not create it.
async fn present(global: &Global) -> Result<Option<Memory>> {
    let output = Output::new(global);
    let place = SpacePaths::find_several(global)?;
    if place.exists(global).await? {
        return Ok(Some(command::open(global, &output).await?));
    }
    if place.data.is_none() {
        return Ok(None);
    }
    let mut builder = Engine::builder().with_settings(config::read(global)?);
    if let Some(key) = std::fs::read(&place.key).ok().and_then(|bytes| bytes.try_into().ok()) {
        builder = builder.with_key(InstallationKey::new(key));
    }
    let nothing = builder.in_memory()?.memory(Scope::whole(place.space));
    let memory = command::spaces(global).await?.beside(&nothing, &place.others).await?;
    let reads_any = memory.admin().secondary().next().is_some();
    Ok(reads_any.then_some(memory))
}
