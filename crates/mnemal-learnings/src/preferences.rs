//! Preference context source: preferences selected for a request by topic.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, Embedder, Fragment, Gap, GapCause, Gaps, InclusionReason, Label,
    Layer, Learning, LearningFilter, LearningId, LearningKind, LearningStore, Level, RecordRef, RepeatPolicy,
    Result, Score, ScorePart, Section, SessionId, Slot, Zone,
};

use mnemal_extract::{concerns_user, question};
use mnemal_text::fold;

use crate::owner::{InstructionAuthors, voice};
use crate::read::is_of_conversation;
use crate::row_identity::RowIdentity;
use crate::source::{best, is_filed, lines_of, remark, said_at};
use crate::topic::{NEARNESS, REQUESTS, Topic, TopicSimilarity, Topics, WORDS, common};

/// Number of preferences offered.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// At least this many.
    fewest: usize,
    /// One more for each of this many preferences.
    one_of: usize,
    /// One in this many of the lines that fit the budget; never fewer than `fewest` because of it.
    one_in: usize,
}

/// For a request for advice or work. Source: ADR 23.
const FOR_HELP: Offer = Offer { fewest: 60, one_of: 5, one_in: 1 };
/// For any other request: a question about the past needs room for its answer. Source: ADR 23; the share of a budget is
/// measured with `bench life` (ADR 21).
const ELSE: Offer = Offer { fewest: 3, one_of: 3, one_in: 6 };
/// Tokens of a line: no more lines are offered than fit the budget, or twice as many for a request that omits records
/// already shown. Source: a line has 29 on average (ADR 23), and they may take .8 of the tokens left for the question, so
/// that of 125 for a budget of 4,000 at most 110 fit.
const LINE_TOKENS: u32 = 32;
/// Weight of another person's words relative to the user's, 0 to 1. Source: own choice; the user's come first, and the
/// others where there is room.
const OF_OTHERS: f32 = 0.5;

/// Most agent notes about the user. Source: own choice; with level, day and id they take an eighth of a budget of 4,000
/// tokens.
const NOTED: usize = 12;
/// Category of notes about the user. Source: RB-04, the conventional categories.
const OF_USER: &str = "user-preferences";

/// Offers preferences, and notes about the user, for a request by topic, nearest first, the newest first among equals.
///
/// A relevant preference rarely shares a word with its question ("which trains?" and "I cannot climb stairs"), so it is not
/// left to a search: common words are weighted by their rarity among the preferences, and vectors are compared after
/// removal of the mean of all preferences and of typical requests. They are offered for section recall and not for
/// preferences, because that block must not depend on the question.
///
/// A request for advice or work gets more of them than a question about the past. Another person's preference counts half,
/// unless the request names that person or every speaker has a name.
///
/// A note about the user is one filed below `user-preferences`, or for which
/// [`mnemal_extract::concerns_user`] is true. In the user's own words it is treated as a preference; an
/// agent's note counts half, is limited to twelve lines, and is labeled as the agent's. External notes are excluded. Topics
/// are cached in memory while their learning exists.
#[derive(Clone)]
pub struct PreferenceSource {
    store: Arc<dyn LearningStore>,
    embedder: Slot<dyn Embedder>,
    at_once: usize,
    known: Arc<Mutex<PreferenceCache>>,
}

#[derive(Default)]
struct PreferenceCache {
    topics: ByLearning,
    requests: Option<Arc<[f32]>>,
    shelf: Option<Arc<PreferenceIndex>>,
}

/// The preferences among some rows, with everything that does not depend on the question.
struct PreferenceIndex {
    of: RowIdentity<Learning>,
    /// The indexes of the preferences, newest first.
    places: Vec<usize>,
    /// Their topics, in the same order.
    topics: Topics,
    /// Their speakers.
    voices: Speakers,
    /// Whether each is an agent's note, in the same order.
    noted: Vec<bool>,
}

impl PreferenceIndex {
    fn new(rows: &[Arc<Learning>], places: Vec<usize>, topics: &[Arc<Topic>]) -> Self {
        let all = || places.iter().filter_map(|place| rows.get(*place)).map(AsRef::as_ref);
        let voices = Speakers::new(all());
        let noted = all().map(|one: &Learning| one.level != Level::User).collect();
        Self { of: RowIdentity::new(rows), places, topics: Topics::new(topics), voices, noted }
    }
}

impl PreferenceSource {
    /// Selects among these rows by words, and by vectors with an embedder, which gets at most `at_once` texts per request;
    /// the others wait for the next one.
    pub fn new(store: Arc<dyn LearningStore>, embedder: Slot<dyn Embedder>, at_once: usize) -> Self {
        Self { store, embedder, at_once, known: Arc::default() }
    }

    /// Returns the preferences among these rows, the mean direction of requests, and the reason if vectors are missing.
    async fn shelf(
        &self,
        rows: &[Arc<Learning>],
    ) -> (Arc<PreferenceIndex>, Option<Arc<[f32]>>, Option<GapCause>) {
        {
            let kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(shelf) = kept.shelf.as_ref().filter(|shelf| shelf.of.is(rows)) {
                return (Arc::clone(shelf), kept.requests.clone(), None);
            }
        }
        let mut all: Vec<(usize, &Arc<Learning>)> =
            rows.iter().enumerate().filter(|(_, one)| is_offered(one)).collect();
        all.sort_by_key(|(_, one)| Reverse((one.created_at, one.id)));
        let (places, all): (Vec<usize>, Vec<&Arc<Learning>>) = all.into_iter().unzip();
        let (known, requests, cause) = match self.topics(&all).await {
            Ok((known, requests)) => (known, requests, None),
            Err(cause) => (ByLearning::new(), None, Some(cause)),
        };
        let topic = |one: &&Arc<Learning>| {
            known.get(&one.id).cloned().unwrap_or_else(|| Arc::new(Topic::of(&one.content, None)))
        };
        let topics: Vec<Arc<Topic>> = all.iter().map(topic).collect();
        let made = Arc::new(PreferenceIndex::new(rows, places, &topics));
        // Preferences without a vector get it during one of the next requests.
        if known.len() == all.len() {
            let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            kept.shelf = Some(Arc::clone(&made));
        }
        (made, requests, cause)
    }

    /// Returns the topics known so far, and the mean direction of requests.
    async fn topics(&self, all: &[&Arc<Learning>]) -> Result<(ByLearning, Option<Arc<[f32]>>), GapCause> {
        let (mut known, requests) = {
            let kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let find = |one: &&Arc<Learning>| Some((one.id, Arc::clone(kept.topics.get(&one.id)?)));
            (all.iter().filter_map(find).collect::<ByLearning>(), kept.requests.clone())
        };
        let new: Vec<&Arc<Learning>> =
            all.iter().copied().filter(|one| !known.contains_key(&one.id)).collect();
        let mut learnt: Vec<(LearningId, Arc<Topic>)> = Vec::new();
        let (mut answer, mut direction) = (Ok(()), requests);
        match self.embedder.part() {
            Ok(embedder) => {
                let new: Vec<&Arc<Learning>> = new.into_iter().take(self.at_once).collect();
                let texts: Vec<&str> = new.iter().map(|one| one.content.as_str()).collect();
                match vectors(embedder, &texts, &mut direction).await {
                    Ok(vectors) => learnt.extend(
                        new.iter()
                            .zip(vectors)
                            .map(|(one, vector)| (one.id, Arc::new(Topic::of(&one.content, vector)))),
                    ),
                    Err(error) => answer = Err(GapCause::from(error)),
                }
            }
            Err(_) => {
                learnt.extend(new.iter().map(|one| (one.id, Arc::new(Topic::of(&one.content, None)))));
            }
        }
        known.extend(learnt);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).keep(&known, direction.clone());
        answer.map(|()| (known, direction))
    }

    /// Returns the topic of the request, with its own vector if it is of the same model.
    async fn request_topic(&self, query: &str, request: &ContextRequest) -> Result<Topic, GapCause> {
        let Ok(embedder) = self.embedder.part() else { return Ok(Topic::of(query, None)) };
        let given = request.query_vector.as_ref().filter(|(model, _)| model == embedder.model());
        let vector = match given {
            Some((_, vector)) => Some(vector.clone()),
            None => embedder.embed_query(query).await?,
        };
        Ok(Topic::of(query, vector))
    }
}

/// Topics by learning.
type ByLearning = HashMap<LearningId, Arc<Topic>>;

impl PreferenceCache {
    /// Keeps the topics of existing learnings; with several users the last one's are kept, which costs only time.
    fn keep(&mut self, known: &ByLearning, requests: Option<Arc<[f32]>>) {
        self.topics.clone_from(known);
        self.requests = requests;
    }
}

impl fmt::Debug for PreferenceSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, embedder, at_once, known: _ } = self;
        out.debug_struct("PreferenceSource")
            .field("store", store)
            .field("embedder", embedder)
            .field("at_once", at_once)
            .finish_non_exhaustive()
    }
}

/// Returns the vectors of texts; the first time those of the typical requests too.
async fn vectors(
    embedder: &dyn Embedder,
    texts: &[&str],
    requests: &mut Option<Arc<[f32]>>,
) -> Result<Vec<Option<Vec<f32>>>> {
    if requests.is_none() {
        let known = embedder.embed(&REQUESTS).await?;
        *requests = common(known.iter().filter_map(Option::as_deref)).map(Arc::from);
    }
    if texts.is_empty() { Ok(Vec::new()) } else { embedder.embed(texts).await }
}

#[async_trait]
impl ContextSource for PreferenceSource {
    fn layer(&self) -> Layer {
        Layer::Learnings
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        if question_of(request).is_none() {
            return Ok(Degraded::whole(Vec::new()));
        }
        let filter = LearningFilter {
            user: request.user.clone(),
            agent: request.agent.clone(),
            ..LearningFilter::all()
        };
        let all = self.store.active(&filter, request.as_of).await?;
        Ok(self.choose(request, &in_conversation(&all, &request.session), &InstructionAuthors::All).await)
    }
}

/// Returns the question for which preferences are selected, if there is one.
fn question_of(request: &ContextRequest) -> Option<&str> {
    let is_wanted = request.sections.only().is_none_or(|wanted| wanted.contains(&Section::Recall));
    // A host that wants few lines sends a request on every prompt; there silence is the usual answer.
    request.query.as_deref().filter(|_| is_wanted && request.lines.is_none())
}

impl Offer {
    /// Returns how many of this many preferences may be in the requested context.
    fn most(self, preferences: usize, request: &ContextRequest) -> usize {
        let line = if request.injected == RepeatPolicy::Skip { LINE_TOKENS / 2 } else { LINE_TOKENS };
        let lines = lines_of(request.budget, line);
        let most = self.fewest.max(lines / self.one_in);
        (self.fewest + preferences / self.one_of).min(most).min(lines)
    }
}

impl PreferenceSource {
    /// Offers the preferences among some learnings that may concern the question.
    pub(crate) async fn choose(
        &self,
        request: &ContextRequest,
        rows: &[Arc<Learning>],
        own: &InstructionAuthors,
    ) -> Degraded<Vec<Fragment>> {
        let Some(query) = question_of(request) else { return Degraded::whole(Vec::new()) };
        let (standing, requests, cause) = self.shelf(rows).await;
        if standing.places.is_empty() {
            return Degraded::whole(Vec::new());
        }
        let mut gaps = Gaps::default();
        let mut keep = |cause| gaps.add(Gap { layer: Layer::Vector, cause });
        cause.into_iter().for_each(&mut keep);
        let asked = self.request_topic(query, request).await.unwrap_or_else(|cause| {
            keep(cause);
            Topic::of(query, None)
        });
        let found = standing.topics.near(&asked, requests.as_deref());
        let weights = standing.voices.weights(query, own);
        let is_noted = |place: usize| standing.noted.get(place) == Some(&true);
        let rated = |(place, (near, voice)): (usize, (TopicSimilarity, f32))| {
            let voice = if is_noted(place) { OF_OTHERS } else { voice };
            let sum = parts(near, voice).iter().flatten().map(|part| part.value).sum();
            RatedPreference { score: Score::new(sum), place, near, voice }
        };
        let rated = found.into_iter().zip(weights).enumerate().map(rated);
        let (mut noted, mut rated): (Vec<RatedPreference>, Vec<RatedPreference>) =
            rated.partition(|one| is_noted(one.place));
        let offer = if question(query).asks_help { FOR_HELP } else { ELSE };
        let best_first = |a: &RatedPreference, b: &RatedPreference| {
            b.score.get().total_cmp(&a.score.get()).then(a.place.cmp(&b.place))
        };
        let most = offer.most(rated.len(), request);
        best(&mut rated, most, best_first);
        best(&mut noted, NOTED.min(most), best_first);
        if !noted.is_empty() {
            rated.append(&mut noted);
            rated.sort_unstable_by(best_first);
        }
        let offered = |one: RatedPreference| {
            let row = rows.get(*standing.places.get(one.place)?)?;
            let because = if own.may_order(row) { because(row) } else { InclusionReason::Query };
            Some(Fragment { because, ..fragment(row, one.score, parts(one.near, one.voice)) })
        };
        gaps.attach(rated.into_iter().filter_map(offered).collect())
    }
}

/// Returns the rows valid in a session: all except those limited to another session.
pub(crate) fn in_conversation<'r>(
    rows: &'r [Arc<Learning>],
    session: &SessionId,
) -> Cow<'r, [Arc<Learning>]> {
    let holds = |row: &Arc<Learning>| row.session == *session || !is_of_conversation(row);
    if rows.iter().all(holds) {
        return Cow::Borrowed(rows);
    }
    Cow::Owned(rows.iter().filter(|row| holds(row)).cloned().collect())
}

/// Whether it is a preference in the user's own words, or a note about the user.
fn is_offered(row: &Learning) -> bool {
    row.kind == LearningKind::Preference && row.level == Level::User || is_about_user(row)
}

/// Returns whether it is a trusted note about the user: by its category, or by its first words.
#[must_use]
pub fn is_about_user(row: &Learning) -> bool {
    row.kind == LearningKind::Note
        && row.level > Level::External
        && (is_filed(row, OF_USER) || concerns_user(&row.content))
}

/// A candidate preference.
#[derive(Clone, Copy, Debug)]
struct RatedPreference {
    score: Score,
    /// Its index among all of them, newest first.
    place: usize,
    near: TopicSimilarity,
    voice: f32,
}

/// The speakers of the preferences.
#[derive(Debug)]
struct Speakers {
    /// The folded names, each once; `None` for the owner.
    names: Vec<Option<String>>,
    /// By preference the index of its name.
    of: Vec<usize>,
}

impl Speakers {
    fn new<'l>(all: impl Iterator<Item = &'l Learning>) -> Self {
        let mut places: HashMap<Option<String>, usize> = HashMap::new();
        let mut names = Vec::new();
        let of = all.map(|one| {
            *places.entry(voice(one.speaker.as_ref())).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            })
        });
        let of = of.collect();
        Self { names, of }
    }

    /// Returns the weight of each preference: full for the owner's and for people named in the request, and for all if
    /// every speaker has a name, because then nobody counts as another person.
    fn weights(&self, query: &str, own: &InstructionAuthors) -> impl Iterator<Item = f32> {
        let words = fold(query);
        let named: Vec<&str> = words.split(|letter: char| !letter.is_alphanumeric()).collect();
        let is_named = |name: &str| name.split(' ').any(|part| named.contains(&part));
        let has_own = self.names.contains(&None);
        let is_own = |name: &Option<String>| *own != InstructionAuthors::All && own.holds(name.as_deref());
        let weight = |name: &Option<String>| match name {
            Some(other) if has_own && !is_named(other) && !is_own(name) => OF_OTHERS,
            _ => 1.0,
        };
        let weights: Vec<f32> = self.names.iter().map(weight).collect();
        self.of.iter().map(move |place| weights.get(*place).copied().unwrap_or(OF_OTHERS))
    }
}

/// The score parts of a preference; the vector part is missing if one of the two has no vector.
type Parts = [Option<ScorePart>; 2];

fn parts(near: TopicSimilarity, voice: f32) -> Parts {
    let part = |name, raw: f32, normalized: f32, weight: f32| {
        let weight = weight * voice;
        let value = normalized * weight;
        ScorePart { name, raw, normalized, weight, value }
    };
    let cosine = near.cosine.map(|cosine| part("nearness", cosine, f32::midpoint(1.0, cosine), NEARNESS));
    [cosine, Some(part("words", near.words, near.words, WORDS))]
}

fn fragment(preference: &Learning, score: Score, parts: Parts) -> Fragment {
    Fragment {
        section: Section::Recall,
        record: RecordRef::Learning(preference.id),
        producer: Some(preference.producer.clone()),
        sources: preference.sources.clone(),
        text: preference.content.clone(),
        label: Label {
            level: preference.level,
            at: said_at(preference),
            zone: Zone::utc(),
            speaker: preference.speaker.clone(),
            space: None,
            remark: remark(preference),
        },
        trust: preference.trust,
        importance: preference.importance,
        score,
        parts: parts.into_iter().flatten().collect(),
        because: because(preference),
        withheld: None,
    }
}

fn because(preference: &Learning) -> InclusionReason {
    if preference.level == Level::User { InclusionReason::ExplicitPreference } else { InclusionReason::Query }
}
