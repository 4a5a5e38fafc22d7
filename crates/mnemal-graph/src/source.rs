//! Graph context source: facts about the user, about entities in the question, and about its topics.

mod choose;
mod line;
mod unprocessed;

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    AsOf, ContextRequest, ContextSource, Degraded, Entity, EntityFilter, EntityId, EntityKind, Event,
    EventFilter, EventId, EventStore, Extractor, Fact, FactFilter, FactStatus, Fragment, GraphStore,
    InclusionReason, Layer, Level, MentionFilter, Predicate, Result, Role, Section, SessionId, Source, Span,
    Speaker, Within,
};

use mnemal_extract::{predicate, question, speaker_voice};

use self::choose::{FactCandidates, QuotedFact, Selection};
use self::line::TurnQuote;
use self::unprocessed::{add_answers, override_stale_facts, unprocessed_turns};
use crate::Graph;
use crate::key::name_key;
use crate::query_analysis::QueryAnalysis;
use crate::resolve::speaker_ids;
use crate::stems::Stems;
use crate::verbalize::Names;

/// Most entities whose facts are offered. Source: AD-16, the entity reserve of a context.
const ENTITIES: usize = 5;
/// Newest turns of the asking session whose entities count as mentioned. Source: own choice, two exchanges.
const TURNS: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");

/// Newest user turns in which another speaker is looked for. Source: own choice; users of a shared memory alternate.
const VOICES: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");

/// Offers facts of the graph, each as one sentence with its source claims.
///
/// Section `knowledge` has facts about the user for any question; `entity` facts about the entities in the question or in
/// the last turns of the session, and about the user where they answer; `topics` facts about named things. Disputed values
/// form one line. Facts that are over are offered if the question or `as_of` asks about the past. With an
/// [extractor](Self::with_extractor), the user's turns since the last fold are read too: a fact that they contradict is
/// withheld and replaced by the user's words, which are also offered where the question asks for them. If a question about
/// the user can only be answered by a candidate, and no fact stated later answers it, the sentence that the candidate rests
/// on is quoted as the user's words, unless the host wants few lines. Never offered: candidates themselves, facts that a
/// person rejected, facts that rest on the agent's word alone, and, in a request for one user or agent, facts that rest on
/// the words of another.
#[derive(Clone, Debug)]
pub struct GraphSource {
    graph: Graph,
    store: Arc<dyn GraphStore>,
    events: Arc<dyn EventStore>,
    stems: Arc<Stems>,
    extractor: Option<Arc<dyn Extractor>>,
}

impl GraphSource {
    /// Offers facts from these rows; the log gives the latest turns and the speakers behind a fact.
    pub fn new(store: Arc<dyn GraphStore>, events: Arc<dyn EventStore>) -> Self {
        let graph = Graph::new(Arc::clone(&store));
        Self { graph, store, events, stems: Arc::default(), extractor: None }
    }

    /// Sets the extractor for the user's turns since the last fold.
    #[must_use]
    pub fn with_extractor(self, extractor: Arc<dyn Extractor>) -> Self {
        Self { extractor: Some(extractor), ..self }
    }

    /// Returns the entities that "I" means in a question: the unnamed speaker, and the last speaker of the session or the
    /// only speaker.
    async fn askers(&self, request: &ContextRequest) -> Result<Vec<Arc<Entity>>> {
        let mut askers = self.graph.shared_entities(speaker_ids(request.user.only()), request.as_of).await?;
        let mut voices = Vec::new();
        if !request.session.is_nobody() {
            voices = self.voices(Within::Only(request.session.clone()), NonZeroUsize::MIN).await?;
        }
        if voices.is_empty() {
            voices = self.voices(Within::All, VOICES).await?;
        }
        let sole = voices.split_first().filter(|(first, rest)| rest.iter().all(|voice| voice == *first));
        if let Some((Some(name), _)) = sole {
            let keys = vec![name_key(name, EntityKind::Person)];
            let filter = EntityFilter { keys: Within::Only(keys), ..EntityFilter::all() };
            let mut found = self.store.entities(&filter).await?;
            found.retain(|entity| entity.kind == EntityKind::Person);
            let found =
                self.graph.shared_entities(found.iter().map(|entity| entity.id), request.as_of).await?;
            for entity in found {
                if !askers.iter().any(|one| one.id == entity.id) {
                    askers.push(entity);
                }
            }
        }
        Ok(askers)
    }

    /// Returns the speaker names of the newest user turns; `None` for a turn without one.
    async fn voices(&self, session: Within<SessionId>, most: NonZeroUsize) -> Result<Vec<Option<String>>> {
        let filter = EventFilter { session, roles: Within::Only(vec![Role::User]), ..EventFilter::live() };
        let turns = self.events.latest(&filter, most).await?;
        let own = turns.iter().filter(|turn| turn.level == Level::User);
        let speaker = |turn: &Event| turn.body().and_then(|kept| kept.speaker.clone());
        Ok(own.map(|turn| speaker_voice(speaker(turn).as_ref().map(Speaker::as_str))).collect())
    }

    /// Returns the entities that a request is about, those of the question first, at most five; "my sister" resolves
    /// through a fact of the owner, or is the one of whom no name is known.
    async fn request_entities(
        &self,
        asked: &QueryAnalysis,
        request: &ContextRequest,
        (owners, own): (&[EntityId], &[Arc<Fact>]),
    ) -> Result<RequestEntities> {
        let mut found: Vec<Arc<Entity>> = Vec::new();
        if !asked.keys.is_empty() {
            let filter = EntityFilter { keys: Within::Only(asked.keys.clone()), ..EntityFilter::all() };
            found = self.store.entities(&filter).await?;
        }
        let place = |entity: &Arc<Entity>| {
            let of_name = |key: &String| asked.keys.iter().position(|asked| asked == key);
            entity.names.iter().filter_map(|name| of_name(&name.key)).min()
        };
        found.sort_by_key(|entity| (place(entity), entity.id));
        let mut named = RequestEntities::default();
        self.add(&mut named, found, request.as_of).await?;
        let is_called = |fact: &&Arc<Fact>| match &fact.topic {
            Some(role) => asked.for_role(role).is_some() || !asked.shared_words(role, &self.stems).is_empty(),
            // A partner's role is that of the entity alone.
            None => fact.predicate.as_str() == "partner" && asked.for_partner(),
        };
        let called = own.iter().filter(is_called).filter_map(|fact| fact.object.entity());
        let called: BTreeSet<EntityId> = called.chain(asked.unnamed(owners)).collect();
        if !called.is_empty() {
            let called = self.graph.shared_entities(called, request.as_of).await?;
            self.add(&mut named, called, request.as_of).await?;
        }
        named.in_question = named.entities.len();
        if named.entities.len() < ENTITIES {
            let mentioned = self.recently_mentioned(request).await?;
            self.add(&mut named, mentioned, request.as_of).await?;
        }
        Ok(named)
    }

    /// Adds entities, each as its canonical one, while there is room.
    async fn add(&self, named: &mut RequestEntities, found: Vec<Arc<Entity>>, as_of: AsOf) -> Result<()> {
        for entity in found {
            let stands_for = match entity.merged_into_at(as_of.belief) {
                None if entity.created_at <= as_of.belief => vec![entity],
                None => Vec::new(),
                Some(into) => self.graph.shared_entities([into], as_of).await?,
            };
            for entity in stands_for {
                if named.entities.len() < ENTITIES && !named.entities.iter().any(|one| one.id == entity.id) {
                    named.entities.push(entity);
                }
            }
        }
        Ok(())
    }

    /// Returns the entities that the last turns of the asking session mention, newest first.
    async fn recently_mentioned(&self, request: &ContextRequest) -> Result<Vec<Arc<Entity>>> {
        if request.session.is_nobody() {
            return Ok(Vec::new());
        }
        let filter = EventFilter { session: Within::Only(request.session.clone()), ..EventFilter::live() };
        let turns: Vec<EventId> =
            self.events.latest(&filter, TURNS).await?.into_iter().map(|event| event.id).collect();
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let filter = MentionFilter { events: Within::Only(turns.clone()), ..MentionFilter::all() };
        let mut rows = self.store.mentions(&filter).await?;
        rows.sort_by_key(|row| turns.iter().position(|turn| *turn == row.source.event));
        let mut ids: Vec<EntityId> = Vec::new();
        for row in rows {
            if ids.len() < ENTITIES && !ids.contains(&row.entity) {
                ids.push(row.entity);
            }
        }
        let filter = EntityFilter { ids: Within::Only(ids.clone()), ..EntityFilter::all() };
        let mut found = self.store.entities(&filter).await?;
        found.sort_by_key(|entity| ids.iter().position(|id| *id == entity.id));
        Ok(found)
    }

    /// Returns the owner's facts that may answer, and those for any question.
    async fn own(
        &self,
        request: &ContextRequest,
        asked: &QueryAnalysis,
        owners: &[EntityId],
    ) -> Result<Vec<Arc<Fact>>> {
        // An owner may have thousands of facts, of which few can answer.
        let looked_up = predicate::all().iter().filter(|info| choose::is_looked_up(info, asked));
        let predicates: Vec<Predicate> =
            looked_up.map(|info| Predicate::new(info.name.as_str())).collect::<Result<_>>()?;
        let mut facts = Vec::new();
        for owner in owners {
            let (subjects, predicates) = (Within::Only(vec![*owner]), Within::Only(predicates.clone()));
            let filter = FactFilter { subjects, predicates, ..FactFilter::all() };
            facts.extend(self.store.facts(&filter, request.as_of).await?);
            facts.extend(self.past(request, asked, &filter).await?);
        }
        Ok(facts)
    }

    /// Returns former facts of these entities, if the question asks about the past.
    async fn past(
        &self,
        request: &ContextRequest,
        asked: &QueryAnalysis,
        filter: &FactFilter,
    ) -> Result<Vec<Arc<Fact>>> {
        if !asked.looks_back {
            return Ok(Vec::new());
        }
        let mut facts = self.store.history(filter).await?;
        facts.retain(|fact| {
            fact.status == FactStatus::Superseded
                && fact.is_believed_at(request.as_of.belief)
                && !fact.holds_at(request.as_of.world)
        });
        Ok(facts.into_iter().map(Arc::new).collect())
    }

    /// Returns the facts with these entities as subject or object that may be shown, in addition to those of the owner.
    async fn facts(
        &self,
        request: &ContextRequest,
        asked: &QueryAnalysis,
        named: &[EntityId],
        own: Vec<Arc<Fact>>,
    ) -> Result<Vec<Arc<Fact>>> {
        let mut facts = own;
        // A host that wants few lines sends a request on every prompt: there silence is better than an uncertain line.
        let may_be_quoted = |fact: &Fact| request.lines.is_none() && choose::may_be_quoted(fact);
        facts.retain(|fact| choose::may_enter(fact, asked) || may_be_quoted(fact));
        if !named.is_empty() {
            let about = FactFilter { subjects: Within::Only(named.to_vec()), ..FactFilter::all() };
            let leading = FactFilter { objects: Within::Only(named.to_vec()), ..FactFilter::all() };
            let mut of_named = self.store.facts(&about, request.as_of).await?;
            of_named.extend(self.store.facts(&leading, request.as_of).await?);
            of_named.extend(self.past(request, asked, &about).await?);
            of_named.retain(|fact| choose::may_enter(fact, asked) || may_be_quoted(fact));
            facts.extend(of_named);
        }
        let mut seen = HashSet::with_capacity(facts.len());
        facts.retain(|fact| seen.insert(fact.id));
        self.in_scope(request, facts).await
    }

    /// Keeps the facts that rest only on words of the user and the agent of the request.
    async fn in_scope(&self, request: &ContextRequest, mut facts: Vec<Arc<Fact>>) -> Result<Vec<Arc<Fact>>> {
        if request.user == Within::All && request.agent == Within::All {
            return Ok(facts);
        }
        let scope =
            EventFilter { user: request.user.clone(), agent: request.agent.clone(), ..EventFilter::live() };
        let sources: BTreeSet<EventId> = facts.iter().flat_map(|fact| events_of(fact)).collect();
        let sources: Vec<EventId> = sources.into_iter().collect();
        let events = self.events.get(&sources).await?;
        let own: BTreeSet<EventId> =
            events.iter().filter(|event| scope.accepts(event)).map(|event| event.id).collect();
        facts.retain(|fact| events_of(fact).all(|event| own.contains(&event)));
        Ok(facts)
    }
}

impl GraphSource {
    /// Returns, for each candidate, the sentence of the user's newest words that it rests on.
    async fn words(&self, quoted: Vec<QuotedFact<'_>>) -> Result<Vec<Fragment>> {
        if quoted.is_empty() {
            return Ok(Vec::new());
        }
        let newest = |fact: &Fact| {
            let own =
                fact.supports.iter().filter(|support| support.level == Level::User && support.says_so());
            own.max_by_key(|support| support.occurred_at).map(|support| support.source)
        };
        let sources: Vec<(Source, QuotedFact<'_>)> =
            quoted.into_iter().filter_map(|one| Some((newest(one.fact)?, one))).collect();
        let ids: BTreeSet<EventId> = sources.iter().map(|(source, _)| source.event).collect();
        let turns = self.events.get(&Vec::from_iter(ids)).await?;
        let line = |(source, QuotedFact { parts, .. }): (Source, QuotedFact<'_>)| {
            let turn = turns.iter().find(|turn| turn.id == source.event)?;
            let span = sentence_of(source.span, &turn.body()?.content);
            TurnQuote { turn, span, section: Section::Entity, parts, because: InclusionReason::Query }
                .fragment()
        };
        Ok(sources.into_iter().filter_map(line).collect())
    }
}

/// Returns the sentence in which a clause begins.
fn sentence_of(clause: Span, text: &str) -> Span {
    let sentences = mnemal_text::sentences(text).into_iter();
    let mut spans = sentences.filter_map(|sentence| {
        Some(Span { start: sentence.start.try_into().ok()?, end: sentence.end.try_into().ok()? })
    });
    spans.find(|sentence| (sentence.start..sentence.end).contains(&clause.start)).unwrap_or(clause)
}

/// The entities that a request is about.
#[derive(Debug, Default)]
struct RequestEntities {
    entities: Vec<Arc<Entity>>,
    /// How many of them the question names; the others occur in the last turns.
    in_question: usize,
}

fn ends(fact: &Fact) -> impl Iterator<Item = EntityId> {
    [Some(fact.subject), fact.object.entity()].into_iter().flatten()
}

fn events_of(fact: &Fact) -> impl Iterator<Item = EventId> {
    fact.supports.iter().map(|support| support.source.event)
}

#[async_trait]
impl ContextSource for GraphSource {
    fn layer(&self) -> Layer {
        Layer::Graph
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let offered = [Section::Knowledge, Section::Entity, Section::Topics];
        if request.sections.only().is_some_and(|wanted| !offered.iter().any(|one| wanted.contains(one))) {
            return Ok(Degraded::whole(Vec::new()));
        }
        let asked = request.query.as_deref().map(QueryAnalysis::read).unwrap_or_default();
        // Read before the facts: if another process folds meanwhile, its turns would otherwise be missing in both.
        let read_to = self.store.cursor().await?;
        let owners = self.askers(request).await?;
        let ids =
            |entities: &[Arc<Entity>]| entities.iter().map(|entity| entity.id).collect::<Vec<EntityId>>();
        let own = self.own(request, &asked, &ids(&owners)).await?;
        let named = self.request_entities(&asked, request, (&ids(&owners), &own)).await?;
        let facts = self.facts(request, &asked, &ids(&named.entities), own).await?;
        let ends: Vec<EntityId> = facts.iter().flat_map(|fact| ends(fact)).collect();
        let others = self.graph.shared_entities(ends, request.as_of).await?;
        let known = FactCandidates::new(facts, Names::new(others, ids(&owners)), &asked, &self.stems);
        let mut choice = Selection::new(&known, (&asked, &self.stems), (request.budget, request.as_of.world));
        let (in_question, just_now) = named.entities.split_at(named.in_question.min(named.entities.len()));
        for entity in in_question {
            choice.of_entity(entity, InclusionReason::Query);
        }
        // "Where does Anna live?" asks nothing about the user except the relation to her.
        let is_of_others = !in_question.is_empty() && asked.of_roles().is_empty();
        let asks_of_user = |query: &str| question(query).about_self || !is_of_others;
        let about = if request.query.as_deref().is_none_or(asks_of_user) { None } else { Some(in_question) };
        choice.of_owner(about);
        // Facts that were asked for come in the answering section; facts for any question come after them.
        if !request.asks_for(Section::Insights) {
            choice.knowledge();
        }
        for entity in just_now {
            choice.of_entity(entity, InclusionReason::Recent);
        }
        let quoted = self.words(choice.quoted_facts(in_question)).await?;
        let mut fragments = choice.fragments();
        fragments.extend(quoted);
        if let Some(extractor) = &self.extractor {
            let unread =
                unprocessed_turns((self.events.as_ref(), read_to), &known, extractor.as_ref(), request)
                    .await?;
            override_stale_facts(&mut fragments, &known, &unread);
            // A host that wants few lines sends a request on every prompt: there silence is better than an uncertain line.
            if about.is_none() && request.lines.is_none() {
                add_answers(&mut fragments, &asked, request, &unread);
            }
        }
        Ok(Degraded::whole(fragments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_is_quoted_with_its_sentence() {
        let text = "I'm Ada. I got the job at Acme, as a lead! Fine";
        let clause = Span::whole(text).unwrap().find(text, "the job at Acme").unwrap();
        assert_eq!(sentence_of(clause, text).of(text), Some("I got the job at Acme, as a lead!"));
        let outside = Span { start: 8, end: 9 };
        assert_eq!(sentence_of(outside, text), outside, "no sentence has the space between two");
    }
}
