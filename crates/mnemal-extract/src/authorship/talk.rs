//! Chats, minutes and interviews: lines that begin with a speaker label.

use std::ops::Range;

use mnemal_text::fold;

use super::Author;
use super::lexicon::{Cue, Lexicon};
use super::lines::Line;
use super::rules::Part;
use crate::names::is_first_name;

/// Words of the longest label. Source: own choice, "Dr Anna Maria Weber".
const LONGEST_LABEL: usize = 4;
/// Bytes of the longest label. Source: own choice, four names.
const LONGEST_LABEL_BYTES: usize = 40;
/// Signs of the longest label in a script without spaces. Source: own choice, a name with an office.
const LONGEST_SIGNS: usize = 5;

/// A line with its speaker.
#[derive(Clone, Copy, Debug)]
struct LabeledLine<'t> {
    label: &'t str,
    /// Whether a time is next to the label.
    is_timed: bool,
    /// It is an account: "@nora".
    is_account: bool,
    /// Start of the words in the line's body.
    said: &'t str,
}

/// Who a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelKind {
    Person,
    Role,
    Machine,
    Unknown,
}

/// Returns the lines of a paragraph by other speakers.
pub(super) fn talk(lines: &[Line<'_>], names: &[&str], lexicon: &Lexicon) -> Vec<Part> {
    let labelled: Vec<Option<LabeledLine<'_>>> = lines.iter().map(|line| labelled(line.body)).collect();
    let who = |one: &LabeledLine<'_>| who(one.label, lexicon);
    let all: Vec<&LabeledLine<'_>> = labelled.iter().flatten().collect();
    let is_repeated =
        |one: &&&LabeledLine<'_>| all.iter().filter(|other| other.label == one.label).count() > 1;
    let sure =
        all.iter().filter(|one| one.is_timed || who(one) != LabelKind::Unknown || is_repeated(one)).count();
    let is_talk = match all.as_slice() {
        [] => false,
        [one] => one.is_timed || one.is_account || matches!(who(one), LabelKind::Person | LabelKind::Machine),
        // Fields of a form are named once each; people take turns.
        _ => sure * 2 >= all.len() && all.len() * 2 >= lines.len() || sure > 1,
    };
    if !is_talk {
        return if is_form(&all, lexicon) { fields(lines, &labelled) } else { Vec::new() };
    }
    let is_single = all.len() == 1;
    spoken(lines, &labelled, is_single, lexicon)
        .into_iter()
        .filter_map(|(range, label)| {
            let is_own = names.iter().any(|name| fold(name) == fold(label));
            let author = match self::who(label, lexicon) {
                _ if is_own => return None,
                LabelKind::Machine => Author::Program,
                LabelKind::Role => Author::Other(None),
                LabelKind::Person | LabelKind::Unknown => Author::Other(Some(label.to_owned())),
            };
            Some((range, author, "a line that names who says it"))
        })
        .collect()
}

/// Letters of the shortest account whose name ends with digits. Source: own choice; "V2", "Q3" and "MP3" are none.
const LEAST_ACCOUNT: usize = 4;

/// Returns a single line of an account after other paragraphs: "nora77: …".
#[expect(clippy::fn_params_excessive_bools, reason = "whether other lines stand above")]
pub(super) fn handle(lines: &[Line<'_>], is_below: bool) -> Option<Part> {
    let [first, ..] = lines else { return None };
    let one = labelled(first.body).filter(|_| is_below)?;
    let letters = one.label.chars().filter(|sign| sign.is_alphabetic()).count();
    let is_account = !one.label.contains(' ')
        && letters >= LEAST_ACCOUNT
        && (one.label.contains('_') || one.label.ends_with(|sign: char| sign.is_ascii_digit()));
    let range = first.start..lines.last().unwrap_or(first).end;
    is_account.then(|| (range, Author::Other(Some(one.label.to_owned())), "a line that names who says it"))
}

/// Returns whether labels are those of a form: one of them only forms have.
fn is_form(all: &[&LabeledLine<'_>], lexicon: &Lexicon) -> bool {
    let is_field = |one: &&LabeledLine<'_>| {
        let words = lexicon.plain(one.label);
        lexicon.leading(Cue::Field, &words) == Some(words.len())
    };
    all.len() > 1 && all.iter().any(is_field)
}

/// Returns the lines of a form that hold a label.
fn fields(lines: &[Line<'_>], labelled: &[Option<LabeledLine<'_>>]) -> Vec<Part> {
    let lines = lines.iter().zip(labelled).filter(|(_, one)| one.is_some());
    lines.map(|(line, _)| (line.start..line.end, Author::Document, "a field of a form")).collect()
}

/// Returns the utterances with their labels: from each label to the next one, or to a line that asks about it.
#[expect(clippy::fn_params_excessive_bools, reason = "whether one line alone has a label")]
fn spoken<'t>(
    lines: &[Line<'_>],
    labelled: &[Option<LabeledLine<'t>>],
    is_single: bool,
    lexicon: &Lexicon,
) -> Vec<(Range<usize>, &'t str)> {
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for (place, (line, one)) in lines.iter().zip(labelled).enumerate() {
        if let Some(one) = one {
            found.push((line.start..line.end, one.label));
            continue;
        }
        let is_last = place + 1 == lines.len();
        let asks = lexicon.cues(line.body).has_any(&[Cue::Answer, Cue::Work, Cue::Transform]);
        if is_single || is_last && (asks || line.body.ends_with(['?', '？'])) {
            continue;
        }
        if let Some((range, _)) = found.last_mut().filter(|(range, _)| range.end == line.start) {
            range.end = line.end;
        }
    }
    found
}

fn who(label: &str, lexicon: &Lexicon) -> LabelKind {
    let first = label.split_whitespace().next().unwrap_or_default();
    if lexicon.is_machine(label) {
        LabelKind::Machine
    } else if lexicon.is_role(label) {
        LabelKind::Role
    } else if is_own_label(label, lexicon) {
        LabelKind::Unknown
    } else if is_first_name(first) && is_capitalized(label) || is_eastern_name(label) {
        LabelKind::Person
    } else {
        LabelKind::Unknown
    }
}

/// A label that no name is: "One more thing", 老实说.
fn is_own_label(label: &str, lexicon: &Lexicon) -> bool {
    let words = lexicon.plain(label);
    lexicon.is_own_label(&words) || lexicon.cues_of(&words).has(Cue::Own)
}

fn is_capitalized(label: &str) -> bool {
    label.split_whitespace().all(|word| !word.starts_with(char::is_lowercase))
}

/// A family name with a word of address: 小李, 王老师.
fn is_eastern_name(label: &str) -> bool {
    let signs: Vec<char> = label.chars().collect();
    signs.iter().all(|sign| crate::word::is_sign(*sign))
        && (2..=4).contains(&signs.len())
        && (matches!(signs.first(), Some('小' | '老' | '阿'))
            || SURNAMES.contains(signs.first().unwrap_or(&' ')))
}

/// The most frequent family names of China.
///
/// Source: the census of 2020, its first forty.
const SURNAMES: [char; 40] = [
    '王', '李', '张', '刘', '陈', '杨', '黄', '赵', '吴', '周', '徐', '孙', '马', '朱', '胡', '郭', '何',
    '林', '罗', '高', '郑', '梁', '谢', '宋', '唐', '许', '韩', '邓', '冯', '曹', '彭', '曾', '肖', '田',
    '董', '潘', '袁', '蔡', '蒋', '余',
];

/// Reads `[10:02] Jonas: …`, `- Jonas: …`, `**Jonas** (10:02): …`.
fn labelled(body: &str) -> Option<LabeledLine<'_>> {
    let body = body.trim_start_matches(|sign: char| {
        !sign.is_alphanumeric() && !matches!(sign, '[' | '(' | '<' | '/' | '"' | '@')
    });
    let (rest, is_timed) = without_time(body);
    let dash = || rest.find(" - ").filter(|at| rest.get(..*at).is_some_and(is_first_name));
    let mark = colon(rest).or_else(dash)?;
    let (label, said) = rest.split_at_checked(mark)?;
    let said = said.trim_start_matches([':', '：', '*', ' ', '-']);
    let (label, has_time_behind) = without_time_behind(label);
    let is_account = label.starts_with('@');
    let label = label.trim_matches(['*', '_', ' ', '~', '@']);
    let is_said = !said.is_empty() && !said.starts_with("//");
    (is_label(label) && is_said)
        .then_some(LabeledLine { label, is_timed: is_timed || has_time_behind, is_account, said })
        .filter(|one| !one.said.starts_with(|first: char| first.is_ascii_digit()) || one.is_timed)
}

/// Returns the first colon that is none of a time: "Alice (10:02): …".
fn colon(text: &str) -> Option<usize> {
    let digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    let is_of_time = |at: usize, mark: &str| {
        let (before, behind) = (text.get(..at), text.get(at + mark.len()..));
        digit(before.and_then(|text| text.chars().next_back()))
            && digit(behind.and_then(|text| text.chars().next()))
    };
    text.match_indices([':', '：']).find(|(at, mark)| !is_of_time(*at, mark)).map(|(at, _)| at)
}

/// Cuts a time off the front: in brackets, or digits with a colon.
fn without_time(body: &str) -> (&str, bool) {
    if let Some((inside, rest)) = body.strip_prefix(['[', '(']).and_then(|body| body.split_once([']', ')'])) {
        let has_time =
            inside.len() <= LONGEST_LABEL_BYTES && inside.contains(|sign: char| sign.is_ascii_digit());
        return if has_time { (rest.trim_start_matches([' ', '-', '–']), true) } else { (body, false) };
    }
    let end =
        body.find(|sign: char| !(sign.is_ascii_digit() || matches!(sign, ':' | '.' | '/' | '-' | ',' | ' ')));
    let (time, rest) = body.split_at_checked(end.unwrap_or(0)).unwrap_or(("", body));
    let is_time = time.contains(':') && time.chars().filter(char::is_ascii_digit).count() >= 3;
    if !is_time {
        return (body, false);
    }
    let halves = ["AM", "PM", "am", "pm", "Uhr", "h"];
    let rest = halves.iter().find_map(|half| rest.strip_prefix(half)).unwrap_or(rest);
    (rest.trim_start_matches([' ', '-', '–', ',', '.']), true)
}

/// Cuts a time in brackets off the end.
fn without_time_behind(label: &str) -> (&str, bool) {
    let cut = label.trim_end().strip_suffix([')', ']']).and_then(|label| label.rsplit_once(['(', '[']));
    match cut {
        Some((label, inside)) => (label, inside.contains(|sign: char| sign.is_ascii_digit())),
        None => (label, false),
    }
}

/// A name, a role, or a short word with a capital.
fn is_label(label: &str) -> bool {
    let words = label.split_whitespace().count();
    let signs = label.chars().filter(|sign| crate::word::is_sign(*sign)).count();
    let is_short =
        (1..=LONGEST_LABEL).contains(&words) && label.len() <= LONGEST_LABEL_BYTES && signs <= LONGEST_SIGNS;
    let is_plain = label
        .chars()
        .all(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '.' | '\'' | '’' | '-' | '_'));
    let is_name = label.split_whitespace().all(|word| !word.starts_with(char::is_lowercase));
    is_short && is_plain && (is_name || words <= 2) && label.contains(char::is_alphabetic)
}
