//! Missing specifics of a source, row by row.

use super::*;

// proves: DF-27
#[test]
fn what_a_merge_must_not_lose_is_named() {
    let rows: [(&str, &[&str], &[&str]); 18] = [
        ("The till listens on 4711.", &["The till listens on port 4711."], &[]),
        ("The till listens.", &["The till listens on port 4711."], &["4711"]),
        ("Her flight is on the 12th of June.", &["Her flight is on the 12th of May."], &["may"]),
        ("the lead repairs it", &["Anna Berg repairs it"], &["anna", "berg"]),
        ("The SDK needs an update", &["The SDK and the API need an update"], &["api"]),
        ("Joanna called", &["we saw Anna"], &["anna"]),
        (
            "Write to ada@example.org",
            &["Write to ada@example.org, never to ops@example.org"],
            &["ops@example.org"],
        ),
        ("keep src/lib.rs", &["keep src/lib.rs and src/main.rs"], &["src/main.rs"]),
        ("he says it", &["he says \"never again\""], &["never again"]),
        ("The clerk said: \"`\"𐬀 and left", &["\"`\"𐬀"], &[]),
        ("Sold as ℠AA1 again", &["℠AA1"], &[]),
        ("Version 2.14 is out", &["version 2.15 is out"], &["2.15"]),
        ("张伟 works here", &["张伟 works here", "李娜 works here"], &["李娜"]),
        ("アンナは東京に住む", &["アンナは東京に住む"], &[]),
        ("заказ 4711 готов", &["заказ 4711 для Анны готов"], &["анны"]),
        ("رقم 4711", &["رقم 4711 ليلى"], &["ليلى"]),
        ("संख्या 4711", &["संख्या 4711 अनिता"], &["अनिता"]),
        // Words of every day are no specifics, denials included: who relies on this alone loses them.
        ("The lift is loud", &["The lift is not loud"], &[]),
    ];
    for (text, sources, missing) in rows {
        assert_eq!(uncovered(text, sources), missing, "{text} / {sources:?}");
    }
}

#[test]
fn a_word_that_another_source_writes_small_is_no_name() {
    assert_eq!(uncovered("meetings take long", &["Standups take long"]), ["standups"]);
    assert!(uncovered("meetings take long", &["Standups take long", "the standups take long"]).is_empty());
}

#[test]
fn a_date_may_be_written_in_another_way_and_a_name_declined() {
    let rows: [(&str, &[&str], &[&str]); 8] = [
        ("The talk is on 2026-05-12.", &["The talk is on May 12."], &[]),
        ("The talk is on 2025-05-12.", &["The talk is on May 12, 2026."], &["may", "2026"]),
        ("The talk is on 12 May 2026.", &["The talk is on 2026-05-12."], &[]),
        ("Письмо для Анны", &["Письмо пишет Анна"], &[]),
        ("Письмо для Ивановой", &["Письмо пишет Иван"], &["иван"]),
        ("Besuch bei Annas Mutter", &["Wir sehen Anna"], &[]),
        ("the API", &["the APIs"], &[]),
        ("It weighs 15 kg", &["weighs 15kg"], &[]),
    ];
    for (text, sources, missing) in rows {
        assert_eq!(uncovered(text, sources), missing, "{text} / {sources:?}");
    }
    assert!(Vocabulary::default().made_up("On 12 May 2026.", &["on 2026-05-12"]).is_empty());
    assert_eq!(Vocabulary::default().made_up("On 13 May.", &["on 2026-05-12"]), ["13"]);
}

// proves: AD-44 (a space's known names in any script, its common and its specific words)
#[test]
fn a_space_adds_names_and_words() {
    let check = |vocabulary: Vocabulary, text: &str, source: &str, missing: &[&str]| {
        assert_eq!(vocabulary.uncovered(text, &[source]), missing, "{text} / {source}");
    };
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let plain = Vocabulary::default;
    check(plain(), "a walk by the river", "a walk with biscuit by the river", &[]);
    check(
        plain().with_names(["Biscuit"]),
        "a walk by the river",
        "a walk with biscuit by the river",
        &["biscuit"],
    );
    let seen = ["李娜去上海", "李娜去北京", "李娜在上海", "李娜在北京"];
    check(Vocabulary::of(seen), "上海", "李娜在上海", &[]);
    check(Vocabulary::of(seen).with_names(["李娜"]), "上海", "李娜在上海", &["李娜"]);
    check(plain(), "the plan", "the plan of Standup", &["standup"]);
    check(plain().with_common(&words(&["Standup"])), "the plan", "the plan of Standup", &[]);
    check(plain().with_specific(&words(&["plan"])), "it", "the plan", &["plan"]);
    let both = plain().with_common(&words(&["Standup"])).with_specific(&words(&["standup"]));
    check(both, "the plan", "the plan of Standup", &["standup"]);
    // A malformed list is none, and the check is on.
    check(plain().with_common(&words(&["Standup", " "])), "the plan", "the plan of Standup", &["standup"]);
    check(plain().with_specific(&words(&["plan", &"x".repeat(65)])), "it", "the plan", &[]);
}

// proves: AD-44 (rare words of scripts without case)
#[test]
fn a_word_of_a_script_without_case_is_missed_while_it_is_rare() {
    let of = |seen: usize| {
        let space = ["ليلى تحب الشاي الأخضر", "يشرب الشاي الأخضر", "اشترى الشاي الأخضر"];
        Vocabulary::of(space.into_iter().take(seen))
    };
    let missing = |seen| of(seen).uncovered("ليلى هنا", &["ليلى تشرب شاي أخضر"]);
    assert_eq!(missing(2), ["تشرب", "شاي", "اخضر"]);
    assert_eq!(missing(3), ["تشرب"]);
}

proptest::proptest! {
    #[test]
    fn a_text_covers_itself(text in "\\PC{0,60}") {
        proptest::prop_assert_eq!(uncovered(&text, &[&text]), Vec::<String>::new());
    }

    #[test]
    fn sources_in_a_row_lose_nothing(
        one in "[a-zA-Zа-яА-Яぁ-ヶ一-丿ا-ي 0-9./:@-]{0,40}",
        other in "[a-zA-Zа-яА-Яぁ-ヶ一-丿ا-ي 0-9./:@-]{0,40}",
    ) {
        let both = format!("{one}\n{other}");
        proptest::prop_assert_eq!(uncovered(&both, &[&one, &other]), Vec::<String>::new());
    }
}

proptest::proptest! {
    #[test]
    fn names_are_found_as_if_each_was_looked_for_at_every_place(
        text in "[a-c0-2 .王é]{0,30}",
        names in proptest::collection::vec("[a-c0-2 .王é]{1,5}", 0..12),
    ) {
        let vocabulary = Vocabulary::default().with_names(names.iter().map(String::as_str));
        let said = plain(&text);
        let has = |name: &&str| {
            let places = said.char_indices().map(|(at, _)| at);
            places.filter(|at| said.get(*at..).is_some_and(|rest| rest.starts_with(name))).any(|at| stands_at(&said, at, name))
        };
        let wanted: BTreeSet<&str> = vocabulary.names.iter().map(String::as_str).filter(has).collect();
        proptest::prop_assert_eq!(vocabulary.named(&said), wanted);
    }
}

// As many names as a large space has: each is looked up, and none is looked for in the text.
#[test]
fn a_text_is_held_against_a_hundred_thousand_names() {
    let names: Vec<String> = (0..100_000).map(|number| format!("person {number}")).collect();
    let vocabulary = Vocabulary::default().with_names(names.iter().map(String::as_str));
    let texts = (0..2_000).map(|number| format!("we met person {number} and person {} today", number + 5));
    for (number, text) in texts.enumerate() {
        let two = [format!("person {number}"), format!("person {}", number + 5)];
        let wanted: BTreeSet<&str> = two.iter().map(String::as_str).collect();
        assert_eq!(vocabulary.named(&text), wanted);
    }
}
