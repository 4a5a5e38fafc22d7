//! Prints how many megabytes per second the analysis takes: `cargo run --release -p mnemal-text --example throughput`.

use mnemal_text::{Analyzer, Language, fold, term_hash};
use std::hint::black_box;

const TEXTS: [(&str, Language, &str); 4] = [
    (
        "English",
        Language::English,
        "[2023-05-08] Caroline: I went to the library yesterday and borrowed three books about woodworking, because my neighbour's children are building a small boat and they don't know how to bend the planks. ",
    ),
    (
        "German",
        Language::German,
        "[2023-05-08] Karoline: Gestern war ich in der Bücherei und habe drei Bücher über das Tischlern ausgeliehen, weil die Kinder meines Nachbarn ein kleines Boot bauen und nicht wissen, wie man Planken biegt. ",
    ),
    (
        "Russian",
        Language::Russian,
        "[2023-05-08] Каролина: Вчера я ходила в библиотеку и взяла три книги о столярном деле, потому что дети моего соседа строят маленькую лодку и не знают, как гнуть доски. ",
    ),
    (
        "Japanese",
        Language::English,
        "[2023-05-08] カロリン：昨日は図書館に行って、木工の本を三冊借りました。隣の家の子供たちが小さな舟を作っているのですが、板の曲げ方を知らないからです。",
    ),
];

#[expect(clippy::disallowed_methods, reason = "a measurement needs the wall clock")]
#[expect(clippy::print_stdout, reason = "this example reports to its user")]
fn main() {
    for (name, language, text) in TEXTS {
        let long = text.repeat(4_000_000 / text.len());
        let megabytes = long.len() as f64 / 1e6;
        let analyzer = Analyzer::new(language);
        let mut sum = 0_u64;
        let start = std::time::Instant::now();
        analyzer.for_each_term(&long, &mut |term, _| sum ^= term_hash(term));
        let terms = megabytes / start.elapsed().as_secs_f64();
        let start = std::time::Instant::now();
        black_box(fold(&long));
        let folding = megabytes / start.elapsed().as_secs_f64();
        println!("{name:10} terms {terms:6.1} MB/s, fold {folding:6.1} MB/s ({:x})", black_box(sum));
    }
}
