//! Attribution of the parts of a turn.

use super::*;

/// Texts of others in wrappers of many kinds and languages; what is in `⟦ ⟧` is another's and in `⟪ ⟫` the speaker's own.
const WRAPPED: [&str; 6] = [
    include_str!("wrapped_dev.txt"),
    include_str!("wrapped_held.txt"),
    include_str!("cases.txt"),
    include_str!("found.txt"),
    include_str!("wide.txt"),
    include_str!("shape.txt"),
];
/// Texts that are the speaker's own.
const PLAIN: &str = include_str!("plain.txt");

fn rows(file: &str) -> impl Iterator<Item = (&str, String)> {
    let rows = file.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once(" | ")).map(|(kind, text)| (kind, text.replace('⏎', "\n")))
}

/// Returns the parts between two marks, without any marks.
fn marked(text: &str, [open, close]: [char; 2]) -> Vec<String> {
    let parts = text.split(open).skip(1).filter_map(|part| part.split(close).next());
    parts.map(unmarked).collect()
}

fn unmarked(text: &str) -> String {
    text.replace(['⟦', '⟧', '⟪', '⟫'], "")
}

/// Returns the errors in the own words of a marked text.
fn faults(text: &str) -> Vec<String> {
    let plain = unmarked(text);
    let own = OwnWords::of_text(&plain);
    assert_eq!(own.as_str().len(), plain.len(), "{plain}");
    let sentences = |part: &str| -> Vec<String> {
        mnemal_text::sentences(part).iter().map(|one| one.of(part).to_owned()).collect()
    };
    let foreign = marked(text, ['⟦', '⟧']).into_iter().flat_map(|part| sentences(&part));
    let learnt =
        foreign.filter(|part| part.split_whitespace().count() > 0 && own.as_str().contains(part.as_str()));
    let lost = marked(text, ['⟪', '⟫']).into_iter().filter(|part| !own.as_str().contains(part.as_str()));
    learnt.map(|part| format!("learnt: {part}")).chain(lost.map(|part| format!("lost: {part}"))).collect()
}

#[test]
fn words_of_others_in_wrappers_of_many_kinds_are_not_the_speakers_own() {
    let mut wrong = Vec::new();
    for (kind, text) in WRAPPED.into_iter().flat_map(rows) {
        wrong.extend(faults(&text).into_iter().map(|fault| format!("{kind}: {fault}")));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_people_write_of_themselves_is_their_own_as_a_whole() {
    let own = |text: &str| OwnWords::of_text(text).as_str() == text;
    let wrong: Vec<String> =
        rows(PLAIN).filter(|(_, text)| !own(text)).map(|(kind, text)| format!("{kind}: {text:?}")).collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_letter_that_the_speaker_signs_is_his_own_and_somebody_elses_is_not() {
    let letter = "Dear team,\n\nI live in Bern now.\n\nRegards,\nNina";
    let own =
        |names: &[&str]| OwnWords::by(&RuleSegmenter, letter, names).as_str().contains("I live in Bern");
    assert!(own(&["Nina"]) && own(&["Nina Sommer"]));
    assert!(!own(&["Paul"]) && !own(&[]));
    let chat = "Nina: I live in Bern now\nPaul: I live in Basel";
    let own = OwnWords::by(&RuleSegmenter, chat, &["Nina"]);
    assert!(own.as_str().contains("Bern") && !own.as_str().contains("Basel"), "{own:?}");
}

#[test]
fn a_letter_that_greets_the_speaker_by_name_is_somebody_elses() {
    let own = |text: &str| {
        let own = OwnWords::by(&RuleSegmenter, text, &["Noor Haddad"]).into_owned();
        own.as_str().to_owned()
    };
    for (letter, foreign) in [
        (
            "What do I take along?\n\nHi Noor, I'm vegan and I can't stand smoke. Bring a tent. Cheers, Ida",
            "vegan",
        ),
        (
            "was bring ich mit\n\nLiebe Noor,\nich wohne jetzt in Ulm und esse kein Fleisch.\nBis bald, Ida",
            "Ulm",
        ),
        ("Que répondre ?\n\nBonjour Noor, je suis allergique aux chats. À samedi, Luc", "allergique"),
        ("¿Qué le digo?\n\nHola Noor, vivo en Soria y no bebo. Un abrazo, Eva", "Soria"),
        ("我该带什么？\n\n你好 Noor，我住在苏州。", "苏州"),
    ] {
        assert!(!own(letter).contains(foreign), "{letter}");
    }
    for said in ["Hi, Noor here. I live in Delft.\nWhat's new?", "Hello!\nI'm Noor and I live in Delft."] {
        assert!(own(said).contains("Delft"), "{said}");
    }
}

#[test]
fn each_part_says_whose_it_is_and_why() {
    let text = "What do I answer?\n\nFrom: Hedwig Auer <h@example.org>\nTo: me\n\nI moved to Steyr.";
    let found = RuleSegmenter.segments(&TurnText { text, names: &[] });
    let authors: Vec<&str> = found.iter().map(|segment| segment.author.as_str()).collect();
    assert_eq!(authors, ["speaker", "other"]);
    assert_eq!(found[1].author.name(), Some("Hedwig Auer"));
    assert!(found.iter().all(|segment| !segment.reason.is_empty()));
    assert_eq!(found.iter().filter_map(|segment| segment.span.of(text)).collect::<String>(), text);
}

#[test]
fn a_plain_turn_is_not_copied() {
    assert!(matches!(OwnWords::of_text("I live in Lyon and I have a dog.").0, Cow::Borrowed(_)));
}
