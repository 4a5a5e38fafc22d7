//! Extractive answers: a question is answered with logged sentences, or not at all.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use mnemal::context::RecordRef;
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
