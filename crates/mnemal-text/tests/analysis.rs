//! Analyzer output for texts in all scripts.

use mnemal_text::{Analyzer, Language, is_stop_word};
use proptest::prelude::*;

fn terms(language: Language, text: &str) -> String {
    let terms = Analyzer::new(language).terms(text);
    terms.iter().map(|term| term.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn check(text: &str, expect: &str) {
    assert_eq!(terms(Language::English, text), expect, "{text}");
}

// proves: RB-13
#[test]
fn short_and_symbol_bearing_names_are_one_term_beside_their_parts() {
    check("C++ and C#", "c++ c and c# c");
    check("C++17, F#!", "c++ c 17 f# f");
    check("12 GB/s over TCP/IP", "12 gb/s gb s over tcp/ip tcp ip");
    check("Ubuntu 20.04", "ubuntu 20.04 20 04");
    check("R&D at AT&T", "r&d r d at at&t at t");
    check("Go, AI, v2", "go ai v2");
    check(".NET or Node.js", ".net net or node.js node js");
    check("on 2023-05-08", "on 2023-05-08 2023 05 08");
    check("a+b=c", "a b c");
    check("x/".repeat(20).as_str(), &["x"; 20].join(" "));
}

#[test]
fn words_stay_whole_where_they_should() {
    check("I can’t e-mail", "i can't e mail");
    check("foo_bar v1.2.3 x.io", "foo_bar foo bar v1.2.3 v1 2 3 x.io x io");
    check("well-known state-of-the-art", "well know state of the art");
    check("fixed.Thanks", "fixed.thanks fix thank");
    check("__init__ ___ ...", "__init__ init");
}

#[test]
fn inflected_english_meets_its_base() {
    check("Anna's children went swimming", "anna child go swim");
    check("She bought mice, taught, thought", "she buy mous teach think");
    check("the résumés of naïve cafés", "the resum of naiv cafe");
    check("running runs ran", "run run run");
}

/// Words that must share a term, per language.
const FAMILIES: &[(Language, &[&str])] = &[
    (Language::German, &["Haus", "Häuser", "Häusern"]),
    (Language::German, &["Straße", "STRASSE", "Straßen"]),
    (Language::French, &["mangée", "mangées", "mangé"]),
    (Language::French, &["l’hôtel", "hôtels", "Hôtel"]),
    (Language::Spanish, &["canción", "canciones"]),
    (Language::Portuguese, &["informações", "informação"]),
    (Language::Italian, &["l'acqua", "dell’acqua", "acqua"]),
    (Language::Dutch, &["huizen", "huize"]),
    (Language::Swedish, &["flickor", "flickorna"]),
    (Language::Finnish, &["talo", "talossa"]),
    (Language::Russian, &["ёлка", "елки", "ЁЛКУ"]),
    (Language::Greek, &["άνθρωπος", "άνθρωποι", "ΑΝΘΡΩΠΟΣ"]),
    (Language::Hungarian, &["házak", "házakat"]),
    (Language::English, &["l’hôtel", "dell'hôtel", "hôtel"]),
    (Language::English, &["Ankara'ya", "Ankara’dan", "Ankara"]),
    (Language::German, &["dall'amico", "amico"]),
    (Language::Romanian, &["abandonați", "abandonaţi", "abandonat"]),
    (Language::Romanian, &["informații", "informaţii", "informație"]),
    (Language::Turkish, &["kitap", "kitaplar"]),
    (Language::Turkish, &["İstanbul", "İstanbul’da"]),
    (Language::Turkish, &["Isı", "ısı", "ISI"]),
    (Language::Turkish, &["Isparta", "ISPARTA", "ısparta"]),
    (Language::Arabic, &["كتاب", "الكتاب", "والكتاب", "فالكتاب", "بالكتاب", "وبالكتاب", "وللكتاب"]),
    (Language::Arabic, &["أحمد", "احمد"]),
    (Language::Arabic, &["المدرسة", "مدرسه", "والمدرسة"]),
];

#[test]
fn accents_serve_the_stemmer_and_are_forgotten_afterwards() {
    for (language, family) in FAMILIES {
        let terms: Vec<String> = family.iter().map(|word| terms(*language, word)).collect();
        assert!(terms.windows(2).all(|pair| pair[0] == pair[1]), "{language:?}: {family:?} gives {terms:?}");
    }
}

// proves: NX-05.2
// proves: DF-60
#[test]
fn every_script_gives_terms_and_a_query_finds_its_text() {
    for (text, query) in [
        ("The red bicycle stands in the garage", "bicycles"),
        ("Красный велосипед стоит в гараже", "велосипеды"),
        ("Το κόκκινο ποδήλατο είναι στο γκαράζ", "ποδηλατο"),
        ("الدراجة الحمراء في المرآب", "دراجة"),
        ("האופניים האדומים במוסך", "האדומים"),
        ("लाल साइकिल गैराज में है", "साइकिल"),
        ("จักรยานสีแดงอยู่ในโรงรถ", "สีแดง"),
        ("红色的自行车在车库里", "车库"),
        ("赤い自転車はガレージにあります", "ガレージ"),
        ("빨간 자전거는 차고에 있습니다", "자전거"),
    ] {
        let analyzer = Analyzer::new(Language::guess(text));
        let indexed: Vec<String> = analyzer.terms(text).into_iter().map(|term| term.text).collect();
        for language in [Language::guess(text), Language::English] {
            let asked = Analyzer::new(language).query_terms(query);
            assert!(
                !asked.is_empty() && asked.iter().all(|term| indexed.contains(term)),
                "{query}: {asked:?} in {indexed:?}"
            );
        }
    }
}

// proves: PB-32
#[test]
fn scripts_without_spaces_become_pairs_of_characters() {
    check("我在Berlin住了3年。", "我在 berlin 住了 3 年");
    check("東京タワー", "東京 京タ 京た タワ たわ ワー わー");
    check("ﾊﾟﾝ", "パン ぱん");
    check("りんご", "りん んご");
    check("안녕하세요 책", "안녕 녕하 하세 세요 책");
    check("กินน้ำ", "กิน นน\u{e49}\u{e4d}า");
}

// proves: NX-05.2
#[test]
fn a_word_without_a_stemmer_shares_parts_with_its_other_forms() {
    for family in [
        &["ספק", "הספקים", "וספקים"],
        &["חוזה", "החוזים", "בחוזה"],
        &["किताब", "किताबें", "किताबों"],
        &["रोटी", "रोटियाँ", "रोटियों"],
        &["კატა", "კატები", "კატამ"],
    ] {
        let of = |word: &str| Analyzer::default().query_terms(word);
        let first = of(family[0]);
        assert!(family.iter().all(|word| of(word).iter().any(|part| first.contains(part))), "{family:?}");
    }
    check("ספק הספקים", "ספק הספקים הספ ספק פקי קימ");
    check("5 किताबें ५०००", "5 किताबें कित िता ताब ाबे बें ५०००");
    check("cats κήπος сад", "cat κηπ сад");
}

#[test]
fn a_parent_in_arabic_is_no_conjunction() {
    let one = |word| terms(Language::Arabic, word);
    assert_ne!(one("والدتي"), one("الدتي"));
    assert_eq!(one("والدرس"), one("الدرس"));
}

// proves: PB-28
#[test]
fn question_words_of_any_language_are_no_terms_of_a_query() {
    for (text, expect) in [
        ("¿Cuándo es la boda?", &["boda"][..]),
        ("Woran schreibt Hedda?", &["schreibt", "hedda"]),
        ("Où habitent nos voisins ?", &["habit", "voisin"]),
        ("Quantos irmãos você tem?", &["irmao"]),
        ("Hoeveel katten heb je?", &["katten"]),
        ("我的婚礼是什么时候？", &["婚礼", "时候"]),
        ("When did the war die down?", &["war", "die", "down"]),
    ] {
        assert_eq!(Analyzer::default().query_terms(text), expect, "{text}");
    }
}

#[test]
fn a_query_drops_stop_words_and_doubles_but_is_never_emptied() {
    let query = |text| Analyzer::new(Language::English).query_terms(text);
    assert_eq!(query("What did Anna's sister buy for the sister?"), ["anna", "sister", "buy"]);
    assert_eq!(query("who are you"), ["who", "are", "you"]);
    assert_eq!(query("what’s up?"), ["up"]);
    assert_eq!(query("\"AND\" OR (NEAR* col:x)"), ["near", "col:x", "col", "x"]);
    assert_eq!(query("?!"), Vec::<String>::new());
    assert_eq!(
        Analyzer::new(Language::German).query_terms("Wo ist der Schlüssel für das Haus?"),
        ["schlussel", "haus"]
    );
    assert_eq!(Analyzer::new(Language::English).query_terms("где мой ключ"), ["мо", "ключ"]);
}

#[test]
#[expect(clippy::string_slice, reason = "a test may panic")]
fn spans_point_into_the_original() {
    let text = "Ein „Häuser“-Test: ﬁne 東京 C++";
    let spans: Vec<&str> =
        Analyzer::new(Language::German).terms(text).iter().map(|term| &text[term.start..term.end]).collect();
    assert_eq!(spans, ["Ein", "Häuser", "Test", "ﬁne", "東京", "C++", "C"]);
}

/// Text with many scripts, symbols and rare characters.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,60}",
        any::<String>(),
        "[a-zA-Z0-9 .,;:'_+#/&-]{0,80}",
        "[a-zäöüßéèçñãőşığ' ]{0,40}",
        "[а-яёΑ-Ωα-ωςάأ-يஅ-ஹ\u{64b}\u{bcd} ]{0,40}",
        "[一-三ぁ-ょア-ヲ가-각ก-ฮ\u{e34}a-c ]{0,30}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn terms_lie_in_the_text_in_order_and_twice_the_same(text in any_text()) {
        for language in Language::all() {
            let analyzer = Analyzer::new(language);
            let terms = analyzer.terms(&text);
            for term in &terms {
                prop_assert!(!term.text.is_empty());
                prop_assert!(text.get(term.start..term.end).is_some_and(|span| !span.is_empty()));
            }
            prop_assert!(terms.is_sorted_by_key(|term| term.start));
            prop_assert_eq!(&terms, &analyzer.terms(&text));
        }
        Language::guess(&text);
        is_stop_word(Language::English, &text);
    }

    #[test]
    fn index_and_query_share_the_path(text in any_text()) {
        for language in [Language::English, Language::German, Language::French, Language::Arabic] {
            let analyzer = Analyzer::new(language);
            let indexed: Vec<String> = analyzer.terms(&text).into_iter().map(|term| term.text).collect();
            let asked = analyzer.query_terms(&text);
            prop_assert_eq!(asked.is_empty(), indexed.is_empty());
            prop_assert!(asked.iter().all(|term| indexed.contains(term)));
        }
    }
}
