//! The merge-coverage check: acceptable merges in five scripts, and merges that drop a source.

use mnemal_text::Vocabulary;

/// A merge with what it is made of.
#[derive(Default)]
struct Merge<'t> {
    keeps: bool,
    text: &'t str,
    sources: Vec<&'t str>,
    /// Names, numbers and dates, each with its other forms.
    exact: Vec<Vec<&'t str>>,
}

/// The notes and merges of one script.
#[derive(Default)]
struct Script<'t> {
    name: &'t str,
    notes: Vec<&'t str>,
    merges: Vec<Merge<'t>>,
}

fn scripts(fixtures: &str) -> Vec<Script<'_>> {
    let mut scripts: Vec<Script<'_>> = Vec::new();
    for line in fixtures.lines() {
        let Some((mark, rest)) = line.split_once(' ').or_else(|| (line == "!").then_some(("!", ""))) else {
            continue;
        };
        if mark == "==" {
            scripts.push(Script { name: rest, ..Script::default() });
        }
        let Some(script) = scripts.last_mut() else { continue };
        match mark {
            "." => script.notes.push(rest),
            "+" | "-" => script.merges.push(Merge { keeps: mark == "+", text: rest, ..Merge::default() }),
            "<" => script.merges.last_mut().expect("a source stands below its merge").sources.push(rest),
            "!" => {
                let forms =
                    rest.split("; ").filter(|one| !one.is_empty()).map(|one| one.split('~').collect());
                script.merges.last_mut().expect("names stand below their merge").exact = forms.collect();
            }
            _ => {}
        }
    }
    scripts
}

// proves: AD-44 (the acceptance figures, in five scripts)
#[test]
fn merges_that_keep_what_was_said_pass_and_merges_that_drop_a_source_do_not() {
    let scripts = scripts(include_str!("fixtures/merges.txt"));
    assert_eq!(scripts.len(), 5);
    let (mut survived, mut lost) = (0, Vec::new());
    let mut wrong = Vec::new();
    for script in &scripts {
        let sources = script.merges.iter().flat_map(|merge| &merge.sources);
        let vocabulary = Vocabulary::of(script.notes.iter().chain(sources).copied());
        let (mut caught, mut dropping) = (0, 0);
        assert!(script.merges.iter().filter(|merge| merge.keeps).count() >= 10, "{}", script.name);
        for merge in &script.merges {
            let missing = vocabulary.uncovered(merge.text, &merge.sources);
            if merge.keeps && !missing.is_empty() {
                wrong.push(format!("{}: {} lacks {missing:?}", script.name, merge.text));
            }
            if !merge.keeps {
                dropping += 1;
                caught += usize::from(!missing.is_empty());
            }
            if missing.is_empty() {
                for forms in &merge.exact {
                    let is_there = forms.iter().any(|form| merge.text.contains(form));
                    survived += usize::from(is_there);
                    lost.extend(
                        (!is_there).then(|| format!("{}: {} of {}", script.name, forms[0], merge.text)),
                    );
                }
            }
        }
        assert!(dropping >= 12, "{}: {dropping}", script.name);
        println!("{}: {caught} of {dropping} caught", script.name);
        if caught * 100 < dropping * 83 {
            wrong.push(format!("{}: {caught} of {dropping} caught", script.name));
        }
    }
    println!("{survived} names, numbers and dates survived, lost: {lost:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(survived > 150 && lost.len() * 99 <= survived, "{survived} survived, lost: {lost:?}");
}
