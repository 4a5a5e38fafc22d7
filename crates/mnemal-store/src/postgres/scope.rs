//! Adds the space to a statement: every row of a table belongs to one, and every key begins with it.
//!
//! The statements are written once and name no space, because a file has only one. Here
//!
//! - a table that is read becomes the rows of the space: `from event e` is `from (select * from event where space_id = $n) e`,
//!   which the planner merges into the query around it;
//! - `update` and `delete` get the space as the first condition;
//! - `insert` gets it as the first column and value, and `on conflict` as the first column of the key.
//!
//! The number of the space is the last parameter. Policies of the tables ask for the same, so that a statement that was
//! overlooked here returns and changes nothing.

use mnemal_core::{Error, Result};

use super::schema::TABLES;

/// A statement with the space.
#[derive(Debug, PartialEq)]
pub(super) struct ScopedText {
    pub(super) text: String,
    /// Parameters without the space, which comes after them.
    pub(super) parameters: usize,
}

/// Adds the space to a statement.
///
/// # Errors
/// `Internal` for a statement of another form.
pub(super) fn scoped(sql: &str) -> Result<ScopedText> {
    let tokens = tokens(sql);
    let parameters = parameters(&tokens);
    let mut writer = ScopeWriter {
        tokens: &tokens,
        at: 0,
        out: String::with_capacity(sql.len() * 2),
        placeholders: 0,
        space: parameters + 1,
        unknown: None,
    };
    match writer.next_word() {
        Some("insert") => writer.insert()?,
        Some("update") => writer.change("update", &["update"])?,
        Some("delete") => writer.change("delete", &["delete", "from"])?,
        _ => writer.rest(),
    }
    if let Some(table) = writer.unknown {
        return Err(Error::internal(format!("a statement reads the unknown table {table}")));
    }
    Ok(ScopedText { text: writer.out, parameters })
}

/// Splits a text into words, numbers, quoted texts, spaces and single signs.
fn tokens(sql: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = match first {
            '\'' => rest.match_indices('\'').nth(1).map_or(rest.len(), |(end, _)| end + 1),
            '$' => 1 + rest.chars().skip(1).take_while(char::is_ascii_digit).count(),
            _ if is_word(first) => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
            _ if first.is_whitespace() => rest.find(|char: char| !char.is_whitespace()).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let Some((token, behind)) = rest.split_at_checked(length) else { break };
        found.push(token);
        rest = behind;
    }
    found
}

/// Counts the parameters: bare ones, or the highest number.
fn parameters(tokens: &[&str]) -> usize {
    let bare = tokens.iter().filter(|token| **token == "?").count();
    let numbered = tokens.iter().filter_map(|token| token.strip_prefix('$')?.parse::<usize>().ok()).max();
    bare.max(numbered.unwrap_or_default())
}

/// Ends the condition of a statement.
const CLOSE: &str = ")";
/// Words that may follow a table and are no other name for it.
const NO_ALIAS: [&str; 12] = [
    "cross",
    "group",
    "having",
    "join",
    "left",
    "limit",
    "on",
    "order",
    "returning",
    "set",
    "union",
    "where",
];

/// Writes the statement anew, token by token.
struct ScopeWriter<'t> {
    tokens: &'t [&'t str],
    at: usize,
    out: String,
    /// Bare parameters so far.
    placeholders: usize,
    /// The number of the parameter with the space.
    space: usize,
    /// A table that is read and is none of the schema.
    unknown: Option<&'t str>,
}

impl<'t> ScopeWriter<'t> {
    /// Returns the next token that is no space, without taking it.
    fn next_word(&self) -> Option<&'t str> {
        self.tokens.iter().skip(self.at).find(|token| !token.trim().is_empty()).copied()
    }

    /// Takes a token as it is; a bare parameter gets its number.
    fn take(&mut self) -> Option<&'t str> {
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        if token == "?" {
            self.placeholders += 1;
            self.out.push('$');
            self.out.push_str(&self.placeholders.to_string());
        } else {
            self.out.push_str(token);
        }
        Some(token)
    }

    /// Takes tokens up to this one, and this one.
    fn take_to(&mut self, end: &str) -> Result<()> {
        while let Some(token) = self.take() {
            if token == end {
                return Ok(());
            }
        }
        Err(Error::internal(format!("a statement without {end}")))
    }

    /// Skips spaces, and this token.
    fn skip(&mut self) -> Option<&'t str> {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            if !token.trim().is_empty() {
                return Some(token);
            }
        }
        None
    }

    /// Takes one token; a table that is read becomes its rows of the space.
    fn step(&mut self) -> Option<&'t str> {
        let token = self.take()?;
        if matches!(token, "from" | "join") && self.reads_table() {
            let table = self.skip().unwrap_or_default();
            let is_alias = |word: &&str| {
                word.starts_with(|first: char| first.is_ascii_lowercase()) && !NO_ALIAS.contains(word)
            };
            let alias = match self.next_word().filter(is_alias) {
                Some("as") => {
                    self.skip();
                    self.skip()
                }
                Some(_) => self.skip(),
                None => Some(table),
            };
            let (space, alias) = (self.space.to_string(), alias.unwrap_or(table));
            self.push(&[" (select * from ", table, " where space_id = $", &space, ") ", alias]);
        }
        Some(token)
    }

    /// Whether a table of the schema comes next, and not a query, a function or a name of this statement.
    fn reads_table(&mut self) -> bool {
        let Some(word) = self.next_word() else { return false };
        if TABLES.contains(&word) {
            return true;
        }
        let named = self.tokens.iter().skip_while(|token| **token != "with").nth(2);
        if word != "(" && !word.starts_with("json_") && named.is_none_or(|name| *name != word) {
            self.unknown = Some(word);
        }
        false
    }

    fn rest(&mut self) {
        while self.step().is_some() {}
    }

    /// `insert into table (columns) values (…),(…)` or `select …`, then perhaps `on conflict (key) …`.
    fn insert(&mut self) -> Result<()> {
        self.take_to("(")?;
        self.out.push_str("space_id, ");
        self.take_to(")")?;
        let space = format!("${}, ", self.space);
        if self.next_word() == Some("select") {
            self.take_to("select")?;
            self.out.push(' ');
            self.out.push_str(&space);
        }
        let (mut depth, mut last) = (0_usize, "");
        while let Some(token) = self.step() {
            match token {
                "(" => {
                    if depth == 0 && matches!(last, "values" | ",") {
                        self.out.push_str(&space);
                    }
                    if depth == 0 && last == "conflict" {
                        self.out.push_str("space_id, ");
                    }
                    depth += 1;
                }
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !token.trim().is_empty() {
                last = token;
            }
        }
        Ok(())
    }

    /// `update table …` or `delete from table …`, with one condition outside of parentheses or none.
    fn change(&mut self, what: &str, words: &[&str]) -> Result<()> {
        words.iter().try_for_each(|word| self.take_to(word))?;
        let table = self.next_word().filter(|word| TABLES.contains(word));
        let table = table.ok_or_else(|| Error::internal(format!("{what} of an unknown table")))?;
        let condition = format!("{table}.space_id = ${}", self.space);
        // Without a condition of its own the statement gets this one, else the end of the parenthesis around its own.
        let (mut depth, mut end) = (0_usize, format!(" where {condition}"));
        loop {
            if depth == 0 && self.next_word() == Some("returning") {
                self.push(&[&end]);
                self.out.push(' ');
                self.skip();
                self.out.push_str("returning");
                self.rest();
                return Ok(());
            }
            match self.step() {
                Some("(") => depth += 1,
                Some(")") => depth = depth.saturating_sub(1),
                Some("where") if depth == 0 && end != CLOSE => {
                    CLOSE.clone_into(&mut end);
                    self.push(&[" ", &condition, " and ("]);
                }
                Some(_) => {}
                None => {
                    self.push(&[&end]);
                    return Ok(());
                }
            }
        }
    }

    fn push(&mut self, parts: &[&str]) {
        self.out.extend(parts.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{removal, statement};

    fn check(sql: &str, expect: &str) {
        assert_eq!(scoped(sql).unwrap().text, expect);
    }

    #[test]
    fn a_table_that_is_read_is_its_rows_of_the_space() {
        check("select head from space", "select head from (select * from space where space_id = $1) space");
        check(
            "select a from event e join tally on e.seq = tally.seqs where e.id in (?,?) order by a limit ? + 0",
            "select a from (select * from event where space_id = $4) e join (select * from tally where space_id = $4) tally \
             on e.seq = tally.seqs where e.id in ($1,$2) order by a limit $3 + 0",
        );
        check(
            "with below (a) as (values (?)) select key from below cross join working where key = a",
            "with below (a) as (values ($1)) select key from below cross join (select * from working where space_id = $2) \
             working where key = a",
        );
        check("select substr('from event', $1)", "select substr('from event', $1)");
    }

    #[test]
    fn what_is_written_belongs_to_the_space() {
        check(
            "insert into tally (name, events) values (?,?),(?,?) on conflict (name) do update set events = tally.events + 1",
            "insert into tally (space_id, name, events) values ($5, $1,$2),($5, $3,$4) \
             on conflict (space_id, name) do update set events = tally.events + 1",
        );
        check(
            "insert into progress (layer) select $1 where exists (select 1 from progress where layer = $1)",
            "insert into progress (space_id, layer) select $2,  $1 where exists \
             (select 1 from (select * from progress where space_id = $2) progress where layer = $1)",
        );
    }

    #[test]
    fn what_is_changed_belongs_to_the_space() {
        check("delete from fact", "delete from fact where fact.space_id = $1");
        check(
            "delete from working where key = $1 or (key > $2)",
            "delete from working where working.space_id = $3 and ( key = $1 or (key > $2))",
        );
        check(
            "update space set head = head + $1 returning head",
            "update space set head = head + $1 where space.space_id = $2 returning head",
        );
        check(
            "update tally set events = gone.n from (select 1 as n from event where id in (?)) as gone where tally.name = gone.name",
            "update tally set events = gone.n from (select 1 as n from (select * from event where space_id = $2) event \
             where id in ($1)) as gone where tally.space_id = $2 and ( tally.name = gone.name)",
        );
        assert!(scoped("update unknown set a = 1").is_err());
        assert!(
            scoped("select a from unknown").is_err()
                && scoped("delete from fact where id in (select 1 from unknown)").is_err()
        );
    }

    // proves: AD-64, DF-89
    #[test]
    fn every_mention_of_a_table_in_a_statement_has_the_space() {
        for sql in statement::all().into_iter().chain(removal::all()) {
            let scoped = scoped(sql).unwrap();
            assert!(!scoped.text.contains('?'), "{sql}");
            let words = tokens(sql);
            let spaced: Vec<&str> = words.iter().copied().filter(|token| !token.trim().is_empty()).collect();
            let mentions = spaced.windows(2).filter(|pair| {
                matches!(pair[0], "from" | "join" | "into" | "update") && TABLES.contains(&pair[1])
            });
            let keys = spaced.windows(2).filter(|pair| *pair == ["on", "conflict"]).count();
            assert!(
                scoped.text.matches("space_id").count() == mentions.count() + keys,
                "{sql}\n{}",
                scoped.text
            );
        }
    }
}
