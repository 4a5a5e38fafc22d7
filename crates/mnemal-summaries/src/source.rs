//! Summary context source: the channel's summary, and the root summary without a question.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, Fragment, Importance, InclusionReason, Label, Layer, Level,
    NodePath, RecordRef, Result, Score, ScorePart, Section, SummaryLine, SummaryNode, SummaryStore, Within,
};

use crate::model_summary::{ModelSummaries, ModelSummary, ModelSummaryLine};

/// Most sentences of a channel, the newest. Source: BA-36, five channel events.
const CHANNEL: usize = 5;

/// Most sentences of the root, the newest. Source: own choice, as many as the rules choose for it.
const ROOT: usize = 5;
/// Budgets, in tokens: up to the first the root is not offered with a question, and from the second on all of it is.
///
/// Source: measured with `bench context`, ADR 24: at the first it displaces evidence, at the second none.
const ROOM: [u32; 2] = [1_000, 4_000];

/// Offers the newest sentences of the named channel, and of the root: five without a question, as at session start, and
/// fewer with one in a small budget. With insights the root is not offered, and with a question not to a host that wants
/// few lines.
///
/// Each sentence is a separate fragment with its event. Sentences of the asking session and external ones are not offered,
/// and nothing for a request about the past: nodes have no history.
#[derive(Clone, Debug)]
pub struct SummarySource {
    store: Arc<dyn SummaryStore>,
    model_summaries: Option<Arc<ModelSummaries>>,
}

impl SummarySource {
    /// Offers the nodes of this tree.
    pub fn new(store: Arc<dyn SummaryStore>) -> Self {
        Self { store, model_summaries: None }
    }

    /// Offers model-written texts in place of the sentences, line by line, with their operation.
    #[must_use]
    pub fn with_model_summaries(self, model_summaries: Arc<ModelSummaries>) -> Self {
        Self { model_summaries: Some(model_summaries), ..self }
    }
}

#[async_trait]
impl ContextSource for SummarySource {
    fn layer(&self) -> Layer {
        Layer::Summaries
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let mut wanted = Vec::new();
        if let Within::Only(channel) = &request.channel {
            wanted.push((Section::Channel, NodePath::Channel(channel.clone())));
        }
        let of_root = n_of_root(request);
        if of_root > 0 && !request.asks_for(Section::Insights) {
            wanted.push((Section::Knowledge, NodePath::Root));
        }
        wanted.retain(|(section, _)| request.sections.only().is_none_or(|only| only.contains(section)));
        // A node is not split by person or agent.
        if !request.as_of.is_present() || request.user != Within::All || request.agent != Within::All {
            wanted.clear();
        }
        if wanted.is_empty() {
            return Ok(Degraded::whole(Vec::new()));
        }
        let paths: Vec<NodePath> = wanted.iter().map(|(_, path)| path.clone()).collect();
        let nodes = self.store.nodes(&paths).await?;
        let mut fragments: Vec<Fragment> = Vec::new();
        for (section, path) in wanted {
            for node in nodes.iter().filter(|node| node.path == path) {
                let new = match self.writing(node).await? {
                    Some(writing) => of_writing(section, &writing, request, &fragments),
                    None => of_node(section, node, request, &fragments),
                };
                let most = if section == Section::Channel { CHANNEL } else { of_root };
                let older = new.len().saturating_sub(most);
                fragments.extend(new.into_iter().skip(older));
            }
        }
        Ok(Degraded::whole(fragments))
    }
}

impl SummarySource {
    async fn writing(&self, node: &SummaryNode) -> Result<Option<ModelSummary>> {
        let Some(model_summaries) = &self.model_summaries else { return Ok(None) };
        Ok(model_summaries.of(std::slice::from_ref(node)).await?.pop().flatten())
    }
}

/// Returns the number of root sentences in a context: with a question fewer, the smaller the budget.
fn n_of_root(request: &ContextRequest) -> usize {
    if request.query.is_none() {
        return ROOT;
    }
    let [none, all] = ROOM;
    let room = request.budget.0.min(all).saturating_sub(none) as usize;
    if request.lines.is_some() { 0 } else { ROOT * room / (all - none) as usize }
}

/// Returns the model-written lines that are new to the asking session and to the offered fragments.
fn of_writing(
    section: Section,
    writing: &ModelSummary,
    request: &ContextRequest,
    offered: &[Fragment],
) -> Vec<Fragment> {
    let is_new = |line: &&ModelSummaryLine| {
        line.of.iter().all(|one| one.session != request.session)
            && line.level() > Level::External
            && offered.iter().all(|other| other.text != line.text)
    };
    writing.lines.iter().filter(is_new).filter_map(|line| model_fragment(section, writing, line)).collect()
}

/// Returns the sentences of a node that are new to the asking session and to the offered fragments.
fn of_node(
    section: Section,
    node: &SummaryNode,
    request: &ContextRequest,
    offered: &[Fragment],
) -> Vec<Fragment> {
    let is_new = |line: &&SummaryLine| {
        let record = RecordRef::Event(line.source.event);
        line.session != request.session
            && line.level > Level::External
            && offered.iter().all(|other| other.record != record || other.text != line.text)
    };
    node.lines.iter().filter(is_new).map(|line| fragment(section, node, line)).collect()
}

/// Returns a model-written line, with the time of its last sentence.
fn model_fragment(section: Section, writing: &ModelSummary, line: &ModelSummaryLine) -> Option<Fragment> {
    let last = line.of.iter().max_by_key(|one| one.occurred_at)?;
    let value = Importance::DEFAULT.get();
    Some(Fragment {
        section,
        record: RecordRef::Event(writing.event),
        producer: Some(writing.producer.clone()),
        sources: line.of.iter().map(|one| one.source).collect(),
        text: line.text.clone(),
        label: Label {
            level: line.level(),
            at: last.occurred_at,
            zone: last.zone.clone(),
            speaker: None,
            space: None,
            remark: None,
        },
        trust: line.trust(),
        importance: Importance::DEFAULT,
        score: Score::new(value),
        parts: vec![ScorePart { name: "importance", raw: value, normalized: value, weight: 1.0, value }],
        because: InclusionReason::Section,
        withheld: None,
    })
}

fn fragment(section: Section, node: &SummaryNode, line: &SummaryLine) -> Fragment {
    let value = Importance::DEFAULT.get();
    let part = ScorePart { name: "importance", raw: value, normalized: value, weight: 1.0, value };
    Fragment {
        section,
        record: RecordRef::Event(line.source.event),
        producer: Some(node.producer.clone()),
        sources: vec![line.source],
        text: line.text.clone(),
        label: Label {
            level: line.level,
            at: line.occurred_at,
            zone: line.zone.clone(),
            speaker: line.speaker.clone(),
            space: None,
            remark: None,
        },
        trust: line.trust,
        importance: Importance::DEFAULT,
        score: Score::new(value),
        parts: vec![part],
        because: InclusionReason::Section,
        withheld: None,
    }
}
