//! Line rendering: day, speaker and text of a record, as data.

use mnemal_core::{Civil, Fragment, Level, Remark, Timestamp, Zone};

use crate::Format;
use crate::clean::clean_name;
use crate::escape::{json_string, xml_text};

/// Returns the line of a fragment with this cleaned text, without a line break and, in a list, without its number.
pub(crate) fn line(format: Format, fragment: &Fragment, text: &str) -> String {
    let label = &fragment.label;
    let level = label.level.as_str();
    let date = label.at.civil(&label.zone).day_text();
    let id = fragment.record;
    let speaker = label.speaker.as_ref().and_then(|speaker| clean_name(speaker.as_str()));
    let space = label.space.as_ref();
    let remark = label.remark.map(Remark::as_str);
    match format {
        Format::Markdown | Format::Cited | Format::Headed(_) => {
            // A line without a name means the user, so `user` is omitted.
            let speaker = speaker.filter(|speaker| !speaker.eq_ignore_ascii_case("user"));
            let speaker = speaker.or_else(|| (label.level == Level::Agent).then(|| level.to_owned()));
            let speaker = speaker.map(|speaker| format!(" {speaker}")).unwrap_or_default();
            let notes = [space.map(ToString::to_string), remark.map(str::to_owned)];
            let notes = notes.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
            let id = if format == Format::Cited { format!(" {id}") } else { String::new() };
            format!("{date}{speaker}{notes}{id} {}", json_string(text))
        }
        Format::Xml => {
            let speaker =
                speaker.map(|speaker| format!(" speaker=\"{}\"", xml_text(&speaker))).unwrap_or_default();
            let space = space.map(|space| format!(" space=\"{space}\"")).unwrap_or_default();
            let remark = remark.map(|remark| format!(" note=\"{remark}\"")).unwrap_or_default();
            let text = xml_text(text);
            format!(
                "<item level=\"{level}\" date=\"{date}\" id=\"{id}\"{space}{speaker}{remark}>{text}</item>"
            )
        }
        Format::Json => {
            let speaker =
                speaker.map(|speaker| format!("\"speaker\":{},", json_string(&speaker))).unwrap_or_default();
            let space = space.map(|space| format!("\"space\":\"{space}\",")).unwrap_or_default();
            let remark = remark.map(|remark| format!("\"note\":\"{remark}\",")).unwrap_or_default();
            let text = json_string(text);
            format!(
                "{{\"level\":\"{level}\",\"date\":\"{date}\",\"id\":\"{id}\",{space}{speaker}{remark}\"text\":{text}}}"
            )
        }
    }
}

/// Returns a line with its number, which the receipt resolves; the first line of a context is 1.
pub(crate) fn numbered(format: Format, number: usize, line: &str) -> String {
    match format {
        Format::Markdown | Format::Cited | Format::Headed(_) => format!("- {number} {line}"),
        Format::Xml | Format::Json => line.to_owned(),
    }
}

/// Returns the line number of a Markdown context line, which its receipt resolves; the first line is 1.
///
/// `None` for any other line.
pub fn line_number(line: &str) -> Option<usize> {
    let (number, rest) = line.strip_prefix("- ")?.split_once(' ')?;
    let mut date = rest.bytes();
    let is_dated = "dddd-dd-dd ".bytes().all(|form| {
        date.next().is_some_and(|byte| if form == b'd' { byte.is_ascii_digit() } else { byte == form })
    });
    let number = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    (is_dated && number > 0).then_some(number)
}

/// Returns the clock line, `now 2026-11-21 22:30 UTC`.
pub(crate) fn clock(now: Timestamp, zone: &Zone) -> String {
    let Civil { hour, minute, .. } = now.civil(zone);
    let name = clean_name(&zone.name).unwrap_or_else(|| {
        let minutes = zone.offset_seconds / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    });
    format!("now {} {hour:02}:{minute:02} {name}", now.civil(zone).day_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_knows_named_and_bare_zones() {
        let now = Timestamp::EPOCH.plus_micros(1_795_300_200_000_000);
        assert_eq!(clock(now, &Zone::utc()), "now 2026-11-21 22:30 UTC");
        let bare = Zone { name: String::new(), offset_seconds: -12_600 };
        assert_eq!(clock(now, &bare), "now 2026-11-21 19:00 -03:30");
    }
}
