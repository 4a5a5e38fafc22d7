//! Positions and scopes of gate cues in a sentence.

use std::ops::Range;

use crate::clause::{AnalyzedSentence, Break};
use crate::gates::Gates;
use crate::gates::pack::{CueScope, GatePack, Words};
use crate::word::{Word, is_sign, without_closing_marks};

/// One cue of a gate in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The gate.
    pub(crate) gate: Gates,
    /// The words that set it; empty where a sign or a shape does.
    pub(crate) cue: Range<usize>,
    /// The words in its scope.
    pub(crate) scope: Range<usize>,
}

/// Words between a word that asks with a measure and its verb: "how many books are there". Source: own choice.
const INVERSION_REACH: usize = 4;
/// Words between a verb and its subject: "I have always". Source: own choice.
const SUBJECT_REACH: usize = 3;
/// Most words of a role-played action between asterisks: `*waves*`. Source: own choice; a longer text is emphasis.
const LONGEST_ACT: usize = 6;
/// Words of a tag such as "¿no?" or "¿no crees?". Source: own choice.
const LONGEST_TAG: usize = 2;

/// Returns every mark of a sentence.
pub(crate) fn marks(reading: &AnalyzedSentence<'_>, pack: &GatePack) -> Vec<Mark> {
    let mut marks = Vec::new();
    let all = 0..reading.words.len();
    let masked = pack.masked(&reading.words);
    cued(reading, pack, &masked, &mut marks);
    questions(reading, pack, &mut marks);
    orders(reading, pack, &masked, &mut marks);
    framed(reading, pack, &mut marks);
    for quoted in quotations(reading.text, pack.quotation_words) {
        let inside = |word: &Word<'_>| quoted.start <= word.span.start && word.span.start < quoted.end;
        let start = reading.words.iter().position(inside);
        let end = reading.words.iter().rposition(inside);
        if let (Some(start), Some(end)) = (start, end) {
            let speaker = if reading.is_behind_colon(start) { 0 } else { start };
            marks.push(Mark { gate: Gates::REPORTED, cue: 0..0, scope: speaker..end + 1 });
        }
    }
    let whole = |gate| Mark { gate, cue: 0..0, scope: all.clone() };
    for (gate, holds) in
        [(Gates::SARCASM, plays_a_role(reading.text)), (Gates::QUOTED, is_copied(reading.text))]
    {
        if holds {
            marks.push(whole(gate));
        }
    }
    marks
}

fn cued(reading: &AnalyzedSentence<'_>, pack: &GatePack, masked: &[bool], marks: &mut Vec<Mark>) {
    pack.cues.find(&reading.words, |(gate, reach), cue| {
        let is_month = cue.len() == 1
            && reading.words.get(cue.start).is_some_and(|word| is_may_the_month(word, reading.text));
        let is_torn =
            (cue.start + 1..cue.end).any(|at| matches!(reading.break_at(at), Break::Strong | Break::Halt));
        if masked.get(cue.start).copied().unwrap_or(true) || is_month || is_torn {
            return;
        }
        let is_of_others = matches!(reach, CueScope::Others | CueScope::OthersClause);
        if is_of_others && is_own(reading, pack, cue.start) {
            return;
        }
        let scope = match reach {
            CueScope::Whole => 0..reading.words.len(),
            CueScope::Before => 0..cue.end,
            CueScope::Splice => cue.start..reading.next_splice(cue.end),
            // "No sugar, I take honey": what is denied without a subject ends with its things.
            CueScope::Clause if gate == Gates::NEGATION && !has_subject(reading, pack, cue.start) => {
                cue.start..reading.next_after_list(cue.end)
            }
            CueScope::Clause if gate == Gates::END => cue.start..reading.next_begin(cue.end, pack),
            CueScope::Sentence if gate == Gates::REPORTED => cue.start..reading.next_other(cue.end, pack),
            CueScope::Sentence | CueScope::Others => cue.start..reading.next_break(cue.end, Break::Halt),
            CueScope::Around => {
                reading.last_break(cue.start, Break::Start)..reading.next_break(cue.end, Break::Start)
            }
            CueScope::Clause => cue.start..reading.next_break(cue.end, Break::Start),
            // "They list me as the owner": "as" begins no clause.
            CueScope::OthersClause => cue.start..reading.next_break(cue.end + 1, Break::Start),
        };
        marks.push(Mark { gate, cue, scope });
    });
}

/// Returns whether a subject is in the clause before a word.
fn has_subject(reading: &AnalyzedSentence<'_>, pack: &GatePack, at: usize) -> bool {
    (reading.clause_at(at)..at).any(|place| is_any(reading.words.get(place), &pack.subjects))
}

/// Returns whether the speaker is the subject of the verb at a word, or there is no subject: "I always thought", "also tell
/// them".
fn is_own(reading: &AnalyzedSentence<'_>, pack: &GatePack, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| reading.words.get(before));
    let leads = |word: &Word<'_>| pack.before_order.holds(word);
    if reading.starts_clause(at) || before.is_none_or(leads) {
        return true;
    }
    let places = (1..=SUBJECT_REACH).map_while(|back| at.checked_sub(back));
    for place in places {
        if is_any(reading.words.get(place), &pack.own_words) {
            return true;
        }
        if reading.break_at(place + 1) > Break::None || is_any(reading.words.get(place), &pack.subjects) {
            return false;
        }
    }
    false
}

/// "Patient wrote: I …": the words after a colon belong to the person named before it.
fn framed(reading: &AnalyzedSentence<'_>, pack: &GatePack, marks: &mut Vec<Mark>) {
    for at in 1..reading.words.len() {
        if !reading.is_behind_colon(at) {
            continue;
        }
        let start = reading.last_break(at - 1, Break::Strong);
        let before = reading.words.get(start..at).unwrap_or_default();
        let speaks = before.iter().any(|word| is_any(Some(word), &pack.before_colon));
        if speaks && !before.iter().any(|word| is_any(Some(word), &pack.own_words)) {
            marks.push(Mark { gate: Gates::REPORTED, cue: 0..0, scope: start..reading.words.len() });
            return;
        }
    }
}

fn is_may_the_month(word: &Word<'_>, sentence: &str) -> bool {
    word.lower == "may" && !word.starts_clause && word.is_capitalised(sentence)
}

fn is_any(word: Option<&Word<'_>>, of: &Words) -> bool {
    word.is_some_and(|word| of.holds(word))
}

/// A question mark applies to the asking clause; if none is recognized, to the sentence.
fn questions(reading: &AnalyzedSentence<'_>, pack: &GatePack, marks: &mut Vec<Mark>) {
    let words = &reading.words;
    let all = words.len();
    let shown = without_closing_marks(reading.text);
    let is_marked = shown.ends_with(['?', '？', '؟']) || reading.text.contains('¿');
    let mut asked = |scope: Range<usize>| marks.push(Mark { gate: Gates::QUESTION, cue: 0..0, scope });
    let is_ended = words.last().is_some_and(|word| pack.question.endings.holds(word));
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
            Some(at) if at + 1 == all || is_tail(words, at, pack) => {
                asked(reading.last_break(at.saturating_sub(1), Break::Strong)..all);
            }
            Some(at) => asked(at..reading.next_reason(at)),
            None => asked(0..all),
        };
    }
    for at in starts {
        if asks(words, skip(words, at, &pack.question.lead), pack, false) && !is_relative(reading, at, pack) {
            asked(at..reading.next_break(at + 1, Break::Start));
        }
    }
}

/// A question begins at its `¿`; one of a word or two ("¿verdad?") asks for all that precedes.
fn opened_question(reading: &AnalyzedSentence<'_>) -> Option<usize> {
    let mark = reading.text.find('¿')?;
    let first = reading.words.iter().position(|word| word.span.start > mark)?;
    Some(if reading.words.len() - first <= LONGEST_TAG { 0 } else { first })
}

fn skip(words: &[Word<'_>], at: usize, lead: &Words) -> usize {
    at + words.iter().skip(at).take_while(|word| lead.holds(word)).count()
}

/// Returns whether the words from `at` on have the shape of a question.
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

/// "…, is that right?" asks about the preceding statement.
fn is_tail(words: &[Word<'_>], at: usize, pack: &GatePack) -> bool {
    pack.question.tails.stand_at(words, skip(words, at, &pack.question.lead))
}

/// "…, who has a shop": a question word and a verb after a comma form a relative clause.
fn is_relative(reading: &AnalyzedSentence<'_>, at: usize, pack: &GatePack) -> bool {
    let is_asking = is_any(reading.words.get(at), &pack.question.words);
    let is_turned = is_any(reading.words.get(at + 2), &pack.question.subjects);
    at > 0 && is_asking && !is_turned && matches!(reading.break_at(at), Break::Comma | Break::Start)
}

/// "…, isn't it": an auxiliary with "n't" and a pronoun at the end after a comma.
fn tag_question(words: &[Word<'_>], subjects: &Words) -> Option<usize> {
    let [before @ .., auxiliary, not, pronoun] = words else { return None };
    let is_tag = auxiliary.starts_clause && not.lower == "n't" && subjects.contains(pronoun.lower.as_ref());
    (!before.is_empty() && is_tag).then_some(before.len())
}

fn orders(reading: &AnalyzedSentence<'_>, pack: &GatePack, masked: &[bool], marks: &mut Vec<Mark>) {
    let words = &reading.words;
    let order = &pack.imperative;
    let mut ordered = |from: usize| {
        let end = reading.next_order_end(from + 1);
        marks.push(Mark { gate: Gates::IMPERATIVE, cue: from..from, scope: from..end });
    };
    for (at, word) in words.iter().enumerate() {
        if order.please.holds(word) && !masked.get(at).copied().unwrap_or(true) {
            ordered(reading.joined_clause_at(at, pack));
        }
        if !reading.starts_clause(at) {
            continue;
        }
        let from = skip(words, at, &order.lead);
        if masked.get(from).copied().unwrap_or(true) {
            continue;
        }
        if order.lets.stand_at(words, from) || is_order(words, from, pack) {
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
    is_any(words.get(verb), &order.verbs) && !is_subject && !asks(words, from, pack, false)
}

/// Returns the byte range of quoted speech: several words between quotation marks that look like no title.
fn quotations(sentence: &str, least: usize) -> Vec<Range<usize>> {
    let mut found = single_quotations(sentence, least);
    // A quotation that a sentence before opened.
    let before = sentence.split_once(['”', '」']).map_or("", |(before, _)| before);
    if !before.contains(['“', '「']) && (signs(before) >= least || is_speech(before, least)) {
        found.push(0..before.len());
    }
    let mut from = 0;
    while let Some((open, mark)) = sentence
        .get(from..)
        .and_then(|rest| rest.char_indices().find(|(_, c)| matches!(c, '"' | '“' | '«' | '„' | '「')))
    {
        let open = from + open;
        let start = open + mark.len_utf8();
        let close: &[char] = match mark {
            '“' => &['”'],
            '«' => &['»'],
            '「' => &['」'],
            '„' => &['“', '”'],
            _ => &['"'],
        };
        let after = sentence.get(start..).unwrap_or_default();
        // 6" is a length, and a quotation may go on in the next sentence.
        let is_inch = mark == '"'
            && sentence.get(..open).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()));
        let end = after.find(close).map_or(sentence.len(), |end| start + end);
        if !is_inch && is_speech(sentence.get(start..end).unwrap_or_default(), least) {
            found.push(start..end);
        }
        let Some(mark) = sentence.get(end..).and_then(|rest| rest.chars().next()) else { break };
        from = end + mark.len_utf8();
    }
    found
}

/// Returns whether words are a sentence and no title: it ends like one, or most words have no capital; "I" and numbers have
/// none.
fn is_speech(said: &str, least: usize) -> bool {
    let words = said.split_whitespace().count();
    let is_small = |word: &&str| {
        let is_speaker = matches!(word.split(['\'', '’', ',']).next(), Some("I" | "We" | "My"));
        is_speaker || word.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit())
    };
    let small = said.split_whitespace().filter(is_small).count();
    let is_ended = said.trim_end().ends_with(['.', '!', '?', '…']);
    signs(said) >= least || words >= least && (is_ended || small * 2 > words)
}

/// Words between single quotation marks: 'i never said that'.
fn single_quotations(sentence: &str, least: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut opened = None;
    let mut before = ' ';
    for (at, c) in sentence.char_indices() {
        let next = sentence.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let is_mark = matches!(c, '\'' | '‘' | '’');
        if is_mark && (before.is_whitespace() || before == '(') && next.is_some_and(char::is_alphabetic) {
            opened = Some(at + c.len_utf8());
        } else if is_mark
            && !next.is_some_and(char::is_alphanumeric)
            && let Some(from) = opened.take()
            && is_speech(sentence.get(from..at).unwrap_or_default(), least)
        {
            found.push(from..at);
        }
        before = c;
    }
    found
}

/// Signs of scripts without spaces.
fn signs(text: &str) -> usize {
    text.chars().filter(|c| is_sign(*c)).count()
}

/// `*waves*`: single stars around a phrase in lower case, at the start or the end.
fn plays_a_role(sentence: &str) -> bool {
    let text = sentence.trim();
    let is_act = |act: &str| {
        act.starts_with(|c: char| c.is_lowercase()) && act.split_whitespace().count() <= LONGEST_ACT
    };
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
        || text.starts_with("# TODO")
        || text.starts_with('[') && text.chars().nth(1).is_some_and(|c| c.is_ascii_digit())
        || text.contains(" // ")
        || text.contains("___")
        || text.contains(" = \"")
        || text.contains(" = {")
        || text.starts_with("```")
        || text.contains("://")
        || text.contains("```")
        || text.contains("www.")
}
