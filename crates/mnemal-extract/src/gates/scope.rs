//! Where the cues of gates stand in a sentence, and how far each reaches.

use std::ops::Range;

use crate::clause::{Break, Reading};
use crate::gates::Gates;
use crate::gates::pack::{GatePack, Reach, Words};
use crate::word::{Word, is_sign, without_closing_marks};

/// One cue of a gate in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The gate.
    pub(crate) gate: Gates,
    /// The words that set it; empty where a sign or a shape does.
    pub(crate) cue: Range<usize>,
    /// The words that it holds for.
    pub(crate) scope: Range<usize>,
}

/// Words after which "I'm" is still no question: "am" and its like count only with a subject behind them.
const INVERSION_REACH: usize = 4;
/// Words of a tag such as "¿no?" or "¿no crees?". Source: own choice.
const LONGEST_TAG: usize = 2;

/// Returns every mark of a sentence.
pub(crate) fn marks(reading: &Reading<'_>, pack: &GatePack) -> Vec<Mark> {
    let mut marks = Vec::new();
    let all = 0..reading.words.len();
    let masked = masked(&reading.words, pack);
    cued(reading, pack, &masked, &mut marks);
    questions(reading, pack, &mut marks);
    orders(reading, pack, &masked, &mut marks);
    let whole = |gate| Mark { gate, cue: 0..0, scope: all.clone() };
    for (gate, holds) in [
        (Gates::REPORTED, has_quotation(reading.text, pack.quotation_words)),
        (Gates::SARCASM, plays_a_role(reading.text)),
        (Gates::QUOTED, is_copied(reading.text)),
    ] {
        if holds {
            marks.push(whole(gate));
        }
    }
    marks
}

/// Returns which words belong to a phrase that only looks like a cue.
fn masked(words: &[Word<'_>], pack: &GatePack) -> Vec<bool> {
    let mut masked = vec![false; words.len()];
    pack.pseudo.find(words, |(), places| {
        masked.iter_mut().take(places.end).skip(places.start).for_each(|mask| *mask = true);
    });
    masked
}

fn cued(reading: &Reading<'_>, pack: &GatePack, masked: &[bool], marks: &mut Vec<Mark>) {
    pack.cues.find(&reading.words, |(gate, reach), cue| {
        let is_month = cue.len() == 1
            && reading.words.get(cue.start).is_some_and(|word| is_may_the_month(word, reading.text));
        if masked.get(cue.start).copied().unwrap_or(true) || is_month {
            return;
        }
        let scope = match reach {
            Reach::Whole => 0..reading.words.len(),
            Reach::Sentence => cue.start..reading.next_break(cue.end, Break::Terminator),
            Reach::Around => {
                reading.last_break(cue.start, Break::Start)..reading.next_break(cue.end, Break::Start)
            }
            Reach::Clause => cue.start..reading.next_break(cue.end, Break::Start),
        };
        marks.push(Mark { gate, cue, scope });
    });
}

fn is_may_the_month(word: &Word<'_>, sentence: &str) -> bool {
    word.lower == "may" && !word.starts_clause && word.is_capitalised(sentence)
}

fn is_any(word: Option<&Word<'_>>, of: &Words) -> bool {
    word.is_some_and(|word| of.contains(word.lower.as_ref()))
}

/// A question mark holds for the clause that asks; without one that looks so, for the sentence.
fn questions(reading: &Reading<'_>, pack: &GatePack, marks: &mut Vec<Mark>) {
    let words = &reading.words;
    let all = words.len();
    let shown = without_closing_marks(reading.text);
    let is_marked = shown.ends_with(['?', '？', '؟']) || reading.text.contains('¿');
    let mut asked = |scope: Range<usize>| marks.push(Mark { gate: Gates::QUESTION, cue: 0..0, scope });
    let is_ended = words.last().is_some_and(|word| pack.question.endings.contains(word.lower.as_ref()));
    pack.question.phrases.find(words, |(), places| asked(places.start..all));
    if let Some(tag) = tag_question(words, &pack.question.subjects) {
        return asked(reading.clause_before(tag)..all);
    }
    if let Some(at) = opened_question(reading) {
        return asked(at..all);
    }
    let starts: Vec<usize> = (0..all).filter(|at| reading.starts_clause(*at)).collect();
    if is_marked || is_ended {
        let is_shape = |at: &usize| {
            let at = skip(words, *at, &pack.question.lead);
            asks(words, at, pack, true) || at != 0 && is_any(words.get(at), &pack.question.openers)
        };
        let first = starts.iter().copied().find(is_shape);
        return match first {
            // "…, right?" asks for what was said before.
            Some(at) if at + 1 == all => asked(reading.clause_before(at)..all),
            Some(at) => asked(at..reading.next_reason(at)),
            None => asked(0..all),
        };
    }
    for at in starts {
        if asks(words, skip(words, at, &pack.question.lead), pack, false) {
            asked(at..reading.next_break(at + 1, Break::Start));
        }
    }
}

/// A question begins at its `¿`; one of a word or two ("¿verdad?") asks for all that stands before.
fn opened_question(reading: &Reading<'_>) -> Option<usize> {
    let mark = reading.text.find('¿')?;
    let first = reading.words.iter().position(|word| word.span.start > mark)?;
    Some(if reading.words.len() - first <= LONGEST_TAG { 0 } else { first })
}

fn skip(words: &[Word<'_>], at: usize, lead: &Words) -> usize {
    at + words.iter().skip(at).take_while(|word| lead.contains(word.lower.as_ref())).count()
}

/// Says whether the words from `at` on have the shape of a question.
#[expect(clippy::fn_params_excessive_bools, reason = "whether the sentence has its mark")]
fn asks(words: &[Word<'_>], at: usize, pack: &GatePack, is_marked: bool) -> bool {
    let q = &pack.question;
    let (first, second) = (words.get(at), words.get(at + 1));
    let is_subject =
        |word: Option<&Word<'_>>| is_any(word, &q.subjects) || is_marked && is_any(word, &q.wide_subjects);
    let after_not = |place: usize| {
        let is_not = words.get(place).is_some_and(|word| matches!(word.lower.as_ref(), "n't" | "not"));
        place + usize::from(is_not)
    };
    if is_any(first, &q.inverted) && is_subject(words.get(after_not(at + 1))) {
        return true;
    }
    if !is_any(first, &q.words) {
        return false;
    }
    is_any(second, &q.auxiliaries)
        || is_any(second, &q.measures)
            && words.iter().skip(at + 2).take(INVERSION_REACH).any(|word| is_any(Some(word), &q.inverted))
        || is_any(words.get(at + 2), &q.inverted) && is_subject(words.get(after_not(at + 3)))
}

/// "…, isn't it": an auxiliary with "n't" and a pronoun at the end after a comma.
fn tag_question(words: &[Word<'_>], subjects: &Words) -> Option<usize> {
    let [before @ .., auxiliary, not, pronoun] = words else { return None };
    let is_tag = auxiliary.starts_clause && not.lower == "n't" && subjects.contains(pronoun.lower.as_ref());
    (!before.is_empty() && is_tag).then_some(before.len())
}

fn orders(reading: &Reading<'_>, pack: &GatePack, masked: &[bool], marks: &mut Vec<Mark>) {
    let words = &reading.words;
    let order = &pack.imperative;
    let mut ordered = |from: usize| {
        let end = reading.next_order_end(from + 1);
        marks.push(Mark { gate: Gates::IMPERATIVE, cue: from..from, scope: from..end });
    };
    for (at, word) in words.iter().enumerate() {
        if order.please.contains(word.lower.as_ref()) && !masked.get(at).copied().unwrap_or(true) {
            ordered(reading.clause_at(at));
        }
        if !reading.starts_clause(at) {
            continue;
        }
        let from = skip(words, at, &order.lead);
        if masked.get(from).copied().unwrap_or(true) {
            continue;
        }
        let mut is_let = false;
        order.lets.find_at(words, from, |(), _| is_let = true);
        if is_let || is_order(words, from, pack) {
            ordered(at);
        }
    }
}

fn is_order(words: &[Word<'_>], from: usize, pack: &GatePack) -> bool {
    let order = &pack.imperative;
    let first = words.get(from);
    let is_not = |at: usize| words.get(at).is_some_and(|word| matches!(word.lower.as_ref(), "n't" | "not"));
    let is_denied = first.is_some_and(|word| word.lower == "do") && is_not(from + 1);
    let verb = if is_denied { from + 2 } else { from + usize::from(is_any(first, &order.polarity)) };
    let is_subject = is_any(words.get(verb + 1), &order.not_before) && !is_denied;
    is_any(words.get(verb), &order.verbs) && !is_subject
}

/// Quotation marks around several words are somebody's words, unless they look like a title.
fn has_quotation(sentence: &str, least: usize) -> bool {
    // A quotation that a sentence before opened.
    let before = sentence.split_once(['”', '」']).map_or("", |(before, _)| before);
    if !before.contains(['“', '「']) && signs(before) >= least {
        return true;
    }
    let mut rest = sentence;
    while let Some(open) = rest.find(['"', '“', '«', '„', '「']) {
        let after = rest.get(open..).unwrap_or_default();
        let Some(mark) = after.chars().next() else { return false };
        let after = after.get(mark.len_utf8()..).unwrap_or_default();
        let close: &[char] = match mark {
            '“' => &['”'],
            '«' => &['»'],
            '「' => &['」'],
            '„' => &['“', '”'],
            _ => &['"'],
        };
        let Some(end) = after.find(close) else { return signs(after) >= least };
        let said = after.get(..end).unwrap_or_default();
        let words = said.split_whitespace().count();
        let small = said.split_whitespace().filter(|word| word.starts_with(char::is_lowercase)).count();
        if signs(said) >= least || words >= least && small * 2 > words {
            return true;
        }
        rest =
            after.get(end..).and_then(|rest| rest.get(rest.chars().next()?.len_utf8()..)).unwrap_or_default();
    }
    false
}

/// Signs of scripts without spaces.
fn signs(text: &str) -> usize {
    text.chars().filter(|c| is_sign(*c)).count()
}

/// `*waves*`: single stars around a phrase in small letters, at the start or the end.
fn plays_a_role(sentence: &str) -> bool {
    let text = sentence.trim();
    let is_act =
        |act: &str| act.starts_with(|c: char| c.is_lowercase()) && act.split_whitespace().count() <= 6;
    let at_start =
        text.strip_prefix('*').and_then(|rest| rest.split_once('*')).is_some_and(|(act, _)| is_act(act));
    let at_end = text
        .strip_suffix('*')
        .and_then(|rest| rest.rsplit_once('*'))
        .is_some_and(|(before, act)| !before.ends_with('*') && is_act(act));
    at_start || at_end
}

fn is_copied(sentence: &str) -> bool {
    let text = sentence.trim_start();
    text.starts_with('>')
        || text.starts_with("//")
        || text.contains("</")
        || text.starts_with("Fwd:")
        || text.starts_with("```")
        || text.contains("://")
        || text.contains("```")
        || text.contains("www.")
}
