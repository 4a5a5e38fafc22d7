//! `mnemal doctor`.

mod database;
mod embedding;
mod machine;
mod model;

use std::time::Duration;

use anyhow::Result;
use mnemal::dream::DreamMode;
use mnemal::graph::Difference;
use mnemal::recall::RecallMode;
use mnemal::types::{GapCause, OwnerId, Status};
use mnemal::{Gap, Memory};
use serde::Serialize;

use crate::args::{Doctor, Global};
use crate::failure;
use crate::output::Output;
use crate::paths::{self, SpacePaths};
use crate::storage::Storage;

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    result: &'static str,
    #[serde(rename = "finding")]
    text: String,
}

/// The possible results of a check.
pub(super) const OK: &str = "ok";
pub(super) const WARN: &str = "warn";
pub(super) const FAIL: &str = "FAIL";

fn finding(check: &'static str, result: &'static str, text: impl Into<String>) -> Finding {
    Finding { check, result, text: text.into() }
}

/// Runs every check; a failed one gives exit code 1, and with `--strict` a warning gives 6.
pub(super) async fn run(global: &Global, call: &Doctor, output: &Output) -> Result<u8> {
    let place = SpacePaths::find(global)?;
    let mut findings = vec![settings(global), model::reader(global)];
    match super::open_one(global, output).await {
        Ok(memory) => {
            findings.push(finding("open", OK, place.storage.to_string()));
            findings.push(permissions(&place));
            match &place.storage {
                Storage::File(file) => {
                    findings.extend([machine::file_system(file), machine::copies(file)]);
                }
                Storage::Database(address) => findings.extend(database::findings(address).await),
            }
            if call.fix {
                findings.push(mended(&memory).await);
            }
            findings.push(bytes(&memory).await);
            findings.push(layers(&memory).await);
            findings.push(graph(&memory).await);
            findings.push(embedding::vectors(&memory, global).await);
            findings.push(model::model(&memory, global).await);
            findings.push(probe(&memory).await);
            findings.extend(quality(&memory, &place).await);
            if let Some(text) = &call.prove_erased {
                findings.push(erased(&memory, text).await);
            }
        }
        Err(error) => findings.push(finding("open", FAIL, format!("{error:#}"))),
    }
    let failed = findings.iter().any(|one| one.result == FAIL);
    output.list(&findings, &findings, || {
        let line = |one: &Finding| format!("{:<4}  {:<16}  {}", one.result, one.check, one.text);
        findings.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    let warned = findings.iter().any(|one| one.result == WARN);
    Ok(if !failed && warned && global.strict { failure::GAPS } else { u8::from(failed) })
}

/// Measures the quality of the space's content.
async fn quality(memory: &Memory, place: &SpacePaths) -> Vec<Finding> {
    match super::check::measures(memory, place).await {
        Ok(measures) => measures.iter().map(|one| finding(one.name, one.result, one.says())).collect(),
        Err(error) => vec![finding("quality", FAIL, error.to_string())],
    }
}

fn settings(global: &Global) -> Finding {
    let path = paths::configuration(global).map(|path| path.display().to_string()).unwrap_or_default();
    let read = || anyhow::Ok((crate::config::read(global)?, crate::config::without_effect(global)?));
    match read() {
        Ok((settings, without_effect)) => {
            let lists = settings.dream.malformed();
            let unread = lists.iter().map(|list| format!("{list} cannot be read and does nothing"));
            let others = without_effect.iter().map(|key| format!("{key} has no effect here"));
            let wrong: Vec<String> = unread.chain(others).collect();
            if wrong.is_empty() {
                finding("settings", OK, path)
            } else {
                finding("settings", WARN, wrong.join("; "))
            }
        }
        Err(error) => finding("settings", FAIL, format!("{error:#}")),
    }
}

#[cfg(unix)]
fn permissions(place: &SpacePaths) -> Finding {
    use std::os::unix::fs::PermissionsExt as _;
    let open: Vec<String> = place
        .storage
        .file()
        .into_iter()
        .chain([place.key.as_path()])
        .filter_map(|path| Some((path, path.metadata().ok()?.permissions().mode() & 0o777)))
        .filter(|(_, mode)| mode & 0o077 != 0)
        .map(|(path, mode)| format!("{} has mode {mode:o}; run chmod 600", path.display()))
        .collect();
    let well = open.is_empty();
    finding(
        "permissions",
        if well { OK } else { FAIL },
        if well { "only you can read the files".to_owned() } else { open.join("; ") },
    )
}

#[cfg(not(unix))]
fn permissions(_place: &SpacePaths) -> Finding {
    finding("permissions", OK, "not checked on this system")
}

async fn bytes(memory: &Memory) -> Finding {
    match memory.admin().engine().check().await {
        Ok(found) if found.findings.is_empty() => finding(
            "integrity",
            OK,
            format!("{} events and {} index rows match", found.events, found.index_rows),
        ),
        Ok(found) => finding(
            "integrity",
            FAIL,
            format!("{}; run `mnemal recover`, or restore a backup", found.findings.join("; ")),
        ),
        Err(error) => finding("integrity", FAIL, error.to_string()),
    }
}

/// Time limit for lagging layers. Source: own default; the remaining lag is folded on demand.
const CATCHING_UP: Duration = Duration::from_mins(10);

/// Maximum number of consolidation cycles. Source: own choice; each at least halves the backlog.
const MOST_CYCLES: usize = 50;

/// Applies the safe repairs: rebuilds damaged parts of the index, folds lagging layers, merges duplicate notes.
async fn mended(memory: &Memory) -> Finding {
    match mend(memory).await {
        Ok(done) if done.is_empty() => finding("fix", OK, "nothing had to be mended"),
        Ok(done) => finding("fix", OK, done.join("; ")),
        Err(error) => finding("fix", FAIL, format!("{error:#}")),
    }
}

async fn mend(memory: &Memory) -> Result<Vec<String>> {
    let mut done = Vec::new();
    let rows = memory.admin().engine().reindex_damaged().await?;
    if rows > 0 {
        done.push(format!("{rows} rows of the index were made anew"));
    }
    let left = memory.admin().engine().fold_within(CATCHING_UP).await;
    done.extend(left.iter().map(|gap| format!("not caught up: {gap}")));
    let _gaps = memory.admin().engine().refresh_summaries().await;
    let owner = OwnerId::new(format!("doctor-{}", std::process::id()))?;
    let mut folded = 0;
    // The caps of a cycle limit the damage of a wrong one, so several cycles are needed.
    for _cycle in 0..MOST_CYCLES {
        let done = memory.admin().engine().dream(&owner, DreamMode::Asked).await?.accepted().count();
        folded += done;
        if done == 0 {
            break;
        }
    }
    if folded > 0 {
        done.push(format!(
            "{folded} operations on notes; `mnemal dream log` shows them and `mnemal undo` takes them back"
        ));
    }
    Ok(done)
}

/// Checks the health of every layer; lag is no failure, because a layer catches up when it is read.
async fn layers(memory: &Memory) -> Finding {
    let health = match memory.admin().examine().await {
        Ok(health) => health,
        Err(error) => return finding("layers", FAIL, error.to_string()),
    };
    let bad = health.parts.iter().filter(|part| part.status != Status::Ok);
    let gaps = bad.filter_map(|part| Some(Gap { layer: part.layer, cause: part.cause? }));
    let gaps: Vec<Gap> = gaps.filter(|gap| gap.cause != GapCause::NotConfigured).collect();
    let worst = match gaps.iter().all(|gap| matches!(gap.cause, GapCause::Stale { .. })) {
        _ if gaps.is_empty() => return finding("layers", OK, "all answer and are up to date"),
        true => WARN,
        false => FAIL,
    };
    let said: Vec<String> = gaps.iter().map(Gap::to_string).collect();
    finding("layers", worst, said.join("; "))
}

/// Checks whether the graph matches the log.
async fn graph(memory: &Memory) -> Finding {
    let state = match memory.admin().engine().graph_state().await {
        Ok(state) => state,
        Err(error) => return finding("graph", FAIL, error.to_string()),
    };
    let mut said = Vec::new();
    if state.is_held {
        said.push(explain_difference(state.edition.difference.as_ref()));
    } else if state.is_due {
        said.push("its rows are to be made anew; `mnemal rebuild --layer graph` does it now".to_owned());
    }
    if let Some(letter) = state.dead.first() {
        let retry = "`mnemal rebuild --layer graph --dead` tries again";
        let first = format!("{}: {}", letter.event, letter.why);
        said.push(format!("{} events could not be digested, first {first}; {retry}", state.dead.len()));
    }
    if said.is_empty() {
        return finding("graph", OK, "every event was digested");
    }
    finding("graph", WARN, said.join("; "))
}

/// Explains that another extractor version gives other rows, and how to approve them.
fn explain_difference(difference: Option<&Difference>) -> String {
    let facts = difference.map(|difference| difference.facts);
    let facts = facts.map_or("otherwise".to_owned(), |of| {
        format!("{} facts more, {} less, {} otherwise", of.added, of.gone, of.changed)
    });
    format!(
        "this version reads {facts}; `mnemal rebuild --layer graph --check` lists them, without `--check` it takes them over"
    )
}

/// Sends words in three scripts through the whole recall path.
async fn probe(memory: &Memory) -> Finding {
    for words in ["weather report", "天気予報", "прогноз погоды"] {
        let answer = memory.recall(words).mode(RecallMode::Lexical).await;
        match answer {
            Ok(answer) if answer.gaps.is_empty() => {}
            Ok(answer) => {
                let gaps: Vec<String> = answer.gaps.iter().map(ToString::to_string).collect();
                return finding("recall", FAIL, gaps.join("; "));
            }
            Err(error) => return finding("recall", FAIL, error.to_string()),
        }
    }
    finding("recall", OK, "answers in Latin, CJK and Cyrillic script")
}

async fn erased(memory: &Memory, text: &str) -> Finding {
    match memory.admin().engine().search_bytes(text).await {
        Ok(places) if places.is_empty() => {
            finding("erased", OK, "the text is nowhere in the files of the space")
        }
        Ok(places) => finding("erased", FAIL, places.join("; ")),
        Err(error) => finding("erased", FAIL, error.to_string()),
    }
}
