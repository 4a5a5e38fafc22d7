//! Context settings: section shares, limits, format, and the settings hash.

use mnemal_core::{ContextRequest, Section, TokenCount, Zone};

use crate::Wording;

/// The budget to which the shares refer, in tokens. Source: NB-58, the default budget of 4,000 tokens.
const BUDGET: TokenCount = TokenCount(4_000);
/// Share of identity, in tokens of [`BUDGET`]. Source: NB-60, for agent, user and pinned records.
const IDENTITY_SHARE: u32 = 200;
/// Share of preferences, in tokens of [`BUDGET`]. Source: NB-61, in every context.
const PREFERENCES_SHARE: u32 = 300;
/// Share of knowledge, in tokens of [`BUDGET`]. Source: NB-62, in every context.
const KNOWLEDGE_SHARE: u32 = 500;
/// Share of insights, if requested, in tokens of [`BUDGET`]. Source: own default, as for learnings.
const INSIGHTS_SHARE: u32 = 200;
/// Share of the channel, in tokens of [`BUDGET`]. Source: NB-63, where the channel is known.
const CHANNEL_SHARE: u32 = 300;
/// Share of entities, in tokens of [`BUDGET`]. Source: NB-64, where the question names one.
const ENTITY_SHARE: u32 = 400;
/// Share of topics, in tokens of [`BUDGET`]. Source: NB-65, where current topics are known.
const TOPICS_SHARE: u32 = 400;
/// Share of recent events, in tokens of [`BUDGET`]. Source: NB-66, across channels.
const RECENT_SHARE: u32 = 400;
/// Share of learnings, in tokens of [`BUDGET`]. Source: NB-67, for a tool.
const LEARNINGS_SHARE: u32 = 200;
/// Share of the state, in tokens of [`BUDGET`]. Source: NB-68, time, working memory and open tasks.
const STATE_SHARE: u32 = 150;
/// Longest text of one line, in tokens. Source: own default; one long record must not fill a section.
const ITEM_TOKENS: TokenCount = TokenCount(500);
/// Most of the budget for lines of level external, 0 to 1. Source: own default of `context.low_trust_share`.
const LOW_TRUST_SHARE: f32 = 0.25;
/// Most of the budget for lines of other spaces, 0 to 1. Source: own default of `context.secondary_share`.
const SECONDARY_SHARE: f32 = 0.25;
/// Jaccard index of word pairs from which two lines are near-duplicates. Source: own default; one changed word
/// distinguishes lines of up to 38 words.
const NEAR_DUPLICATE: f32 = 0.9;
/// Whether preferences are in every context. Source: NB-61, the default of `context.always_include_preferences`.
const ALWAYS_PREFERENCES: bool = true;
/// The tool that reads an entry of working memory. Source: its name in the MCP server.
const SCRATCH_TOOL: &str = "working_get";

/// Line format of a block. All formats use the same markers.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// One numbered line per record, the text as a JSON string.
    #[default]
    Markdown,
    /// As Markdown, with the id of each record, for an agent that acts on the results.
    Cited,
    /// One element per line, the text escaped.
    Xml,
    /// One JSON object per block.
    Json,
    /// As Markdown, with separate headings for memories and insights. Markdown has both, in English, if insights are
    /// requested explicitly.
    Headed(Wording),
}

impl Format {
    /// Whether insights have their own heading.
    pub(crate) fn is_headed(self) -> bool {
        matches!(self, Self::Headed(_))
    }

    /// All formats.
    pub const ALL: [Self; 6] = [
        Self::Markdown,
        Self::Cited,
        Self::Xml,
        Self::Json,
        Self::Headed(Wording::English),
        Self::Headed(Wording::Chinese),
    ];

    /// Returns the format with headings, for explicitly requested insights in Markdown (GB-40, the layout of a memory
    /// context).
    pub(crate) fn headed(self, request: &ContextRequest) -> Self {
        match self {
            Self::Markdown if request.asks_for(Section::Insights) => Self::Headed(Wording::English),
            format => format,
        }
    }

    /// The language of the labels.
    pub(crate) fn wording(self) -> Wording {
        match self {
            Self::Headed(wording) => wording,
            _ => Wording::English,
        }
    }

    /// Returns the name on the wire and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Cited => "cited",
            Self::Xml => "xml",
            Self::Json => "json",
            Self::Headed(Wording::English) => "headed",
            Self::Headed(Wording::Chinese) => "headed-zh",
        }
    }

    /// Parses the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// Minimum shares of the sections, in tokens; recall has none and receives the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The budget to which the shares refer; a smaller or larger budget scales them.
    pub of: TokenCount,
    /// One share per section; missing sections have none.
    pub tokens: Vec<(Section, TokenCount)>,
}

impl Shares {
    /// Returns the share of a section at a budget of [`of`](Self::of).
    pub fn get(&self, section: Section) -> TokenCount {
        let named = self.tokens.iter().find(|(named, _)| *named == section);
        named.map_or(TokenCount(0), |(_, tokens)| *tokens)
    }

    /// Returns the part of [`of`](Self::of) without a share, for recall; insights count only if requested explicitly.
    pub fn unclaimed(&self) -> TokenCount {
        let always = Section::ALL.into_iter().filter(|section| *section != Section::Insights);
        self.of.minus(always.map(|section| self.get(section)).sum())
    }
}

/// The default shares, which leave 1,150 of 4,000 tokens to recall.
impl Default for Shares {
    fn default() -> Self {
        let tokens = [
            (Section::Identity, IDENTITY_SHARE),
            (Section::Preferences, PREFERENCES_SHARE),
            (Section::Knowledge, KNOWLEDGE_SHARE),
            (Section::Insights, INSIGHTS_SHARE),
            (Section::Channel, CHANNEL_SHARE),
            (Section::Entity, ENTITY_SHARE),
            (Section::Topics, TOPICS_SHARE),
            (Section::State, STATE_SHARE),
            (Section::Recent, RECENT_SHARE),
            (Section::Learnings, LEARNINGS_SHARE),
        ];
        Self { of: BUDGET, tokens: tokens.map(|(section, share)| (section, TokenCount(share))).to_vec() }
    }
}

/// Settings of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSettings {
    /// Minimum shares of the sections.
    pub shares: Shares,
    /// Line format.
    pub format: Format,
    /// Longest text of one line.
    pub item_tokens: TokenCount,
    /// Most of the budget for lines of level external, 0 to 1.
    pub low_trust_share: f32,
    /// Most of the budget for lines of all other spaces together, 0 to 1.
    pub secondary_share: f32,
    /// Jaccard index of word pairs from which two lines are near-duplicates, 0 to 1.
    pub near_duplicate: f32,
    /// Whether preferences are in every context, and not only if their section is requested explicitly.
    pub always_include_preferences: bool,
    /// Time zone of the clock line.
    pub zone: Zone,
    /// Name of the tool that reads an entry of working memory, in the host.
    pub scratch_tool: String,
    /// The host's description of agent and user: the first texts of section identity, within its share.
    pub identity: Vec<String>,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            shares: Shares::default(),
            format: Format::default(),
            item_tokens: ITEM_TOKENS,
            low_trust_share: LOW_TRUST_SHARE,
            secondary_share: SECONDARY_SHARE,
            near_duplicate: NEAR_DUPLICATE,
            always_include_preferences: ALWAYS_PREFERENCES,
            zone: Zone::utc(),
            scratch_tool: SCRATCH_TOOL.to_owned(),
            identity: Vec::new(),
        }
    }
}

impl ContextSettings {
    /// Returns the first 16 bytes of BLAKE3 over all settings that affect a context.
    pub fn hash(&self) -> [u8; 16] {
        let mut hash = blake3::Hasher::new();
        hash.update(self.format.as_str().as_bytes());
        for number in [self.low_trust_share, self.secondary_share, self.near_duplicate] {
            hash.update(&number.to_bits().to_le_bytes());
        }
        for number in [self.item_tokens.0, self.shares.of.0] {
            hash.update(&number.to_le_bytes());
        }
        for section in Section::ALL {
            hash.update(&self.shares.get(section).0.to_le_bytes());
        }
        hash.update(&[u8::from(self.always_include_preferences)]);
        hash.update(&self.zone.offset_seconds.to_le_bytes());
        let names = [self.zone.name.as_str(), &self.scratch_tool];
        for name in names.into_iter().chain(self.identity.iter().map(String::as_str)) {
            hash.update(name.as_bytes());
            hash.update(&[0]);
        }
        short(&hash)
    }
}

/// Returns the first 16 bytes of BLAKE3 of a record's text, as stored in receipts and used for the delta.
pub fn content_hash(text: &str) -> [u8; 16] {
    short(blake3::Hasher::new().update(text.as_bytes()))
}

fn short(hash: &blake3::Hasher) -> [u8; 16] {
    let mut first = [0; 16];
    hash.finalize_xof().fill(&mut first);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_shares_leave_room_for_recall() {
        let shares = Shares::default();
        assert_eq!((shares.unclaimed(), shares.get(Section::Recall)), (TokenCount(1_150), TokenCount(0)));
    }

    #[test]
    fn every_setting_changes_the_hash() {
        let base = ContextSettings::default();
        let mut shares = Shares::default();
        shares.tokens.pop();
        let others = [
            ContextSettings { shares, ..base.clone() },
            ContextSettings { format: Format::Json, ..base.clone() },
            ContextSettings { always_include_preferences: false, ..base.clone() },
            ContextSettings { item_tokens: TokenCount(499), ..base.clone() },
            ContextSettings { low_trust_share: 0.5, ..base.clone() },
            ContextSettings { secondary_share: 0.5, ..base.clone() },
            ContextSettings { near_duplicate: 0.5, ..base.clone() },
            ContextSettings { zone: Zone { offset_seconds: 60, ..Zone::utc() }, ..base.clone() },
            ContextSettings { format: Format::Headed(Wording::Chinese), ..base.clone() },
            ContextSettings { format: Format::Headed(Wording::English), ..base.clone() },
            ContextSettings { scratch_tool: "get_from_working_memory".to_owned(), ..base.clone() },
            ContextSettings { identity: vec!["agent: Nova".to_owned()], ..base.clone() },
        ];
        assert_eq!(base.hash(), ContextSettings::default().hash());
        for other in others {
            assert_ne!(base.hash(), other.hash(), "{other:?}");
        }
    }

    #[test]
    fn formats_read_their_own_names() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.as_str()), Some(format));
        }
        assert_eq!(Format::from_name("yaml"), None);
    }
}
