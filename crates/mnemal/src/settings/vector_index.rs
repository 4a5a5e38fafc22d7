//! Choice of the vector index.

use mnemal_core::Result;
use mnemal_recall::VectorSearch;
use serde::{Deserialize, Serialize};

/// The search for the nearest vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorIndexKind {
    /// An exact scan of every vector.
    Flat,
    /// From 30,000 vectors on, sign bits select the vectors that are compared exactly; below, an exact scan.
    #[default]
    Bits,
    /// From 100,000 vectors on, an HNSW graph that is built in the background; below, and until it is complete, an exact
    /// scan. Needs the feature `hnsw`.
    Hnsw,
}

impl VectorIndexKind {
    pub(super) fn check(self) -> Result<()> {
        self.search().map(|_search| ())
    }

    /// Returns the search of recall.
    ///
    /// # Errors
    /// `Unsupported` for a graph in a build without the feature `hnsw`.
    pub(crate) fn search(self) -> Result<VectorSearch> {
        match self {
            Self::Flat => Ok(VectorSearch::Flat),
            Self::Bits => Ok(VectorSearch::SignBits),
            Self::Hnsw => graph(),
        }
    }
}

#[cfg(feature = "hnsw")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn graph() -> Result<VectorSearch> {
    Ok(VectorSearch::Built(std::sync::Arc::new(mnemal_recall::HnswFactory::default())))
}

#[cfg(not(feature = "hnsw"))]
fn graph() -> Result<VectorSearch> {
    let what = "recall.vector_index is \"hnsw\": this build has no HNSW graph (feature `hnsw`)";
    Err(mnemal_core::Error::new(mnemal_core::ErrorKind::Unsupported, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn a_graph_needs_its_feature_and_the_error_names_it() {
        let mut settings = Settings::default();
        assert_eq!(settings.recall.vector_index, VectorIndexKind::Bits);
        settings.recall.vector_index = VectorIndexKind::Hnsw;
        let refused = settings.check().map_err(|error| error.what().to_owned());
        assert_eq!(refused.is_ok(), cfg!(feature = "hnsw"));
        if let Err(what) = refused {
            assert!(what.contains("recall.vector_index") && what.contains("`hnsw`"), "{what}");
        }
    }

    #[test]
    fn the_kinds_are_read_by_their_names() {
        for (name, kind) in [
            ("flat", VectorIndexKind::Flat),
            ("bits", VectorIndexKind::Bits),
            ("hnsw", VectorIndexKind::Hnsw),
        ] {
            let read: VectorIndexKind = serde_json::from_str(&format!("{name:?}")).unwrap();
            assert_eq!(read, kind);
        }
        assert!(serde_json::from_str::<VectorIndexKind>("\"ivf\"").is_err());
    }
}
