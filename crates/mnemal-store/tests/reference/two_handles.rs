//! Caches of one handle of a space while another one writes.

use mnemal_core::{
    Advance, AsOf, Cursor, EventId, LearningDelta, LearningFilter, LearningStore, Result, Seq, Timestamp,
};
use mnemal_testkit::learning;

/// Rows that are made anew behind the same cursor, in the same number, are those that the other handle reads at once.
pub(crate) async fn rows_made_anew_are_read_at_once<S: LearningStore>(one: &S, other: &S) -> Result<()> {
    let (present, every) = (AsOf::present(Timestamp::EPOCH), LearningFilter::all());
    let advance = Advance { next: Cursor(Some(Seq(1))), ..Advance::default() };
    for round in 1..=3 {
        let row = learning(round, "key", EventId(1), Timestamp::EPOCH)?;
        let put = LearningDelta { put: vec![row], remove: Vec::new() };
        other.reset().await?;
        other.apply(&put, &advance).await?;
        for store in [one, other] {
            let found = store.active(&every, present).await?;
            assert_eq!(found.iter().map(|row| row.id.0).collect::<Vec<_>>(), [round]);
        }
    }
    Ok(())
}
