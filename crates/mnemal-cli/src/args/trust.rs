//! `why`, `why-not`, `feedback` and `diff`.

use clap::Args as ClapArgs;

/// `why`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Why {
    /// An id: `evt_…`, `mem_…`, `fct_…`; or with `--recall` a line of the context, or its number.
    pub(crate) what: String,
    /// The receipt of the context (`rcl_…`), for the scores and for numbers of lines.
    #[arg(long, value_name = "RCL")]
    pub(crate) recall: Option<String>,
}

/// `why-not`.
#[derive(Debug, ClapArgs)]
pub(crate) struct WhyNot {
    /// `evt_…`, `mem_…` or `fct_…`; with `--recall` also the number of a line.
    pub(crate) what: String,
    /// The question.
    #[arg(long, required_unless_present = "recall")]
    pub(crate) query: Option<String>,
    /// The receipt of a context (`rcl_…`) in place of a question that is asked now.
    #[arg(long, value_name = "RCL", conflicts_with = "query")]
    pub(crate) recall: Option<String>,
}

/// `feedback`.
#[derive(Debug, ClapArgs)]
pub(crate) struct FeedbackCall {
    /// The receipt of the context (`rcl_…`).
    pub(crate) recall: String,
    /// A line of it, its number, or an id: `evt_…`, `mem_…`, `fct_…`.
    pub(crate) what: String,
    /// What it was found to be.
    #[arg(value_parser = ["useful", "irrelevant", "wrong"])]
    pub(crate) verdict: String,
}

/// `diff`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Diff {
    /// The first moment: RFC 3339, a day, or Unix milliseconds.
    pub(crate) from: String,
    /// The second one; without it, now.
    pub(crate) to: Option<String>,
}
