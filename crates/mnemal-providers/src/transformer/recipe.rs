//! Recipes for known transformer models: pooling, prefixes and limits.

/// The pooling of piece vectors into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Their mean, `[CLS]` and `[SEP]` included.
    Mean,
    /// That of `[CLS]`.
    First,
}

/// A family of sentence transformers: properties that the file does not state.
#[derive(Debug, PartialEq)]
pub struct Recipe {
    name: &'static str,
    pub(crate) pooling: Pooling,
    /// Prefix of a query; texts have none.
    pub(crate) query_prefix: &'static str,
    floor: f32,
    /// BLAKE3 of the pinned file.
    file: &'static str,
}

/// The recipes, the recommended one first.
///
/// Source of pooling and prefix: the model cards of `sentence-transformers/all-MiniLM-L6-v2` and
/// `BAAI/bge-small-en-v1.5`. Source of the floors: the 99.9th percentile of the cosines of a `LoCoMo` question and the turns
/// of other conversations (1.45 million pairs, turns as `[date] Speaker: text`): .486 and .630; the best evidence turn of a
/// question lies above the floor for 54 % and 60 %. With BEAM-100K and `MiniLM` it is .469 and 57 %.
static RECIPES: [Recipe; 2] = [
    Recipe {
        name: "minilm",
        pooling: Pooling::Mean,
        query_prefix: "",
        floor: 0.5,
        file: "b2a68b34a45c28477ee9619f6f1ed03064209e3c3dae66aac2cedc4ee59c286d",
    },
    Recipe {
        name: "bge-small",
        pooling: Pooling::First,
        query_prefix: "Represent this sentence for searching relevant passages: ",
        floor: 0.63,
        file: "4f030d3fe17e5eb702625d218037846ce8051e0f88abc403c4a88c8f698659f8",
    },
];

impl Recipe {
    /// Returns the recipe of a name: `minilm` or `bge-small`.
    pub fn of(name: &str) -> Option<&'static Self> {
        Self::all().find(|recipe| recipe.name == name)
    }

    /// Returns all recipes, the recommended one first.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        RECIPES.iter()
    }

    /// Returns the recipe of a pinned file.
    pub(crate) fn of_file(hash: blake3::Hash) -> Option<&'static Self> {
        Self::all().find(|recipe| recipe.file == hash.to_hex().as_str())
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the similarity floor: the cosine below which a vector match alone injects nothing.
    pub fn floor(&self) -> f32 {
        self.floor
    }
}
