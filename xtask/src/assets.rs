//! Pictures of the README, written by `cargo xtask assets`: plots of the result files, and the demo in a terminal window.

mod curve;
mod demo;
mod latency;
mod plot;
mod svg;
mod terminal;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::Line;
use crate::workspace::Tree;

/// The demo, from the root of the workspace.
const DEMO: &str = "docs/assets/demo.svg";
/// The command that the demo's window shows.
const COMMAND: &str = "mnemal demo";
/// Runs of the demo, of which the most frequent output is shown. Source: own choice; about one run of eight differs.
const RUNS: usize = 5;

/// A picture that is made of one file of results.
struct Plot {
    /// Where it is, from the root of the workspace.
    path: &'static str,
    /// The files of results that it shows.
    results: &'static [&'static str],
    /// Draws it from these files, in their order.
    draw: fn(&[Value]) -> Result<String>,
}

const PLOTS: &[Plot] = &[
    Plot { path: "docs/assets/evidence.svg", results: &["docs/results/curve.json"], draw: curve::drawn },
    Plot {
        path: "docs/assets/latency.svg",
        results: &["docs/results/peers.json", "docs/results/latency.json"],
        draw: latency::drawn,
    },
];

/// Writes all pictures; `--plots` leaves out the demo, `--program PATH` takes it from a program that is already built.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let demo = match arguments {
        [] => {
            Some(Line::new("cargo", &["run", "--quiet", "--package", "mnemal-cli", "--bin", "mnemal", "--"]))
        }
        [option] if option == "--plots" => None,
        [option, program] if option == "--program" => {
            let program = fs::canonicalize(program).with_context(|| format!("no program {program}"))?;
            Some(Line::new(&program.to_string_lossy(), &[]))
        }
        _ => bail!("assets takes nothing, `--plots`, or `--program PATH`"),
    };
    for plot in PLOTS {
        let picture = plot.picture(|path| fs::read_to_string(root.join(path)).ok())?;
        write(root, plot.path, &picture)?;
    }
    if let Some(program) = demo {
        let program = program.arg("demo").arg("--no-color");
        let runs: Result<Vec<_>> = (0..RUNS).map(|_| Ok(demo::rows(&program.read(root)?))).collect();
        write(root, DEMO, &terminal::window(COMMAND, &demo::usual(runs?)))?;
    }
    Ok(())
}

fn write(root: &Path, path: &str, picture: &str) -> Result<()> {
    let file = root.join(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(&file, picture).with_context(|| format!("cannot write {path}"))?;
    println!("{path}: {} bytes", picture.len());
    Ok(())
}

impl Plot {
    /// Draws the plot; `text` returns a file by its path from the root.
    fn picture(&self, text: impl Fn(&str) -> Option<String>) -> Result<String> {
        let mut results: Vec<Value> = Vec::new();
        for path in self.results {
            let text = text(path).with_context(|| format!("no file {path}"))?;
            results.push(serde_json::from_str(&text).with_context(|| format!("{path} is no JSON"))?);
        }
        (self.draw)(&results).with_context(|| format!("cannot draw {}", self.path))
    }
}

/// Returns the plots of a tree that differ from its files of results, each with its fault; a tree without results has none.
pub(crate) fn faults(tree: &Tree) -> Vec<(&'static str, String)> {
    let text = |path: &str| tree.file(path).map(|file| file.text.clone());
    let stale = "differs from the files of results: run `cargo xtask assets --plots`";
    let fault = |plot: &Plot| match plot.picture(text) {
        Err(error) => Some(format!("{error:#}")),
        Ok(picture) => (text(plot.path).as_ref() != Some(&picture)).then(|| stale.to_owned()),
    };
    let measured = PLOTS.iter().filter(|plot| plot.results.iter().any(|path| tree.file(path).is_some()));
    measured.filter_map(|plot| Some((plot.path, fault(plot)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{SourceFile, root};

    /// Most bytes of a plot, and of the demo. Source: own choice; they load with the README.
    const MOST: (usize, usize) = (20_000, 60_000);

    #[test]
    fn pictures_are_small_and_bring_no_script_or_font() {
        let mut pictures = vec![(DEMO, MOST.1)];
        pictures.extend(PLOTS.iter().map(|plot| (plot.path, MOST.0)));
        for (path, most) in pictures {
            let text = fs::read_to_string(root().join(path)).unwrap();
            assert!(text.len() <= most, "{path}: {} bytes", text.len());
            for foreign in ["<script", "@font-face", "@import", "url(", "href"] {
                assert!(!text.contains(foreign), "{path}: {foreign}");
            }
        }
    }

    #[test]
    fn a_plot_that_is_older_than_its_results_is_found() {
        let result = r#"{"runs":[{"command":"recall --data DATA/locomo --curve","result":{"curve":[
            {"budget":500,"mnemal":{"groups":{"ANSWERABLE":{"n":3,"share":0.5}}}},
            {"budget":4000,"mnemal":{"groups":{"ANSWERABLE":{"n":3,"share":0.75}}}}]}}]}"#;
        let plot = PLOTS.first().unwrap();
        let picture = plot.picture(|_| Some(result.to_owned())).unwrap();
        let tree = |picture: &str| Tree {
            files: vec![
                SourceFile::new("docs/results/curve.json", result),
                SourceFile::new(plot.path, picture),
            ],
            ..Tree::default()
        };
        assert!(faults(&tree(&picture)).is_empty());
        let found = faults(&tree(&picture.replace("mnemal .75", "mnemal .85")));
        assert!(
            matches!(found.as_slice(), [(path, fault)] if *path == plot.path && fault.contains("differs"))
        );
        assert!(faults(&Tree::default()).is_empty());
    }

    #[test]
    fn unknown_arguments_are_refused_before_anything_is_written() {
        let error = run(&root(), &["--everything".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "assets takes nothing, `--plots`, or `--program PATH`");
    }
}
