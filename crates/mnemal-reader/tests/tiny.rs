//! A tiny untrained model: loading, refusal of damaged files, and the shape of its output.

#[cfg(test)]
mod tests {
    use mnemal_core::ErrorKind;
    use mnemal_reader::TrainedReader;

    const TINY: &[u8] = include_bytes!("data/tiny.mnrd");

    fn open(bytes: &[u8]) -> mnemal_core::Result<TrainedReader> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reader.mnrd");
        std::fs::write(&file, bytes).unwrap();
        TrainedReader::open(&file)
    }

    #[test]
    fn claims_and_names_stand_inside_the_text_in_every_script() {
        let reader = open(TINY).unwrap();
        for text in [
            "I live in Ghent with my sister Ines.",
            "我住在广州，我妹妹叫小雨。",
            "Ünïcode\n\n\"quoted\" — ok?",
            "x",
        ] {
            let reading = reader.read(text, "Where do you live?").unwrap();
            assert!(!reading.claims.is_empty(), "{text}");
            for claim in &reading.claims {
                assert!(
                    text.get(claim.object.clone()).is_some_and(|words| !words.is_empty()),
                    "{text}: {claim:?}"
                );
                assert!(
                    (0.0..=1.0).contains(&claim.confidence) && (0.0..=1.0).contains(&claim.worth),
                    "{claim:?}"
                );
            }
            let names: Vec<_> = reading.names.iter().map(|name| name.span.clone()).collect();
            assert!(names.windows(2).all(|pair| pair[0].end <= pair[1].start), "{names:?}");
            assert!(names.iter().all(|span| text.get(span.clone()).is_some()), "{text}");
            let sum: f32 = reading.relations.iter().map(|(_, p)| p).sum();
            assert!((sum - 1.0).abs() < 1e-3, "{sum}");
            assert!(reading.foreign.iter().all(|(_, p)| (0.0..=1.0).contains(p)));
        }
    }

    #[test]
    fn a_text_without_words_says_nothing_and_a_long_one_is_read_at_its_beginning() {
        let reader = open(TINY).unwrap();
        assert_eq!(reader.read(" \n ", "").unwrap(), mnemal_reader::ReaderOutput::default());
        let long = "I live in Ghent. ".repeat(400);
        let reading = reader.read(&long, &long).unwrap();
        assert!(reading.foreign.len() < 400 && reading.foreign.iter().all(|(span, _)| span.end < 1_000));
    }

    #[test]
    fn the_same_text_gives_the_same_answer() {
        let (one, other) = (open(TINY).unwrap(), open(TINY).unwrap());
        let read = |reader: &TrainedReader| reader.read("My brother moved to Porto.", "And he?").unwrap();
        assert_eq!(read(&one), read(&other));
        assert_eq!(one.name(), other.name());
    }

    #[test]
    fn a_damaged_file_is_refused_and_a_missing_one_is_not_found() {
        let kind = |bytes: &[u8]| open(bytes).unwrap_err().kind();
        assert_eq!(kind(b""), ErrorKind::Corrupt);
        assert_eq!(kind(b"MNRD2\n"), ErrorKind::Corrupt);
        assert_eq!(kind(&TINY[..TINY.len() / 2]), ErrorKind::Corrupt);
        assert_eq!(kind(&TINY[..200]), ErrorKind::Corrupt);
        let mut other = TINY.to_vec();
        let at = other.windows(4).position(|part| part == b"\"e5\"").unwrap();
        other[at..at + 4].copy_from_slice(b"\"e6\"");
        assert_eq!(kind(&other), ErrorKind::Unsupported);
        let nowhere = std::path::Path::new("/nowhere/reader.mnrd");
        assert_eq!(TrainedReader::open(nowhere).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
