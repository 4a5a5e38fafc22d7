//! Extractive summaries: chosen sentences, and excluded ones.

use mnemal_text::sentences;
use proptest::prelude::*;

use super::*;

fn utterances<'a>(turns: &[(&'a str, &'a str)]) -> Vec<Utterance<'a>> {
    turns.iter().map(|&(speaker, text)| Utterance { speaker: Some(speaker), text, echo: &[] }).collect()
}

fn words<'a>(said: &[Utterance<'a>], kept: &[SelectedSentence]) -> Vec<&'a str> {
    kept.iter().map(|one| within(said[one.utterance].text, one.span)).collect()
}

fn within(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap()
}

const CHAT: [(&str, &str); 6] = [
    ("Ada", "Hey Ben! How are you?"),
    ("Ben", "Great, thanks! I booked the flights to Lisbon for the 12th of May yesterday."),
    ("Ada", "Wow, that's so cool! You're amazing."),
    ("Ben", "The flights to Lisbon for the 12th of May are booked. It rained."),
    ("Ada", "I want to visit my sister Carla in Lisbon, she opened a bakery last year."),
    ("Ben", "Sounds good! See you."),
];
const PLENTY: Limits = Limits { sentences: 5, tokens: TokenCount(200) };

// proves: NX-05.6
#[test]
fn statements_are_kept_once_in_their_words_and_order_and_chatter_is_not() {
    let said = utterances(&CHAT);
    let kept = words(&said, &condense(Language::English, &said, Limits { sentences: 2, ..PLENTY }));
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept[0].contains("12th of May"), "{kept:?}");
    assert!(kept[1].contains("Carla"), "{kept:?}");
    let more = words(&said, &condense(Language::English, &said, PLENTY));
    assert_eq!(more.iter().filter(|line| line.contains("12th of May")).count(), 1, "redundant: {more:?}");
}

#[test]
fn what_repeats_memory_is_left_out() {
    let text = "The api listens on port 5544. Deploys happen on Tuesdays.";
    let echo = [Span { start: 4, end: 9 }];
    let said = [Utterance { speaker: None, text, echo: &echo }];
    assert_eq!(words(&said, &condense(Language::English, &said, PLENTY)), ["Deploys happen on Tuesdays."]);
}

proptest! {
    #[test]
    fn a_summary_is_some_of_the_sentences_and_keeps_its_limits(
        texts in prop::collection::vec("([A-Ca-c]{1,5} ?[.!\n]? ){0,20}", 0..6),
        most in 0_usize..6,
        tokens in 0_u32..60,
    ) {
        let said: Vec<Utterance<'_>> =
            texts.iter().map(|text| Utterance { speaker: Some("Ada"), text, echo: &[] }).collect();
        let kept = condense(Language::English, &said, Limits { sentences: most, tokens: TokenCount(tokens) });
        prop_assert!(kept.len() <= most && kept.is_sorted_by(|a, b| a < b));
        let all: Vec<Vec<_>> = texts.iter().map(|text| sentences(text)).collect();
        let is_sentence = |one: &SelectedSentence| {
            let span = (one.span.start as usize, one.span.end as usize);
            all[one.utterance].iter().any(|sentence| (sentence.start, sentence.end) == span)
        };
        prop_assert!(kept.iter().all(is_sentence));
        let lines: Vec<String> =
            kept.iter().map(|one| format!("Ada: {}", within(&texts[one.utterance], one.span))).collect();
        prop_assert!(mnemal_text::estimate_tokens(&lines.join(" ")) <= tokens);
        prop_assert_eq!(&kept, &condense(Language::English, &said, Limits { sentences: most, tokens: TokenCount(tokens) }));
    }
}
