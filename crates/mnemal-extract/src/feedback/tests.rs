//! Feedback rule by rule, and over whole answers.

use super::*;

#[test]
fn every_pack_can_be_read() {
    for (language, text) in PACKS {
        if let Err(error) = Pack::read(text) {
            panic!("{language}: {error}");
        }
    }
}

// proves: NX-05.7
#[test]
fn every_rule_finds_its_examples_and_leaves_its_counter_examples() {
    let examples = PACKS.iter().flat_map(|(language, _)| feedback_examples(language).unwrap());
    let wrong: Vec<String> = examples.filter_map(|example| mistake(&example)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn mistake(example: &FeedbackExample) -> Option<String> {
    let found = feedback(example.turn());
    let is_like = |act: FeedbackAct| act == example.act || act.is_correction() && example.act.is_correction();
    let is_right = if example.is_counter {
        !found.iter().any(|feedback| feedback.rule.as_str() == example.rule)
    } else {
        found.iter().any(|feedback| is_like(feedback.act))
    };
    (!is_right).then(|| {
        let found: Vec<&str> = found.iter().map(|feedback| feedback.rule.as_str()).collect();
        format!("{} is wrong about {:?}: {found:?}", example.rule, example.turn())
    })
}

#[test]
fn a_sentence_is_not_weighed_down_by_its_neighbours() {
    let answer = "Here is the plan for the week, with every step explained at length.";
    for user in ["No, shorter please. I prefer short answers.", "I prefer short answers. No, shorter please."]
    {
        let found = feedback(Turn { user: &OwnWords::of_text(user), assistant: Some(answer), earlier: &[] });
        let acts: Vec<FeedbackAct> = found.iter().map(|feedback| feedback.act).collect();
        assert!(acts.contains(&FeedbackAct::Preference), "{user}: {found:?}");
    }
}

#[test]
fn signals_are_families_rules_and_form_and_dictated_text_has_none() {
    let signals = |assistant, user| {
        feedback_signals(Turn { user: &OwnWords::of_text(user), assistant: Some(assistant), earlier: &[] })
    };
    let shown = signals("I've replaced the loop with a map.", "That's wrong, it crashes now!");
    for name in ["before.did", "rules.correction", "shape.exclaims", "line.some"] {
        assert!(shown.contains(name), "{name} in {shown:?}");
    }
    assert!(signals("What should the card say?", "\"You are wrong\"").is_empty());
}

// proves: BA-31
#[test]
fn feedback_is_about_the_answer_before_and_what_users_say_of_themselves_is_a_fact() {
    let answer = "Here is the plan for the week: we start on Monday with a long introduction.";
    let acts = |user| -> Vec<FeedbackAct> {
        feedback(Turn { user: &OwnWords::of_text(user), assistant: Some(answer), earlier: &[] })
            .iter()
            .map(|found| found.act)
            .collect()
    };
    for user in ["No, that's wrong.", "No, we start on Tuesday, not on Monday."] {
        assert!(acts(user).iter().any(|act| act.is_correction()), "{user}: {:?}", acts(user));
    }
    for (user, act) in [
        ("From now on, always answer in French.", FeedbackAct::Directive),
        ("I prefer short answers.", FeedbackAct::Preference),
        ("Perfect, exactly what I needed, thank you!", FeedbackAct::Praise),
    ] {
        assert!(acts(user).contains(&act), "{user}: {:?}", acts(user));
    }
    assert_eq!(acts("I live in Lyon and I work at Bosch."), []);
}

#[test]
fn lines_that_lack_a_word_match_nowhere() {
    let mut found = 0;
    for text in crate::gold_texts::texts() {
        let words = OwnWords::whole(&text);
        // The search itself compares what it finds with what it finds in full.
        found +=
            feedback(Turn { user: &words, assistant: Some("Here is a draft. What else?"), earlier: &[] })
                .len();
        found += crate::notes::preference_notes(&words).len();
    }
    assert!(found > 300, "{found}");
}

/// Returns whether a message alone teaches how the assistant shall work.
fn orders(text: &str) -> bool {
    let own = OwnWords::of_text(text);
    let found = feedback(Turn { user: &own, assistant: None, earlier: &[] });
    found.iter().any(|one| one.is_explicit && one.act == FeedbackAct::Directive)
}

#[test]
fn how_answers_shall_be_in_general_is_an_explicit_directive_in_every_language() {
    for text in [
        "Give me amounts in euros.",
        "Short sentences, please.",
        "Call me Jo, everybody does.",
        "Times in the 24-hour clock please.",
        "Gib mir Beträge in Euro an.",
        "Das war ein langer Tag. Du darfst mich gern duzen.",
        "Kurze Sätze bitte.",
        "Donne-moi les montants en euros.",
        "Tu peux me tutoyer.",
        "Phrases courtes, s'il te plaît.",
        "Dame las cantidades en euros.",
        "Trátame de tú.",
        "Frases cortas, por favor.",
        "Dá-me os valores em euros.",
        "Podes tratar-me por tu.",
        "价格请用欧元给我。",
        "用繁体字回答。",
        "叫我小乔吧，大家都这么叫。",
    ] {
        assert!(orders(text), "{text}");
    }
}

#[test]
fn a_task_is_no_directive_for_all_that_comes() {
    for text in [
        "Give me a recipe for lentil soup.",
        "Call me a taxi for six.",
        "Give me the price of that tent in euros.",
        "Write this one in British spelling.",
        "My boss wants prices in dollars in his report.",
        "Nenn mir den Preis von dem Zelt in Euro.",
        "Schreib diesen Brief in der Sie-Form.",
        "Ruf mir ein Taxi für sechs.",
        "Appelle-moi un taxi pour six heures.",
        "Écris cette lettre en vouvoyant.",
        "Dame el precio de la tienda en euros.",
        "Llámame un taxi para las seis.",
        "Chama-me um táxi para as seis.",
        "Faz este e-mail curto.",
        "这封信用敬语写。",
        "六点帮我叫辆出租车。",
    ] {
        assert!(!orders(text), "{text}");
    }
}

/// Returns whether an answer to a message teaches how the assistant shall work.
fn directs(assistant: &str, text: &str) -> bool {
    let own = OwnWords::of_text(text);
    let found = feedback(Turn { user: &own, assistant: Some(assistant), earlier: &[] });
    found.iter().any(|one| one.act == FeedbackAct::Directive)
}

#[test]
fn a_request_for_once_or_an_idiom_is_no_directive() {
    for (assistant, text) in [
        ("The garden plan is done.", "From now on it can only get better."),
        ("I used the metric system.", "In future they want to change it everywhere."),
        ("I wrote the test.", "Run it before you push this one."),
        ("The model predicts rain.", "Always look on the bright side, eh."),
        ("I've put the dates in a list.", "Thanks ever so much."),
        ("The file has 30 rows.", "Delete every row without a date."),
        ("Shall I add the guests to the list?", "Yes, add all of them."),
        ("We walked all day.", "Feet hurt, legs hurt, but what a view."),
        ("Here is the draft of your toast.", "Stop it, you're making me laugh."),
        ("Moving house is hard.", "Tell me about it! We did it twice."),
        ("The flight is at nine.", "Give me a moment, the doorbell rang."),
    ] {
        assert!(!directs(assistant, text), "{text}");
    }
}

#[test]
fn a_rule_in_other_words_is_a_directive() {
    for (assistant, text) in [
        ("I cited blogs.", "Only cite peer-reviewed sources in my essays."),
        ("Dr. Meyer can see you on Monday.", "For appointments, mornings only."),
        ("I put the total at the top.", "Totals belong at the bottom of the table."),
        ("It's 500 words.", "When I say short I mean under 100."),
        ("I asked five questions.", "One question at a time, please."),
        ("I told your sister.", "What I tell you stays between us."),
    ] {
        assert!(directs(assistant, text), "{text}");
    }
}

fn wish_in(user: &str, assistant: Option<&str>) -> Option<Feedback> {
    let found = feedback(Turn { user: &OwnWords::of_text(user), assistant, earlier: &[] });
    found.into_iter().find(|one| one.is_explicit && one.act == FeedbackAct::Directive)
}

#[test]
fn a_wish_in_nobodys_phrase_is_weighed_in_every_language() {
    for wish in [
        "kilometres for me, miles mean nothing here",
        "oh and 24 hour clock from now on, am and pm confuse me",
        "if you draft mails to customers, no emojis",
        "für mich bitte alles in Celsius, Fahrenheit sagt mir nichts",
        "Bitte duzen, das Sie klingt so steif",
        "les tableaux sur mon téléphone c'est illisible, plutôt une petite liste",
        "on se tutoie, le vous me rappelle mon banquier",
        "nada de viñetas conmigo, me marean",
        "para vuelos siempre pasillo, que soy alto",
        "dispenso emojis nas respostas, me cansam",
        "对我来说公里就行，英里没概念",
        "麻煩用繁體回我，簡體看久了眼睛很累",
    ] {
        assert!(wish_in(wish, None).is_some(), "{wish}");
    }
}

#[test]
fn what_is_asked_of_one_task_or_told_of_life_is_no_weighed_wish() {
    for other in [
        "in Spanish this time, my gran sits next to me",
        "Proofread my abstract. 150 words max.",
        "The tent was 300 euros, far too much for us",
        "I've been learning Polish for two years",
        "Heute mal auf Englisch, ein Kollege guckt mit",
        "los precios en dólares de esa tabla, por favor, es para mi jefe",
        "ce soir on fait ça en anglais, j'ai un oral demain",
        "Minha irmã nunca usa emojis",
        "这条再短点，群公告有字数限制",
        "Long time no see!",
    ] {
        assert!(wish_in(other, None).is_none(), "{other}");
    }
    let answer = Some("Here is the summary, in 300 words.");
    assert!(wish_in("less waffle please", answer).is_none(), "it is about that answer");
    assert!(wish_in("if you draft mails for customers, no emojis", answer).is_some());
}

#[test]
fn another_value_alone_is_a_wish_only_in_the_place_of_an_earlier_one() {
    for change in ["we're back in Bristol, so pounds now", "on repasse aux euros", "jetzt doch Fahrenheit"] {
        let found = feedback(Turn { user: &OwnWords::of_text(change), assistant: None, earlier: &[] });
        let [only] = found.as_slice() else { panic!("{change}: {found:?}") };
        assert!(only.is_slot_change() && !only.is_explicit, "{change}: {only:?}");
    }
}

#[test]
fn a_sentence_names_the_one_thing_of_which_one_wish_holds() {
    let slots = [
        ("prices in pounds please", Some("currency")),
        ("Uhrzeiten bitte im 24-Stunden-Format", Some("clock")),
        ("asiento de pasillo siempre", Some("seat")),
        ("celsius and km", None),
        ("miles for trains", None),
        ("for flights the aisle", None),
        ("keep it short", None),
    ];
    for (sentence, slot) in slots {
        assert_eq!(wish_slot(sentence), slot, "{sentence}");
    }
    assert_eq!(wish_works("comparisons as a table, answers short"), ["comparisons"]);
}

#[test]
fn a_value_ends_where_words_of_others_are_left_out() {
    let user = "no pears \"as Ben would say it\" and plums!!";
    let own = OwnWords::of_text(user);
    for answer in ["no, ", "Here are the pears."] {
        let found = feedback(Turn { user: &own, assistant: Some(answer), earlier: &[] });
        for one in found {
            assert!(one.value.as_deref().is_none_or(|value| user.contains(value)), "{one:?}");
        }
    }
    let broken = "\"\"0\". \"a!!";
    let found = feedback(Turn { user: &OwnWords::of_text(broken), assistant: Some("no, "), earlier: &[] });
    assert!(found.iter().all(|one| one.value.as_deref().is_none_or(|value| broken.contains(value))));
}

#[test]
fn what_somebody_else_does_is_no_wish() {
    for text in [
        "The waiter no longer answers in English.",
        "Our teacher only writes long mails.",
        "The bank never sends short letters.",
        "My colleagues always write in capitals.",
        "She always writes in full sentences.",
        "Der Arzt schreibt immer in Großbuchstaben.",
        "Meine Kollegin benutzt nie Emojis.",
        "Die Nachbarn duzen immer alle.",
        "Frau Lang schreibt ab jetzt die Protokolle.",
        "Le serveur répond toujours en anglais.",
        "La prof n'écrit jamais de longues réponses.",
        "El camarero ya no responde en inglés.",
        "La vecina nunca usa emojis.",
        "O garçom não responde mais em inglês.",
        "A professora nunca usa emojis.",
        "那个服务员不再用英文回答了。",
        "我们老师从不用表情符号。",
    ] {
        let wishes = feedback(Turn { user: &OwnWords::of_text(text), assistant: None, earlier: &[] });
        assert!(!wishes.iter().any(|wish| wish.act == FeedbackAct::Directive), "{text}: {wishes:?}");
    }
    for text in [
        "The answers always come in English, please use German.",
        "Please always answer in English.",
        "Die Antworten bitte immer auf Englisch.",
        "Les réponses toujours en anglais, s'il te plaît.",
        "Las respuestas siempre en inglés, por favor.",
        "As respostas sempre em inglês, por favor.",
        "请一直用英文回答。",
    ] {
        let wishes = feedback(Turn { user: &OwnWords::of_text(text), assistant: None, earlier: &[] });
        assert!(wishes.iter().any(|wish| wish.act == FeedbackAct::Directive), "{text}: {wishes:?}");
    }
}

#[test]
fn what_must_be_done_on_another_occasion_is_no_wish() {
    let wishes = |user: &str| {
        feedback(Turn { user: &OwnWords::of_text(user), assistant: None, earlier: &[] })
            .into_iter()
            .filter(|found| matches!(found.act, FeedbackAct::Directive | FeedbackAct::Preference))
            .count()
    };
    for text in [
        "In the exam you must always answer in full sentences.",
        "At my old job you had to always answer in English.",
        "When writing a cover letter you should never use slang.",
        "In der Prüfung muss man immer in ganzen Sätzen antworten.",
        "À l'examen, il faut toujours répondre par des phrases complètes.",
        "En el examen hay que responder siempre con frases completas.",
        "Na prova é preciso responder sempre com frases completas.",
        "考试时必须用完整的句子回答。",
    ] {
        assert_eq!(wishes(text), 0, "{text}");
    }
    for text in ["Always answer in full sentences.", "You must always answer in full sentences."] {
        assert_eq!(wishes(text), 1, "{text}");
    }
}
