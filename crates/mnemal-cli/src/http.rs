//! A minimal blocking HTTP client: a request, then its answer.

use std::io::{BufRead as _, BufReader, Error, ErrorKind, Read, Result, Write};

/// Maximum size of an answer's head, in bytes. Source: own default, that of most clients.
const LARGEST_HEAD: u64 = 64 * 1_024;

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection<S>(BufReader<S>);

impl<S: Read + Write> Connection<S> {
    /// Wraps an unused stream.
    pub(crate) fn new(stream: S) -> Self {
        Self(BufReader::new(stream))
    }

    /// Returns the stream, to set its timeouts.
    pub(crate) fn stream(&self) -> &S {
        self.0.get_ref()
    }

    /// Returns the stream, to switch to another protocol.
    #[cfg(unix)]
    pub(crate) fn into_stream(self) -> S {
        self.0.into_inner()
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When the server does not accept it.
    pub(crate) fn send(&mut self, head: &str, body: &[u8]) -> Result<()> {
        let stream = self.0.get_mut();
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        stream.flush()
    }

    /// Reads an answer: its status, and its body of the declared length, or until the server closes the connection.
    ///
    /// # Errors
    /// For an invalid or truncated answer.
    pub(crate) fn answer(&mut self) -> Result<(u16, Vec<u8>)> {
        let (status, length) = self.head()?;
        let mut body = Vec::new();
        match length {
            Some(length) => {
                self.0.by_ref().take(length).read_to_end(&mut body)?;
                if u64::try_from(body.len()).ok() != Some(length) {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            }
            None => drop(self.0.read_to_end(&mut body)?),
        }
        Ok((status, body))
    }

    /// Reads the head of an answer: its status, and the length of its body.
    ///
    /// # Errors
    /// For an invalid or truncated head.
    pub(crate) fn head(&mut self) -> Result<(u16, Option<u64>)> {
        let (mut status, mut length, mut line) = (None, None, String::new());
        let mut head = self.0.by_ref().take(LARGEST_HEAD);
        loop {
            line.clear();
            if head.read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if status.is_none() {
                let mut words = line.split(' ');
                let said = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
                let number = words.next().and_then(|number| number.trim().parse().ok());
                let no_answer = || Error::new(ErrorKind::InvalidData, "it does not speak HTTP");
                status = Some(number.filter(|_| said).ok_or_else(no_answer)?);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
            if let ("\r\n" | "\n", Some(status)) = (line.as_str(), status) {
                return Ok((status, length));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn read(text: &str) -> Result<(u16, Vec<u8>)> {
        Connection::new(Cursor::new(text.as_bytes().to_vec())).answer()
    }

    #[test]
    fn an_answer_is_as_long_as_it_says_or_lasts_until_the_end() {
        let body = |text: &str| read(text).map(|(status, body)| (status, String::from_utf8(body).unwrap()));
        assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nyes").unwrap(), (200, "ye".to_owned()));
        assert_eq!(body("HTTP/1.0 404 No\r\nx: y\r\n\r\nall of it").unwrap(), (404, "all of it".to_owned()));
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for (text, kind) in [
            ("", ErrorKind::UnexpectedEof),
            ("HTTP/1.1 200 OK\r\n", ErrorKind::UnexpectedEof),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nyes", ErrorKind::UnexpectedEof),
            ("HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\nyes", ErrorKind::UnexpectedEof),
            ("SSH-2.0-OpenSSH_9.9\r\n", ErrorKind::InvalidData),
            ("HTTP/1.1 maybe\r\n\r\n", ErrorKind::InvalidData),
            ("\r\n", ErrorKind::InvalidData),
        ] {
            assert_eq!(read(text).unwrap_err().kind(), kind, "{text:?}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(100_000));
        assert!(read(&endless).is_err());
    }
}
