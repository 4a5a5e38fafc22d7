//! Validity of learnings until they end: denials, endings, partial changes, and time limits.

use mnemal_core::{
    Basis, ContextRequest, ContextSource as _, EventId, EventKind, LearningStatus, SessionId, Within,
};
use mnemal_learnings::{NotesSource, THIS_CONVERSATION};

use crate::learned::{Turn, USER, life};
use crate::log::{Space, at, now};
use crate::offering::request;

/// The active rows after each of two sessions.
fn pair<'a>(first: &'a str, second: &'a str) -> Space {
    life(&[("january", USER, first), ("february", USER, second)])
}

#[test]
fn what_has_ended_holds_no_more() {
    for (first, second, rest) in [
        ("I'm a vegetarian.", "I'm not a vegetarian anymore.", ""),
        ("I am vegetarian.", "I'm no longer vegetarian.", ""),
        ("I'm vegan.", "I was tested, so I'm no longer vegan.", ""),
        ("I'm a big fan of standups.", "I'm no longer a fan of standups.", ""),
        ("I love sushi.", "I used to love sushi.", ""),
        ("I love sushi.", "I don't like sushi anymore.", "I don't like sushi anymore."),
        ("I love sushi with wasabi.", "I've grown tired of sushi.", ""),
        ("I'm allergic to nuts.", "I'm not allergic to nuts after all.", ""),
        ("I'm allergic to ibuprofen.", "The tests say that I am not allergic to ibuprofen.", ""),
        ("I'm allergic to latex.", "It turns out I'm not allergic to latex.", ""),
        ("I can't stand coriander.", "Actually I like coriander now.", "Actually I like coriander now."),
        ("I hate opera.", "I no longer hate opera.", ""),
        (
            "My favourite colour is teal.",
            "My favourite colour is orange now.",
            "My favourite colour is orange now.",
        ),
        ("I am allergic to peanuts.", "My peanut allergy is gone, the tests were negative.", ""),
        ("Call me Captain.", "Stop calling me Captain.", "Stop calling me Captain."),
        ("From now on answer in French.", "Forget that, no French anymore.", ""),
        ("Always answer in Dutch.", "You don't have to answer in Dutch any more.", ""),
        ("I'm on a lactose-free diet since Monday: no milk, no cream.", "The lactose-free diet is over.", ""),
        (
            "Never schedule anything on Wednesdays for me.",
            "Wednesdays are free again, the course is over.",
            "",
        ),
        ("Never use emojis in my mails.", "Emojis are fine again.", ""),
        ("Antworte mir immer auf Englisch.", "Du musst nicht mehr auf Englisch antworten.", ""),
        ("Bitte verwende nie Emojis.", "Emojis sind wieder okay.", ""),
        ("Bitte verwende immer Tabellen.", "Ich habe meine Meinung zu Tabellen geändert.", ""),
        ("Réponds toujours en anglais.", "Tu n'as plus besoin de répondre en anglais.", ""),
        ("Responde siempre en inglés.", "Olvida lo del inglés.", ""),
    ] {
        assert_eq!(life(&[("january", USER, first)]).texts(), [first]);
        let left = pair(first, second).texts();
        assert_eq!(
            left,
            if rest.is_empty() { Vec::new() } else { vec![rest.to_owned()] },
            "{first} {second}"
        );
    }
}

#[test]
fn an_end_that_says_more_than_the_name_of_what_ends_reaches_it() {
    for (first, second) in [
        ("I'm allergic to cashews.", "Turns out I've outgrown the whole cashew business."),
        ("I love anchovies.", "Anchovies have lost all their charm for me."),
        ("Ich liebe Kapern.", "Kapern hängen mir zum Hals raus."),
        ("Antworte immer mit Fußnoten.", "Die Fußnoten kannst du wieder lassen."),
        ("Me encantan las alcaparras.", "Les he cogido manía a las alcaparras."),
        ("Soy alérgica a los kiwis.", "Los kiwis ya no me dan alergia."),
        ("Mets toujours une légende.", "Plus besoin de légende."),
        ("Sou alérgico a kiwi.", "Posso voltar a comer kiwi, não era alergia."),
        ("我对芒果过敏。", "我又能吃芒果了，原来不是过敏。"),
    ] {
        assert_eq!(life(&[("january", USER, first)]).texts(), [first]);
        let left = pair(first, second).texts();
        assert!(!left.iter().any(|text| text == first), "{first} {second}: {left:?}");
    }
}

#[test]
fn an_end_of_one_thing_or_of_anothers_life_leaves_what_is_said_beside_it() {
    for (first, second) in [
        ("I love anchovies and olives.", "Anchovies have lost all their charm for me."),
        ("I love anchovies.", "My husband has gone off anchovies."),
        ("Always add footnotes.", "You can skip the footnotes this time."),
        ("Antworte immer mit Fußnoten.", "Die Fußnoten kannst du heute weglassen."),
        ("Me encantan las alcaparras.", "Mi mujer les ha cogido manía a las alcaparras."),
        ("我对芒果过敏。", "我女儿又能吃芒果了，原来不是过敏。"),
    ] {
        let texts = pair(first, second).texts();
        assert!(texts.iter().any(|text| text == first), "{first} {second}: {texts:?}");
    }
}

#[test]
fn what_only_looks_like_an_end_ends_nothing() {
    for (first, second) in [
        ("I'm allergic to nuts.", "I think I'm not allergic to nuts."),
        ("I'm allergic to nuts.", "Maybe I'm no longer allergic to nuts."),
        ("I'm allergic to nuts.", "I'm not allergic to pollen."),
        ("I'm allergic to nuts.", "Am I not allergic to nuts anymore?"),
        ("I'm allergic to nuts.", "I don't eat nuts anymore."),
        ("I love sushi.", "I don't like cold sushi anymore."),
        ("I love French cinema.", "No French anymore."),
        ("Never use emojis in my mails.", "No more tables, please."),
        ("Never schedule anything on Wednesdays for me.", "Fridays are free again."),
        ("Always answer in Dutch.", "The meeting in Dutch is over."),
        ("I'm a vegetarian.", "My sister is no longer a vegetarian."),
    ] {
        let texts = pair(first, second).texts();
        assert!(texts.iter().any(|text| text == first), "{first} {second}: {texts:?}");
    }
}

#[test]
fn what_is_said_again_after_its_end_holds_again() {
    let turns: [Turn<'_>; 3] = [
        ("a", USER, "I'm a vegetarian."),
        ("b", USER, "I'm not a vegetarian anymore."),
        ("c", USER, "I'm a vegetarian."),
    ];
    assert_eq!(life(&turns).texts(), ["I'm a vegetarian."]);
    assert_eq!(life(&turns[..2]).texts(), [""; 0]);
}

#[test]
fn the_wish_of_the_message_before_is_taken_back_and_no_other() {
    let turns: [Turn<'_>; 3] = [
        ("a", USER, "Always answer in Dutch."),
        ("a", USER, "From now on, never use emojis."),
        ("a", USER, "Scratch that."),
    ];
    assert_eq!(life(&turns).texts(), ["Always answer in Dutch."]);
    let other = [turns[0], ("b", USER, "Scratch that.")];
    assert_eq!(life(&other).texts(), ["Always answer in Dutch."]);
}

#[test]
fn without_the_message_that_ends_it_what_was_said_holds_again() {
    let mut space = Space::new();
    space.say(("a", USER, "I'm allergic to nuts."));
    let end = space.say(("b", USER, "I'm not allergic to nuts after all."));
    space.catch_up(2);
    assert_eq!(space.texts(), [""; 0]);
    let before = space.learnt();
    assert_eq!(before[0].status, LearningStatus::Superseded);
    assert_eq!(before[0].superseded_by, Some(before[1].id));
    space.forget(&[end]);
    space.erase(&[end]);
    space.catch_up(2);
    assert_eq!(space.texts(), ["I'm allergic to nuts."]);
    assert_eq!(space.learnt().len(), 1);
}

/// Says something as of a day, whenever it is heard.
fn say_on(space: &mut Space, day: i64, text: &str) -> EventId {
    space.append_with(EventKind::UserMessage, text, USER, |entry| {
        entry.event.occurred_at = at(0).plus_micros(day * 86_400_000_000);
    })
}

#[test]
fn what_is_imported_later_ends_by_what_was_said_after_it() {
    let mut space = Space::new();
    say_on(&mut space, 20, "I'm not a vegetarian anymore.");
    say_on(&mut space, 10, "I'm a vegetarian.");
    space.catch_up(1);
    assert_eq!(space.texts(), [""; 0]);
    say_on(&mut space, 30, "I'm a vegetarian.");
    space.catch_up(1);
    assert_eq!(space.texts(), ["I'm a vegetarian."]);
}

/// The active texts, in alphabetical order.
fn sorted(space: &Space) -> Vec<String> {
    let mut texts = space.texts();
    texts.sort();
    texts
}

#[test]
fn a_change_replaces_its_part_of_a_wish_alone() {
    let first = "Please answer in short sentences, in tables and without emojis.";
    let space = pair(first, "Tables wear me out. From now on plain paragraphs, short ones.");
    assert_eq!(sorted(&space), ["From now on plain paragraphs", "short ones", "without emojis"]);
    let first = "Keep it brief, use numbered lists, no exclamation marks.";
    assert_eq!(
        sorted(&pair(first, "Thanks.")),
        ["Keep it brief", "no exclamation marks", "use numbered lists"]
    );
    let second = "I changed my mind about numbered lists, write paragraphs instead.";
    let texts = sorted(&pair(first, second));
    assert_eq!(texts, ["Keep it brief", "no exclamation marks", "write paragraphs instead"]);
    let first = "Antworte bitte immer kurz, in Tabellen und ohne Emojis.";
    let texts = sorted(&pair(first, "Ab jetzt bitte Fließtext statt Tabellen."));
    assert_eq!(
        texts,
        ["Ab jetzt bitte Fließtext statt Tabellen.", "Antworte bitte immer kurz", "ohne Emojis"]
    );
}

#[test]
fn another_shape_of_answers_replaces_the_one_before_in_whatever_words() {
    for (first, second, left) in [
        (
            "Antworte mir ab jetzt immer in Tabellen, das lese ich am schnellsten.",
            "Lass die Tabellen, schreib mir lieber kurze Absätze.",
            "schreib mir lieber kurze Absätze",
        ),
        (
            "A partir de ahora respóndeme siempre con listas.",
            "Deja las listas; escríbeme en párrafos cortos.",
            "escríbeme en párrafos cortos",
        ),
        (
            "Please answer in bullet points from now on.",
            "Bullet points are fine for lists, but drop them otherwise: plain prose from now on.",
            "Bullet points are fine for lists, but drop them otherwise: plain prose from now on.",
        ),
        (
            "Always answer in tables, I read them fastest.",
            "Drop the tables, write short paragraphs.",
            "write short paragraphs",
        ),
        (
            "Réponds toujours en prose.",
            "À partir de maintenant, des listes.",
            "À partir de maintenant, des listes.",
        ),
        (
            "Responda sempre em tabelas.",
            "Esquece as tabelas, escreva em parágrafos.",
            "escreva em parágrafos",
        ),
    ] {
        let texts = pair(first, second).texts();
        let texts: Vec<&str> = texts.iter().map(|text| text.trim_end_matches('.')).collect();
        assert_eq!(texts, [left.trim_end_matches('.')], "{first} {second}");
    }
}

#[test]
fn what_is_asked_of_one_answer_is_no_rule() {
    for text in [
        "For this mail only, please write in French.",
        "Always answer in French for this email.",
        "Just this once, skip the tests.",
        "Please never use emojis in this letter.",
        "Diesmal bitte ohne Tabelle.",
        "Antworte immer auf Englisch für diese Mail.",
        "Réponds toujours en anglais pour cette lettre.",
        "Responde siempre en inglés para este correo.",
        "这次请用英文回答",
    ] {
        assert_eq!(pair("Always answer in German.", text).texts(), ["Always answer in German."], "{text}");
    }
}

#[test]
fn a_wish_for_a_day_ends_with_it_and_displaces_nothing_that_lasts() {
    let space = pair("I prefer long answers.", "Today I want short answers, I'm on the train.");
    let holds = space.holds();
    assert_eq!(space.texts(), ["I prefer long answers.", "Today I want short answers, I'm on the train."]);
    assert_eq!(holds[0].expires_at, None);
    let end = holds[1].expires_at.unwrap();
    assert!(
        end > holds[1].occurred_at && end.as_micros() - holds[1].occurred_at.as_micros() <= 86_400_000_000
    );
    for text in [
        "Please answer in English today, my boss reads along.",
        "Never commit to main during the freeze this week.",
        "Bitte antworte heute immer auf Englisch.",
        "Aujourd'hui, réponds toujours en anglais.",
    ] {
        let holds = life(&[("a", USER, text)]).holds();
        assert!(holds.len() == 1 && holds[0].expires_at.is_some(), "{text}: {holds:?}");
    }
}

#[test]
fn a_wish_for_a_conversation_is_told_to_no_other() {
    for text in [
        "In this session, always use tabs.",
        "Antworte in diesem Gespräch immer auf Englisch.",
        "Dans cette conversation, réponds toujours en anglais.",
    ] {
        let space = life(&[("here", USER, text)]);
        let holds = space.holds();
        assert_eq!(holds.len(), 1, "{text}");
        assert!(
            holds[0].basis == Basis::Stated
                && holds[0].tags.iter().any(|tag| tag.as_str() == THIS_CONVERSATION)
        );
        let source = NotesSource::new(space.store.clone());
        let shown = |session: &str| {
            let asked =
                ContextRequest { session: SessionId::new(session).unwrap(), ..request(Within::All, at(60)) };
            now(source.fragments(&asked)).unwrap().value.len()
        };
        assert_eq!((shown("here"), shown("there")), (1, 0), "{text}");
    }
}

#[test]
fn from_now_on_is_a_rule_in_every_language() {
    for text in [
        "From now on, lead with the conclusion.",
        "From now on, put the conclusion first.",
        "As of today, name your sources.",
        "Ab jetzt immer zuerst das Ergebnis.",
        "Künftig bitte zuerst die Quelle.",
        "À partir de maintenant, commence par la conclusion.",
        "Désormais, d'abord la conclusion.",
        "A partir de ahora, empieza por la conclusión.",
        "De ahora en adelante, primero la conclusión.",
        "A partir de agora, comece pela conclusão.",
        "从现在起请先说结论。",
        "From now on, no bullet points.",
    ] {
        assert_eq!(life(&[("a", USER, text)]).texts(), [text]);
    }
}

#[test]
fn homes_jobs_families_and_health_are_no_preferences() {
    for text in [
        "I live in Graz with my sister and her parrot.",
        "I live in Graz with two friends.",
        "I work at a bakery with three colleagues.",
        "It turns out I'm not allergic to wasps.",
        "I have a bad knee.",
        "I have asthma and a cat.",
        "I'm pregnant.",
    ] {
        assert_eq!(life(&[("a", USER, text)]).texts(), [""; 0], "{text}");
    }
    for text in [
        "I'm allergic to celery.",
        "I'm lactose-intolerant.",
        "I never work on Sundays.",
        "I always travel with my dog.",
    ] {
        assert_eq!(life(&[("a", USER, text)]).texts(), [text]);
    }
}

#[test]
fn short_forms_of_wishes_are_learnt() {
    for text in [
        "Charts with matplotlib, please, seaborn never.",
        "Diagrams in SVG, please, PNG never.",
        "When you search connections: night buses only.",
        "If you book hotels: ground floor only.",
        "I drink whole milk again.",
        "I eat fish again.",
        "Hold off on the booking.",
        "Hold off on sending the invoice.",
        "Pears are the one thing I still can't digest.",
        "Onions are something I can't eat.",
        "Nothing after 16:30, please.",
        "Nothing before ten, please.",
        "No calls on Fridays from now on.",
        "No meetings on Mondays.",
        "Don't put any meetings before nine in my calendar, that's when I walk the dog.",
        "Bitte nichts nach 16:30.",
        "Keine Anrufe am Freitag.",
    ] {
        assert_eq!(life(&[("a", USER, text)]).texts(), [text]);
    }
}

#[test]
fn what_is_okay_again_ends_its_ban_and_leaves_what_is_asked_beside_it() {
    let first = "Don't put any meetings before nine in my calendar, that's when I walk the dog.";
    let second = "Meetings at eight are okay again, but please nothing later than 16:30.";
    assert_eq!(pair(first, second).texts(), [second]);
}

#[test]
fn another_value_of_the_same_thing_takes_the_place_of_the_wish() {
    for (first, second) in [
        ("prices in dollars please, always", "we're back in Bristol, so pounds now"),
        ("donne-moi toujours les montants en livres", "retour à Nantes, on repasse aux euros"),
        ("Bitte siezen, wir kennen uns ja nicht.", "Nach all den Wochen: duzen passt jetzt."),
        (
            "comparisons always as a table please",
            "tables are a pain on my phone, comparisons as a short list rather",
        ),
    ] {
        assert_eq!(life(&[("january", USER, first)]).texts(), [first]);
        assert_eq!(pair(first, second).texts(), [second], "{first}");
    }
    // Nothing is asked of those who wished for nothing.
    assert!(life(&[("january", USER, "we're back in Bristol, so pounds now")]).texts().is_empty());
    // A wish for a case, and one for another kind of text, hold beside the first.
    for (first, second) in [
        ("prices in euros please, always", "for customers in Leeds always prices in pounds please"),
        ("comparisons always as a table please", "recipes always as a short list please"),
    ] {
        assert_eq!(pair(first, second).texts().len(), 2, "{first} {second}");
    }
}

#[test]
fn an_end_reaches_what_stands_beside_a_reason_or_in_a_compound() {
    for (first, second) in [
        (
            "so doctor reckons I'm coeliac.",
            "biopsy came back clear, not coeliac at all, lab mix up with the blood.",
        ),
        (
            "for wedding planning you can write long answers, everything else short like always",
            "actually drop the long answers for wedding stuff too",
        ),
        ("don't ever ask me questions back, takes ages to answer", "you can ask me questions again"),
        ("Ich bin gegen Bienengift allergisch.", "Vergiss das mit den Bienen, der Test war negativ."),
    ] {
        assert_eq!(life(&[("january", USER, first)]).texts(), [first]);
        let left = pair(first, second).texts();
        assert!(!left.contains(&first.to_owned()), "{first}: {left:?}");
    }
}
