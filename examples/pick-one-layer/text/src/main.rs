//! Searches a list of texts by BM25 with nothing but `mnemal-text`: no store, no runtime.

use mnemal_text::{Analyzer, Language, bm25, idf};

const NOTES: [&str; 4] = [
    "Anna went to Lisbon with her sister and lost a bag on the train.",
    "The children's books are in the blue box under the stairs.",
    "Ben fixed the C++ build; the linker wanted a newer library.",
    "Anna wants the window seat on long flights.",
];

fn search<'a>(question: &str, texts: &[&'a str]) -> Vec<(f32, &'a str)> {
    let analyzer = Analyzer::new(Language::English);
    let words = |text: &str| analyzer.terms(text).into_iter().map(|term| term.text).collect::<Vec<_>>();
    let documents: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let average = documents.iter().map(Vec::len).sum::<usize>() as f32 / documents.len() as f32;
    let asked: Vec<(String, f32)> = analyzer
        .query_terms(question)
        .into_iter()
        .map(|term| {
            let containing = documents.iter().filter(|document| document.contains(&term)).count();
            (term, idf(documents.len() as u32, containing as u32))
        })
        .collect();
    let score = |document: &Vec<String>| {
        asked
            .iter()
            .map(|(term, idf)| {
                let count = document.iter().filter(|word| *word == term).count();
                bm25(*idf, count as u32, document.len() as u32, average)
            })
            .sum()
    };
    let mut found: Vec<(f32, &str)> = documents.iter().map(score).zip(texts.iter().copied()).collect();
    found.retain(|(score, _)| *score > 0.0);
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

fn main() {
    let first = |question| search(question, &NOTES).first().map(|(_, text)| *text);
    assert_eq!(first("Where did Anna go by trains?"), Some(NOTES[0]));
    assert_eq!(first("Which box has the book of the child?"), Some(NOTES[1]));
    assert_eq!(first("c++ linking"), Some(NOTES[2]));
    assert_eq!(first("quantum chromodynamics"), None);
    for (score, text) in search("Does Anna like flying long?", &NOTES) {
        println!("{score:.2}  {text}");
    }
}
