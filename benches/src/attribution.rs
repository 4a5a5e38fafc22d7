//! Attribution: statements of other people in wrappers, and the same statements as plain turns.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::Builder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::count::{Count, Table};
use crate::learned::{self, Item};
use crate::neutral::lines;
use crate::spaces;

/// Placeholder of the statement in a wrapper.
const HOLE: &str = "{s}";
/// The conversation of a turn.
const SESSION: &str = "s1";

/// Which part of the material: rules are written against one half, and judged by the other.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// The half whose failures are shown.
    Dev,
    /// The half that is set aside.
    Held,
}

impl Half {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Dev, Self::Held];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Held => "held",
        }
    }

    /// Reads a name of the command line.
    ///
    /// # Errors
    /// A name that is not one of both.
    pub fn parse(name: &str) -> Result<Self, String> {
        let half = Self::ALL.into_iter().find(|half| half.as_str() == name);
        half.ok_or_else(|| format!("no half {name:?}; there are dev and held"))
    }
}

/// A first-person statement or wish.
#[derive(Clone, Debug, Deserialize)]
pub struct Statement {
    /// Its id.
    pub id: String,
    /// The language.
    pub lang: String,
    /// The half.
    pub half: Half,
    /// Its subject.
    pub kind: String,
    /// The words.
    pub text: String,
    /// Strings of which one occurs in whatever is learned from it.
    pub keys: Vec<String>,
}

/// A text with a hole for a statement.
#[derive(Clone, Debug, Deserialize)]
pub struct Wrapper {
    /// Its id.
    pub id: String,
    /// The language.
    pub lang: String,
    /// The half; a frame of plain turns has none.
    pub half: Option<Half>,
    /// What kind of text it is.
    pub kind: String,
    /// The words.
    pub text: String,
}

/// The material.
#[derive(Clone, Debug)]
pub struct Material {
    /// Statements.
    pub statements: Vec<Statement>,
    /// Texts in which a statement is someone else's.
    pub wrappers: Vec<Wrapper>,
    /// Texts in which a statement is the user's own.
    pub frames: Vec<Wrapper>,
    /// The plain turns of which the build before learned, by name.
    pub baseline: BTreeSet<String>,
}

impl Material {
    /// Reads a folder.
    ///
    /// # Errors
    /// A file that is missing or broken; without `baseline.json` every plain turn counts.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join("baseline.json");
        let baseline = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).with_context(|| file.display().to_string())?,
            Err(_) => BTreeSet::new(),
        };
        Ok(Self {
            statements: lines(&folder.join("statements.jsonl"))?,
            wrappers: lines(&folder.join("wrappers.jsonl"))?,
            frames: lines(&folder.join("frames.jsonl"))?,
            baseline,
        })
    }

    /// Returns the wrapped statements of a half: both halves of the statement and of the wrapper are that one.
    pub fn wrapped(&self, half: Half) -> impl Iterator<Item = Turn<'_>> {
        let of_half = self.wrappers.iter().filter(move |wrapper| wrapper.half == Some(half));
        of_half.flat_map(move |wrapper| self.in_wrapper(wrapper, half))
    }

    /// Returns the plain turns of a half.
    pub fn plain(&self, half: Half) -> impl Iterator<Item = Turn<'_>> {
        self.frames.iter().flat_map(move |frame| self.in_wrapper(frame, half))
    }

    fn in_wrapper<'m>(&'m self, wrapper: &'m Wrapper, half: Half) -> impl Iterator<Item = Turn<'m>> {
        let fits = move |one: &&Statement| one.half == half && one.lang == wrapper.lang;
        self.statements.iter().filter(fits).map(move |statement| Turn { wrapper, statement })
    }
}

/// A statement in a wrapper.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'m> {
    /// The text around.
    pub wrapper: &'m Wrapper,
    /// The statement.
    pub statement: &'m Statement,
}

impl Turn<'_> {
    /// Returns its name.
    pub fn name(&self) -> String {
        format!("{}/{}", self.wrapper.id, self.statement.id)
    }

    /// Returns its words.
    pub fn text(&self) -> String {
        self.wrapper.text.replace(HOLE, &self.statement.text)
    }

    /// Sends it as the user's turn to a new space, and returns what is learned from the statement.
    ///
    /// # Errors
    /// A space that does not answer.
    pub async fn learned(&self, builder: &Builder) -> Result<Vec<Item>> {
        let memory = spaces::memory(builder.clone())?;
        learned::say(&memory, &self.text(), SESSION, memory.admin().engine().now()).await?;
        let mut items = learned::of_the_user(&memory).await?;
        items.retain(|item| item.is_name || learned::says(&item.words, &self.statement.keys));
        Ok(items)
    }
}

/// Learnings from one turn.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the turn.
    pub name: String,
    /// Its words.
    pub text: String,
    /// What was learned.
    pub items: Vec<Item>,
}

/// The figures of a half.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    foreign: Count,
    by_wrapper: Table,
    by_language: Table,
    by_statement: Table,
    own: Count,
    own_by_frame: Table,
    own_by_language: Table,
    /// Wrapped statements of which something was learned.
    pub taken: Vec<Outcome>,
    /// Plain turns of which the build before learned and this one does not.
    pub lost: Vec<Outcome>,
    /// Plain turns of which something was learned.
    pub learned: Vec<String>,
}

impl Figures {
    /// Measures a half, in engines of this builder.
    ///
    /// # Errors
    /// A space that does not answer.
    pub async fn measure(material: &Material, half: Half, builder: &Builder) -> Result<Self> {
        let mut figures = Self::default();
        for turn in material.wrapped(half) {
            figures.add_foreign(turn, turn.learned(builder).await?);
        }
        for turn in material.plain(half) {
            let items = turn.learned(builder).await?;
            if !items.is_empty() {
                figures.learned.push(turn.name());
            }
            if material.baseline.is_empty() || material.baseline.contains(&turn.name()) {
                figures.add_own(turn, items);
            }
        }
        Ok(figures)
    }

    fn add_foreign(&mut self, turn: Turn<'_>, items: Vec<Item>) {
        let hits = usize::from(!items.is_empty());
        self.foreign.add(hits);
        self.by_wrapper.add(&turn.wrapper.kind, hits);
        self.by_language.add(&turn.wrapper.lang, hits);
        self.by_statement.add(&turn.statement.kind, hits);
        if !items.is_empty() {
            self.taken.push(Outcome { name: turn.name(), text: turn.text(), items });
        }
    }

    fn add_own(&mut self, turn: Turn<'_>, items: Vec<Item>) {
        let hits = usize::from(!items.is_empty());
        self.own.add(hits);
        self.own_by_frame.add(&turn.wrapper.kind, hits);
        self.own_by_language.add(&turn.wrapper.lang, hits);
        if items.is_empty() {
            self.lost.push(Outcome { name: turn.name(), text: turn.text(), items });
        }
    }

    /// Returns the shares and counts.
    pub fn json(&self) -> Value {
        json!({
            "learned_from_foreign": self.foreign.share(),
            "own_still_learned": self.own.share(),
            "foreign": self.foreign.json(),
            "own": self.own.json(),
            "foreign_by_wrapper": self.by_wrapper.json(),
            "foreign_by_language": self.by_language.json(),
            "foreign_by_statement": self.by_statement.json(),
            "own_by_frame": self.own_by_frame.json(),
            "own_by_language": self.own_by_language.json(),
        })
    }
}
