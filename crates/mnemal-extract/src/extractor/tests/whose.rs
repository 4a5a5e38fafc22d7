//! Where somebody lives, whose words a sentence has, and whom it names.

use super::claims;

#[test]
fn nobody_lives_in_a_program_a_chapter_or_a_town_close_by() {
    for text in [
        "我们搬到Slack了",
        "我搬到Notion了。",
        "I moved to Chapter 3.",
        "I moved on to Level 5.",
        "I live near Emden.",
        "I live just outside Emden.",
        "Ich wohne in der Nähe von Emden.",
        "J'habite près de Nantes.",
        "Moro perto de Lisboa.",
        "我住在上海附近。",
    ] {
        let homes: Vec<String> =
            claims(text).into_iter().filter(|claim| claim.starts_with("me lives_in")).collect();
        assert!(homes.is_empty(), "{text}: {homes:?}");
    }
    for (text, town) in [
        ("I moved to Berlin 3 years ago.", "Berlin"),
        ("I live in Emden, near the port.", "Emden"),
        ("我们搬到Berlin了", "Berlin"),
    ] {
        assert!(claims(text).contains(&format!("me lives_in assert {town}")), "{text}: {:?}", claims(text));
    }
}

#[test]
fn what_a_form_says_is_not_said_by_the_speaker() {
    for text in [
        "Im Formular steht, ich wohne in Gera, das ist falsch.",
        "Auf dem Zettel stand, ich arbeite bei Bosch.",
        "Na ficha está escrito que sou diabético.",
        "表格上写我住在西安，不对。",
        "资料上显示我在腾讯工作，是错的。",
    ] {
        assert_eq!(claims(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn who_is_put_aside_has_not_the_name_that_follows() {
    let of = |text: &str| -> Vec<String> {
        claims(text).into_iter().filter(|claim| claim.starts_with("me partner")).collect()
    };
    for text in ["My boss, not my wife, is Olga.", "Meine Chefin, nicht meine Frau, heißt Olga."] {
        assert_eq!(of(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(of("I don't know why my wife, Olga, is late."), ["me partner assert Olga"]);
}
