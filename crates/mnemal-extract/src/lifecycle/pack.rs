//! A pack of rules for endings and durations, read from its file.

mod naming;

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter::once;
use std::ops::Range;

use mnemal_core::{Error, Result, RuleId, Span};
use mnemal_text::fold;

use super::keys::Keys;
use super::{EndedSide, Ending, EndingScope, Form, FormPart, FormWish, RuleDuration};
use crate::feedback::lexicon::Lexicon;
use crate::feedback::pattern::{Hit, Patterns};
use crate::feedback::token::{Token, stands_alone};
use crate::section::{PackFile, Section};
use crate::senses::WordSenses;

/// Most words that name a target. Source: own choice; a longer phrase is a story and no name.
const MOST_WORDS: usize = 6;
/// Words of a sentence among which something is named that ends, at most. Source: own choice, as for names.
const MOST_AMONG: usize = 16;

/// The rules of one language.
#[derive(Debug)]
pub(crate) struct LifecyclePack {
    pub(crate) language: String,
    lexicon: Lexicon,
    rules: Vec<EndingRule>,
    cues: Patterns<usize>,
    unless: Patterns<usize>,
    /// Phrases that prevent an ending anywhere in the sentence.
    closes: Patterns<()>,
    /// Words that end the name of a target.
    closes_words: Patterns<()>,
    /// Words of time, which name no target.
    times: Patterns<()>,
    /// Words of wishing, liking and suffering, which do not name the subject of a statement.
    framing: Patterns<()>,
    /// Words between two things of which each is meant: "the cello and the flute".
    joins: Patterns<()>,
    /// Words before a name that are no part of it.
    titles: Patterns<()>,
    /// Openers of a clause that asserts something although the sentence asks.
    presupposes: Patterns<()>,
    /// Whether words are joined at an apostrophe, as in French.
    elides: bool,
    /// Times of day and words for eating, which do not distinguish allowed from forbidden things.
    neutral: HashSet<String>,
    /// Words that name nothing.
    empty: HashSet<String>,
    /// Words that are at the end of others, before which these name a thing: the cats of a "Katzenallergie".
    heads: Vec<String>,
    /// Possessive endings of words: an ending of someone else's thing ends no fact of the user.
    owners: Vec<String>,
    /// Words before which such an ending is a short verb: "the ankle's as good as new".
    behind_verbs: Patterns<()>,
    holds: Patterns<RuleDuration>,
    unless_holds: Patterns<RuleDuration>,
    denials: Patterns<()>,
    forms: Patterns<Form>,
    /// Words that a wish of nothing but forms has besides.
    form_words: HashSet<String>,
}

/// One rule of endings.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the rule in its pack")]
struct EndingRule {
    id: RuleId,
    scope: EndingScope,
    side: EndedSide,
    /// Whether the target is within the match, before the ending words.
    is_front: bool,
    has_rest: bool,
    /// Whether the target must be a name.
    is_name: bool,
    /// Whether the target may be unnamed: "I was laid off" ends the job.
    is_bare: bool,
    /// Whether the target is named anywhere in the sentence.
    is_among: bool,
    /// Whether the target is named in the clause of the ending words alone, by a word of which the packs know the sense.
    is_by_sense: bool,
    /// Whether the target is named in the previous sentence: "Remember the bassoon? That's over."
    is_before: bool,
    /// Endings of a relation's belongings, or of the relation itself.
    is_of_role: bool,
    /// Targets that end where another of them is named: "back to English" ends what was said of other languages.
    others: Vec<String>,
    /// Targets of an unnamed ending: "I'm well again" ends a flu and a cough.
    things: Vec<String>,
    #[cfg(test)]
    examples: Vec<String>,
    #[cfg(test)]
    counters: Vec<String>,
}

impl EndingRule {
    fn read(section: Section<'_>) -> Result<Self> {
        let (scope, side) =
            (section.text("of")?.unwrap_or_default(), section.text("ends")?.unwrap_or_default());
        let is_of_role = matches!(scope, "relative" | "role");
        Ok(Self {
            id: RuleId::new(section.text("id")?.unwrap_or_default())?,
            is_of_role,
            is_among: section.flag("among")?,
            is_by_sense: section.flag("sense")?,
            is_before: section.flag("before")?,
            scope: EndingScope::from_name(scope).ok_or_else(|| unknown("scope", scope))?,
            side: EndedSide::from_name(side).ok_or_else(|| unknown("side", side))?,
            is_front: section.flag("front")?,
            has_rest: section.flag("rest")?,
            is_name: section.flag("name")?,
            is_bare: section.flag("bare")?,
            others: section.lines("others")?.into_iter().map(fold).collect(),
            things: section.lines("things")?.into_iter().map(fold).collect(),
            #[cfg(test)]
            examples: section.lines("examples")?.into_iter().map(str::to_owned).collect(),
            #[cfg(test)]
            counters: section.lines("counters")?.into_iter().map(str::to_owned).collect(),
        })
    }
}

impl RuleDuration {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "lasting" => Some(Self::Lasting),
            "answer" => Some(Self::Answer),
            "session" => Some(Self::Session),
            "period" => Some(Self::Period),
            _ => None,
        }
    }
}

fn unknown(kind: &str, name: &str) -> Error {
    Error::invalid(format!("a pack: `{name}` is no {kind}"))
}

impl LifecyclePack {
    /// Reads a pack.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    pub(crate) fn parse(language: &str, text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut lexicon = Lexicon::read(root)?;
        let (mut rules, mut cues, mut unless) = (Vec::new(), Patterns::default(), Patterns::default());
        for (place, section) in root.sections("ending")?.into_iter().enumerate() {
            cues.add(place, &section.lines("cue")?, &mut lexicon)?;
            unless.add(place, &section.lines("unless")?, &mut lexicon)?;
            rules.push(EndingRule::read(section)?);
        }
        let (mut holds, mut unless_holds) = (Patterns::default(), Patterns::default());
        for section in root.sections("duration")? {
            let name = section.text("span")?.unwrap_or_default();
            let span = RuleDuration::from_name(name).ok_or_else(|| unknown("span", name))?;
            holds.add(span, &section.lines("cue")?, &mut lexicon)?;
            unless_holds.add(span, &section.lines("unless")?, &mut lexicon)?;
        }
        let mut forms = Patterns::default();
        for section in root.sections("form")? {
            let name = section.text("name")?.unwrap_or_default();
            let form = Form::from_name(name).ok_or_else(|| unknown("form", name))?;
            forms.add(form, &section.lines("cue")?, &mut lexicon)?;
        }
        let mut list = |name: &str| -> Result<Patterns<()>> {
            let mut patterns = Patterns::default();
            patterns.add((), &root.lines(name)?, &mut lexicon)?;
            Ok(patterns)
        };
        let (closes, closes_words, denials) = (list("closes")?, list("closes_words")?, list("denials")?);
        let (presupposes, times) = (list("presupposes")?, list("times")?);
        let (framing, joins, titles) = (list("framing")?, list("joins")?, list("titles")?);
        let behind_verbs = list("behind_verbs")?;
        let set = |name: &str| -> Result<HashSet<String>> {
            Ok(root.lines(name)?.iter().flat_map(|line| line.split(' ')).map(fold).collect())
        };
        let (empty, form_words, neutral) = (set("empty")?, set("form_words")?, set("neutral")?);
        let owners = root.lines("owners")?.into_iter().map(str::to_owned).collect();
        let heads = root.lines("heads")?.into_iter().map(fold).collect();
        let language = language.to_owned();
        let elides = root.flag("elides")?;
        Ok(Self {
            language,
            lexicon,
            rules,
            cues,
            unless,
            closes,
            closes_words,
            times,
            framing,
            joins,
            titles,
            presupposes,
            elides,
            neutral,
            empty,
            heads,
            owners,
            behind_verbs,
            holds,
            unless_holds,
            denials,
            forms,
            form_words,
        })
    }

    /// Notes the words without which no sentence ends anything, as the pack at a place.
    pub(super) fn add_endings_to(&self, place: usize, keys: &mut Keys) {
        let is_strict = |rule: &usize| self.rules.get(*rule).is_none_or(|rule| !rule.is_by_sense);
        keys.add(place, &self.cues, &self.lexicon, &is_strict);
    }

    /// Notes the words without which no sentence ends anything that only its sense names, as the pack at a place.
    pub(super) fn add_endings_by_sense_to(&self, place: usize, keys: &mut Keys) {
        let is_by_sense = |rule: &usize| self.rules.get(*rule).is_some_and(|rule| rule.is_by_sense);
        keys.add(place, &self.cues, &self.lexicon, &is_by_sense);
    }

    /// Notes the words without which no sentence names a side of the form of an answer.
    pub(super) fn add_forms_to(&self, place: usize, keys: &mut Keys) {
        keys.add(place, &self.forms, &self.lexicon, &|_| true);
    }

    /// Returns the endings of a sentence; each scope and side once. A target referred to by "that" may be named in the previous
    /// sentence.
    pub(crate) fn endings(&self, text: &str, of: Range<usize>, before: Option<Range<usize>>) -> Vec<Ending> {
        let asks = is_question(text.get(of.clone()).unwrap_or_default());
        let spaced = self.spaced(text);
        let text = spaced.as_ref();
        let told = if asks { self.presupposed(text, of) } else { Some(of) };
        let Some(of) = told else { return Vec::new() };
        let tokens = self.lexicon.tokens(text, of.clone());
        let mut hits = self.cues.find(&tokens, &self.lexicon);
        if hits.is_empty() || !self.closes.find(&tokens, &self.lexicon).is_empty() {
            return Vec::new();
        }
        let unless = self.unless.find(&tokens, &self.lexicon);
        hits.retain(|hit| !unless.iter().any(|except| except.tag == hit.tag));
        hits.sort_by_key(|hit| (hit.tag, hit.from));
        let before = before.map(|before| self.lexicon.tokens(text, before)).unwrap_or_default();
        let said = (tokens.as_slice(), before.as_slice());
        let mut found: Vec<Ending> = Vec::new();
        for hit in &hits {
            let Some(ending) = self.ending(text, &of, said, hit) else { continue };
            let by_name = |thing: &String| Ending { words: vec![thing.clone()], ..ending.clone() };
            let is_other = |thing: &&String| !is_of_sense(thing, &ending.words);
            let rule = self.rules.get(hit.tag);
            let things = rule.into_iter().flat_map(|rule| &rule.things);
            let others = rule.into_iter().flat_map(|rule| &rule.others).filter(is_other);
            let named: Vec<Ending> = things.chain(others).map(by_name).collect();
            let mut named = if named.is_empty() { vec![ending] } else { named };
            named.extend(named.first().and_then(|ending| self.before_head(ending)));
            for ending in named {
                if !found.iter().any(|known| says_the_same(known, &ending)) {
                    found.push(ending);
                }
            }
        }
        if found.iter().any(|ending| ending.scope != EndingScope::Last && !ending.is_among) {
            found.retain(|ending| ending.scope != EndingScope::Last);
        }
        found
    }

    /// Returns an ending for the words before a head.
    fn before_head(&self, ending: &Ending) -> Option<Ending> {
        let words: Vec<String> = ending.words.iter().map(|word| self.without_head(word).to_owned()).collect();
        // What one bears again is no illness alone.
        let scope = if ending.scope == EndingScope::Illness { EndingScope::Own } else { ending.scope };
        (words != ending.words).then(|| Ending { scope, words, ..ending.clone() })
    }

    /// Returns the words before a head, or the word itself.
    fn without_head<'w>(&self, word: &'w str) -> &'w str {
        let mut before = self.heads.iter().filter_map(|head| word.strip_suffix(head.as_str()));
        before.find(|before| !before.is_empty()).unwrap_or(word)
    }

    fn ending(
        &self,
        text: &str,
        of: &Range<usize>,
        (tokens, before): (&[Token], &[Token]),
        hit: &Hit<usize>,
    ) -> Option<Ending> {
        let rule = self.rules.get(hit.tag)?;
        let naming = if rule.is_before { before } else { tokens };
        if rule.is_before
            && self.unless.find(before, &self.lexicon).iter().any(|except| except.tag == hit.tag)
        {
            return None;
        }
        let end = |from| if rule.is_front { hit.to } else { self.end(tokens, from) };
        let to = hit.value.map(|from| hit.value_end.unwrap_or_else(|| end(from)));
        let mut words = match (hit.value, to) {
            (Some(from), Some(to)) if rule.scope == EndingScope::Successor => {
                let said = || self.of_role(text.get(of.clone())?, Vec::new());
                let name = self.name(text, tokens, from..to);
                name.map(|name| once(name).chain(said().into_iter().flatten()).collect()).unwrap_or_default()
            }
            _ if rule.is_by_sense => self.words_by_sense(text, tokens, hit.from),
            _ if rule.is_among => self.all_words(text, naming),
            (Some(from), Some(to)) => self.words(text, tokens, (from..to, MOST_WORDS), &[]),
            _ => Vec::new(),
        };
        if rule.is_of_role && !rule.is_among {
            words = self.of_role(bytes(tokens, hit.value?, to?)?.of(text)?, words)?;
        }
        if rule.side == EndedSide::Leave {
            words.retain(|word| !self.neutral.contains(word) && !word.starts_with(char::is_numeric));
        }
        let cue = bytes(tokens, hit.from, hit.to.max(to.unwrap_or_default()))?;
        let is_named = || {
            let first = hit.value.and_then(|from| tokens.get(from)).map(|token| token.span.clone());
            first.and_then(|span| text.get(span)).is_some_and(|word| word.starts_with(is_name_start))
        };
        let named = if rule.is_among { Some((0, naming.len())) } else { hit.value.zip(to) };
        let is_owned = rule.scope.is_of_facts() && self.names_an_owner(text, naming, named);
        if rule.is_name && !is_named() || is_owned {
            return None;
        }
        // What names nothing ends nothing, but for kinds that end as a whole.
        let is_of_last = rule.scope == EndingScope::Last;
        if words.is_empty() && !is_of_last && !rule.is_bare || !words.is_empty() && is_of_last {
            return None;
        }
        let (start, end) = (u32::try_from(of.start).ok()?, u32::try_from(of.end).ok()?);
        Some(Ending {
            rule: rule.id.clone(),
            scope: rule.scope,
            side: rule.side,
            words,
            is_among: rule.is_among,
            has_rest: rule.has_rest,
            cue,
            span: Span { start, end },
        })
    }

    /// Returns the assertion at the start of a question: "Now that I've left Corvane, can you help me?".
    fn presupposed(&self, text: &str, of: Range<usize>) -> Option<Range<usize>> {
        let tokens = self.lexicon.tokens(text, of.clone());
        let begins = self.presupposes.find(&tokens, &self.lexicon).iter().any(|hit| hit.from == 0);
        let last = tokens.iter().rfind(|token| token.is_parted).filter(|_| begins)?;
        Some(of.start..last.span.start)
    }

    /// Whether some tokens say whose a thing is: "my neighbor's canoe".
    fn names_an_owner(&self, text: &str, tokens: &[Token], of: Option<(usize, usize)>) -> bool {
        let (from, to) = of.unwrap_or_default();
        let named = tokens.get(from..to).unwrap_or_default();
        // "It's" is spelled out, and says whose nothing is.
        let is_whole = |token: &Token| named.iter().filter(|other| other.span == token.span).count() == 1;
        let verbs = self.behind_verbs.find(tokens, &self.lexicon);
        let is_verb = |at: usize| verbs.iter().any(|hit| hit.from == from + at + 1);
        let owns = |word: &str| self.owners.iter().any(|ending| word.ends_with(ending.as_str()));
        let is_owner = |(at, token): (usize, &Token)| {
            is_whole(token) && text.get(token.span.clone()).is_some_and(owns) && !is_verb(at)
        };
        named.iter().enumerate().any(is_owner)
    }

    /// Returns whether a sentence has words of an ending, or such as rule one out: it is of this language then.
    pub(crate) fn is_known(&self, text: &str, of: Range<usize>) -> bool {
        let spaced = self.spaced(text);
        let tokens = self.lexicon.tokens(&spaced, of);
        !self.closes.find(&tokens, &self.lexicon).is_empty()
            || !self.cues.find(&tokens, &self.lexicon).is_empty()
    }

    /// Returns the end of the target's name that begins at a word: that of the clause.
    fn end(&self, tokens: &[Token], from: usize) -> usize {
        let closed = self.closes_words.find(tokens, &self.lexicon);
        let is_over = |at: &usize| {
            tokens.get(*at).is_none_or(|token| token.is_parted)
                || closed.iter().any(|close| close.from == *at)
        };
        (from + 1..=tokens.len()).find(is_over).unwrap_or(tokens.len())
    }

    /// Returns the text with spaces where words are written together; the places of its bytes stay as they are.
    fn spaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.elides {
            Cow::Owned(text.replace('\'', " ").replace('’', "   "))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Returns how long a sentence's statement holds, with the words that state it; the first kind of the pack wins.
    pub(crate) fn holds(&self, sentence: &str) -> Option<(RuleDuration, Span)> {
        let spaced = self.spaced(sentence);
        let tokens = self.lexicon.tokens(&spaced, 0..spaced.len());
        let mut hits = self.holds.find(&tokens, &self.lexicon);
        let unless = self.unless_holds.find(&tokens, &self.lexicon);
        hits.retain(|hit| !unless.iter().any(|except| except.tag == hit.tag));
        let hit = hits.into_iter().min_by_key(|hit| (hit.tag, hit.from))?;
        Some((hit.tag, bytes(&tokens, hit.from, hit.to)?))
    }

    /// Returns which sides of the form of an answer a sentence names, clause by clause.
    pub(crate) fn form_wish(&self, sentence: &str) -> FormWish {
        let spaced = self.spaced(sentence);
        let tokens = self.lexicon.tokens(&spaced, 0..spaced.len());
        let forms = self.forms.find(&tokens, &self.lexicon);
        if forms.is_empty() {
            return FormWish::default();
        }
        let mut wish = FormWish { parts: Vec::new(), is_pure: !tokens.is_empty() };
        for (from, to) in self.clauses(&tokens) {
            let here = forms.iter().filter(|hit| (from..to).contains(&hit.from));
            let form = here.map(|hit| hit.tag).min();
            let is_pure = self.is_of_form(&spaced, &tokens, (from, to), &forms);
            wish.is_pure &= is_pure;
            let Some((form, span)) = form.zip(bytes(&tokens, from, to)) else { continue };
            let denies = span.of(&spaced).is_some_and(|clause| self.denies(clause));
            let part = FormPart { form, denies, is_pure, span };
            match wish.parts.iter_mut().find(|one| one.form == form && form != Form::Marks) {
                Some(earlier) if part.is_pure && !earlier.is_pure => *earlier = part,
                Some(_) => {}
                None => wish.parts.push(part),
            }
        }
        wish
    }

    /// Returns the words with content of the clause around a word if the packs know the sense of one; else those of the clause
    /// before it: "The rhymes, you can stop them."
    fn words_by_sense(&self, text: &str, tokens: &[Token], at: usize) -> Vec<String> {
        let clauses = self.clauses(tokens);
        let place = clauses.iter().position(|(from, to)| (*from..*to).contains(&at)).unwrap_or_default();
        let named = |place: usize| {
            let (from, to) = clauses.get(place).copied()?;
            let words = self.all_words(text, tokens.get(from..to)?);
            words.iter().any(|word| !WordSenses::of(word).is_empty()).then_some(words)
        };
        named(place).or_else(|| named(place.checked_sub(1)?)).unwrap_or_default()
    }

    /// Returns the clauses of a sentence: from one sign, or word that joins, to the next.
    fn clauses(&self, tokens: &[Token]) -> Vec<(usize, usize)> {
        let mut clauses = Vec::new();
        let mut from = 0;
        for (at, token) in tokens.iter().enumerate() {
            let joins = self.lexicon.joins(token.id);
            if token.is_parted || joins {
                clauses.push((from, at));
                from = if joins { at + 1 } else { at };
            }
        }
        clauses.push((from, tokens.len()));
        clauses.retain(|(from, to)| from < to);
        clauses
    }

    /// Returns whether a clause concerns only the form of an answer.
    fn is_of_form(
        &self,
        text: &str,
        tokens: &[Token],
        (from, to): (usize, usize),
        forms: &[Hit<Form>],
    ) -> bool {
        (from..to).all(|at| {
            let word = tokens.get(at).and_then(|token| text.get(token.span.clone())).map(fold);
            forms.iter().any(|hit| (hit.from..hit.to).contains(&at))
                || word.is_some_and(|word| self.form_words.contains(&word))
        })
    }

    /// Returns whether a text denies or forbids.
    pub(crate) fn denies(&self, text: &str) -> bool {
        let spaced = self.spaced(text);
        let tokens = self.lexicon.tokens(&spaced, 0..spaced.len());
        !self.denials.find(&tokens, &self.lexicon).is_empty()
    }

    /// Returns the sentences of the pack by which its rules are tested: by rule those that end something, and those that do not.
    #[cfg(test)]
    pub(crate) fn tests(&self) -> impl Iterator<Item = (&RuleId, &[String], &[String])> {
        self.rules.iter().map(|rule| (&rule.id, rule.examples.as_slice(), rule.counters.as_slice()))
    }
}

/// Whether one of some words has the sense of another.
fn is_of_sense(word: &str, words: &[String]) -> bool {
    let senses = WordSenses::of(word);
    words.iter().any(|other| WordSenses::of(other).mean(&senses))
}

/// Whether two endings end the same.
fn says_the_same(one: &Ending, other: &Ending) -> bool {
    let kind = |ending: &Ending| (ending.scope, ending.side, ending.is_among);
    kind(one) == kind(other) && one.words == other.words
}

/// Returns the bytes of some tokens.
fn bytes(tokens: &[Token], from: usize, to: usize) -> Option<Span> {
    let (first, last) = (tokens.get(from)?, tokens.get(to.checked_sub(1)?)?);
    Some(Span { start: u32::try_from(first.span.start).ok()?, end: u32::try_from(last.span.end).ok()? })
}

/// Returns whether a sentence asks.
fn is_question(sentence: &str) -> bool {
    crate::word::without_closing_marks(sentence.trim()).ends_with(['?', '？'])
}

/// Returns whether a name may start with a sign: a capital, or one of a script without capitals.
fn is_name_start(sign: char) -> bool {
    sign.is_uppercase() || stands_alone(sign)
}
