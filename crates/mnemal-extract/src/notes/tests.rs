//! Preference notes rule by rule.

use super::*;

#[test]
fn every_pack_can_be_read() {
    for (language, text) in PACKS {
        if let Err(error) = NotePack::parse(language, text) {
            panic!("{language}: {error}");
        }
    }
}

#[test]
fn every_rule_finds_its_examples_and_leaves_its_counter_examples() {
    let mut wrong = Vec::new();
    for rule in packs().all().flat_map(|pack| &pack.rules) {
        for example in &rule.examples {
            if !preference_notes(&OwnWords::of_text(example)).iter().any(|note| note.rule == rule.id) {
                wrong.push(format!("{} misses: {example}", rule.id.as_str()));
            }
        }
        for counter in &rule.counters {
            if !preference_notes(&OwnWords::of_text(counter)).is_empty() {
                wrong.push(format!("{} takes: {counter}", rule.id.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_note_is_the_sentence_verbatim_with_its_topics() {
    let text = "Thanks! I can't stand crowded places, so a quiet beach is better. Which one is it?";
    let notes = preference_notes(&OwnWords::of_text(text));
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].span.of(text), Some("I can't stand crowded places, so a quiet beach is better."));
    assert_eq!(notes[0].kind, NoteKind::Aversion);
    assert!(notes[0].topics.iter().any(|topic| topic == "crowded"), "{:?}", notes[0].topics);
    assert!(
        preference_notes(&OwnWords::of_text("I have diabetes, so I can't eat sugar."))[0]
            .requires_user_permission
    );
}

#[test]
fn a_short_clause_with_a_question_mark_asks() {
    for text in [
        "Any news for me?",
        "Any news for me?!",
        "(any news for me?)",
        "Any news for me? 🙂",
        "Minutes of the meeting, any actions for me?",
        "I prefer tea?",
    ] {
        assert!(preference_notes(&OwnWords::of_text(text)).is_empty(), "{text}");
    }
    for text in ["I prefer tea, any ideas?", "I love hiking so which of the trails should I take?"] {
        assert_eq!(preference_notes(&OwnWords::of_text(text)).len(), 1, "{text}");
    }
}

#[test]
fn a_gate_takes_a_note_away() {
    for text in [
        "Do I hate crowded places?",
        "If I hate crowded places, where can I go?",
        "My sister hates crowded places.",
        "She said I hate crowded places.",
        "I used to hate crowded places.",
        "\"I really hate crowded places\" was the headline.",
        "I don't know whether I hate crowded places.",
        "I hate my answers in bullet points.",
    ] {
        assert!(preference_notes(&OwnWords::of_text(text)).is_empty(), "{text}");
    }
}

fn kinds(text: &str) -> Vec<NoteKind> {
    preference_notes(&OwnWords::of_text(text)).iter().map(|note| note.kind).collect()
}

#[test]
fn tastes_and_constraints_are_read_in_the_language_of_their_sentence() {
    for text in [
        "We had a lovely evening. I can't manage stairs since the operation.",
        "I take my tea with oat milk, never with cow's milk.",
        "Auf dem Markt war viel los. Pilze kann ich übrigens nicht ausstehen.",
        "Espresso trinke ich ohne Zucker.",
        "Im Flieger nehme ich am liebsten einen Fensterplatz.",
        "On a passé une belle soirée. Je ne tolère pas le gluten.",
        "Mon café, c'est sans sucre.",
        "El mercado estaba lleno. Por cierto, no soporto las setas.",
        "El té lo tomo con leche de avena.",
        "Não como carne de porco.",
        "No avião prefiro a janela.",
        "市场今天人很多。对了，我受不了蘑菇。",
        "我喝咖啡不加糖。",
    ] {
        assert_eq!(kinds(text).len(), 1, "{text}");
    }
}

#[test]
fn what_others_like_and_what_is_asked_or_supposed_is_no_note_in_any_language() {
    for text in [
        "Meine Schwester kann Pilze nicht ausstehen.",
        "Soll ich auf Fleisch verzichten?",
        "Im Roman sagt der Held: Ich trinke keinen Wein.",
        "Ma sœur ne supporte pas les champignons.",
        "Si j'étais végane, qu'est-ce que je pourrais cuisiner ?",
        "Mi hermana no soporta las setas.",
        "Si fuera vegana, ¿qué podría cocinar?",
        "A minha irmã não suporta cogumelos.",
        "我姐姐受不了蘑菇。",
        "我应该戒肉吗？",
    ] {
        assert_eq!(kinds(text), [], "{text}");
    }
}

#[test]
fn what_is_done_how_often_is_no_wish() {
    for text in [
        "I swim twice a week, before breakfast.",
        "Every morning I walk the dog along the river.",
        "I usually get up at six.",
        "Jeden Dienstag gehe ich in den Chor.",
        "Tous les mardis je vais à la chorale.",
        "Nado dos veces por semana, antes del desayuno.",
        "Todas as terças vou ao coro.",
        "我每周游两次泳，早饭前。",
    ] {
        assert_eq!(kinds(text), [], "{text}");
    }
}

#[test]
fn what_is_only_supposed_or_ordered_is_no_note() {
    for text in [
        "Say I'm a vegan and live in Bath.",
        "In this scenario I'm allergic to nuts.",
        "Let's pretend that I'm allergic to nuts.",
        "Hypothetisch gesehen bin ich Vegetarier.",
        "Sagen wir, ich bin Veganer und wohne in Ulm.",
        "Disons que je suis végétarien.",
        "Pongamos que soy vegano y vivo en Cali.",
        "Supón que soy alérgico a la leche.",
        "Digamos que sou vegano.",
        "Vamos supor que sou alérgico a nozes.",
        "打个比方，我对小麦过敏。",
        "Book the hotel for me.",
        "Please search the web for me.",
        "Translate the letter for me",
        "I prefer the second version.",
        "Mir gefällt der zweite Entwurf besser.",
        "Das liebe ich, danke!",
        "J'adore, merci !",
        "¡Me encanta, gracias!",
        "Prefiero la segunda versión.",
        "Adoro, obrigado!",
        "我更喜欢第二版。",
    ] {
        assert!(preference_notes(&OwnWords::of_text(text)).is_empty(), "{text}");
    }
    for text in ["Aisle seats for me.", "I'm a vegan.", "Soy vegano.", "Ich bin Veganer.", "我对小麦过敏。"]
    {
        assert!(!preference_notes(&OwnWords::of_text(text)).is_empty(), "{text}");
    }
}
