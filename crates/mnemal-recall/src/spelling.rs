//! British and American spellings: a question in the one finds turns in the other.

use std::collections::HashMap;
use std::sync::LazyLock;

use mnemal_core::TermHash;
use mnemal_text::{Analyzer, Language, term_hash};

/// Words that are spelled in two ways. Source: own choice of frequent words; forms with one stem need one line.
const PAIRS: &str = "\
colour color;favour favor;favourite favorite;flavour flavor;behaviour behavior;behavioural behavioral;neighbour neighbor;\
neighbourhood neighborhood;honour honor;humour humor;labour labor;harbour harbor;rumour rumor;odour odor;vapour vapor;\
savoury savory;armour armor;tumour tumor;endeavour endeavor;saviour savior;splendour splendor;parlour parlor;\
centre center;theatre theater;metre meter;kilometre kilometer;centimetre centimeter;litre liter;fibre fiber;sombre somber;\
organise organize;organisation organization;organiser organizer;realise realize;recognise recognize;apologise apologize;\
memorise memorize;summarise summarize;optimise optimize;optimisation optimization;prioritise prioritize;categorise categorize;\
customise customize;finalise finalize;initialise initialize;normalise normalize;serialise serialize;serialisation serialization;\
specialise specialize;emphasise emphasize;minimise minimize;maximise maximize;authorise authorize;authorisation authorization;\
synchronise synchronize;tokenise tokenize;visualise visualize;utilise utilize;socialise socialize;hospitalise hospitalize;\
criticise criticize;analyse analyze;paralyse paralyze;catalogue catalog;dialogue dialog;\
grey gray;kerb curb;plough plow;pyjamas pajamas;jewellery jewelry;aluminium aluminum;mum mom;mummy mommy;\
programme program;licence license;defence defense;offence offense;practise practice;cosy cozy;yoghurt yogurt;\
moustache mustache;sceptical skeptical;doughnut donut;skilful skillful;\
counsellor counselor;woollen woolen;anaemia anemia;\
anaesthetic anesthetic;gynaecologist gynecologist;orthopaedic orthopedic;paediatrician pediatrician;oestrogen estrogen;\
diarrhoea diarrhea;manoeuvre maneuver;judgement judgment;artefact artifact";

/// Returns the same word in its other spelling, as an index of English texts has it.
pub(crate) fn other_spelling(word: TermHash) -> Option<TermHash> {
    static PAIRED: LazyLock<HashMap<TermHash, TermHash>> = LazyLock::new(|| {
        let analyzer = Analyzer::new(Language::English);
        let mut paired = HashMap::new();
        for pair in PAIRS.split(';') {
            let terms = analyzer.query_terms(pair);
            if let [one, other] = terms.as_slice() {
                let (one, other) = (TermHash(term_hash(one)), TermHash(term_hash(other)));
                paired.entry(one).or_insert(other);
                paired.entry(other).or_insert(one);
            }
        }
        paired
    });
    PAIRED.get(&word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(word: &str) -> TermHash {
        let terms = Analyzer::new(Language::English).query_terms(word);
        TermHash(term_hash(terms.first().unwrap()))
    }

    #[test]
    fn each_spelling_leads_to_the_other() {
        for (one, other) in
            [("colours", "colors"), ("favourite", "favorite"), ("organised", "organized"), ("mum", "mom")]
        {
            assert_eq!(other_spelling(hash(one)), Some(hash(other)), "{one}");
            assert_eq!(other_spelling(hash(other)), Some(hash(one)), "{other}");
        }
        assert_eq!(other_spelling(hash("teal")), None);
    }

    #[test]
    fn every_pair_has_two_terms() {
        let terms = |pair: &&str| Analyzer::new(Language::English).query_terms(pair).len();
        let wrong: Vec<&str> = PAIRS.split(';').filter(|pair| terms(pair) != 2).collect();
        assert_eq!(wrong, [""; 0]);
    }
}
