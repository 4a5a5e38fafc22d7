//! The marker of a space: what is known of it without opening it.

use mnemal_core::Timestamp;

use crate::admin::AlwaysOn;

/// The content of a space's marker: lines of a name and a value. An empty marker means always-on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marker {
    /// Whether it is read together with every other one.
    pub(crate) is_on: bool,
    /// Minimum interval between two scheduled cycles, in minutes; `None` for that of the settings.
    pub(crate) interval_mins: Option<u32>,
    /// When it first became always-on.
    pub(crate) since: Option<Timestamp>,
    /// Speaker names of its owner.
    pub(crate) owner: Vec<String>,
}

impl Marker {
    /// Whether it makes its space always-on.
    pub(crate) fn always_on(&self) -> AlwaysOn {
        if self.is_on { AlwaysOn::Yes } else { AlwaysOn::No }
    }

    /// Reads a marker; lines that it does not know are left out.
    pub(crate) fn read(text: &str) -> Self {
        let mut marker = Self { is_on: true, ..Self::default() };
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            match (name.trim(), value.trim()) {
                ("active", value) => marker.is_on = value != "false",
                ("consolidate_interval_mins", value) => {
                    marker.interval_mins = value.parse().ok().filter(|mins| *mins > 0);
                }
                ("created_at_micros", value) => {
                    marker.since = value.parse().ok().and_then(|micros| Timestamp::from_micros(micros).ok());
                }
                ("owner", name) if !name.is_empty() => marker.owner.push(name.to_owned()),
                _ => {}
            }
        }
        marker
    }

    /// Returns the lines of the marker.
    pub(crate) fn render(&self) -> String {
        let interval = self.interval_mins.map(|mins| format!("consolidate_interval_mins = {mins}\n"));
        let since = self.since.map(|since| format!("created_at_micros = {}\n", since.as_micros()));
        let owner = self.owner.iter().fold(String::new(), |lines, name| lines + "owner = " + name + "\n");
        let (interval, since) = (interval.unwrap_or_default(), since.unwrap_or_default());
        format!("active = {}\n{interval}{since}{owner}", self.is_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_says_what_was_written_and_an_empty_one_that_the_space_is_on() {
        let since = Some(Timestamp::EPOCH.plus_micros(1_772_355_600_000_000));
        for marker in [
            Marker {
                is_on: true,
                interval_mins: Some(45),
                since,
                owner: vec!["Edda".to_owned(), "edda = 7".to_owned()],
            },
            Marker::default(),
        ] {
            assert_eq!(Marker::read(&marker.render()), marker);
        }
        let on = Marker { is_on: true, ..Marker::default() };
        for text in
            ["", "nonsense", "consolidate_interval_mins = 0", "created_at_micros = yesterday", "\0=\0"]
        {
            assert_eq!(Marker::read(text), on, "{text:?}");
        }
    }
}
