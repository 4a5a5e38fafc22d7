//! Rust text as the rules need it: code without comments and string contents, and which lines are test code.

/// A string literal of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    /// Line on which the literal begins, from 1.
    pub(crate) line: usize,
    /// The text between the quotes, escapes left as written.
    pub(crate) text: String,
}

/// A `//` comment of a source file, with its slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Line of the comment, from 1.
    pub(crate) line: usize,
    /// The whole comment, for example `// proves: GB-12`.
    pub(crate) text: String,
}

/// One Rust file, read without a parser.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The code, line by line; comments and the contents of strings are blanks.
    pub(crate) code: Vec<String>,
    /// The string literals, in order.
    pub(crate) literals: Vec<Literal>,
    /// The line comments, in order; doc comments are among them.
    pub(crate) comments: Vec<Comment>,
    test_lines: Vec<bool>,
}

impl Source {
    /// Reads a file; text that is not valid Rust gives a best effort and never fails.
    pub(crate) fn read(text: &str) -> Self {
        let mut lexer = Lexer {
            chars: text.chars().collect(),
            at: 0,
            line: 1,
            out: Self::default(),
            code: String::new(),
        };
        lexer.run();
        let mut source = lexer.out;
        source.code = lexer.code.lines().map(str::to_owned).collect();
        source.test_lines = test_lines(&source.code);
        source
    }

    /// Returns true if the line (from 1) is part of an item under `#[cfg(test)]`.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.get(line.saturating_sub(1)).copied().unwrap_or(false)
    }

    /// Returns the lines of code with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.iter().enumerate().map(|(at, line)| (at + 1, line.as_str()))
    }
}

/// Returns true if `line` contains `path` (for example `unsafe` or `Spaces::open`) with no identifier
/// character on either side.
pub(crate) fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, found)| {
        let before = line.get(..at).and_then(|s| s.chars().next_back());
        let after = line.get(at + found.len()..).and_then(|s| s.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Returns true for the characters of identifiers.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits one file into code, strings and comments, keeping the line structure.
struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    out: Source,
    code: String,
}

impl Lexer {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                '/' if self.peek(1) == Some('/') => self.line_comment(),
                '/' if self.peek(1) == Some('*') => self.block_comment(),
                '"' => self.string(),
                'r' | 'b' | 'c' if self.starts_string_prefix() => self.prefixed_string(),
                '\'' => self.quote(),
                _ => self.keep(c),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Takes a character into the code.
    fn keep(&mut self, c: char) {
        self.code.push(c);
        self.step(c);
    }

    /// Takes a character out of the code; a line break stays.
    fn blank(&mut self, c: char) {
        self.code.push(if c == '\n' { '\n' } else { ' ' });
        self.step(c);
    }

    fn step(&mut self, c: char) {
        self.at += 1;
        self.line += usize::from(c == '\n');
    }

    fn line_comment(&mut self) {
        let mut text = String::new();
        let line = self.line;
        while let Some(c) = self.peek(0).filter(|c| *c != '\n') {
            text.push(c);
            self.blank(c);
        }
        self.out.comments.push(Comment { line, text });
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.peek(0) {
            let next = self.peek(1);
            self.blank(c);
            if c == '/' && next == Some('*') {
                depth += 1;
                self.blank('*');
            } else if c == '*' && next == Some('/') {
                depth = depth.saturating_sub(1);
                self.blank('/');
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// True at `r"`, `r#"`, `b"`, `br#"` and their like, where no identifier comes before.
    fn starts_string_prefix(&self) -> bool {
        if self.at > 0 && self.chars.get(self.at - 1).copied().is_some_and(is_word) {
            return false;
        }
        let letters = self.prefix_letters();
        let hashes = self.hashes(letters);
        let raw = (0..letters).any(|ahead| self.peek(ahead) == Some('r'));
        self.peek(letters + hashes) == Some('"') && (raw || hashes == 0)
    }

    fn prefix_letters(&self) -> usize {
        (0..2).take_while(|ahead| matches!(self.peek(*ahead), Some('r' | 'b' | 'c'))).count()
    }

    fn hashes(&self, from: usize) -> usize {
        self.chars.iter().skip(self.at + from).take_while(|c| **c == '#').count()
    }

    fn prefixed_string(&mut self) {
        let letters = self.prefix_letters();
        let raw = (0..letters).any(|ahead| self.peek(ahead) == Some('r'));
        let hashes = self.hashes(letters);
        for _ in 0..letters + hashes {
            self.blank(' ');
        }
        if raw { self.raw_string(hashes) } else { self.string() }
    }

    fn raw_string(&mut self, hashes: usize) {
        let (line, mut text) = (self.line, String::new());
        self.keep('"');
        while let Some(c) = self.peek(0) {
            if c == '"' && self.hashes(1) >= hashes {
                self.keep('"');
                for _ in 0..hashes {
                    self.blank(' ');
                }
                break;
            }
            text.push(c);
            self.blank(c);
        }
        self.out.literals.push(Literal { line, text });
    }

    fn string(&mut self) {
        let (line, mut text) = (self.line, String::new());
        self.keep('"');
        while let Some(c) = self.peek(0) {
            if c == '"' {
                self.keep('"');
                break;
            }
            text.push(c);
            self.blank(c);
            if c == '\\'
                && let Some(escaped) = self.peek(0)
            {
                text.push(escaped);
                self.blank(escaped);
            }
        }
        self.out.literals.push(Literal { line, text });
    }

    /// A character literal is blanked, a lifetime is code.
    fn quote(&mut self) {
        self.keep('\'');
        if self.peek(0) == Some('\\') {
            self.blank('\\');
            if let Some(escaped) = self.peek(0) {
                self.blank(escaped);
            }
            while let Some(c) = self.peek(0).filter(|c| *c != '\'' && *c != '\n') {
                self.blank(c);
            }
            self.close_quote();
        } else if self.peek(1) == Some('\'')
            && let Some(c) = self.peek(0)
        {
            self.blank(c);
            self.close_quote();
        }
    }

    fn close_quote(&mut self) {
        if self.peek(0) == Some('\'') {
            self.keep('\'');
        }
    }
}

/// Marks the lines of items under `#[cfg(test)]` and of single functions under `#[test]`.
fn test_lines(code: &[String]) -> Vec<bool> {
    let mut marks = vec![false; code.len()];
    for (at, line) in code.iter().enumerate() {
        let opens = ["#[cfg(test)]", "#[cfg(all(test", "#[test]", "#[tokio::test"]
            .iter()
            .any(|mark| line.contains(mark));
        if opens && !marks.get(at).copied().unwrap_or(true) {
            let end = item_end(code, at);
            for mark in marks.iter_mut().take(end + 1).skip(at) {
                *mark = true;
            }
        }
    }
    marks
}

/// Returns the index of the line on which the item that begins at `from` ends: the closing brace of its
/// body, or its semicolon.
pub(crate) fn item_end(code: &[String], from: usize) -> usize {
    let (mut braces, mut others) = (0_i32, 0_i32);
    for (at, line) in code.iter().enumerate().skip(from) {
        for c in line.chars() {
            match c {
                '(' | '[' => others += 1,
                ')' | ']' => others -= 1,
                '{' => braces += 1,
                '}' => {
                    braces -= 1;
                    if braces <= 0 && others == 0 {
                        return at;
                    }
                }
                ';' if braces == 0 && others == 0 => return at,
                _ => {}
            }
        }
    }
    code.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_leave_the_code() {
        let source = Source::read(
            "let a = \"unsafe\"; // unsafe\n/* unsafe /* nested */ unsafe */ let b = r#\"x\"y\"#;\n",
        );
        assert!(source.lines().all(|(_, line)| !names(line, "unsafe")));
        assert!(source.code[1].contains("let b"));
        let texts: Vec<_> = source.literals.iter().map(|l| (l.line, l.text.as_str())).collect();
        assert_eq!(texts, [(1, "unsafe"), (2, "x\"y")]);
        assert_eq!(source.comments, [Comment { line: 1, text: "// unsafe".to_owned() }]);
    }

    #[test]
    fn quotes_of_characters_and_lifetimes_do_not_open_strings() {
        let source = Source::read(
            "fn f<'a>(x: &'a str) -> char { let _ = '\"'; let _ = '\\''; 'x' }\nlet s = b\"t\";\n",
        );
        assert_eq!(source.literals, [Literal { line: 2, text: "t".to_owned() }]);
    }

    #[test]
    fn identifiers_that_end_in_r_are_not_raw_strings() {
        let source = Source::read("concat!(for\"a\", \"b\\\"c\")");
        let texts: Vec<_> = source.literals.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(texts, ["a", "b\\\"c"]);
    }

    #[test]
    fn a_test_module_is_test_code_and_what_follows_is_not() {
        let source = Source::read("fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n");
        let marks: Vec<_> = (1..=6).map(|line| source.is_test_line(line)).collect();
        assert_eq!(marks, [false, true, true, true, true, false]);
    }

    #[test]
    fn names_respects_identifier_borders() {
        assert!(names("Spaces::open(x)", "Spaces::open"));
        assert!(!names("MySpaces::open(x)", "Spaces::open"));
        assert!(!names("Spaces::open_all()", "Spaces::open"));
    }
}
