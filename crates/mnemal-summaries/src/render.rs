//! Text rendering of a summary.

use mnemal_core::SummaryLine;

/// Returns lines as text: one line per day, `2026-11-21 Ada: …`, with a name at each change of speaker.
pub fn render(lines: &[SummaryLine]) -> String {
    let mut text = String::new();
    let (mut day, mut speaker) = (None, None);
    for line in lines {
        let today = line.occurred_at.civil(&line.zone).day_text();
        if day.as_ref() == Some(&today) {
            text.push(' ');
        } else {
            text.push_str(if day.is_some() { "\n" } else { "" });
            text.push_str(&today);
            text.push(' ');
            (day, speaker) = (Some(today), None);
        }
        if let Some(name) = line.speaker.as_ref().filter(|name| speaker != Some(*name)) {
            text.push_str(name.as_str());
            text.push_str(": ");
        }
        speaker = line.speaker.as_ref();
        text.extend(
            line.text
                .split_whitespace()
                .enumerate()
                .flat_map(|(place, word)| [if place == 0 { "" } else { " " }, word]),
        );
    }
    text
}
