//! Extractive answers: a question is answered with logged sentences, or not at all.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use mnemal::context::RecordRef;
use mnemal::graph::FactFilter;
use mnemal::recall::Quote;
use mnemal::{Memory, Message, Timestamp, Zone};

/// Midnight of 5 May 2026.
const DAY: i64 = 1_777_939_200_000_000;

async fn telling(texts: &[&str]) -> Memory {
    let memory = Memory::in_memory().await.unwrap();
    let at = Timestamp::EPOCH.plus_micros(DAY);
    for text in texts {
        let _ack = memory.log(Message::user(*text).occurred_at(at, Zone::utc())).await.unwrap();
    }
    assert_eq!(memory.facts().graph().await.unwrap().gaps, []);
    memory
}

async fn said(memory: &Memory, question: &str) -> Vec<String> {
    memory.ask(question).await.unwrap().value.quotes.into_iter().map(|quote| quote.text).collect()
}

#[tokio::test]
async fn a_fact_answers_with_its_day_and_its_sentence() {
    let memory = telling(&["My sister Nora lives in Ghent.", "The heating was repaired today."]).await;
    let answer = memory.ask("Where does Nora live?").await.unwrap().value;
    let first = &answer.quotes[0];
    assert_eq!((first.number, first.day.as_str(), first.label.as_str()), (1, "2026-05-05", ""));
    assert!(first.text.contains("Ghent") && matches!(first.record, RecordRef::Fact(_)), "{first:?}");
    let source = first.sources[0];
    let turn = memory.events().get(source.event).await.unwrap();
    let sentence = source.span.of(&turn.body().unwrap().content).unwrap();
    assert!(sentence.contains("Ghent"), "{sentence}");
    assert_eq!(answer.receipt.lines[0].record, first.record, "the number names the line of the receipt");
}

#[tokio::test]
async fn what_was_just_said_answers_though_nothing_read_the_graph_since() {
    let memory = telling(&["I live in Bern."]).await;
    let at = Timestamp::EPOCH.plus_micros(DAY + 3_600_000_000);
    let _ack = memory.log(Message::user("I moved to Basel.").occurred_at(at, Zone::utc())).await.unwrap();
    let answer = memory.ask("Where do I live?").await.unwrap();
    assert_eq!(answer.gaps, []);
    let quotes = answer.value.quotes;
    assert!(quotes.first().unwrap().text.contains("Basel"), "{quotes:?}");
    let mut before = quotes.iter().filter(|quote| quote.text.contains("Bern"));
    assert!(before.all(|quote| quote.label == "(no longer so)"), "{quotes:?}");
}

#[tokio::test]
async fn a_sentence_answers_where_no_fact_does() {
    let memory = telling(&[
        "The open-air cinema was lovely. Its film was chosen by the tax accountant above the bakery.",
        "The heating was repaired today.",
    ])
    .await;
    let said = said(&memory, "Who chose the film of the open-air cinema?").await;
    assert!(said[0].contains("chosen by the tax accountant"), "{said:?}");
}

#[tokio::test]
async fn what_nothing_answers_is_not_known() {
    let memory = telling(&[
        "My sister Nora lives in Ghent.",
        "Which blood group is the rarest?",
        "Correct this mail:\n\n> From: Agata\n> My blood group is zero and I live in Porto.",
    ])
    .await;
    for question in ["What is my blood group?", "Which school did I go to?", "Was kostet das Auto?", ""] {
        assert_eq!(said(&memory, question).await, [""; 0], "{question}");
    }
    let answer = memory.ask("What is my blood group?").await.unwrap();
    assert!(answer.gaps.is_empty(), "{:?}", answer.gaps);
}

#[tokio::test]
async fn a_sentence_of_another_language_answers_and_a_number_names_its_line_whatever_it_quotes() {
    let memory = telling(&["Vivo en Teruel, en una casa con patio."]).await;
    let answer = memory.ask("Where do I live?").await.unwrap().value;
    let first = answer.quotes.first().unwrap();
    assert!(first.text.contains("Teruel"), "{first:?}");
    let line = format!("- 1 2026-05-05 \"see {}\"", answer.receipt.lines[0].sources[0].event);
    let receipt = Some(answer.receipt.id);
    for named in ["1", line.as_str()] {
        assert_eq!(memory.admin().record_named(named, receipt).await.unwrap(), first.record, "{named}");
    }
    for (named, receipt) in [("1", None), ("no id", receipt), ("9", receipt)] {
        assert!(memory.admin().record_named(named, receipt).await.is_err(), "{named}");
    }
}

/// Logs texts a day apart, behind some that nothing is asked of.
async fn telling_by_day(texts: &[&str]) -> Memory {
    let memory = Memory::in_memory().await.unwrap();
    let others = ["The heating was repaired today.", "It rained all week.", "Can you plan a picnic for us?"];
    for (day, text) in (0..).zip(others.iter().chain(texts)) {
        let at = Timestamp::EPOCH.plus_micros(DAY + day * 86_400_000_000);
        let _ack = memory.log(Message::user(*text).occurred_at(at, Zone::utc())).await.unwrap();
    }
    assert_eq!(memory.facts().graph().await.unwrap().gaps, []);
    memory
}

#[tokio::test]
async fn whoever_takes_over_a_role_has_it_in_every_language() {
    for (before, change, question, new) in [
        (
            "My dentist is Dr. Okafor.",
            "Dr. Okafor retired; Dr. Lund took over the practice.",
            "Who is my dentist?",
            "Lund",
        ),
        ("My boss is Joanna.", "Joanna was replaced by Sunil.", "Who is my boss?", "Sunil"),
        ("My GP is Dr Webb.", "I switched from Dr Webb to Dr Nair.", "Who is my GP?", "Nair"),
        (
            "Mein Chef ist Herr Krüger.",
            "Herr Krüger geht, seine Nachfolgerin ist Frau Yilmaz.",
            "Wer ist mein Chef?",
            "Yilmaz",
        ),
        (
            "Ma cheffe s'appelle Claire.",
            "Claire est partie, c'est Damien qui la remplace.",
            "Qui est ma cheffe ?",
            "Damien",
        ),
        (
            "Mi jefa es Lucía.",
            "Lucía se fue de la empresa y la sustituye Andrés.",
            "¿Quién es mi jefa?",
            "Andrés",
        ),
        (
            "Meu chefe é o Paulo.",
            "O Paulo saiu da empresa e a Renata entrou no lugar dele.",
            "Quem é meu chefe?",
            "Renata",
        ),
        ("我的老板是王强。", "王强离职了，现在由李敏接替他。", "我的老板是谁?", "李敏"),
    ] {
        let memory = telling_by_day(&[before, change]).await;
        let answer = memory.ask(question).await.unwrap().value;
        let first = &answer.quotes[0];
        assert!(
            first.text.contains(new) && matches!(first.record, RecordRef::Fact(_)),
            "{question} {first:?}"
        );
        let others = &answer.quotes[1..];
        let is_over = |quote: &Quote| quote.text.contains(new) || quote.label == "(no longer so)";
        assert!(others.iter().all(is_over), "{question} {others:?}");
    }
}

#[tokio::test]
async fn things_and_friends_take_over_no_role() {
    for text in [
        "My colleague Tom said his phone was replaced by Samsung.",
        "My friend Tom left the band and was replaced by Ana.",
        "My boss Carl moved from Leeds to York.",
        "Dr. Lund takes over until my dentist Dr. Okafor is back.",
    ] {
        let memory = telling_by_day(&[text]).await;
        let graph = memory.facts().graph().await.unwrap().value;
        let facts = graph.history(&FactFilter::all()).await.unwrap();
        let mut supports = facts.iter().flat_map(|fact| &fact.supports);
        assert!(supports.all(|support| !support.rule.as_str().ends_with("successor")), "{text}: {facts:?}");
    }
}

#[tokio::test]
async fn what_ended_an_outdated_turn_stands_before_it() {
    let memory =
        telling_by_day(&["I drive a 2019 Corolla.", "I traded the Corolla in for a Nissan Leaf."]).await;
    let quotes = memory.ask("What car do I drive?").await.unwrap().value.quotes;
    assert_eq!(quotes[0].text, "I traded the Corolla in for a Nissan Leaf.");
    assert_eq!(
        (quotes[1].text.as_str(), quotes[1].label.as_str()),
        ("I drive a 2019 Corolla.", "(no longer so)")
    );
    let context = memory.context("What car do I drive?").await.unwrap().value;
    assert!(context.text.contains("Nissan Leaf"), "{}", context.text);
}

#[tokio::test]
async fn a_later_turn_about_the_same_that_tells_a_change_comes_first() {
    for (before, change, question) in [
        (
            "I take 50 mg of sertraline every morning.",
            "My doctor raised my sertraline to 100 mg.",
            "How much sertraline do I take?",
        ),
        ("Our CI runs on GitHub Actions.", "We moved CI to Buildkite last week.", "What does our CI run on?"),
        ("I lent my drill to Oskar.", "Oskar gave the drill back.", "Who has my drill?"),
    ] {
        let memory = telling_by_day(&[before, change]).await;
        assert_eq!(said(&memory, question).await.first().map(String::as_str), Some(change), "{question}");
    }
}

#[tokio::test]
async fn british_and_american_spelling_find_each_other() {
    for (text, question) in [
        ("My favourite colour is teal.", "What is my favorite color?"),
        ("My favorite flavor is pistachio.", "What's my favourite flavour?"),
    ] {
        let memory = telling_by_day(&[text]).await;
        let said = said(&memory, question).await;
        assert_eq!(said.first().map(String::as_str), Some(text), "{question}");
    }
}

#[tokio::test]
async fn a_count_is_answered_by_a_number_alone() {
    let memory = telling_by_day(&["I have two kids, Ida and Max.", "My kids love the sea."]).await;
    assert_eq!(said(&memory, "How many kids do I have?").await[0], "I have two kids, Ida and Max.");
    let memory = telling_by_day(&["My kids love the sea."]).await;
    assert_eq!(said(&memory, "How many kids do I have?").await, [""; 0]);
}

#[tokio::test]
async fn an_uncertain_fact_about_a_relative_is_quoted_where_it_answers() {
    let memory = telling_by_day(&["My husband Ben is a carpenter.", "I live in Kent."]).await;
    for question in
        ["What is my husband's job?", "What does my husband do for a living?", "What's Ben's job?"]
    {
        assert_eq!(said(&memory, question).await[0], "My husband Ben is a carpenter.", "{question}");
    }
    for question in ["Where does my husband live?", "What do I do for a living?"] {
        assert_eq!(said(&memory, question).await, [""; 0], "{question}");
    }
}

#[tokio::test]
async fn a_phone_number_is_no_mail_address() {
    let memory = telling_by_day(&["My email is lena@example.org."]).await;
    assert!(said(&memory, "What is my email address?").await[0].contains("lena@example.org"));
    assert_eq!(said(&memory, "What is my phone number?").await, [""; 0]);
}

#[tokio::test]
async fn a_short_answer_to_a_question_of_the_assistant_answers_that_question() {
    let memory = telling_by_day(&[]).await;
    for (asked, answer) in [
        ("What's your favorite programming language?", "Rust, by far."),
        ("Do you have any allergies I should know about?", "Yes, to peanuts."),
    ] {
        let session = mnemal::SessionId::new(answer.replace([' ', ',', '.'], "")).unwrap();
        let _ack = memory.log(Message::assistant(asked).session(session.clone())).await.unwrap();
        let _ack = memory.log(Message::user(answer).session(session)).await.unwrap();
    }
    assert_eq!(said(&memory, "What is my favorite programming language?").await[0], "Rust, by far.");
    assert_eq!(said(&memory, "What am I allergic to?").await[0], "Yes, to peanuts.");
}

#[tokio::test]
async fn animals_that_are_listed_by_name_are_known_by_name() {
    for (text, named, count) in [
        ("Wir haben zwei Hunde, Bruno und Lilli.", "Wie heißen unsere Hunde?", "Wie viele Hunde haben wir?"),
        (
            "Nous avons deux chiens, Bruno et Lilli.",
            "Comment s'appellent mes chiens ?",
            "Combien de chiens ai-je ?",
        ),
        ("Tengo dos perros, Bruno y Lilli.", "¿Cómo se llaman mis perros?", "¿Cuántos perros tengo?"),
        ("Tenho dois gatos, Bruno e Lilli.", "Como se chamam meus gatos?", "Quantos gatos eu tenho?"),
    ] {
        let memory = telling_by_day(&[text]).await;
        for question in [named, count] {
            let said = said(&memory, question).await.join(" ");
            assert!(said.contains("Bruno") && said.contains("Lilli"), "{question} {said}");
        }
    }
}
