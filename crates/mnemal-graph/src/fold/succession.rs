//! Roles that pass from one person to another: "Dr. Okafor retired; Dr. Lund took over".

use mnemal_core::{Act, Confidence, EntityId, EntityKind, Mention, Predicate, Source, Support, Value};
use mnemal_extract::{Ending, EndingScope, OwnWords};
use mnemal_text::fold;

use super::read::ResolutionState;
use super::{ExtractedEvent, Fold, ResolvedClaim};
use crate::resolve::RelatedPerson;
use crate::role;

/// Confidence of a succession. Source: own choice, the value of the packs' rules for explicit statements.
const OUTRIGHT: f32 = 0.9;
/// Fewest letters of a word that names a person on its own. Source: own choice; shorter words are particles and initials.
const FEWEST_LETTERS: usize = 3;

/// Kinds of names that are no person's, whatever stands before them. Source: own choice; a product may be named after a person.
const THINGS: [EntityKind; 3] = [EntityKind::Organization, EntityKind::Location, EntityKind::Tool];

impl Fold {
    /// Adds the claims by which a role passes to somebody from whoever of the speaker's people the event names beside, or from
    /// the holders of the role that its sentence says.
    pub(super) fn pass_on_roles(
        &mut self,
        reading: ExtractedEvent<'_>,
        (speaker, endings): (EntityId, &[Ending]),
        so_far: &mut ResolutionState,
    ) {
        for ending in endings.iter().filter(|ending| ending.scope == EndingScope::Successor) {
            let Some((name, said_role)) = ending.words.split_first() else { continue };
            let said_role =
                said_role.first().map(|said| role::normal(said)).filter(|said| role::passes_on(said));
            // "Replaced by Samsung", "moved to Leeds".
            let is_thing = |of: &Mention| of.name.contains(name.as_str()) && THINGS.contains(&of.kind);
            if reading.extraction.mentions.iter().any(is_thing) {
                continue;
            }
            let named = self.predecessors(reading, speaker, name);
            let role = match (named.as_slice(), said_role) {
                ([(_, of)], _) => of.clone(),
                (_, Some(said)) => said,
                _ => continue,
            };
            let holders = || self.names.in_role(speaker, &role).map(|holders| holders.all().clone());
            let before: Vec<EntityId> = match named.as_slice() {
                [(id, _)] => vec![*id],
                _ => holders().filter(|all| all.len() == 1).into_iter().flatten().collect(),
            };
            let who = RelatedPerson { owner: speaker, role: &role, name: Some(name) };
            let Some(new) = self.resolve_relative(who, reading.statement(), so_far) else { continue };
            so_far.pending.mentioned.entry(new).or_insert(ending.span);
            let Ok(predicate) = Predicate::new(role::predicate(&role)) else { continue };
            let claim = |person: EntityId, act: Act| ResolvedClaim {
                predicate: predicate.clone(),
                topic: Some(role.clone()),
                support: support(reading, ending, (speaker, person), act),
            };
            let new = self.names.canon(new);
            let others = before.iter().map(|id| self.names.canon(*id)).filter(|id| *id != new);
            so_far.pending.claims.extend(others.map(|id| claim(id, Act::End)));
            so_far.pending.claims.push(claim(new, Act::Assert));
        }
    }

    /// Returns the speaker's people whom an event names besides the new one, in roles that pass on.
    fn predecessors(
        &self,
        reading: ExtractedEvent<'_>,
        speaker: EntityId,
        new: &str,
    ) -> Vec<(EntityId, String)> {
        let text = fold(OwnWords::of_event(reading.kept).as_str());
        let new = fold(new);
        let is_named = |name: &str| {
            let name = fold(name);
            let has = |word: &str| has_word(&text, word) && !has_word(&new, word) && !new.contains(word);
            let is_word =
                |word: &&str| word.chars().filter(|sign| sign.is_alphabetic()).count() >= FEWEST_LETTERS;
            has(&name) || name.split_whitespace().filter(is_word).any(has)
        };
        let people = self.names.people_of(speaker);
        let is_meant = |(id, role): &&(EntityId, &str)| {
            let mut names = self.names.rows_of(*id).flat_map(|entity| &entity.names);
            role::passes_on(role) && names.any(|name| is_named(&name.text))
        };
        let mut meant: Vec<(EntityId, String)> = people
            .iter()
            .filter(is_meant)
            .map(|(id, role)| (self.names.canon(*id), (*role).to_owned()))
            .collect();
        meant.dedup();
        meant
    }
}

/// Whether a text has a word: between signs, or anywhere in a script without spaces.
fn has_word(text: &str, word: &str) -> bool {
    let is_unspaced = word.chars().all(|sign| ('\u{4e00}'..='\u{9fff}').contains(&sign));
    let is_end = |sign: Option<char>| is_unspaced || sign.is_none_or(|sign| !sign.is_alphanumeric());
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + found.len()..).and_then(|behind| behind.chars().next());
            is_end(before) && is_end(behind)
        })
}

fn support(
    reading: ExtractedEvent<'_>,
    ending: &Ending,
    (speaker, person): (EntityId, EntityId),
    act: Act,
) -> Support {
    Support {
        source: Source { event: reading.event.id, span: ending.span },
        rule: ending.rule.clone(),
        subject: speaker,
        object: Value::Entity(person),
        act,
        valid_at: None,
        invalid_at: None,
        grain: None,
        occurred_at: reading.kept.occurred_at,
        recorded_at: reading.event.recorded_at,
        session: reading.kept.session.clone(),
        speaker: reading.kept.speaker.clone(),
        trust: reading.event.trust,
        level: reading.event.level,
        confidence: Confidence::new(OUTRIGHT),
    }
}
