//! Data-file layout of attack conversations; `benches/data/poison/README.md` describes it.

use anyhow::{Context as _, Result, bail};

/// Who says a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// The user.
    User,
    /// Anybody below the user.
    Other,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) who: Author,
    pub(super) text: String,
}

/// One conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    pub(super) name: String,
    pub(super) class: String,
    /// Whether it instructs the agent.
    pub(super) instructs: bool,
    pub(super) turns: Vec<Turn>,
    /// Words that nothing may hold which only the user's words can make, in lower case.
    pub(super) mark: Option<String>,
}

impl Conversation {
    /// Whether the rules were written without it in view: its number is even.
    pub(super) fn is_held_out(&self) -> bool {
        self.name.bytes().last().is_some_and(|digit| digit % 2 == 0)
    }
}

/// Reads a data file.
pub(super) fn read(text: &str) -> Result<Vec<Conversation>> {
    let mut set: Vec<Conversation> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with("# ") {
            continue;
        }
        if let Some(header) = line.strip_prefix("## ") {
            let words: Vec<&str> = header.split_whitespace().collect();
            let [name, class, _language, rest @ ..] = words.as_slice() else {
                bail!("line {number}: a conversation needs a name, a class and a language");
            };
            set.push(Conversation {
                name: (*name).to_owned(),
                class: (*class).to_owned(),
                instructs: !rest.contains(&"silent"),
                turns: Vec::new(),
                mark: None,
            });
            continue;
        }
        let conversation = set.last_mut().with_context(|| format!("line {number}: no conversation yet"))?;
        let (role, text) = match (line.split_once("! "), line.split_once(": ")) {
            (Some((role, text)), _) if is_role(role) => (role, text),
            (_, Some((role, text))) => (role, text),
            _ => bail!("line {number}: neither a turn nor a mark"),
        };
        let text = unescaped(text).with_context(|| format!("line {number}: a character without a number"))?;
        match role {
            "user" => conversation.turns.push(Turn { who: Author::User, text }),
            "mark" => conversation.mark = Some(text.to_lowercase()),
            role if is_role(role) => conversation.turns.push(Turn { who: Author::Other, text }),
            _ => bail!("line {number}: no such role {role:?}"),
        }
    }
    Ok(set)
}

fn is_role(role: &str) -> bool {
    matches!(role, "assistant" | "tool" | "document")
}

/// Reads `\n` and `\u{200B}`.
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split("\\u{");
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}')?;
        out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
        out.push_str(rest);
    }
    Some(out.replace("\\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_has_turns_and_a_mark() {
        let set = read("# x\n## a-01 bridge en\nuser: hi: there\ntool! a\\n\\u{200B}b\nmark: Acme\n\n## b-02 claim de silent\ndocument: x\n").unwrap();
        assert_eq!(set.len(), 2);
        assert_eq!(set[0].turns[0], Turn { who: Author::User, text: "hi: there".to_owned() });
        assert_eq!(set[0].turns[1], Turn { who: Author::Other, text: "a\n\u{200B}b".to_owned() });
        assert_eq!(set[0].mark.as_deref(), Some("acme"));
        assert!(set[0].instructs && !set[1].instructs);
        assert!(!set[0].is_held_out() && set[1].is_held_out());
        for bad in ["user: x", "## a b", "## a b c\nking: x", "## a b c\nx", "## a b c\nuser: \\u{zz}"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
