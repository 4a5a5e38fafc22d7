//! Document readers and the inbox, configured from the settings.

#[cfg(feature = "inbox")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemal_core::{Inbox, Slot};
#[cfg(feature = "inbox")]
use mnemal_providers::{DocumentReader, Program};

use super::Builder;

impl Builder {
    /// Sets the inbox; it replaces the folder that the settings name.
    pub fn with_inbox(mut self, inbox: Arc<dyn Inbox>) -> Self {
        self.inbox = Slot::Filled(inbox);
        self
    }

    /// Sets the program that parses risky file formats in a child process: it is started for each file, and must call
    /// [`serve_guarded`](crate::events::serve_guarded) first.
    #[cfg(feature = "inbox")]
    pub fn with_guarded_reader(mut self, program: Program) -> Self {
        self.guarded = Some(program);
        self
    }

    /// Returns the document reader that the settings describe.
    #[cfg(feature = "inbox")]
    pub fn document_reader(&self) -> DocumentReader {
        let settings = &self.settings.ingest;
        let describe = settings.describe.split_first();
        DocumentReader {
            most_bytes: settings.most_bytes(),
            guarded: self.guarded.clone(),
            describe: describe
                .map(|(path, arguments)| Program { path: path.into(), arguments: arguments.to_vec() }),
        }
    }

    /// Returns a folder as an inbox, with the document reader of the settings.
    ///
    /// # Errors
    /// `Unsupported` on systems that are not Unix.
    #[cfg(feature = "inbox")]
    pub fn folder_inbox(&self, folder: &Path) -> mnemal_core::Result<Arc<dyn Inbox>> {
        self.inbox_of(folder, None)
    }

    /// Returns the inbox of a space in the inbox folder of the settings, as [`folder_inbox`](Self::folder_inbox); processed files
    /// are moved or removed as the settings say.
    ///
    /// # Errors
    /// `Unsupported` when the settings name no inbox, and on systems that are not Unix.
    #[cfg(feature = "inbox")]
    pub fn space_inbox(&self, space: &str) -> mnemal_core::Result<Arc<dyn Inbox>> {
        let settings = &self.settings.ingest;
        let folder = settings.inbox_of(space).ok_or_else(|| {
            let what = "there is no inbox: name a folder in `ingest.inbox`";
            mnemal_core::Error::new(mnemal_core::ErrorKind::Unsupported, what)
        })?;
        let processed = Path::new(&settings.processed).join(space);
        self.inbox_of(&folder, (!settings.processed.is_empty()).then_some(processed))
    }

    #[cfg(all(feature = "inbox", unix))]
    #[expect(clippy::unnecessary_wraps, reason = "on other systems it fails")]
    fn inbox_of(&self, folder: &Path, processed: Option<PathBuf>) -> mnemal_core::Result<Arc<dyn Inbox>> {
        let options = mnemal_providers::FolderOptions {
            types: self.settings.ingest.types.clone(),
            reader: self.document_reader(),
            quiet: mnemal_providers::QUIET,
            processed,
        };
        Ok(Arc::new(mnemal_providers::FolderInbox::new(folder, options, Arc::clone(&self.clock))))
    }

    #[cfg(all(feature = "inbox", not(unix)))]
    fn inbox_of(&self, folder: &Path, _processed: Option<PathBuf>) -> mnemal_core::Result<Arc<dyn Inbox>> {
        let what = format!("no folder can be an inbox on this system, {} neither", folder.display());
        Err(mnemal_core::Error::new(mnemal_core::ErrorKind::Unsupported, what))
    }

    /// Sets the inbox folder of this space from the settings, unless an inbox was given.
    #[cfg(all(feature = "inbox", feature = "sqlite"))]
    pub(super) fn fill_inbox(&mut self, space: Option<&str>) {
        if let (Slot::Empty, Some(space)) = (&self.inbox, space) {
            // Without an inbox the files wait, and `inbox_standing` reports that there is none.
            self.inbox = self.space_inbox(space).map_or(Slot::Empty, Slot::Filled);
        }
    }
}
