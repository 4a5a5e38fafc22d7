//! Context fragments of summaries.

use mnemal_core::{
    AsOf, ChannelId, ContextRequest, ContextSource as _, NodePath, RepeatPolicy, Section, SessionId,
    SummaryStore as _, Timestamp, TokenCount, UserId, Within,
};
use mnemal_summaries::SummarySource;

use crate::log::{Space, now};

fn request() -> ContextRequest {
    ContextRequest {
        query: None,
        query_vector: None,
        session: SessionId::new("asking").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(1_000),
        sections: Within::All,
        as_of: AsOf::present(Timestamp::EPOCH.plus_micros(1_900_000_000_000_000)),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

fn offered(space: &Space, request: &ContextRequest) -> Vec<(Section, String)> {
    let source = SummarySource::new(space.store.clone());
    let fragments = now(source.fragments(request)).unwrap();
    assert!(fragments.gaps.is_empty());
    fragments.value.into_iter().map(|one| (one.section, one.text)).collect()
}

// proves: NB-63 (its node)
#[test]
fn the_channel_is_offered_by_name_and_the_root_without_a_question() {
    let mut space = Space::new();
    space.say("mail/1", "The invoice of Carla is due on Friday.");
    space.say("chat/1", "My sister Dora moved to Lisbon.");
    space.fold();
    let (mail, chat) =
        ("The invoice of Carla is due on Friday.".to_owned(), "My sister Dora moved to Lisbon.".to_owned());
    let root = [(Section::Knowledge, mail.clone()), (Section::Knowledge, chat.clone())];
    assert_eq!(offered(&space, &request()), root);
    let channel = Within::Only(ChannelId::new("mail").unwrap());
    let of_channel = ContextRequest { channel, query: Some("invoice".to_owned()), ..request() };
    assert_eq!(offered(&space, &of_channel), [(Section::Channel, mail.clone())]);
    let both = ContextRequest { query: None, ..of_channel };
    assert_eq!(offered(&space, &both), [(Section::Channel, mail), (Section::Knowledge, chat)], "each once");
    let asking = ContextRequest { session: SessionId::new("mail/1").unwrap(), ..request() };
    assert_eq!(offered(&space, &asking).len(), 1, "the asking conversation knows its own words");
}

#[test]
fn nothing_is_offered_to_one_person_or_as_of_the_past() {
    let mut space = Space::new();
    space.say("mail/1", "The invoice of Carla is due on Friday.");
    space.fold();
    let user = Within::Only(UserId::new("carla").unwrap());
    assert_eq!(offered(&space, &ContextRequest { user, ..request() }), []);
    assert_eq!(offered(&space, &ContextRequest { as_of: AsOf::at(Timestamp::EPOCH), ..request() }), []);
}

// proves: BA-36 (channel)
#[test]
fn the_five_newest_sentences_of_a_channel_are_offered() {
    let mut space = Space::new();
    for (number, text) in (0..).zip([
        "Carla sold the old boiler on Friday.",
        "The harvest festival was moved to Lisbon.",
        "My passport expires in March.",
        "Ben plays violin with the orchestra of Ghent.",
        "The ferry to Porto leaves at nine.",
        "Dora planted forty apple trees.",
        "Our landlord repairs every window himself.",
        "Rent is due next Monday.",
    ]) {
        space.say(&format!("mail/{}", number / 2), text);
    }
    space.fold();
    let channel = Within::Only(ChannelId::new("mail").unwrap());
    let whole = now(space.store.nodes(&[NodePath::Channel(ChannelId::new("mail").unwrap())])).unwrap();
    let whole: Vec<&str> = whole[0].lines.iter().map(|line| line.text.as_str()).collect();
    assert!(whole.len() > 5, "{whole:?}");
    let asked = ContextRequest { channel, query: Some("what was sold?".to_owned()), ..request() };
    let offered: Vec<String> = offered(&space, &asked).into_iter().map(|(_, text)| text).collect();
    assert_eq!(offered, whole[whole.len() - 5..]);
}

// proves: NB-62
#[test]
fn beside_a_question_the_root_is_offered_as_far_as_there_is_room() {
    let mut space = Space::new();
    for (number, text) in (0..).zip([
        "Carla sold the old boiler on Friday.",
        "The harvest festival was moved to Lisbon.",
        "My passport expires in March.",
        "Ben plays violin with the orchestra of Ghent.",
        "Dora planted forty apple trees.",
    ]) {
        space.say(&format!("mail/{number}"), text);
    }
    space.fold();
    let root: Vec<String> = offered(&space, &request()).into_iter().map(|(_, text)| text).collect();
    assert_eq!(root.len(), 5, "without a question whatever the budget");
    let beside = |budget: u32, lines: Option<usize>| {
        let query = Some("what is due?".to_owned());
        offered(&space, &ContextRequest { query, budget: TokenCount(budget), lines, ..request() })
    };
    for (budget, count) in [(0, 0), (1_000, 0), (2_500, 2), (3_999, 4), (4_000, 5), (u32::MAX, 5)] {
        let newest: Vec<(Section, String)> =
            root[5 - count..].iter().map(|text| (Section::Knowledge, text.clone())).collect();
        assert_eq!(beside(budget, None), newest, "{budget}");
    }
    assert_eq!(beside(4_000, Some(6)), [], "a host of few lines has no room");
}
