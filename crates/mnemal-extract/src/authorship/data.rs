//! Data and program output: objects, tables, records, subtitles, log lines.

use std::ops::Range;

use super::Author;
use super::lines::Line;
use super::rules::Part;

/// Separators of the fields of a table.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];
/// Separators of a line of a table. Source: own choice; a sentence has one or two commas.
const LEAST_FIELDS: usize = 2;

/// How grave a line of a log is.
const LEVELS: [&str; 6] = ["DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL"];
/// Signs of the shortest place in a recording. Source: own choice, "0:12".
const LEAST_TIME: usize = 4;

/// Returns the lines that are data.
pub(super) fn data(lines: &[Line<'_>]) -> Vec<Part> {
    let mut found: Vec<Range<usize>> =
        lines.iter().filter(|line| is_object(line.body) || is_log(line.body)).map(bytes).collect();
    found.extend(table(lines));
    if lines.iter().any(|line| line.body.contains("-->")) {
        found.extend(lines.iter().filter(|line| !line.is_blank()).map(bytes));
    }
    let timed = || lines.iter().filter(|line| is_timed(line.body));
    if timed().count() > 1 {
        found.extend(timed().map(bytes));
    }
    let is_record = |line: &&Line<'_>| is_record(line.body);
    if lines.iter().filter(is_record).count() > 1 {
        found.extend(lines.iter().filter(is_record).map(bytes));
    }
    found.extend(nested(lines));
    found.into_iter().map(|range| (range, Author::Program, "data")).collect()
}

/// Returns the lines of a question with choices: "A) …" and "B) …" below one another.
pub(super) fn options(lines: &[Line<'_>]) -> Vec<Part> {
    let letter = |line: &Line<'_>| {
        let mut signs = line.body.chars();
        let letter = signs.next().filter(char::is_ascii_uppercase)?;
        (signs.next().is_some_and(|mark| matches!(mark, ')' | '.')) && signs.next() == Some(' '))
            .then_some(letter)
    };
    let letters: Vec<char> = lines.iter().filter_map(letter).collect();
    let is_in_order = letters.first() == Some(&'A') && letters.get(1) == Some(&'B');
    let of = lines.iter().filter(|line| is_in_order && letter(line).is_some());
    of.map(|line| (bytes(line), Author::Material, "a choice of a question")).collect()
}

fn bytes(line: &Line<'_>) -> Range<usize> {
    line.start..line.end
}

/// `{"name": "…"`, `"name": "…"`.
fn is_object(body: &str) -> bool {
    body.starts_with(['{', '[', '"', '}']) && (body.contains("\": ") || body.contains("\":\""))
}

/// Fields of a commit in a log of git.
const COMMIT_FIELDS: [&str; 6] = ["Author:", "Date:", "Merge:", "AuthorDate:", "Commit:", "CommitDate:"];
/// Digits of the shortest name of a commit. Source: the short form of git.
const LEAST_COMMIT: usize = 7;

/// Returns the commits of a log of git with their messages, which are indented.
pub(super) fn commits(text: &str) -> Vec<Range<usize>> {
    if !text.contains("Author:") {
        return Vec::new();
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_open) = (0, false);
    for line in text.split_inclusive('\n') {
        let is_head = line.strip_prefix("commit ").is_some_and(|name| {
            let digits = name.chars().take_while(char::is_ascii_hexdigit).count();
            digits >= LEAST_COMMIT
        });
        let is_part = || {
            line.trim().is_empty()
                || line.starts_with("    ")
                || COMMIT_FIELDS.iter().any(|field| line.starts_with(field))
        };
        if is_head {
            found.push(at..at + line.len());
            is_open = true;
        } else if is_open && is_part() {
            if let Some(last) = found.last_mut() {
                last.end = at + line.len();
            }
        } else {
            is_open = false;
        }
        at += line.len();
    }
    found
}

/// A line that begins with a day and a time, or with the name of a part of a program in brackets.
fn is_log(body: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    let of_level = LEVELS
        .iter()
        .any(|level| body.strip_prefix(level).is_some_and(|rest| rest.starts_with([' ', ':', ']'])));
    let of_day = body
        .trim_start_matches(['[', '('])
        .get(..19)
        .is_some_and(|front| digits(front) == 14 && front.bytes().filter(|byte| *byte == b':').count() == 2);
    let of_part =
        body.strip_prefix('[').and_then(|body| body.split_once("] ")).is_some_and(|(part, rest)| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.' | b':'))
                && rest.split_once(':').is_some_and(|(key, _)| !key.contains(' '))
        });
    of_day || of_part || of_level
}

/// A line of a transcript that begins with a place in a recording: "00:12 …", `[01:30] …`.
fn is_timed(body: &str) -> bool {
    let front = body.trim_start_matches(['[', '(']);
    let time = front.split([' ', ']', ')']).next().unwrap_or_default();
    time.len() >= LEAST_TIME
        && time.contains(':')
        && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// `SUMMARY:Lunch`.
fn is_record(body: &str) -> bool {
    body.split_once(':').is_some_and(|(key, value)| {
        key.len() > 2
            && !value.starts_with(' ')
            && key.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b';' | b'='))
    })
}

/// Lines of a table: as many separators as in the line above, which names the columns.
fn table(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    for (place, line) in lines.iter().enumerate() {
        let Some(separator) =
            SEPARATORS.into_iter().find(|sign| line.body.matches(*sign).count() >= LEAST_FIELDS)
        else {
            continue;
        };
        let is_head = line.body.split(separator).all(|field| {
            separator == '|' || !field.is_empty() && !field.trim().contains(' ') && !field.starts_with(' ')
        });
        let count = line.body.matches(separator).count();
        let below: Vec<&Line<'_>> = lines
            .iter()
            .skip(place + 1)
            .take_while(|next| next.body.matches(separator).count() >= count)
            .collect();
        if is_head && !below.is_empty() {
            return below.into_iter().map(bytes).collect();
        }
    }
    Vec::new()
}

/// Lines of nested keys: one is indented under an item that is a key too.
fn nested(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let is_key = |body: &str| {
        body.trim_start_matches(['-', ' ']).split_once(": ").is_some_and(|(key, _)| {
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
    };
    let is_under = lines.windows(2).any(|pair| match pair {
        [item, under] => {
            item.body.starts_with("- ")
                && is_key(item.body)
                && under.at > under.start
                && is_key(under.body)
                && !under.body.starts_with('-')
        }
        _ => false,
    });
    if is_under { lines.iter().filter(|line| is_key(line.body)).map(bytes).collect() } else { Vec::new() }
}
