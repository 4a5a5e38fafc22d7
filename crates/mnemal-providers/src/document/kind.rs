//! File kinds by extension.

use std::fmt;

/// The kind of a file.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
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
const ENDINGS: [(&str, FileKind); 37] = [
    ("txt", FileKind::Text),
    ("text", FileKind::Text),
    ("log", FileKind::Text),
    ("xml", FileKind::Text),
    ("yaml", FileKind::Text),
    ("yml", FileKind::Text),
    ("md", FileKind::Markdown),
    ("markdown", FileKind::Markdown),
    ("json", FileKind::Json),
    ("csv", FileKind::Csv),
    ("tsv", FileKind::Csv),
    ("html", FileKind::Html),
    ("htm", FileKind::Html),
    ("xhtml", FileKind::Html),
    ("eml", FileKind::Mail),
    ("mbox", FileKind::Mailbox),
    ("docx", FileKind::Word),
    ("epub", FileKind::Epub),
    ("pdf", FileKind::Pdf),
    ("png", FileKind::Medium(Medium::Image)),
    ("jpg", FileKind::Medium(Medium::Image)),
    ("jpeg", FileKind::Medium(Medium::Image)),
    ("gif", FileKind::Medium(Medium::Image)),
    ("webp", FileKind::Medium(Medium::Image)),
    ("bmp", FileKind::Medium(Medium::Image)),
    ("svg", FileKind::Medium(Medium::Image)),
    ("mp3", FileKind::Medium(Medium::Audio)),
    ("wav", FileKind::Medium(Medium::Audio)),
    ("ogg", FileKind::Medium(Medium::Audio)),
    ("flac", FileKind::Medium(Medium::Audio)),
    ("m4a", FileKind::Medium(Medium::Audio)),
    ("aac", FileKind::Medium(Medium::Audio)),
    ("mp4", FileKind::Medium(Medium::Video)),
    ("webm", FileKind::Medium(Medium::Video)),
    ("mov", FileKind::Medium(Medium::Video)),
    ("avi", FileKind::Medium(Medium::Video)),
    ("mkv", FileKind::Medium(Medium::Video)),
];

impl FileKind {
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

impl fmt::Display for FileKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
