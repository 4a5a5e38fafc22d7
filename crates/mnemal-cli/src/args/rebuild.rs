//! `reindex` and `rebuild`.

use clap::Args as ClapArgs;

/// `reindex`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reindex {
    /// Make the vectors that events lack of a model, beside those of other models; can be interrupted and repeated.
    #[arg(long, required = true)]
    pub(crate) embeddings: bool,
    /// A model of the endpoint of the settings, or the one in process; without it what the settings say.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Only say how many vectors are missing and what they would cost; nothing is sent.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What a million tokens cost, for the estimate of `--dry-run`.
    #[arg(long, value_name = "PRICE", requires = "dry_run")]
    pub(crate) price: Option<f64>,
}

/// `rebuild`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Rebuild {
    /// learnings, lexical, graph or summaries; without it all four.
    #[arg(long, value_name = "LAYER")]
    pub(crate) layer: Option<String>,
    /// Compare only, bit by bit; exits with 1 where a row differs. Nothing changes.
    #[arg(long)]
    pub(crate) check: bool,
    /// Say only what would change.
    #[arg(long, conflicts_with = "check")]
    pub(crate) dry_run: bool,
    /// Only where events could not be digested: try these again.
    #[arg(long)]
    pub(crate) dead: bool,
}
