//! mnemal against other stores: the same texts, vectors and questions, scored by the same code.
//!
//! A peer is a program with two phases, each a process of its own: `build` fills a store, `ask` answers every question.
//! mnemal is one of them. `benches/peers/README.md` describes the input and output of a peer.

mod install;
mod outcome;
mod own;
mod peer_input;
mod process;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::neutral::{DataSet, Question, Row};
use crate::plain::{Line, Ranked};
use crate::score::score;

pub use outcome::{Outcome, PeerMeasurement, Report, table};
pub use own::act;
pub use peer_input::PeerInput;
pub use process::Program;

use outcome::{AnswerReport, BuildReport};
use process::{Work, disk_bytes};

/// Texts that are ranked for a question, by every peer.
pub const TOP: usize = 10;

/// A store that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name in `--peer` and in the report.
    pub name: &'static str,
    /// Its program in `benches/peers`; `None` for mnemal, which this program is.
    script: Option<&'static str>,
    /// The list of its packages beside the program; `None` when the interpreter brings everything.
    packages: Option<&'static str>,
    /// How it is asked about one conversation of several.
    within: &'static [Layout],
}

/// How conversations are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A store of its own for each.
    Apart,
    /// One store, narrowed to the conversation by each question.
    Filtered,
    /// One store, and every question is asked of all of it.
    Pooled,
}

impl Layout {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Filtered => "filtered",
            Self::Pooled => "pooled",
        }
    }

    /// Returns the layout of a word.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Apart, Self::Filtered, Self::Pooled].into_iter().find(|layout| layout.name() == name)
    }
}

const BOTH: &[Layout] = &[Layout::Apart, Layout::Filtered];

/// Every peer; the first is mnemal, whose row every comparison has.
pub const PEERS: [Peer; 7] = [
    Peer { name: "mnemal", script: None, packages: None, within: &[Layout::Apart] },
    Peer { name: "fts5", script: Some("fts5.py"), packages: None, within: BOTH },
    Peer { name: "fts5-porter", script: Some("fts5_porter.py"), packages: None, within: BOTH },
    Peer { name: "lancedb", script: Some("lancedb_hybrid.py"), packages: Some("lancedb.txt"), within: BOTH },
    Peer { name: "chroma", script: Some("chroma.py"), packages: Some("chroma.txt"), within: BOTH },
    Peer {
        name: "langgraph",
        script: Some("langgraph_store.py"),
        packages: Some("langgraph.txt"),
        within: BOTH,
    },
    Peer { name: "mem0", script: Some("mem0_store.py"), packages: Some("mem0.txt"), within: BOTH },
];

/// Folders of programs and of results.
#[derive(Clone, Debug)]
pub struct Bench {
    scripts: PathBuf,
    home: PathBuf,
    top: usize,
}

impl Default for Bench {
    /// The folders of this project: programs in `benches/peers`, everything that is made in `target/peers`.
    fn default() -> Self {
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = benches.parent().unwrap_or(benches);
        Self { scripts: benches.join("peers"), home: root.join("target/peers"), top: TOP }
    }
}

impl Bench {
    /// Lets peers that are not mnemal rank so many texts for a question.
    #[must_use]
    pub fn with_top(self, top: usize) -> Self {
        Self { top, ..self }
    }

    /// Returns a peer's ranking for each question, with one store per conversation: of what was said before its moment.
    ///
    /// The peer knows all texts; later ones are removed from its ranking.
    ///
    /// # Errors
    /// A failing peer, or a text that cannot be distinguished from the others.
    pub fn ranked(&self, peer: &Peer, handed: &PeerInput, data: &DataSet) -> Result<Vec<Ranked>> {
        let program = self.program(peer)?;
        let place = self.home.join("stores").join(format!("{}-{}-deep", handed.name, peer.name));
        let work = Work { handed, layout: Layout::Apart, place, top: self.top };
        let rows = measure(&program, &work, None)?.asked.rows;
        let texts: HashMap<String, String> = handed.texts()?;
        let questions: HashMap<&str, &Question> =
            data.questions.iter().map(|question| (question.id.as_str(), question)).collect();
        let row = |row: Row| {
            let question = questions.get(row.id.as_str()).context("an unknown question")?;
            let known = |id: String| {
                let turn = data.turns.get(&id).filter(|turn| !question.is_later(turn))?;
                let text = texts.get(&id)?;
                let said =
                    text.split_once(&format!("{}: ", turn.speaker)).map_or(text.as_str(), |(_, said)| said);
                Some((id, Line::of(&turn.speaker, said)))
            };
            Ok(Ranked { id: row.id.clone(), turns: row.ranked.into_iter().filter_map(known).collect() })
        };
        rows.into_iter().map(row).collect()
    }

    /// Returns the input folder with this name.
    pub fn folder(&self, set: &str) -> PathBuf {
        self.home.join("handed").join(set)
    }

    /// Installs the dependencies of a peer, unless they are there, and returns its command line.
    ///
    /// # Errors
    /// An interpreter that is missing; packages that cannot be installed in time.
    pub fn program(&self, peer: &Peer) -> Result<Program> {
        let Some(script) = peer.script else { return Program::own() };
        let python = match peer.packages {
            None => PathBuf::from("python3"),
            Some(packages) => {
                let packages = self.scripts.join(packages);
                install::interpreter(&self.home, peer.name, &packages)?
            }
        };
        Ok(Program::python(python, self.scripts.join(script), self.home.join("home")))
    }

    /// Measures a peer on its input: per conversation if there are several, and pooled.
    ///
    /// What fails is an outcome that says so. `data` scores the answers; made conversations have none.
    pub fn outcomes(
        &self,
        peer: &Peer,
        program: &Result<Program>,
        handed: &PeerInput,
        data: Option<&DataSet>,
    ) -> Vec<Outcome> {
        let within = if data.is_some() { peer.within } else { &[] };
        let layouts = within.iter().chain(&[Layout::Pooled]);
        let outcome = |layout: &Layout| {
            let place = format!("{}-{}-{}", handed.name, peer.name, layout.name());
            let work =
                Work { handed, layout: *layout, place: self.home.join("stores").join(place), top: self.top };
            let measured = match program {
                Ok(program) => measure(program, &work, data).map_err(|error| format!("{error:#}")),
                Err(error) => Err(format!("not installed: {error:#}")),
            };
            Outcome { peer: peer.name, set: handed.name.clone(), layout: *layout, measured }
        };
        layouts.map(outcome).collect()
    }
}

/// Builds a store, asks it, scores its answers, and removes it.
fn measure(program: &Program, work: &Work<'_>, data: Option<&DataSet>) -> Result<PeerMeasurement> {
    let Work { handed, place, .. } = work;
    if place.exists() {
        std::fs::remove_dir_all(place)?;
    }
    std::fs::create_dir_all(place)?;
    let built: BuildReport = program.run("build", work)?;
    ensure!(built.events == handed.events, "took in {} of {}", built.events, handed.events);
    let disk = disk_bytes(&work.store())?;
    let asked: AnswerReport = program.run("ask", work)?;
    let questions = asked.costs.len();
    ensure!(questions == handed.questions, "answered {questions} of {} questions", handed.questions);
    let report = data.map(|data| score(data, &asked.rows, "category"));
    std::fs::remove_dir_all(place).context("cannot remove a store")?;
    Ok(PeerMeasurement { built, asked, disk, report })
}
