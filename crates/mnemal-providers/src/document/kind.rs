//! File kinds by extension.

use std::fmt;

/// What kind of file it is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Plain text, and what reads as well as plain text: logs, XML, YAML.
    Text,
    /// Markdown, perhaps with a front matter.
    Markdown,
    /// JSON.
    Json,
    /// Comma-separated values, or separated by semicolons, tabs or bars.
    Csv,
    /// A page of the web.
    Html,
    /// One message.
    Mail,
    /// A mailbox of many messages.
    Mailbox,
    /// A document of a word processor: DOCX.
    Word,
    /// A book: EPUB.
    Epub,
    /// PDF.
    Pdf,
    /// What only a model, or a program that the user names, can put into words.
    Medium(Medium),
}

/// What a file is that holds no text.
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
    /// Returns every ending that is known, in groups of kinds.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        ENDINGS.into_iter().map(|(ending, _)| ending)
    }

    /// Returns the kind of an ending, without its dot and in any case.
    pub fn of_ending(ending: &str) -> Option<Self> {
        ENDINGS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, kind)| kind)
    }

    /// Returns the kind of a file of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::of_ending(name.rsplit_once('.')?.1)
    }

    /// Whether it is read in a child process.
    pub fn is_guarded(self) -> bool {
        matches!(self, Self::Html | Self::Mail | Self::Mailbox | Self::Word | Self::Epub | Self::Pdf)
    }

    /// Returns the ending that stands for the kind; that of a medium is its name.
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
    /// Returns the name that a describing program is told.
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
