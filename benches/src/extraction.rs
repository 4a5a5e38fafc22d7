//! Extraction quality on turns of people, against annotations or labels.
//!
//! Two kinds of folders: a LoCoMo-like one (`corpus.jsonl`, `facts.jsonl`), where an observation of a turn is looked for in
//! the claims of that turn, and a gold folder (`dev.turns.jsonl`, `dev.labels.jsonl`, and `held.…`), where claims are
//! labeled one by one.

pub mod agreement;
pub mod fit;
pub mod gold;
pub mod observed;
pub mod stems;
pub mod traps;

use anyhow::{Context as _, Result};
use mnemal_core::{
    Body, ChannelId, Event, EventId, EventKind, Extraction, Extractor, Gazetteer, Level, NewEvent, Origin,
    Seq, SessionId, Timestamp, Trust, Utterance, Zone,
};
use serde_json::{Value, json};

/// One standard normal quantile of 97.5 %. Source: the usual interval of 95 %.
const Z: f64 = 1.959_964;

/// A turn that is to be read.
#[derive(Clone, Debug)]
pub struct TurnText {
    /// Its id.
    pub id: String,
    /// The previous message, of the assistant or of another speaker; empty where nothing is known of it.
    pub before: String,
    /// The words.
    pub text: String,
    /// When it was said.
    pub at: Timestamp,
    /// Where.
    pub zone: Zone,
}

impl TurnText {
    /// Makes the event of a person whose words are believed.
    ///
    /// # Errors
    /// None for ids that are no empty texts.
    pub fn event(&self, number: usize) -> Result<Event> {
        self.said(number, EventKind::UserMessage, &self.text)
    }

    /// Calls `read` with this turn and the previous message; the gazetteer is empty, and nothing is known of earlier turns.
    ///
    /// # Errors
    /// None for ids that are no empty texts.
    pub fn with_utterance<T>(&self, number: usize, read: impl FnOnce(&Utterance<'_>) -> T) -> Result<T> {
        let event = self.event(number)?;
        let before = self.said(number, EventKind::AssistantMessage, &self.before)?;
        let before = if self.before.is_empty() { Vec::new() } else { vec![before] };
        Ok(read(&Utterance { event: &event, before: &before, known: &Gazetteer::default() }))
    }

    fn said(&self, number: usize, kind: EventKind, content: &str) -> Result<Event> {
        let said = NewEvent {
            kind,
            content: content.to_owned(),
            session: SessionId::new("s")?,
            channel: ChannelId::new("bench")?,
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: self.at,
            zone: self.zone.clone(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: std::collections::BTreeMap::new(),
        };
        Ok(Event {
            id: EventId(number as u128 + 1),
            seq: Seq(number as u64 + 1),
            recorded_at: self.at,
            role: said.kind.role(),
            trust: Trust::User,
            level: Level::User,
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(said)),
        })
    }
}

/// Reads every turn with the previous message.
///
/// # Errors
/// A turn that cannot become an event.
pub fn read(extractor: &dyn Extractor, turns: &[TurnText]) -> Result<Vec<Extraction>> {
    let each = turns.iter().enumerate();
    each.map(|(number, turn)| turn.with_utterance(number, |utterance| extractor.extract(utterance))).collect()
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Good ones.
    pub hits: usize,
    /// All.
    pub n: usize,
}

impl Share {
    /// Counts one.
    #[expect(clippy::fn_params_excessive_bools, reason = "a case is a hit or not")]
    pub fn count(&mut self, is_hit: bool) {
        self.hits += usize::from(is_hit);
        self.n += 1;
    }

    /// Returns hits ÷ n, 0 for none.
    pub fn value(self) -> f64 {
        self.hits as f64 / self.n.max(1) as f64
    }

    /// Returns Wilson's interval of 95 %; 0 to 1 for none.
    pub fn interval(self) -> (f64, f64) {
        if self.n == 0 {
            return (0.0, 1.0);
        }
        let (n, share) = (self.n as f64, self.value());
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }

    /// Returns `{value, n, low, high}`.
    pub fn json(self) -> Value {
        let (low, high) = self.interval();
        let round = |value: f64| (value * 10_000.0).round() / 10_000.0;
        json!({"value": round(self.value()), "n": self.n, "low": round(low), "high": round(high)})
    }
}

/// Reads `2026-03-05T18:10:00+01:00`, or the same without an offset as UTC.
///
/// # Errors
/// Another form, or a time before 1970.
pub fn moment(text: &str) -> Result<(Timestamp, i32)> {
    let number = |range: std::ops::Range<usize>| -> Result<i64> {
        text.get(range).and_then(|digits| digits.parse().ok()).with_context(|| format!("no time: {text}"))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let offset = match text.get(19..20) {
        Some(sign @ ("+" | "-")) => {
            let seconds = number(20..22)? * 3_600 + number(23..25)? * 60;
            if sign == "-" { -seconds } else { seconds }
        }
        _ => 0,
    };
    // Days from the civil date, with years that begin in March.
    let (shifted, from_march) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = shifted * 365 + shifted.div_euclid(4) - shifted.div_euclid(100)
        + shifted.div_euclid(400)
        + (from_march * 153 + 2) / 5
        + day
        - 1
        - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    Ok((Timestamp::from_micros(seconds * 1_000_000)?, i32::try_from(offset)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_wilsons_interval() {
        let (low, high) = Share { hits: 9, n: 10 }.interval();
        assert!((low - 0.596).abs() < 0.001 && (high - 0.982).abs() < 0.001, "{low} {high}");
        assert_eq!(Share::default().interval(), (0.0, 1.0));
    }

    #[test]
    fn times_are_read_with_their_offset() {
        let (at, offset) = moment("2026-03-05T18:10:00+01:00").unwrap();
        assert_eq!((at.to_string().as_str(), offset), ("2026-03-05T17:10:00Z", 3_600));
        assert_eq!(moment("2024-02-29T00:00:01").unwrap().0.to_string(), "2024-02-29T00:00:01Z");
        assert!(moment("yesterday").is_err());
    }
}
