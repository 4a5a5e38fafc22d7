//! Cases of `Extractor`: what holds for every extractor, whatever it finds.

use mnemal_core::{
    Body, Event, EventKind, Extraction, Extractor, Gazetteer, LogEntry, Origin, Result, RuleId, Seq, Span,
    Timestamp, ToolName, Utterance,
};

use crate::Records;

/// Texts of several scripts and shapes; some assert something, some are hard to cut.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "I live in Oslo and my sister Anna works at Fjordbank.",
    "My dog is called Rex! We moved to Lyon last week 😀",
    "Ich wohne seit 2019 in Zürich.",
    "我住在上海。",
    "أعيش في القاهرة",
    "Je m’appelle Zoé; j'habite à Liège.",
    "I'm allergic to walnuts\u{0}\u{202e}\u{200d}.",
    "```\nlet home = \"I live in Rome\";\n```",
    "> I live in Rome\n\nNo, I never said that.",
    "I I I I I I like like like (((((\"\"\"''' e.g. i.e. ... !!!??",
    "e\u{301}e\u{301} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} ﷽ ﷽",
    "I bought 3 kg of flour for 4,50 € at https://shop.example/a?b=I+live+in+Rome on 29/02/2023.",
    "i moved to\n\n\n\nlisbon",
    "ANNA SAYS SHE LIVES IN ROME AND I SAY I DON'T",
];

/// Sentences that look like claims of the speaker and are none.
const NO_CLAIMS: [&str; 6] = [
    "Do I live in Oslo?",
    "If I lived in Oslo, I would own a boat.",
    "I don't live in Oslo.",
    "Imagine I live in Oslo and work at Fjordbank.",
    "Write a story in which I live in Oslo.",
    "They asked whether I live in Oslo?",
];

/// Turns an entry into the event it becomes in the log.
fn event(entry: LogEntry, seq: u64) -> Event {
    Event {
        id: entry.id,
        seq: Seq(seq),
        recorded_at: entry.recorded_at,
        role: entry.event.kind.role(),
        trust: entry.event.origin.trust(),
        level: entry.event.origin.level(),
        quarantined: entry.quarantined,
        echo: entry.echo,
        body: Body::Present(Box::new(entry.event)),
    }
}

fn extract(extractor: &impl Extractor, event: &Event, before: &[Event]) -> Extraction {
    extractor.extract(&Utterance { event, before, known: &Gazetteer::default() })
}

/// The same utterance has the same answer, and the producer has a name that stays.
pub async fn extracting_is_pure(extractor: &impl Extractor) -> Result<()> {
    let producer = extractor.producer();
    assert!(!producer.id.is_empty() && producer.version > 0, "{producer:?}");
    let mut records = Records::new(1);
    let mut before = Vec::new();
    for (seq, text) in (1..).zip(TEXTS) {
        let event = event(records.turn("s", text)?, seq);
        assert_eq!(extract(extractor, &event, &before), extract(extractor, &event, &before), "{text:?}");
        before.push(event);
        before = before.split_off(before.len().saturating_sub(8));
    }
    assert_eq!(extractor.producer(), producer);
    Ok(())
}

/// Every span names bytes of the text, whole characters of them, in order.
pub async fn spans_lie_inside_the_text(extractor: &impl Extractor) -> Result<()> {
    let mut records = Records::new(1);
    for (seq, text) in (1..).zip(TEXTS) {
        let event = event(records.turn("s", text)?, seq);
        let found = extract(extractor, &event, &[]);
        let inside = |span: Span| assert!(span.of(text).is_some(), "{span:?} of {text:?}");
        for mention in &found.mentions {
            inside(mention.span);
            assert!((1..=80).contains(&mention.name.chars().count()), "{mention:?}");
            assert!(!mention.name.chars().any(char::is_control), "{mention:?}");
        }
        let apart = |pair: &[mnemal_core::Mention]| match pair {
            [one, two] => one.span.end <= two.span.start,
            _ => true,
        };
        assert!(found.mentions.windows(2).all(apart), "mentions overlap: {:?}", found.mentions);
        for fact in &found.facts {
            for span in [fact.span, fact.sentence, fact.object.span] {
                inside(span);
            }
            inside_of(fact.span, fact.sentence);
            assert!(!fact.object.text.is_empty() && !fact.object.key.is_empty(), "{fact:?}");
        }
        assert!(found.facts.is_sorted_by_key(|fact| fact.span.start), "{:?}", found.facts);
    }
    Ok(())
}

fn inside_of(inner: Span, outer: Span) {
    assert!(outer.start <= inner.start && inner.end <= outer.end, "{inner:?} is not within {outer:?}");
}

/// Whatever assistants, tools and documents say, it claims nothing; nor does what a rule holds back.
pub async fn only_the_users_own_words_claim_anything(extractor: &impl Extractor) -> Result<()> {
    let tool = ToolName::new("search")?;
    let others = [
        (EventKind::AssistantMessage, Origin::Assistant),
        (EventKind::ToolResult { tool: tool.clone(), ok: true }, Origin::ToolExternal),
        (EventKind::ToolCall { tool }, Origin::Assistant),
        (EventKind::Document, Origin::Document),
        (EventKind::Observation, Origin::ToolInternal),
        (EventKind::UserMessage, Origin::Import),
        (EventKind::UserMessage, Origin::Echo),
    ];
    let mut records = Records::new(1);
    for (seq, text) in (1..).zip(TEXTS) {
        for (kind, origin) in &others {
            let mut entry = records.turn("s", text)?;
            (entry.event.kind, entry.event.origin) = (kind.clone(), *origin);
            let found = extract(extractor, &event(entry, seq), &[]);
            assert_eq!(found.facts, Vec::new(), "{kind:?} of {origin:?}: {text:?}");
        }
        let mut held = records.turn("s", text)?;
        held.quarantined = Some(RuleId::new("override")?);
        assert_eq!(extract(extractor, &event(held, seq), &[]).facts, Vec::new(), "quarantined: {text:?}");
    }
    Ok(())
}

/// A question, a wish or a denial is no claim that the thing is so.
pub async fn what_is_asked_denied_or_imagined_is_no_claim(extractor: &impl Extractor) -> Result<()> {
    let mut records = Records::new(1);
    for (seq, text) in (1..).zip(NO_CLAIMS) {
        let found = extract(extractor, &event(records.turn("s", text)?, seq), &[]);
        let asserted = found.facts.iter().find(|fact| fact.act == mnemal_core::Act::Assert);
        assert_eq!(asserted, None, "{text:?}");
    }
    Ok(())
}

/// A repetition of memory adds no claim.
pub async fn what_repeats_memory_is_skipped(extractor: &impl Extractor) -> Result<()> {
    let mut records = Records::new(1);
    for (seq, text) in (1..).zip(TEXTS) {
        let mut entry = records.turn("s", text)?;
        entry.echo = vec![Span::whole(text)?];
        assert_eq!(extract(extractor, &event(entry, seq), &[]).facts, Vec::new(), "{text:?}");
    }
    Ok(())
}

/// Nothing is left of an erased event.
pub async fn an_erased_event_says_nothing(extractor: &impl Extractor) -> Result<()> {
    let mut erased = event(Records::new(1).turn("s", "I live in Oslo.")?, 1);
    erased.body = Body::Erased { at: Timestamp::EPOCH };
    let found = extract(extractor, &erased, &[]);
    assert!(found.mentions.is_empty() && found.facts.is_empty(), "{found:?}");
    Ok(())
}
