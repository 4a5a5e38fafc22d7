//! Cases of `ContextSource`.

use mnemal_core::{ContextRequest, ContextSource, Result};

/// Whatever is offered can be traced and ordered.
pub async fn fragments_name_sources_and_finite_scores(
    case: &(impl ContextSource, ContextRequest),
) -> Result<()> {
    let (source, request) = case;
    let fragments = source.fragments(request).await?;
    assert!(!fragments.is_empty(), "the fixture must make the source offer something");
    for fragment in fragments.iter() {
        assert!(!fragment.sources.is_empty(), "{}", fragment.record);
        assert!(fragment.sources.iter().all(|source| source.span.start <= source.span.end));
        assert!(fragment.score.get().is_finite());
        let sum: f32 = fragment.parts.iter().map(|part| part.value).sum();
        assert!(
            fragment.parts.is_empty() || (sum - fragment.score.get()).abs() < 1e-4,
            "parts add up to the score"
        );
    }
    Ok(())
}

/// Reading changes nothing.
pub async fn asking_twice_gives_the_same(case: &(impl ContextSource, ContextRequest)) -> Result<()> {
    let (source, request) = case;
    assert_eq!(source.fragments(request).await?, source.fragments(request).await?);
    Ok(())
}
