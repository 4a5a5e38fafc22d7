//! Role resolution in questions about oneself: "my sister" becomes Veronika.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use mnemal_core::{
    AsOf, EntityFilter, EntityId, EventId, Fact, FactFilter, FactStatus, GapCause, Gaps, Layer, Level,
    Predicate, Result, TermHash, Timestamp, Within,
};
use mnemal_extract::question_words;
use mnemal_text::{fold, term_hash};

use crate::question::Query;
use crate::recall::Recall;
use crate::request::RecallRequest;

/// Predicates whose topic is a lasting role; others change, and a question about a boss may mean a former one.
const PREDICATES: [&str; 3] = ["relative", "partner", "pet"];
/// Most bearers of one role to resolve. Source: own choice; a question about "my colleagues" means no specific person.
const MOST: usize = 4;

/// A role that a question mentions.
#[derive(Clone, Debug)]
pub(crate) struct RoleWord {
    /// Its name in facts.
    role: String,
    /// The terms of the word.
    terms: Vec<TermHash>,
}

/// Returns the roles that a question mentions, in any language.
pub(crate) fn role_words(text: &str, terms: impl Fn(&str) -> Vec<TermHash>) -> Vec<RoleWord> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let role = |word: &str| Some(RoleWord { role: ROLES.get(&fold(word))?.clone(), terms: terms(word) });
    words.filter_map(role).collect()
}

/// The roles by their folded words.
static ROLES: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let roles = question_words().roles.iter();
    roles.map(|(word, role)| (fold(word), fold(role))).collect()
});

/// Returns the role in a topic.
fn role_of(topic: &str) -> String {
    let topic = fold(topic);
    ROLES.get(&topic).cloned().unwrap_or(topic)
}

impl Recall {
    /// Adds the names of the people whom the question mentions by role; the role word then has no further weight. A role
    /// with several bearers is skipped. A missing graph is no gap here, because the lexical search works without it.
    pub(crate) async fn with_role_names(
        &self,
        request: &RecallRequest,
        mut query: Query,
        gaps: &mut Gaps,
    ) -> Query {
        if query.roles.is_empty() || !query.about_self || self.parts.graph.part().is_err() {
            return query;
        }
        let names = self.role_names(request, &query.roles).await.map_err(GapCause::from);
        for (word, names) in gaps.keep(Layer::Graph, names) {
            query.general.extend(word.terms);
            for term in names.iter().flat_map(|name| self.analyzer().query_terms(name)) {
                let term = TermHash(term_hash(&term));
                if !query.terms.words.contains(&term) {
                    query.terms.words.push(term);
                }
            }
        }
        query
    }

    async fn role_names(
        &self,
        request: &RecallRequest,
        roles: &[RoleWord],
    ) -> Result<Vec<(RoleWord, Vec<String>)>> {
        let Ok(store) = self.parts.graph.part() else { return Ok(Vec::new()) };
        let predicates = PREDICATES.into_iter().map(Predicate::new).collect::<Result<Vec<_>>>()?;
        let filter = FactFilter { predicates: Within::Only(predicates), ..FactFilter::all() };
        let as_of = request.as_of.unwrap_or(AsOf::present(Timestamp::MAX));
        let mut facts = store.facts(&filter, as_of).await?;
        let is_of = |fact: &Fact, role: &RoleWord| {
            fact.topic.as_deref().is_some_and(|topic| role_of(topic) == role.role)
        };
        facts.retain(|fact| {
            fact.status == FactStatus::Active
                && fact.level == Level::User
                && roles.iter().any(|role| is_of(fact, role))
        });
        let sources =
            |fact: &Fact| fact.supports.iter().map(|support| support.source.event).collect::<Vec<EventId>>();
        let events: BTreeSet<EventId> = facts.iter().flat_map(|fact| sources(fact)).collect();
        let events = self.parts.events.get(&Vec::from_iter(events)).await?;
        let seen: BTreeSet<EventId> =
            events.iter().filter(|event| request.filter.accepts(event)).map(|event| event.id).collect();
        facts.retain(|fact| sources(fact).iter().all(|event| seen.contains(event)));
        let meant: Vec<(&RoleWord, BTreeSet<EntityId>)> = roles
            .iter()
            .filter_map(|role| {
                let of_role = || facts.iter().filter(|fact| is_of(fact, role));
                let subjects: BTreeSet<EntityId> = of_role().map(|fact| fact.subject).collect();
                let objects: BTreeSet<EntityId> = of_role().filter_map(|fact| fact.object.entity()).collect();
                let is_one = subjects.len() == 1 && (1..=MOST).contains(&objects.len());
                is_one.then_some((role, objects))
            })
            .collect();
        if meant.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<EntityId> = meant.iter().flat_map(|(_, people)| people).copied().collect();
        let by_id = EntityFilter { ids: Within::Only(Vec::from_iter(ids)), ..EntityFilter::all() };
        let entities = store.entities(&by_id).await?;
        let named = |(role, people): (&RoleWord, BTreeSet<EntityId>)| {
            let known = entities.iter().filter(|entity| people.contains(&entity.id));
            let names = known.flat_map(|entity| &entity.names).map(|name| name.text.clone());
            (role.clone(), names.collect())
        };
        Ok(meant.into_iter().map(named).collect())
    }
}
