//! Streaming writers of three graph formats.

use std::io::Write;

use anyhow::Result;
use mnemal::Fact;
use mnemal::graph::{Entity, Value};
use serde::Serialize;

use crate::args::GraphFormat;
use crate::command::fact::day;

/// Fields of nodes and edges in `GraphML`: id, domain, type.
const KEYS: [(&str, &str, &str); 9] = [
    ("name", "node", "string"),
    ("kind", "node", "string"),
    ("predicate", "edge", "string"),
    ("topic", "edge", "string"),
    ("valid_at", "edge", "string"),
    ("invalid_at", "edge", "string"),
    ("status", "edge", "string"),
    ("confidence", "edge", "double"),
    ("strength", "edge", "double"),
];

/// Writes nodes, then edges.
pub(super) struct Writer<'o> {
    format: GraphFormat,
    out: &'o mut (dyn Write + Send),
    nodes: usize,
    edges: usize,
}

/// A node of the graph.
#[derive(Serialize)]
struct GraphNode<'f> {
    id: String,
    name: &'f str,
    kind: &'f str,
}

/// An edge of the graph.
#[derive(Serialize)]
struct GraphEdge<'f> {
    id: String,
    source: String,
    target: String,
    predicate: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_at: Option<String>,
    status: &'f str,
    confidence: f32,
    strength: f32,
}

impl<'f> GraphEdge<'f> {
    fn new(fact: &'f Fact) -> Self {
        Self {
            id: fact.id.to_string(),
            source: fact.subject.to_string(),
            target: fact.object.entity().map_or_else(|| words_id(fact), |id| id.to_string()),
            predicate: fact.predicate.as_str(),
            topic: fact.topic.as_deref(),
            valid_at: fact.valid_at.map(day),
            invalid_at: fact.invalid_at.map(day),
            status: fact.status.as_str(),
            confidence: fact.confidence().get(),
            strength: fact.strength(),
        }
    }
}

/// Returns the id of a literal's node.
fn words_id(fact: &Fact) -> String {
    format!("words_{}", fact.id)
}

impl<'o> Writer<'o> {
    /// Writes the beginning of the file.
    pub(super) fn begin(format: GraphFormat, out: &'o mut (dyn Write + Send)) -> Result<Self> {
        match format {
            GraphFormat::Json => write!(out, "{{\"nodes\":[")?,
            GraphFormat::Dot => writeln!(out, "digraph memory {{")?,
            GraphFormat::Graphml => {
                writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
                writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
                for (name, of, kind) in KEYS {
                    writeln!(
                        out,
                        "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
                    )?;
                }
                writeln!(out, "  <graph edgedefault=\"directed\">")?;
            }
        }
        Ok(Self { format, out, nodes: 0, edges: 0 })
    }

    /// Writes the node of an entity.
    pub(super) fn entity(&mut self, entity: &Entity) -> Result<()> {
        self.node(&GraphNode { id: entity.id.to_string(), name: &entity.name, kind: entity.kind.as_str() })
    }

    /// Writes the node of a fact's object, if it is a literal.
    pub(super) fn words(&mut self, fact: &Fact) -> Result<()> {
        match &fact.object {
            Value::Entity(_) => Ok(()),
            Value::Literal { text, .. } => {
                self.node(&GraphNode { id: words_id(fact), name: text, kind: "words" })
            }
        }
    }

    fn node(&mut self, node: &GraphNode<'_>) -> Result<()> {
        let comma = if self.nodes == 0 { "" } else { "," };
        self.nodes += 1;
        match self.format {
            GraphFormat::Json => write!(self.out, "{comma}\n{}", serde_json::to_string(node)?)?,
            GraphFormat::Dot => {
                let shape = if node.kind == "words" { "plaintext" } else { "ellipse" };
                writeln!(self.out, "  \"{}\" [label=\"{}\", shape={shape}];", node.id, dot(node.name))?;
            }
            GraphFormat::Graphml => writeln!(
                self.out,
                "    <node id=\"{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data></node>",
                node.id,
                xml(node.name),
                node.kind
            )?,
        }
        Ok(())
    }

    /// Ends the list of nodes.
    pub(super) fn edges(&mut self) -> Result<()> {
        if self.format == GraphFormat::Json {
            write!(self.out, "],\n\"edges\":[")?;
        }
        Ok(())
    }

    /// Writes the edge of a fact.
    pub(super) fn fact(&mut self, fact: &Fact) -> Result<()> {
        let edge = GraphEdge::new(fact);
        let comma = if self.edges == 0 { "" } else { "," };
        self.edges += 1;
        match self.format {
            GraphFormat::Json => write!(self.out, "{comma}\n{}", serde_json::to_string(&edge)?)?,
            GraphFormat::Dot => {
                let topic = edge.topic.map(|topic| format!(" ({topic})")).unwrap_or_default();
                let since = fact.since().map(|at| format!(", since {at}")).unwrap_or_default();
                let until = fact.until().map(|at| format!(", until {at}")).unwrap_or_default();
                let label = dot(&format!("{}{topic}{since}{until}", edge.predicate));
                writeln!(self.out, "  \"{}\" -> \"{}\" [label=\"{label}\"];", edge.source, edge.target)?;
            }
            GraphFormat::Graphml => self.graphml(&edge)?,
        }
        Ok(())
    }

    fn graphml(&mut self, edge: &GraphEdge<'_>) -> Result<()> {
        let GraphEdge { id, source, target, .. } = edge;
        write!(self.out, "    <edge id=\"{id}\" source=\"{source}\" target=\"{target}\">")?;
        let numbers = [edge.confidence.to_string(), edge.strength.to_string()];
        let [confidence, strength] = numbers.each_ref().map(String::as_str);
        for (key, value) in [
            ("predicate", Some(edge.predicate)),
            ("topic", edge.topic),
            ("valid_at", edge.valid_at.as_deref()),
            ("invalid_at", edge.invalid_at.as_deref()),
            ("status", Some(edge.status)),
            ("confidence", Some(confidence)),
            ("strength", Some(strength)),
        ] {
            if let Some(value) = value {
                write!(self.out, "<data key=\"{key}\">{}</data>", xml(value))?;
            }
        }
        Ok(writeln!(self.out, "</edge>")?)
    }

    /// Writes the end of the file, and returns the numbers of nodes and edges.
    pub(super) fn end(self) -> Result<(usize, usize)> {
        match self.format {
            GraphFormat::Json => writeln!(self.out, "]}}")?,
            GraphFormat::Dot => writeln!(self.out, "}}")?,
            GraphFormat::Graphml => writeln!(self.out, "  </graph>\n</graphml>")?,
        }
        Ok((self.nodes, self.edges))
    }
}

/// Escapes a text for XML; characters that are invalid in XML 1.0 become spaces.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Escapes a text for a quoted string of Graphviz.
fn dot(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_holds_ends_no_string_and_no_element() {
        let wild = "a\"b\\c<d>&e\n\u{0}\u{ffff}";
        assert_eq!(xml(wild), "a&quot;b\\c&lt;d&gt;&amp;e   ");
        assert_eq!(dot(wild), "a\\\"b\\\\c<d>&e  \u{ffff}");
    }
}
