//! Offers what a user said of how he wants things for a request about the same, chosen by topic.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Because, ContextRequest, ContextSource, Degraded, Embedder, Fragment, Gap, GapCause, Gaps, Injected,
    Label, Layer, Learning, LearningFilter, LearningId, LearningKind, LearningStore, Level, RecordRef,
    Result, Score, ScorePart, Section, SessionId, Slot, Zone,
};

use mnemal_extract::{concerns_user, question};
use mnemal_text::fold;

use crate::owner::{Own, voice};
use crate::read::is_of_conversation;
use crate::same::Same;
use crate::source::{best, is_filed, lines_of, remark, said_at};
use crate::topic::{NEARNESS, Near, REQUESTS, Topic, Topics, WORDS, common};

/// How many preferences a request is offered.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// So many, however many there are.
    fewest: usize,
    /// Of so many that there are, one more.
    one_of: usize,
    /// Of the lines of them that a budget holds, one in so many; never fewer than `fewest` for that.
    one_in: usize,
}

/// Where a request asks for advice or work. Source: ADR 23.
const FOR_HELP: Offer = Offer { fewest: 60, one_of: 5, one_in: 1 };
/// Where it asks for anything else: something that was said, which is to have its room. Source: ADR 23; the share of a budget is
/// measured with `bench life` (ADR 21).
const ELSE: Offer = Offer { fewest: 3, one_of: 3, one_in: 6 };
/// Tokens of a line of them: more than a budget holds of such lines are not offered to any request, but for twice as many to one that
/// leaves out what it was shown before. Source: a line has 29 on average (ADR 23), and they may take .8 of what is left for the
/// question, so that of 125 for a budget of 4,000 at most 110 stand.
const LINE_TOKENS: u32 = 32;
/// What the words of another person than the user count beside his own, 0 to 1. Source: own choice; his own stand before them,
/// and theirs where there is room.
const OF_OTHERS: f32 = 0.5;

/// Most notes of an agent about the user. Source: own choice; with level, day and id they take an eighth of a budget of 4,000 tokens.
const NOTED: usize = 12;
/// Where notes about the user are filed. Source: RB-04, the conventional categories.
const OF_USER: &str = "user-preferences";

/// Offers preferences, and notes about the user, to a request by what they are about, nearest first, the newest first among equals.
///
/// A preference that answers rarely shares a word with its question ("which trains?" and "I cannot climb stairs"), so it is not
/// left to a search: words in common are weighed by their rarity among the preferences, and vectors are compared without what all
/// preferences, and all requests, have in common. They are offered for recall and not for the preferences, because those stand
/// where nothing depends on the question.
///
/// A request for advice or work is offered more of them than one for something that was said. What another person said of himself
/// counts half, unless the request names him or nobody speaks without a name.
///
/// A note about the user is one that is filed below `user-preferences`, or that [`concerns_user`](mnemal_extract::concerns_user).
/// In the user's own words it is a preference like any other; what an agent noted counts half, is offered in twelve lines at most,
/// and says that it is the agent's. Evidence of others is none of them. What a text is about is kept in memory, for as long as it
/// holds.
#[derive(Clone)]
pub struct PreferenceSource {
    store: Arc<dyn LearningStore>,
    embedder: Slot<dyn Embedder>,
    at_once: usize,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    topics: ByLearning,
    requests: Option<Arc<[f32]>>,
    shelf: Option<Arc<Shelf>>,
}

/// The preferences among some rows, with all that no question changes.
struct Shelf {
    of: Same<Learning>,
    /// The places of the preferences among them, the newest first.
    places: Vec<usize>,
    /// What they are about, in the same order.
    topics: Topics,
    /// Who said them.
    voices: Voices,
    /// Whether an agent noted it, in the same order.
    noted: Vec<bool>,
}

impl Shelf {
    fn new(rows: &[Arc<Learning>], places: Vec<usize>, topics: &[Arc<Topic>]) -> Self {
        let all = || places.iter().filter_map(|place| rows.get(*place)).map(AsRef::as_ref);
        let voices = Voices::new(all());
        let noted = all().map(|one: &Learning| one.level != Level::User).collect();
        Self { of: Same::new(rows), places, topics: Topics::new(topics), voices, noted }
    }
}

impl PreferenceSource {
    /// Chooses among these rows by words, and by vectors where there is an embedder, which is asked about at most `at_once`
    /// texts for one request; the others wait for the next one.
    pub fn new(store: Arc<dyn LearningStore>, embedder: Slot<dyn Embedder>, at_once: usize) -> Self {
        Self { store, embedder, at_once, known: Arc::default() }
    }

    /// Returns the preferences among these rows, and the direction that all requests have; and why there are no vectors.
    async fn shelf(&self, rows: &[Arc<Learning>]) -> (Arc<Shelf>, Option<Arc<[f32]>>, Option<GapCause>) {
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
        let made = Arc::new(Shelf::new(rows, places, &topics));
        // Those that wait for a vector get it from one of the next requests.
        if known.len() == all.len() {
            let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            kept.shelf = Some(Arc::clone(&made));
        }
        (made, requests, cause)
    }

    /// Returns what each preference is about as far as it is known, and the direction that all requests have.
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

    /// Returns what the request is about, with its own vector if it is of the same model.
    async fn asked(&self, query: &str, request: &ContextRequest) -> Result<Topic, GapCause> {
        let Ok(embedder) = self.embedder.part() else { return Ok(Topic::of(query, None)) };
        let given = request.query_vector.as_ref().filter(|(model, _)| model == embedder.model());
        let vector = match given {
            Some((_, vector)) => Some(vector.clone()),
            None => embedder.embed_query(query).await?,
        };
        Ok(Topic::of(query, vector))
    }
}

/// What learnings are about.
type ByLearning = HashMap<LearningId, Arc<Topic>>;

impl Known {
    /// Keeps what still holds; of several users at once the last one stays, which costs time and nothing else.
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

/// Returns the vectors of texts; the first time those of the requests too.
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
        Ok(self.chosen(request, &in_conversation(&all, &request.session), &Own::All).await)
    }
}

/// Returns the question for which preferences are chosen, if there is one.
fn question_of(request: &ContextRequest) -> Option<&str> {
    let is_wanted = request.sections.only().is_none_or(|wanted| wanted.contains(&Section::Recall));
    // A host that wants few lines asks on every prompt; there silence is the usual answer.
    request.query.as_deref().filter(|_| is_wanted && request.lines.is_none())
}

impl Offer {
    /// Returns how many of so many preferences may stand in the context that is asked for.
    fn most(self, preferences: usize, request: &ContextRequest) -> usize {
        let line = if request.injected == Injected::Skip { LINE_TOKENS / 2 } else { LINE_TOKENS };
        let lines = lines_of(request.budget, line);
        let most = self.fewest.max(lines / self.one_in);
        (self.fewest + preferences / self.one_of).min(most).min(lines)
    }
}

impl PreferenceSource {
    /// Offers those of some learnings that are preferences and may concern the question.
    pub(crate) async fn chosen(
        &self,
        request: &ContextRequest,
        rows: &[Arc<Learning>],
        own: &Own,
    ) -> Degraded<Vec<Fragment>> {
        let Some(query) = question_of(request) else { return Degraded::whole(Vec::new()) };
        let (standing, requests, cause) = self.shelf(rows).await;
        if standing.places.is_empty() {
            return Degraded::whole(Vec::new());
        }
        let mut gaps = Gaps::default();
        let mut keep = |cause| gaps.add(Gap { layer: Layer::Vector, cause });
        cause.into_iter().for_each(&mut keep);
        let asked = self.asked(query, request).await.unwrap_or_else(|cause| {
            keep(cause);
            Topic::of(query, None)
        });
        let found = standing.topics.near(&asked, requests.as_deref());
        let weights = standing.voices.weights(query, own);
        let is_noted = |place: usize| standing.noted.get(place) == Some(&true);
        let rated = |(place, (near, voice)): (usize, (Near, f32))| {
            let voice = if is_noted(place) { OF_OTHERS } else { voice };
            let sum = parts(near, voice).iter().flatten().map(|part| part.value).sum();
            Rated { score: Score::new(sum), place, near, voice }
        };
        let rated = found.into_iter().zip(weights).enumerate().map(rated);
        let (mut noted, mut rated): (Vec<Rated>, Vec<Rated>) = rated.partition(|one| is_noted(one.place));
        let offer = if question(query).asks_help { FOR_HELP } else { ELSE };
        let best_first =
            |a: &Rated, b: &Rated| b.score.get().total_cmp(&a.score.get()).then(a.place.cmp(&b.place));
        let most = offer.most(rated.len(), request);
        best(&mut rated, most, best_first);
        best(&mut noted, NOTED.min(most), best_first);
        if !noted.is_empty() {
            rated.append(&mut noted);
            rated.sort_unstable_by(best_first);
        }
        let offered = |one: Rated| {
            let row = rows.get(*standing.places.get(one.place)?)?;
            let because = if own.may_order(row) { because(row) } else { Because::Query };
            Some(Fragment { because, ..fragment(row, one.score, parts(one.near, one.voice)) })
        };
        gaps.attach(rated.into_iter().filter_map(offered).collect())
    }
}

/// Returns the rows that hold in a conversation: all but those that were said for another one alone.
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

/// Whether it is a preference in the user's own words, or a note about him.
fn is_offered(row: &Learning) -> bool {
    row.kind == LearningKind::Preference && row.level == Level::User || is_about_user(row)
}

/// Returns whether somebody who may speak for himself noted something about the user: by its category, or by its first words.
#[must_use]
pub fn is_about_user(row: &Learning) -> bool {
    row.kind == LearningKind::Note
        && row.level > Level::External
        && (is_filed(row, OF_USER) || concerns_user(&row.content))
}

/// A preference that may be offered.
#[derive(Clone, Copy, Debug)]
struct Rated {
    score: Score,
    /// Its place among all of them, the newest first.
    place: usize,
    near: Near,
    voice: f32,
}

/// Who said the preferences.
#[derive(Debug)]
struct Voices {
    /// The folded names, each once; `None` for the one whose memory it is.
    names: Vec<Option<String>>,
    /// By preference the place of its name.
    of: Vec<usize>,
}

impl Voices {
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

    /// Returns what each preference counts: in full the user's own and those of whom the request names, and all where everybody has
    /// a name, so that nobody is another.
    fn weights(&self, query: &str, own: &Own) -> impl Iterator<Item = f32> {
        let words = fold(query);
        let named: Vec<&str> = words.split(|letter: char| !letter.is_alphanumeric()).collect();
        let is_named = |name: &str| name.split(' ').any(|part| named.contains(&part));
        let has_own = self.names.contains(&None);
        let is_own = |name: &Option<String>| *own != Own::All && own.holds(name.as_deref());
        let weight = |name: &Option<String>| match name {
            Some(other) if has_own && !is_named(other) && !is_own(name) => OF_OTHERS,
            _ => 1.0,
        };
        let weights: Vec<f32> = self.names.iter().map(weight).collect();
        self.of.iter().map(move |place| weights.get(*place).copied().unwrap_or(OF_OTHERS))
    }
}

/// What the score of a preference is made of; the first is missing where one of the two has no vector.
type Parts = [Option<ScorePart>; 2];

fn parts(near: Near, voice: f32) -> Parts {
    let part = |name, raw: f32, normalised: f32, weight: f32| {
        let weight = weight * voice;
        let value = normalised * weight;
        ScorePart { name, raw, normalised, weight, value }
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

fn because(preference: &Learning) -> Because {
    if preference.level == Level::User { Because::ExplicitPreference } else { Because::Query }
}
