//! Text and numbers as SVG writes them.

/// Returns a text with the characters of markup escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Other control characters are not allowed in XML.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns a length with at most one digit after the point, which is enough for a screen.
pub(super) fn length(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_stays_text() {
        assert_eq!(escaped("<a b=\"1\"> & \u{1b}ü"), "&lt;a b=&quot;1&quot;&gt; &amp;  ü");
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!([12.0, 12.34, 0.06].map(length), ["12", "12.3", "0.1"]);
    }
}
