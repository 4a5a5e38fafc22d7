//! File kinds by extension.

use std::fmt;

/// The kind of a file.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Plain text, and formats that read like it: logs, XML, YAML.
    Text,
    /// Markdown, optionally with front matter.
    Markdown,
    /// JSON.
    Json,
    /// Comma-separated values, or separated by semicolons, tabs or bars.
    Csv,
    /// HTML.
    Html,
    /// A mail message.
    Mail,
    /// A mailbox of many messages.
    Mailbox,
    /// A document of a word processor: DOCX.
    Word,
    /// A book: EPUB.
    Epub,
    /// PDF.
    Pdf,
    /// A medium without text, which needs a model or a program that the user configures.
    Medium(Medium),
}

/// The medium of a file without text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Medium {
    /// A picture.
    Image,
    /// A recording of sound.
    Audio,
    /// A film.
    Video,
}

/// Extensions and kinds. Source: the file types of an earlier design (GA-08), and further document formats.
const ENDINGS: [(&str, Kind); 37] = [
    ("txt", Kind::Text),
    ("text", Kind::Text),
    ("log", Kind::Text),
    ("xml", Kind::Text),
    ("yaml", Kind::Text),
    ("yml", Kind::Text),
    ("md", Kind::Markdown),
    ("markdown", Kind::Markdown),
    ("json", Kind::Json),
    ("csv", Kind::Csv),
    ("tsv", Kind::Csv),
    ("html", Kind::Html),
    ("htm", Kind::Html),
    ("xhtml", Kind::Html),
    ("eml", Kind::Mail),
    ("mbox", Kind::Mailbox),
    ("docx", Kind::Word),
    ("epub", Kind::Epub),
    ("pdf", Kind::Pdf),
    ("png", Kind::Medium(Medium::Image)),
    ("jpg", Kind::Medium(Medium::Image)),
    ("jpeg", Kind::Medium(Medium::Image)),
    ("gif", Kind::Medium(Medium::Image)),
    ("webp", Kind::Medium(Medium::Image)),
    ("bmp", Kind::Medium(Medium::Image)),
    ("svg", Kind::Medium(Medium::Image)),
    ("mp3", Kind::Medium(Medium::Audio)),
    ("wav", Kind::Medium(Medium::Audio)),
    ("ogg", Kind::Medium(Medium::Audio)),
    ("flac", Kind::Medium(Medium::Audio)),
    ("m4a", Kind::Medium(Medium::Audio)),
    ("aac", Kind::Medium(Medium::Audio)),
    ("mp4", Kind::Medium(Medium::Video)),
    ("webm", Kind::Medium(Medium::Video)),
    ("mov", Kind::Medium(Medium::Video)),
    ("avi", Kind::Medium(Medium::Video)),
    ("mkv", Kind::Medium(Medium::Video)),
];

impl Kind {
    /// Returns every known extension, in groups of kinds.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        ENDINGS.into_iter().map(|(ending, _)| ending)
    }

    /// Returns the kind of an extension, without its dot and in any case.
    pub fn of_ending(ending: &str) -> Option<Self> {
        ENDINGS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, kind)| kind)
    }

    /// Returns the kind of a file by its name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::of_ending(name.rsplit_once('.')?.1)
    }

    /// Whether it is read in a child process.
    pub fn is_guarded(self) -> bool {
        matches!(self, Self::Html | Self::Mail | Self::Mailbox | Self::Word | Self::Epub | Self::Pdf)
    }

    /// Returns the main extension of the kind; for a medium its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Html => "html",
            Self::Mail => "eml",
            Self::Mailbox => "mbox",
            Self::Word => "docx",
            Self::Epub => "epub",
            Self::Pdf => "pdf",
            Self::Medium(medium) => medium.as_str(),
        }
    }
}

impl Medium {
    /// Returns the name that is passed to the describing program.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
