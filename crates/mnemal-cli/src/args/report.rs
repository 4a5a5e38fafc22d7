//! `report`.

use clap::Args as ClapArgs;

/// `report`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReportCall {
    /// How many days, up to the end of the period.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "since")]
    pub(crate) days: u32,
    /// The start: RFC 3339, a day, or Unix milliseconds.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The end, which is no more part of it; now without it.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}
