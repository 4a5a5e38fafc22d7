//! Reader of one line or one JSON record at a time, of any length and any bytes.

use std::io::{BufRead, ErrorKind, Result};

use super::element::{ByteRole, Elements};

/// The reason why a line is unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineError {
    /// It is longer than this many bytes.
    TooLong(usize),
    /// It is malformed.
    Broken(String),
}

/// Reads lines of bounded length; a longer one is skipped to its end. A record of a JSON document counts as a line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
    /// Finds records where the file is one JSON document.
    elements: Option<Elements>,
    /// The start mark of each record if the file is a page; the next record begins at the next mark.
    mark: Option<&'static [u8]>,
    /// Number of the last line, from 1.
    pub(super) number: u64,
    /// Bytes up to the end of the last line.
    pub(super) offset: u64,
    /// Whether the last line had no end.
    pub(super) cut_off: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, elements: None, mark: None, number: 0, offset: 0, cut_off: false }
    }

    /// Reads the records of one JSON document instead of lines.
    pub(super) fn of_document(self, elements: Elements) -> Self {
        Self { elements: Some(elements), ..self }
    }

    /// Reads the text between marks instead of lines.
    pub(super) fn of_page(self, mark: &'static [u8]) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Returns the unit that `number` counts.
    pub(super) fn unit(&self) -> &'static str {
        if self.elements.is_some() || self.mark.is_some() { "record" } else { "line" }
    }

    /// Sets the number of bytes before the first line.
    pub(super) fn starting_at(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Returns the underlying reader.
    pub(super) fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the next line without its break, `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<std::result::Result<String, LineError>>> {
        let before = self.offset;
        let mut start = before;
        let (mut bytes, mut matched) = (Vec::new(), 0);
        self.cut_off = true;
        while self.cut_off {
            let chunk = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (from, end) = match (&mut self.elements, self.mark) {
                (None, None) => (Some(0), chunk.iter().position(|byte| *byte == b'\n')),
                (None, Some(mark)) => (Some(0), next_mark(mark, chunk, &mut matched)),
                (Some(elements), _) => next_record(elements, chunk, (!bytes.is_empty()).then_some(0)),
            };
            let taken = end.map_or(chunk.len(), |end| end + 1);
            let room = (self.longest + 3).saturating_sub(bytes.len());
            if bytes.is_empty() {
                start = self.offset + from.unwrap_or_default() as u64;
            }
            let kept = from.and_then(|from| chunk.get(from..taken)).unwrap_or_default();
            bytes.extend_from_slice(kept.get(..room.min(kept.len())).unwrap_or_default());
            self.reader.consume(taken);
            self.offset += taken as u64;
            self.cut_off = end.is_none();
        }
        if let Some(elements) = self.elements.as_mut().filter(|_| bytes.is_empty()) {
            if elements.is_closed() {
                return Ok(None);
            }
            elements.close();
            self.number += 1;
            return Ok(Some(Err(LineError::Broken("the document ends too early".to_owned()))));
        }
        if self.offset == before {
            return Ok(None);
        }
        if let Some(elements) = self.elements.as_mut().filter(|_| self.cut_off) {
            // What is cut off is no JSON, which says that the document ends too early.
            elements.close();
        }
        self.number += 1;
        Ok(Some(self.text(bytes, start)))
    }

    fn text(&self, mut bytes: Vec<u8>, start: u64) -> std::result::Result<String, LineError> {
        let breaks = bytes.iter().rev().take(2).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        bytes.truncate(bytes.len() - breaks);
        if bytes.len() > self.longest {
            return Err(LineError::TooLong(self.longest));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = start + error.utf8_error().valid_up_to() as u64;
            LineError::Broken(format!("invalid UTF-8 at byte {place} of the file"))
        })?;
        if self.number == 1
            && let Some(rest) = text.strip_prefix('\u{FEFF}')
        {
            return Ok(rest.to_owned());
        }
        Ok(text)
    }
}

/// Returns the end of a mark in a part of a page; `matched` bytes of it are before the part. The first byte of a mark occurs
/// only once in it.
fn next_mark(mark: &[u8], chunk: &[u8], matched: &mut usize) -> Option<usize> {
    chunk.iter().position(|byte| {
        *matched = match mark.get(*matched) {
            Some(next) if next == byte => *matched + 1,
            _ => usize::from(mark.first() == Some(byte)),
        };
        *matched == mark.len()
    })
}

/// Returns where a record starts and ends in a part of a document; `from` is its start if it began earlier.
fn next_record(
    elements: &mut Elements,
    chunk: &[u8],
    mut from: Option<usize>,
) -> (Option<usize>, Option<usize>) {
    for (place, byte) in chunk.iter().enumerate() {
        match elements.read(*byte) {
            ByteRole::Between => {}
            ByteRole::Inside => from = from.or(Some(place)),
            ByteRole::Last => return (from.or(Some(place)), Some(place)),
        }
    }
    (from, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], longest: usize) -> Vec<std::result::Result<String, LineError>> {
        let mut lines = Lines::new(std::io::BufReader::with_capacity(3, bytes), longest);
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn lines_end_with_any_break_and_the_last_needs_none() {
        let expect = ["a", "", "bc", "d"].map(|line| Ok(line.to_owned()));
        assert_eq!(read(b"\xEF\xBB\xBFa\n\nbc\r\nd", 100), expect);
        assert_eq!(read(b"", 100), []);
    }

    #[test]
    fn a_long_line_is_skipped_and_the_next_one_read() {
        assert_eq!(read(b"abcdefghijklmn\nab", 4), [Err(LineError::TooLong(4)), Ok("ab".to_owned())]);
        assert_eq!(read(b"abcd\r\nabcde", 4), [Ok("abcd".to_owned()), Err(LineError::TooLong(4))]);
    }

    #[test]
    fn records_of_a_document_are_read_like_lines() {
        let read = |text: &str| {
            let reader = std::io::BufReader::with_capacity(3, text.as_bytes());
            let mut lines = Lines::new(reader, 12).of_document(Elements::default());
            let read: Vec<_> = std::iter::from_fn(|| lines.next().unwrap()).collect();
            (read, lines.number, lines.offset, lines.cut_off)
        };
        let text = "[{\"a\":1},\n {\"b\": \"too long\"},{\"c\":3}]\n";
        let (records, number, offset, _) = read(text);
        let object = |text: &str| Ok(text.to_owned());
        assert_eq!(records, [object("{\"a\":1}"), Err(LineError::TooLong(12)), object("{\"c\":3}")]);
        assert_eq!((number, offset), (3, text.len() as u64));
        let (records, _, _, cut_off) = read("[{\"a\":1},{\"b\"");
        assert!(cut_off);
        let early = Err(LineError::Broken("the document ends too early".to_owned()));
        assert_eq!(records[1..], [object("{\"b\"")], "what is cut off is no JSON, and is told once");
        assert_eq!(read("[{\"a\":1},").0[1..], *std::slice::from_ref(&early));
        assert_eq!(read("[{\"a\":1}").0[1..], [early]);
        assert_eq!(read(" [] ").0, []);
    }

    // proves: NX-12.5
    #[test]
    fn bytes_that_are_no_text_are_named_by_their_place_in_the_file() {
        let lines = read(b"ok\nab\xFFc\nok\n", 100);
        assert_eq!(lines[1], Err(LineError::Broken("invalid UTF-8 at byte 5 of the file".to_owned())));
        assert_eq!(lines[2], Ok("ok".to_owned()));
    }
}
