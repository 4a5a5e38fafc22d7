//! Weekly sample of decisions for a person to assess.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Error, EventId, Learning, LearningStatus, LedgerKind, LedgerLine, OperationKind, Result, Slot, Timestamp,
    named_id,
};
use mnemal_text::{jaccard, shingles};

use crate::check::NEAR;
use crate::dreamer::{Dreamer, line};
use crate::history::History;
use crate::note::{is_note, is_of_one, maker, open};

/// Decisions per family and week. Source: RockBot, ten a week.
const MOST: usize = 10;
/// Live notes shown with a note that was archived as noise. Source: RockBot, the five most similar.
const BESIDE: usize = 5;
/// Number of sources of a well-supported note. Source: AD-46, as many as protect it.
const SUPPORTED: usize = 5;
/// Most notes compared with each other, the newest. Source: RockBot, up to 1,000 live memories per run.
const COMPARED: usize = 1_000;
/// Microseconds in a week.
const WEEK: i64 = 7 * 24 * 3_600 * 1_000_000;
/// Weeks for which a merge is sampled. Source: RockBot, 14 days.
const RECENT: i64 = 2;

/// Kinds of sampled decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// A merge of the last 14 days.
    Merged,
    /// Two live notes that are near by their words.
    Near,
    /// A note that rests on five events or more.
    Supported,
    /// A note that was archived without a replacement.
    Noise,
}

impl Family {
    /// Returns the name on the wire and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Near => "near",
            Self::Supported => "supported",
            Self::Noise => "noise",
        }
    }
}

/// A person's assessment of a decision, or of a missing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// Correct.
    Right,
    /// Incorrect.
    Wrong,
}

impl Assessment {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Right, Self::Wrong];

    /// Returns the name on the wire and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }
}

/// One decision to assess.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Derived from its family and the source events of its notes, so that other notes give another id.
    pub id: u128,
    /// Its family.
    pub family: Family,
    /// The operation; `None` where nothing was done.
    pub operation: Option<EventId>,
    /// The notes; for a merge the merged one first.
    pub notes: Vec<Learning>,
    /// The live notes most similar to an archived one, best first, up to five.
    pub beside: Vec<Learning>,
}

impl Sample {
    fn new(family: Family, operation: Option<EventId>, notes: Vec<&Learning>) -> Self {
        let makers: Vec<String> =
            notes.iter().filter_map(|row| maker(row)).map(|event| event.to_string()).collect();
        let parts: Vec<&str> =
            [family.as_str()].into_iter().chain(makers.iter().map(String::as_str)).collect();
        let id = named_id("dream/sample", &parts);
        Self { id, family, operation, notes: notes.into_iter().cloned().collect(), beside: Vec::new() }
    }
}

impl Dreamer {
    /// Returns this week's sample: ten decisions per family without an assessment, the same for the whole week as long as
    /// no note changes. An assessed decision comes back only with other notes.
    ///
    /// # Errors
    /// `Unavailable` when the log, the notes or the ledger do not answer.
    pub async fn sample(&self) -> Result<Vec<Sample>> {
        let judged: BTreeSet<u128> =
            self.ledger_lines(LedgerKind::Opinion).await?.iter().map(|line| line.hash).collect();
        let week = self.parts().clock.now().as_micros().div_euclid(WEEK).to_string();
        let mut drawn: BTreeMap<Family, Vec<(u128, Sample)>> = BTreeMap::new();
        for sample in self.samples().await?.into_iter().filter(|sample| !judged.contains(&sample.id)) {
            let lot = named_id("dream/week", &[&week, &sample.id.to_string()]);
            drawn.entry(sample.family).or_default().push((lot, sample));
        }
        let of_family = |mut all: Vec<(u128, Sample)>| {
            all.sort_by_key(|(lot, _)| *lot);
            all.into_iter().take(MOST).map(|(_, sample)| sample)
        };
        Ok(drawn.into_values().flat_map(of_family).collect())
    }

    /// Records a person's assessment, based on words of the notes. The ledger stores the assessment and the position of the
    /// words, and no text; a later assessment replaces it.
    ///
    /// # Errors
    /// `NotFound` when no decision has this id, or its notes have changed; `Invalid` when its notes do not contain the
    /// words; `Unsupported` without a ledger; `Unavailable` as [`sample`](Self::sample).
    pub async fn note_opinion(&self, id: u128, opinion: Assessment, words: &str) -> Result<()> {
        let Slot::Filled(ledger) = &self.parts().ledger else {
            return Err(Error::new(mnemal_core::ErrorKind::Unsupported, "there is no ledger"));
        };
        let sample = self.samples().await?.into_iter().find(|sample| sample.id == id);
        let sample =
            sample.ok_or_else(|| Error::not_found(format!("nothing to judge is called {id:032x}")))?;
        let words = words.trim();
        let place = |row: &Learning| row.content.find(words).filter(|_| !words.is_empty());
        let mut places = sample.notes.iter().enumerate().filter_map(|(note, row)| Some((note, place(row)?)));
        let Some((note, start)) = places.next() else {
            return Err(Error::invalid("an opinion rests on words of the notes, as they stand there"));
        };
        let counts = [("note", note), ("start", start), ("end", start + words.len())];
        let counts = counts.map(|(name, count)| (name.to_owned(), count as u64));
        let note = format!("{}: {}", sample.family.as_str(), opinion.as_str());
        let known = line(LedgerKind::Opinion, &format!("{id:032x}"), self.parts().clock.now());
        ledger.put(&[LedgerLine { hash: id, counts: BTreeMap::from(counts), note, ..known }]).await
    }

    /// Returns all decisions that can be assessed.
    async fn samples(&self) -> Result<Vec<Sample>> {
        let (rows, history) = (self.rows().await?, History::read(self.parts().events.as_ref()).await?);
        let since = self.parts().clock.now().plus_micros(-RECENT * WEEK);
        let recent = self.since(&history, since).await?;
        let mut all = recent_decisions(&rows, &history, &recent);
        all.extend(near(&rows));
        let is_supported = |row: &&Learning| {
            row.status == LearningStatus::Active && is_note(row) && row.sources.len() >= SUPPORTED
        };
        let supported = rows.iter().filter(is_supported);
        all.extend(supported.map(|row| Sample::new(Family::Supported, None, vec![row])));
        Ok(all)
    }

    /// Returns the operations recorded since a moment.
    async fn since(&self, history: &History, since: Timestamp) -> Result<BTreeSet<EventId>> {
        let ids: Vec<EventId> = history.operations.iter().map(|(event, _)| *event).collect();
        let mut recent = BTreeSet::new();
        for page in ids.chunks(COMPARED) {
            let events = self.parts().events.get(page).await?;
            recent.extend(events.iter().filter(|event| event.recorded_at >= since).map(|event| event.id));
        }
        Ok(recent)
    }
}

/// Returns recent merges, and notes archived without a replacement.
fn recent_decisions(rows: &[Learning], history: &History, recent: &BTreeSet<EventId>) -> Vec<Sample> {
    let by_maker: BTreeMap<EventId, &Learning> =
        rows.iter().filter_map(|row| Some((maker(row)?, row))).collect();
    let named = |events: &[EventId]| events.iter().map(|event| by_maker.get(event).copied()).collect();
    let mut all = Vec::new();
    for (event, kind) in &history.operations {
        match kind {
            OperationKind::Merge { notes, .. } | OperationKind::Retire { notes, into: Some(_) }
                if recent.contains(event) =>
            {
                let stays =
                    if let OperationKind::Retire { into: Some(into), .. } = kind { into } else { event };
                let named: Option<Vec<&Learning>> = named(&[&[*stays], notes.as_slice()].concat());
                all.extend(named.map(|notes| Sample::new(Family::Merged, Some(*event), notes)));
            }
            OperationKind::Retire { notes, into: None } => {
                let away = notes.iter().filter_map(|note| by_maker.get(note).copied());
                for row in away.filter(|row| row.status == LearningStatus::Archived) {
                    let beside = most_like(row, rows);
                    all.push(Sample { beside, ..Sample::new(Family::Noise, Some(*event), vec![row]) });
                }
            }
            _ => {}
        }
    }
    all
}

/// Returns the live notes most similar to one, best first.
fn most_like(row: &Learning, rows: &[Learning]) -> Vec<Learning> {
    let own = shingles(&row.content, 1);
    let holds = |other: &&Learning| other.status == LearningStatus::Active && is_note(other);
    let like = rows.iter().filter(holds).map(|other| (jaccard(&own, &shingles(&other.content, 1)), other));
    let mut all: Vec<(f32, &Learning)> = like.collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.id.cmp(&other.1.id)));
    all.into_iter().take(BESIDE).map(|(_, row)| row.clone()).collect()
}

/// Returns the pairs of live notes that are near by their words.
fn near(rows: &[Learning]) -> Vec<Sample> {
    let notes = open(rows);
    let notes = notes.iter().skip(notes.len().saturating_sub(COMPARED));
    let notes: Vec<(&Learning, Vec<u64>)> = notes.map(|row| (*row, shingles(&row.content, 1))).collect();
    let mut all = Vec::new();
    for (place, (one, words)) in notes.iter().enumerate() {
        for (other, others) in notes.iter().skip(place + 1) {
            if is_of_one(one, other) && jaccard(words, others) >= NEAR {
                all.push(Sample::new(Family::Near, None, vec![one, other]));
            }
        }
    }
    all
}
