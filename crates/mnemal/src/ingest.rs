//! Ingestion of files: single documents, and the files of an inbox.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{
    Degraded, Document, ErrorKind, Gap, GapCause, Gaps, Inbox, InboxCounts, InboxItem, InboxOutcome, Layer,
    Level, Result,
};
use mnemal_events::{DocumentOptions, EventLog, ImportOutcome};

use crate::areas::EventsHandle;
use crate::engine::Engine;
use crate::message::Defaults;

/// The result of an inbox scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxReport {
    /// Files whose text is in the log, newly or already before.
    pub taken: u64,
    /// Media files of which only the metadata is stored: their names, each with the reason.
    pub unsupported: Vec<(String, String)>,
    /// Files that could not be read or stored: their names, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Number of stored events.
    pub stored: u64,
    /// Number of events that were already known.
    pub duplicates: u64,
}

impl EventsHandle<'_> {
    /// Stores the text of a file in chunks with its name, headings and pages; when this returns, recall finds it.
    ///
    /// Identical bytes are stored once, whatever the file's name and however often ingestion is interrupted. A changed file
    /// replaces the version from the same path: unchanged chunks are kept, changed ones are superseded. The text has the trust of
    /// a document: it is external evidence, screened and redacted.
    ///
    /// # Errors
    /// `Invalid` for a document with too many chunks, a name that contains a secret, or a secret whose rule blocks; `Unavailable`
    /// when the store does not answer: call again.
    pub async fn ingest(self, document: &Document) -> Result<Degraded<ImportOutcome>> {
        let mut options = self.memory.engine.document_options();
        options.user = self.memory.scope.user.only().cloned();
        options.agent = self.memory.scope.agent.only().cloned();
        let mut taken = Box::pin(self.memory.event_log()?.take_document(document, &options)).await?;
        Box::pin(self.memory.withdraw(&taken.outdated, Level::External)).await?;
        taken.gaps.extend(self.memory.engine.fold().await);
        // The next step of upkeep makes the missing digests.
        if taken.value.stored > 0
            && let Err(why) = self.memory.engine.digest().await
        {
            taken.gaps.push(Gap { layer: Layer::Learnings, cause: why.into() });
        }
        Ok(taken)
    }
}

impl Engine {
    /// Whether this engine has an inbox.
    pub fn has_inbox(&self) -> bool {
        self.parts().inbox.part().is_ok()
    }

    /// Returns the number of files by state in the inbox of this engine; `None` without an inbox.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be read.
    pub async fn inbox_standing(&self) -> Result<Option<InboxCounts>> {
        match self.parts().inbox.part() {
            Ok(inbox) => inbox.counts().await.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Ingests the pending files of this engine's inbox, until there are none or the time is over; a started file is finished.
    /// Does nothing without an inbox, or while another process works on its files.
    ///
    /// [`maintain`](Self::maintain) does it too.
    ///
    /// # Errors
    /// `Unavailable` when the inbox or the store does not answer; the current file stays pending.
    pub async fn take_inbox(&self, within: Duration) -> Result<Degraded<InboxReport>> {
        let Ok(inbox) = self.parts().inbox.part() else { return Ok(Degraded::whole(InboxReport::default())) };
        self.take_from(inbox, within).await
    }

    /// As [`take_inbox`](Self::take_inbox), for another inbox.
    ///
    /// # Errors
    /// As [`take_inbox`](Self::take_inbox).
    pub async fn take_from(&self, inbox: &dyn Inbox, within: Duration) -> Result<Degraded<InboxReport>> {
        let (clock, log) = (&self.parts().clock, self.log()?);
        let until = clock.monotonic() + within;
        let (mut done, mut gaps) = (InboxReport::default(), Gaps::default());
        loop {
            let items = inbox.poll(NonZeroUsize::MIN).await?;
            for item in &items {
                let fate = self.take_item(log, item, &mut done, &mut gaps).await?;
                inbox.settle(item, &fate).await?;
                match fate {
                    InboxOutcome::Ingested => done.taken += 1,
                    InboxOutcome::Unsupported(why) => done.unsupported.push((item.name.clone(), why)),
                    InboxOutcome::Refused(why) => done.refused.push((item.name.clone(), why)),
                }
            }
            if items.is_empty() || clock.monotonic() >= until {
                break;
            }
        }
        if done.stored > 0 {
            self.fold().await.into_iter().for_each(|gap| gaps.add(gap));
        }
        Ok(gaps.attach(done))
    }

    async fn take_item(
        &self,
        log: &EventLog,
        item: &InboxItem,
        done: &mut InboxReport,
        gaps: &mut Gaps,
    ) -> Result<InboxOutcome> {
        let document = match &item.content {
            Ok(document) => document,
            Err(why) => return Ok(InboxOutcome::Refused(why.clone())),
        };
        let options = self.document_options();
        let taken = match Box::pin(log.take_document(document, &options)).await {
            Ok(taken) => gaps.merge(taken),
            Err(why) if why.kind() == ErrorKind::Invalid => {
                return Ok(InboxOutcome::Refused(why.what().to_owned()));
            }
            Err(why) => return Err(why),
        };
        let key = &self.parts().key;
        let defaults = Defaults { session: None, user: None, agent: None, now: self.now(), key };
        Box::pin(self.withdraw(&taken.outdated, Level::External, &defaults)).await?;
        done.stored += taken.stored;
        done.duplicates += taken.duplicates;
        let refused = taken.refused.first().map(|refused| InboxOutcome::Refused(refused.why.clone()));
        let unsupported = || document.undescribed.clone().map(InboxOutcome::Unsupported);
        Ok(refused.or_else(unsupported).unwrap_or(InboxOutcome::Ingested))
    }

    /// Ingests the pending inbox files, as one part of a step of upkeep.
    pub(crate) async fn tend_inbox(&self, within: Duration, gaps: &mut Gaps) -> u64 {
        match self.take_inbox(within).await {
            Ok(taken) => gaps.merge(taken).stored,
            Err(why) => {
                gaps.add(Gap { layer: Layer::Events, cause: GapCause::from(why) });
                0
            }
        }
    }

    fn document_options(&self) -> DocumentOptions {
        let settings = &self.settings().ingest;
        DocumentOptions {
            chunk_characters: settings.chunk_chars,
            most_chunks: settings.max_chunks,
            ..DocumentOptions::new(self.now())
        }
    }
}
