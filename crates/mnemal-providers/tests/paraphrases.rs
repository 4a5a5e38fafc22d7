//! Quality of the vectors: paraphrases against unrelated sentences, and against a table of noise.

#![expect(clippy::indexing_slicing, reason = "the layout of the table is known to the test")]

use mnemal_core::ModelId;
use mnemal_providers::StaticEmbedder;

const BUILT_IN: &[u8] = include_bytes!("../data/mnemal-static-1.bin");
/// Where the rows begin and end: behind header, checksum and scales of 30,522 pieces, 128 bytes each.
const ROWS: std::ops::Range<usize> = 64 + 4 * 30_522..64 + (4 + 128) * 30_522;

/// A statement and a question about it that share no word of meaning.
const PAIRS: [(&str, &str); 10] = [
    ("I moved to Lisbon last spring.", "When did she relocate to Portugal?"),
    ("My sister is allergic to peanuts.", "Which nuts make her ill?"),
    ("The deployment crashed because the disk was full.", "Why did the server run out of storage?"),
    ("We adopted a puppy from the shelter.", "What breed is their dog?"),
    ("He practises the violin every evening.", "Does he play a musical instrument?"),
    ("Our marathon training starts on Monday.", "How long is the race they run?"),
    ("She got promoted to head of marketing.", "What is her new job at the company?"),
    ("It rained during the whole hike.", "How was the weather in the mountains?"),
    ("Her doctor prescribed antibiotics.", "What medicine does the patient take?"),
    ("They painted the kitchen walls yellow.", "Which color did the room get?"),
];

/// Counts the questions that are nearer to their own statement than to every other one.
fn n_answered(embedder: &StaticEmbedder) -> usize {
    let vector = |text: &str| embedder.embed_one(text).expect("a text with a vector");
    let statements: Vec<_> = PAIRS.iter().map(|(statement, _)| vector(statement)).collect();
    let nearest = |question: &str| {
        let question = vector(question);
        let nearness =
            |statement: &Vec<f32>| -> f32 { question.iter().zip(statement).map(|(x, y)| x * y).sum() };
        (0..PAIRS.len()).max_by(|a, b| nearness(&statements[*a]).total_cmp(&nearness(&statements[*b])))
    };
    PAIRS.iter().enumerate().filter(|(own, (_, question))| nearest(question) == Some(*own)).count()
}

// proves: NB-23
#[test]
fn questions_find_their_statement_without_a_common_word() {
    let answered = n_answered(&StaticEmbedder::built_in());
    assert!(answered >= 8, "{answered} of {}", PAIRS.len());
}

#[test]
fn a_table_of_noise_finds_nothing_so_that_the_test_above_means_something() {
    let mut bytes = BUILT_IN.to_vec();
    let mut state = 1_u32;
    for value in &mut bytes[ROWS] {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *value = state.to_le_bytes()[0];
    }
    let hash = blake3::Hasher::new().update(&bytes[..32]).update(&bytes[64..]).finalize();
    bytes[32..64].copy_from_slice(hash.as_bytes());
    let noise = StaticEmbedder::from_bytes(ModelId::new("noise").unwrap(), 0.5, bytes).unwrap();
    let answered = n_answered(&noise);
    assert!(answered <= 4, "{answered} of {}", PAIRS.len());
}
