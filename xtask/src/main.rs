//! Checks, benches and recipes of the workspace: `cargo xtask COMMAND`.
//!
//! This program reads metadata and text, and packs what was built; it links no crate of the workspace.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool of developers speaks to its terminal; its standard output is no protocol"
)]

mod assets;
mod bench;
mod benchmarks;
mod ci;
mod clients;
mod command;
mod designs;
mod dist;
mod embedder;
mod features;
mod glossary;
mod models;
mod postgres;
mod source;
mod tidy;
mod torture;
mod ui;
mod versus;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let root = workspace::root();
    let Some((command, rest)) = arguments.split_first() else {
        println!("{}", help());
        return Ok(());
    };
    match command.as_str() {
        "ci" | "test" => ci::run(&root, rest),
        "tidy" => tidy::run(&root),
        "features" => features::run(&root, rest),
        "bench" => bench::run(&root, rest),
        "benchmarks" => benchmarks::run(&root, rest),
        "assets" => assets::run(&root, rest),
        "glossary" => glossary::run(&root, rest),
        "designs" => designs::run(&root, rest),
        "dist" => dist::run(&root, rest),
        "torture" => torture::run(&root, rest),
        "embedder" => embedder::run(&root, rest),
        "models" => models::run(&root, rest),
        "ui" => ui::run(&root, rest),
        "help" | "--help" | "-h" => {
            println!("{}", help());
            Ok(())
        }
        other => bail!("unknown command {other}\n{}", help()),
    }
}

fn help() -> String {
    format!(
        "\
cargo xtask COMMAND

  ci [STEP]    everything that continuous integration runs, or one step of it:
{}
  test         the same as ci
  tidy         the rules that the compiler cannot state, and the sizes of the crates
  features     which requirements the tests prove
               --spec FILE [--crate NAME] [--json] [--strict]
  bench        measurements, in release builds: NAME [ARGUMENTS], or --list; --dist for the build that is shipped
  benchmarks   writes docs/benchmarks.md from docs/results; --data DIR [NAME ...] measures these anew before
  assets       the pictures of the README, in docs/assets: plots of docs/results, and the demo as it runs
               --plots for the plots alone, --program PATH for a demo that is already built
  glossary     writes docs/glossary.md from docs/glossary.toml and the documents of the types; --check only compares
  designs      every promise of the four source designs, tried with the program: --json, --only TEXT, --write
  torture      kills, power cuts, failures and damage, in release builds: NAME [ARGUMENTS], or --list
  embedder     the table of the built-in embedder: distil or verify [ARGUMENTS]
  models       weights of transformers, which are no part of mnemal: list, or fetch NAME --to FOLDER
  ui           builds the web UI, compares it with what is committed, and drives it in Chromium: [FOLDER] for screenshots
               --measure [EVENTS ...] measures the program that MNEMAL names over long logs instead
  dist         packages, from the program built with the profile `dist`: [--out FOLDER] [--program FILE] [--module FILE] [--check]
               and some of these, or `packages` for those of this platform, or `index` for the last three:
{}",
        ci::help(),
        dist::help()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_refused_with_the_help() {
        let error = run(&["nothing".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("unknown command nothing\ncargo xtask"), "{error}");
    }

    #[test]
    fn the_help_names_every_command() {
        let commands = [
            "ci",
            "test",
            "tidy",
            "features",
            "bench",
            "benchmarks",
            "assets",
            "glossary",
            "designs",
            "torture",
            "embedder",
            "models",
            "dist",
        ];
        for command in commands {
            assert!(help().lines().any(|line| line.trim_start().starts_with(command)), "{command}");
        }
    }
}
