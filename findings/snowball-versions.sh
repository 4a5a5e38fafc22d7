#!/usr/bin/env bash
# rust-stemmers 1.2.0 (Rust) and snowballstemmer 3.1.1 (Python) both say that they are Snowball, and differ.
# Seen: of eight words six get another stem. "university" and "universal" are one word for rust-stemmers and two for
# snowballstemmer; "informație" with the letter that Romanian is written with is stemmed by the second alone; "l'hôtel" and
# "dall'amico" lose their article in the second alone. An index made with one must not be asked with the other.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install snowballstemmer==3.1.1
mkdir src; printf '[package]\nname="stems"\nversion="0.1.0"\nedition="2021"\n[dependencies]\nrust-stemmers="=1.2.0"\n[workspace]\n' > Cargo.toml
cat > src/main.rs <<'R'
use rust_stemmers::{Algorithm, Stemmer};
fn main() {
    let of = |language, word| Stemmer::create(language).stem(word).into_owned();
    for word in ["university", "universal", "organization", "vitamins"] { println!("{}", of(Algorithm::English, word)); }
    for word in ["informație", "informaţie"] { println!("{}", of(Algorithm::Romanian, word)); }
    println!("{}", of(Algorithm::French, "l'hôtel"));
    println!("{}", of(Algorithm::Italian, "dall'amico"));
}
R
rust=$(cargo run -q | paste -sd' ')
python=$(v/bin/python - <<'P'
from snowballstemmer import stemmer
words = {"english": ["university", "universal", "organization", "vitamins"], "romanian": ["informație", "informaţie"], "french": ["l'hôtel"], "italian": ["dall'amico"]}
print(*[stemmer(language).stemWord(word) for language, all in words.items() for word in all])
P
)
echo "rust-stemmers 1.2.0:   $rust"; echo "snowballstemmer 3.1.1: $python"
[ "$rust" = "univers univers organ vitamin informaț inform l'hôtel dall'am" ]
[ "$python" = "universiti universal organiz vitamin inform inform hôtel amic" ]
