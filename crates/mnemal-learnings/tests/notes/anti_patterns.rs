//! Anti-patterns: extracted from corrections part by part, and active only with an alternative.

use mnemal_core::{
    AntiPattern, Basis, EventKind, Learning, LearningKind, LearningStatus, Level, Origin, Remember, Stance,
    ToolName,
};
use mnemal_learnings::{LearningOrigin, Objective, Sentiment, recommendation};

use crate::learned::{AGENT, Turn, USER, life};
use crate::log::{Space, remember};

const USED: &str = "Done, I have installed it with npm and pushed to main.";

/// Returns the learnings of one message that answers work, without endings.
fn taught(session: &str, message: &str) -> Vec<Learning> {
    let mut rows = life(&[(session, AGENT, USED), (session, USER, message)]).learnt();
    rows.retain(|row| row.signal.as_ref().is_none_or(|signal| signal.stance != Stance::End));
    rows
}

fn parts(row: &Learning) -> (&str, Option<&str>, Option<&str>) {
    let AntiPattern { avoid, reason, instead } = row.pattern.as_ref().unwrap();
    (avoid, reason.as_deref(), instead.as_deref())
}

// proves: RB-22, RB-23 (from corrections, by rule), RB-24 (an alternative that is known)
#[test]
fn a_correction_that_names_an_alternative_is_an_anti_pattern_with_its_parts() {
    for (message, expected, sentence, category) in [
        (
            "Never push to main because CI breaks; open a pull request instead.",
            ("push to main", Some("CI breaks"), Some("open a pull request")),
            "Don't push to main for CI breaks — instead open a pull request",
            "anti-patterns/push",
        ),
        (
            "Stop using npm, use pnpm instead.",
            ("using npm", None, Some("pnpm")),
            "Don't keep using npm — instead pnpm",
            "anti-patterns/answer",
        ),
        (
            "Use pnpm instead of npm, because the lockfile breaks.",
            ("use npm", Some("the lockfile breaks"), Some("pnpm")),
            "Don't use npm for the lockfile breaks — instead pnpm",
            "anti-patterns/answer",
        ),
        (
            "Don't use npm because it breaks the lockfile, use pnpm instead.",
            ("use npm", Some("it breaks the lockfile"), Some("pnpm")),
            "Don't use npm for it breaks the lockfile — instead pnpm",
            "anti-patterns/answer",
        ),
    ] {
        let rows = taught("a", message);
        assert_eq!(rows.len(), 1, "{message}: {rows:?}");
        let row = &rows[0];
        assert_eq!(parts(row), expected, "{message}");
        assert_eq!((row.content.as_str(), row.category.as_str()), (sentence, category));
        assert_eq!((row.kind, row.level), (LearningKind::AntiPattern, Level::User));
        assert!(row.tags.iter().any(|tag| tag.as_str() == "anti-pattern"));
        assert_eq!(row.sources.len(), 1);
    }
}

// proves: RB-22 (usual wordings, each with its parts)
#[test]
fn usual_wordings_of_what_to_do_instead_have_their_parts() {
    let mut wrong = Vec::new();
    for (message, avoid, reason, instead) in [
        ("Don't send emails directly, ask me first instead.", "send emails directly", None, "ask me first"),
        ("Next time use ripgrep rather than find.", "use find", None, "ripgrep"),
        ("Stop using tabs — use spaces.", "using tabs", None, "spaces"),
        (
            "Don't deploy on Fridays. Deploy on Mondays instead.",
            "deploy on Fridays",
            None,
            "deploy on Mondays",
        ),
        (
            "Never write to the live database. Please use the staging database instead, because customers notice.",
            "write to the live database",
            Some("customers notice"),
            "the staging database",
        ),
        ("Never use tabs in the code, use spaces.", "use tabs in the code", None, "spaces"),
    ] {
        let rows = taught("a", message);
        let found = rows.iter().find(|row| row.kind == LearningKind::AntiPattern).map(parts);
        if found != Some((avoid, reason, Some(instead))) {
            wrong.push(format!("{message}: {found:?} of {}", rows.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// proves: RB-62 (a suggestion in passing is no rule)
#[test]
fn a_suggestion_is_held_as_tentative_and_three_of_them_are_a_preference() {
    for message in ["Maybe use tables next time?", "Perhaps keep the replies shorter from now on."] {
        let turn = |session| -> [Turn<'_>; 2] {
            [(session, AGENT, "Here is the report."), (session, USER, message)]
        };
        let once = life(&turn("a"));
        assert!(once.holds().is_empty(), "{message}: {:?}", once.holds());
        assert!(
            once.learnt().iter().all(|row| row.basis == Basis::Inferred),
            "{message}: {:?}",
            once.learnt()
        );
        let thrice = life(&[turn("a"), turn("b"), turn("c")].concat());
        assert_eq!(thrice.holds().len(), 1, "{message}: {:?}", thrice.learnt());
    }
}

// proves: RB-24 (the weights of RB-62; without an alternative a candidate)
#[test]
fn corrections_hold_when_they_weigh_enough_and_only_with_an_alternative() {
    let open = "I told you not to use grep for that.";
    let turn = |session, message| -> [Turn<'_>; 2] { [(session, AGENT, USED), (session, USER, message)] };
    let mut log: Vec<Turn<'_>> = Vec::new();
    for session in ["a", "b", "c", "d"] {
        log.extend(turn(session, open));
    }
    let space = life(&log);
    let rows = space.learnt();
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows.iter().all(|row| row.status == LearningStatus::Candidate && row.basis == Basis::Inferred));
    assert_eq!(parts(&rows[0]), ("use grep for that", None, None));

    let mild = "Use ripgrep instead of grep.";
    assert!(life(&turn("a", mild)).holds().is_empty(), "one gentle correction is not enough");
    let space = life(&[turn("a", mild), turn("b", mild)].concat());
    assert_eq!(space.texts(), ["Don't use grep — instead ripgrep"]);
    assert_eq!(space.holds()[0].signal.as_ref().unwrap().supports, 2);
    let told = "Never use grep, use ripgrep instead.";
    assert_eq!(life(&turn("a", told)).holds()[0].basis, Basis::Stated, "an explicit order is enough");
}

// proves: RB-24 (level user)
#[test]
fn nobody_but_the_user_makes_an_anti_pattern() {
    for origin in [Origin::Assistant, Origin::Document, Origin::ToolExternal, Origin::Import] {
        let mut space = Space::new();
        space.append(EventKind::AssistantMessage, USED, AGENT);
        space.append(EventKind::UserMessage, "Stop using npm, use pnpm instead.", origin);
        let kind = LearningKind::AntiPattern;
        let decision = mnemal_core::Decision::Remember(Remember { kind, ..remember("npm") });
        space.append(EventKind::Decision(decision), "Don't use npm — instead pnpm", origin);
        space.catch_up(9);
        assert!(
            space.rows().iter().all(|row| row.kind == LearningKind::Note && row.pattern.is_none()),
            "{origin:?}"
        );
    }
}

#[test]
fn what_the_user_does_not_do_himself_is_no_order() {
    for message in ["That's wrong, I don't use npm.", "That's wrong. We never push to main on Fridays."] {
        let rows = taught("a", message);
        assert!(rows.iter().all(|row| row.kind != LearningKind::AntiPattern), "{message}: {rows:?}");
    }
}

// proves: RB-22 (one that is stored)
#[test]
fn an_anti_pattern_that_the_user_stores_has_its_parts() {
    let kind = LearningKind::AntiPattern;
    let mut space = Space::new();
    for (key, text) in [
        ("one", "Don't deploy on Fridays for nobody is around — instead wait for Monday"),
        ("two", "Never deploy on Fridays because nobody is around, deploy on Mondays instead."),
        ("three", "Fridays"),
    ] {
        let decision = mnemal_core::Decision::Remember(Remember { kind, ..remember(key) });
        space.append(EventKind::Decision(decision), text, USER);
    }
    space.catch_up(9);
    let rows = space.rows();
    let of = |text: &str| rows.iter().find(|row| row.content.starts_with(text)).unwrap();
    assert_eq!(parts(of("Don't")), ("deploy on Fridays", Some("nobody is around"), Some("wait for Monday")));
    assert_eq!(
        parts(of("Never")),
        ("deploy on Fridays", Some("nobody is around"), Some("deploy on Mondays"))
    );
    assert_eq!((of("Fridays").kind, of("Fridays").pattern.as_ref()), (kind, None));
}

// proves: NB-12
#[test]
fn a_learning_says_what_taught_it_what_it_speaks_for_and_what_to_do() {
    let rows = taught("a", "Stop using npm, use pnpm instead.");
    assert_eq!(LearningOrigin::of(&rows[0]), Some(LearningOrigin::UserFeedback));
    assert_eq!((Sentiment::of(&rows[0]), recommendation(&rows[0])), (Sentiment::Negative, Some("pnpm")));
    let shorter = "Actually, I prefer shorter responses.";
    let mut space = life(&[("a", AGENT, "Here is the plan."), ("a", USER, shorter)]);
    let row = &space.holds()[0];
    assert_eq!((Sentiment::of(row), recommendation(row)), (Sentiment::Positive, Some(shorter)));
    let known_since = row.updated_at();
    assert_eq!(known_since, row.created_at);
    space.say(("b", USER, "From now on, keep your replies long."));
    space.catch_up(9);
    let rows = space.learnt();
    let older = rows.iter().find(|row| row.content == shorter).unwrap();
    assert!(older.superseded_by.is_some() && older.updated_at() > known_since, "{older:?}");

    let mut space = Space::new();
    for _ in 0..3 {
        let tool = ToolName::new("deploy").unwrap();
        space.append(EventKind::ToolResult { tool, ok: false }, "timeout", Origin::ToolInternal);
    }
    space.remember("day", "Tuesday", USER);
    space.catch_up(9);
    let rows = space.rows();
    let tool = rows.iter().find(|row| row.kind == LearningKind::Tool).unwrap();
    assert_eq!(LearningOrigin::of(tool), Some(LearningOrigin::ToolErrors));
    assert_eq!((Sentiment::of(tool), recommendation(tool)), (Sentiment::Negative, None));
    let note = rows.iter().find(|row| row.kind == LearningKind::Note).unwrap();
    assert_eq!(
        (LearningOrigin::of(note), Sentiment::of(note), recommendation(note)),
        (None, Sentiment::Neutral, None)
    );
}

// proves: BA-11
#[test]
fn a_learning_knows_what_kind_of_work_it_is_about_and_its_event() {
    for (message, objective) in [
        ("Never push to main because CI breaks; open a pull request instead.", Objective::Code),
        ("Stop using npm, use pnpm instead.", Objective::Code),
        ("From now on, never write long emails.", Objective::Email),
        ("From now on, keep your replies short.", Objective::Communication),
        ("From now on, always put the total below the table.", Objective::Data),
        ("From now on, always begin the report with the conclusion.", Objective::Document),
        ("From now on, always schedule meetings in the morning.", Objective::Schedule),
        ("From now on, always cite your sources.", Objective::Research),
        ("I can't stand crowded places.", Objective::General),
    ] {
        let mut space = life(&[("a", AGENT, USED)]);
        let event = space.say(("a", USER, message));
        space.catch_up(9);
        let rows = space.learnt();
        assert!(!rows.is_empty(), "{message}");
        for row in &rows {
            assert_eq!((Objective::of(row), row.sources[0].event), (objective, event), "{message}: {row:?}");
        }
    }
    let mut space = Space::new();
    for _ in 0..3 {
        let tool = ToolName::new("web_search").unwrap();
        space.append(EventKind::ToolResult { tool, ok: false }, "timeout", Origin::ToolInternal);
    }
    space.catch_up(9);
    assert_eq!(Objective::of(&space.learnt()[0]), Objective::Research);
}
