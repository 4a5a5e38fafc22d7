//! Mails and letters: heads, reply and forward lines, salutations and signatures.

use mnemal_text::fold;

use super::lexicon::{Cue, Lexicon, words};
use super::lines::Line;

/// Words of the longest line of a salutation, and of a line that ends a letter. Source: own choice.
const LONGEST_LINE: usize = 7;
/// Words of the longest signature. Source: own choice, "Dr Anna Maria Weber".
const LONGEST_SIGNATURE: usize = 4;
/// Lines of the longest signature: name, office, company. Source: own choice.
const SIGNATURE_LINES: usize = 3;
/// Lines of a head without which a head that names no writer is none. Source: own choice; a journey has two, "Date" and "To".
const LEAST_HEAD: usize = 3;

/// The evidence for a mail, or a letter.
const BELOW_HEAD: &str = "below the head of a mail";
const BELOW_REPLY: &str = "below a reply line";
const FORWARDED: &str = "a forwarded mail";
pub(super) const LETTER: &str = "a signed letter that something is asked about";
/// The same: mails and letters are whole.
pub(super) const REASONS: [&str; 4] = [BELOW_HEAD, BELOW_REPLY, FORWARDED, LETTER];

/// Where a mail begins.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The first line of its head.
    pub(super) first: usize,
    /// The line below its head.
    pub(super) body: usize,
    /// Who wrote it.
    pub(super) writer: Option<String>,
    /// The evidence.
    pub(super) reason: &'static str,
}

/// Returns the first mail from a line on.
pub(super) fn head(lines: &[Line<'_>], from: usize, lexicon: &Lexicon) -> Option<Head> {
    (from..lines.len()).find_map(|place| {
        head_lines(lines, place, lexicon)
            .or_else(|| reply_line(lines, place, lexicon))
            .or_else(|| rule_line(lines, place, lexicon))
    })
}

/// A block of lines such as "From: Jonas", "Subject: Keys".
fn head_lines(lines: &[Line<'_>], first: usize, lexicon: &Lexicon) -> Option<Head> {
    let (mut writer, mut count, mut body) = (None, 0, first);
    for line in lines.iter().skip(first) {
        let (label, value) = label(line.body)?;
        if lexicon.is_from(label) {
            writer = Some(name(value));
        } else if !lexicon.is_header(label) {
            break;
        }
        count += 1;
        body += 1;
        let is_over = lines.get(body).is_none_or(|next| {
            !self::label(next.body).is_some_and(|(of, _)| lexicon.is_from(of) || lexicon.is_header(of))
        });
        if is_over {
            break;
        }
    }
    let is_head = count >= LEAST_HEAD || writer.is_some() && count > 1;
    is_head.then(|| Head { first, body, writer: writer.flatten(), reason: BELOW_HEAD })
}

/// "On Tuesday, 3 March 2026 at 09:12, Jonas wrote:", over one line or two.
fn reply_line(lines: &[Line<'_>], place: usize, lexicon: &Lexicon) -> Option<Head> {
    let line = lines.get(place)?;
    if !line.body.ends_with([':', '：']) || !lexicon.cues(line.body).has(Cue::Wrote) {
        return None;
    }
    let tells = |body: &str| body.contains(|sign: char| sign.is_ascii_digit() || matches!(sign, '@' | '<'));
    let above = place
        .checked_sub(1)
        .and_then(|above| lines.get(above))
        .filter(|above| !above.is_blank() && words(line.body).len() <= LONGEST_LINE && tells(above.body));
    let first = if above.is_some() { place - 1 } else { place };
    let is_reply = above.is_some() || tells(line.body);
    is_reply.then_some(Head { first, body: place + 1, writer: None, reason: BELOW_REPLY })
}

/// "----- Original message -----", "Begin forwarded message:".
fn rule_line(lines: &[Line<'_>], place: usize, lexicon: &Lexicon) -> Option<Head> {
    let line = lines.get(place)?;
    let is_framed = line.body.starts_with(['-', '_', '=', '*', '>']) || line.body.ends_with([':', '-', '：']);
    let is_rule =
        is_framed && words(line.body).len() <= LONGEST_LINE && lexicon.cues(line.body).has(Cue::Rule);
    if !is_rule {
        return None;
    }
    let mut writer = None;
    let mut body = place + 1;
    while let Some((label, value)) = lines.get(body).and_then(|line| label(line.body)) {
        if lexicon.is_from(label) {
            writer = name(value);
        } else if !lexicon.is_header(label) {
            break;
        }
        body += 1;
    }
    Some(Head { first: place, body, writer, reason: FORWARDED })
}

/// Reads `Label: value`.
fn label(body: &str) -> Option<(&str, &str)> {
    let (label, value) = body.trim_matches('*').split_once([':', '：'])?;
    Some((label.trim().trim_matches('*'), value.trim().trim_matches('*').trim()))
}

/// Returns the name in front of an address.
fn name(value: &str) -> Option<String> {
    let name = value.split(['<', '(', '[']).next().unwrap_or_default().trim().trim_matches(['"', '\'', ',']);
    (!name.is_empty() && !name.contains('@')).then(|| name.to_owned())
}

/// Words of the longest greeting with a name. Source: own choice, "Good morning, dear Mrs Holt".
const LONGEST_GREETING: usize = 5;

/// Returns whether a line begins with a greeting of one of these names: "Hi Nora, …".
pub(super) fn is_addressed_to(line: &Line<'_>, names: &[&str], lexicon: &Lexicon) -> bool {
    let words = words(line.body);
    if names.is_empty() || lexicon.leading(Cue::Salutation, &words).is_none() {
        return false;
    }
    let called = words.iter().take(LONGEST_GREETING).enumerate().find(|(place, word)| {
        *place > 0
            && names
                .iter()
                .any(|name| fold(name).split(' ').next().is_some_and(|first| first == &*word.lower))
    });
    // "Hi, Nora here" is the speaker's own introduction.
    called.is_some_and(|(_, word)| {
        let behind = line.body.get(word.span.end..).unwrap_or_default();
        behind.is_empty() || behind.starts_with([',', '!', '，', '！', ':', '：', '.', '-', '–'])
    })
}

/// The end of a letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignOff<'t> {
    /// The line of the greeting.
    pub(super) line: usize,
    /// Behind the lines of the signature.
    pub(super) end: usize,
    /// Who signs.
    pub(super) name: &'t str,
}

impl SignOff<'_> {
    /// Returns whether one of these names signs.
    pub(super) fn is_of(&self, names: &[&str]) -> bool {
        let signed = fold(self.name);
        names.iter().any(|name| {
            let name = fold(name);
            signed == name || signed.split(' ').next() == name.split(' ').next()
        })
    }
}

/// Returns the first end of a letter from a line on.
pub(super) fn sign_off<'t>(lines: &[Line<'t>], from: usize, lexicon: &Lexicon) -> Option<SignOff<'t>> {
    (from..lines.len()).find_map(|place| sign_off_at(lines, place, lexicon))
}

fn sign_off_at<'t>(lines: &[Line<'t>], place: usize, lexicon: &Lexicon) -> Option<SignOff<'t>> {
    let line = lines.get(place)?;
    let words = words(line.body);
    if words.is_empty() || words.len() > LONGEST_LINE {
        return None;
    }
    let taken = lexicon.leading(Cue::SignOff, &words)?;
    let rest = words.get(taken..).unwrap_or_default();
    if let Some(first) = rest.first() {
        let name = line.body.get(first.span.start..).unwrap_or_default().trim_end_matches(['.', '!', ' ']);
        let is_last =
            lines.get(place + 1).is_none_or(Line::is_blank) || is_signature(lines, place + 1).is_some();
        return (is_name(name) && is_last).then_some(SignOff { line: place, end: place + 1, name });
    }
    // The name may follow a blank line.
    let below = if lines.get(place + 1).is_some_and(Line::is_blank) { place + 2 } else { place + 1 };
    if let Some(end) = is_signature(lines, below) {
        let name = lines.get(below).map_or("", |line| line.body);
        return Some(SignOff { line: place, end, name });
    }
    let is_last = lines.get(place + 1).is_none_or(|next| next.is_blank() || next.is_rule());
    is_last.then_some(SignOff { line: place, end: place + 1, name: "" })
}

/// Returns the line after a signature that begins at a line.
fn is_signature(lines: &[Line<'_>], from: usize) -> Option<usize> {
    let first = lines.get(from).filter(|line| is_name(line.body))?;
    let mut end = from + 1;
    while end < from + SIGNATURE_LINES
        && lines.get(end).is_some_and(|line| !line.is_blank() && !line.is_rule())
    {
        end += 1;
    }
    let is_over = lines.get(end).is_none_or(|line| line.is_blank() || line.is_rule());
    (is_over && !first.is_rule()).then_some(end)
}

/// Few words, each with a capital or without case.
fn is_name(body: &str) -> bool {
    let all = body.split_whitespace().count();
    let is_plain = !body.ends_with(['?', '？', ':', '：', '。']) && !body.contains(". ");
    (1..=LONGEST_SIGNATURE).contains(&all)
        && is_plain
        && body.chars().count() <= 40
        && body.split_whitespace().all(|word| !word.starts_with(char::is_lowercase))
        && body.contains(char::is_alphabetic)
}

/// Returns the line of the last salutation above a line, and whether it addresses a person.
pub(super) fn salutation(lines: &[Line<'_>], below: usize, lexicon: &Lexicon) -> Option<(usize, Address)> {
    let above = lines.get(..below)?;
    above.iter().enumerate().rev().find_map(|(place, line)| {
        let words = words(line.body);
        let is_short = words.len() <= LONGEST_LINE && !line.body.ends_with(['?', '？', '.', '。']);
        lexicon.leading(Cue::Salutation, &words).filter(|_| is_short)?;
        let is_formal = lexicon.leading(Cue::Formal, &words).is_some();
        Some((place, if is_formal { Address::Formal } else { Address::Plain }))
    })
}

/// How a letter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// "Hello,", as to anybody.
    Plain,
    /// "Dear Mrs Holt,", to someone else than a program.
    Formal,
}
