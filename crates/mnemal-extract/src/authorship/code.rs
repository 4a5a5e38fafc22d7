//! Comments next to code, and tagged elements.

use std::ops::Range;

use super::lines::Line;

/// Comment openers that prose never uses.
const COMMENTS: [&str; 4] = ["//", "/*", "<!--", "#!"];
/// Comment openers next to code.
const COMMENTS_BESIDE_CODE: [&str; 7] = ["#", "--", "*", "%", ";;", "\"\"\"", "rem "];
/// Words with which lines of code begin. Source: own choice, of the languages that are used most.
const KEYWORDS: [&str; 44] = [
    "def ",
    "class ",
    "import ",
    "from ",
    "return",
    "let ",
    "const ",
    "var ",
    "fn ",
    "func ",
    "function ",
    "public ",
    "private ",
    "static ",
    "int ",
    "void ",
    "float ",
    "double ",
    "bool ",
    "string ",
    "char ",
    "if (",
    "for (",
    "while (",
    "else",
    "print(",
    "printf(",
    "console.",
    "use ",
    "pub ",
    "impl ",
    "struct ",
    "#include",
    "package ",
    "select ",
    "insert ",
    "update ",
    "create table",
    "echo ",
    "export ",
    "async ",
    "await ",
    "elif ",
    "try:",
];
/// Prompts of a shell or an interpreter.
const PROMPTS: [&str; 7] = ["$ ", ">>> ", "❯ ", "PS ", "C:\\", "In [", "sqlite> "];
/// Suffixes of error names, as programs print them before a colon.
const FAILURES: [&str; 3] = ["Error", "Exception", "Warning"];
/// Ends of lines of code.
const ENDS: [char; 4] = [';', '{', '}', '\\'];
/// Tags that only set words off. Source: HTML 5.
const SETTING: [&str; 22] = [
    "b", "i", "em", "strong", "u", "s", "mark", "small", "big", "sub", "sup", "del", "ins", "font", "br",
    "hr", "q", "abbr", "cite", "kbd", "a", "span",
];
/// Longest tag. Source: own choice.
const LONGEST_TAG: usize = 1_024;

/// Returns the lines of comments and code in a paragraph.
pub(super) fn code(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let is_code: Vec<bool> = lines.iter().map(|line| is_code(line.body)).collect();
    let has_code = is_code.contains(&true);
    let is_foreign = |(line, is_code): (&Line<'_>, &bool)| {
        let starts = |marks: &[&str]| marks.iter().any(|mark| line.body.starts_with(mark));
        let is_comment = starts(&COMMENTS) || has_code && starts(&COMMENTS_BESIDE_CODE);
        (is_comment || *is_code && has_several(lines)).then_some(line.start..line.end)
    };
    let found = lines.iter().zip(&is_code).filter_map(is_foreign).collect::<Vec<_>>();
    // One line that ends with a semicolon is no code.
    if found.len() == 1 && lines.len() == 1 && !lines.iter().any(|line| line.body.starts_with(['/', '<'])) {
        return Vec::new();
    }
    found
}

/// Returns the program output of a paragraph: from a prompt to its end, or all lines up to the error name.
pub(super) fn session(lines: &[Line<'_>]) -> Option<Range<usize>> {
    let last = lines.last().filter(|_| has_several(lines))?;
    let begins = |line: &Line<'_>| PROMPTS.iter().any(|prompt| line.body.starts_with(prompt));
    let first = lines.iter().find(|line| begins(line));
    let first = first.or_else(|| lines.first().filter(|_| lines.iter().any(is_failure)));
    first.map(|first| first.start..last.end)
}

/// "`TypeError`: food is undefined", "Traceback (most recent call last):".
fn is_failure(line: &Line<'_>) -> bool {
    let name = line.body.split_once(": ").map_or("", |(name, _)| name);
    let is_name =
        !name.contains(' ') && FAILURES.iter().any(|end| name.ends_with(end) && name.len() > end.len());
    is_name || line.body.starts_with("Traceback (")
}

fn has_several(lines: &[Line<'_>]) -> bool {
    lines.len() > 1
}

fn is_code(body: &str) -> bool {
    let lower = body.to_ascii_lowercase();
    let is_ended = body.ends_with(ENDS) && body.contains(['(', '=', '{', '}', '.', '<']);
    let has_keyword = KEYWORDS.iter().any(|word| lower.starts_with(word));
    let signs = body.bytes().filter(|byte| b"(){}[]=;<>_\\|".contains(byte)).count();
    is_ended || matches!(body, "{" | "}" | "};" | ")" | ");") || has_keyword && signs > 0
}

/// Returns elements in tags of any name, with their tags. One that is not closed goes to the end of its paragraph when a line
/// begins with it, and so does what follows an end tag that nothing opened.
pub(super) fn elements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')).map(|at| from + at) {
        let Some(tag) = tag_at(text, at) else {
            from = at + 1;
            continue;
        };
        from = tag.end;
        if SETTING.contains(&tag.name.to_ascii_lowercase().as_str()) || tag.is_single {
            continue;
        }
        let close = format!("</{}>", tag.name);
        let closed =
            text.get(tag.end..).and_then(|rest| rest.find(&close)).map(|at| tag.end + at + close.len());
        let leads = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
        let leads = leads.is_empty() || leads.ends_with('\n');
        let end = match closed {
            Some(end) if !tag.is_close => Some(end),
            _ if leads => Some(paragraph_end(text, tag.end)),
            _ => None,
        };
        if let Some(end) = end {
            found.push(at..end);
            from = end;
        }
    }
    found
}

fn paragraph_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find("\n\n").map_or(text.len(), |at| from + at)
}

struct Tag<'t> {
    name: &'t str,
    end: usize,
    is_close: bool,
    is_single: bool,
}

fn tag_at(text: &str, at: usize) -> Option<Tag<'_>> {
    let rest = text.get(at + 1..)?;
    let (is_close, inner) = rest.strip_prefix('/').map_or((false, rest), |inner| (true, inner));
    let is_of_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | ':' | '.');
    let end = inner.find(|sign: char| !is_of_name(sign))?;
    let name = inner.get(..end).filter(|name| name.starts_with(char::is_alphabetic))?;
    let behind = inner.get(end..)?;
    let window = behind.get(..behind.floor_char_boundary(LONGEST_TAG))?;
    let close = window.find('>')?;
    let attributes = window.get(..close)?;
    let is_tag = attributes.is_empty() || attributes.starts_with([' ', '\n', '\t', '/']);
    // An address or a comparison is no tag: "<h@example.org>", "a <b and c> d".
    let is_plain = attributes.trim_matches(['/', ' ']).is_empty() || attributes.contains('=');
    (is_tag && is_plain && !name.contains('.')).then(|| Tag {
        name,
        end: text.len() - behind.len() + close + 1,
        is_close,
        is_single: attributes.ends_with('/'),
    })
}
