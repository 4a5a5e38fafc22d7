//! Endings of the speaker's facts that no claim of the event states: "the diet is over", "I'm no longer a fan of it",
//! the death of a pet that was named once.

use mnemal_core::{Act, Confidence, EntityId, EventId, Fact, Source, Span, Support, Value, WorldTime};
use mnemal_extract::{EndedSide, Ending, EndingScope, WordSenses, begins_compound, joined_parts};
use mnemal_text::{Analyzer, Language, fold};

use super::{ExtractedEvent, Fold, PendingClaims, ResolvedClaim};
use crate::role;

/// Confidence of an ending. Source: own choice, the value of the packs' rules for explicit statements.
const OUTRIGHT: f32 = 0.9;
/// Predicates of liking and preferring.
const LIKED: [&str; 3] = ["likes", "prefers", "favourite"];
const DISLIKED: &str = "dislikes";
/// Predicates for states of one's own life.
const STATES: [&str; 12] = [
    "diet",
    "allergic_to",
    "health",
    "habit",
    "uses",
    "skill",
    "goal",
    "activity",
    "studies",
    "member_of",
    "owns",
    "works_on",
];
/// Predicates for things given up with words that do not name their kind: "that's history". Homes, partners and animals
/// have their own words.
const OF_ONES_OWN: [&str; 14] = [
    "diet",
    "allergic_to",
    "health",
    "habit",
    "uses",
    "skill",
    "goal",
    "activity",
    "studies",
    "studies_at",
    "member_of",
    "works_on",
    "works_at",
    "role",
];
/// Predicates that end when a food is tolerated again.
const BORNE: [&str; 3] = ["allergic_to", "health", "dislikes"];
/// Predicate that a death ends.
const PETS: &str = "pet";
/// Residence, employer and role, which end on leaving.
const PLACES: [&str; 3] = ["lives_in", "works_at", "role"];
/// Employer and role.
const WORK: &str = "works_at";
const ROLE: &str = "role";
/// Deadline, which ends when the work is handed in. Its topic names the work.
const DEADLINE: &str = "deadline";
/// Life facts that can be replaced.
const LIFE: [&str; 17] = [
    "lives_in",
    "works_at",
    "role",
    "studies",
    "studies_at",
    "partner",
    "knows",
    "pet",
    "member_of",
    "owns",
    "uses",
    "habit",
    "activity",
    "goal",
    "works_on",
    "setting",
    "favourite",
];
/// Predicates for which a part of the name is enough where a replacement is stated: "my bank" for "the bank Norbank".
const NAMED: [&str; 5] = ["uses", "owns", "member_of", "works_at", "pet"];
/// Activities, whose object begins with a verb: "play the cello".
const DONE: [&str; 4] = ["habit", "activity", "skill", "goal"];
/// Predicates of roles toward the user that one person holds alone.
const ROLES: [&str; 2] = ["knows", "partner"];
/// Facts about a relative that end at death.
const OF_THE_LIVING: [&str; 14] = [
    "lives_in",
    "works_at",
    "role",
    "studies",
    "studies_at",
    "age",
    "health",
    "diet",
    "habit",
    "activity",
    "goal",
    "allergic_to",
    "owns",
    "likes",
];
/// Fewest letters of a word that identifies one of several objects. Source: own choice; shorter words identify little.
const FEWEST_LETTERS: usize = 3;
/// Fewest characters of it in a script without spaces. Source: own choice; a single character is part of too many
/// words.
const FEWEST_SHARED: usize = 2;
/// Fewest characters of an object in a script without spaces that may lack its last character. Source: own choice; in
/// shorter words one character makes another thing, as in 咖啡 and 咖啡馆.
const FEWEST_SIGNS: usize = 5;

impl Fold {
    /// Returns the claims that an event ends for its speaker, whose facts must be loaded.
    pub(super) fn over(&self, reading: ExtractedEvent<'_>, pending: &PendingClaims) -> Vec<ResolvedClaim> {
        let Some((speaker, endings)) = &pending.ended else { return Vec::new() };
        let subject = self.names.canon(*speaker);
        let facts_of =
            |id| self.facts.get(&id).into_iter().flat_map(super::subject_facts::SubjectFacts::facts);
        let said = said_at(reading);
        let is_present = |fact: &&Fact| {
            matches!(fact.act, Act::Assert | Act::Plan) && fact.invalid_at.is_none_or(|end| end > said)
        };
        // A fact restated in the same words continues, unless the ending sentence itself names it; an ending with its own date
        // is no reason to continue after that date.
        let is_said = |fact: &Fact, ending: &Ending| {
            let object = fact.object.key();
            let says = |claim: &ResolvedClaim| {
                claim.predicate == fact.predicate
                    && claim.support.object.key() == object
                    && !claim.support.act.is_of_past()
                    && (ending.words.is_empty() || !meets(claim.support.source.span, ending.span))
            };
            pending.claims.iter().any(says)
        };
        let is_alone = |fact: &Fact| {
            facts_of(subject).filter(is_present).filter(|other| other.predicate == fact.predicate).count()
                == 1
        };
        let all: Vec<&Fact> = facts_of(subject).filter(is_present).collect();
        let mut ended = Vec::new();
        for fact in &all {
            let ends = |ending: &&Ending| {
                if ending.is_among {
                    self.is_meant(ending, fact, &all)
                } else {
                    self.ends(ending, fact) && (!is_sole(ending) || is_alone(fact))
                }
            };
            if let Some(ending) = endings.iter().filter(ends).find(|ending| !is_said(fact, ending)) {
                ended.push(end_of(fact, ending, *speaker, reading));
            }
        }
        let is_anew = |end: &ResolvedClaim| {
            let object = end.support.object.key();
            let says = |claim: &ResolvedClaim| {
                claim.predicate == end.predicate
                    && claim.support.object.key() == object
                    && !claim.support.act.is_of_past()
            };
            pending.claims.iter().any(says)
        };
        let mut roles = told_with(&all, &ended, *speaker, (endings, reading));
        roles.retain(|end| !is_anew(end));
        ended.extend(roles);
        let is_of_relative = |ending: &&Ending| ending.scope == EndingScope::Relative;
        for ending in endings.iter().filter(is_of_relative) {
            let Some(relative) = self.relative(ending, subject) else { continue };
            let known = facts_of(self.names.canon(relative));
            let of_living = |fact: &&Fact| OF_THE_LIVING.contains(&fact.predicate.as_str());
            ended.extend(
                known
                    .filter(is_present)
                    .filter(of_living)
                    .map(|fact| end_of(fact, ending, relative, reading)),
            );
        }
        ended
    }

    /// Returns the relative that an ending is about, if only one matches.
    fn relative(&self, ending: &Ending, owner: EntityId) -> Option<EntityId> {
        let (role, name) = ending.words.split_first()?;
        let holders = self.names.in_role(owner, &role::normal(role))?.all();
        let is_named = |id: &EntityId| self.names_of(*id).any(|known| name.contains(&fold(known)));
        let mut of_name = holders.iter().copied().filter(is_named);
        match (of_name.next(), of_name.next()) {
            (Some(named), None) => Some(named),
            (None, _) if holders.len() == 1 => holders.first().copied(),
            _ => None,
        }
    }

    /// Returns the relatives that endings are about, whose facts must be loaded.
    pub(super) fn relatives(&self, endings: &[Ending], owner: EntityId) -> Vec<EntityId> {
        let of_relative = endings.iter().filter(|ending| ending.scope == EndingScope::Relative);
        of_relative.filter_map(|ending| self.relative(ending, owner)).map(|id| self.names.canon(id)).collect()
    }

    /// Whether an ending means this fact: no other of its kind shares as much of its name with the ending.
    fn is_meant(&self, ending: &Ending, fact: &Fact, all: &[&Fact]) -> bool {
        let kinds = kinds_among(ending);
        let is_servant = |of: &Fact| of.topic.as_deref().is_some_and(role::is_of_servant);
        let is_of_role = |of: &Fact| ending.scope != EndingScope::Role || is_servant(of);
        let may_be = |of: &Fact| kinds.contains(&of.predicate.as_str()) && is_of_role(of);
        let shared = if may_be(fact) { self.shared(ending, fact) } else { 0 };
        let is_less = |other: &&Fact| {
            let others = self.shared(ending, other);
            others < shared || others == shared && other.predicate != fact.predicate
        };
        let mut rivals = all.iter().filter(|other| other.id != fact.id && may_be(other));
        shared > 0 && rivals.all(is_less)
    }

    /// Returns how much of a fact's name the ending shares: letters of whole words, or consecutive characters.
    fn shared(&self, ending: &Ending, fact: &Fact) -> usize {
        let analyzer = Analyzer::new(language_of(ending));
        let ended = analyzer.query_terms(&ending.words.join(" "));
        let is_done = DONE.contains(&fact.predicate.as_str());
        let within = |object: &str| {
            let object = fold(object);
            let signs = ending.words.iter().map(|word| common(word, &object)).max().unwrap_or_default();
            let is_whole = || ending.words.iter().any(|word| word.contains(&object));
            if signs >= FEWEST_SHARED || signs > 0 && is_whole() {
                return signs;
            }
            let words = analyzer.query_terms(&object);
            let named = words.get(usize::from(is_done && words.len() > 1)..).unwrap_or_default();
            let letters = |word: &String| word.chars().filter(|letter| letter.is_alphabetic()).count();
            let meant = named.iter().filter(|word| letters(word) >= FEWEST_LETTERS && ended.contains(word));
            let shared = meant.map(letters).sum();
            if shared == 0 && means(ending, &object) { FEWEST_LETTERS } else { shared }
        };
        // Where one fact joins several things, the end of one does not end all.
        let of = |object: &str| {
            let parts = joined_parts(object, language_of(ending));
            if parts.iter().all(|part| within(part) > 0) { within(object) } else { 0 }
        };
        match &fact.object {
            _ if fact.predicate.as_str() == DEADLINE => fact.topic.as_deref().map(of).unwrap_or_default(),
            Value::Literal { text, .. } => of(text),
            Value::Entity(id) => self.names_of(*id).map(within).max().unwrap_or_default(),
        }
    }

    fn ends(&self, ending: &Ending, fact: &Fact) -> bool {
        let predicate = fact.predicate.as_str();
        let may_be = match (ending.scope, ending.side) {
            (EndingScope::Taste, EndedSide::Leave) => predicate == DISLIKED,
            (EndingScope::Taste, _) => LIKED.contains(&predicate),
            (EndingScope::Own | EndingScope::Any, EndedSide::Leave) => BORNE.contains(&predicate),
            (EndingScope::Own, _) => STATES.contains(&predicate) || LIKED.contains(&predicate),
            (EndingScope::Any, EndedSide::Either) => STATES.contains(&predicate),
            (EndingScope::Any, EndedSide::Do) => predicate == PETS,
            (EndingScope::Work, EndedSide::Either) => PLACES.contains(&predicate) || predicate == DEADLINE,
            (scope, _) => kinds(scope).contains(&predicate),
        };
        if ending.scope == EndingScope::Role {
            let is_of_role =
                |topic: &str| ending.words.iter().any(|word| role::normal(word) == role::normal(topic));
            return fact.topic.as_deref().is_some_and(is_of_role) && ROLES.contains(&predicate);
        }
        may_be && (ending.words.is_empty() || self.is_about(ending, fact))
    }

    /// Whether an ending is about the object of a fact: the object's words are among those of the ending. Ending an
    /// activity does not end a liking, unless both use the same words.
    fn is_about(&self, ending: &Ending, fact: &Fact) -> bool {
        let analyzer = Analyzer::new(language_of(ending));
        let ended = analyzer.query_terms(&ending.words.join(" "));
        let is_exact = ending.scope == EndingScope::Own && LIKED.contains(&fact.predicate.as_str());
        let fits = |object: &str| {
            let words = analyzer.query_terms(&fold(object));
            let is_same = |one: &String, other: &String| {
                one == other || begins_compound(one, other, language_of(ending))
            };
            let is_within = |all: &[String], of: &[String]| {
                all.iter().all(|word| of.iter().any(|other| is_same(word, other)))
            };
            // "I gave up the cello" names less than "play the cello".
            let is_nearly = words.len() == ended.len() + 1 && is_within(&ended, &words);
            let is_whole = !words.is_empty() && is_within(&words, &ended);
            match ending.scope {
                _ if is_exact => is_whole && words.len() == ended.len(),
                EndingScope::Work => is_whole,
                _ if ends_with_one(object, &ending.words) => true,
                EndingScope::Own | EndingScope::Any if means(ending, object) => true,
                EndingScope::Life if !NAMED.contains(&fact.predicate.as_str()) => is_whole,
                EndingScope::Taste if fact.predicate.as_str() != DISLIKED => {
                    is_whole || is_nearly || lacks_a_sign(object, &ending.words)
                }
                _ if !ended.is_empty() && is_within(&ended, &words) => true,
                _ => is_whole || is_nearly || lacks_a_sign(object, &ending.words),
            }
        };
        match &fact.object {
            _ if fact.predicate.as_str() == DEADLINE => fact.topic.as_deref().is_some_and(fits),
            Value::Literal { text, .. } => fits(text) && names_each_part(ending, text),
            Value::Entity(id) => self.names_of(*id).any(fits),
        }
    }

    fn names_of(&self, id: EntityId) -> impl Iterator<Item = &str> {
        let entity = self.names.get(self.names.canon(id));
        entity.into_iter().flat_map(|entity| {
            std::iter::once(entity.name.as_str()).chain(entity.names.iter().map(|name| name.text.as_str()))
        })
    }
}

/// Whether most words of what is borne again name the object by another word: "nuts are fine again" of an allergy to walnuts.
fn means(ending: &Ending, object: &str) -> bool {
    let object = WordSenses::of(object);
    let named = || ending.words.iter().filter(|word| WordSenses::of(word).mean(&object)).count();
    ending.side == EndedSide::Leave && !object.is_empty() && named() * 2 > ending.words.len()
}

/// Returns the predicates that can end in a scope that covers facts only.
fn kinds(scope: EndingScope) -> &'static [&'static str] {
    match scope {
        EndingScope::Life => &LIFE,
        EndingScope::Home => &["lives_in"],
        EndingScope::Job => &["works_at", "role"],
        EndingScope::Study => &["studies", "studies_at"],
        EndingScope::Partner => &["partner"],
        EndingScope::Illness => &["health", "activity", "allergic_to"],
        EndingScope::Pet => &[PETS],
        EndingScope::Possession => &["owns", "uses"],
        EndingScope::Membership => &["member_of", "habit", "activity", "skill"],
        EndingScope::Goal => &["goal", "works_on"],
        EndingScope::Deadline => &[DEADLINE],
        EndingScope::Habit => &["habit", "activity", "skill", "diet", "member_of", "uses"],
        _ => &[],
    }
}

/// Returns the endings of roles stated in the same message as an ended job: leaving the bank also ends being its
/// teller.
fn told_with(
    all: &[&Fact],
    ended: &[ResolvedClaim],
    speaker: EntityId,
    (endings, reading): (&[Ending], ExtractedEvent<'_>),
) -> Vec<ResolvedClaim> {
    let is_over = |fact: &Fact| {
        let object = fact.object.key();
        ended.iter().any(|end| end.predicate == fact.predicate && end.support.object.key() == object)
    };
    let is_of_work = |fact: &&&Fact| fact.predicate.as_str() == WORK && is_over(fact);
    let work: Vec<&Fact> = all.iter().filter(is_of_work).copied().collect();
    let with_work = |fact: &&&Fact| {
        let meets = |other: &&Fact| sources(fact).any(|event| sources(other).any(|one| one == event));
        fact.predicate.as_str() == ROLE && !is_over(fact) && work.iter().any(meets)
    };
    let of_job =
        |ending: &&Ending| matches!(ending.scope, EndingScope::Job | EndingScope::Life | EndingScope::Work);
    let Some(ending) = endings.iter().find(of_job).filter(|_| !work.is_empty()) else {
        return Vec::new();
    };
    all.iter().filter(with_work).map(|fact| end_of(fact, ending, speaker, reading)).collect()
}

/// Whether an ending names each part of a joined object.
fn names_each_part(ending: &Ending, object: &str) -> bool {
    let analyzer = Analyzer::new(language_of(ending));
    let ended = analyzer.query_terms(&ending.words.join(" "));
    let is_named = |part: &&str| {
        let stems = analyzer.query_terms(&fold(part));
        let has_signs = ending.words.iter().any(|word| common(word, part) > 0);
        stems.iter().any(|stem| ended.contains(stem)) || has_signs
    };
    let parts = joined_parts(object, language_of(ending));
    parts.len() < 2 || parts.iter().all(is_named)
}

/// Returns the predicates that an ending may mean when its words say more than a name.
fn kinds_among(ending: &Ending) -> &'static [&'static str] {
    match (ending.scope, ending.side) {
        (EndingScope::Own | EndingScope::Any, EndedSide::Leave) => &BORNE,
        (EndingScope::Own, _) => &OF_ONES_OWN,
        (EndingScope::Taste, EndedSide::Leave) => &[DISLIKED],
        (EndingScope::Taste, _) => &LIKED,
        (EndingScope::Role, _) => &["knows"],
        (scope, _) => kinds(scope),
    }
}

/// Returns the events that state a fact.
fn sources(fact: &Fact) -> impl Iterator<Item = EventId> + '_ {
    fact.supports.iter().map(|support| support.source.event)
}

/// Whether an ending without a name ends only the single fact of its kind: "our dog died", "goal reached".
fn is_sole(ending: &Ending) -> bool {
    let is_one_of_many = matches!(ending.scope, EndingScope::Pet | EndingScope::Goal | EndingScope::Deadline);
    ending.words.is_empty() && is_one_of_many
}

/// Whether an ending in the same sentence cancels a claim.
pub(super) fn is_ended(claim: &ResolvedClaim, over: &[ResolvedClaim]) -> bool {
    let ends = |end: &ResolvedClaim| {
        end.predicate == claim.predicate
            && end.support.object.key() == claim.support.object.key()
            && end.support.source.event == claim.support.source.event
            && meets(end.support.source.span, claim.support.source.span)
    };
    claim.support.act == Act::Assert && over.iter().any(ends)
}

/// Whether two spans overlap.
fn meets(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the longest run of characters that two texts in a script without spaces share.
fn common(one: &str, other: &str) -> usize {
    let is_sign = |sign: &char| ('\u{4e00}'..='\u{9fff}').contains(sign);
    let signs: Vec<char> = one.chars().collect();
    let longest = |from: usize| {
        let mut row = String::new();
        let rest = signs.iter().skip(from).take_while(|sign| is_sign(sign));
        rest.map_while(|sign| {
            row.push(*sign);
            other.contains(&row).then_some(())
        })
        .count()
    };
    (0..signs.len()).map(longest).max().unwrap_or_default()
}

/// Returns the language of the rule that found an ending.
fn language_of(ending: &Ending) -> Language {
    let code = ending.rule.as_str().split('.').next().unwrap_or_default();
    Language::from_code(code).unwrap_or_else(|| Language::guess(&ending.words.join(" ")))
}

/// Whether an object in a script without spaces ends with the named thing: 喝咖啡 with 咖啡, but not 咖啡馆.
fn ends_with_one(object: &str, ended: &[String]) -> bool {
    let is_unspaced = object.chars().all(|sign| ('\u{4e00}'..='\u{9fff}').contains(&sign));
    is_unspaced && ended.iter().any(|word| object.ends_with(word.as_str()))
}

/// Whether an object equals the named thing except for its last character, in a script without spaces. Characters
/// without a name are not among the words of an ending.
fn lacks_a_sign(object: &str, ended: &[String]) -> bool {
    let named: Vec<char> = ended.iter().flat_map(|word| word.chars()).collect();
    let Some((_, rest)) = named.split_last() else { return false };
    let is_long = object.chars().count() >= FEWEST_SIGNS && !object.chars().any(|sign| sign.is_ascii());
    let mut signs = object.chars();
    let has_all = rest.iter().all(|sign| signs.any(|other| other == *sign));
    let is_framed = rest.first() == object.chars().next().as_ref() && signs.next().is_none();
    // A few shared characters say little about a long object.
    is_long && has_all && is_framed && rest.len() * 2 >= object.chars().count()
}

/// Returns when an event was said, in world time.
fn said_at(reading: ExtractedEvent<'_>) -> WorldTime {
    WorldTime::from_seconds(reading.kept.occurred_at.as_micros().div_euclid(1_000_000))
}

/// Returns the claim that ends a fact. An intention is tracked apart from the fact, and has its own end.
fn end_of(fact: &Fact, ending: &Ending, speaker: EntityId, reading: ExtractedEvent<'_>) -> ResolvedClaim {
    let is_intended = fact.act == Act::Plan;
    let support = Support {
        source: Source { event: reading.event.id, span: ending.span },
        rule: ending.rule.clone(),
        subject: speaker,
        object: fact.object.clone(),
        act: if is_intended { Act::Plan } else { Act::End },
        valid_at: None,
        invalid_at: is_intended.then(|| said_at(reading)),
        grain: None,
        occurred_at: reading.kept.occurred_at,
        recorded_at: reading.event.recorded_at,
        session: reading.kept.session.clone(),
        speaker: reading.kept.speaker.clone(),
        trust: reading.event.trust,
        level: reading.event.level,
        confidence: Confidence::new(OUTRIGHT),
    };
    ResolvedClaim { predicate: fact.predicate.clone(), topic: fact.topic.clone(), support }
}
