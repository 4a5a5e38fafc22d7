//! Reading order of a PDF page: upright text in stream order, and rotated text along its reading direction.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

/// Share of a letter's height at which a step off the line begins another line, and at which it leaves a blank one. Source: the
/// library's values for upright text.
const LINE: f64 = 0.5;
const FREE_LINE: f64 = 1.5;
/// Share of a letter's height from which a gap is a space. Source: as above.
const GAP: f64 = 0.1;
/// Sine of the angle at which letters count as text of another direction. Source: own choice, 10°; scans are rotated less.
const TURN: f64 = 0.17;

/// Writes the letters of a page.
#[derive(Debug, Default)]
pub(super) struct PageWriter {
    pub(super) text: String,
    last: Option<Letter>,
    /// Whether the next letter begins a word of the page.
    is_first: bool,
}

/// The position of a letter.
#[derive(Clone, Copy, Debug)]
struct Letter {
    /// Its reading direction, of length 1.
    way: (f64, f64),
    /// Its start and end along that direction, and its position across, downward.
    start: f64,
    end: f64,
    across: f64,
    height: f64,
}

impl Letter {
    fn new(place: &Transform, width: f64, font_size: f64) -> Self {
        let length = place.m11.hypot(place.m12);
        let way = if length > 0.0 { (place.m11 / length, place.m12 / length) } else { (1.0, 0.0) };
        let height = (place.m11 * place.m22 - place.m12 * place.m21).abs().sqrt() * font_size;
        let start = place.m31 * way.0 + place.m32 * way.1;
        let across = place.m31 * way.1 - place.m32 * way.0;
        Self { way, start, end: start + width * height, across, height }
    }

    fn is_along(&self, other: &Self) -> bool {
        let sine = self.way.0 * other.way.1 - self.way.1 * other.way.0;
        let cosine = self.way.0 * other.way.0 + self.way.1 * other.way.1;
        cosine > 0.0 && sine.abs() < TURN
    }

    /// Returns the separator between a letter and this one, which begins a word of the page.
    fn gap_behind(&self, last: &Self) -> &'static str {
        if !self.is_along(last) {
            return "\n\n";
        }
        let step = (self.across - last.across).abs();
        let is_space = self.start > last.end + self.height * GAP;
        match (step > self.height * FREE_LINE, self.start < last.end && step > self.height * LINE) {
            (true, true) => "\n\n",
            (true, false) if is_space => "\n ",
            (true, false) | (false, true) => "\n",
            (false, false) if is_space => " ",
            (false, false) => "",
        }
    }
}

impl OutputDev for PageWriter {
    fn begin_page(
        &mut self,
        _: u32,
        _: &MediaBox,
        _: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        letter: &str,
    ) -> Result<(), OutputError> {
        let here = Letter::new(place, width, font_size);
        if let Some(last) = self.last.filter(|last| self.is_first || !here.is_along(last)) {
            self.text.push_str(here.gap_behind(&last));
        }
        self.text.push_str(letter);
        (self.last, self.is_first) = (Some(here), false);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.is_first = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}
