//! A terminal window as SVG, whose rows appear one after the other and stay.

use std::fmt::Write as _;

use super::svg::{escaped, length};

/// Width of a character, and height of a row, in pixels. Source: own choice, for a font of 13 pixels.
const CELL: (f64, f64) = (7.83, 17.0);
/// Characters of a row. Source: own choice; a page of a repository shows them at 11 pixels.
pub(super) const COLUMNS: usize = 116;
/// Distance between the frame and the text, in pixels.
const MARGIN: f64 = 18.0;
/// Height of the bar above the text, in pixels.
const BAR: f64 = 34.0;
/// Seconds before the first character. Source: own choice, like the next four; the whole takes under ten seconds.
const START: f64 = 0.4;
/// Seconds for a character of the command.
const STROKE: f64 = 0.07;
/// Seconds between the command and its output.
const PAUSE: f64 = 0.5;
/// Seconds for a row of output.
const ROW: f64 = 0.07;
/// Seconds before a question.
const QUESTION: f64 = 0.6;

/// Rows are visible unless an animation hides them, so that a viewer without animations shows the whole text.
const STYLE: &str = "\
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#d1d7e0}
.d{fill:#9198a1}.q{fill:#79c0ff;font-weight:600}.y{fill:#56d364;font-weight:600}.b{fill:#58a6ff}
.r{animation:r .2s ease-out both}.k{animation:k .01s linear both}
@keyframes r{from{opacity:0}}@keyframes k{from{fill-opacity:0}}
@media (prefers-reduced-motion:reduce){.r,.k{animation:none}}
";

/// Returns the picture of a window in which `command` is typed and prints `rows`.
pub(super) fn window(command: &str, rows: &[String]) -> String {
    let columns = COLUMNS as f64;
    let width = columns.mul_add(CELL.0, 2.0 * MARGIN).ceil();
    let height = (rows.len() as f64 + 1.0).mul_add(CELL.1, BAR + 2.0 * MARGIN).ceil();
    let title = escaped(command);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" xml:space=\"preserve\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n"
    );
    frame(&mut out, width, height);
    let _ = writeln!(
        out,
        "<text class=\"d\" x=\"{}\" y=\"22\" text-anchor=\"middle\">{title}</text>",
        length(width / 2.0)
    );
    let mut moment = typed(&mut out, command);
    for (at, row) in rows.iter().enumerate() {
        if row.starts_with(['?', '>']) {
            moment += QUESTION;
        }
        moment += ROW;
        printed(&mut out, row, at as f64 + 1.0, moment);
    }
    out.push_str("</svg>\n");
    out
}

fn frame(out: &mut String, width: f64, height: f64) {
    let (inner_width, inner_height) = (width - 1.0, height - 1.0);
    let _ = writeln!(
        out,
        "<rect x=\".5\" y=\".5\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"9\" fill=\"#0d1117\" stroke=\"#6e7681\"/>"
    );
    for (x, color) in [(20, "#ff7b72"), (40, "#e3b341"), (60, "#56d364")] {
        let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"18\" r=\"5.5\" fill=\"{color}\"/>");
    }
}

/// Writes the command with each character at its moment, and returns the moment at which it begins to print.
fn typed(out: &mut String, command: &str) -> f64 {
    let _ = write!(out, "<text x=\"{MARGIN}\" y=\"{}\"><tspan class=\"d\">$ </tspan>", length(base(0.0)));
    let mut moment = START;
    for c in command.chars() {
        moment += STROKE;
        let text = escaped(&c.to_string());
        let _ = write!(out, "<tspan class=\"k\" style=\"animation-delay:{moment:.2}s\">{text}</tspan>");
    }
    out.push_str("</text>\n");
    moment + PAUSE
}

/// Writes a row of output that appears at its moment; a blank one needs no element.
fn printed(out: &mut String, row: &str, at: f64, moment: f64) {
    if row.trim().is_empty() {
        return;
    }
    let y = length(base(at));
    let _ = write!(out, "<text class=\"r\" style=\"animation-delay:{moment:.2}s\" x=\"{MARGIN}\" y=\"{y}\">");
    for (class, text) in parts(row) {
        let text = escaped(text);
        let _ = match class {
            "" => write!(out, "{text}"),
            class => write!(out, "<tspan class=\"{class}\">{text}</tspan>"),
        };
    }
    out.push_str("</text>\n");
}

/// The line on which the characters of a row stand.
fn base(row: f64) -> f64 {
    (row + 1.0).mul_add(CELL.1, BAR + MARGIN / 2.0)
}

/// Splits a row into parts with the class of each: questions, marks, bars, and what is of less interest.
fn parts(row: &str) -> Vec<(&'static str, &str)> {
    let dim = ["  (", "  …", "…", "<", "now ", "Stored data", "next:"];
    if row.starts_with("? ") || row.starts_with("> ") {
        return vec![("q", row)];
    }
    if dim.iter().any(|start| row.starts_with(start)) {
        return vec![("d", row)];
    }
    if let Some(rest) = row.strip_prefix('✓') {
        return vec![("y", "✓"), ("", rest)];
    }
    if let Some(at) = row.find('█') {
        let (head, bar) = row.split_at(at);
        let end = bar.find(|c| c != '█').unwrap_or(bar.len());
        let (bar, tail) = bar.split_at(end);
        return vec![("", head), ("b", bar), ("d", tail)];
    }
    match row.find('←') {
        Some(at) => {
            let (head, source) = row.split_at(at);
            vec![("", head), ("d", source)]
        }
        None => vec![("", row)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_types_the_command_and_prints_each_row_after_it() {
        let rows = ["first <b>", "", "? where", "✓ 1  here"].map(str::to_owned);
        let picture = window("go", &rows);
        let expected = [
            "<tspan class=\"k\" style=\"animation-delay:0.47s\">g</tspan>",
            "<text class=\"r\" style=\"animation-delay:1.11s\" x=\"18\" y=\"77\">first &lt;b&gt;</text>",
            "style=\"animation-delay:1.85s\" x=\"18\" y=\"111\"><tspan class=\"q\">? where</tspan></text>",
            "y=\"128\"><tspan class=\"y\">✓</tspan> 1  here</text>",
        ];
        for part in expected {
            assert!(picture.contains(part), "{part} in\n{picture}");
        }
        assert_eq!(picture.matches("<text class=\"r\"").count(), 3, "a blank row has no element");
        assert_eq!(picture, window("go", &rows));
    }

    #[test]
    fn parts_of_a_row_are_the_row() {
        for row in ["  recall  849  ███  21 lines", "  recall  0.5  ← evt_1", "plain", "<a>", "✓ 1"]
        {
            assert_eq!(parts(row).iter().map(|(_, text)| *text).collect::<String>(), row);
        }
        assert_eq!(parts("  a  1  ██ x"), [("", "  a  1  "), ("b", "██"), ("d", " x")]);
    }

    #[test]
    fn nothing_is_hidden_where_nothing_moves() {
        assert!(STYLE.contains("@keyframes r{from{opacity:0}}"), "the state at rest is not hidden");
        assert!(STYLE.contains("prefers-reduced-motion:reduce"));
    }
}
