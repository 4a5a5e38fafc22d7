//! Failure kinds and their reports.

use std::fmt;

use super::Report;

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An acknowledged event is not there.
    Lost,
    /// An event is there twice.
    Doubled,
    /// A check found damage.
    Corrupt,
    /// A process ended or hung without being stopped.
    Panic,
    /// An answer was wrong and did not say so.
    SilentWrong,
    /// A wrong error, or an error that no caller should see.
    WrongError,
}

impl Report {
    /// Counts a fault and prints it on the error stream.
    pub fn blame(&mut self, fault: Fault, what: fmt::Arguments<'_>) {
        let counter = match fault {
            Fault::Lost => &mut self.lost,
            Fault::Doubled => &mut self.doubled,
            Fault::Corrupt => &mut self.corrupt,
            Fault::Panic => &mut self.panics,
            Fault::SilentWrong => &mut self.silent_wrong,
            Fault::WrongError => &mut self.wrong_errors,
        };
        *counter += 1;
        #[expect(clippy::print_stderr, reason = "the numbers say how often, this says what")]
        {
            eprintln!("{} (run {}): {fault:?}: {what}", self.name, self.first + self.runs);
        }
    }
}
