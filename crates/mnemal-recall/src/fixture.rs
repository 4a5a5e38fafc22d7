//! Test fixture: a small chat and helpers.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use mnemal_core::{
    ChannelId, Embedder, EventId, EventKind, IndexBlock, Metadata, ModelId, NewEvent, Origin, Posting,
    Result, Seq, SessionId, Speaker, TermHash, Timestamp, VectorColumn, Zone,
};
use mnemal_text::{Analyzer, Language, term_hash};

use crate::lexical::TermQuery;
use crate::memory::MemoryIndex;
use crate::terms::{index_marks, index_terms};

/// 2023-05-08T12:00:00Z.
pub(crate) const NOON: i64 = 1_683_547_200_000_000;
const HOUR: i64 = 3_600_000_000;

/// Runs a future that is always ready.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

pub(crate) fn turn(session: &str, speaker: &str, content: &str) -> NewEvent {
    let is_assistant = speaker == "assistant";
    NewEvent {
        kind: if is_assistant { EventKind::AssistantMessage } else { EventKind::UserMessage },
        content: content.to_owned(),
        session: SessionId::new(session).unwrap(),
        channel: ChannelId::new("chat").unwrap(),
        parent: None,
        speaker: Some(Speaker::new(speaker).unwrap()),
        user: None,
        agent: None,
        occurred_at: Timestamp::from_micros(NOON).unwrap(),
        zone: Zone::utc(),
        origin: if is_assistant { Origin::Assistant } else { Origin::UserDirect },
        idempotency_key: None,
        metadata: Metadata::new(),
    }
}

/// Session, speaker, text; one line a turn, an hour apart.
const CHAT: &str = "\
one|Ada|Hi Ben! How was your weekend?
one|Ben|Great! I built a telescope with my daughter on Saturday.
one|Ada|Wow, what can you see with it?
one|Ben|The rings of Saturn, when the sky is clear. She named it Hubble Junior.
one|Ada|I would love that. My weekend was only laundry and rain.
one|Ben|Next time you come along.
two|Ada|I finally signed up for the pottery class in Lisbon.
two|Ben|Nice, when does it start?
two|Ada|On the 3rd of June. I paid 120 euros for eight evenings.
two|Ben|My sister makes bowls too, she sells them at the market.
two|Ada|Does she? I want to see them.
one|Ben|By the way, we saw Jupiter yesterday.
three|user|I am allergic to peanuts, please plan my dinners.
three|assistant|Here is a plan for your dinners. Monday: lentil soup with bread and a salad of tomatoes. Tuesday: rice with vegetables, tofu and ginger. Wednesday: pasta with basil, garlic and olive oil. Thursday: potatoes with spinach and eggs. Friday: baked fish with lemon and green beans. None of the dinners holds peanuts, and you can cook each of them in half an hour.
three|user|Thanks! I prefer the soup on Friday.
three|assistant|Then the soup moves to Friday and the fish to Monday.
three|user|My budget is 60 euros a week for dinners.
two|Ben|I planted tomatoes and basil in the garden last week.
two|Ada|The garden must look lovely. My balcony has only a cactus called Igor.
two|Ben|Igor is a great name for a cactus.
one|Ada|Did your daughter like Jupiter?
one|Ben|She did, but she prefers the moon.";

/// Questions about the chat, with the index of the turn that answers each.
pub(crate) const QUESTIONS: [(&str, usize); 12] = [
    ("What did Ben build with his daughter?", 1),
    ("What can Ben see with the telescope?", 3),
    ("What is the name of the telescope?", 3),
    ("What class did Ada sign up for?", 6),
    ("When does the pottery class of Ada start?", 8),
    ("How much did Ada pay for the class?", 8),
    ("What does the sister of Ben sell?", 9),
    ("What is the name of the cactus?", 18),
    ("What did Ben plant in the garden?", 17),
    ("What am I allergic to?", 12),
    ("How much is my budget for dinners?", 16),
    ("What does the daughter of Ben prefer?", 21),
];

pub(crate) fn chat() -> Vec<NewEvent> {
    let line = |(hour, line): (i64, &str)| {
        let mut fields = line.splitn(3, '|');
        let mut next = || fields.next().unwrap();
        let mut event = turn(next(), next(), next());
        event.occurred_at = Timestamp::from_micros(NOON + hour * HOUR).unwrap();
        event
    };
    (0..).zip(CHAT.lines()).map(line).collect()
}

/// The block that a store would make from these events.
pub(crate) fn block(events: &[NewEvent], first: u64) -> IndexBlock {
    let mut block = IndexBlock::default();
    let analyzer = Analyzer::new(Language::English);
    let embedder = WordEmbedder::new();
    let mut found: Vec<(TermHash, Posting)> = Vec::new();
    let mut column = VectorColumn {
        model: embedder.model.clone(),
        dimensions: DIMENSIONS,
        scales: Vec::new(),
        codes: Vec::new(),
    };
    for (row, event) in (0_u16..).zip(events) {
        let terms = index_terms(event, analyzer);
        let seq = first + u64::from(row);
        block.events.push(id(seq));
        block.seqs.push(Seq(seq));
        block.occurred_at.push(event.occurred_at);
        block.roles.push(event.kind.role());
        block.levels.push(event.origin.level());
        block.marks.push(index_marks(event));
        block.sessions.push(Some(event.session.as_str()));
        block.channels.push(Some(event.channel.as_str()));
        block.speakers.push(event.speaker.as_ref().map(Speaker::as_str));
        block.users.push(event.user.as_ref().map(mnemal_core::UserId::as_str));
        block.agents.push(event.agent.as_ref().map(mnemal_core::AgentId::as_str));
        block.lengths.push(terms.length);
        found.extend(terms.counts.iter().map(|(term, count)| (*term, Posting::new(row, *count))));
        let values = WordEmbedder::vector(&event.content).unwrap_or_else(|| vec![1.0; DIMENSIONS]);
        let vector = mnemal_core::Vector::from_unit(&unit(values)).unwrap();
        column.scales.push(vector.scale());
        column.codes.extend_from_slice(vector.codes());
    }
    found.sort_by_key(|(term, posting)| (*term, posting.row()));
    for (term, posting) in found {
        if block.terms.last() != Some(&term) {
            block.terms.push(term);
            block.starts.push(u32::try_from(block.postings.len()).unwrap());
        }
        block.postings.push(posting);
    }
    block.starts.push(u32::try_from(block.postings.len()).unwrap());
    if !block.is_empty() {
        block.vectors.push(column);
    }
    block
}

pub(crate) fn id(seq: u64) -> EventId {
    EventId(u128::from(seq) << 64 | 1)
}

/// The chat as an index of blocks with these lengths.
pub(crate) fn index(lengths: &[usize]) -> MemoryIndex {
    let turns = chat();
    let mut index = MemoryIndex::default();
    let mut first = 0;
    for length in lengths {
        index.push(block(&turns[first..first + length], first as u64 + 1), Analyzer::new(Language::English));
        first += length;
    }
    index
}

pub(crate) fn query(words: &str) -> TermQuery {
    let terms = Analyzer::new(Language::English).query_terms(words);
    let terms: Vec<TermHash> = terms.iter().map(|term| TermHash(term_hash(term))).collect();
    terms.into()
}

const DIMENSIONS: usize = 256;

/// Embeds a text as the sum of one direction per word; a few words share a direction, so texts can be similar without
/// common words.
#[derive(Debug)]
pub(crate) struct WordEmbedder {
    model: ModelId,
}

impl WordEmbedder {
    pub(crate) fn new() -> Self {
        Self { model: ModelId::new("words-1").unwrap() }
    }

    fn vector(text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; DIMENSIONS];
        for term in Analyzer::new(Language::English).query_terms(text) {
            let term = match term.as_str() {
                "price" | "cost" => "euro",
                "astronomi" | "planet" => "telescop",
                other => other,
            };
            let mut bits = term_hash(term);
            for value in &mut sum {
                bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                *value += ((bits >> 40) as f32) / 8_388_608.0 - 1.0;
            }
        }
        sum.iter().any(|value| *value != 0.0).then(|| unit(sum))
    }
}

fn unit(values: Vec<f32>) -> Vec<f32> {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn floor(&self) -> f32 {
        0.5
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }
}
