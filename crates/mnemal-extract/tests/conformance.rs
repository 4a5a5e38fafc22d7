//! The rule extractor against the conformance suite of extractors.

#![expect(clippy::unused_async, reason = "the suite awaits whatever it tests")]

use mnemal_extract::RuleExtractor;

async fn rules() -> RuleExtractor {
    RuleExtractor::new()
}

// proves: NB-37, DF-67
mnemal_testkit::extractor_conformance!(rules);
