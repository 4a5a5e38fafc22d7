//! Known entities passed to the extraction model as context.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Completion, EntityKind, Extraction, ExtractionContext, LanguageModel, ModelCaller,
    ModelExtractor, ModelId, Pass as _, Producer, Prompt, Purpose, Result, Slot, TokenCount, Usage,
    Utterance,
};
use mnemal_graph::{ModelExtractionPass, ModelReader};

use crate::log::{Life, now};

/// Finds nothing, and records the context of each question.
#[derive(Debug, Default)]
struct RecordingModel(Mutex<Vec<ExtractionContext>>);

impl ModelExtractor for RecordingModel {
    fn producer(&self) -> Producer {
        Producer { id: "listening".into(), version: 1 }
    }

    fn prompt(&self, _: &[Utterance<'_>], _: &ExtractionContext) -> Prompt {
        Prompt {
            purpose: Purpose::Extract,
            producer: self.producer(),
            instructions: String::new(),
            material: String::new(),
            schema: None,
            most: TokenCount(1),
        }
    }

    fn parse(
        &self,
        utterances: &[Utterance<'_>],
        familiar: &ExtractionContext,
        _: &Completion,
    ) -> Result<Vec<Extraction>> {
        self.0.lock().unwrap().push(familiar.clone());
        Ok(vec![Extraction::default(); utterances.len()])
    }
}

#[derive(Debug)]
struct SilentModel(ModelId);

#[async_trait]
impl LanguageModel for SilentModel {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn complete(&self, _: &mut BackgroundPermit, _: &Prompt) -> Result<Completion> {
        Ok(Completion { text: String::new(), model: self.0.clone(), usage: Usage::default() })
    }
}

/// Runs the model over the turns without certain rule claims, and returns the context of each question.
fn contexts(life: &Life) -> Vec<ExtractionContext> {
    let extractor = Arc::new(RecordingModel::default());
    let model = Arc::new(SilentModel(ModelId::new("silent").unwrap()));
    let caller = ModelCaller { model, cache: Slot::Empty };
    let pass = ModelExtractionPass {
        events: life.store.clone(),
        graph: life.store.clone(),
        ledger: Slot::Empty,
        reader: ModelReader::new(caller, Arc::<RecordingModel>::clone(&extractor)),
        batch: NonZeroUsize::new(20).unwrap(),
    };
    let mut permit = mnemal_testkit::permit(20);
    now(pass.run(&mut permit)).unwrap();
    extractor.0.lock().unwrap().clone()
}

fn names(familiar: &ExtractionContext) -> Vec<&str> {
    familiar.entities.iter().map(|(name, _)| name.as_str()).collect()
}

/// Twelve people, each mentioned on a day of January, and seven topics, each on a day of February.
fn life() -> Life {
    let mut life = Life::new();
    let people =
        ["Anna", "Boris", "Clara_Moss", "David", "Elena", "Fiona", "Georg", "Helen", "Ivan", "Judith"];
    for (day, name) in (1..).zip(people.into_iter().chain(["Karl", "Lena"])) {
        life.say(&format!("2024-01-{day:02}"), name);
    }
    for (day, theme) in (1..).zip(["rowing", "chess", "opera", "baking", "jazz", "tennis", "poetry"]) {
        life.say(&format!("2024-02-{day:02}"), &format!("me likes {theme}"));
    }
    life
}

/// Words without claims for the script: two per line.
const NOBODY: &str = "we went\nthere again\nand slept";

// proves: BA-22 (ten entities and five topics, by mention and then by recency)
#[test]
fn a_model_is_told_of_those_whom_the_turns_name_and_then_of_the_newest() {
    let mut life = life();
    life.say("2024-03-01", NOBODY);
    let familiar = &contexts(&life)[0];
    let newest =
        ["Lena", "Karl", "Judith", "Ivan", "Helen", "Georg", "Fiona", "Elena", "David", "Clara Moss"];
    assert_eq!(names(familiar), newest, "the newest where nobody is named");
    assert_eq!(familiar.topics, ["poetry", "tennis", "jazz", "baking", "opera"]);
    assert!(familiar.entities.iter().all(|(_, kind)| *kind == EntityKind::Person));

    life.say("2024-03-02", "we went\nwith anna\nto rowing\nwithout David,\nand Boris's\nolder brother");
    let familiar = &contexts(&life)[0];
    let named = ["David", "Boris", "Anna", "Lena", "Karl", "Judith", "Ivan", "Helen", "Georg", "Fiona"];
    assert_eq!(names(familiar), named, "any of the turns of a question counts");
    assert_eq!(familiar.topics, ["rowing", "poetry", "tennis", "jazz", "baking"]);
}

// proves: BA-22 (a part of a name is a mention)
#[test]
fn a_part_of_the_name_of_a_person_comes_behind_whole_names_and_before_the_newest() {
    let mut life = life();
    life.say("2024-03-01", "we saw\nMrs Moss\nand Anna\nalso there");
    assert_eq!(names(&contexts(&life)[0])[..3], ["Anna", "Clara Moss", "Lena"]);

    let mut life = self::life();
    life.say("2023-12-01", "House_of_Moss:organization");
    life.say("2024-03-01", "mossy walls\nof a\nlarge house");
    assert_eq!(names(&contexts(&life)[0])[0], "Lena", "neither a piece of a word nor a word of a firm");
}

// proves: BA-22 (each question by its own turns)
#[test]
fn each_question_is_told_of_those_whom_its_own_turns_name() {
    let mut life = life();
    for _ in 0..5 {
        life.say("2024-03-01", "then Anna\nwent home\nall alone");
    }
    life.say("2024-03-02", "then Boris\nwent home\nall alone");
    let told = contexts(&life);
    assert_eq!(told.iter().map(|one| names(one)[0]).collect::<Vec<_>>(), ["Anna", "Boris"]);
    assert!(!names(&told[1]).contains(&"Anna"));
}
