//! Expansion of command lines, variables and times in rows.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Splits a command line at spaces; what is between single or double quotes is one argument.
pub(super) fn split(line: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, _) if sign.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        bail!("a quote is not closed in {line}");
    }
    words.extend(word);
    Ok(words)
}

/// Puts variables into a text: `{name}` of an earlier answer, `{ago:15m}` the moment that long ago, `{ago-ms:1d}` the same in
/// milliseconds. Braces around anything else stay as they are.
pub(super) fn filled(text: &str, variables: &BTreeMap<String, String>) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let inner = after.split_once('}').and_then(|(name, behind)| Some((value(name, variables)?, behind)));
        if let Some((value, behind)) = inner {
            out.push_str(&value?);
            rest = behind;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The same in every text of a document.
pub(super) fn filled_within(value: &Value, variables: &BTreeMap<String, String>) -> Result<Value> {
    Ok(match value {
        Value::String(text) => Value::String(filled(text, variables)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| filled_within(item, variables)).collect::<Result<_>>()?)
        }
        Value::Object(fields) => {
            let pair =
                |(name, value): (&String, &Value)| Ok((name.clone(), filled_within(value, variables)?));
            Value::Object(fields.iter().map(pair).collect::<Result<_>>()?)
        }
        other => other.clone(),
    })
}

fn value(name: &str, variables: &BTreeMap<String, String>) -> Option<Result<String>> {
    if let Some(text) = name.strip_prefix("ago:") {
        return Some(ago(text).map(moment));
    }
    if let Some(text) = name.strip_prefix("ago-ms:") {
        return Some(ago(text).map(|seconds| format!("{seconds}000")));
    }
    if let Some(letters) = name.strip_prefix("filler:") {
        return Some(filler(letters));
    }
    variables.get(name).map(|value| Ok(value.clone()))
}

/// Returns a text of so many letters or a few more that says nothing.
fn filler(letters: &str) -> Result<String> {
    let letters: usize = letters.parse().context("a filler has a number of letters")?;
    let mut text = String::new();
    let mut line = 0_u64;
    while text.len() < letters {
        text.extend(["Line ", &line.to_string(), " of the list is empty. "]);
        line += 1;
        if line.is_multiple_of(10) {
            text.push_str("\n\n");
        }
    }
    Ok(text.trim_end().to_owned())
}

/// Returns the seconds since 1970 of the moment that long ago: `90s`, `15m`, `2h`, `7d`.
fn ago(text: &str) -> Result<u64> {
    let unit = text.chars().last().context("a time is a number and one of s, m, h and d")?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => bail!("a time is a number and one of s, m, h and d, not {text}"),
    };
    let number: u64 = text.trim_end_matches(unit).parse().with_context(|| text.to_owned())?;
    let long = Duration::from_secs(number * factor);
    let since = now().duration_since(UNIX_EPOCH)?.checked_sub(long).context("before 1970")?;
    Ok(since.as_secs())
}

#[expect(clippy::disallowed_methods, reason = "rows say how long ago something was")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Writes a moment as RFC 3339 in UTC. Source: the civil calendar in days, H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
fn moment(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        assert_eq!(split("recall  'a b' --x=\"c'd\" ''").unwrap(), ["recall", "a b", "--x=c'd", ""]);
        assert!(split("recall 'a").is_err());
    }

    #[test]
    fn variables_and_moments_are_put_in() {
        let variables = BTreeMap::from([("id".to_owned(), "evt_1".to_owned())]);
        assert_eq!(
            filled("x {id} {other} {\"a\": {id}", &variables).unwrap(),
            "x evt_1 {other} {\"a\": evt_1"
        );
        assert!(filled("{ago:1d}", &variables).unwrap().ends_with('Z'));
        assert!(filled("{ago:1w}", &variables).is_err());
        assert_eq!(moment(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(moment(1_795_890_061), "2026-11-28T18:21:01Z");
    }
}
