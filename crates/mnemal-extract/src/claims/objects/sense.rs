//! Filter for objects that say too little.

use std::ops::Range;

use mnemal_core::EntityKind;
use mnemal_text::is_stop_word;

use super::{Cut, Cutter, language};
use crate::claims::remark::Reason;
use crate::claims::rule::Kind;
use crate::clause::Break;
use crate::gates::pack::Words;
use crate::names::is_only_product;

/// The predicate of homes.
const LIVES_IN: &str = "lives_in";
/// Most digits of a number that counts chapters, levels or rooms. Source: own choice; four are a year.
const COUNTED: usize = 3;
/// Signs of the commonest family names of China that a title may follow. Source: the yearly report of its Ministry of Public Security.
const FAMILY_NAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭\
                            陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔";
/// Titles behind a family name.
const TITLES: [&str; 16] = [
    "医生", "老师", "大夫", "律师", "教授", "师傅", "先生", "女士", "小姐", "经理", "主任", "护士", "教练",
    "校长", "博士", "医师",
];
/// Most words before a place that say how it lies: "near", "close to", "Nähe von". Source: own choice.
const PREPOSITIONS: usize = 2;

impl Cutter<'_, '_> {
    /// Returns words as an object if the rule accepts them and they say enough; `start` is their position including the
    /// article.
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    pub(super) fn check(&self, words: Range<usize>, start: usize, is_marked: bool) -> Result<Cut, Reason> {
        self.rejected(&words, start).map_or(Ok(()), Err)?;
        if !self.fits(&words, is_marked) {
            return Err(Reason::WrongKind);
        }
        let content = self.content(&words);
        if content < self.rule.least && !self.is_exact() {
            return Err(Reason::EmptyObject);
        }
        let head = self.head(&words);
        if self.is_generic(&words, head) || self.is_hollow(&words, content) {
            return Err(Reason::Generic);
        }
        if !self.is_listed(words.start, head) {
            return Err(Reason::WrongKind);
        }
        let is_bland = words.clone().any(|at| self.has(at, &self.words().bland));
        Ok(Cut { words, is_long: false, is_bland, content, head })
    }

    /// Returns the reason for rejecting the words: they contain a pronoun or a rejected word.
    fn rejected(&self, words: &Range<usize>, start: usize) -> Option<Reason> {
        let (pronouns, rule) = (&self.words().pronouns, self.rule);
        let holds = |of: &Words| words.clone().any(|at| self.has(at, of));
        let is_pronoun = holds(pronouns) || self.has(start, pronouns) && start == words.start;
        let is_first = |of: &Words| self.has(start, of) || self.has(words.start, of);
        // Of a rule that takes pronouns, "they/them" is what is told.
        if is_pronoun && !rule.takes_pronouns {
            return Some(Reason::Pronoun);
        }
        if rule.most.is_some_and(|most| words.len() > most) || !self.is_of_kinds(words) {
            return Some(Reason::WrongKind);
        }
        (holds(&rule.reject) || is_first(&rule.reject_first)).then_some(Reason::Rejected)
    }

    /// Returns whether a name is of the kinds of the rule, as far as its kind is known, and a number no part of a date.
    fn is_of_kinds(&self, words: &Range<usize>) -> bool {
        let kind = self.hints.kind_of(&self.reading.bytes(words));
        let is_dated = self.rule.kind == Kind::Number
            && self.hints.time_at(self.reading, words.start).is_some_and(|time| time.past.is_some());
        // "We moved to Slack": nobody lives in a program.
        let is_home = self.rule.predicate.as_str() == LIVES_IN;
        let is_made = match kind {
            Some(kind) => matches!(kind, EntityKind::Product | EntityKind::Work),
            None => self.is_listed_product(words),
        };
        let is_wrong = is_dated || is_home && (is_made || self.is_numbered(words) || self.is_beside(words));
        !is_wrong && kind.is_none_or(|kind| self.rule.kinds.is_empty() || self.rule.kinds.contains(&kind))
    }

    /// Returns whether a single word is listed as a program or a brand, and as no place. Names in a text of a script without
    /// spaces have no kind.
    fn is_listed_product(&self, words: &Range<usize>) -> bool {
        words.len() == 1 && is_only_product(self.reading.lower(words.start))
    }

    /// "I moved to Chapter 3": what is counted at the end of its clause is no place, as "Berlin 2019" is, and "Berlin 3 years
    /// ago".
    fn is_numbered(&self, words: &Range<usize>) -> bool {
        let is_number = |word: &str| word.len() <= COUNTED && word.bytes().all(|sign| sign.is_ascii_digit());
        let is_end = self.is_end(words.end + 1);
        words.len() == 1
            && self.reading.break_at(words.end) == Break::None
            && self.reading.words.get(words.end).is_some_and(|word| is_number(&word.lower))
            && is_end
    }

    /// "I live near Emden", "in der Nähe von Emden", "上海附近": who lives beside a town does not live in it.
    fn is_beside(&self, words: &Range<usize>) -> bool {
        let is_of = |class: &str, at: usize| {
            self.reading.words.get(at).is_some_and(|word| self.rules.is_of(class, &word.lower))
        };
        let before = words.start.saturating_sub(PREPOSITIONS)..words.start;
        before.into_iter().any(|at| is_of("near", at)) || is_of("near_behind", words.end)
    }

    /// Returns whether nothing around or at the start of the words shows that they are something else.
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    fn fits(&self, words: &Range<usize>, is_marked: bool) -> bool {
        let rule = self.rule;
        let is_noun = matches!(rule.kind, Kind::Thing | Kind::Phrase);
        let is_brand = rule.kind == Kind::Name && rule.predicate.as_str() == "owns";
        let is_other = is_noun && self.has(words.start, &self.words().not_first)
            || rule.is_light && !is_marked
            || is_brand && self.names_a_noun(words.start, words.end)
            || rule.is_last && !self.is_end(words.end)
            || self.is_under_way(words)
            || self.is_titled_name(words)
            || self.is_torn(words);
        !is_other
    }

    /// "I'm having trouble wrapping my head around it": a current activity is no job.
    fn is_under_way(&self, words: &Range<usize>) -> bool {
        let is_bare = words.start > 0 && !self.is_article(words.start - 1);
        self.rule.predicate.as_str() == "role"
            && !self.rule.with_verb
            && is_bare
            && self.rules.is_of("doing", self.reading.lower(words.start))
    }

    /// "Mi dentista es la doctora Ruiz", "我的牙医是王医生": a title before or behind a name tells who it is, not what somebody does.
    fn is_titled_name(&self, words: &Range<usize>) -> bool {
        if self.rule.predicate.as_str() != "role" {
            return false;
        }
        if self.rules.code == "zh" {
            let said = self.reading.text.get(self.reading.bytes(words)).unwrap_or_default();
            let mut signs = said.chars();
            return signs.next().is_some_and(|sign| FAMILY_NAMES.contains(sign))
                && TITLES.contains(&signs.as_str());
        }
        let has_name = words.len() > 1 && self.is_capital(words.start + 1) && !self.is_capital(words.start);
        matches!(self.rules.code, "es" | "fr" | "pt") && has_name
    }

    /// "I can read it tomorrow": an object that ends at a pronoun is no skill.
    fn is_torn(&self, words: &Range<usize>) -> bool {
        self.rule.predicate.as_str() == "skill"
            && self.reading.break_at(words.end) == Break::None
            && self.has(words.end, &self.words().pronouns)
    }

    /// Returns whether the head, or the first noun, is generic: "thing".
    fn is_generic(&self, words: &Range<usize>, head: usize) -> bool {
        let is_named = words.clone().any(|at| self.is_capital(at));
        let is_empty = self.has(head, &self.words().generic) && !self.rule.is_frequent && !is_named;
        // A habit begins with its verb: "go to the market". "Work at Almendro" says where, and is no habit.
        let begins = (!self.rule.is_frequent || is_named) && self.begins_generic(words);
        !self.is_exact() && (is_empty || begins)
    }

    /// Returns whether every content word is vague.
    fn is_hollow(&self, words: &Range<usize>, content: usize) -> bool {
        let hollow = words.clone().filter(|at| {
            self.is_content(*at) && self.has(*at, &self.words().hollow) && (!self.is_capital(*at) || *at == 0)
        });
        content > 0 && hollow.count() == content
    }

    /// Returns whether the first word and the head are in the lists of the rule.
    fn is_listed(&self, first: usize, head: usize) -> bool {
        let holds = |lists: &[Box<str>], at: usize| {
            lists.iter().any(|list| self.rules.lists(list, self.reading.lower(at)))
        };
        let rule = self.rule;
        (rule.first.is_empty() || holds(&rule.first, first))
            && (rule.head.is_empty() || holds(&rule.head, head))
            && !holds(&rule.not_head, head)
    }

    /// "Great time kayaking": a generic word after vague adjectives only.
    fn begins_generic(&self, words: &Range<usize>) -> bool {
        let object = self.words();
        let passes = |at: &usize| {
            self.has(*at, &object.hollow) || self.has(*at, &object.determiners) || self.is_number(*at)
        };
        let noun = words.start + words.clone().take_while(passes).count();
        let next = noun + 1;
        let is_alone = next >= words.end
            || self.has(next, &object.prepositions)
            || self.rules.is_of("doing", self.reading.lower(next));
        noun < words.end && self.has(noun, &object.generic) && is_alone
    }

    /// Nothing follows that could change the meaning of a bare number or name.
    fn is_end(&self, at: usize) -> bool {
        at >= self.reading.words.len()
            || self.reading.break_at(at) > Break::None
            || self.has(at, &self.words().joiners)
            || self.is_cut(at)
            || self.has(at, &self.rule.stop)
    }

    /// Counts the words of content.
    pub(super) fn content(&self, words: &Range<usize>) -> usize {
        words.clone().filter(|at| self.is_content(*at)).count()
    }

    /// Returns whether a word has content: no stop word, and no rest of a short form like "'s".
    pub(super) fn is_content(&self, at: usize) -> bool {
        self.reading.words.get(at).is_some_and(|word| {
            !is_stop_word(language(self.rules.code), &word.lower) && !word.lower.starts_with('\'')
        })
    }

    /// Returns the place of the head: the last word of content before the first preposition.
    pub(super) fn head(&self, words: &Range<usize>) -> usize {
        if self.words().is_head_first {
            let first = words.clone().find(|at| self.is_content(*at));
            return first.unwrap_or(words.start);
        }
        let is_preposition = |at: &usize| *at > words.start && self.has(*at, &self.words().prepositions);
        let end = words.clone().find(is_preposition).unwrap_or(words.end);
        let is_digits = |at: usize| self.reading.lower(at).bytes().all(|byte| byte.is_ascii_digit());
        let last = |range: Range<usize>| {
            let content = |at: &usize| self.is_content(*at) && !is_digits(*at);
            range.clone().rev().find(content).or_else(|| range.rev().find(|at| self.is_content(*at)))
        };
        last(words.start..end).or_else(|| last(words.clone())).unwrap_or(words.end.saturating_sub(1))
    }
}
