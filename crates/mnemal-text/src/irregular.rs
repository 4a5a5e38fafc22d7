//! Irregular English forms, which no stemmer maps to their base.

/// Returns the base form of an irregular English word in lower case (`went` → `go`, `children` → `child`).
///
/// Forms that are more often another word stay as they are: `left`, `rose`, `saw`, `ground`, `bit`, `leaves`, `lives`.
pub(crate) fn base_form(word: &str) -> Option<&'static str> {
    if !(3..=10).contains(&word.len()) {
        return None;
    }
    let found = FORMS.binary_search_by(|(form, _)| (*form).cmp(word)).ok()?;
    FORMS.get(found).map(|(_, base)| *base)
}

/// Source: own choice of the frequent irregular verbs and plurals, sorted.
#[rustfmt::skip]
const FORMS: &[(&str, &str)] = &[
    ("arose", "arise"), ("ate", "eat"), ("became", "become"), ("began", "begin"), ("begun", "begin"),
    ("bent", "bend"), ("bitten", "bite"), ("bled", "bleed"), ("blew", "blow"), ("blown", "blow"),
    ("bought", "buy"), ("bred", "breed"), ("broke", "break"), ("broken", "break"), ("brought", "bring"),
    ("built", "build"), ("burnt", "burn"), ("came", "come"), ("caught", "catch"), ("children", "child"),
    ("chose", "choose"), ("chosen", "choose"), ("clung", "cling"), ("crept", "creep"), ("dealt", "deal"),
    ("did", "do"), ("done", "do"), ("drank", "drink"), ("drawn", "draw"), ("dreamt", "dream"),
    ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("dug", "dig"),
    ("eaten", "eat"), ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"),
    ("felt", "feel"), ("fled", "flee"), ("flew", "fly"), ("flown", "fly"), ("forbade", "forbid"),
    ("forbidden", "forbid"), ("forgave", "forgive"), ("forgiven", "forgive"), ("forgot", "forget"),
    ("forgotten", "forget"), ("fought", "fight"), ("found", "find"), ("froze", "freeze"),
    ("frozen", "freeze"), ("gave", "give"), ("geese", "goose"), ("given", "give"), ("gone", "go"),
    ("got", "get"), ("gotten", "get"), ("grew", "grow"), ("grown", "grow"), ("had", "have"),
    ("halves", "half"), ("has", "have"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"),
    ("hidden", "hide"), ("hung", "hang"), ("kept", "keep"), ("knew", "know"), ("knives", "knife"),
    ("known", "know"), ("laid", "lay"), ("led", "lead"), ("lent", "lend"), ("lit", "light"),
    ("loaves", "loaf"), ("lost", "lose"), ("made", "make"), ("meant", "mean"), ("men", "man"),
    ("met", "meet"), ("mice", "mouse"), ("overcame", "overcome"), ("oxen", "ox"), ("paid", "pay"),
    ("proven", "prove"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"), ("risen", "rise"),
    ("rode", "ride"), ("said", "say"), ("sang", "sing"), ("sank", "sink"), ("sat", "sit"), ("seen", "see"),
    ("sent", "send"), ("sewn", "sew"), ("shaken", "shake"), ("shelves", "shelf"), ("shone", "shine"),
    ("shook", "shake"), ("shown", "show"), ("shrank", "shrink"), ("slept", "sleep"), ("slid", "slide"),
    ("sold", "sell"), ("sought", "seek"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"),
    ("sprang", "spring"), ("spun", "spin"), ("stole", "steal"), ("stolen", "steal"), ("stood", "stand"),
    ("strove", "strive"), ("struck", "strike"), ("stuck", "stick"), ("stung", "sting"), ("sung", "sing"),
    ("sunk", "sink"), ("swam", "swim"), ("swept", "sweep"), ("swore", "swear"), ("sworn", "swear"),
    ("swum", "swim"), ("swung", "swing"), ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"),
    ("thieves", "thief"), ("thought", "think"), ("threw", "throw"), ("thrown", "throw"), ("told", "tell"),
    ("took", "take"), ("tore", "tear"), ("torn", "tear"), ("understood", "understand"), ("undone", "undo"),
    ("went", "go"), ("wept", "weep"), ("withdrawn", "withdraw"), ("withdrew", "withdraw"),
    ("wives", "wife"), ("woke", "wake"), ("woken", "wake"), ("wolves", "wolf"), ("women", "woman"),
    ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("written", "write"), ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_form_is_found() {
        assert!(FORMS.is_sorted_by(|a, b| a.0 < b.0));
        for (form, base) in FORMS {
            assert_eq!(base_form(form), Some(*base), "{form}");
        }
        assert!((120..=180).contains(&FORMS.len()), "{}", FORMS.len());
    }

    #[test]
    fn no_base_form_is_itself_irregular() {
        for (form, base) in FORMS {
            assert_eq!(base_form(base), None, "{form} leads to {base}");
        }
    }

    #[test]
    fn forms_that_are_mostly_other_words_stay() {
        for word in ["left", "rose", "saw", "news", "a", ""] {
            assert_eq!(base_form(word), None, "{word}");
        }
    }
}
