//! mnemal as a peer: a space on disk, filled by an import and asked through recall.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use mnemal::recall::RecallMode;
use mnemal::types::{Degraded, GapCause, InstallationKey};
use mnemal::{Engine, Gap, Hit, ImportFormat, Memory, RecallResult, Scope, Settings, SpaceId, Within};

use super::outcome::{AnswerReport, BuildReport, MemoryUse, Nanos};
use super::peer_input::{CORPUS, Line};
use super::{Layout, TOP};
use crate::cpu::{Cost, Watch, peak_bytes, resident_bytes};
use crate::neutral::{Row, Turn, lines};
use crate::spaces::{is_behind, own_history};

/// Ids of imported events follow from the key; this is the one of `bench recall`, so that ties fall the same way.
const KEY: [u8; 32] = [0x5a; 32];
/// Most time for one part, in milliseconds; nothing may be cut off on a busy machine.
const PART_DEADLINE_MS: u64 = 60_000;
/// Questions of each conversation that are asked before the ones that count. Source: that of `bench latency`.
const WARM_UP: usize = 10;
/// The name of the one store that is not of one conversation.
const ALL: &str = "all";

/// Is the peer: `build HANDED STORE LAYOUT OUT` or `ask HANDED STORE LAYOUT OUT`.
///
/// # Errors
/// Other arguments; an import or a recall that is not whole.
pub async fn act(arguments: &[String]) -> Result<()> {
    let [phase, handed, store, layout, out] = arguments else { bail!("five arguments are needed") };
    let layout = Layout::of(layout).with_context(|| format!("no layout {layout}"))?;
    let (handed, store): (&Path, &Path) = (handed.as_ref(), store.as_ref());
    let said = match phase.as_str() {
        "build" => serde_json::to_vec(&build(handed, store, layout).await?)?,
        "ask" => serde_json::to_vec(&ask(handed, store, layout).await?)?,
        other => bail!("no phase {other}"),
    };
    std::fs::write(out, said).with_context(|| format!("cannot write {out}"))
}

/// Imports the corpus as it is: reading, rules, analysis and vectors are part of what is measured.
async fn build(handed: &Path, store: &Path, layout: Layout) -> Result<BuildReport> {
    let corpus = handed.join(CORPUS);
    let turns: Vec<Turn> = lines(&corpus)?;
    let events = turns.len();
    let stores: BTreeSet<String> =
        turns.into_iter().map(|turn| store_of(layout, &turn.conv).to_owned()).collect();
    std::fs::create_dir_all(store)?;
    let watch = Watch::start()?;
    let mut taken = 0;
    for name in &stores {
        let (engine, memory) = open(store, name).await?;
        let within = if layout == Layout::Apart { Within::Only(name.clone()) } else { Within::All };
        let file = BufReader::new(File::open(&corpus)?);
        let report =
            memory.events().import(file, ImportFormat::Neutral, own_history(within), &mut |_| {}).await?;
        ensure!(report.gaps.iter().all(is_behind), "the import lacks something: {:?}", report.gaps);
        taken += report.taken.stored;
        engine.close().await?;
    }
    let cost = Nanos::of(watch.stop()?);
    ensure!(taken == events as u64, "imported {taken} of {events}");
    Ok(BuildReport { version: version(), events, cpu: cost.cpu, wall: cost.wall })
}

/// Asks every question once, after a few of each conversation that do not count.
async fn ask(handed: &Path, store: &Path, layout: Layout) -> Result<AnswerReport> {
    let bare = resident_bytes()?;
    let questions: Vec<Line> = lines(&handed.join("questions.jsonl"))?;
    let mut spaces: HashMap<String, (Engine, Memory)> = HashMap::new();
    for question in &questions {
        let name = store_of(layout, &question.conv);
        if !spaces.contains_key(name) {
            spaces.insert(name.to_owned(), open(store, name).await?);
        }
    }
    let of = |question: &Line| spaces.get(store_of(layout, &question.conv)).context("a space was not opened");
    let mut asked: HashMap<&str, usize> = HashMap::new();
    for question in &questions {
        let count = asked.entry(&question.conv).or_default();
        *count += 1;
        if *count <= WARM_UP {
            drop(answer(&of(question)?.1, question).await?);
        }
    }
    let mut said = AnswerReport { version: version(), ..AnswerReport::default() };
    for question in &questions {
        let (cost, found) = answer(&of(question)?.1, question).await?;
        said.stale += usize::from(!found.gaps.is_empty());
        said.costs.push(Nanos::of(cost));
        let source = |hit: &Hit| Some(hit.event.body()?.metadata.get("source_id")?.clone());
        let ranked = found.hits.iter().filter_map(source).collect();
        said.rows.push(Row { id: question.id.clone(), ranked });
    }
    said.memory = MemoryUse { bare, resident: resident_bytes()?, peak: peak_bytes()? };
    Ok(said)
}

async fn answer(memory: &Memory, question: &Line) -> Result<(Cost, Degraded<RecallResult>)> {
    let watch = Watch::start()?;
    let found = memory.recall(&question.text).limit(TOP).mode(RecallMode::Auto).await?;
    let cost = watch.stop()?;
    let is_stale = |gap: &Gap| matches!(gap.cause, GapCause::Stale { .. });
    ensure!(found.gaps.iter().all(is_stale), "question {}: an arm lacks: {:?}", question.id, found.gaps);
    Ok((cost, found))
}

async fn open(store: &Path, name: &str) -> Result<(Engine, Memory)> {
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PART_DEADLINE_MS;
    let builder = Engine::builder().with_key(InstallationKey::new(KEY)).with_settings(settings);
    let engine = builder.open(store.join(file_name(name))).await?;
    let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
    Ok((engine, memory))
}

fn store_of(layout: Layout, conv: &str) -> &str {
    if layout == Layout::Apart { conv } else { ALL }
}

/// Returns a name that any file may have.
fn file_name(name: &str) -> String {
    let digits = name.bytes().map(|byte| format!("{byte:02x}"));
    format!("{}.db", digits.collect::<String>())
}

fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::peers::PeerInput;

    #[tokio::test]
    async fn what_is_built_is_found_by_another_open() {
        let folder = tempfile::tempdir().unwrap();
        let handed = PeerInput::made("made", 200, 12, folder.path().join("handed")).await.unwrap();
        let (store, out) = (folder.path().join("store"), folder.path().join("out.json"));
        let run = async |phase: &str| {
            let arguments = [phase.as_ref(), handed.folder.as_path(), &store, Path::new("pooled"), &out]
                .map(|a| a.display().to_string());
            act(&arguments).await.unwrap();
            std::fs::read(&out).unwrap()
        };
        let built: BuildReport = serde_json::from_slice(&run("build").await).unwrap();
        assert_eq!(built.events, 200);
        let asked: AnswerReport = serde_json::from_slice(&run("ask").await).unwrap();
        assert_eq!((asked.costs.len(), asked.rows.len()), (12, 12));
        assert!(asked.rows.iter().all(|row| row.ranked.len() == TOP), "{:?}", asked.rows);
        assert!(asked.memory.resident >= asked.memory.bare && asked.costs.iter().all(|cost| cost.cpu > 0));
    }

    #[tokio::test]
    async fn other_arguments_are_refused() {
        let of = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(act(&of(&["build"])).await.is_err());
        let error = act(&of(&["build", "a", "b", "sideways", "c"])).await.unwrap_err().to_string();
        assert_eq!(error, "no layout sideways");
    }
}
