//! The text-reading ports, each with the invariants of its answer.

use std::fmt::Debug;
use std::ops::Range;

use anyhow::Result;
use mnemal_core::{
    Body, EntityKind, Event, Extractor as _, Gazetteer, Seq, Span, Timestamp, Utterance, Zone,
};
use mnemal_extract::{
    Anchor, OwnWords, RuleExtractor, SecretRules, TimeBias, Turn, clean_name, dates, feedback, gates,
    mentions, preference_notes, question, screen, strip_private, turn_marks,
};
use mnemal_testkit::Records;
use mnemal_text::{
    Analyzer, Language, chunks, condense, estimate_tokens, fold, sentences, similarity, token_prefix,
};

/// Arguments of the ports.
pub(super) struct Bench {
    known: Gazetteer,
    rules: SecretRules,
    analyzer: Analyzer,
    at: Timestamp,
    zone: Zone,
    event: Event,
    extractor: RuleExtractor,
}

impl Bench {
    /// Makes everything that costs more than a call.
    pub(super) fn new() -> Result<Self> {
        let mut known = Gazetteer::default();
        for (name, kind) in [
            ("Ana Silva", EntityKind::Person),
            ("Jo", EntityKind::Person),
            ("St. Pauli", EntityKind::Organization),
            ("王小明", EntityKind::Person),
            ("서울", EntityKind::Location),
            ("Will", EntityKind::Person),
        ] {
            known.add(name, kind);
        }
        let entry = Records::new(1).turn("s", "x")?;
        let event = Event {
            id: entry.id,
            seq: Seq(1),
            recorded_at: entry.recorded_at,
            role: entry.event.kind.role(),
            trust: entry.event.origin.trust(),
            level: entry.event.origin.level(),
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(entry.event)),
        };
        Ok(Self {
            known,
            rules: SecretRules::built_in(),
            analyzer: Analyzer::new(Language::English),
            at: event.recorded_at,
            zone: Zone::utc(),
            event,
            extractor: RuleExtractor::new(),
        })
    }
}

/// The answer of a port.
pub(super) struct Answer {
    /// Spans lie inside the text, on character boundaries.
    pub(super) is_sound: bool,
    /// The answer in words, if it is compared.
    pub(super) shown: Option<String>,
}

/// Whether an answer is written out, to be compared with another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// It is only looked at.
    Nothing,
    /// It is written out.
    Answer,
}

type Port = fn(&Bench, &str, Show) -> Answer;

/// Every port with its name.
pub(super) const PORTS: [(&str, Port); 20] = [
    ("dates", |bench, text, show| {
        let found = dates(text, &Anchor { at: bench.at, zone: &bench.zone }, TimeBias::Past);
        answer(found.iter().all(|date| is_span(text, date.span())), &found, show)
    }),
    ("mentions", |bench, text, show| {
        let found = mentions(text, &bench.known);
        let is_ordered = found.windows(2).all(|pair| matches!(pair, [a, b] if a.span.end <= b.span.start));
        answer(is_ordered && found.iter().all(|name| is_span(text, name.span)), &found, show)
    }),
    ("claims", claims),
    ("feedback", |_, text, show| {
        let assistant = "I have sent the 3 mails to Ana on Tuesday.";
        let found =
            feedback(Turn { user: &OwnWords::of_text(text), assistant: Some(assistant), earlier: &[] });
        answer(found.iter().all(|act| is_span(text, act.span)), &found, show)
    }),
    ("preference_notes", |_, text, show| {
        let found = preference_notes(&OwnWords::of_text(text));
        answer(found.iter().all(|note| is_span(text, note.span)), &found, show)
    }),
    ("redact", |bench, text, show| {
        let found = bench.rules.redact(text, &|secret| u16::try_from(secret.len()).unwrap_or(0));
        answer(found.found.iter().all(|secret| is_range(text, &secret.span)), &found, show)
    }),
    ("strip_private", |_, text, show| {
        let found = strip_private(text);
        answer(found.1.iter().all(|cut| is_range(text, cut)), &found, show)
    }),
    ("screen", |_, text, show| answer(true, &screen(text), show)),
    ("gates", |_, text, show| answer(true, &gates(text), show)),
    ("question", |_, text, show| {
        let asked = question(text);
        answer(asked.phrases.iter().all(|range| is_range(text, range)), &asked, show)
    }),
    ("turn_marks", |_, text, show| answer(true, &turn_marks(text), show)),
    ("clean_name", |_, text, show| {
        let name = clean_name(text);
        answer(name.as_ref().is_none_or(|name| (1..=80).contains(&name.chars().count())), &name, show)
    }),
    ("sentences", |_, text, show| {
        let found = sentences(text);
        answer(found.iter().all(|sentence| is_range(text, &sentence.range())), &found, show)
    }),
    ("condense", |bench, text, show| {
        let found = condense(&bench.analyzer, text, 3);
        answer(found.iter().all(|sentence| is_range(text, &sentence.range())), &found, show)
    }),
    ("estimate_tokens", |_, text, show| answer(true, &estimate_tokens(text), show)),
    ("token_prefix", |_, text, show| {
        let end = token_prefix(text, 20);
        answer(text.is_char_boundary(end), &end, show)
    }),
    ("chunks", |_, text, show| {
        let found = chunks(text, 80);
        answer(found.iter().all(|range| is_range(text, range)), &found, show)
    }),
    ("analyzer", |bench, text, show| {
        let found = bench.analyzer.terms(text);
        answer(true, &found, show)
    }),
    ("fold", |_, text, show| answer(true, &fold(text), show)),
    ("similarity", |_, text, show| {
        let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (a, b) = text.split_at(half);
        let near = similarity(a, b);
        answer((0.0..=1.0).contains(&near), &near, show)
    }),
];

fn claims(bench: &Bench, text: &str, show: Show) -> Answer {
    let mut event = bench.event.clone();
    if let Body::Present(said) = &mut event.body {
        text.clone_into(&mut said.content);
    }
    let found = bench.extractor.extract(&Utterance { event: &event, before: &[], known: &bench.known });
    let is_sound = found.facts.iter().all(|fact| {
        let is_filled = !fact.object.text.is_empty() && !fact.object.key.is_empty();
        is_filled
            && is_span(text, fact.span)
            && is_span(text, fact.sentence)
            && is_span(text, fact.object.span)
    });
    answer(is_sound && found.mentions.iter().all(|name| is_span(text, name.span)), &found, show)
}

#[expect(clippy::fn_params_excessive_bools, reason = "what holds of an answer is a yes or a no")]
fn answer(is_sound: bool, shown: &impl Debug, show: Show) -> Answer {
    Answer { is_sound, shown: (show == Show::Answer).then(|| format!("{shown:?}")) }
}

fn is_span(text: &str, span: Span) -> bool {
    span.start <= span.end && span.of(text).is_some()
}

fn is_range(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some()
}
