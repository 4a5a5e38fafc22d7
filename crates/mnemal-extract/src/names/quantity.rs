//! Quantities: a number with a unit, an amount of money, a percentage, a size.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

/// Units after a number, a line each; those of time are left to dates.
const UNITS: &str = include_str!("../../packs/names/units.txt");

/// Signs of currencies before or behind an amount. Source: the currency symbols of Unicode that chats write most.
const SIGNS: &str = "$€£¥₹₽₩₺₫₪₴฿";

/// Returns the quantities of a text by their place; they do not overlap.
pub(crate) fn quantities(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b.is_ascii_digit() || b >= 0xd9))
    {
        at += offset;
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            at += 1;
            continue;
        };
        if !c.is_numeric() || !is_start(text, at) {
            at += if c.is_numeric() { number_length(text, at).max(c.len_utf8()) } else { c.len_utf8() };
            continue;
        }
        let end = at + number_length(text, at).max(c.len_utf8());
        let free = found.last().map_or(0, |last: &Range<usize>| last.end);
        if let Some(range) = with_unit(text, at..end).filter(|range| range.start >= free) {
            at = range.end;
            found.push(range);
        } else {
            at = end;
        }
    }
    found
}

/// A number begins where no letter, digit, full stop or hyphen precedes it.
fn is_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|c| {
        let is_inside = c.is_alphanumeric() && !crate::names::identifier::is_unspaced(c);
        !is_inside && !matches!(c, '.' | '_' | '/' | ':' | ',')
    })
}

fn number_length(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let mut chars = rest.char_indices().peekable();
    let mut end = 0;
    while let Some((place, c)) = chars.next() {
        let goes_on = c.is_numeric()
            || matches!(c, '.' | ',' | '\u{a0}' | '\u{202f}' | '\'' | '’' | '/')
                && chars.peek().is_some_and(|&(_, next)| next.is_numeric());
        if !goes_on {
            break;
        }
        end = place + c.len_utf8();
    }
    end
}

fn with_unit(text: &str, number: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(..number.start).and_then(|before| before.chars().next_back());
    let sign = before.filter(|&c| SIGNS.contains(c));
    let start = number.start - sign.map_or(0, char::len_utf8);
    let has_sign = start < number.start;
    let after = text.get(number.end..)?;
    let spaces = after.len() - after.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']).len();
    let rest = after.get(spaces.min(2)..).filter(|_| spaces <= 1 || after.starts_with('\u{a0}'))?;
    let rest = if spaces == 0 { after } else { rest };
    let is_second_sign = has_sign && rest.starts_with(|c| SIGNS.contains(c));
    let unit = if is_second_sign { 0 } else { unit_length(rest, sign) };
    match (unit, has_sign) {
        (0, false) => None,
        (0, true) => Some(start..number.end),
        (unit, _) => Some(start..number.end + after.len() - rest.len() + unit),
    }
}

/// Returns the length of the unit that the text begins with.
fn unit_length(rest: &str, sign: Option<char>) -> usize {
    let Some(first) = rest.chars().next() else { return 0 };
    if matches!(first, '%' | '％' | '‰' | '°' | '"' | '″' | '′') || SIGNS.contains(first) {
        if first == '"'
            && !rest.get(1..).is_none_or(|after| after.starts_with([' ', '.', ',']) || after.is_empty())
        {
            return 0;
        }
        let degree =
            usize::from(first == '°' && rest.get(2..).is_some_and(|after| after.starts_with(['C', 'F'])));
        return if first == '"' { 0 } else { first.len_utf8() + degree };
    }
    if crate::names::identifier::is_unspaced(first) || ('\u{ac00}'..='\u{d7a3}').contains(&first) {
        let longest = (1..=4)
            .rev()
            .filter_map(|n| rest.char_indices().nth(n).map_or(Some(rest.len()), |(at, _)| Some(at)));
        return longest
            .filter_map(|end| rest.get(..end))
            .find(|word| units().contains(*word))
            .map_or(0, str::len);
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '²' | '³' | '\''))
        .unwrap_or(rest.len());
    let Some(word) = rest.get(..end) else { return 0 };
    let is_unit = |word: &str| {
        word.len() <= 24 && (units().contains(word) || units().contains(word.to_lowercase().as_str()))
    };
    if is_unit(word) || sign.is_some() && matches!(word, "k" | "K" | "M" | "bn" | "m") {
        return end + following(rest, end, &is_unit);
    }
    if matches!(word, "square" | "sq" | "cubic" | "fl" | "US") {
        let second = following(rest, end, &is_unit);
        return if second > 0 { end + second } else { 0 };
    }
    let short = word.find(['/', '\'']).unwrap_or(0);
    if short > 0 && rest.get(..short).is_some_and(is_unit) { short } else { 0 }
}

/// "million dollars", "square metres": a second word of the unit.
fn following(rest: &str, end: usize, is_unit: &dyn Fn(&str) -> bool) -> usize {
    let first = rest.get(..end).unwrap_or_default().to_lowercase();
    if !matches!(
        first.as_str(),
        "million"
            | "millions"
            | "billion"
            | "billions"
            | "thousand"
            | "square"
            | "sq"
            | "cubic"
            | "k"
            | "us"
            | "fl"
    ) {
        return 0;
    }
    let Some(next) = rest.get(end..).and_then(|after| after.strip_prefix(' ')) else { return 0 };
    let length = next.find(|c: char| !c.is_alphanumeric()).unwrap_or(next.len());
    if next.get(..length).is_some_and(is_unit) { length + 1 } else { 0 }
}

fn units() -> &'static HashSet<&'static str> {
    static ALL: OnceLock<HashSet<&'static str>> = OnceLock::new();
    ALL.get_or_init(|| UNITS.lines().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_its_unit_is_one_quantity() {
        let check = |text: &str| {
            quantities(text).into_iter().map(|at| text.get(at).unwrap()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(
            check("It cost $1,200.50 or 50 EUR, 20% off, 3 GB and 5km."),
            "$1,200.50|50 EUR|20%|3 GB|5km"
        );
        assert_eq!(
            check("£3k, 2.5 million dollars, 70 m², 21°C, 12 inches, €5m"),
            "£3k|2.5 million dollars|70 m²|21°C|12 inches|€5m"
        );
        assert_eq!(check("走了5公里，花了300元，3,000円、２０％"), "5公里|300元|3,000円|２０％");
        assert_eq!(check("5 км и 300 руб, 10 किलो"), "5 км|300 руб|10 किलो");
        assert_eq!(check("3 dogs, 10 am, 2 weeks, v1.2 km, in 2024 we, x86, 7:30"), "");
    }
}
