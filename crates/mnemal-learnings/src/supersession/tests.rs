//! Evidence thresholds, row by row.

use mnemal_core::{
    Category, Consent, EventId, Importance, LearningId, LearningKind, Level, Producer, RuleId, SessionId,
    Signal, Source, Span, Stance, Timestamp, Trust,
};

use super::*;

const TOLD: f32 = 9.0;
const VERY: f32 = 3.0;
const MILD: f32 = 1.5;
const CASUAL: f32 = 1.0;

/// A message: its weight ([`TOLD`] for an explicit one), its session, and its stance.
type Message = (f32, &'static str, Stance);

fn row(number: u32, (weight, session, stance): Message) -> Learning {
    let at = Timestamp::EPOCH.plus_micros(i64::from(number) * 1_000_000);
    let id = u128::from(number);
    Learning {
        id: LearningId(id),
        kind: LearningKind::Preference,
        key: None,
        version: 1,
        category: Category::new("user-preferences/length").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        content: String::new(),
        pattern: None,
        basis: if weight >= TOLD { Basis::Stated } else { Basis::Inferred },
        confidence: Confidence::new(0.0),
        consent: Consent::NotRequired,
        topics: Vec::new(),
        tool: None,
        session: SessionId::new(session).unwrap(),
        speaker: None,
        user: None,
        agent: None,
        sources: vec![Source { event: EventId(id), span: Span { start: 0, end: 1 } }],
        trust: Trust::User,
        level: Level::User,
        status: LearningStatus::Candidate,
        superseded_by: None,
        verdict: None,
        signal: Some(Signal {
            rule: RuleId::new("r").unwrap(),
            stance,
            weight: weight.min(VERY),
            supports: 0,
        }),
        tally: None,
        occurred_at: at,
        expires_at: None,
        created_at: at,
        expired_at: None,
        away: Vec::new(),
        producer: Producer { id: "t".to_owned(), version: 1 },
    }
}

fn settled_rows(said: &[Message]) -> Vec<Learning> {
    let mut group: Vec<Learning> = (1..).zip(said).map(|(number, said)| row(number, *said)).collect();
    settle(&mut group, &[], Inference::On);
    group
}

fn statuses(said: &[Message]) -> Vec<&'static str> {
    settled_rows(said).iter().map(|row| row.status.as_str()).collect()
}

const DO: Stance = Stance::Do;
const NOT: Stance = Stance::Leave;

// proves: RB-61, RB-62
#[test]
fn one_very_irritated_two_mild_or_three_casual_messages_are_enough() {
    for (said, holds) in [
        (vec![(VERY, "a", NOT)], true),
        (vec![(MILD, "a", NOT)], false),
        (vec![(MILD, "a", NOT), (MILD, "b", NOT)], true),
        (vec![(CASUAL, "a", DO), (CASUAL, "b", DO)], false),
        (vec![(CASUAL, "a", DO), (CASUAL, "b", DO), (CASUAL, "b", DO)], true),
        (vec![(MILD, "a", NOT), (CASUAL, "b", NOT)], false),
        // From one session only: they count as one occasion.
        (vec![(MILD, "a", NOT), (MILD, "a", NOT), (MILD, "a", NOT)], false),
        (vec![(CASUAL, "a", DO), (CASUAL, "a", DO), (CASUAL, "a", DO)], false),
        // Opposite stances do not add up.
        (vec![(MILD, "a", DO), (MILD, "b", NOT)], false),
        (vec![(TOLD, "a", DO)], true),
    ] {
        assert_eq!(statuses(&said).contains(&"active"), holds, "{said:?}");
    }
}

#[test]
fn what_is_told_holds_against_what_is_inferred_and_yields_to_what_is_told_later() {
    assert_eq!(statuses(&[(TOLD, "a", DO), (VERY, "b", NOT)]), ["active", "candidate"]);
    assert_eq!(statuses(&[(VERY, "a", NOT), (TOLD, "b", DO)]), ["superseded", "active"]);
    assert_eq!(statuses(&[(TOLD, "a", DO), (TOLD, "b", NOT)]), ["superseded", "active"]);
    let rows = settled_rows(&[(VERY, "a", NOT), (VERY, "b", DO)]);
    assert_eq!((rows[0].superseded_by, rows[0].expired_at), (Some(rows[1].id), Some(rows[1].created_at)));
}

#[test]
fn what_waits_for_evidence_waits_no_longer_once_the_user_says_it_and_never_held() {
    let rows = settled_rows(&[(MILD, "a", NOT), (TOLD, "b", DO), (MILD, "c", NOT)]);
    let [waiting, told, later] = rows.as_slice() else { panic!() };
    assert_eq!((waiting.status, waiting.superseded_by), (LearningStatus::Superseded, Some(told.id)));
    assert_eq!(waiting.expired_at, Some(waiting.created_at));
    assert_eq!((told.status, later.status), (LearningStatus::Active, LearningStatus::Candidate));
}

#[test]
fn a_second_message_of_one_event_is_no_further_evidence() {
    let mut group = vec![row(1, (MILD, "a", NOT)), row(2, (MILD, "b", NOT))];
    group[1].sources = group[0].sources.clone();
    settle(&mut group, &[], Inference::On);
    assert!(group.iter().all(|row| row.status == LearningStatus::Candidate));
    assert_eq!(group[1].signal.as_ref().unwrap().supports, 1);
}

#[test]
fn settling_twice_changes_nothing() {
    let once = settled_rows(&[(MILD, "a", NOT), (TOLD, "b", DO), (MILD, "c", NOT), (VERY, "d", NOT)]);
    let mut twice = once.clone();
    settle(&mut twice, &[], Inference::On);
    assert_eq!(once, twice);
}

#[test]
fn what_was_put_away_stays_away_whatever_is_inferred_later() {
    let at = Timestamp::EPOCH.plus_micros(1_500_000);
    for verdict in [Verdict::Archived(at), Verdict::Rejected(at)] {
        let mut group = vec![row(1, (VERY, "a", NOT)), row(2, (VERY, "b", NOT)), row(3, (TOLD, "c", DO))];
        group[0].verdict = Some(verdict);
        settle(&mut group, &[], Inference::On);
        assert_eq!(group[0].expired_at, Some(at));
        assert_ne!(group[0].status, LearningStatus::Active);
        assert_eq!(group[1].status, LearningStatus::Superseded, "inferred after it, and told since");
        assert_eq!(group[1].expired_at, Some(group[1].created_at), "it never held");
        assert_eq!(group[2].status, LearningStatus::Active, "told after it");
    }
}

const KEEP: Stance = Stance::Keep;

// proves: NB-53 (praise reinforces, once per event, and resets no age)
#[test]
fn praise_supports_what_holds_when_it_is_said_once_a_message_and_never_holds_itself() {
    let said =
        [(MILD, "a", NOT), (MILD, "b", NOT), (CASUAL, "c", KEEP), (CASUAL, "d", KEEP), (VERY, "e", KEEP)];
    let rows = settled_rows(&said);
    assert_eq!(statuses(&said), ["candidate", "active", "candidate", "candidate", "candidate"]);
    let before = settled_rows(&said[..2]);
    assert_eq!(
        (rows[1].signal.as_ref().unwrap().supports, before[1].signal.as_ref().unwrap().supports),
        (5, 2)
    );
    assert!(rows[1].confidence > before[1].confidence);
    assert_eq!(rows[1].occurred_at, before[1].occurred_at);

    let mut group: Vec<Learning> = (1..).zip(&said[..4]).map(|(number, said)| row(number, *said)).collect();
    group[3].sources = group[2].sources.clone();
    settle(&mut group, &[], Inference::On);
    assert_eq!(group[1].signal.as_ref().unwrap().supports, 3, "two praises of one message are one");

    let said = [(MILD, "a", NOT), (CASUAL, "b", KEEP), (CASUAL, "c", KEEP), (CASUAL, "d", KEEP)];
    assert_eq!(statuses(&said), ["candidate"; 4], "praise is no evidence for what never held");
    let said = [(TOLD, "a", DO), (CASUAL, "b", KEEP), (TOLD, "c", NOT)];
    assert_eq!(settled_rows(&said)[2].signal.as_ref().unwrap().supports, 1, "praise of what held before");
}

#[test]
fn of_two_statements_of_one_message_the_last_one_holds_whatever_their_ids() {
    for ids in [[1, 2], [2, 1]] {
        let mut group = ids.map(|_| row(1, (TOLD, "a", Stance::Do))).to_vec();
        for (row, (id, start)) in group.iter_mut().zip(ids.into_iter().zip([0, 40])) {
            row.id = LearningId(id);
            row.sources = vec![Source { event: EventId(1), span: Span { start, end: start + 20 } }];
        }
        settle(&mut group, &[], Inference::On);
        let active: Vec<LearningId> =
            group.iter().filter(|row| row.status == LearningStatus::Active).map(|row| row.id).collect();
        assert_eq!(active, [LearningId(ids[1])]);
    }
}
