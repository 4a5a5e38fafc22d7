//! `ask`.

use clap::Args as ClapArgs;

use super::FactTime;

/// `ask`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ask {
    /// The question.
    pub(crate) question: String,
    /// The conversation that asks; its own turns answer nothing.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Only this person's records.
    #[arg(long)]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) when: FactTime,
    /// Ask the endpoint of the settings for the question's vector first, for at most two seconds.
    #[arg(long = "ask-endpoint")]
    pub(crate) endpoint: bool,
}
