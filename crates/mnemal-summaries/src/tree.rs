//! Summary tree: each node as a function of the log; a leaf of the events in its block, a branch of the nodes below it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{
    Event, EventFilter, EventId, NewEvent, NodePath, Producer, Role, Seq, Source, Span, SummaryLine,
    SummaryNode, TokenCount, Within,
};
use mnemal_extract::OwnWords;
use mnemal_text::{Language, sentences};

use crate::calendar;
use crate::condense::{Limits, Utterance, condense};

/// Incremented with every change of the output for the same events.
const VERSION: u32 = 2;
/// Log positions per leaf. Source: NB-44, 30 source events.
pub(crate) const OF_A_BLOCK: NonZeroUsize = NonZeroUsize::new(30).expect("a block holds something");
/// The same as a distance between positions.
pub(crate) const BLOCK: u64 = OF_A_BLOCK.get() as u64;
/// Children that a branch is made of, the newest ones. Source: own choice, as many as a leaf has events.
pub(crate) const CHILDREN: usize = 30;
/// Bytes read per event. Source: BA-24, 500 characters.
const READ: usize = 500;
/// New events from which on a leaf is always rebuilt, and a node is stale. Source: NB-40, the staleness threshold.
pub const STALE: u64 = 10;
/// A smaller leaf is rebuilt when it has grown by one event in this many. Source: own choice; at most a fifth of a block is
/// missing in its text, for two rebuilds in three events.
const GROWTH: u64 = 4;

/// Limits of a session part: more than a session shows, because that is chosen from its parts. Source: BA-24, the 7 of a
/// branch, with 120 tokens for 5 of them.
const PART: Limits = Limits { sentences: 7, tokens: TokenCount(170) };
/// Limits of a session and of a day. Source: NX-05.6, 2 to 5 sentences; own choice, 120 tokens.
const LEAF: Limits = Limits { sentences: 5, tokens: TokenCount(120) };
/// Limits of a channel, a week and a month. Source: BA-24, 3 to 7 sentences.
const BRANCH: Limits = Limits { sentences: 7, tokens: TokenCount(170) };
/// Limits of the root. Source: BA-24, 3 to 5 sentences.
const ROOT: Limits = Limits { sentences: 5, tokens: TokenCount(120) };

/// Returns the producer of the nodes.
pub fn producer() -> Producer {
    Producer { id: "summaries/extractive".to_owned(), version: VERSION }
}

/// Returns the filter of summarized events: messages of users and agents, and documents; without quarantined ones.
pub(crate) fn sources() -> EventFilter {
    let roles = vec![Role::User, Role::Assistant, Role::Document];
    EventFilter { roles: Within::Only(roles), ..EventFilter::live() }
}

/// Returns the block of a position.
pub(crate) fn block_of(seq: Seq) -> u64 {
    seq.0.saturating_sub(1) / BLOCK
}

/// Returns the leaf of an event at a position.
pub(crate) fn leaf(seq: Seq, said: &NewEvent) -> NodePath {
    let day = said.occurred_at.civil(&said.zone).day_text();
    NodePath::Part { block: block_of(seq), day, session: said.session.clone() }
}

/// Returns the last position of a block.
pub(crate) fn last_of(block: u64) -> u64 {
    block.saturating_add(1).saturating_mul(BLOCK)
}

/// Returns how many of a leaf's events are in its text: all of a complete block, else as many as at its last rebuild.
pub(crate) fn covered_events(events: u64, is_over: IsOver) -> u64 {
    if is_over == IsOver::Yes {
        return events;
    }
    let mut covered = 0;
    loop {
        let next = covered + (covered / GROWTH).clamp(1, STALE);
        if next > events {
            return covered;
        }
        covered = next;
    }
}

/// Whether the log has passed a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsOver {
    Yes,
    No,
}

/// Builds a leaf from its covered events, ascending; `None` without one.
pub(crate) fn part(language: Language, path: &NodePath, events: &[&Event]) -> Option<SummaryNode> {
    let (first, last) =
        (events.iter().find_map(|event| event.body())?, events.iter().rev().find_map(|event| event.body())?);
    let parents =
        vec![NodePath::Session(last.session.clone()), calendar::day(first.occurred_at, &first.zone)];
    let node = choose_sentences(language, path, events, PART)?;
    Some(SummaryNode { parents, channel: Some(last.channel.clone()), ..node })
}

/// Builds a node that is not stored, directly below `parents`, from events chosen by the caller, in any order; `None` when
/// they have no content.
///
/// It has up to five sentences, chosen as for a session; events other than messages of users and agents, and quarantined
/// ones, are skipped.
pub fn build_node(
    language: Language,
    path: &NodePath,
    parents: Vec<NodePath>,
    mut events: Vec<Event>,
) -> Option<SummaryNode> {
    let sources = sources();
    events.retain(|event| sources.accepts(event));
    events.sort_by_key(|event| (event.body().map(|said| said.occurred_at), event.seq));
    let events: Vec<&Event> = events.iter().collect();
    let node = choose_sentences(language, path, &events, LEAF)?;
    (!node.lines.is_empty()).then_some(SummaryNode { parents, ..node })
}

/// Chooses the sentences of a node from events in chronological order.
fn choose_sentences(
    language: Language,
    path: &NodePath,
    events: &[&Event],
    limits: Limits,
) -> Option<SummaryNode> {
    let kept: Vec<(&Event, &NewEvent)> =
        events.iter().filter_map(|event| Some((*event, event.body()?))).collect();
    let own: Vec<OwnWords<'_>> = kept.iter().map(|(_, said)| OwnWords::of_event(said)).collect();
    let said: Vec<Utterance<'_>> =
        kept.iter().zip(&own).map(|((event, said), own)| utterance(event, said, own)).collect();
    let mut lines = Vec::new();
    for one in condense(language, &said, limits) {
        if let Some((event, said)) = kept.get(one.utterance) {
            lines.extend(line(event, said, one.span));
        }
    }
    let mut sources: Vec<EventId> = kept.iter().map(|(event, _)| event.id).collect();
    sources.sort_unstable();
    let times = || kept.iter().map(|(_, said)| said.occurred_at);
    let last = kept.iter().map(|(event, _)| event).max_by_key(|event| event.seq)?;
    Some(SummaryNode {
        path: path.clone(),
        parents: Vec::new(),
        lines,
        sources,
        events: kept.len() as u64,
        channel: None,
        first_at: times().min()?,
        last_at: times().max()?,
        through: last.seq,
        updated_at: last.recorded_at,
        producer: producer(),
    })
}

/// The part of an event to read: the first sentences in the speaker's own words, up to 500 bytes.
fn utterance<'a>(event: &'a Event, said: &'a NewEvent, own: &'a OwnWords<'_>) -> Utterance<'a> {
    let text = own.as_str();
    let text = if text.len() <= READ {
        text
    } else {
        let head = text.get(..text.floor_char_boundary(READ)).unwrap_or_default();
        let whole = sentences(head);
        // A truncated last sentence is dropped, unless it is the only one.
        let end =
            whole.len().checked_sub(2).and_then(|place| whole.get(place)).map_or(head.len(), |one| one.end);
        head.get(..end).unwrap_or_default()
    };
    Utterance { speaker: said.speaker.as_ref().map(mnemal_core::Speaker::as_str), text, echo: &event.echo }
}

fn line(event: &Event, said: &NewEvent, span: Span) -> Option<SummaryLine> {
    Some(SummaryLine {
        source: Source { event: event.id, span },
        text: said.content.get(span.start as usize..span.end as usize)?.to_owned(),
        session: said.session.clone(),
        speaker: said.speaker.clone(),
        occurred_at: said.occurred_at,
        zone: said.zone.clone(),
        trust: event.trust,
        level: event.level,
    })
}

/// Sorts children in reading order, newest first.
pub(crate) fn newest_first(children: &mut [SummaryNode]) {
    children.sort_by_key(|node| (Reverse(node.last_at), node.path.to_string()));
}

/// Builds a branch from its newest children, newest first; `None` without content.
pub(crate) fn branch(language: Language, path: &NodePath, children: &[SummaryNode]) -> Option<SummaryNode> {
    let newest = children.first()?;
    let lines = lines_of(children);
    let said: Vec<Utterance<'_>> = lines.iter().map(|line| utterance_of(line)).collect();
    let limits = match path {
        NodePath::Session(_) | NodePath::Day(_) => LEAF,
        NodePath::Root => ROOT,
        _ => BRANCH,
    };
    // A line stays whole, even if it consists of several sentences.
    let chosen: BTreeSet<usize> =
        condense(language, &said, limits).into_iter().map(|one| one.utterance).collect();
    let lines: Vec<SummaryLine> =
        chosen.into_iter().filter_map(|place| lines.get(place)).map(|line| (*line).clone()).collect();
    if lines.is_empty() {
        return None;
    }
    let mut sources: Vec<EventId> = lines.iter().map(|line| line.source.event).collect();
    sources.sort_unstable();
    sources.dedup();
    let last = children.iter().max_by_key(|child| child.through)?;
    Some(SummaryNode {
        path: path.clone(),
        parents: parents(path, newest),
        lines,
        sources,
        events: count_events(path, children),
        channel: newest
            .channel
            .clone()
            .filter(|_| matches!(path, NodePath::Session(_) | NodePath::Channel(_))),
        first_at: children.iter().map(|child| child.first_at).min()?,
        last_at: newest.last_at,
        through: last.through,
        updated_at: last.updated_at,
        producer: producer(),
    })
}

/// Counts the events of children, each once: below the root they are in their channel and in their month.
fn count_events(path: &NodePath, children: &[SummaryNode]) -> u64 {
    let is_again = |child: &&SummaryNode| *path == NodePath::Root && matches!(child.path, NodePath::Month(_));
    children.iter().filter(|child| !is_again(child)).map(|child| child.events).sum()
}

/// The lines of nodes, each once, in chronological order; a node's own order breaks ties.
fn lines_of(nodes: &[SummaryNode]) -> Vec<&SummaryLine> {
    let mut nodes: Vec<&SummaryNode> = nodes.iter().collect();
    nodes.sort_by_key(|node| (node.first_at, node.through));
    let mut seen = BTreeSet::new();
    let mut lines: Vec<&SummaryLine> = nodes.into_iter().flat_map(|node| &node.lines).collect();
    lines.retain(|line| seen.insert((line.source.event, line.source.span.start)));
    lines.sort_by_key(|line| line.occurred_at);
    lines
}

fn utterance_of(line: &SummaryLine) -> Utterance<'_> {
    Utterance {
        speaker: line.speaker.as_ref().map(mnemal_core::Speaker::as_str),
        text: &line.text,
        echo: &[],
    }
}

fn parents(path: &NodePath, newest: &SummaryNode) -> Vec<NodePath> {
    match path {
        NodePath::Session(_) => newest.channel.clone().map(NodePath::Channel).into_iter().collect(),
        NodePath::Channel(_) | NodePath::Month(_) => vec![NodePath::Root],
        _ => calendar::above(path).into_iter().collect(),
    }
}

/// Returns the height of a branch above the leaves; a branch is built after everything below it.
pub(crate) fn height(path: &NodePath) -> u8 {
    match path {
        NodePath::Part { .. } => 0,
        NodePath::Session(_) | NodePath::Day(_) => 1,
        NodePath::Channel(_) | NodePath::Week(_) => 2,
        NodePath::Month(_) => 3,
        _ => 4,
    }
}
