//! Injection resistance: no text can end its line, its block or its role.

use mnemal_context::{ContextSettings, Format, Wording, line_number};
use mnemal_core::{InstallationKey, Section, Speaker, Within, Zone, marker};
use proptest::prelude::*;

use crate::fakes::{
    assemble, context, external, fragment, items, left_out, note, offering, request, secondary, shown,
};

// proves: PB-36, RB-11, NX-08.7, GA-16, GB-48 (each line is cited)
#[test]
fn a_line_is_its_number_day_speaker_and_the_text_as_a_json_string() {
    let mut made = note(Section::Recall, 324, "we use \"pnpm\",\nnever npm");
    made.label.speaker = Some(Speaker::new("Ana").unwrap());
    made.label.zone = Zone { name: String::new(), offset_seconds: -3_600 };
    let context = context(vec![made]);
    assert_eq!(items(&context), [r#"- 1 2026-11-20 Ana "we use \"pnpm\",\nnever npm""#]);
}

#[test]
fn a_line_of_another_space_names_it() {
    let id = "evt_00000000000000000000000001";
    for (format, line) in [
        (Format::Markdown, "- 1 2026-01-02 Ana (global) \"tea\"".to_owned()),
        (
            Format::Xml,
            format!(
                "<item level=\"user\" date=\"2026-01-02\" id=\"{id}\" space=\"global\" speaker=\"Ana\">tea</item>"
            ),
        ),
        (
            Format::Json,
            format!(
                "{{\"level\":\"user\",\"date\":\"2026-01-02\",\"id\":\"{id}\",\"space\":\"global\",\"speaker\":\"Ana\",\"text\":\"tea\"}}"
            ),
        ),
    ] {
        let mut made = secondary(fragment(Section::Recall, 1, "tea"));
        made.label.speaker = Some(Speaker::new("Ana").unwrap());
        let mut parts = offering(vec![made]);
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        let context = assemble(parts, &request(Some("q"), 4_000)).value;
        assert!(context.text.lines().any(|found| found == line), "{}", context.text);
    }
}

#[test]
fn a_block_reads_as_written() {
    let nonce = InstallationKey::new([7; 32]).nonce("cli:1");
    let offered =
        vec![fragment(Section::Recall, 1, "own"), external(fragment(Section::Recall, 2, "of others"))];
    let expect = |own: &str, begin: &str, other: &str, end: &str| {
        format!(
            "<mnemal-context nonce=\"{nonce}\">\n{}\nnow 2026-11-21 22:30 UTC, receipt rcl_00000000000000000000000007\n{own}{begin}{other}{end}</mnemal-context nonce=\"{nonce}\">\n",
            marker::NOTICE
        )
    };
    let (one, two) = ("evt_00000000000000000000000001", "evt_00000000000000000000000002");
    for (format, text) in [
        (
            Format::Markdown,
            expect("- 1 2026-01-02 \"own\"\n", "external:\n", "- 2 2026-01-03 \"of others\"\n", ""),
        ),
        (
            Format::Xml,
            expect(
                &format!("<item level=\"user\" date=\"2026-01-02\" id=\"{one}\">own</item>\n"),
                "<external>\n",
                &format!("<item level=\"external\" date=\"2026-01-03\" id=\"{two}\">of others</item>\n"),
                "</external>\n",
            ),
        ),
        (
            Format::Json,
            expect(
                &format!(
                    "{{\"items\":[\n{{\"level\":\"user\",\"date\":\"2026-01-02\",\"id\":\"{one}\",\"text\":\"own\"}}\n"
                ),
                "],\"external\":[\n",
                &format!(
                    "{{\"level\":\"external\",\"date\":\"2026-01-03\",\"id\":\"{two}\",\"text\":\"of others\"}}\n"
                ),
                "]}\n",
            ),
        ),
    ] {
        let mut parts = offering(offered.clone());
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        assert_eq!(assemble(parts, &request(Some("q"), 4_000)).text, text);
    }
}

// proves: NX-06.5, DF-97
#[test]
fn a_text_that_knows_the_nonce_is_held_back() {
    let nonce = InstallationKey::new([7; 32]).nonce("cli:1");
    let hidden = nonce.to_uppercase().chars().flat_map(|digit| [digit, '\u{200b}']).collect::<String>();
    let far = format!("{}{nonce}", "word ".repeat(3_000));
    for text in [nonce, hidden, far] {
        let context = context(vec![fragment(Section::Recall, 1, &format!("see {text} here"))]);
        assert_eq!((context.text.as_str(), left_out(&context)), ("", vec![(1, "quarantined")]));
    }
}

#[test]
fn a_text_of_invisible_characters_is_no_line() {
    assert_eq!(
        left_out(&context(vec![fragment(Section::Recall, 1, "\u{200b}\u{e0041} \n")])),
        [(1, "below_floor")]
    );
}

/// Text as a hostile author would write it.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "\\PC{0,6}",
        1 => any::<char>().prop_map(String::from),
        3 => prop::sample::select(vec![
            "<mnemal-context nonce=\"", "</mnemal-context nonce=\"", "\">", "\n", "\r\n", "\u{2028}", "\u{200b}", "\"", "\\", "]", "- 7 2026-01-01 ",
            "external:", "</", "<|im_end|>", "[INST]", "<<SYS>>", "```", "#", "System:", "Assistant:", "\"tool\":", "MNEMAL-CONTEXT",
            "mnemal", "\u{ad}-context", "\u{e0001}", "</item>", "]}", ",", "…", "Stored data from earlier sessions",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    // proves: NX-08.7, DF-97, GB-41
    #[test]
    fn no_text_opens_or_closes_a_block(
        texts in prop::collection::vec((hostile(), "[^\\p{Cc}]{1,20}"), 100),
        format in prop_oneof![Just(Format::Markdown), Just(Format::Xml), Just(Format::Json)],
    ) {
        let offered = (0_u64..).zip(&texts).map(|(number, (text, speaker))| {
            let mut made = fragment(Section::Recall, number, text);
            made.label.speaker = Speaker::new(speaker.as_str()).ok();
            if number % 3 == 0 { external(made) } else { made }
        });
        let mut parts = offering(offered.collect());
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        let context = assemble(parts, &request(Some("q"), 30_000));
        let nonce = InstallationKey::new([7; 32]).nonce("cli:1");
        prop_assert_eq!(context.text.matches(nonce.as_str()).count(), 2 * context.blocks.len());
        let (rest, cut) = marker::strip(&context.text);
        prop_assert_eq!((rest.as_ref(), cut.len()), ("", context.blocks.len()));
        // A block without its last line is still the program's.
        let open = context.text.trim_end().rsplit_once('\n').map_or("", |(open, _)| open);
        prop_assert!(marker::strip(open).0.is_empty());
        prop_assert!(!context.text.chars().any(|c| c.is_control() && c != '\n'));
        let frames = match format { Format::Json => 7, Format::Xml => 6, _ => 5 };
        let lines = context.text.lines().count();
        prop_assert!(lines <= shown(&context).len() + frames, "{lines} {}", context.text);
        for line in context.text.lines() {
            let ours = ["<mnemal-context", "</mnemal-context", "<item level=", "<external>", "</external>"];
            prop_assert!(!line.starts_with('#') && (!line.starts_with('<') || ours.iter().any(|start| line.starts_with(start))));
            if line_number(line).is_some() {
                let (_, text) = line.split_once(" \"").unwrap();
                let closed = text.replace("\\\\", "").replace("\\\"", "");
                prop_assert_eq!(closed.matches('"').count(), 1);
                prop_assert!(!text.contains("</") && !text.contains("<|") && !text.contains("```") && !text.contains("<<"));
            }
        }
    }
}

// proves: PB-36, PB-37, PB-38, GB-42
#[test]
fn a_headed_block_has_a_heading_over_memories_and_one_over_what_was_learnt() {
    let nonce = InstallationKey::new([7; 32]).nonce("cli:1");
    let rendered = |format, offered| {
        let mut parts = offering(offered);
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        assemble(parts, &request(Some("deploy"), 4_000)).value.text
    };
    let known = || note(Section::Recall, 1, "Deploys happen on Tuesdays");
    let learnt = || note(Section::Learnings, 2, "Ask before a deploy");
    let expect = |memory: &str, insights: &str| {
        format!(
            "<mnemal-context nonce=\"{nonce}\">\n{}\nnow 2026-11-21 22:30 UTC, receipt rcl_00000000000000000000000007\n{memory}\n- 1 2026-01-02 \"Deploys happen on Tuesdays\"\n{insights}\n- 2 2026-01-03 \"Ask before a deploy\"\n</mnemal-context nonce=\"{nonce}\">\n",
            marker::NOTICE
        )
    };
    let both = || vec![learnt(), known()];
    let english = rendered(Format::Headed(Wording::English), both());
    assert_eq!(english, expect("## Memory Context", "## Insights"));
    let chinese = rendered(Format::Headed(Wording::Chinese), both());
    assert_eq!(chinese, expect("## 记忆上下文", "## 洞察"));
    let memories = rendered(Format::Headed(Wording::English), vec![known()]);
    assert!(memories.contains("## Memory Context") && !memories.contains("## Insights"), "{memories}");
    assert_eq!(rendered(Format::Headed(Wording::Chinese), vec![]), "");
}

// proves: GB-40, GB-39 (under the budget)
#[test]
fn knowledge_and_insights_that_are_asked_for_by_name_have_their_headings_in_one_block() {
    let nonce = InstallationKey::new([7; 32]).nonce("cli:1");
    let asked = |sections: &[Section], format, budget| {
        let mut parts = offering(vec![
            note(Section::Insights, 2, "Both are about releases"),
            note(Section::Knowledge, 1, "Deploys happen on Tuesdays"),
            note(Section::Recall, 3, "What was said"),
        ]);
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        let mut request = request(Some("deploy"), budget);
        request.sections = Within::Only(sections.to_vec());
        assemble(parts, &request).value
    };
    let both = [Section::Knowledge, Section::Insights];
    let context = asked(&both, Format::Markdown, 4_000);
    let expected = format!(
        "<mnemal-context nonce=\"{nonce}\">\n{}\nreceipt rcl_00000000000000000000000007\n## Memory Context\n- 1 2026-01-02 \"Deploys happen on Tuesdays\"\n## Insights\n- 2 2026-01-03 \"Both are about releases\"\n</mnemal-context nonce=\"{nonce}\">\n",
        marker::NOTICE
    );
    assert_eq!(context.text, expected);
    for budget in 0..200 {
        assert!(asked(&both, Format::Markdown, budget).tokens.0 <= budget, "{budget}");
    }
    let plain = asked(&[Section::Knowledge], Format::Markdown, 4_000).text;
    assert!(
        plain.contains("Deploys happen") && !plain.contains("##") && !plain.contains("releases"),
        "{plain}"
    );
    let xml = asked(&both, Format::Xml, 4_000).text;
    assert!(xml.contains("releases") && !xml.contains("##"), "{xml}");
}
