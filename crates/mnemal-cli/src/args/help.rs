//! The help text of the program: its commands in groups.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Args;

/// Width of a line, in columns. Source: own choice, the default width of a terminal.
const WIDTH: usize = 80;

/// The commands by task, the most frequent first.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["init", "demo", "setup", "settings", "status", "doctor"]),
    ("Remember and find", &["remember", "recall", "ask", "context", "log", "session", "working"]),
    (
        "What is known",
        &["preference", "learning", "memory", "fact", "entity", "topic", "summary", "dream", "extract"],
    ),
    ("Trust", &["why", "why-not", "feedback", "diff", "report", "audit", "undo", "forget", "verify-receipt"]),
    ("Bring in and take out", &["import", "ingest", "inbox", "export", "graph"]),
    (
        "Serve programs",
        &["serve", "worker", "ui", "mcp", "hook", "memory-tool", "key", "health", "model", "models"],
    ),
    (
        "Look after spaces",
        &["space", "backup", "restore", "check", "rebuild", "reindex", "recover", "database"],
    ),
    ("In your shell", &["completions", "man"]),
];

/// Returns the command line definition with its help.
pub(crate) fn command() -> Command {
    let command = Args::command();
    let groups = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}"
    ))
}

/// Writes the commands in their groups; ungrouped ones come last.
fn grouped(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{title}:");
        for name in names {
            let Some(found) = command.find_subcommand(name) else { continue };
            push(found, &mut text);
        }
        text.push('\n');
    }
    text
}

fn push(command: &Command, text: &mut String) {
    let mut about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    if !aliases.is_empty() {
        // Writing into a string cannot fail.
        let _written = write!(about, " [also: {}]", aliases.join(", "));
    }
    let mut line = format!("  {:<14}", command.get_name());
    for word in about.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _written = writeln!(text, "{}", line.trim_end());
            line = format!("{:<16}", "");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _written = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = command();
        let all: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let once: BTreeSet<&str> = grouped.iter().copied().collect();
        assert_eq!((grouped.len(), &once), (all.len(), &all));
    }

    #[test]
    fn the_options_of_a_command_stand_before_those_of_every_command() {
        let mut command = command();
        let help = command.render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        assert!(help.contains("Remember and find:\n  remember       "), "{help}");
        command.build();
        let remember = command.find_subcommand_mut("remember").unwrap().render_help().to_string();
        let (own, every) = (remember.find("--key").unwrap(), remember.find("--space").unwrap());
        assert!(own < every && remember.contains("Options of every command:"), "{remember}");
    }
}
