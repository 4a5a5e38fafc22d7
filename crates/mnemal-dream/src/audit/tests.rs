//! One planted defect per invariant, and a clean space.

use super::*;

use mnemal_core::{
    Basis, Category, Classification, Confidence, Consent, Importance, Producer, SessionId, Source, Span,
    UserId,
};

fn row(maker: u128, content: &str) -> Learning {
    Learning {
        id: LearningId(maker + 1_000),
        kind: LearningKind::Note,
        key: None,
        version: 1,
        category: Category::new("notes").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        content: content.to_owned(),
        pattern: None,
        basis: Basis::Stated,
        confidence: Confidence::new(1.0),
        consent: Consent::NotRequired,
        topics: Vec::new(),
        tool: None,
        session: SessionId::new("s").unwrap(),
        speaker: None,
        user: None,
        agent: None,
        sources: vec![Source { event: EventId(maker), span: Span { start: 0, end: 1 } }],
        trust: Trust::Assistant,
        level: Level::Agent,
        status: LearningStatus::Active,
        superseded_by: None,
        verdict: None,
        signal: None,
        tally: None,
        occurred_at: at(0),
        expires_at: None,
        created_at: at(0),
        expired_at: None,
        away: Vec::new(),
        producer: Producer { id: "test".to_owned(), version: 1 },
    }
}

fn at(hours: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(hours * 3_600_000_000)
}

fn merge(notes: &[u128]) -> OperationKind {
    let classification = Classification {
        category: Category::new("notes").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
    };
    OperationKind::Merge { notes: notes.iter().copied().map(EventId).collect(), classification }
}

/// The inputs of an audit, to be corrupted by a test.
#[derive(Clone)]
struct Case {
    rows: Vec<Learning>,
    known: Vec<AuditedNote>,
    explained: BTreeSet<EventId>,
    operations: Vec<(EventId, OperationKind)>,
    events: BTreeMap<EventId, Rank>,
    before: Option<AuditCounts>,
    refused: RefusalCounts,
    inspected: InspectionCounts,
}

impl Case {
    /// Twenty notes, of which 1 and 2 became 100 and 3 was retired in favor of 4.
    fn clean() -> Self {
        let mut rows: Vec<Learning> =
            (1..=20).map(|n| row(n, &format!("note number {n} of the depot"))).collect();
        let mut merged = row(100, "notes 1 and 2 of the depot");
        merged.sources.extend([1, 2].map(|n| rows[n - 1].sources[0]));
        for (away, into) in [(0, merged.id), (1, merged.id), (2, rows[3].id)] {
            rows[away].status = LearningStatus::Archived;
            rows[away].superseded_by = Some(into);
            rows[away].expired_at = Some(at(1));
        }
        rows.push(merged);
        let rank = Rank { level: Level::Agent, trust: Trust::Assistant };
        let events = (1..=20).chain([100]).map(|n| (EventId(n), rank)).collect();
        let known = rows
            .iter()
            .filter(|row| row.status == LearningStatus::Active)
            .map(|row| AuditedNote { id: row.id, maker: row.sources[0].event, state: NoteState::Held })
            .collect();
        let before = Some(AuditCounts { at: at(0), live: 18, deep: 0, copies: 0 });
        Self {
            known,
            explained: BTreeSet::new(),
            operations: vec![(EventId(100), merge(&[1, 2]))],
            events,
            before,
            refused: RefusalCounts::default(),
            inspected: InspectionCounts::default(),
            rows,
        }
    }

    fn audit(&self) -> Audit<'_> {
        Audit {
            at: at(24),
            rows: &self.rows,
            known: &self.known,
            explained: &self.explained,
            operations: &self.operations,
            events: &self.events,
            before: self.before,
            refused: self.refused,
            inspected: self.inspected,
        }
    }

    fn names(&self) -> Vec<&'static str> {
        self.audit().findings().iter().map(|finding| finding.name).collect()
    }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(Case::clean().names(), Vec::<&str>::new());
}

type Spoil = fn(&mut Case);

/// The defect of each invariant, and the findings; some defects violate two.
const DEFECTS: [(&str, Spoil, &[&str]); 17] = [
    ("a row is gone", |case| drop(case.rows.remove(10)), &["no-hard-delete-outside-forget"]),
    (
        "two of eighteen are put away",
        |case| {
            for row in &mut case.rows[10..12] {
                row.status = LearningStatus::Archived;
                row.expired_at = Some(at(2));
            }
        },
        &["loss-percent-threshold"],
    ),
    (
        "in favour of nobody",
        |case| case.rows[0].superseded_by = Some(LearningId(7)),
        &["merge-chain-unbroken"],
    ),
    ("above its event", |case| case.rows[5].trust = Trust::User, &["trust-not-above-sources"]),
    (
        "of another space",
        |case| case.rows[5].sources.push(Source { event: EventId(777), span: Span { start: 0, end: 1 } }),
        &["no-cross-space-reference"],
    ),
    (
        "a wish of a tool",
        |case| case.rows[5].kind = LearningKind::Preference,
        &["no-preference-from-low-level"],
    ),
    ("a cursor behind the end", |case| case.inspected.unbalanced = 1, &["ledger-balances"]),
    (
        "all of its sources forgotten",
        |case| case.explained.extend([EventId(9)]),
        &["every-row-has-a-live-source"],
    ),
    ("an index block of others", |case| case.inspected.unindexed = 7, &["index-matches-rows"]),
    ("a merge of what never was", |case| case.operations[0].1 = merge(&[1, 55]), &["merged-from-resolves"]),
    ("put away at no time", |case| case.rows[0].expired_at = None, &["archive-fields-present"]),
    (
        "put away and not away",
        |case| {
            case.rows[2].status = LearningStatus::Active;
            case.rows[2].expired_at = None;
        },
        &["live-not-merge-source"],
    ),
    ("refused again and again", |case| case.refused.repeatedly = 1, &["no-repeated-rejection"]),
    (
        "six more in a day",
        |case| {
            case.before = Some(AuditCounts { live: 12, ..case.before.unwrap() });
        },
        &["net-growth-threshold"],
    ),
    (
        "a merge of a merge of a merge",
        |case| {
            case.operations.extend([(EventId(101), merge(&[100])), (EventId(20), merge(&[101]))]);
            case.events.insert(EventId(101), Rank { level: Level::Agent, trust: Trust::Assistant });
            let mut away = row(101, "again");
            away.status = LearningStatus::Archived;
            away.expired_at = Some(at(1));
            case.rows.push(away);
        },
        &["chain-depth-threshold"],
    ),
    ("six refused merges", |case| case.refused.merges = 6, &["rejected-merges-threshold"]),
    ("a row of noise", |case| case.inspected.undecodable = 1, &["no-undecodable-rows"]),
];

#[test]
fn each_planted_defect_is_found_and_nothing_else() {
    for (what, spoil, found) in DEFECTS {
        let mut case = Case::clean();
        spoil(&mut case);
        assert_eq!(case.names(), found, "{what}");
    }
}

#[test]
fn every_invariant_can_be_broken_and_says_what_it_means_and_what_to_do() {
    for invariant in &INVARIANTS {
        assert!(DEFECTS.iter().any(|(_, _, found)| found.contains(&invariant.name)), "{}", invariant.name);
        assert!(invariant.meaning.ends_with('.') && invariant.next.ends_with('.'), "{}", invariant.name);
    }
    let alerts = INVARIANTS.iter().filter(|one| one.severity == Severity::Alert).count();
    assert!(INVARIANTS.iter().take(alerts).all(|one| one.severity == Severity::Alert), "alerts come first");
}

#[test]
fn what_another_note_stands_for_is_not_lost() {
    let mut case = Case::clean();
    let into = case.rows[4].id;
    for row in &mut case.rows[5..19] {
        row.status = LearningStatus::Archived;
        row.expired_at = Some(at(2));
        row.superseded_by = Some(into);
    }
    assert_eq!(case.names(), Vec::<&str>::new());
}

// proves: DF-13 (slow growth is found, by several users less, and over a short time not at all)
#[test]
fn slow_growth_is_found() {
    let grown = |more: u64, hours: i64, users: usize| {
        let mut case = Case::clean();
        for (row, user) in case.rows.iter_mut().zip((0..users).cycle()) {
            row.user = Some(UserId::new(format!("user-{user}")).unwrap());
        }
        case.before = Some(AuditCounts { at: at(24 - hours), live: 18 - more, deep: 0, copies: 0 });
        case.audit().findings().iter().find(|one| one.name == "net-growth-threshold").map(|one| one.rows)
    };
    assert_eq!(grown(5, 24, 1), None);
    assert_eq!(grown(6, 24, 1), Some(6));
    assert_eq!(grown(6, 24, 2), None);
    assert_eq!(grown(11, 24, 2), Some(11));
    assert_eq!(grown(18, 11, 1), None, "too short a time to say");
    assert_eq!(grown(3, 12, 1), Some(3));
}

#[test]
fn copies_are_counted_by_runs_of_words_and_not_by_vectors() {
    let mut case = Case::clean();
    let said = "the spare key of the old boat house hangs behind the green door of the shed";
    for n in 30..33 {
        case.events.insert(EventId(n), Rank { level: Level::Agent, trust: Trust::Assistant });
        case.rows.push(row(n, &format!("{said} {n}")));
    }
    case.rows.push(Learning { level: Level::External, ..row(33, said) });
    assert_eq!(case.audit().counts().copies - Case::clean().audit().counts().copies, 2);
}
