//! Screen for unusable answers (repetition, prompt echo and others), whatever the purpose and the model.

use std::collections::HashSet;

use mnemal_core::{Prompt, Result, unusable};

/// Most bytes of an average token. Source: own choice; English prose has 4 to 5.
const BYTES_A_TOKEN: usize = 12;
/// Window of words for the repetition check. Source: own choice.
const STRETCH: usize = 200;
/// Words per distinct word at which a window counts as repetition. Source: own choice, a unique-word ratio of 0.1.
const REPEATED: usize = 10;
/// Bytes compared at a position, in scripts without words. Source: own choice.
const PIECE: usize = 8;
/// Positions per distinct piece at which a text counts as repetition. Source: own choice; it replaces a compression ratio.
const SAME: usize = 20;
/// Words in a row that are compared with the prompt. Source: own choice; shared runs of eight words are quotations.
const RUN: usize = 8;
/// Percentage of an answer's runs that may occur in the prompt. Source: own choice; more is an echo of the prompt.
const ECHOED: usize = 80;

/// Accepts a plausible answer.
///
/// # Errors
/// `Unsupported` for an answer that is far longer than requested, repeats itself endlessly, or repeats the prompt.
pub(super) fn screen(prompt: &Prompt, text: &str) -> Result<()> {
    if text.len() > (prompt.most.0 as usize).saturating_mul(BYTES_A_TOKEN) {
        return Err(unusable("it was far too long"));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if repeats_words(&words) || repeats_pieces(text.as_bytes()) {
        return Err(unusable("it repeated itself"));
    }
    if echoes(&words, prompt) {
        return Err(unusable("it repeated the question"));
    }
    Ok(())
}

fn repeats_words(words: &[&str]) -> bool {
    let repeats = |stretch: &[&str]| {
        let different: HashSet<&str> = stretch.iter().copied().collect();
        stretch.len() == STRETCH && different.len() * REPEATED < stretch.len()
    };
    words.chunks(STRETCH).any(repeats)
}

fn repeats_pieces(bytes: &[u8]) -> bool {
    let places = bytes.len().saturating_sub(PIECE - 1);
    // Fewer places cannot be so many for one piece and mean anything.
    if places < SAME * SAME {
        return false;
    }
    let different: HashSet<&[u8]> = bytes.windows(PIECE).collect();
    places > different.len() * SAME
}

fn echoes(words: &[&str], prompt: &Prompt) -> bool {
    let told: Vec<&str> =
        prompt.instructions.split_whitespace().chain(prompt.material.split_whitespace()).collect();
    let known: HashSet<&[&str]> = told.windows(RUN).collect();
    let runs = words.len().saturating_sub(RUN - 1);
    let echoed = words.windows(RUN).filter(|run| known.contains(run)).count();
    runs > 0 && echoed * 100 >= runs * ECHOED
}

#[cfg(test)]
mod tests {
    use mnemal_core::{ErrorKind, Producer, Purpose, TokenCount};

    use super::*;

    fn prompt(most: u32) -> Prompt {
        Prompt {
            purpose: Purpose::Summarize,
            producer: Producer { id: "test".to_owned(), version: 1 },
            instructions: "Say in one sentence what happened, and copy every name and number as it stands."
                .to_owned(),
            material: "1: We met on Tuesday and chose the blue boat, because the red one leaks at the bow."
                .to_owned(),
            schema: None,
            most: TokenCount(most),
        }
    }

    #[test]
    fn an_answer_that_can_be_one_passes() {
        let prose: Vec<String> = (0..400).map(|n| format!("word{n} and number {n}")).collect();
        let prose = prose.join(" ");
        for text in ["They chose the blue boat.", "ok", "[]", &prose] {
            assert!(screen(&prompt(8_000), text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_goes_round_in_circles_or_repeats_the_question_is_none() {
        let question = prompt(60_000);
        let words = "and so on and on it goes ".repeat(8_000);
        let (letters, chinese) = ("a".repeat(5_000), "我们选择了蓝色的船".repeat(200));
        let echo = format!("Answer: {} {}", question.instructions, question.material);
        for text in [&words, &letters, &chinese, &echo, &question.material] {
            assert_eq!(screen(&question, text).unwrap_err().kind(), ErrorKind::Unsupported, "{text:.40}");
        }
        assert!(screen(&prompt(10), &"long ".repeat(30)).is_err());
    }
}
