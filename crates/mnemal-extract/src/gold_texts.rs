//! Turns of the development halves of the gold sets, for tests that compare two ways to the same result.

const TURNS: [&str; 8] = [
    include_str!("../gold/g1/dev.turns.jsonl"),
    include_str!("../gold/g4/dev.turns.jsonl"),
    include_str!("../gold/g5/de.dev.turns.jsonl"),
    include_str!("../gold/g5/es.dev.turns.jsonl"),
    include_str!("../gold/g5/fr.dev.turns.jsonl"),
    include_str!("../gold/g5/pt.dev.turns.jsonl"),
    include_str!("../gold/g5/zh.dev.turns.jsonl"),
    include_str!("../gold/speech/dev.turns.jsonl"),
];

/// Returns what users say in them.
pub(crate) fn texts() -> Vec<String> {
    let said = |line: &str| {
        let (_, rest) = ["\"user\": \"", "\"text\": \""].iter().find_map(|key| line.split_once(key))?;
        Some(unescaped(rest))
    };
    let found: Vec<String> = TURNS.iter().flat_map(|file| file.lines()).filter_map(said).collect();
    assert!(found.len() > 1_000, "{}", found.len());
    found
}

/// Reads a string of JSON up to its closing mark.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '"' => break,
            '\\' => plain.extend(signs.next().map(|sign| if sign == 'n' { '\n' } else { sign })),
            _ => plain.push(sign),
        }
    }
    plain
}
