//! Rows of the design files. `xtask/designs/README.md` describes the form.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// One design: the number of its promises, and the rows that test them.
#[derive(Debug)]
pub(super) struct Design {
    /// The name of its file.
    pub(super) name: String,
    /// The name known to its users.
    pub(super) title: String,
    /// Promises that a user would notice.
    pub(super) promises: usize,
    pub(super) sections: Vec<Section>,
}

/// Rows that share a home, and optionally a server.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) name: String,
    /// Whether `mnemal serve` runs during the steps.
    pub(super) has_server: bool,
    /// The mode of the configured language model; none without it.
    pub(super) model: Option<String>,
    /// The model's answers to questions with these words, before anything else.
    pub(super) answers: Vec<(String, String)>,
    /// Variables of the environment of the program.
    pub(super) environment: BTreeMap<String, String>,
    /// The text of the configuration file.
    pub(super) config: Option<String>,
    pub(super) rows: Vec<Row>,
}

/// One promise.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) promise: String,
    /// The reason for a deviation.
    pub(super) decision: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// An action and its expected result.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    /// The exit code or the status; `None` for success.
    pub(super) code: Option<u64>,
    pub(super) contains: Vec<String>,
    pub(super) lacks: Vec<String>,
    /// Expected values at JSON pointers.
    pub(super) json: Map<String, Value>,
    /// Expected sizes of arrays or objects at JSON pointers.
    pub(super) count: Map<String, Value>,
    /// Least values of numbers at JSON pointers.
    pub(super) least: Map<String, Value>,
    /// Variables for later steps, from JSON pointers; `text` is the whole answer.
    pub(super) save: BTreeMap<String, String>,
    /// Seconds during which the step is repeated until it succeeds.
    pub(super) within: u64,
    /// Seconds during which the input of a command or of a tool server stays open.
    pub(super) hold: u64,
    /// Environment variables of this command alone.
    pub(super) environment: BTreeMap<String, String>,
}

/// The action.
#[derive(Debug)]
pub(super) enum Act {
    /// A command line of the program, and its input.
    Run(String, String),
    /// `METHOD /path`, its headers and its body.
    Http(String, BTreeMap<String, String>, Value),
    /// A call of a tool, its arguments, the profile and the space.
    Tool(String, Value, String, Option<String>),
    /// A file below the home and its text.
    File(String, String),
    /// From here on the model answers in this mode.
    Model(String),
    /// What the model was asked so far: all questions as the text, their number as `/requests`.
    Asked,
    /// The server ends and starts again.
    Restart,
}

impl Design {
    /// Reads a file of rows; names that the form does not have are refused.
    pub(super) fn read(name: &str, text: &str) -> Result<Self> {
        let value: Value = toml::from_str(text)?;
        let mut table = Fields::new(&value)?;
        let design = Self {
            name: name.to_owned(),
            title: table.text("title")?.unwrap_or_else(|| name.to_owned()),
            promises: table.number("promises")?.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            sections: table.list("section")?.iter().map(Section::read).collect::<Result<_>>()?,
        };
        table.end()?;
        Ok(design)
    }
}

impl Section {
    fn read(value: &Value) -> Result<Self> {
        let mut table = Fields::new(value)?;
        let name = table.text("name")?.context("a section without a name")?;
        let answers = table.list("answer")?.iter().map(answer).collect::<Result<_>>()?;
        let rows = table.list("row")?.iter().map(Row::read).collect::<Result<_>>();
        let section = Self {
            has_server: table.flag("server")?,
            model: table.text("model")?,
            answers,
            environment: table.texts_by_name("env")?,
            config: table.text("config")?,
            rows: rows.with_context(|| format!("section {name}"))?,
            name,
        };
        table.end()?;
        Ok(section)
    }
}

fn answer(value: &Value) -> Result<(String, String)> {
    let mut table = Fields::new(value)?;
    let pair = (table.text("when")?.context("when")?, table.text("say")?.context("say")?);
    table.end()?;
    Ok(pair)
}

impl Row {
    fn read(value: &Value) -> Result<Self> {
        let mut table = Fields::new(value)?;
        let promise = table.text("promise")?.context("a row without a promise")?;
        let steps = table.list("steps")?.iter().map(Step::read).collect::<Result<_>>();
        let steps = steps.with_context(|| promise.clone())?;
        let row = Self { decision: table.text("decision")?, steps, promise };
        table.end().with_context(|| row.promise.clone())?;
        Ok(row)
    }
}

impl Step {
    fn read(value: &Value) -> Result<Self> {
        let mut table = Fields::new(value)?;
        let step = Self {
            act: Act::read(&mut table)?,
            code: table.number("code")?,
            contains: table.texts("contains")?,
            lacks: table.texts("lacks")?,
            json: table.object("json")?,
            count: table.object("count")?,
            least: table.object("least")?,
            save: table.texts_by_name("save")?,
            within: table.number("within")?.unwrap_or_default(),
            hold: table.number("hold")?.unwrap_or_default(),
            environment: table.texts_by_name("env")?,
        };
        table.end()?;
        Ok(step)
    }

    /// Returns a name for messages.
    pub(super) fn title(&self) -> String {
        match &self.act {
            Act::Run(line, _) => format!("mnemal {line}"),
            Act::Http(request, ..) => request.clone(),
            Act::Tool(name, arguments, ..) => format!("{name} {arguments}"),
            Act::File(path, _) => format!("file {path}"),
            Act::Model(mode) => format!("model {mode}"),
            Act::Asked => "asked".to_owned(),
            Act::Restart => "restart".to_owned(),
        }
    }
}

impl Act {
    fn read(table: &mut Fields) -> Result<Self> {
        if let Some(line) = table.text("run")? {
            return Ok(Self::Run(line, table.text("stdin")?.unwrap_or_default()));
        }
        if let Some(request) = table.text("http")? {
            return Ok(Self::Http(request, table.texts_by_name("headers")?, table.value("body")));
        }
        if let Some(name) = table.text("tool")? {
            let profile = table.text("profile")?.unwrap_or_else(|| "compat".to_owned());
            return Ok(Self::Tool(name, table.value("arguments"), profile, table.text("space")?));
        }
        if let Some(path) = table.text("file")? {
            return Ok(Self::File(path, table.text("text")?.unwrap_or_default()));
        }
        if let Some(mode) = table.text("model")? {
            return Ok(Self::Model(mode));
        }
        if table.flag("asked")? {
            return Ok(Self::Asked);
        }
        if table.flag("restart")? {
            return Ok(Self::Restart);
        }
        bail!("a step is one of run, http, tool, file, model, asked and restart")
    }
}

/// The fields of a table that were not read yet.
struct Fields(Map<String, Value>);

impl Fields {
    fn new(value: &Value) -> Result<Self> {
        Ok(Self(value.as_object().cloned().context("not a table")?))
    }

    fn value(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }

    fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.value(name) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            other => bail!("{name} is a text, not {other}"),
        }
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>> {
        match self.value(name) {
            Value::Null => Ok(None),
            other => Ok(Some(other.as_u64().with_context(|| format!("{name} is a number"))?)),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool> {
        match self.value(name) {
            Value::Null => Ok(false),
            other => other.as_bool().with_context(|| format!("{name} is true or false")),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>> {
        match self.value(name) {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => Ok(items),
            other => bail!("{name} is a list, not {other}"),
        }
    }

    /// One text, or a list of texts.
    fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        let value = self.value(name);
        let items = match value {
            Value::Null => Vec::new(),
            Value::Array(items) => items,
            other => vec![other],
        };
        let text = |item: Value| item.as_str().map(str::to_owned).with_context(|| format!("{name} is text"));
        items.into_iter().map(text).collect()
    }

    fn object(&mut self, name: &str) -> Result<Map<String, Value>> {
        match self.value(name) {
            Value::Null => Ok(Map::new()),
            Value::Object(fields) => Ok(fields),
            other => bail!("{name} is a table, not {other}"),
        }
    }

    fn texts_by_name(&mut self, name: &str) -> Result<BTreeMap<String, String>> {
        let read = |(key, value): (String, Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (key, text)
        };
        Ok(self.object(name)?.into_iter().map(read).collect())
    }

    fn end(self) -> Result<()> {
        match self.0.keys().next() {
            Some(name) => bail!("unknown field {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_field_is_refused() {
        let text = |field: &str| {
            format!(
                "[[section]]\nname = \"a\"\n[[section.row]]\npromise = \"p\"\nsteps = [{{ run = \"status\", {field} = \"x\" }}]"
            )
        };
        let design = Design::read("d", &text("contains")).unwrap();
        let step = design.sections.first().unwrap().rows.first().unwrap().steps.first().unwrap();
        assert_eq!(step.contains, ["x"]);
        let error = format!("{:#}", Design::read("d", &text("contain")).unwrap_err());
        assert!(error.contains("unknown field contain"), "{error}");
        assert!(Design::read("d", &text("run")).is_err(), "twice the same");
    }
}
