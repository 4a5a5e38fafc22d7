//! Summary nodes that are made on read and not stored: of entities, entity kinds, topics and preferences.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    AsOf, Degraded, EntityFilter, EntityId, EntityKind, Error, Event, EventId, Gaps, Learning, NodePath,
    Result, Seq, SummaryLine, SummaryNode, Timestamp, Zone,
};
use mnemal_graph::{Graph, Topic};
use mnemal_summaries::{SummaryState, build_node, producer};

use crate::memory::Memory;

/// Newest events of a node. Source: nanobot v2, the size of a leaf.
const SOURCES: usize = 30;
/// Entities of a kind that are read for its node, and listed below it. Source: babyagi3.
const OF_A_KIND: usize = 10;
/// Newest events of each of them. Source: babyagi3.
const OF_EACH: usize = 5;
/// Topics listed below the root, and below a topic. Source: own choice, as many as entities of a kind.
const TOPICS: usize = 10;
/// Entity kinds that have a node; a number or a path has no summary.
const KINDS: [EntityKind; 8] = [
    EntityKind::Person,
    EntityKind::Animal,
    EntityKind::Organization,
    EntityKind::Location,
    EntityKind::Product,
    EntityKind::Work,
    EntityKind::Event,
    EntityKind::Concept,
];

/// Whether a node is made on read.
pub(super) fn is_known(path: &NodePath) -> bool {
    matches!(path, NodePath::Entity(_) | NodePath::EntityType(_) | NodePath::Topic(_) | NodePath::Preferences)
}

/// The graph and the learnings as of a moment.
#[derive(Debug)]
pub(super) struct KnowledgeView<'m> {
    memory: &'m Memory,
    /// `None` in an engine without a graph.
    graph: Option<Graph>,
    as_of: AsOf,
}

impl<'m> KnowledgeView<'m> {
    pub(super) async fn new(memory: &'m Memory, as_of: AsOf) -> Result<Degraded<Self>> {
        let mut gaps = Gaps::default();
        let has_graph = memory.engine.guarded().graph.is_filled();
        let graph = if has_graph { Some(gaps.merge(memory.facts().graph().await?)) } else { None };
        Ok(gaps.attach(Self { memory, graph, as_of }))
    }

    /// Returns one node.
    pub(super) async fn node(&self, path: &NodePath) -> Result<SummaryState> {
        let node = match path {
            NodePath::Entity(id) => self.entity(*id).await?,
            NodePath::EntityType(kind) => {
                let census = self.census().await?;
                self.kind(*kind, census.get(kind).map_or(&[], Vec::as_slice)).await?
            }
            NodePath::Topic(id) => {
                let topics = self.graph()?.topics(self.as_of).await?;
                match topics.iter().find(|topic| topic.id == *id) {
                    Some(topic) => self.topic(topic).await?,
                    None => None,
                }
            }
            _ => self.preferences().await?,
        };
        let node = node.ok_or_else(|| Error::not_found(format!("there is nothing to tell of {path}")))?;
        Ok(SummaryState::fresh(0, node))
    }

    /// Returns a node and the nodes below it.
    pub(super) async fn tree(&self, path: &NodePath, depth: usize) -> Result<Vec<SummaryState>> {
        let mut found = vec![self.node(path).await?];
        match path {
            _ if depth == 0 => {}
            NodePath::EntityType(kind) => {
                let census = self.census().await?;
                found.extend(self.names(census.get(kind).map_or(&[], Vec::as_slice), 1).await?);
            }
            NodePath::Topic(id) => {
                let topics = self.graph()?.topics(self.as_of).await?;
                let parts: Vec<Topic> =
                    topics.into_iter().filter(|topic| topic.parent == Some(*id)).collect();
                found.extend(self.topics(&parts, 1).await?);
            }
            _ => {}
        }
        Ok(found)
    }

    /// Returns the nodes below the root other than channels and months.
    pub(super) async fn below_root(&self, depth: usize) -> Result<Vec<SummaryState>> {
        let mut found = Vec::new();
        if let Some(graph) = &self.graph {
            let census = self.census().await?;
            for (kind, names) in &census {
                if let Some(node) = self.kind(*kind, names).await? {
                    found.push(SummaryState::fresh(1, node));
                    if depth > 1 {
                        found.extend(self.names(names, 2).await?);
                    }
                }
            }
            let mut topics = graph.topics(self.as_of).await?;
            topics.retain(|topic| topic.parent.is_none());
            found.extend(self.topics(&topics, 1).await?);
        }
        if self.memory.engine.guarded().learnings.is_filled() {
            found.extend(self.preferences().await?.map(|node| SummaryState::fresh(1, node)));
        }
        Ok(found)
    }

    fn graph(&self) -> Result<&Graph> {
        self.graph.as_ref().ok_or_else(|| crate::engine::missing("a graph"))
    }

    /// Returns the entities of each kind that has a node, most frequent first.
    async fn census(&self) -> Result<BTreeMap<EntityKind, Vec<EntityId>>> {
        let graph = self.graph()?;
        let all = graph.all(&EntityFilter::all(), self.as_of).await?;
        let kinds: BTreeMap<EntityId, EntityKind> =
            all.iter().map(|entity| (entity.id, entity.kind)).collect();
        let mut census: BTreeMap<EntityKind, Vec<EntityId>> = BTreeMap::new();
        for one in graph.census(self.as_of).await? {
            if let Some(kind) = kinds.get(&one.entity).filter(|kind| KINDS.contains(kind)) {
                census.entry(*kind).or_default().push(one.entity);
            }
        }
        Ok(census)
    }

    async fn names(&self, names: &[EntityId], depth: usize) -> Result<Vec<SummaryState>> {
        let mut found = Vec::new();
        for id in names.iter().take(OF_A_KIND) {
            found.extend(self.entity(*id).await?.map(|node| SummaryState::fresh(depth, node)));
        }
        Ok(found)
    }

    async fn topics(&self, topics: &[Topic], depth: usize) -> Result<Vec<SummaryState>> {
        let mut found = Vec::new();
        for topic in topics.iter().take(TOPICS) {
            found.extend(self.topic(topic).await?.map(|node| SummaryState::fresh(depth, node)));
        }
        Ok(found)
    }

    async fn entity(&self, id: EntityId) -> Result<Option<SummaryNode>> {
        let Some(entity) = self.graph()?.entities([id], self.as_of).await?.pop() else { return Ok(None) };
        let events = self.named_in(entity.id, SOURCES).await?;
        let path = NodePath::Entity(entity.id);
        self.new_node(&path, NodePath::EntityType(entity.kind), events).await
    }

    async fn kind(&self, kind: EntityKind, names: &[EntityId]) -> Result<Option<SummaryNode>> {
        let mut events = BTreeSet::new();
        for id in names.iter().take(OF_A_KIND) {
            events.extend(self.named_in(*id, OF_EACH).await?);
        }
        let events = events.into_iter().collect();
        self.new_node(&NodePath::EntityType(kind), NodePath::Root, events).await
    }

    async fn topic(&self, topic: &Topic) -> Result<Option<SummaryNode>> {
        let events = topic.events.iter().rev().take(SOURCES).map(|(event, _)| *event).collect();
        let parent = topic.parent.map_or(NodePath::Root, NodePath::Topic);
        self.new_node(&NodePath::Topic(topic.id), parent, events).await
    }

    /// Returns the newest events that mention an entity up to the world time.
    async fn named_in(&self, id: EntityId, most: usize) -> Result<Vec<EventId>> {
        let mut rows = self.graph()?.mentions(id, self.as_of).await?;
        rows.retain(|row| row.occurred_at <= self.as_of.world);
        rows.sort_by_key(|row| std::cmp::Reverse((row.occurred_at, row.source.event)));
        rows.dedup_by_key(|row| row.source.event);
        Ok(rows.iter().take(most).map(|row| row.source.event).collect())
    }

    async fn new_node(
        &self,
        path: &NodePath,
        parent: NodePath,
        events: Vec<EventId>,
    ) -> Result<Option<SummaryNode>> {
        let mut events: Vec<Event> = self.memory.log_to_read()?.get(&events).await?;
        events.retain(|event| event.recorded_at <= self.as_of.belief);
        Ok(build_node(self.memory.engine.language(), path, vec![parent], events))
    }

    /// Returns the user's preferences, in the order of the profile page.
    async fn preferences(&self) -> Result<Option<SummaryNode>> {
        let rows: Vec<Learning> =
            self.memory.preferences().profile(self.as_of).await?.into_iter().map(|(_, row)| row).collect();
        let sources: BTreeSet<EventId> =
            rows.iter().flat_map(|row| &row.sources).map(|source| source.event).collect();
        let sources: Vec<EventId> = sources.into_iter().collect();
        let events = self.memory.log_to_read()?.get(&sources).await?;
        let times = || rows.iter().map(|row| row.occurred_at);
        let (Some(first_at), Some(last_at)) = (times().min(), times().max()) else { return Ok(None) };
        Ok(Some(SummaryNode {
            path: NodePath::Preferences,
            parents: vec![NodePath::Root],
            lines: rows.iter().filter_map(line).collect(),
            events: sources.len() as u64,
            sources,
            channel: None,
            first_at,
            last_at,
            through: events.iter().map(|event| event.seq).max().unwrap_or(Seq(0)),
            updated_at: events.iter().map(|event| event.recorded_at).max().unwrap_or(Timestamp::EPOCH),
            producer: producer(),
        }))
    }
}

/// Returns a learning as a sentence of a summary: its text, and the user's last statement of it as the source.
fn line(row: &Learning) -> Option<SummaryLine> {
    Some(SummaryLine {
        source: *row.sources.last()?,
        text: row.content.clone(),
        session: row.session.clone(),
        speaker: row.speaker.clone(),
        occurred_at: row.occurred_at,
        zone: Zone::utc(),
        trust: row.trust,
        level: row.level,
    })
}
