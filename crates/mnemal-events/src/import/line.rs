//! Lines of a file, one at a time, whatever their length and bytes.

use std::io::{BufRead, ErrorKind, Result};

/// Why a line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// It is longer than this many bytes.
    TooLong(usize),
    /// It is not what it should be.
    Broken(String),
}

/// Reads lines of bounded length; of a longer one only its end is looked for.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
    /// Number of the last line, from 1.
    pub(super) number: u64,
    /// Bytes up to the end of the last line.
    pub(super) offset: u64,
    /// Whether the last line had no line break.
    pub(super) cut_off: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, number: 0, offset: 0, cut_off: false }
    }

    /// Says how many bytes of the file stand before what is read.
    pub(super) fn starting_at(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Returns what the lines come from.
    pub(super) fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the next line without its break, `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<std::result::Result<String, Bad>>> {
        let start = self.offset;
        let mut bytes = Vec::new();
        self.cut_off = true;
        while self.cut_off {
            let chunk = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(chunk.len(), |end| end + 1);
            let room = (self.longest + 3).saturating_sub(bytes.len());
            bytes.extend_from_slice(chunk.get(..taken.min(room)).unwrap_or_default());
            self.reader.consume(taken);
            self.offset += taken as u64;
            self.cut_off = end.is_none();
        }
        if self.offset == start {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(self.text(bytes, start)))
    }

    fn text(&self, mut bytes: Vec<u8>, start: u64) -> std::result::Result<String, Bad> {
        let breaks = bytes.iter().rev().take(2).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        bytes.truncate(bytes.len() - breaks);
        if bytes.len() > self.longest {
            return Err(Bad::TooLong(self.longest));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = start + error.utf8_error().valid_up_to() as u64;
            Bad::Broken(format!("invalid UTF-8 at byte {place} of the file"))
        })?;
        if self.number == 1
            && let Some(rest) = text.strip_prefix('\u{FEFF}')
        {
            return Ok(rest.to_owned());
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], longest: usize) -> Vec<std::result::Result<String, Bad>> {
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
        assert_eq!(read(b"abcdefghijklmn\nab", 4), [Err(Bad::TooLong(4)), Ok("ab".to_owned())]);
        assert_eq!(read(b"abcd\r\nabcde", 4), [Ok("abcd".to_owned()), Err(Bad::TooLong(4))]);
    }

    // proves: NX-12.5
    #[test]
    fn bytes_that_are_no_text_are_named_by_their_place_in_the_file() {
        let lines = read(b"ok\nab\xFFc\nok\n", 100);
        assert_eq!(lines[1], Err(Bad::Broken("invalid UTF-8 at byte 5 of the file".to_owned())));
        assert_eq!(lines[2], Ok("ok".to_owned()));
    }
}
