//! Date benchmark: recognition in sentences, against the references of a public data set.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use mnemal_benches::dates::{DateSet, Outcome};
use mnemal_extract::DateRules;
use serde_json::{Value, json};

/// Measures how dates are resolved: share of cases that are exact, wrong or refused.
#[derive(Debug, Parser)]
#[command(name = "bench-dates", max_term_width = 100)]
struct Args {
    /// A folder with `cases.jsonl`: sentences, moments, and the dates that a reference finds.
    #[arg(long)]
    data: PathBuf,
    /// Print every case that is not exact, with what was wanted and what was read, first with the customs of the references,
    /// then with those that are built in.
    #[arg(long, conflicts_with = "json")]
    list: bool,
    /// Leave out every wording of the rules once, and say what becomes of the sentences that need it.
    #[arg(long)]
    left_out: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let set = DateSet::read(&args.data)?;
    let outcome = set.measure(&DateRules::with_customs("en", set.customs)?);
    if args.left_out {
        let left = set.leave_out()?;
        if args.list {
            println!("lost\n{}\nunseen\n{}", left.told.join("\n"), left.told_unseen.join("\n"));
        }
        println!("{}", serde_json::to_string_pretty(&left.figures())?);
        return Ok(());
    }
    let own = DateRules::built_in("en").context("the built-in rules for dates cannot be read")?;
    let mut figures = figures(&set, &outcome);
    let groups = groups(&outcome);
    // The same with the customs that are built in, which differ from those of every reference.
    let own = set.measure(own);
    if args.list {
        for (customs, outcome) in [("customs of the references", &outcome), ("built-in customs", &own)] {
            println!("{customs}\n{}", outcome.told.join("\n"));
        }
        return Ok(());
    }
    if let Value::Object(all) = &mut figures {
        all.insert("groups".to_owned(), groups);
        all.insert("own_customs".to_owned(), set.apart(&outcome, &own));
        all.insert("failed".to_owned(), json!(outcome.failed));
        all.insert("own_customs_failed".to_owned(), json!(own.failed));
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&figures)?);
        return Ok(());
    }
    for (name, tally) in &outcome.groups {
        println!("{name:<15} {}", tally.figures());
    }
    println!("built-in customs: {}", set.apart(&outcome, &own));
    println!("not exact: {}", outcome.failed.join(" "));
    Ok(())
}

fn figures(set: &DateSet, outcome: &Outcome) -> Value {
    outcome.groups.get(set.main).copied().unwrap_or_default().figures()
}

fn groups(outcome: &Outcome) -> Value {
    outcome.groups.iter().map(|(name, tally)| ((*name).to_owned(), tally.figures())).collect()
}
