//! Streaming splitter of one JSON document into records: the elements of a list, or the members of an object.

/// The role of a byte for the current record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteRole {
    /// It is between records.
    Between,
    /// It is inside a record.
    Inside,
    /// It is the last one of a record.
    Last,
}

/// State of the splitter. `[a, b]` has the records `a` and `b`; `{"results": [a, b], "header": {…}, "total": 2}` has `a`, `b`
/// and the header, and single values are skipped.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own of a scanner of bytes")]
pub(super) struct Elements {
    /// Whether an object at the top is one record.
    is_whole: bool,
    /// Open brackets around the records: none, that of the list or object, or both.
    outer: Vec<u8>,
    /// Open brackets inside of the record.
    depth: usize,
    inside: bool,
    quoted: bool,
    escaped: bool,
    /// Whether there was a document, and it came to its end.
    closed: bool,
}

impl Elements {
    /// Starts before a document whose object at the top is one record.
    pub(super) fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Whether the document, if there is one, came to its end.
    pub(super) fn is_closed(&self) -> bool {
        self.closed || (self.outer.is_empty() && !self.inside)
    }

    /// Notes that there is nothing more, and that this was said.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Reads the next byte.
    pub(super) fn read(&mut self, byte: u8) -> ByteRole {
        if self.quoted {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.quoted = false,
                _ => {}
            }
            return if self.inside { ByteRole::Inside } else { ByteRole::Between };
        }
        if byte == b'"' {
            self.quoted = true;
            return if self.inside { ByteRole::Inside } else { ByteRole::Between };
        }
        if self.inside { self.inner(byte) } else { self.outside(byte) }
    }

    fn inner(&mut self, byte: u8) -> ByteRole {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.inside = false;
                    self.closed |= self.outer.is_empty();
                    return ByteRole::Last;
                }
            }
            _ => {}
        }
        ByteRole::Inside
    }

    fn outside(&mut self, byte: u8) -> ByteRole {
        match (byte, self.outer.as_slice()) {
            (b'{', []) if !self.is_whole => self.outer.push(byte),
            (b'[', [] | [b'{']) => self.outer.push(byte),
            (b'{' | b'[', _) => {
                self.inside = true;
                self.depth = 1;
                return ByteRole::Inside;
            }
            (b'}' | b']', _) => {
                self.outer.pop();
                self.closed |= self.outer.is_empty();
            }
            _ => {}
        }
        ByteRole::Between
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(mut elements: Elements, text: &str) -> (Vec<String>, bool) {
        let (mut all, mut one) = (Vec::new(), Vec::new());
        for byte in text.bytes() {
            match elements.read(byte) {
                ByteRole::Between => {}
                ByteRole::Inside => one.push(byte),
                ByteRole::Last => {
                    one.push(byte);
                    all.push(String::from_utf8(std::mem::take(&mut one)).unwrap());
                }
            }
        }
        (all, elements.is_closed())
    }

    #[test]
    fn records_of_a_list_and_of_an_object_are_found_whatever_stands_in_their_texts() {
        let list = r#" [ {"a": "}]\"["} , {"b": [1, {"c": "é"}]} ] "#;
        let (found, closed) = records(Elements::default(), list);
        assert_eq!(found, [r#"{"a": "}]\"["}"#, r#"{"b": [1, {"c": "é"}]}"#]);
        assert!(closed);
        let wrapped = r#"{"total": 2, "note": "[{", "results": [{"a": 1}, {"b": 2}], "header": {"x": []}}"#;
        let (found, closed) = records(Elements::default(), wrapped);
        assert_eq!(found, [r#"{"a": 1}"#, r#"{"b": 2}"#, r#"{"x": []}"#]);
        assert!(closed);
    }

    #[test]
    fn an_object_can_be_one_record_and_a_document_can_end_too_early() {
        assert_eq!(records(Elements::whole(), "{\"a\": [1]}\n"), (vec!["{\"a\": [1]}".to_owned()], true));
        assert_eq!(records(Elements::default(), "[{\"a\": 1}"), (vec!["{\"a\": 1}".to_owned()], false));
        assert_eq!(records(Elements::default(), "  "), (vec![], true));
        assert_eq!(records(Elements::default(), "[]"), (vec![], true));
    }
}
