//! Patterns over the words of a sentence, written as lines of a pack.
//!
//! A line is a list of steps: `stop|quit ?{adverb} {acting}`.
//!
//! | step | matches |
//! |---|---|
//! | `word`, `one|other`, `{class}|word` | one word of these, or a class of words and phrases |
//! | `#`, `_`, `Aa` | a number; any word; a word with a capital inside the sentence |
//! | `~` | a word with content that the previous message has too |
//! | `%` | a number or a name where the previous message has another |
//! | `(a b|c)` | one of several lists of steps |
//! | `?step`, `?(a b)`, `*word` | the step or nothing; the word any number of times |
//! | `..3`, `...3` | up to three words of the same clause; of any clause |
//! | `^`, `$`, `,` | nothing, where a clause starts or ends, or a sign stands |
//! | `^^`, `$$`, `!!`, `…` | nothing, where the sentence starts, where it ends, behind several marks of shouting, behind an
//! ellipsis |
//! | `!word` | nothing, where the next word is none of these |
//! | `@` | nothing; what is asked for starts here, and ends at a second one |

use std::borrow::Borrow;
use std::cell::Cell;

use mnemal_core::{Error, Result};

use super::ids::Ids;
use super::lexicon::Lexicon;
use super::token::{NUMBER, Token, stands_alone};
use crate::prefilter::Prefilter;

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    node: Node,
    is_optional: bool,
    is_repeated: bool,
}

#[derive(Clone, Debug)]
enum Node {
    OneOf {
        words: Vec<u32>,
        classes: Vec<usize>,
        /// The words that it can start with; where any can, all.
        first: Prefilter,
    },
    Number,
    Any,
    Group(Vec<Branch>),
    Gap(Gap),
    Start,
    First,
    End,
    Last,
    Sign,
    Loud,
    Trailing,
    Said,
    Rival,
    Capital,
    Value,
    Not(Box<Item>),
}

/// One of several lists of steps.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    items: Vec<Item>,
    /// The words that it can start with; where any can, all.
    first: Prefilter,
}

impl Branch {
    pub(crate) fn new(items: Vec<Item>, lexicon: &Lexicon) -> Self {
        let mut first = Ids::default();
        let is_known = firsts(&items, lexicon, &mut first);
        let first = if is_known {
            first.iter().map(prefilter).fold(Prefilter::default(), Prefilter::with)
        } else {
            Prefilter::ALL
        };
        Self { items, first }
    }
}

/// Returns whether what can start with some words may match from a word on; without one only what starts with no word in
/// particular does.
fn may_start(first: Prefilter, token: Option<&Token>) -> bool {
    match token {
        Some(token) => first.meets(prefilter(token.id)),
        None => first == Prefilter::ALL,
    }
}

/// Words that may pass.
#[derive(Clone, Copy, Debug)]
struct Gap {
    most: usize,
    /// Signs that part clauses may pass too.
    crosses: bool,
}

impl Item {
    /// Returns the words of a step that consists only of words.
    pub(crate) fn as_words(&self) -> Option<&[u32]> {
        match &self.node {
            Node::OneOf { words, classes, .. }
                if classes.is_empty() && !self.is_optional && !self.is_repeated =>
            {
                Some(words)
            }
            _ => None,
        }
    }
}

/// Reads lines into steps.
pub(crate) struct Reader<'l> {
    lexicon: &'l mut Lexicon,
}

impl<'l> Reader<'l> {
    pub(crate) fn new(lexicon: &'l mut Lexicon) -> Self {
        Self { lexicon }
    }

    /// Reads one line.
    ///
    /// # Errors
    /// `Invalid` for an unknown class, or brackets that do not close.
    pub(crate) fn read(&mut self, line: &str) -> Result<Vec<Item>> {
        let spaced = spaced(line);
        let lists = self.lists(&mut spaced.split_whitespace(), 0)?;
        match <[Vec<Item>; 1]>::try_from(lists) {
            Ok([items]) => Ok(items),
            Err(_) => Err(Error::invalid(format!("a pack: `{line}` has a choice outside brackets"))),
        }
    }

    /// Reads up to the closing bracket, or to the end at depth 0.
    fn lists(&mut self, parts: &mut dyn Iterator<Item = &str>, depth: usize) -> Result<Vec<Vec<Item>>> {
        let mut lists = vec![Vec::new()];
        let mut is_optional = false;
        loop {
            let Some(part) = parts.next() else {
                return if depth == 0 { Ok(lists) } else { Err(Error::invalid("a pack: a bracket is open")) };
            };
            let items = match part {
                ")" => return Ok(lists),
                "|" => {
                    lists.push(Vec::new());
                    continue;
                }
                "?" => {
                    is_optional = true;
                    continue;
                }
                "(" => vec![Item {
                    node: drawn_together(self.lists(parts, depth + 1)?, self.lexicon),
                    is_optional,
                    is_repeated: false,
                }],
                word => self.step(word)?,
            };
            is_optional = false;
            if let Some(list) = lists.last_mut() {
                list.extend(items);
            }
        }
    }

    fn step(&mut self, part: &str) -> Result<Vec<Item>> {
        let bare = part.trim_start_matches(['*', '?']);
        let mut items = match bare {
            "^" => one(Node::Start),
            "^^" => one(Node::First),
            "!!" => one(Node::Loud),
            "…" => one(Node::Trailing),
            "~" => one(Node::Said),
            "%" => one(Node::Rival),
            "Aa" => one(Node::Capital),
            "$" => one(Node::End),
            "$$" => one(Node::Last),
            "," => one(Node::Sign),
            "@" => one(Node::Value),
            "#" => one(Node::Number),
            "_" => one(Node::Any),
            _ => match (bare.strip_prefix(".."), bare.strip_prefix('!')) {
                (Some(number), _) => one(gap(number)?),
                (None, Some(word)) => self
                    .words(word)?
                    .into_iter()
                    .take(1)
                    .flat_map(|item| one(Node::Not(Box::new(item))))
                    .collect(),
                (None, None) => self.words(bare)?,
            },
        };
        if let [item] = items.as_mut_slice() {
            let is_word = matches!(item.node, Node::OneOf { .. });
            (item.is_optional, item.is_repeated) =
                (bare.len() < part.len(), is_word && part.starts_with('*'));
        }
        Ok(items)
    }

    /// Reads `word|{class}`; a contraction and a text without spaces become several steps.
    fn words(&mut self, part: &str) -> Result<Vec<Item>> {
        let item = |words: Vec<u32>, classes: Vec<usize>, lexicon: &Lexicon| Item {
            node: one_of(words, classes, lexicon),
            is_optional: false,
            is_repeated: false,
        };
        if let Some(ids) = self.lexicon.spelled_out(part) {
            return Ok(ids.iter().map(|id| item(vec![*id], Vec::new(), self.lexicon)).collect());
        }
        let (mut words, mut classes, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for word in part.split('|') {
            if let Some(name) = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
                let class = self.lexicon.class_named(name);
                classes.push(class.ok_or_else(|| Error::invalid(format!("a pack: no class `{name}`")))?);
            } else if word.chars().any(stands_alone) && word.chars().count() > 1 {
                let chars = word.chars().map(|c| {
                    let id = self.lexicon.intern(&c.to_string());
                    item(vec![id], Vec::new(), self.lexicon)
                });
                lists.push(chars.collect());
            } else if word == "#" {
                words.push(NUMBER);
            } else {
                words.push(self.lexicon.intern(word));
            }
        }
        if lists.is_empty() {
            return Ok(vec![item(words, classes, self.lexicon)]);
        }
        if !words.is_empty() || !classes.is_empty() {
            lists.push(vec![item(words, classes, self.lexicon)]);
        }
        let lists = lists.into_iter().map(|list| Branch::new(list, self.lexicon)).collect();
        Ok(vec![Item { node: Node::Group(lists), is_optional: false, is_repeated: false }])
    }
}

/// Makes a step of one of these words, or of a word or phrase of one of these classes.
fn one_of(words: Vec<u32>, classes: Vec<usize>, lexicon: &Lexicon) -> Node {
    let of_words = words.iter().copied().map(prefilter).fold(Prefilter::default(), Prefilter::with);
    let first = classes.iter().filter_map(|class| lexicon.class(*class)).fold(of_words, |first, class| {
        let words = class.words.iter().map(prefilter);
        words.chain(class.phrases.iter().map(|phrase| phrase.first)).fold(first, Prefilter::with)
    });
    Node::OneOf { words, classes, first }
}

fn one(node: Node) -> Vec<Item> {
    vec![Item { node, is_optional: false, is_repeated: false }]
}

/// Reads what follows the first two points of a gap.
fn gap(number: &str) -> Result<Node> {
    let most = number.trim_start_matches('.').parse();
    let most = most.map_err(|_| Error::invalid(format!("a pack: `..{number}` is no gap")))?;
    Ok(Node::Gap(Gap { most, crosses: number.starts_with('.') }))
}

/// Sets brackets, and the signs of choice inside them, apart from the words.
fn spaced(line: &str) -> String {
    let mut depth = 0_usize;
    let mut spaced = String::with_capacity(line.len() * 2);
    for c in line.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c {
            '(' | ')' => spaced.extend([' ', c, ' ']),
            '|' if depth > 0 => spaced.push_str(" | "),
            _ => spaced.push(c),
        }
    }
    spaced
}

/// Draws the lists of one word together into one step.
fn drawn_together(lists: Vec<Vec<Item>>, lexicon: &Lexicon) -> Node {
    let (mut of, mut of_classes, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        match list.as_slice() {
            [Item { node: Node::OneOf { words, classes, .. }, is_optional: false, is_repeated: false }] => {
                of.extend(words);
                of_classes.extend(classes);
            }
            _ => longer.push(list),
        }
    }
    if !of.is_empty() || !of_classes.is_empty() {
        let node = one_of(of, of_classes, lexicon);
        if longer.is_empty() {
            return node;
        }
        longer.insert(0, vec![Item { node, is_optional: false, is_repeated: false }]);
    }
    Node::Group(longer.into_iter().map(|list| Branch::new(list, lexicon)).collect())
}

/// Where a pattern matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit<T> {
    /// The tag of the pattern.
    pub(crate) tag: T,
    /// Its first word.
    pub(crate) from: usize,
    /// One past its last word.
    pub(crate) to: usize,
    /// Start of the requested value, if the pattern marks it.
    pub(crate) value: Option<usize>,
    /// End of the requested value, if the pattern marks it.
    pub(crate) value_end: Option<usize>,
}

/// One pattern.
#[derive(Debug)]
struct PatternLine<T> {
    tag: T,
    items: Vec<Item>,
    /// For each step that must stand, the words of which the sentence has one.
    needs: Vec<Prefilter>,
}

/// Patterns by the words that can start them.
#[derive(Debug)]
pub(crate) struct Patterns<T> {
    lines: Vec<PatternLine<T>>,
    /// The lines that each word can start, by its number.
    by_first: Vec<Vec<usize>>,
    /// Lines that any word can start: at the start of a sentence, of a clause, anywhere.
    at_first: Vec<usize>,
    at_start: Vec<usize>,
    anywhere: Vec<usize>,
    /// The lines that need a word or one of its like, by its number: of each line the words that fewest texts have.
    by_need: Vec<Vec<usize>>,
    /// The lines that need no word.
    needless: Ids,
}

impl<T> Default for Patterns<T> {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            by_first: Vec::new(),
            at_first: Vec::new(),
            at_start: Vec::new(),
            anywhere: Vec::new(),
            by_need: Vec::new(),
            needless: Ids::default(),
        }
    }
}

impl<T: Copy> Patterns<T> {
    /// Adds lines for a tag.
    ///
    /// # Errors
    /// As [`Reader::read`]; a line that matches nothing at all.
    pub(crate) fn add(&mut self, tag: T, lines: &[&str], lexicon: &mut Lexicon) -> Result<()> {
        for line in lines {
            let items = Reader::new(lexicon).read(line)?;
            let place = self.lines.len();
            let mut first = Ids::default();
            if firsts(&items, lexicon, &mut first) {
                for word in first.iter() {
                    put(&mut self.by_first, word, place);
                }
            } else {
                let places = match items.first().map(|item| &item.node) {
                    Some(Node::First) => &mut self.at_first,
                    Some(Node::Start) => &mut self.at_start,
                    _ => &mut self.anywhere,
                };
                places.push(place);
            }
            let needs: Vec<Ids> = needs(&items, lexicon).collect();
            match rarest(needs.iter(), lexicon) {
                Some(words) => words.iter().for_each(|word| put(&mut self.by_need, word, place)),
                None => self.needless.extend(u32::try_from(place)),
            }
            let needs = needs
                .iter()
                .map(|ids| ids.iter().map(prefilter).fold(Prefilter::default(), Prefilter::with))
                .collect();
            self.lines.push(PatternLine { tag, items, needs });
        }
        Ok(())
    }

    /// Returns the lines of which a sentence has the words that they need, with a few others; `None` if there are none.
    fn open(&self, tokens: &[Token]) -> Option<Ids> {
        let has = tokens.iter().map(|token| prefilter(token.id)).fold(Prefilter::default(), Prefilter::with);
        let is_open = |line: &PatternLine<T>| line.needs.iter().all(|need| need.meets(has));
        let mut open = (!self.needless.is_empty()).then(|| self.needless.clone());
        for token in tokens {
            let lines = self.by_need.get(token.id as usize).map(Vec::as_slice).unwrap_or_default();
            let lines = lines.iter().filter(|place| self.lines.get(**place).is_some_and(is_open));
            for place in lines.filter_map(|place| u32::try_from(*place).ok()) {
                open.get_or_insert_default().insert(place);
            }
        }
        open
    }

    /// Returns every place where a pattern matches, by position; a pattern gives its first match of each place.
    pub(crate) fn find(&self, tokens: &[Token], lexicon: &Lexicon) -> Vec<Hit<T>> {
        let hits = match self.open(tokens) {
            Some(open) => self.find_among(tokens, lexicon, |line| open.contains(line)),
            None => Vec::new(),
        };
        #[cfg(test)]
        {
            // Every test proves that what is passed over matches nowhere.
            let place = |hit: &Hit<T>| (hit.from, hit.to, hit.value);
            let all = self.find_among(tokens, lexicon, |_| true);
            assert_eq!(hits.iter().map(place).collect::<Vec<_>>(), all.iter().map(place).collect::<Vec<_>>());
        }
        hits
    }

    fn find_among(&self, tokens: &[Token], lexicon: &Lexicon, is_open: impl Fn(u32) -> bool) -> Vec<Hit<T>> {
        let mut hits = Vec::new();
        for (from, token) in tokens.iter().enumerate() {
            let known = self.by_first.get(token.id as usize).map(Vec::as_slice).unwrap_or_default();
            let first = if from == 0 { self.at_first.as_slice() } else { &[] };
            let start = if token.is_start { self.at_start.as_slice() } else { &[] };
            for place in known.iter().chain(first).chain(start).chain(&self.anywhere) {
                let is_open = u32::try_from(*place).is_ok_and(&is_open);
                let Some(line) = self.lines.get(*place).filter(|_| is_open) else { continue };
                let (value, value_end) = (Cell::new(None), Cell::new(None));
                let run = Run { lexicon, tokens, value, value_end, from };
                if let Some(to) = run.go(&line.items, None, from) {
                    let (value, value_end) = (run.value.get(), run.value_end.get());
                    hits.push(Hit { tag: line.tag, from, to, value, value_end });
                }
            }
        }
        hits
    }
}

impl<T> Patterns<T> {
    /// Returns for each line the words of which a sentence must have one wherever it matches, and those of which it must have one
    /// besides, if there are such; `None` where a line needs none.
    ///
    /// These are the words of the two steps that fewest texts have.
    pub(crate) fn keys(
        &self,
        lexicon: &Lexicon,
        has_tag: &dyn Fn(&T) -> bool,
    ) -> Option<Vec<(Ids, Option<Ids>)>> {
        let keys = |line: &PatternLine<T>| {
            let mut needed: Vec<Ids> = needs(&line.items, lexicon).collect();
            needed.sort_by_cached_key(|ids| ids.iter().map(|id| lexicon.frequency(id)).sum::<usize>());
            let mut needed = needed.into_iter();
            Some((needed.next()?, needed.next()))
        };
        self.lines.iter().filter(|line| has_tag(&line.tag)).map(keys).collect()
    }
}

/// Puts a line under a word.
fn put(lines: &mut Vec<Vec<usize>>, word: u32, line: usize) {
    let place = word as usize;
    if place >= lines.len() {
        lines.resize_with(place + 1, Vec::new);
    }
    if let Some(lines) = lines.get_mut(place) {
        lines.push(line);
    }
}

/// Returns the mark of a word by its number.
fn prefilter(id: u32) -> Prefilter {
    Prefilter::of(u64::from(id))
}

/// Returns the words of the step of a list that fewest texts have; `None` where every step may be missing or be any word.
fn needed(items: &[Item], lexicon: &Lexicon) -> Option<Ids> {
    rarest(needs(items, lexicon), lexicon)
}

/// Returns the words that fewest texts have.
fn rarest<I: Borrow<Ids>>(all: impl Iterator<Item = I>, lexicon: &Lexicon) -> Option<I> {
    all.min_by_key(|ids| ids.borrow().iter().map(|id| lexicon.frequency(id)).sum::<usize>())
}

/// Returns, for each step of a list that must stand and is of known words, these words.
fn needs(items: &[Item], lexicon: &Lexicon) -> impl Iterator<Item = Ids> {
    let must_stand = items.iter().filter(|item| !item.is_optional && !item.is_repeated);
    must_stand.filter_map(|item| words_of(&item.node, lexicon))
}

/// Returns the words of which one stands wherever a step matches; `None` for one that matches without.
fn words_of(node: &Node, lexicon: &Lexicon) -> Option<Ids> {
    let mut ids = Ids::default();
    let mut add = |list: &[Item]| needed(list, lexicon).map(|of| ids.unite(&of));
    match node {
        Node::OneOf { words, classes, .. } => {
            for class in classes.iter().filter_map(|class| lexicon.class(*class)) {
                class.phrases.iter().try_for_each(|list| add(&list.items))?;
            }
            let of_classes = classes.iter().filter_map(|class| lexicon.class(*class));
            of_classes.for_each(|class| ids.unite(&class.words));
            ids.extend(words.iter().copied());
        }
        Node::Group(lists) => lists.iter().try_for_each(|list| add(&list.items))?,
        Node::Number => ids.insert(NUMBER),
        _ => return None,
    }
    Some(ids)
}

/// Collects the words that a list of steps can start with; false when it can start with any word.
fn firsts(items: &[Item], lexicon: &Lexicon, words: &mut Ids) -> bool {
    for item in items {
        let is_known = match &item.node {
            Node::Start | Node::First | Node::Sign | Node::Value | Node::Not(_) => continue,
            Node::End
            | Node::Last
            | Node::Loud
            | Node::Trailing
            | Node::Said
            | Node::Rival
            | Node::Capital
            | Node::Any
            | Node::Gap(_) => return false,
            Node::Number => {
                words.insert(NUMBER);
                true
            }
            Node::Group(lists) => lists.iter().all(|list| firsts(&list.items, lexicon, words)),
            Node::OneOf { words: of, classes, .. } => {
                words.extend(of.iter().copied());
                classes.iter().filter_map(|class| lexicon.class(*class)).all(|class| {
                    words.unite(&class.words);
                    class.phrases.iter().all(|list| firsts(&list.items, lexicon, words))
                })
            }
        };
        if !is_known {
            return false;
        }
        if !item.is_optional {
            return true;
        }
    }
    false
}

/// The remaining steps after the present list.
struct Rest<'r> {
    items: &'r [Item],
    next: Option<&'r Rest<'r>>,
}

/// One attempt to match.
struct Run<'r> {
    lexicon: &'r Lexicon,
    tokens: &'r [Token],
    value: Cell<Option<usize>>,
    value_end: Cell<Option<usize>>,
    /// Where the attempt began: a gap there may pass a word behind a sign.
    from: usize,
}

impl Run<'_> {
    /// Returns the end of the first match of the steps and of what follows them.
    fn go(&self, items: &[Item], rest: Option<&Rest<'_>>, at: usize) -> Option<usize> {
        let Some((item, tail)) = items.split_first() else {
            return match rest {
                None => Some(at),
                Some(rest) => self.go(rest.items, rest.next, at),
            };
        };
        let after = Rest { items: if item.is_repeated { items } else { tail }, next: rest };
        let found = self.item(&item.node, &after, at);
        if found.is_none() && item.is_optional { self.go(tail, rest, at) } else { found }
    }

    fn item(&self, node: &Node, after: &Rest<'_>, at: usize) -> Option<usize> {
        let token = self.tokens.get(at);
        let next = |holds: bool, at: usize| if holds { self.go(after.items, after.next, at) } else { None };
        match node {
            Node::OneOf { first, .. } if !may_start(*first, token) => None,
            Node::OneOf { words, classes, .. } => {
                let is_word = token.is_some_and(|token| words.contains(&token.id));
                next(is_word, at + 1).or_else(|| self.classes(classes, after, at))
            }
            Node::Number => next(token.is_some_and(|token| token.id == NUMBER), at + 1),
            Node::Said => next(token.is_some_and(|token| token.is_said), at + 1),
            Node::Rival => next(token.is_some_and(|token| token.is_rival), at + 1),
            Node::Capital => next(token.is_some_and(|token| token.is_capital), at + 1),
            Node::Any => next(token.is_some(), at + 1),
            Node::Group(lists) => self.branches(lists, after, at),
            Node::Gap(gap) => self.gap(*gap, after, at),
            Node::Start => next(token.is_some_and(|token| token.is_start), at),
            Node::First => next(at == 0, at),
            Node::Not(item) => {
                let one = std::slice::from_ref(item.as_ref());
                next(self.go(one, None, at).is_none(), at)
            }
            Node::Loud => next(self.before(at).is_some_and(|token| token.is_loud), at),
            Node::Trailing => next(self.before(at).is_some_and(|token| token.is_trailing), at),
            Node::Last => next(token.is_none(), at),
            Node::End => next(token.is_none_or(|token| token.is_end), at),
            Node::Sign => next(token.is_none_or(|token| token.is_parted), at),
            Node::Value => {
                // The first of a pattern is where the value starts, the second where it ends.
                let cell = if self.value.get().is_none() { &self.value } else { &self.value_end };
                let before = cell.replace(Some(at));
                let found = next(true, at);
                if found.is_none() {
                    cell.set(before);
                }
                found
            }
        }
    }

    fn before(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_sub(1)?)
    }

    fn classes(&self, classes: &[usize], after: &Rest<'_>, at: usize) -> Option<usize> {
        classes.iter().filter_map(|place| self.lexicon.class(*place)).find_map(|class| {
            let is_word = self.tokens.get(at).is_some_and(|token| class.words.contains(token.id));
            let found = if is_word { self.go(after.items, after.next, at + 1) } else { None };
            found.or_else(|| self.branches(&class.phrases, after, at))
        })
    }

    fn branches(&self, branches: &[Branch], after: &Rest<'_>, at: usize) -> Option<usize> {
        let token = self.tokens.get(at);
        let open = branches.iter().filter(|branch| may_start(branch.first, token));
        open.into_iter().find_map(|branch| self.go(&branch.items, Some(after), at))
    }

    /// A word may pass when no sign precedes it, or the gap goes over signs.
    fn gap(&self, gap: Gap, after: &Rest<'_>, at: usize) -> Option<usize> {
        for place in at..=at + gap.most {
            if let Some(found) = self.go(after.items, after.next, place) {
                return Some(found);
            }
            if !self
                .tokens
                .get(place)
                .is_some_and(|token| gap.crosses || place == self.from || !token.is_parted)
            {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
