//! Non-prose parts of a text: fenced code, logs, tables.

use std::ops::Range;

/// Returns the ranges in which no word is a name.
pub(crate) fn code(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let mut is_fenced = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if is_fence || is_fenced || is_code(line) {
            ranges.push(at..at + line.len());
        } else {
            inline(line, at, &mut ranges);
        }
        is_fenced ^= is_fence && trimmed.matches("```").count() != 2;
        at += line.len();
    }
    ranges
}

/// Source: own choice, how lines of logs and traces begin or go on.
const LOG_WORDS: [&str; 12] = [
    " ERROR ",
    " INFO ",
    " WARN ",
    " DEBUG ",
    "ERROR:",
    "Traceback",
    "Exception:",
    "Error:",
    "error[",
    "WARN:",
    "[ERROR]",
    "[INFO]",
];

fn is_code(line: &str) -> bool {
    let bare = line.trim();
    if bare.len() < 4 {
        return false;
    }
    let starts = [
        "$ ", "# ", "> ", ">>> ", "at ", "import ", "from ", "def ", "fn ", "class ", "SELECT ", "INSERT ",
        "UPDATE ", "CREATE ", "const ", "let ", "var ", "#include", "public ", "//", "/*", "--- ", "+++ ",
        "@@ ", "|",
    ];
    let signs = bare
        .bytes()
        .filter(|b| {
            matches!(
                b,
                b'{' | b'}'
                    | b';'
                    | b'='
                    | b'('
                    | b')'
                    | b'<'
                    | b'>'
                    | b'|'
                    | b'['
                    | b']'
                    | b'_'
                    | b'$'
                    | b'\\'
                    | b':'
                    | b'/'
            )
        })
        .count();
    let spaces = bare.bytes().filter(|b| *b == b' ').count();
    if starts.iter().any(|start| bare.starts_with(start))
        && (signs >= 2 || bare.starts_with("$ ") || bare.starts_with(">>> "))
        && !bare.starts_with("> ")
    {
        return true;
    }
    if signs >= 2 && LOG_WORDS.iter().any(|word| line.contains(word)) {
        return true;
    }
    signs * 8 >= bare.len() && signs >= 4 || bare.ends_with([';', '{']) && signs >= 3 && spaces < 12
}

/// Text between single backquotes is code unless it is one plain word.
fn inline(line: &str, start: usize, ranges: &mut Vec<Range<usize>>) {
    let mut opened = None;
    for (at, _) in line.match_indices('`') {
        match opened.take() {
            None => opened = Some(at),
            Some(from) => {
                let inside = line.get(from + 1..at).unwrap_or_default();
                if !inside.chars().all(char::is_alphanumeric) {
                    ranges.push(start + from..start + at + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_sentences() {
        let check = |text: &str| {
            code(text)
                .into_iter()
                .map(|at| text.get(at).unwrap().trim().to_owned())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(check("See:\n```\nlet Anna = 1;\n```\nfrom Anna"), "```|let Anna = 1;|```");
        assert_eq!(
            check("2024-05-01 10:00 ERROR [main] Anna failed: x=1\nIt says so."),
            "2024-05-01 10:00 ERROR [main] Anna failed: x=1"
        );
        assert_eq!(check("run `git push Origin` or `Grafana`"), "`git push Origin`");
        assert_eq!(check("From Anna (my sister): we met; then left."), "");
    }
}
