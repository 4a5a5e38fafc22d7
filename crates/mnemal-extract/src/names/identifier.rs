//! Identifiers: addresses, links, handles, paths, versions, tickets, commits, hosts and packages.

use std::ops::Range;

/// Returns the identifiers of a text by their place; they do not overlap.
pub(crate) fn identifiers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for chunk in chunks(text) {
        let Some(word) = text.get(chunk.clone()) else { continue };
        if !may_hold(word) {
            continue;
        }
        let (start, bare) = bare(word);
        let start = chunk.start + start;
        if is_identifier(bare) {
            found.push(start..start + bare.len());
        } else if let Some((at, value)) = after_equals(bare)
            && is_identifier(value)
        {
            found.push(start + at..start + at + value.len());
        }
    }
    found
}

/// What white space separates; characters of scripts without spaces separate too.
fn chunks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let is_edge = |c: char| {
            c.is_whitespace()
                || !c.is_ascii()
                    && (is_unspaced(c) || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0c}'))
        };
        let tail = text.get(rest..)?;
        let start = rest + tail.find(|c| !is_edge(c))?;
        let length = text.get(start..)?.find(is_edge).unwrap_or(text.len() - start);
        rest = start + length;
        Some(start..rest)
    })
}

/// Characters of scripts that are written without spaces.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// A first look that most words do not pass.
fn may_hold(word: &str) -> bool {
    word.len() >= 3
        && word.bytes().any(|b| matches!(b, b'@' | b'/' | b'.' | b'_' | b':' | b'\\' | b'0'..=b'9'))
        && word.bytes().any(|b| b.is_ascii_alphanumeric())
}

/// Without brackets and closing signs around it; a closing bracket stays if its opening one is inside.
fn bare(word: &str) -> (usize, &str) {
    let opened = word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '*', '“', '‘', '«', '„']);
    let mut bare = opened;
    loop {
        let before = bare.len();
        bare = bare.trim_end_matches([
            '(', '[', '{', '.', ',', ';', ':', '!', '?', '"', '\'', '`', '*', '”', '’', '»', '…',
        ]);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
            if bare.ends_with(close) && bare.matches(close).count() > bare.matches(open).count() {
                bare = bare.get(..bare.len() - 1).unwrap_or(bare);
            }
        }
        for ending in ["'s", "’s"] {
            bare = bare.strip_suffix(ending).unwrap_or(bare);
        }
        if bare.len() == before {
            return (word.len() - opened.len(), bare);
        }
    }
}

/// The value of "key=value" and of "key:value".
fn after_equals(word: &str) -> Option<(usize, &str)> {
    let at = word.find(['=', ':'])? + 1;
    let value = word.get(at..)?;
    (!value.is_empty()).then_some((at, value))
}

fn is_identifier(word: &str) -> bool {
    word.len() <= 2_048
        && (is_link(word)
            || is_mail(word)
            || is_handle(word)
            || is_path(word)
            || is_version(word)
            || is_ticket(word)
            || is_commit(word)
            || is_host(word)
            || is_package(word))
}

fn is_link(word: &str) -> bool {
    if let Some((scheme, rest)) = word.split_once("://") {
        return (2..=12).contains(&scheme.len())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-'))
            && rest.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '['));
    }
    let is_www = word.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www."));
    is_www && word.get(4..).is_some_and(|rest| rest.contains('.')) || word.starts_with("mailto:")
}

fn is_mail(word: &str) -> bool {
    let Some((local, domain)) = word.rsplit_once('@') else { return false };
    !local.is_empty()
        && local.len() <= 64
        && local.chars().all(|c| c.is_alphanumeric() || ".!#$%&'*+/=?^_{|}~-".contains(c))
        && is_domain(domain)
}

fn is_domain(word: &str) -> bool {
    let mut labels = word.split('.');
    let last = labels.next_back().unwrap_or_default();
    let mut rest = labels.peekable();
    rest.peek().is_some()
        && (2..=24).contains(&last.len())
        && last.chars().all(char::is_alphabetic)
        && rest.all(|label| {
            !label.is_empty() && label.len() <= 63 && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        })
}

fn is_handle(word: &str) -> bool {
    let Some(name) = word.strip_prefix('@') else { return false };
    let name = name.split_once('@').filter(|(_, host)| is_domain(host)).map_or(name, |(name, _)| name);
    (2..=40).contains(&name.len())
        && name.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/'))
}

fn is_path(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| {
                c.is_alphanumeric()
                    || matches!(c, '.' | '_' | '-' | '+' | '@' | '*' | '~' | '$' | '{' | '}' | ' ')
            })
    };
    let starts = ["~/", "./", "../", "/"].iter().find_map(|start| word.strip_prefix(start));
    if let Some(rest) = starts {
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        let is_single = parts.len() < 2 && word.starts_with('/');
        return !parts.is_empty() && parts.iter().all(|part| is_name(part)) && (!is_single || rest.len() > 2);
    }
    let mut chars = word.chars();
    if let (Some(drive), Some(':'), Some('\\' | '/')) = (chars.next(), chars.next(), chars.next()) {
        return drive.is_ascii_alphabetic() && word.len() > 3;
    }
    if word.contains('/') {
        let parts: Vec<&str> = word.split('/').collect();
        let is_long =
            parts.len() >= 3 && parts.iter().all(|part| part.bytes().any(|b| b.is_ascii_lowercase()));
        return parts.iter().all(|part| is_name(part))
            && (is_long && word.contains(['_', '.', '-']) || has_extension(word));
    }
    has_extension(word)
}

/// Source: own choice, the endings of files that chats about work name.
const EXTENSIONS: [&str; 68] = [
    "rs", "py", "js", "ts", "jsx", "tsx", "go", "java", "kt", "rb", "php", "c", "h", "cpp", "hpp", "cs",
    "swift", "sh", "sql", "html", "css", "scss", "json", "yaml", "yml", "toml", "xml", "md", "txt", "csv",
    "tsv", "log", "ini", "cfg", "conf", "env", "lock", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
    "odt", "png", "jpg", "jpeg", "gif", "svg", "mp3", "mp4", "wav", "mov", "zip", "tar", "gz", "db",
    "sqlite", "ipynb", "tf", "vue", "svelte", "proto", "bak", "exe", "dll", "gradle",
];

fn has_extension(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    let name = stem.rsplit(['/', '\\']).next().unwrap_or_default();
    if stem.is_empty() || !EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) {
        return false;
    }
    // "Node.js" and "Vue.js" are names of frameworks.
    let is_framework = extension == "js" && name.chars().next().is_some_and(char::is_uppercase);
    !is_framework && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+'))
}

fn is_version(word: &str) -> bool {
    let (is_marked, rest) = match word.strip_prefix(['v', 'V']) {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let numbers = rest.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    let are_numbers = parts.iter().all(|part| {
        !part.is_empty() && part.len() <= 5 && part.bytes().all(|b| b.is_ascii_digit() || b == b'x')
    });
    // Three numbers of which the last has four digits are a date.
    let is_date = parts.len() == 3 && parts.iter().any(|part| part.len() == 4);
    are_numbers && numbers.bytes().any(|b| b.is_ascii_digit()) && !is_date && (is_marked || parts.len() >= 3)
}

fn is_ticket(word: &str) -> bool {
    if let Some(number) = word.strip_prefix('#') {
        return number.len() <= 7 && number.bytes().all(|b| b.is_ascii_digit());
    }
    let Some((project, number)) = word.split_once('-') else { return false };
    (2..=10).contains(&project.len())
        && project.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && project.bytes().next().is_some_and(|b| b.is_ascii_uppercase())
        && project.bytes().filter(u8::is_ascii_uppercase).count() >= 2
        && (1..=7).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
        && !matches!(
            project,
            "COVID" | "GPT" | "ISO" | "UTC" | "GMT" | "RFC" | "USB" | "SHA" | "UTF" | "AES" | "RTX" | "GTX"
        )
}

fn is_commit(word: &str) -> bool {
    (7..=64).contains(&word.len())
        && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().filter(u8::is_ascii_lowercase).count() >= 2
        || is_uuid(word)
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word
            .bytes()
            .enumerate()
            .all(|(at, b)| if matches!(at, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Source: own choice, the domains that a bare host name in a chat ends with.
const DOMAINS: [&str; 34] = [
    "com",
    "org",
    "net",
    "io",
    "dev",
    "app",
    "ai",
    "co",
    "uk",
    "de",
    "fr",
    "es",
    "it",
    "nl",
    "at",
    "ch",
    "eu",
    "edu",
    "gov",
    "info",
    "local",
    "internal",
    "lan",
    "localhost",
    "example",
    "test",
    "cloud",
    "xyz",
    "me",
    "tv",
    "gg",
    "sh",
    "us",
    "ca",
];

fn is_host(word: &str) -> bool {
    let (host, port) = match word.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (host, Some(port)),
        _ => (word, None),
    };
    let (host, path) = host.split_once('/').map_or((host, ""), |(host, path)| (host, path));
    if is_address(host) || host == "localhost" && port.is_some_and(|port| !port.is_empty()) {
        return true;
    }
    let is_known = host.rsplit_once('.').is_some_and(|(name, last)| {
        DOMAINS.contains(&last.to_ascii_lowercase().as_str())
            && !(last.chars().next().is_some_and(char::is_uppercase) && name.chars().any(char::is_lowercase))
            // "end.So", "cafe.it": a missing space after a full stop looks alike where the word is short.
            && (name.len() > 1 || !path.is_empty())
    });
    is_known && is_domain(host) && !host.starts_with(|c: char| c.is_uppercase())
}

/// Four numbers below 256.
fn is_address(word: &str) -> bool {
    let host = word.split('/').next().unwrap_or_default();
    let parts: Vec<&str> = host.split('.').collect();
    parts.len() == 4
        && parts.iter().all(|part| !part.is_empty() && part.len() <= 3 && part.parse::<u8>().is_ok())
}

/// `crate::path`, `@scope/name`, `snake_case`, `name==1.2`.
fn is_package(word: &str) -> bool {
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    if word.contains("::") {
        let mut parts = word.trim_end_matches("()").split("::");
        return parts.all(is_word);
    }
    let is_snake = word.contains('_') && !word.starts_with('_') && !word.ends_with('_');
    is_snake
        && word
            .trim_end_matches("()")
            .split('_')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_found_and_ordinary_words_are_not() {
        let check = |text: &str| {
            identifiers(text).into_iter().map(|at| text.get(at).unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            check("Mail ana.silva@mail.example, or (see https://a.example/x?y=(1))."),
            "ana.silva@mail.example https://a.example/x?y=(1)"
        );
        assert_eq!(check("ping @ana_s about PROJ-142 and #88"), "@ana_s PROJ-142 #88");
        assert_eq!(
            check("open src/main.rs or ~/notes/todo.md or C:\\Users\\ana\\x"),
            "src/main.rs ~/notes/todo.md C:\\Users\\ana\\x"
        );
        assert_eq!(
            check("we run v2.1 and 1.94.0 since 3f2a91c on db1.corp.internal:5432 and 10.0.0.7"),
            "v2.1 1.94.0 3f2a91c db1.corp.internal:5432 10.0.0.7"
        );
        assert_eq!(
            check("use std::fs::read or my_table in 你好 user@host.example 你好"),
            "std::fs::read my_table user@host.example"
        );
        assert_eq!(
            check(
                "and/or 3.5 10.30 12.05.2024 e.g. Node.js is ok... him/her 24/7 it.So 7:30 covid-19 1/2 deadbeef"
            ),
            ""
        );
    }
}
