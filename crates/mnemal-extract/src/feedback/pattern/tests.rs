//! Patterns, step by step.

use super::*;
use crate::section::PackFile;

const PACK: &str = r#"
    [expand]
    "don't" = "do not"
    [edges]
    joins = ["and but"]
    fillers = ["please"]
    tails = ["thanks"]
    [[class]]
    name = "stop"
    words = ["stop|quit", "knock it off with"]
"#;

fn check(line: &str, text: &str, expect: Option<&str>) {
    let file = PackFile::parse(PACK).unwrap();
    let mut lexicon = Lexicon::read(file.root()).unwrap();
    let mut patterns = Patterns::default();
    patterns.add((), &[line], &mut lexicon).unwrap();
    let tokens = lexicon.tokens(text, 0..text.len());
    let found = patterns.find(&tokens, &lexicon).first().map(|hit| {
        let end = tokens[..hit.to].last().map_or(0, |token| token.span.end);
        text.get(tokens[hit.from].span.start..end).unwrap().to_owned()
    });
    assert_eq!(found.as_deref(), expect, "{line} in {text}");
}

#[test]
fn steps_match_words_classes_choices_and_gaps() {
    check("{stop} ?using tabs", "Please stop using tabs", Some("stop using tabs"));
    check("{stop} ?the tabs", "knock it off with the tabs", Some("knock it off with the tabs"));
    check("do not use", "Don't use it", Some("Don't use"));
    check("don't use", "do not use it", Some("do not use"));
    check(
        "no *very (more|longer list) tabs",
        "no very very longer list tabs",
        Some("no very very longer list tabs"),
    );
    check("wrong ..2 file", "the wrong big old file", Some("wrong big old file"));
    check("wrong ..1 file", "the wrong big old file", None);
    check("wrong ..3 file", "wrong, and this is my file", None);
    check("wrong ...4 file", "wrong, this is my file", Some("wrong, this is my file"));
    check("# _ tabs", "use 4 big tabs", Some("4 big tabs"));
}

#[test]
fn edges_are_signs_joining_words_and_fillers() {
    check("^ stop $", "Well, stop", Some("stop"));
    check("^ stop $", "please stop, thanks", Some("stop"));
    check("^ stop $", "and please stop thanks", Some("stop"));
    check("^ stop", "I stop", None);
    check("stop $", "stop it", None);
    check("not , but", "not, but", Some("not, but"));
    check("not , but", "not but", None);
    check("请用", "请用中文", Some("请用"));
}

#[test]
fn a_line_that_cannot_be_read_is_an_error() {
    for line in ["{none} a", "(a b", "a | b", "..x a"] {
        let mut lexicon = Lexicon::default();
        assert!(Patterns::default().add((), &[line], &mut lexicon).is_err(), "{line}");
    }
}
