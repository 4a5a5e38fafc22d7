//! Runner of the torture program in the unpublished package `mnemal-benches`.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::Line;
use crate::{clients, postgres};

/// Every program with one line of help.
const PROGRAMMES: &[(&str, &str)] = &[
    ("asking", "random questions: no panic, finite scores that add up, the same answer from the same log"),
    ("corrupt", "damaged files are refused or read rightly, and recovered"),
    ("dream", "a month of cycles with a model that lies: nothing lost, everything can be taken back"),
    ("erase", "canaries over every path that data can take are forgotten: none is found, none comes back"),
    ("formats", "damaged files of every program that is read: no good record is lost, and counts are true"),
    ("fuzz", "spoiled texts through every port that reads text: no panic, spans inside, twice alike"),
    ("history", "histories of several clients with faults agree with a plain set"),
    ("inbox", "files come into an inbox while its reader is killed"),
    ("io", "the n-th operation on the file fails, for every n"),
    ("kill", "processes are killed while they write"),
    (
        "lies",
        "a model that lies answers every question: nothing of it is believed or lost, one step takes it back",
    ),
    (
        "poison",
        "attack conversations: nothing but the user's words becomes the user's will, and no text leaves its fence",
    ),
    (
        "postgres-kill",
        "processes of a PostgreSQL are killed while two servers write: nothing lost, nothing twice",
    ),
    ("powercut", "the power is cut, with torn writes"),
    ("prefix", "what was believed at a moment is what a space believes that was told nothing since"),
    ("processes", "eight processes on one file, one killed every second"),
    (
        "server-processes",
        "the program itself, eight times over one space, a server among them; one killed every second",
    ),
    ("receipts", "contexts whose every line must stand on words, and whose every hit must be accounted for"),
    ("rebuild", "every layer is made anew after mixed operations: the same rows, bit by bit"),
    (
        "taking",
        "large histories of other programs are read in little memory, and by processes that are killed",
    ),
    ("two-servers", "what one server over PostgreSQL stores is in the next answer of the other"),
    ("undo", "decisions are taken back in any order: nothing is left of them"),
];

/// The programs that need a database of PostgreSQL, which is started for them.
const WITH_DATABASE: [&str; 2] = ["postgres-kill", "two-servers"];

/// The programs that are scripts, with their lines of help.
const HTTP: (&str, &str) =
    ("http", "what the OpenAPI document allows and forbids: no 5xx, no answer that breaks its schema");
const DOORS: (&str, &str) = (
    "doors",
    "two users of one space at every route, tool and command: nothing of one is told to the other, no name is ignored",
);

/// Runs `torture NAME [ARGUMENTS]` or `torture --list`; further arguments are passed to the program.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        None => bail!("torture needs a name\n{}", list()),
        Some((word, _)) if word == "--list" => {
            println!("{}", list());
            Ok(())
        }
        Some((name, rest)) if name == HTTP.0 => clients::fuzz(root, rest),
        Some((name, rest)) if name == DOORS.0 => clients::doors(root, rest),
        Some((name, rest)) if WITH_DATABASE.contains(&name.as_str()) => {
            let server = postgres::Server::new(root)?;
            program(name, rest)?.arg("--database").arg(server.address()).run(root)
        }
        Some((name, rest)) => program(name, rest)?.run(root),
    }
}

fn program(name: &str, rest: &[String]) -> Result<Line> {
    let known = PROGRAMMES.iter().find(|(known, _)| *known == name);
    let (name, _) = known.with_context(|| format!("unknown programme {name}\n{}", list()))?;
    let rest = rest.iter().filter(|argument| *argument != "--");
    let line = Line::new("cargo", &["run", "--release", "--quiet", "-p", "mnemal-benches", "--bin"]);
    Ok(line.arg("torture").arg("--").arg(*name).args(rest.cloned()))
}

fn list() -> String {
    let rows = PROGRAMMES.iter().chain([&HTTP, &DOORS]).map(|(name, help)| format!("  {name:<12} {help}"));
    rows.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programme_is_a_name_and_its_arguments() {
        let line = program("kill", &["--".to_owned(), "--json".to_owned()]).unwrap();
        let expected = "cargo run --release --quiet -p mnemal-benches --bin torture -- kill --json";
        assert_eq!(line.to_string(), expected);
    }

    #[test]
    fn an_unknown_programme_lists_the_known_ones() {
        let error = program("nothing", &[]).unwrap_err().to_string();
        assert!(PROGRAMMES.iter().chain([&HTTP, &DOORS]).all(|(name, _)| error.contains(name)), "{error}");
    }
}
