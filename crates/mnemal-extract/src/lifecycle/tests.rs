//! Endings and durations, in every language.

use super::*;

#[test]
fn each_rule_of_each_pack_finds_its_examples_and_passes_its_counters() {
    let mut wrong = Vec::new();
    for (language, text) in PACKS {
        let pack = LifecyclePack::parse(language, text).unwrap_or_else(|error| panic!("{language}: {error}"));
        let read = |text: &str| -> Vec<Ending> {
            let all: Vec<_> = sentences(text).into_iter().map(|one| one.range()).collect();
            let before = |at: usize| at.checked_sub(1).and_then(|at| all.get(at)).cloned();
            let places = all.iter().enumerate();
            places.flat_map(|(at, of)| pack.endings(text, of.clone(), before(at))).collect()
        };
        for (rule, examples, counters) in pack.tests() {
            assert!(!examples.is_empty() && !counters.is_empty(), "{rule:?}");
            for example in examples {
                let found = read(example);
                if !found.iter().any(|one| one.rule == *rule) {
                    wrong.push(format!("{rule:?} misses {example}: {found:?}"));
                }
            }
            for counter in counters {
                let found = read(counter);
                if found.iter().any(|one| one.rule == *rule) {
                    wrong.push(format!("{rule:?} takes {counter}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn words(text: &str) -> Vec<(EndingScope, EndedSide, String)> {
    endings(&OwnWords::of_text(text))
        .into_iter()
        .map(|ending| (ending.scope, ending.side, ending.words.join(" ")))
        .collect()
}

#[test]
fn what_ends_is_named_by_its_words_in_every_language() {
    use EndedSide::{Do, Either, Leave};
    use EndingScope::{Any, Own, Taste, Work};
    for (text, scope, side, named) in [
        ("I'm not a vegetarian anymore.", Own, Either, "vegetarian"),
        ("The lab says I'm not allergic to latex.", Own, Either, "allergic latex"),
        ("My egg allergy is gone.", Any, Either, "egg allergy"),
        ("I don't like sushi anymore.", Taste, Do, "sushi"),
        ("I no longer eat red meat, my doctor insisted.", Own, Do, "eat red meat"),
        ("Wednesdays are free again, the course is over.", Any, Leave, "wednesdays"),
        ("You don't have to answer in Dutch any more.", Work, Do, "answer dutch"),
        ("Ich mag keinen Koriander mehr.", Taste, Do, "koriander"),
        ("Ich esse kein Fleisch mehr.", Own, Do, "esse fleisch"),
        ("Freitags ist wieder frei.", Any, Leave, "freitags"),
        ("Je ne mange plus de viande.", Own, Do, "mange viande"),
        ("Je n'aime plus le café.", Taste, Do, "cafe"),
        ("Ya no me gusta el café.", Taste, Do, "cafe"),
        ("Não como mais carne.", Own, Do, "carne"),
        ("我不再喝咖啡了", Own, Do, "喝咖啡"),
        ("我不喜欢香菜了。", Taste, Do, "香菜"),
    ] {
        let found = words(text);
        assert!(found.contains(&(scope, side, named.to_owned())), "{text}: {found:?}");
    }
}

#[test]
fn a_kind_ends_as_a_whole_where_nothing_is_named_in_every_language() {
    use EndingScope::{Goal, Home, Illness, Job, Partner, Pet, Study};
    for (text, scope) in [
        ("They let me go.", Job),
        ("I'm out of work now.", Job),
        ("Mir wurde im Mai gekündigt.", Job),
        ("Ich bin jetzt arbeitslos.", Job),
        ("J'ai été virée hier.", Job),
        ("Me despidieron en mayo.", Job),
        ("Fui demitida ontem.", Job),
        ("我上个月失业了。", Job),
        ("I don't live there any more.", Home),
        ("Da wohne ich nicht mehr.", Home),
        ("Je n'habite plus là-bas.", Home),
        ("Ya no vivimos allí.", Home),
        ("Já não moro lá.", Home),
        ("我不住那里了。", Home),
        ("I'm single again.", Partner),
        ("Wir sind nicht mehr zusammen.", Partner),
        ("Nous avons rompu.", Partner),
        ("Hemos roto.", Partner),
        ("Nos divorciamos.", Partner),
        ("我们分手了。", Partner),
        ("Our dog passed away.", Pet),
        ("Unsere Katze ist gestorben.", Pet),
        ("Notre chat est mort.", Pet),
        ("Nuestro perro murió.", Pet),
        ("Nosso cachorro morreu.", Pet),
        ("我家的狗死了。", Pet),
        ("I graduated last week.", Study),
        ("Ich habe das Studium abgebrochen.", Study),
        ("J'ai terminé mes études.", Study),
        ("Me gradué ayer.", Study),
        ("Me formei ontem.", Study),
        ("我毕业了。", Study),
        ("Goal reached!", Goal),
        ("Ziel erreicht!", Goal),
    ] {
        let found = words(text);
        let is_whole = |(of, _, named): &(EndingScope, EndedSide, String)| *of == scope && named.is_empty();
        assert!(found.iter().any(is_whole), "{text}: {found:?}");
    }
    for (text, named) in [
        ("I'm well again.", "flu"),
        ("Ich bin wieder gesund.", "grippe"),
        ("Je suis guérie.", "grippe"),
        ("Ya estoy bien.", "gripe"),
        ("Já estou bem.", "gripe"),
        ("我病好了。", "流感"),
    ] {
        let found = words(text);
        assert!(found.iter().any(|(of, _, word)| *of == Illness && word == named), "{text}: {found:?}");
        assert!(!found.iter().any(|(_, _, word)| word.is_empty()), "what is chronic does not end: {text}");
    }
}

#[test]
fn what_somebody_else_did_or_what_nearly_came_to_pass_ends_no_kind() {
    for text in [
        "My colleague was laid off.",
        "I almost quit my job.",
        "I never said I left Corvane.",
        "It's not true that I moved away from Fleetwood.",
        "I dreamed that our dog passed away.",
        "My neighbour's canoe was stolen.",
        "Mein Kollege wurde entlassen.",
        "Fast hätte ich gekündigt.",
        "Ich habe nie gesagt, dass ich bei Corvane aufgehört habe.",
        "Ich habe geträumt, dass unsere Katze gestorben ist.",
        "Mon collègue a été licencié.",
        "J'ai failli démissionner.",
        "Ce n'est pas vrai que j'ai quitté Vannes.",
        "A mi compañero lo despidieron.",
        "Estuve a punto de dejar Corvane.",
        "No es verdad que me haya ido de Soria.",
        "Meu colega foi demitido.",
        "Quase saí da Corvane.",
        "我同事被开除了。",
        "我差点辞职了。",
        "我梦见我家的狗死了。",
        "我没有辞职。",
    ] {
        assert_eq!(words(text), [], "{text}");
    }
}

#[test]
fn what_ends_nothing_in_the_language_of_a_few_words_is_read_in_the_others() {
    for text in ["Renuncié a Corvane.", "Saí de Olinda.", "Nos separamos."] {
        assert!(!words(text).is_empty(), "{text}");
    }
}

#[test]
fn questions_doubts_quotes_and_what_only_looks_like_an_end_end_nothing() {
    for text in [
        "I think I'm not allergic to nuts.",
        "Maybe I no longer like sushi.",
        "Should I stop eating meat?",
        "She said \"I don't eat meat anymore, ever\" and left.",
        "> I'm not a vegetarian anymore.",
        "The meeting is over.",
        "I'm not only a vegetarian.",
        "Vielleicht mag ich keinen Koriander mehr.",
        "Das Treffen ist vorbei.",
        "Je crois que je n'aime plus le café.",
        "我可能不再喝咖啡了",
        "I live in Bern with a dog.",
        "Ich mag Koriander.",
    ] {
        assert_eq!(words(text), [], "{text}");
    }
}

#[test]
fn a_wish_falls_into_its_parts() {
    let read = |text: &str| -> (Vec<(Form, bool, String)>, bool) {
        let wish = form_wish(text);
        let part = |part: &FormPart| (part.form, part.denies, part.span.of(text).unwrap().to_owned());
        (wish.parts.iter().map(part).collect(), wish.is_pure)
    };
    let part = |form, denies, text: &str| (form, denies, text.to_owned());
    let expect = vec![
        part(Form::Length, false, "Please answer in short sentences"),
        part(Form::Shape, false, "in tables"),
        part(Form::Emoji, true, "without emojis"),
    ];
    assert_eq!(read("Please answer in short sentences, in tables and without emojis."), (expect, true));
    let expect = vec![
        part(Form::Length, false, "Keep it brief"),
        part(Form::Shape, false, "use numbered lists"),
        part(Form::Marks, true, "no exclamation marks"),
    ];
    assert_eq!(read("Keep it brief, use numbered lists, no exclamation marks."), (expect, true));
    let expect = vec![
        part(Form::Length, false, "Antworte kurz"),
        part(Form::Shape, false, "in Tabellen"),
        part(Form::Emoji, true, "ohne Emojis"),
    ];
    assert_eq!(read("Antworte kurz, in Tabellen und ohne Emojis."), (expect, true));
    assert!(!read("The short list of guests, no emojis.").1);
    assert_eq!(read("I live in Bern."), (Vec::new(), false));
}

#[test]
fn how_long_a_wish_holds_is_read_in_every_language() {
    let zone = mnemal_core::Zone::utc();
    // Monday, 2 March 2026, 09:00.
    let at = Timestamp::from_micros(1_772_442_000_000_000).unwrap();
    let anchor = Anchor { at, zone: &zone };
    let hours = |hours: i64| Duration::Until(at.plus_micros(hours * 3_600_000_000));
    for (text, expect) in [
        ("From now on, lead with the conclusion.", Duration::Lasting),
        ("Ab jetzt immer zuerst das Ergebnis.", Duration::Lasting),
        ("À partir de maintenant, commence par la conclusion.", Duration::Lasting),
        ("从现在起请先说结论。", Duration::Lasting),
        ("For this mail only, please write in French.", Duration::Answer),
        ("Always answer in French for this email.", Duration::Answer),
        ("Just this once, skip the tests.", Duration::Answer),
        ("Diesmal bitte ohne Tabelle.", Duration::Answer),
        ("Pour cette lettre, écris en anglais.", Duration::Answer),
        ("Por esta vez, sin tablas.", Duration::Answer),
        ("这次请用英文回答", Duration::Answer),
        ("This one answer in French, please: what is a lighthouse?", Duration::Answer),
        ("Für diese eine Antwort bitte eine Liste.", Duration::Answer),
        ("Cette réponse, s'il te plaît, en anglais.", Duration::Answer),
        ("Esta respuesta, por favor, en inglés.", Duration::Answer),
        ("Não escreva isso: esta resposta, por favor, em inglês.", Duration::Answer),
        ("这条回复请用英文。", Duration::Answer),
        ("In this session, always use tabs.", Duration::Session),
        ("In dieser Unterhaltung bitte immer auf Englisch.", Duration::Session),
        ("Pendant cette conversation, réponds en anglais.", Duration::Session),
        ("Today I want short answers, I'm on the train.", hours(15)),
        ("Heute bitte kurze Antworten.", hours(15)),
        ("Aujourd'hui, réponds en anglais.", hours(15)),
        ("Hoy responde en inglés.", hours(15)),
        ("今天请用英文回答。", hours(15)),
        ("Never commit to main during the freeze this week.", hours(15 + 6 * 24)),
        ("No calls until Friday, please.", hours(15 + 4 * 24)),
        ("Please answer in English.", Duration::Unsaid),
        ("I prefer window seats.", Duration::Unsaid),
    ] {
        assert_eq!(duration(text, &anchor), expect, "{text}");
    }
}

/// Returns what the sentences of a text end, and which forms they name, read by the pack of its language without a look before.
fn read_in_full(text: &str) -> (Vec<Ending>, Vec<FormWish>) {
    let all = sentences(text);
    let endings = endings_among(Packs::ALL, text);
    let wish = |text: &str| pack_of(text).unwrap().form_wish(text);
    (endings, all.iter().map(|one| wish(one.of(text))).collect())
}

#[test]
fn the_quick_look_passes_over_nothing_that_a_rule_finds() {
    let mut texts = crate::gold_texts::texts();
    for (language, text) in PACKS {
        let pack = LifecyclePack::parse(language, text).unwrap();
        for (_, examples, counters) in pack.tests() {
            texts.extend(examples.iter().chain(counters).cloned());
        }
    }
    let plain = crate::gold_texts::texts();
    let is_passed = |text: &&String| packs_that_may_end(text).is_empty();
    let passed = plain.iter().filter(is_passed).count();
    let mut found = 0;
    for text in &texts {
        let quick = (
            endings(&OwnWords::whole(text)),
            sentences(text).iter().map(|one| form_wish(one.of(text))).collect::<Vec<_>>(),
        );
        assert_eq!(quick, read_in_full(text), "{text}");
        found += usize::from(!quick.0.is_empty());
    }
    assert!(found > 200 && passed * 3 > plain.len(), "{found} and {passed} of {}", plain.len());
}
