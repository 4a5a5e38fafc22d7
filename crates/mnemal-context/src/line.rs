//! One line of a context: who said it when, and what, as data.

use mnemal_core::{Civil, Fragment, Remark, Timestamp, Zone};

use crate::Format;
use crate::candidate::{is_standing, is_stated, is_step};
use crate::clean::clean_name;
use crate::escape::{json_string, xml_text};

/// Returns the line of a fragment with this cleaned text, without a line break.
pub(crate) fn line(format: Format, fragment: &Fragment, text: &str) -> String {
    let label = &fragment.label;
    let level = label.level.as_str();
    let date = label.at.civil(&label.zone).day_text();
    let id = fragment.record;
    let speaker = label.speaker.as_ref().and_then(|speaker| clean_name(speaker.as_str()));
    let space = label.space.as_ref();
    let remark = label.remark.map(Remark::as_str);
    let is_list = matches!(format, Format::Markdown | Format::Headed(_));
    let noted = || remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
    if is_step(fragment) && is_list {
        // What they are stands over all of them, level and id in the receipt; the day tells the course.
        let speaker = speaker.unwrap_or_else(|| level.to_owned());
        let space = space.map(|space| format!(", {space}")).unwrap_or_default();
        return format!("- {date} {speaker}{space}{}: {}", noted(), json_string(text));
    }
    if is_stated(fragment) && is_list {
        // Level and origin stand over all of them, the id in the receipt; the day tells how old a wish is.
        let speaker = speaker.filter(|speaker| !speaker.eq_ignore_ascii_case("user"));
        let speaker = speaker.map(|speaker| format!(" {speaker}")).unwrap_or_default();
        return format!("- {date}{speaker}{}: {}", noted(), json_string(text));
    }
    match format {
        Format::Markdown | Format::Headed(_) => {
            let space = space.map(|space| format!(", {space}")).unwrap_or_default();
            let speaker = speaker.map(|speaker| format!(", {speaker}")).unwrap_or_default();
            // Tasks and the agent's state have names and little room; their ids are in the receipt.
            let id = if is_standing(fragment) { String::new() } else { format!(", {id}") };
            let remark = remark.map(|remark| format!(", {remark}")).unwrap_or_default();
            format!("- [{level}, {date}{id}{space}{speaker}{remark}] {}", json_string(text))
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
