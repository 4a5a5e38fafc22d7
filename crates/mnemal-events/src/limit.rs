//! Size limits of an event and of a batch. A violation is `Invalid`, and nothing is written.

use mnemal_core::{
    BEST_SCORE, Decision, Error, EventKind, FEWEST_STEPS, MOST_CLAIMS, MOST_LINES, MOST_NAMED, MOST_PARTS,
    MOST_STEPS, Metadata, NewEvent, Operation, OperationKind, Result,
};

/// Most bytes of one event's text. Source: own choice; longer texts are split at import and ingest.
pub const LONGEST_CONTENT: usize = 256 * 1024;
/// Most bytes of one event's metadata, keys and values together. Source: own choice.
pub const LONGEST_METADATA: usize = 16 * 1024;
/// Indexed bytes of a text; the rest is stored but not searchable. Source: own choice.
pub const LONGEST_INDEXED: usize = 32 * 1024;
/// Most events in one call. Source: own choice.
pub const LARGEST_BATCH: usize = 1_000;
/// Most bytes in one call, texts and metadata together. Source: own choice.
pub const LONGEST_BATCH: usize = 8 * 1024 * 1024;
/// Most bytes of an idempotency key. Source: own choice.
pub const LONGEST_KEY: usize = 200;
/// Most tags of a note. Source: own choice.
pub const MOST_TAGS: usize = 64;

/// Most notes that an operation names, and most in its input. Source: RockBot consolidates up to 1,000 memories at once
/// (RB-55).
const MOST_SHOWN: usize = 1_000;
/// Most bytes of the reason of an operation. Source: own default; one sentence.
const LONGEST_BECAUSE: usize = 500;

const LONGEST_ZONE: usize = 256;
const DAY_SECONDS: i32 = 86_400;

/// Checks a batch; `largest` is the store's own limit.
pub(crate) fn check(events: &[NewEvent], largest: usize) -> Result<()> {
    let most = LARGEST_BATCH.min(largest);
    if events.len() > most {
        return Err(Error::invalid(format!(
            "a batch has at most {most} events, this one has {}",
            events.len()
        )));
    }
    let mut bytes = 0;
    for (place, event) in events.iter().enumerate() {
        bytes += event.content.len() + metadata_bytes(&event.metadata);
        check_event(event)
            .map_err(|why| Error::invalid(format!("event {} of {}: {why}", place + 1, events.len())))?;
    }
    if bytes > LONGEST_BATCH {
        return Err(Error::invalid(format!(
            "a batch has at most {LONGEST_BATCH} bytes, this one has {bytes}"
        )));
    }
    Ok(())
}

fn check_event(event: &NewEvent) -> Result<(), String> {
    if event.content.len() > LONGEST_CONTENT {
        return Err(format!("content has at most {LONGEST_CONTENT} bytes, it has {}", event.content.len()));
    }
    let metadata = metadata_bytes(&event.metadata);
    if metadata > LONGEST_METADATA {
        return Err(format!("metadata has at most {LONGEST_METADATA} bytes, it has {metadata}"));
    }
    if let Some(key) = &event.idempotency_key {
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if key.is_empty() || key.len() > LONGEST_KEY || !visible {
            return Err(format!("idempotency_key has 1 to {LONGEST_KEY} visible ASCII characters"));
        }
    }
    let zone = &event.zone;
    let named = zone.name.len() <= LONGEST_ZONE && !zone.name.chars().any(char::is_control);
    if !named || !(-DAY_SECONDS..=DAY_SECONDS).contains(&zone.offset_seconds) {
        return Err("zone has a name of at most 256 bytes and an offset of at most 24 hours".to_owned());
    }
    match &event.kind {
        EventKind::Decision(Decision::Remember(note)) if note.tags.len() > MOST_TAGS => {
            Err(format!("a note has at most {MOST_TAGS} tags, it has {}", note.tags.len()))
        }
        EventKind::Operation(operation) => check_operation(operation),
        _ => Ok(()),
    }
}

fn check_operation(operation: &Operation) -> Result<(), String> {
    let tags = operation.kind.classification().map_or(0, |classification| classification.tags.len());
    if tags > MOST_TAGS {
        return Err(format!("a note has at most {MOST_TAGS} tags, it has {tags}"));
    }
    if operation.shown.len() > MOST_SHOWN || operation.kind.names().len() > MOST_SHOWN {
        return Err(format!("an operation names at most {MOST_SHOWN} notes"));
    }
    if let OperationKind::Claim { claims, .. } = &operation.kind
        && !(1..=MOST_CLAIMS).contains(&claims.len())
    {
        return Err(format!("an operation carries 1 to {MOST_CLAIMS} claims, it has {}", claims.len()));
    }
    if let OperationKind::Summarize { rests, .. } = &operation.kind
        && !(1..=MOST_LINES).contains(&rests.len())
    {
        return Err(format!("a summary has 1 to {MOST_LINES} lines, it has {}", rests.len()));
    }
    if let OperationKind::Assess { turns, score } = &operation.kind
        && !((FEWEST_STEPS..=MOST_STEPS).contains(&turns.len()) && (1..=BEST_SCORE).contains(score))
    {
        return Err(format!(
            "a judged task has {FEWEST_STEPS} to {MOST_STEPS} events and a score of 1 to {BEST_SCORE}"
        ));
    }
    if let OperationKind::Digest { from, entities, .. } = &operation.kind
        && !((1..=MOST_PARTS).contains(&from.len()) && entities.len() <= MOST_NAMED)
    {
        return Err(format!(
            "a digest rests on 1 to {MOST_PARTS} parts and lists at most {MOST_NAMED} names"
        ));
    }
    if operation.because.len() > LONGEST_BECAUSE {
        return Err(format!("an operation has at most {LONGEST_BECAUSE} bytes of reason"));
    }
    Ok(())
}

/// Returns the bytes of keys and values.
pub(crate) fn metadata_bytes(metadata: &Metadata) -> usize {
    metadata.iter().map(|(key, value)| key.len() + value.len()).sum()
}
