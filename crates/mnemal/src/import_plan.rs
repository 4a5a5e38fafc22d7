//! The plan of an import: which files of an archive it reads, and for whom it takes each speaker.

use mnemal_events::{Attribution, Format, ImportPreview};
use mnemal_extract::speaker_label;

/// Whether a file of this name may hold a history in a format. Files of an archive with other names need not be opened.
pub fn may_hold_history(name: &str, format: Format) -> bool {
    let known: &[&str] = match format {
        Format::MemoryMd => &[".md", ".jsonl"],
        Format::Obsidian => &[".md"],
        Format::RockBot => &[".json"],
        Format::GeminiTakeout => &[".json", ".html"],
        _ => &[".md", ".json", ".jsonl", ".af"],
    };
    // The name of an activity page depends on its user's language; other exports contain their own pages.
    let is_activity = format == Format::Auto && ends(name, ".html") && !ends(name, "chat.html");
    is_activity || known.iter().any(|end| ends(name, end))
}

fn ends(name: &str, end: &str) -> bool {
    name.len() >= end.len()
        && name.get(name.len() - end.len()..).is_some_and(|own| own.eq_ignore_ascii_case(end))
}

/// A speaker of an import, and for whom it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedSpeaker {
    /// The name, or the role of one without a name.
    pub name: String,
    /// Records of the speaker.
    pub records: u64,
    /// The `user`, a person with this `name`, an `other` person, the `assistant`, a `tool`, or `nobody`.
    pub whose: &'static str,
}

/// Returns the speakers of a previewed import, the one with the most records first. `owner` are the names of the space's owner.
pub fn expected_speakers(preview: &ImportPreview, owner: &[String]) -> Vec<ExpectedSpeaker> {
    let voices = UserSpeakers::new(preview, owner);
    let expected = |((name, whose), records): (&(String, Attribution), &u64)| ExpectedSpeaker {
        name: name.clone(),
        records: *records,
        whose: voices.whose(name, *whose),
    };
    let mut speakers: Vec<ExpectedSpeaker> = preview.speakers.iter().map(expected).collect();
    speakers.sort_by(|one, other| (other.records, &one.name).cmp(&(one.records, &other.name)));
    speakers
}

/// The speaker names of the user.
struct UserSpeakers<'v> {
    owner: &'v [String],
    /// Whether several people speak under names, so that the user cannot be identified.
    are_several: bool,
}

impl<'v> UserSpeakers<'v> {
    fn new(preview: &ImportPreview, owner: &'v [String]) -> Self {
        let is_voice = |(name, whose): &&(String, Attribution)| {
            *whose == Attribution::User && speaker_label(name).is_none()
        };
        let n_names = preview.speakers.keys().filter(is_voice).count();
        let has_user = preview
            .speakers
            .keys()
            .any(|(name, whose)| *whose == Attribution::User && speaker_label(name).is_some());
        Self { owner, are_several: n_names > 1 || n_names > 0 && has_user }
    }

    fn whose(&self, name: &str, whose: Attribution) -> &'static str {
        let is_owner = || self.owner.iter().any(|own| own.to_lowercase() == name.to_lowercase());
        let is_another = whose == Attribution::User
            && speaker_label(name).is_none()
            && !is_owner()
            && (self.are_several || !self.owner.is_empty());
        if is_another { "name" } else { whose.as_str() }
    }
}
