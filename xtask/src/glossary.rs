//! The glossary, written by `cargo xtask glossary` from a list of words and the documentation of the types that they name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::source::{is_word, item_end};
use crate::workspace::{SourceFile, Tree};

/// The page, from the root of the workspace.
pub(crate) const PAGE: &str = "docs/glossary.md";
/// The list of words, from the root of the workspace.
const WORDS: &str = "docs/glossary.toml";

/// The introduction of the page.
const HEAD: &str = "\
# Glossary

Code, documents and wire formats use these words.
Written by `cargo xtask glossary` from [glossary.toml](glossary.toml) and the doc comments of the types; do not edit.
";

/// Keywords of the items that a word may name.
const KEYWORDS: &[&str] = &["struct ", "enum ", "trait ", "type ", "const "];

/// Writes the page; `--check` fails if that would change it.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let tree = Tree::load(root)?;
    match arguments {
        [] => {
            fs::write(root.join(PAGE), page(&tree)?).with_context(|| format!("cannot write {PAGE}"))?;
            println!("{PAGE} is written");
        }
        [option] if option == "--check" => match fault(&tree) {
            Some(fault) => bail!("{PAGE}: {fault}"),
            None => println!("{PAGE} is up to date"),
        },
        _ => bail!("glossary takes nothing, or `--check`"),
    }
    Ok(())
}

/// Returns the fault of a tree's glossary; `None` when it agrees with its list and with the documentation.
pub(crate) fn fault(tree: &Tree) -> Option<String> {
    match page(tree) {
        Err(error) => Some(format!("{error:#}")),
        Ok(page) => (tree.file(PAGE).map(|file| &file.text) != Some(&page))
            .then(|| format!("differs from {WORDS} or from the code: run `cargo xtask glossary`")),
    }
}

/// Returns the whole page.
fn page(tree: &Tree) -> Result<String> {
    let list = tree.file(WORDS).with_context(|| format!("no file {WORDS}"))?;
    let list: Table = list.text.parse().with_context(|| format!("cannot read {WORDS}"))?;
    let mut page = HEAD.to_owned();
    let mut known = BTreeSet::new();
    for section in tables(list.get("section"))? {
        let _ =
            write!(page, "\n## {}\n\n| word | means | in code |\n|---|---|---|\n", text(section, "title")?);
        for word in tables(section.get("words"))? {
            let name = text(word, "word")?;
            if !known.insert(name) {
                bail!("{WORDS} has `{name}` twice");
            }
            page.push_str(&row(tree, name, word).with_context(|| format!("the word `{name}`"))?);
        }
    }
    Ok(page)
}

fn tables(value: Option<&Value>) -> Result<Vec<&Table>> {
    let list = value.and_then(Value::as_array).with_context(|| format!("a list is missing in {WORDS}"))?;
    list.iter().map(|entry| entry.as_table().with_context(|| format!("no table: {entry}"))).collect()
}

fn text<'a>(table: &'a Table, key: &str) -> Result<&'a str> {
    table.get(key).and_then(Value::as_str).with_context(|| format!("`{key}` is missing in {WORDS}"))
}

/// One row of a table: the word, its meaning, and the path of its type.
fn row(tree: &Tree, name: &str, word: &Table) -> Result<String> {
    match (word.get("type").and_then(Value::as_str), word.get("text").and_then(Value::as_str)) {
        (Some(path), None) => Ok(format!("| {name} | {} | `{path}` |\n", meaning(tree, path)?)),
        (None, Some(own)) => Ok(format!("| {name} | {} | |\n", own.replace('|', "\\|"))),
        _ => bail!("needs either a `type` or a `text`"),
    }
}

/// Returns the first paragraph of an item's documentation.
fn meaning(tree: &Tree, path: &str) -> Result<String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let member = parts.pop_if(|_| is_type(path.rsplit("::").nth(1)));
    let name = parts.pop().unwrap_or_default();
    let mut found = declarations(tree, &parts, name);
    let (Some((file, line)), None) = (found.pop(), found.pop()) else {
        bail!("`{path}` must name exactly one public item; {WORDS} is the place to adjust it");
    };
    let line = match member {
        Some(member) => member_line(file, line, member)
            .with_context(|| format!("`{path}`: `{name}` has no `{member}`"))?,
        None => line,
    };
    let paragraph = paragraph(file, line);
    if paragraph.is_empty() {
        bail!("`{path}` has no documentation");
    }
    Ok(paragraph)
}

/// Whether a part of a path is the name of a type.
fn is_type(part: Option<&str>) -> bool {
    part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Returns the files and lines, from 1, that declare a public item in a crate, and in its modules if the path names some.
fn declarations<'a>(tree: &'a Tree, parts: &[&str], name: &str) -> Vec<(&'a SourceFile, usize)> {
    let Some((package, modules)) = parts.split_first() else { return Vec::new() };
    let folder = format!("crates/{}/src/", package.replace('_', "-"));
    let is_meant = |file: &&SourceFile| {
        let inside = file.path.strip_prefix(&folder).map(|path| path.trim_end_matches(".rs"));
        let is_in = |inside: &str| modules.iter().all(|module| inside.split('/').any(|part| part == *module));
        inside.is_some_and(is_in) && !file.is_test_file()
    };
    let files = tree.rust_files().filter(is_meant);
    let lines = files.flat_map(|file| file.rust.lines().map(move |(line, code)| (file, line, code)));
    let found = lines.filter(|(file, line, code)| declares(code, name) && !file.is_test_line(*line));
    found.map(|(file, line, _)| (file, line)).collect()
}

/// Whether a line of code declares a public item of this name.
fn declares(code: &str, name: &str) -> bool {
    let Some(rest) = code.strip_prefix("pub ") else { return false };
    let declared = KEYWORDS.iter().find_map(|keyword| rest.strip_prefix(keyword));
    declared.is_some_and(|declared| begins(declared, name))
}

/// Whether code begins with an identifier.
fn begins(code: &str, name: &str) -> bool {
    code.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Returns the line, from 1, of a variant of the type that is declared on a line.
fn member_line(file: &SourceFile, line: usize, member: &str) -> Option<usize> {
    let code = &file.rust.code;
    let end = item_end(code, line.checked_sub(1)?);
    let mut body = code.iter().enumerate().skip(line).take(end.saturating_sub(line));
    let is_meant = |code: &str| code.strip_prefix("    ").is_some_and(|code| begins(code, member));
    body.find(|(_, code)| is_meant(code)).map(|(at, _)| at + 1)
}

/// Returns the first paragraph of the doc comment above a line, past attributes, as Markdown of a table's cell.
fn paragraph(file: &SourceFile, line: usize) -> String {
    let above: Vec<&str> = file.text.lines().take(line.saturating_sub(1)).map(str::trim).collect();
    let mut comment = Vec::new();
    let mut is_attribute = false;
    for text in above.into_iter().rev() {
        if is_attribute || text == ")]" || text.starts_with("#[") {
            is_attribute = !text.starts_with("#[");
        } else if let Some(text) = text.strip_prefix("///") {
            comment.push(text.trim());
        } else {
            break;
        }
    }
    let lines = comment.into_iter().rev().take_while(|text| !text.is_empty());
    plain(&lines.collect::<Vec<_>>().join(" "))
}

/// Replaces links to items by their text, which are no links outside the code's own documentation.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let (inner, tail) = after.split_once(']').unwrap_or(("", after));
        match tail.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, tail)) => {
                out.push_str(inner);
                rest = tail;
            }
            None if inner.starts_with('`') => {
                out.push_str(inner);
                rest = tail;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
//! Events.

/// A thing of [`the log`](crate::Log), see
/// [`Kind`]; `a[0]` stays.
///
/// More that is not shown.
#[derive(Debug)]
#[expect(
    clippy::large,
    reason = \"planted\"
)]
pub struct Event {
    /// Its id.
    pub id: u8,
}

/// A kind.
pub enum Kind {
    /// An a|b decision.
    Decision(u8),
}

#[cfg(test)]
mod tests {
    /// Another.
    pub struct Event;
}
";

    fn tree(words: &str, page: &str) -> Tree {
        let files = [
            ("crates/mnemal-core/src/event.rs", CODE),
            (
                "crates/mnemal-core/src/other.rs",
                "//! O.\n/// B.\npub type Kind = u8;\n/// C.\npub struct Kinds;\n",
            ),
            (WORDS, words),
            (PAGE, page),
        ];
        let files = files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        Tree { files, ..Tree::default() }
    }

    fn list(words: &str) -> String {
        format!("[[section]]\ntitle = \"S\"\nwords = [{words}]\n")
    }

    #[test]
    fn a_word_means_what_its_type_or_its_own_text_says() {
        let words = list(
            "{ word = \"event\", type = \"mnemal_core::Event\" }, { word = \"own\", text = \"x|y.\" }, \
             { word = \"decision\", type = \"mnemal_core::event::Kind::Decision\" }",
        );
        let written = page(&tree(&words, "")).unwrap();
        let rows: Vec<&str> = written.lines().skip_while(|line| *line != "|---|---|---|").skip(1).collect();
        let expected = [
            "| event | A thing of `the log`, see `Kind`; `a[0]` stays. | `mnemal_core::Event` |",
            "| own | x\\|y. | |",
            "| decision | An a\\|b decision. | `mnemal_core::event::Kind::Decision` |",
        ];
        assert_eq!(rows, expected);
        assert_eq!(fault(&tree(&words, &written)), None);
        assert!(fault(&tree(&words, "old")).unwrap().contains("run `cargo xtask glossary`"));
    }

    #[test]
    fn a_word_without_one_meaning_is_a_fault() {
        let fault = |words: &str| fault(&tree(&list(words), "")).unwrap();
        let missing = fault("{ word = \"w\", type = \"mnemal_core::Absent\" }");
        assert!(
            missing.starts_with("the word `w`: `mnemal_core::Absent` must name exactly one"),
            "{missing}"
        );
        assert!(
            fault("{ word = \"w\", type = \"mnemal_core::Kind\" }").contains("exactly one"),
            "two of a name"
        );
        assert!(
            fault("{ word = \"w\", type = \"mnemal_core::event::Kind::Other\" }").contains("has no `Other`")
        );
        assert!(fault("{ word = \"w\" }").contains("needs either"));
        assert!(fault("{ word = \"w\", text = \"a\" }, { word = \"w\", text = \"b\" }").contains("twice"));
    }
}
