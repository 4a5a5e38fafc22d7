//! Grounding check of model output: claims that the shown sources do not support are dropped.

use mnemal_core::{
    Completion, Digest, ModelDigester, Producer, Prompt, Result, Summarizer, SummaryEditor, TaskEvaluation,
    TaskEvaluator, TokenCount, WrittenLine, unusable,
};
use mnemal_text::unsupported;

/// A summarizer or digester with the grounding check on its output.
#[derive(Clone, Debug)]
pub(super) struct GroundingCheck<A>(pub(super) A);

/// Rejects a text with statements that its sources do not support; the error tells the model which.
fn supported(text: &str, sources: &[&str]) -> Result<()> {
    match unsupported(text, sources) {
        made_up if made_up.is_empty() => Ok(()),
        made_up => Err(unusable(format!("the texts do not say {}", made_up.join(", ")))),
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: Summarizer> Summarizer for GroundingCheck<A> {
    fn producer(&self) -> Producer {
        self.0.producer()
    }

    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt {
        self.0.prompt(previous, parts, budget)
    }

    fn parse(
        &self,
        previous: Option<&str>,
        parts: &[&str],
        budget: TokenCount,
        completion: &Completion,
    ) -> Result<String> {
        let text = self.0.parse(previous, parts, budget, completion)?;
        let sources: Vec<&str> = previous.into_iter().chain(parts.iter().copied()).collect();
        supported(&text, &sources)?;
        Ok(text)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: SummaryEditor> SummaryEditor for GroundingCheck<A> {
    fn producer(&self) -> Producer {
        self.0.producer()
    }

    fn prompt(&self, before: &[WrittenLine], sentences: &[String]) -> Prompt {
        self.0.prompt(before, sentences)
    }

    /// Removes new lines that their sentences do not support; when more than half are unsupported, rejects all of them.
    fn parse(
        &self,
        before: &[WrittenLine],
        sentences: &[String],
        completion: &Completion,
    ) -> Result<Vec<WrittenLine>> {
        let mut lines = self.0.parse(before, sentences, completion)?;
        let new = lines.iter().filter(|line| !before.contains(line)).count();
        let (all, mut why) = (lines.len(), None);
        lines.retain(|line| {
            let cited = line.rests.iter().filter_map(|place| sentences.get(*place as usize));
            let cited: Vec<&str> = cited.map(String::as_str).collect();
            let made_up = if before.contains(line) { Ok(()) } else { supported(&line.text, &cited) };
            let is_kept = made_up.is_ok();
            why = made_up.err().or(why.take());
            is_kept
        });
        let left_out = all - lines.len();
        match why {
            Some(why) if left_out * 2 > new || lines.is_empty() => Err(why),
            _ => Ok(lines),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: ModelDigester> ModelDigester for GroundingCheck<A> {
    fn producer(&self) -> Producer {
        self.0.producer()
    }

    fn prompt(&self, text: &str) -> Prompt {
        self.0.prompt(text)
    }

    /// Removes names and topics that do not occur in the text.
    fn parse(&self, text: &str, completion: &Completion) -> Result<Digest> {
        let mut digest = self.0.parse(text, completion)?;
        supported(&digest.text, &[text])?;
        digest.topics.retain(|topic| unsupported(topic.as_str(), &[text]).is_empty());
        Ok(digest)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: TaskEvaluator> TaskEvaluator for GroundingCheck<A> {
    fn producer(&self) -> Producer {
        self.0.producer()
    }

    fn prompt(&self, steps: &[String]) -> Prompt {
        self.0.prompt(steps)
    }

    fn parse(&self, steps: &[String], completion: &Completion) -> Result<Option<TaskEvaluation>> {
        let evaluation = self.0.parse(steps, completion)?;
        let shown: Vec<&str> = steps.iter().map(String::as_str).collect();
        evaluation.iter().try_for_each(|said| supported(&said.lesson, &shown))?;
        Ok(evaluation)
    }
}
