//! Claims in stored notes: subject and attribution.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mnemal_core::{
        Body, Category, ChannelId, Decision, Event, EventId, EventKind, Extractor as _, Gazetteer,
        Importance, LearningKind, NewEvent, Origin, Remember, Seq, SessionId, Subject, Timestamp, Utterance,
        Zone,
    };
    use mnemal_extract::RuleExtractor;

    /// Reads a note as `who predicate value`; the user is `me`.
    fn read(origin: Origin, text: &str) -> Vec<String> {
        let at = Timestamp::from_micros(1_772_733_000_000_000).unwrap();
        let note = Remember {
            key: None,
            kind: LearningKind::Note,
            category: Category::new("general").unwrap(),
            tags: Vec::new(),
            importance: Importance::new(0.5).unwrap(),
            expires_at: None,
        };
        let said = NewEvent {
            kind: EventKind::Decision(Decision::Remember(note)),
            content: text.to_owned(),
            session: SessionId::new("s").unwrap(),
            channel: ChannelId::new("test").unwrap(),
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: at,
            zone: Zone::utc(),
            origin,
            idempotency_key: None,
            metadata: BTreeMap::new(),
        };
        let event = Event {
            id: EventId(1),
            seq: Seq(1),
            recorded_at: at,
            role: said.kind.role(),
            trust: origin.trust(),
            level: origin.level(),
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(said)),
        };
        let known = Gazetteer::default();
        let found = RuleExtractor::new().extract(&Utterance { event: &event, before: &[], known: &known });
        let who = |subject: &Subject| match subject {
            Subject::Speaker => "me".to_owned(),
            Subject::Named(name) => name.clone(),
            Subject::Relation { role, name } => name.clone().unwrap_or_else(|| role.clone()),
        };
        let line = |fact: &mnemal_core::ExtractedFact| {
            format!("{} {} {}", who(&fact.subject), fact.predicate.as_str(), fact.object.text)
        };
        found.facts.iter().map(line).collect()
    }

    #[test]
    fn a_note_is_read_whoever_stored_it() {
        for origin in [Origin::UserDirect, Origin::Assistant] {
            for (text, claim) in [
                ("Maria Lopez works at Siemens.", "Maria Lopez works_at Siemens"),
                ("Anna ist Ärztin in Graz.", "Anna role Ärztin"),
                ("Pablo es el hermano de Lucía.", "Lucía relative Pablo"),
            ] {
                assert_eq!(read(origin, text), [claim], "{text}");
            }
        }
    }

    #[test]
    fn the_user_of_a_note_is_the_user_and_an_agents_own_words_are_nobodys() {
        for (text, claim) in [
            ("The user lives in Lyon.", "me lives_in Lyon"),
            ("User works at Siemens as a nurse.", "me works_at Siemens"),
            ("Der Nutzer wohnt in Graz.", "me lives_in Graz"),
            ("L'utilisateur habite à Lyon.", "me lives_in Lyon"),
            ("El usuario vive en Girona.", "me lives_in Girona"),
        ] {
            let found = read(Origin::Assistant, text);
            assert!(found.iter().any(|line| line == claim), "{text}: {found:?}");
        }
        for text in ["I live in Lyon.", "My sister Anna works at Siemens.", "Ich wohne in Graz."] {
            assert_eq!(read(Origin::Assistant, text), [] as [String; 0], "{text}");
        }
        assert_eq!(read(Origin::UserDirect, "I live in Lyon."), ["me lives_in Lyon"]);
    }

    #[test]
    fn what_was_read_in_from_elsewhere_claims_nothing() {
        for origin in [Origin::Import, Origin::Document, Origin::ToolExternal] {
            assert_eq!(read(origin, "Maria Lopez works at Siemens."), [] as [String; 0]);
        }
    }
}
