//! Requirement coverage: ids of a specification that tests prove, that are waived with a reason, or that are open.

mod proofs;
mod spec;
mod waivers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use self::proofs::Proof;
use self::spec::Spec;
use crate::workspace::Tree;

/// Waivers, one `[[waiver]]` per requirement that is not built.
const WAIVERS: &str = "docs/feature-waivers.toml";

/// What the command line asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    spec: PathBuf,
    crate_name: Option<String>,
    as_json: bool,
    strict: bool,
}

/// The state of one crate's requirements.
#[derive(Debug, Default, PartialEq, Eq)]
struct CrateCoverage {
    proved: Vec<String>,
    /// Those of `proved` that only tests of other crates name.
    elsewhere: Vec<String>,
    waived: Vec<String>,
    open: Vec<String>,
}

/// Runs `features --spec FILE [--crate NAME] [--json] [--strict]`.
///
/// Fails if a test or a waiver names an identifier that the specification does not have, and with
/// `--strict` if a requirement is open.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let request = Request::read(arguments)?;
    let text = fs::read_to_string(&request.spec)
        .with_context(|| format!("cannot read {}", request.spec.display()))?;
    let sibling = fs::read_to_string(request.spec.with_file_name("RELIABILITY.md")).ok();
    let spec = Spec::read(&text, sibling.as_deref());
    let proofs = proofs::scan(&Tree::load(root)?);
    let waivers = waivers::read(&fs::read_to_string(root.join(WAIVERS)).unwrap_or_default())?;

    let errors = contradictions(&spec, &proofs, &waivers);
    let mut standings = standings(&spec, &proofs, &waivers);
    if let Some(name) = &request.crate_name {
        let wanted = proofs::owner(name);
        standings.retain(|owner, _| *owner == wanted);
        if standings.is_empty() {
            bail!("the specification has no requirements of crate {name}");
        }
    }
    if request.as_json {
        println!("{}", serde_json::to_string_pretty(&report(&standings, &proofs, &waivers, &errors))?);
    } else {
        print(&standings, &spec, &proofs, &errors);
    }
    if !errors.is_empty() {
        bail!("{} identifiers are wrong", errors.len());
    }
    let open: usize = standings.values().map(|standing| standing.open.len()).sum();
    if request.strict && open > 0 {
        bail!("{open} requirements are open");
    }
    Ok(())
}

impl Request {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--spec" => request.spec = rest.next().context("--spec needs a file")?.into(),
                "--crate" => request.crate_name = Some(rest.next().context("--crate needs a name")?.clone()),
                "--json" => request.as_json = true,
                "--strict" => request.strict = true,
                other => bail!("unknown argument {other}"),
            }
        }
        if request.spec.as_os_str().is_empty() {
            bail!("features needs --spec FILE");
        }
        Ok(request)
    }
}

/// Sorts the requirements of each crate; an identifier that any test proves is proved for all its owners.
fn standings(
    spec: &Spec,
    proofs: &[Proof],
    waivers: &BTreeMap<String, String>,
) -> BTreeMap<String, CrateCoverage> {
    let proved: BTreeSet<&str> = proofs.iter().map(|proof| proof.id.as_str()).collect();
    let mut standings = BTreeMap::new();
    for (owner, ids) in &spec.by_crate {
        let mut standing = CrateCoverage::default();
        for id in ids {
            let here = proofs.iter().any(|proof| proof.id == *id && proof.owner == *owner);
            if !here && proved.contains(id.as_str()) {
                standing.elsewhere.push(id.clone());
            }
            let list = if proved.contains(id.as_str()) {
                &mut standing.proved
            } else if waivers.contains_key(id) {
                &mut standing.waived
            } else {
                &mut standing.open
            };
            list.push(id.clone());
        }
        standings.insert(owner.clone(), standing);
    }
    standings
}

/// Returns what cannot be right: unknown identifiers, in the specification's own list too, and waivers of
/// what is proved.
fn contradictions(spec: &Spec, proofs: &[Proof], waivers: &BTreeMap<String, String>) -> Vec<String> {
    let mut errors = Vec::new();
    for (owner, ids) in &spec.by_crate {
        let unknown = ids.iter().filter(|id| !spec.requirements.contains_key(*id));
        errors.extend(unknown.map(|id| format!("Appendix B lists the unknown {id} for {owner}")));
    }
    for proof in proofs.iter().filter(|proof| !proof.in_test) {
        errors.push(format!("{}:{}: names {} outside of tests", proof.path, proof.line, proof.id));
    }
    for proof in proofs.iter().filter(|proof| !spec.knows(&proof.id)) {
        errors.push(format!("{}:{}: unknown identifier {}", proof.path, proof.line, proof.id));
    }
    for id in waivers.keys() {
        if !spec.requirements.contains_key(id) {
            errors.push(format!("{WAIVERS}: unknown identifier {id}"));
        } else if let Some(proof) = proofs.iter().find(|proof| proof.id == *id) {
            errors.push(format!("{WAIVERS}: {id} is proved in {}:{}", proof.path, proof.line));
        }
    }
    errors
}

fn print(standings: &BTreeMap<String, CrateCoverage>, spec: &Spec, proofs: &[Proof], errors: &[String]) {
    for (owner, standing) in standings {
        println!("{owner}");
        for (name, ids) in
            [("proved", &standing.proved), ("waived", &standing.waived), ("open", &standing.open)]
        {
            println!("  {name:<6} {:>3}  {}", ids.len(), ids.join(" "));
        }
    }
    println!();
    println!("{:<12} {:>6} {:>6} {:>6}  proved elsewhere", "crate", "proved", "waived", "open");
    for (owner, standing) in standings {
        let (proved, waived, open) = (standing.proved.len(), standing.waived.len(), standing.open.len());
        println!("{owner:<12} {proved:>6} {waived:>6} {open:>6}  {}", standing.elsewhere.join(" "));
    }
    let count = |list: fn(&CrateCoverage) -> &[String]| {
        standings.values().flat_map(list).collect::<BTreeSet<_>>().len()
    };
    let (proved, waived, open) = (count(|s| &s.proved), count(|s| &s.waived), count(|s| &s.open));
    println!("identifiers, each once: {proved} proved, {waived} waived, {open} open");
    let named: BTreeSet<&str> = proofs.iter().map(|proof| proof.id.as_str()).collect();
    let other: Vec<&str> = named.into_iter().filter(|id| !spec.requirements.contains_key(*id)).collect();
    println!("named beside the requirements: {} ({})", other.len(), other.join(" "));
    for error in errors {
        println!("error: {error}");
    }
}

fn report(
    standings: &BTreeMap<String, CrateCoverage>,
    proofs: &[Proof],
    waivers: &BTreeMap<String, String>,
    errors: &[String],
) -> Value {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for proof in proofs {
        places.entry(&proof.id).or_default().push(format!("{}:{}", proof.path, proof.line));
    }
    let crates: BTreeMap<_, _> = standings
        .iter()
        .map(|(owner, s)| {
            (
                owner,
                json!({ "proved": s.proved, "elsewhere": s.elsewhere, "waived": s.waived, "open": s.open }),
            )
        })
        .collect();
    json!({ "crates": crates, "proofs": places, "waivers": waivers, "errors": errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "\
## 1
| id | mark | requirement | owner |
|---|---|---|---|
| GB-01 | keep | A. | core, store |
| GB-02 | keep | B. | core |
| GB-03 | keep | C. | core |
## Appendix B. Requirements by crate
| crate | identifiers |
|---|---|
| core | GB 01–03. |
| store | GB 01. |
";

    fn proof(id: &str) -> Proof {
        Proof { id: id.to_owned(), path: "a.rs".to_owned(), line: 1, owner: "core".to_owned(), in_test: true }
    }

    #[test]
    fn a_requirement_is_proved_for_all_its_owners_waived_or_open() {
        let spec = Spec::read(SPEC, None);
        let waivers = BTreeMap::from([("GB-02".to_owned(), "later".to_owned())]);
        let standings = standings(&spec, &[proof("GB-01")], &waivers);
        let core = CrateCoverage {
            proved: vec!["GB-01".to_owned()],
            elsewhere: Vec::new(),
            waived: vec!["GB-02".to_owned()],
            open: vec!["GB-03".to_owned()],
        };
        assert_eq!(standings.get("core"), Some(&core));
        let store = standings.get("store").unwrap();
        assert_eq!((&store.proved, &store.elsewhere), (&core.proved, &core.proved));
    }

    #[test]
    fn unknown_identifiers_and_waivers_of_proved_ones_are_errors() {
        let spec = Spec::read(SPEC, None);
        let waivers =
            BTreeMap::from([("GB-01".to_owned(), "x".to_owned()), ("GB-77".to_owned(), "x".to_owned())]);
        let errors = contradictions(&spec, &[proof("GB-01"), proof("GB-88")], &waivers);
        let expected = [
            "a.rs:1: unknown identifier GB-88",
            "docs/feature-waivers.toml: GB-01 is proved in a.rs:1",
            "docs/feature-waivers.toml: unknown identifier GB-77",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn a_request_needs_a_specification() {
        let arguments = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(Request::read(&arguments(&["--json"])).is_err());
        let request = Request::read(&arguments(&["--spec", "F.md", "--crate", "core"])).unwrap();
        assert_eq!((request.spec, request.crate_name.as_deref()), (PathBuf::from("F.md"), Some("core")));
    }
}
