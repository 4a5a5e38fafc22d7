//! Documents of other programs: mail, mailboxes, DOCX, EPUB and PDF, with parts removed, moved, doubled, replaced, or the file
//! cut off.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, Result};
use mnemal::events::{Document, DocumentKind, DocumentReader};
use mnemal::{Error, Memory};
use tokio::runtime::Runtime;

use super::sample::{self, TextWriter, Texts};
use super::{Tally, texts_of};
use crate::words::Dice;

mod pack;

/// Of a hundred files, those that are whole, and those that end too early; the others have damaged parts.
const WHOLE: usize = 5;
const CUT: usize = 20;
/// Most damages of one file.
const MOST: usize = 3;
/// Error of a reader that was killed.
const BROKEN: [&str; 3] = ["came to an end", "gave no answer", "could not be read within"];

/// A kind of documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The name of its files.
    pub(super) name: &'static str,
    kind: DocumentKind,
    /// Writes a part with a text.
    write: fn(&mut TextWriter<'_>) -> String,
    /// Makes a file of parts.
    pack: fn(&[String]) -> Result<Vec<u8>>,
    /// What is in place of a part.
    odd: &'static [&'static str],
    /// Whether what precedes a cut can be read.
    is_open: bool,
}

/// Every kind.
pub(super) const SHAPES: [Shape; 5] = [
    Shape {
        name: "letter.eml",
        kind: DocumentKind::Mail,
        write: pack::line,
        pack: pack::mail,
        odd: &["", ">", "--", "From ", "=", "Subject:", "."],
        is_open: true,
    },
    Shape {
        name: "box.mbox",
        kind: DocumentKind::Mailbox,
        write: pack::message,
        pack: pack::mailbox,
        odd: &[
            "From \n\n",
            "From ada@example.org Mon Mar  2 09:00:00 2026\n\n",
            "From ada@example.org Mon Mar  2 09:00:00 2026\nContent-Type: multipart/mixed; boundary=\"x\"\n\n--x\n\n",
            "From ada@example.org Mon Mar  2 09:00:00 2026\nDate: never\nContent-Transfer-Encoding: base64\n\n!!!\n\n",
        ],
        is_open: true,
    },
    Shape {
        name: "lease.docx",
        kind: DocumentKind::Word,
        write: pack::paragraph,
        pack: pack::word,
        odd: &[
            "<w:p/>",
            "<w:tbl/>",
            "<w:p><w:r><w:t/></w:r></w:p>",
            "<w:sdt/>",
            "<w:br/>",
            "</w:p>",
            "&odd;",
            "<w:p>",
        ],
        is_open: false,
    },
    Shape {
        name: "tales.epub",
        kind: DocumentKind::Epub,
        write: pack::chapter,
        pack: pack::book,
        odd: &[
            "",
            "<html/>",
            "<html><head><title/></head><body/></html>",
            "<p>",
            "</body>",
            "&odd;",
            "<![CDATA[",
        ],
        is_open: false,
    },
    Shape {
        name: "plan.pdf",
        kind: DocumentKind::Pdf,
        write: pack::page,
        pack: pack::pages,
        odd: &["", "BT", "ET", "BT /F9 12 Tf (x) Tj ET", "BT /F1 x Tf Td Tj ET", "q q q", "<<"],
        is_open: false,
    },
];

/// A file, and what must be read of it.
struct DamagedDocument {
    bytes: Vec<u8>,
    /// In how many parts each text is.
    present: BTreeMap<usize, usize>,
    /// Texts whose parts are as they should be.
    sure: Texts,
    what: Vec<String>,
}

/// Makes a file, damages it, has it read, and returns the errors.
///
/// # Errors
/// What keeps it from running.
pub(super) fn run(
    shape: &Shape,
    number: u64,
    dice: &mut Dice,
    (runtime, reader): (&Runtime, &DocumentReader),
) -> Result<Tally> {
    let mut pen = TextWriter::new(dice);
    let count = pen.some(1, 6);
    let parts: Vec<String> = (0..count).map(|_| (shape.write)(&mut pen)).collect();
    let damaged = damage(shape, parts, dice)?;
    let memory = super::memory()?;
    let read = catch_unwind(AssertUnwindSafe(|| runtime.block_on(read(shape, &damaged, reader, &memory))));
    let mut tally = Tally { files: 1, records: damaged.sure.len() as u64, ..Tally::default() };
    let wrong = match read {
        Err(_) => {
            tally.panics = 1;
            vec!["panicked".to_owned()]
        }
        Ok(taken) => judge(&damaged, taken?, &mut tally),
    };
    for what in wrong {
        #[expect(clippy::print_stderr, reason = "the numbers say how often, this says what")]
        {
            eprintln!("{} {number}: {what}; {}", shape.name, damaged.what.join(", "));
        }
    }
    Ok(tally)
}

/// What came of a file: its text, what is stored of it, and how much that was said to be.
type DocumentResult = std::result::Result<(Document, Vec<String>, u64), Error>;

async fn read(
    shape: &Shape,
    damaged: &DamagedDocument,
    reader: &DocumentReader,
    memory: &Memory,
) -> Result<DocumentResult> {
    let document = match reader.read_bytes(&damaged.bytes, shape.name, shape.kind).await {
        Ok(document) => document,
        Err(why) => return Ok(Err(why)),
    };
    let taken = memory.events().ingest(&document).await?;
    let texts = texts_of(memory).await?;
    Ok(Ok((document, texts, taken.value.stored)))
}

fn judge(damaged: &DamagedDocument, taken: DocumentResult, tally: &mut Tally) -> Vec<String> {
    let mut wrong = Vec::new();
    let (document, texts, stored) = match taken {
        Ok(taken) => taken,
        Err(why) if BROKEN.iter().any(|broken| why.what().contains(broken)) => {
            tally.panics = 1;
            return vec![why.what().to_owned()];
        }
        Err(why) => {
            tally.lost = damaged.sure.len() as u64;
            return if damaged.sure.is_empty() {
                Vec::new()
            } else {
                vec![format!("refused: {}", why.what())]
            };
        }
    };
    let kept: Texts = texts.iter().flat_map(|text| sample::kept(text)).collect();
    let lost: Vec<&usize> = damaged.sure.difference(&kept).collect();
    if !lost.is_empty() {
        wrong.push(format!("lost {lost:?}"));
        tally.lost = lost.len() as u64;
    }
    let read = counted(document.passages.iter().flat_map(|passage| sample::each_kept(&passage.text)));
    let is_doubled = |(text, count): &(&usize, &usize)| damaged.present.get(text) < Some(count);
    let doubled: Vec<_> = read.iter().filter(is_doubled).collect();
    if !doubled.is_empty() {
        wrong.push(format!("doubled {doubled:?}"));
        tally.doubled = doubled.len() as u64;
    }
    if stored != texts.len() as u64 {
        wrong.push(format!("{stored} stored, {} are there", texts.len()));
        tally.false_counts = 1;
    }
    wrong
}

fn within(parts: &[String]) -> BTreeMap<usize, usize> {
    counted(parts.iter().flat_map(|part| sample::kept(part)))
}

fn counted(numbers: impl Iterator<Item = usize>) -> BTreeMap<usize, usize> {
    let mut counted = BTreeMap::new();
    for number in numbers {
        *counted.entry(number).or_default() += 1;
    }
    counted
}

fn damage(shape: &Shape, mut parts: Vec<String>, dice: &mut Dice) -> Result<DamagedDocument> {
    let mut what = Vec::new();
    let kind = dice.below(100);
    if kind >= WHOLE + CUT {
        for _ in 0..=dice.below(MOST) {
            let place = dice.below(parts.len().max(1));
            what.push(changed(shape, (&mut parts, place), dice).context("no part is left")?);
        }
    }
    let present = within(&parts);
    let mut sure: Texts = present.keys().copied().collect();
    let mut bytes = (shape.pack)(&parts)?;
    if (WHOLE..WHOLE + CUT).contains(&kind) {
        let end = dice.below(bytes.len());
        what.push(format!("cut at {end} of {}", bytes.len()));
        let is_before = |count: &usize| {
            parts.get(..*count).is_some_and(|before| (shape.pack)(before).is_ok_and(|file| file.len() <= end))
        };
        let before =
            if shape.is_open { (1..=parts.len()).take_while(is_before).last().unwrap_or(0) } else { 0 };
        sure = within(parts.get(..before).unwrap_or_default()).into_keys().collect();
        bytes.truncate(end);
    }
    Ok(DamagedDocument { bytes, present, sure, what })
}

/// Changes a part, or where it is; returns what was done.
fn changed(shape: &Shape, (parts, place): (&mut Vec<String>, usize), dice: &mut Dice) -> Option<String> {
    let part = parts.get(place)?.clone();
    let other = dice.below(parts.len());
    match dice.below(4) {
        0 if parts.len() > 1 => {
            parts.remove(place);
            Some(format!("removed {place}"))
        }
        1 => {
            parts.swap(place, other);
            Some(format!("swapped {place} with {other}"))
        }
        2 => {
            parts.insert(other, part);
            Some(format!("doubled {place} at {other}"))
        }
        _ => {
            let with = dice.one_of(shape.odd);
            with.clone_into(parts.get_mut(place)?);
            Some(format!("{with:?} at {place}"))
        }
    }
}
