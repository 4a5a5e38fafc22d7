//! A trained reader that the settings name.

#[cfg(test)]
mod tests {
    use mnemal::settings::ExtractSettings;
    use mnemal::{Engine, ErrorKind, Settings};

    fn build(file: &str) -> mnemal::Result<Engine> {
        let extract = ExtractSettings { reader: file.to_owned(), ..ExtractSettings::default() };
        Engine::builder().with_settings(Settings { extract, ..Settings::default() }).in_memory()
    }

    #[cfg(feature = "reader")]
    #[tokio::test]
    async fn the_reader_of_a_file_votes_and_names_itself_on_what_it_read() {
        use mnemal::{Message, Scope, SpaceId};

        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../mnemal-reader/tests/data/tiny.mnrd");
        let memory = build(file).unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()));
        let said = memory.log(Message::user("I live in Oslo.")).await.unwrap();
        assert!(said.gaps.is_empty());
        assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
        let by = memory.admin().engine().graph_state().await.unwrap().edition.producer.unwrap().id;
        assert!(by.contains("extract/rules + reader "), "{by}");
    }

    #[cfg(feature = "reader")]
    #[test]
    fn a_file_that_is_not_there_or_is_no_reader_is_said_when_a_space_is_opened() {
        assert_eq!(build("/nowhere/reader.mnrd").unwrap_err().kind(), ErrorKind::NotFound);
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(build(other).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[cfg(not(feature = "reader"))]
    #[test]
    fn a_build_without_the_reader_says_so() {
        let error = build("reader.mnrd").unwrap_err();
        assert_eq!((error.kind(), error.what().contains("feature `reader`")), (ErrorKind::Unsupported, true));
    }
}
