//! Minimal HTTP/1.1 client for the loopback interface.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result};

/// Timeout of one answer. Source: own choice; a model behind it may be slow.
const PATIENCE: Duration = Duration::from_mins(2);

/// Sends a request, and returns the status and the body.
pub(super) fn ask(
    address: &str,
    request: &str,
    headers: &BTreeMap<String, String>,
    body: &str,
) -> Result<(u64, String)> {
    let (method, path) = request.split_once(' ').context("a request is METHOD /path")?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "content-length: {}\r\n\r\n{body}", body.len())?;
    let (head, body) = read(&mut BufReader::new(stream))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.with_context(|| format!("no status in {head}"))?, body))
}

/// Reads one message: its first line with the headers, and its body.
pub(super) fn read(reader: &mut impl BufRead) -> Result<(String, String)> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if reader.read_line(&mut head)? == 0 || head.get(before..).is_some_and(|line| line.trim().is_empty())
        {
            break;
        }
    }
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let mut body = Vec::new();
    if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        read_chunks(reader, &mut body)?;
    } else if let Some(length) = header("content-length").and_then(|length| length.parse::<u64>().ok()) {
        reader.take(length).read_to_end(&mut body)?;
    }
    Ok((head, String::from_utf8_lossy(&body).into_owned()))
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).with_context(|| format!("no chunk: {line}"))?;
        reader.take(length).read_to_end(body)?;
        reader.read_line(&mut line)?;
        if length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_where_its_head_says() {
        let read = |text: &str| read(&mut text.as_bytes()).unwrap().1;
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc"), "ab");
        assert_eq!(
            read("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"),
            "abc"
        );
        assert_eq!(read("HTTP/1.1 204 No Content\r\n\r\n"), "");
    }
}
