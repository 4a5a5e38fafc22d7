//! Secret detection and replacement by typed placeholders.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexBuilder};

pub(crate) use check::{luhn, mod97};
use table::{OPEN, ROWS, Row, Shape};
use view::View;

mod assignment;
mod check;
mod header;
mod number;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod view;

/// The version of the rule table; incremented whenever a text may be redacted differently.
pub const REDACTOR_VERSION: u32 = 1;

/// Bytes before and after a keyword in which a regular expression looks for its secret.
///
/// Source: own choice.
const WINDOW: usize = 512;

/// Memory limit of a compiled user pattern, in bytes.
///
/// Source: own choice; it bounds the memory that a user's pattern may cost.
const PATTERN_SIZE: usize = 1 << 20;

/// How often a text is read again around what was found. Source: own choice; the second reading is nearly
/// always the last.
const READINGS: usize = 4;

/// The handling of a rule's secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The secret is replaced by a placeholder.
    #[default]
    Redact,
    /// The same, and the caller refuses the text: see [`Redaction::blocked`].
    Block,
    /// The secret stays in the text and is reported.
    Allow,
}

/// A secret that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    /// The id of the rule that found it.
    pub rule: String,
    /// Bytes of the **original** text, on character boundaries.
    pub span: Range<usize>,
    /// The placeholder: `[secret:rule#a1b2]`; with [`Mode::Allow`], the one that would replace it.
    pub placeholder: String,
    /// The mode that was applied.
    pub mode: Mode,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Redaction<'t> {
    /// The text; borrowed if nothing was replaced.
    pub text: Cow<'t, str>,
    /// The secrets found, by position, without overlaps.
    pub found: Vec<SecretMatch>,
}

impl Redaction<'_> {
    /// Returns the rule of the first secret whose mode is [`Mode::Block`].
    pub fn blocked(&self) -> Option<&str> {
        self.found.iter().find(|found| found.mode == Mode::Block).map(|found| found.rule.as_str())
    }
}

/// The secret rules: those of this crate and patterns of the user.
///
/// Making a value costs almost nothing: the keyword automaton is built by the first text, and a regular expression by the first
/// text with one of its keywords. Keep one value for the life of the process; it is shared freely between threads.
pub struct SecretRules {
    keywords: OnceLock<Keywords>,
    /// One per row of the table; filled by the first need of it.
    regexes: Vec<OnceLock<Option<Regex>>>,
    extra: Vec<(String, Regex)>,
    remarks: Vec<String>,
    default_mode: Mode,
    modes: Vec<(String, Mode)>,
}

/// The automaton over all keywords, and the rows of each.
struct Keywords {
    automaton: Option<AhoCorasick>,
    /// By pattern: the keyword and the rows that have it.
    rows: Vec<(&'static str, Vec<usize>)>,
    /// The rows without a keyword.
    bare: Vec<(number::Trigger, BareFinder, usize)>,
}

type BareFinder = fn(&str, usize) -> Option<Range<usize>>;

/// A match in a view: where, by which rule, and what.
struct Hit {
    span: Range<usize>,
    rule: usize,
    secret: String,
}

impl std::fmt::Debug for SecretRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretRules")
            .field("version", &REDACTOR_VERSION)
            .field("extra", &self.extra.len())
            .finish_non_exhaustive()
    }
}

impl Default for SecretRules {
    fn default() -> Self {
        Self::built_in()
    }
}

impl SecretRules {
    /// Returns the rules of this crate, each in mode [`Mode::Redact`].
    pub fn built_in() -> Self {
        SecretRules {
            keywords: OnceLock::new(),
            regexes: ROWS.iter().map(|_| OnceLock::new()).collect(),
            extra: Vec::new(),
            remarks: Vec::new(),
            default_mode: Mode::default(),
            modes: Vec::new(),
        }
    }

    /// Returns the rules of this crate and user patterns, given as id and regular expression.
    ///
    /// The secret is the first group of a pattern, or all of its match. A pattern is skipped, with a [remark](Self::remarks),
    /// if it does not compile, if it takes more than 1 MiB, or if its id does not consist of 1 to 64 ASCII letters, digits and
    /// underscores.
    pub fn with_patterns(extra: &[(&str, &str)]) -> Self {
        let mut rules = Self::built_in();
        for (id, pattern) in extra {
            let is_id =
                (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let regex =
                RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build();
            match regex {
                Ok(regex) if is_id => rules.extra.push(((*id).to_owned(), regex)),
                Ok(_) => rules
                    .remarks
                    .push(format!("pattern {id:?} left out: the id needs 1 to 64 of a-z, 0-9 and _")),
                Err(error) => rules.remarks.push(format!("pattern {id:?} left out: {error}")),
            }
        }
        rules
    }

    /// Sets the mode of every rule that has none of its own.
    #[must_use]
    pub fn with_default_mode(mut self, mode: Mode) -> Self {
        self.default_mode = mode;
        self
    }

    /// Sets the mode of one rule; an unknown id leaves a [remark](Self::remarks).
    #[must_use]
    pub fn with_mode(mut self, rule: &str, mode: Mode) -> Self {
        if self.rule_ids().any(|id| id == rule) {
            self.modes.retain(|(id, _)| id != rule);
            self.modes.push((rule.to_owned(), mode));
        } else {
            self.remarks.push(format!("mode of unknown rule {rule:?} left out"));
        }
        self
    }

    /// Returns remarks on invalid patterns and modes, in order.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the ids of all rules, each once, in the order of the table; patterns of the user come last.
    pub fn rule_ids(&self) -> impl Iterator<Item = &str> {
        let built_in = rule_ids().map(|id: &str| id);
        built_in.chain(self.extra.iter().map(|(id, _)| id.as_str()))
    }

    /// Replaces every secret in `text` by `[secret:rule#tail]`.
    ///
    /// The tail is the result of `fingerprint`, in hexadecimal: 16 bits of a keyed hash identify a repeated secret without
    /// revealing it. The secret is passed decoded, so that its escaped forms have one fingerprint. Redaction is idempotent.
    ///
    /// Without a keyword in the text this costs one pass of an automaton, about 1 µs per 150 bytes.
    pub fn redact<'t>(&self, text: &'t str, fingerprint: &dyn Fn(&[u8]) -> u16) -> Redaction<'t> {
        let mut hits: Vec<Hit> = Vec::new();
        for _ in 0..READINGS {
            let spans: Vec<_> = hits.iter().map(|hit| hit.span.clone()).collect();
            let more = self.read(text, &spans);
            if more.is_empty() {
                break;
            }
            hits.extend(more);
            hits = merged(hits);
        }
        self.rewrite(text, hits, fingerprint)
    }

    fn rewrite<'t>(
        &self,
        text: &'t str,
        hits: Vec<Hit>,
        fingerprint: &dyn Fn(&[u8]) -> u16,
    ) -> Redaction<'t> {
        let (mut out, mut done, mut found) = (String::new(), 0, Vec::with_capacity(hits.len()));
        for hit in hits {
            let rule = self.rule_id(hit.rule).to_owned();
            let placeholder = format!("[secret:{rule}#{:04x}]", fingerprint(hit.secret.as_bytes()));
            let mode = self.mode(&rule);
            if mode != Mode::Allow {
                out.push_str(text.get(done..hit.span.start).unwrap_or_default());
                out.push_str(&placeholder);
                done = hit.span.end;
            }
            found.push(SecretMatch { rule, span: hit.span, placeholder, mode });
        }
        if done == 0 {
            return Redaction { text: Cow::Borrowed(text), found };
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Redaction { text: Cow::Owned(out), found }
    }

    fn rule_id(&self, rule: usize) -> &str {
        match ROWS.get(rule) {
            Some(row) => row.id,
            None => self.extra.get(rule - ROWS.len()).map_or("", |(id, _)| id.as_str()),
        }
    }

    fn mode(&self, rule: &str) -> Mode {
        self.modes.iter().find(|(id, _)| id == rule).map_or(self.default_mode, |(_, mode)| *mode)
    }

    /// Reads the text once, as it is and with wrapped tokens joined.
    fn read(&self, text: &str, blanks: &[Range<usize>]) -> Vec<Hit> {
        let view = View::new(text, blanks);
        let mut hits = Vec::new();
        self.scan(view.text(), &mut |span, rule, secret| {
            hits.push(Hit { span: view.source(&span), rule, secret: secret.to_owned() });
        });
        if let Some(joined) = view.joined() {
            self.scan(joined.text(), &mut |span, rule, secret| {
                let wrapped = joined.source(&span);
                if let Some((range, secret)) = kept_pieces(view.text(), wrapped, secret, rule) {
                    hits.push(Hit { span: view.source(&range), rule, secret });
                }
            });
        }
        hits.retain(|hit| text.get(hit.span.clone()).is_some_and(|found| !found.is_empty()));
        merged(hits)
    }

    /// Reports every match of every rule.
    fn scan(&self, text: &str, report: &mut dyn FnMut(Range<usize>, usize, &str)) {
        let mut report = |row: usize, range: Range<usize>, from: usize| {
            let body = text.get(from..range.end).unwrap_or_default();
            let is_secret = ROWS.get(row).is_none_or(|row| body.len() >= row.min && (row.check)(body));
            let secret = text.get(range.clone()).unwrap_or_default();
            if is_secret && !secret.contains(view::BLANK) && !secret.is_empty() {
                report(range, row, secret);
            }
        };
        let keywords = self.keywords.get_or_init(Keywords::new);
        number::triggers(text, |trigger, at| {
            for (_, find, row) in keywords.bare.iter().filter(|(wanted, ..)| *wanted == trigger) {
                if let Some(range) = find(text, at) {
                    report(*row, range.clone(), range.start);
                }
            }
        });
        self.scan_keywords(keywords, text, &mut report);
        for (at, (_, regex)) in self.extra.iter().enumerate() {
            each_match(regex, text, 0, |range| report(ROWS.len() + at, range.clone(), range.start));
        }
    }

    fn scan_keywords(
        &self,
        keywords: &Keywords,
        text: &str,
        report: &mut dyn FnMut(usize, Range<usize>, usize),
    ) {
        let Some(automaton) = &keywords.automaton else { return };
        let mut windows: Vec<(usize, Range<usize>)> = Vec::new();
        // By row, up to where its last match reached; made when something is found.
        let mut done: Vec<usize> = Vec::new();
        for keyword in automaton.find_overlapping_iter(text) {
            let Some((word, rows)) = keywords.rows.get(keyword.pattern().as_usize()) else { continue };
            let span = keyword.range();
            for &row in rows {
                let Some(Row { shape, min, .. }) = ROWS.get(row) else { continue };
                let is_read = done.get(row).is_some_and(|done| span.start < *done);
                let (range, from) = match shape {
                    Shape::Token { set, max, .. } if !is_read && text.get(span.clone()) == Some(*word) => {
                        (token::token(text, &span, *set, (*min, *max)), Some(span.end))
                    }
                    Shape::Read(read) if !is_read => (read(text, &span), None),
                    Shape::Pattern(_) => {
                        add_window(&mut windows, row, text, &span);
                        continue;
                    }
                    _ => continue,
                };
                let Some(range) = range else { continue };
                done.resize(ROWS.len(), 0);
                done.get_mut(row).into_iter().for_each(|done| *done = range.end);
                let from = from.unwrap_or(range.start);
                report(row, range, from);
            }
        }
        for (row, window) in windows {
            if let Some(regex) = self.regex(row) {
                let part = text.get(window.clone()).unwrap_or_default();
                each_match(regex, part, window.start, |range| report(row, range.clone(), range.start));
            }
        }
    }

    fn regex(&self, row: usize) -> Option<&Regex> {
        let Shape::Pattern(pattern) = ROWS.get(row)?.shape else { return None };
        self.regexes.get(row)?.get_or_init(|| Regex::new(pattern).ok()).as_ref()
    }
}

/// Returns the ids of the built-in rules, each once, in the order of the table.
pub(crate) fn rule_ids() -> impl Iterator<Item = &'static str> {
    let is_first = |(at, row): &(usize, &Row)| ROWS.iter().take(*at).all(|earlier| earlier.id != row.id);
    ROWS.iter().enumerate().filter(is_first).map(|(_, row)| row.id)
}

impl Keywords {
    fn new() -> Self {
        let mut rows: Vec<(&'static str, Vec<usize>)> = Vec::new();
        for (at, row) in ROWS.iter().enumerate() {
            for keyword in row.keywords {
                match rows.iter_mut().find(|(known, _)| known == keyword) {
                    Some((_, of)) => of.push(at),
                    None => rows.push((keyword, vec![at])),
                }
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(rows.iter().map(|(keyword, _)| keyword));
        let bare = ROWS.iter().enumerate().filter_map(|(at, row)| match row.shape {
            Shape::Bare(trigger, find) => Some((trigger, find, at)),
            _ => None,
        });
        Keywords { automaton: automaton.ok(), rows, bare: bare.collect() }
    }
}

/// Adds the window around a keyword; windows of one row that touch become one, so that no byte is read twice.
fn add_window(windows: &mut Vec<(usize, Range<usize>)>, row: usize, text: &str, keyword: &Range<usize>) {
    let start = text.floor_char_boundary(keyword.start.saturating_sub(WINDOW));
    let end = text.ceil_char_boundary(keyword.end.saturating_add(WINDOW));
    match windows.iter_mut().rev().find(|(of, _)| *of == row) {
        Some((_, window)) if window.end >= start => window.end = end,
        _ => windows.push((row, start..end)),
    }
}

/// Calls `found` with the first group that took part in each match, or with the whole match.
fn each_match(regex: &Regex, text: &str, offset: usize, mut found: impl FnMut(Range<usize>)) {
    for groups in regex.captures_iter(text) {
        let group = groups.iter().skip(1).flatten().next().or_else(|| groups.get(0));
        if let Some(group) = group {
            found(offset + group.start()..offset + group.end());
        }
    }
}

fn has_fixed_length(rule: usize) -> bool {
    matches!(ROWS.get(rule), Some(Row { shape: Shape::Token { max, .. }, .. }) if *max != OPEN)
}

/// Drops the last pieces of a wrapped match that are words, unless the token has a length of its own.
fn kept_pieces(text: &str, span: Range<usize>, secret: &str, rule: usize) -> Option<(Range<usize>, String)> {
    let mut found = text.get(span.clone())?;
    let mut secret = secret.to_owned();
    if !found.contains('\n') {
        return None;
    }
    while !has_fixed_length(rule)
        && let Some((head, last)) = found.rsplit_once('\n')
    {
        let piece = last.trim_start_matches([' ', '\t', '>']);
        if view::looks_opaque(piece.as_bytes()) {
            break;
        }
        found = head.trim_end();
        secret.truncate(secret.len().saturating_sub(piece.len()));
    }
    // What is left on one line was found there.
    found.contains('\n').then(|| (span.start..span.start + found.len(), secret))
}

/// Merges overlapping matches; the longest gives its name, of equals the one whose rule comes first.
fn merged(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.span.start, std::cmp::Reverse(hit.span.end), hit.rule));
    let mut out: Vec<(Hit, usize)> = Vec::with_capacity(hits.len());
    for hit in hits {
        let len = hit.span.len();
        match out.last_mut() {
            Some((last, longest)) if hit.span.start < last.span.end => {
                last.span.end = last.span.end.max(hit.span.end);
                if len > *longest || (len == *longest && hit.rule < last.rule) {
                    (last.rule, last.secret, *longest) = (hit.rule, hit.secret, len);
                }
            }
            _ => out.push((hit, len)),
        }
    }
    out.into_iter().map(|(hit, _)| hit).collect()
}
