//! Vocabulary for synthetic conversations: frequent English words, then made-up ones, by Zipf's law.

/// Distinct words. Source: own choice, about what a year of chat between two people holds.
const VOCABULARY: f64 = 20_000.0;

/// The most frequent words, in their order in English conversation.
const FREQUENT: &str = "i you the to and a it that of in is was my for on so have me with we be what this but are \
    they at just not do like can your about had all from will an there get up how when out if one were no or she \
    he as her would know think go really time good did been time some them now see then more by him our has work \
    here want could make want people day back after way because even new thing great love take first still last \
    home over year week feel only much too any need our their who tell most very down thanks where night being \
    family next right before why through better doing made off try always best school nice find again things long \
    something friends around every old little help hard life mom never book dinner start two weekend house kids \
    came got made say said told going music dog cat coffee movie trip park game car job sister brother garden \
    summer winter morning evening beach mountain city river train flight ticket hotel museum concert recipe bread \
    soup cake cheese apple orange green blue red yellow table chair window door kitchen phone laptop camera photo";

/// Beginnings, middles and ends of made-up words.
const SYLLABLES: [[&str; 16]; 3] = [
    [
        "mar", "bel", "cor", "dan", "fer", "gal", "hol", "jun", "kel", "lam", "mon", "nor", "par", "ril",
        "sol", "tam",
    ],
    ["a", "e", "i", "o", "an", "el", "in", "or", "as", "et", "il", "on", "ar", "en", "is", "u"],
    [
        "ton", "ber", "den", "field", "ly", "mer", "ning", "per", "sen", "ter", "vin", "wick", "dale", "gan",
        "low", "ra",
    ],
];

/// Numbers that follow from a seed: `SplitMix64`.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number of 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `end`, 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// Returns one of these.
    pub fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.get(self.below(of.len())).copied().unwrap_or_default()
    }
}

/// A vocabulary in the order of frequency.
#[derive(Clone, Debug)]
pub struct Words {
    frequent: Vec<&'static str>,
}

impl Default for Words {
    fn default() -> Self {
        Self { frequent: FREQUENT.split_whitespace().collect() }
    }
}

impl Words {
    /// Returns a word; the one of rank r comes with a probability of about 1 ÷ r.
    pub fn draw(&self, dice: &mut Dice) -> String {
        self.of_rank(rank(dice.unit()))
    }

    /// Returns a word behind the frequent ones, as the subjects of a conversation are.
    pub fn rare(&self, dice: &mut Dice) -> String {
        let share = (self.frequent.len() as f64).ln() / VOCABULARY.ln();
        self.of_rank(rank(share + (1.0 - share) * dice.unit()))
    }

    fn of_rank(&self, rank: usize) -> String {
        match self.frequent.get(rank) {
            Some(word) => (*word).to_owned(),
            None => made_up(rank),
        }
    }
}

/// The inverse of a distribution by 1 ÷ rank: equal shares of probability are equal factors of rank.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "1 to the size of the vocabulary"
)]
fn rank(unit: f64) -> usize {
    (VOCABULARY.powf(unit) as usize).saturating_sub(1)
}

/// One word a rank: two to four syllables, by the digits of the rank.
fn made_up(rank: usize) -> String {
    let syllable = |place: usize, digit: usize| {
        SYLLABLES.get(place).and_then(|of| of.get(digit % 16)).copied().unwrap_or_default()
    };
    let mut word = syllable(0, rank).to_owned();
    let mut rest = rank / 16;
    word.push_str(syllable(1, rest));
    rest /= 16;
    while rest >= 16 {
        word.push_str(syllable(0, rest));
        rest /= 16;
    }
    word.push_str(syllable(2, rest));
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_a_word_of_its_own() {
        let words = Words::default();
        let rare: std::collections::HashSet<String> = (300..20_000).map(|rank| words.of_rank(rank)).collect();
        assert_eq!(rare.len(), 19_700);
    }

    #[test]
    fn frequent_words_come_often_and_rare_ones_are_rare() {
        let (words, mut dice) = (Words::default(), Dice::new(1));
        let drawn: Vec<String> = (0..10_000).map(|_| words.draw(&mut dice)).collect();
        let count = |word: &str| drawn.iter().filter(|drawn| *drawn == word).count();
        assert!(count("i") > 3 * count("it") / 2 && count("the") > count("photo"));
        let rare = words.rare(&mut dice);
        assert!(!words.frequent.contains(&rare.as_str()), "{rare}");
    }
}
