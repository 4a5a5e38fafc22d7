//! A space with data in every layer.

use mnemal_benches::figure::Figure;
use mnemal_benches::latency::{CorpusSpace, furnish, import, life_contexts};

#[tokio::test]
async fn every_section_of_a_context_but_topics_has_lines_in_a_made_life() {
    let folder = tempfile::tempdir().unwrap();
    let bed = CorpusSpace::life(folder.path(), 1_500, 12).unwrap();
    import(&bed).await.unwrap();
    let memory = bed.open().await.unwrap();
    let held = furnish(&bed, &memory).await.unwrap();
    let mut rows = held.iter().filter(|figure| figure.unit == "rows");
    assert!(rows.all(|figure| figure.value > 2.0), "{held:?}");
    let figures = life_contexts(&bed, &memory).await.unwrap();
    assert!(figures.iter().any(|figure| figure.name.contains("without a question")), "{figures:?}");
    let sections: Vec<_> = figures.iter().filter(|figure| figure.unit == "lines").collect();
    assert_eq!(sections.len(), 11);
    // Facts about the things of a made life say what a turn says that recall shows already, so no line of them is left; insights
    // stand only where they are asked for by name.
    let has_none =
        |figure: &Figure| [" topics", " insights"].iter().any(|section| figure.name.ends_with(section));
    let empty: Vec<_> = sections.iter().filter(|figure| figure.value <= 0.0 && !has_none(figure)).collect();
    assert!(empty.is_empty(), "{empty:?}");
}
