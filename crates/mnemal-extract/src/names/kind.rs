//! What a run of words names, weighed from lists, its own shape and the words beside it.

use mnemal_core::EntityKind;

use crate::names::lexicon::Known;
use crate::names::pack::Words;
use crate::names::run::{Case, Reading, Run};
use crate::names::token::{Gap, Shape};

/// The kinds of names, in the order in which ties are decided.
pub(crate) const KINDS: [EntityKind; 7] = [
    EntityKind::Person,
    EntityKind::Location,
    EntityKind::Organization,
    EntityKind::Product,
    EntityKind::Work,
    EntityKind::Event,
    EntityKind::Animal,
];

/// Evidence for each kind, in halves of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weights([i32; 7]);

impl Weights {
    pub(crate) fn add(&mut self, kind: EntityKind, weight: i32) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place += if of == kind { weight } else { 0 };
        }
    }

    fn raise(&mut self, kind: EntityKind, weight: i32) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place = if of == kind { weight.max(*place) } else { *place };
        }
    }

    fn quiet(&mut self, kind: EntityKind) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place = if of == kind { (*place).min(0) } else { *place };
        }
    }

    fn add_all(&mut self, weight: i32) {
        for place in &mut self.0 {
            *place += weight;
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (place, of_other) in self.0.iter_mut().zip(other.0) {
            *place += of_other;
        }
    }

    /// What a list knows is seldom something else, whatever stands beside it.
    fn halve_unlisted(&mut self, listed: Known) {
        for (known, kind, _) in LISTED {
            for (place, of) in self.0.iter_mut().zip(KINDS) {
                let is_shared = match of {
                    EntityKind::Person => *place >= ROLE,
                    // A maker and its product share a name, a town and its university or club do.
                    EntityKind::Organization => *place >= 8 && listed.has(Known::PRODUCT.with(Known::PLACE)),
                    EntityKind::Product => listed.has(Known::ORGANIZATION),
                    _ => false,
                };
                if of == kind && !listed.has(known) && !is_shared {
                    *place /= 2;
                }
            }
        }
    }

    pub(crate) fn of(&self, kind: EntityKind) -> i32 {
        self.0.iter().zip(KINDS).find(|(_, of)| *of == kind).map_or(0, |(weight, _)| *weight)
    }

    /// Returns the kind for which most speaks, the first of equals.
    pub(crate) fn best(&self) -> (EntityKind, i32) {
        let mut best = (EntityKind::Person, i32::MIN);
        for (kind, weight) in KINDS.into_iter().zip(self.0) {
            if weight > best.1 {
                best = (kind, weight);
            }
        }
        best
    }
}

/// What speaks for a run being a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// From lists and shape.
    pub(crate) own: Weights,
    /// From the words beside it.
    pub(crate) beside: Weights,
}

impl Evidence {
    pub(crate) fn total(&self) -> Weights {
        let mut total = self.own;
        total.join(&self.beside);
        total
    }
}

/// So much must speak for a name. Source: own choice, the best balance on the development half of the gold set.
pub(crate) const ENOUGH: i32 = 4;

/// What a role before a name says: "my sister", "Dr". Source: own choice; more than any list.
const ROLE: i32 = 9;

/// Weighs a run.
pub(crate) fn weigh(reading: &Reading<'_>, run: &Run) -> Evidence {
    let mut evidence = Evidence { own: own(reading, run), beside: Weights::default() };
    beside(reading, run, &mut evidence.beside);
    evidence
}

/// What the lists say; a word of everyday language counts half.
const LISTED: [(Known, EntityKind, i32); 6] = [
    (Known::PLACE, EntityKind::Location, 8),
    (Known::ORGANIZATION, EntityKind::Organization, 7),
    (Known::PRODUCT, EntityKind::Product, 8),
    (Known::WORK, EntityKind::Work, 8),
    (Known::EVENT, EntityKind::Event, 9),
    (Known::FIRST, EntityKind::Person, 7),
];

fn own(reading: &Reading<'_>, run: &Run) -> Weights {
    let mut own = Weights::default();
    let first = run.words.start;
    let is_ordinary = is_ordinary(reading, run);
    let is_initial = reading.token(first).is_some_and(|token| token.is_initial);
    if run.is_phrase && run.listed.has(Known::NAMED) && !is_wrongly_written(reading, run) {
        for (known, kind, weight) in LISTED {
            if run.listed.has(known) {
                let is_person = kind == EntityKind::Person && run.listed.has(Known::PERSON_FIRST);
                let is_meant = is_ordinary && is_plain_capital(reading, run);
                let weight = match (is_ordinary, is_meant) {
                    (false, _) => weight,
                    (true, true) => weight * 2 / 3,
                    (true, false) => weight / 2,
                };
                own.add(kind, weight + 2 * i32::from(is_person));
            }
        }
        let is_shouted = reading.token(first).is_some_and(|token| token.shape == Shape::Shout);
        if is_shouted && run.words.len() == 1 {
            own.add(EntityKind::Person, -4);
        }
        if run.words.len() == 1 && is_ordinary && run.listed.has(Known::WORK) {
            own.add(EntityKind::Work, -3);
        }
    }
    if run.words.len() == 1 && reading.known(first).has(Known::REJECT) {
        // "May" and "April" are months unless a role says otherwise.
        own.add_all(-7);
    }
    if run.keeps_ending && run.words.len() == 1 && !(run.is_phrase && run.listed.has(Known::ORGANIZATION)) {
        // "at Hobb's": a shop or a firm.
        own.add(EntityKind::Organization, 8);
    }
    let is_unlisted = !run.is_phrase || !run.listed.has(Known::NAMED) || is_wrongly_written(reading, run);
    if is_ordinary && is_unlisted && run.words.len() == 1 {
        own.add_all(if run.is_lower { -30 } else { -6 });
        return own;
    }
    if is_unlisted && run.words.len() == 1 && is_people(reading, run) {
        own.add_all(-6);
    }
    if run.is_lower {
        lower(reading, run, &mut own);
    } else {
        shape(reading, run, &mut own);
        let is_answer = run.listed.has(Known::PRODUCT)
            && !run.listed.has(Known::FIRST.with(Known::PLACE))
            && reading.tokens.len() == 1;
        if is_ordinary && is_initial && run.words.len() == 1 && !is_answer {
            own.add_all(-5);
        }
    }
    own
}

/// A capital within a sentence of small letters, which nobody writes without a reason.
fn is_plain_capital(reading: &Reading<'_>, run: &Run) -> bool {
    let at = run.words.start;
    let is_capital = reading.token(at).is_some_and(|token| {
        token.shape == Shape::Capital
            && !token.is_initial
            && token.gap == Gap::Space
            && token.key().len() > 2
            && !matches!(token.key(), "may" | "will" | "queen" | "diamond")
    });
    let is_beside = |at: Option<usize>| {
        at.and_then(|at| reading.token(at))
            .is_some_and(|token| token.shape == Shape::Capital && !token.is_initial)
    };
    is_capital
        && !run.is_lower
        && !(run.words.len() == 1
            && reading.known(at).has(Known::REJECT.with(Known::NATIONALITY).with(Known::TITLE)))
        && reading.case(at) == Case::Usual
        && !is_beside(at.checked_sub(1))
        && !is_beside(Some(run.words.end))
}

/// "It" is no "IT".
fn is_wrongly_written(reading: &Reading<'_>, run: &Run) -> bool {
    let Some(token) = reading.token(run.words.start) else { return true };
    let is_short = token.key().len() <= 2 || run.listed.has(Known::ORDINARY.with(Known::FIRST));
    run.words.len() == 1 && run.listed.has(Known::SHOUTED) && token.shape != Shape::Shout && is_short
}

fn is_ordinary(reading: &Reading<'_>, run: &Run) -> bool {
    run.words.clone().all(|at| {
        let known = reading.known(at);
        known.has(Known::ORDINARY.with(Known::NATIONALITY).with(Known::PARTICLE))
            || reading.token(at).is_some_and(|token| token.shape == Shape::Number)
    })
}

/// Small letters speak against a name; where there are none but small letters, less so.
fn lower(reading: &Reading<'_>, run: &Run, own: &mut Weights) {
    let is_usual = reading.case(run.words.start) != Case::None;
    if is_ordinary(reading, run) {
        own.add_all(-8);
        let is_tool = run.listed.has(Known::PRODUCT);
        own.add(EntityKind::Product, if is_tool { 1 + version(reading, run) } else { 0 });
        return;
    }
    if run.words.len() > 1 {
        own.add_all(if is_usual { -4 } else { 0 });
        return;
    }
    let rest = if is_usual { -7 } else { -6 };
    let is_long = reading.token(run.words.start).is_some_and(|token| token.key().len() >= 4);
    let is_sure = !is_usual && is_long && !run.listed.has(Known::PRODUCT);
    own.add(EntityKind::Person, -8);
    own.add(EntityKind::Location, if is_sure && !run.listed.has(Known::FIRST) { -5 } else { rest });
    own.add(EntityKind::Organization, if is_sure { -3 } else { rest });
    own.add(EntityKind::Work, rest);
    own.add(EntityKind::Event, rest);
    own.add(EntityKind::Animal, rest);
    let is_person = run.listed.has(Known::FIRST.with(Known::SURNAME).with(Known::PLACE));
    own.add(EntityKind::Product, if is_person { rest } else { 0 });
}

/// "fedora 41", "go 1.22": a number behind a tool in small letters is its version.
fn version(reading: &Reading<'_>, run: &Run) -> i32 {
    let Some(next) = reading.token(run.words.end) else { return 0 };
    let ends = reading.token(run.words.end + 1).is_none_or(|after| {
        after.gap != Gap::Space
            || !matches!(
                after.lower.as_ref(),
                "times"
                    | "minutes"
                    | "hours"
                    | "days"
                    | "years"
                    | "pm"
                    | "am"
                    | "weeks"
                    | "months"
                    | "people"
                    | "of"
            )
    });
    let is_number = next.shape == Shape::Number && next.gap == Gap::Space && ends;
    match (is_number, next.key().contains('.')) {
        (true, true) => 8,
        (true, false) => 5,
        _ => 0,
    }
}

fn shape(reading: &Reading<'_>, run: &Run, own: &mut Weights) {
    let last = run.words.end - 1;
    let known = reading.known(last);
    let is_long = run.words.len() > 1;
    if is_long && !run.is_phrase {
        for (head, kind) in [
            (Known::ORGANIZATION_HEAD, EntityKind::Organization),
            (Known::LOCATION_HEAD, EntityKind::Location),
            (Known::EVENT_HEAD, EntityKind::Event),
        ] {
            // A small head joined the name for being one.
            let is_small = reading.token(last).is_some_and(|token| token.shape == Shape::Lower);
            let weight = if is_small { 16 } else { 10 };
            own.add(kind, if known.has(head) { weight } else { 0 });
        }
        members(reading, run, own);
    }
    if run.listed.has(Known::NAMED) || is_ordinary(reading, run) {
        return;
    }
    let Some(token) = reading.token(run.words.start) else { return };
    let is_weak = token.is_initial && !is_long;
    match token.shape {
        _ if is_weak => own.add_all(-2),
        Shape::Number => own.add_all(-8),
        Shape::Mixed | Shape::Shout
            if is_code(&token.lower, token.shape, reading.text.get(token.span.clone())) =>
        {
            own.add_all(-8);
        }
        Shape::Mixed => {
            own.add(EntityKind::Product, 2);
            own.add(EntityKind::Location, -4);
        }
        Shape::Shout if !is_long => own.add_all(-3),
        _ => own.add(
            EntityKind::Person,
            match (is_full_name(reading, run), reading.known(run.words.start).has(Known::FIRST)) {
                (true, true) if !is_object_of_place(reading, run) => 5,
                (true, false) if is_body(reading, run) => 0,
                _ => 3,
            },
        ),
    }
}

/// Two or three capitals behind an article or "at", or joined by "&", name a body rather than a person.
fn is_body(reading: &Reading<'_>, run: &Run) -> bool {
    let before = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    before.is_some_and(|before| {
        matches!(
            before.lower.as_ref(),
            "the" | "at" | "in" | "on" | "from" | "for" | "our" | "a" | "an" | "ex"
        )
    })
}

/// "Hollin & Wade": a firm.
fn is_joined_by_and(reading: &Reading<'_>, run: &Run) -> bool {
    run.words.clone().skip(1).any(|at| reading.token(at).is_some_and(|token| token.gap == Gap::Joint))
}

/// "the Bergenians", "some Okvites": people of a place or of a belief.
fn is_people(reading: &Reading<'_>, run: &Run) -> bool {
    reading.token(run.words.start).is_some_and(|token| {
        token.key().len() > 6
            && !token.is_possessive
            && ["ians", "eans", "ites", "ists", "ese"].iter().any(|end| token.key().ends_with(end))
    })
}

/// Two or three words that no list knows, capitalised and without a particle, are a person's name most often.
fn is_full_name(reading: &Reading<'_>, run: &Run) -> bool {
    (2..=3).contains(&run.words.len())
        && run.words.clone().all(|at| {
            let is_plain =
                reading.token(at).is_some_and(|token| token.shape == Shape::Capital && token.key().len() > 1);
            is_plain && !reading.known(at).has(Known::ORDINARY.with(Known::PARTICLE).with(Known::PLACE))
        })
}

/// "useEffect" and "E0499" are words of machines.
fn is_code(lower: &str, shape: Shape, written: Option<&str>) -> bool {
    let starts_small = written.and_then(|word| word.chars().next()).is_some_and(char::is_lowercase);
    let has_digit = lower.bytes().any(|b| b.is_ascii_digit());
    starts_small || has_digit && shape == Shape::Shout
}

/// What the single words of a longer run say.
fn members(reading: &Reading<'_>, run: &Run, own: &mut Weights) {
    let (first, last) = (reading.known(run.words.start), reading.known(run.words.end - 1));
    let is_surname = last.has(Known::SURNAME) || !last.has(Known::ORDINARY.with(Known::NAMED));
    if is_joined_by_and(reading, run) {
        own.add(EntityKind::Organization, 8);
        return;
    }
    let is_headed = reading.ends_with_head(&run.words) && !(run.words.len() == 2 && last.has(Known::SURNAME));
    if is_headed {
        own.add(EntityKind::Person, -6);
    }
    if first.has(Known::FIRST) && run.words.len() <= 4 && !is_headed {
        own.add(
            EntityKind::Person,
            if first.has(Known::ORDINARY) && !last.has(Known::SURNAME) { 3 } else { 7 },
        );
        own.add(EntityKind::Person, 2 * i32::from(is_surname));
    } else if last.has(Known::SURNAME) {
        own.add(EntityKind::Person, 2);
    }
    if first.has(Known::LOCATION_FIRST) {
        own.add(EntityKind::Location, 5);
    }
    if run.keeps_ending {
        // "St Anselm's": a school, a church or a hospital.
        own.add(EntityKind::Organization, 10);
    }
    if first.has(Known::ORGANIZATION_FIRST) {
        own.add(EntityKind::Organization, 8);
    }
    if last.has(Known::PLACE) && !last.has(Known::FIRST) {
        own.add(EntityKind::Location, 3);
    }
    if first.has(Known::PLACE) {
        own.add(EntityKind::Location, 2);
        own.add(EntityKind::Organization, 2);
    }
    if first.has(Known::PRODUCT) && !first.has(Known::FIRST.with(Known::PLACE)) {
        own.add(EntityKind::Product, 6);
    } else if first.has(Known::ORGANIZATION) && !first.has(Known::FIRST.with(Known::PLACE)) {
        own.add(EntityKind::Product, 4);
        own.add(EntityKind::Organization, 3);
    }
    if reading
        .token(run.words.end - 1)
        .is_some_and(|token| token.shape == Shape::Number || token.key().bytes().any(|b| b.is_ascii_digit()))
    {
        own.add(EntityKind::Product, 5);
    }
    let is_of = run
        .words
        .clone()
        .any(|at| reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "of" | "for")));
    if is_of {
        own.add(EntityKind::Organization, 5);
    }
}

fn beside(reading: &Reading<'_>, run: &Run, beside: &mut Weights) {
    let words = Words::english();
    let mut before = Weights::default();
    let mut after = Weights::default();
    let mut nothing = 0;
    let at = without_determiner(reading, run.words.start);
    let is_joined = |at: usize| {
        reading.token(at).is_some_and(|token| matches!(token.gap, Gap::Space | Gap::Hyphen | Gap::Open))
    };
    if is_joined(run.words.start) && is_joined(at) {
        let is_determined = at != run.words.start;
        words.before(&reading.tokens, at, |kind, weight| {
            // "the Andersons" are no one person.
            before.raise(kind, if is_determined && kind == EntityKind::Person { 0 } else { weight });
            nothing = if kind == EntityKind::Concept { nothing.max(weight) } else { nothing };
        });
        if is_determined {
            words.before(&reading.tokens, run.words.start, |kind, weight| before.raise(kind, weight));
        }
    }
    words.after(&reading.tokens, run.words.end, |kind, weight| after.raise(kind, weight));
    if is_object_of_place(reading, run) {
        after.quiet(EntityKind::Person);
    }
    if is_inhabitant(reading, run) {
        before.quiet(EntityKind::Product);
    }
    let is_at = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    let is_at = is_at.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "with" | "joined"));
    if is_at && run.listed.has(Known::PLACE) && before.of(EntityKind::Organization) >= 8 {
        // "a student at Leiden" is at its university.
        before.add(EntityKind::Organization, 1);
    }
    if is_make(reading, run) {
        before.add(EntityKind::Product, 9);
    }
    if is_saint_at(reading, run) {
        before.add(EntityKind::Organization, 10);
    }
    role(reading, run, &mut before);
    described(reading, run, &mut before);
    beside.join(&before);
    beside.join(&after);
    if run.is_phrase && run.listed.has(Known::NAMED) {
        beside.halve_unlisted(run.listed);
    }
    // "fluent in German" names a language, "fluent in SQL" a tool.
    beside.add_all(if run.listed.has(Known::PRODUCT) { 0 } else { -nothing });
}

/// "a Lindvik tablet", "her old Lindvik": a thing of a listed maker.
fn is_make(reading: &Reading<'_>, run: &Run) -> bool {
    const NO_THINGS: [&str; 22] = [
        "store",
        "shop",
        "branch",
        "job",
        "interview",
        "employee",
        "girl",
        "guy",
        "customer",
        "flight",
        "office",
        "delivery",
        "voucher",
        "fan",
        "order",
        "cruise",
        "warehouse",
        "line",
        "top",
        "shirt",
        "game",
        "member",
    ];
    let is_maker = run.is_phrase
        && run.listed.has(Known::ORGANIZATION)
        && !run.listed.has(Known::PLACE.with(Known::FIRST).with(Known::WORK));
    let before = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    let is_one = before.is_some_and(|before| {
        matches!(
            before.lower.as_ref(),
            "a" | "an" | "my" | "his" | "her" | "old" | "new" | "second-hand" | "used"
        )
    });
    let thing =
        reading.token(run.words.end).filter(|next| next.gap == Gap::Space && next.shape == Shape::Lower);
    let is_thing = thing.is_some_and(|next| {
        !mnemal_text::is_stop_word(mnemal_text::Language::English, &next.lower)
            && !NO_THINGS.contains(&next.lower.as_ref())
    });
    is_maker && !run.is_lower && is_one && is_thing
}

/// "at St Camillus": a school, a church or a hospital.
fn is_saint_at(reading: &Reading<'_>, run: &Run) -> bool {
    let before = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    let is_at = before.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "for" | "choir"));
    run.words.len() > 1
        && is_at
        && reading.token(run.words.start).is_some_and(|token| matches!(token.key(), "st" | "saint"))
}

/// "a house in Brodmere is dear": what stands behind a preposition of place does nothing itself.
fn is_object_of_place(reading: &Reading<'_>, run: &Run) -> bool {
    let last = run.words.end.checked_sub(1).and_then(|last| reading.token(last));
    let is_joined = reading.token(run.words.start).is_some_and(|token| token.gap == Gap::Space);
    let before = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    let is_place = before.is_some_and(|before| PLACE_PREPOSITIONS.contains(&before.lower.as_ref()));
    is_joined && is_place && last.is_some_and(|last| !last.is_possessive)
}

/// "she is a Bergener", "an ABC meeting": somebody from there, or of that belief, or a short form, and no name.
fn is_inhabitant(reading: &Reading<'_>, run: &Run) -> bool {
    let before = run.words.start.checked_sub(1).and_then(|before| reading.token(before));
    let is_one = before.is_some_and(|before| matches!(before.lower.as_ref(), "a" | "an"));
    let ends = reading.token(run.words.start).is_some_and(|token| {
        token.shape == Shape::Shout
            || token.shape == Shape::Capital
                && ["er", "ian", "ese", "ist", "ite", "mason"].iter().any(|end| token.key().ends_with(end))
    });
    is_one && ends && run.words.len() == 1 && !run.listed.has(Known::NAMED)
}

/// Words behind which a place, a body or a tool stands, and a person seldom.
const PLACE_PREPOSITIONS: [&str; 12] = [
    "in",
    "at",
    "near",
    "around",
    "outside",
    "across",
    "through",
    "towards",
    "via",
    "using",
    "into",
    "throughout",
];

/// The place behind which cues are looked for: "the", "our" and "my" do not count.
fn without_determiner(reading: &Reading<'_>, at: usize) -> usize {
    let Some(before) =
        at.checked_sub(1).filter(|_| reading.token(at).is_some_and(|token| token.gap == Gap::Space))
    else {
        return at;
    };
    let is_determiner =
        reading.token(before).is_some_and(|token| matches!(token.lower.as_ref(), "the" | "our" | "a" | "an"));
    if is_determiner { before } else { at }
}

/// Titles, relatives and animals before (or, behind a comma, after) a name.
fn role(reading: &Reading<'_>, run: &Run, before: &mut Weights) {
    let Some(last) = run.words.start.checked_sub(1) else { return };
    let Some(token) = reading.token(run.words.start) else { return };
    let known = reading.known(last);
    let word = reading.token(last);
    let is_close =
        matches!(token.gap, Gap::Space | Gap::Open) || token.gap == Gap::Comma && follows_my(reading, last);
    if !is_close || word.is_none_or(|word| word.is_possessive) {
        return;
    }
    if known.has(Known::TITLE)
        && (word.is_some_and(|word| word.shape.is_capital()) || run.listed.has(Known::FIRST))
        && token.gap != Gap::Comma
    {
        before.raise(EntityKind::Person, ROLE);
    }
    let is_family = word.is_some_and(|word| word.lower == "the")
        && run.words.len() == 1
        && token.shape == Shape::Capital
        && token.key().len() > 4
        && token.key().ends_with('s')
        && !run.listed.has(Known::NAMED.with(Known::ORDINARY).with(Known::NATIONALITY));
    if is_family {
        before.raise(EntityKind::Person, 5);
    }
    if is_worker(reading, last)
        && token.shape.is_capital()
        && token.gap == Gap::Space
        && !run.is_phrase_of_things()
    {
        before.raise(EntityKind::Person, 6);
    }
    if known.has(Known::ANIMAL) {
        before.raise(EntityKind::Animal, 14);
    } else if known.has(Known::KIN) {
        before.raise(EntityKind::Person, ROLE);
    }
    let is_naming = word.is_some_and(|word| {
        matches!(word.lower.as_ref(), "named" | "called" | "is" | "was" | "him" | "her" | "it")
            || word.lower == "of"
                && last > 1
                && reading.token(last - 1).is_some_and(|token| token.lower == "name")
    });
    let is_pronoun = word.is_some_and(|word| matches!(word.lower.as_ref(), "him" | "her" | "it" | "them"))
        && last > 0
        && reading
            .token(last - 1)
            .is_some_and(|verb| matches!(verb.lower.as_ref(), "named" | "called" | "call" | "name"));
    if is_pronoun && (last.saturating_sub(20)..last).any(|at| reading.known(at).has(Known::ANIMAL)) {
        before.raise(EntityKind::Animal, 14);
    }
    if is_naming {
        let reach = if word.is_some_and(|word| word.lower == "of") { 6 } else { 4 };
        for back in 2..=reach {
            let Some(at) = run.words.start.checked_sub(back) else { break };
            if reading.token(at + 1).is_some_and(|token| matches!(token.gap, Gap::Stop)) {
                break;
            }
            let is_named = back == 2
                || reading
                    .token(last)
                    .is_some_and(|word| matches!(word.lower.as_ref(), "called" | "named" | "of"));
            if reading.known(at).has(Known::ANIMAL) && is_named {
                before.raise(EntityKind::Animal, 14);
            } else if reading.known(at).has(Known::KIN) && is_named && back <= 3 && token.shape.is_capital() {
                before.raise(EntityKind::Person, 7);
            }
        }
    }
    if before.of(EntityKind::Animal) >= 14 {
        before.quiet(EntityKind::Person);
    }
}

/// "our gardener", "my physicist": who does something, by the ending of the word, and is somebody's.
fn is_worker(reading: &Reading<'_>, at: usize) -> bool {
    const THINGS: [&str; 16] = [
        "printer", "computer", "server", "scooter", "tracker", "router", "cooker", "mixer", "trailer",
        "camper", "folder", "order", "letter", "paper", "summer", "dinner",
    ];
    let owner = at.checked_sub(1).and_then(|owner| reading.token(owner));
    let is_own =
        owner.is_some_and(|owner| matches!(owner.lower.as_ref(), "my" | "our" | "his" | "her" | "their"));
    is_own
        && reading.token(at).is_some_and(|noun| {
            let word = noun.lower.as_ref();
            let fits = ["er", "or", "ist", "ian", "man", "woman", "mate", "ant", "tee"]
                .iter()
                .any(|end| word.ends_with(end));
            noun.gap == Gap::Space
                && noun.shape == Shape::Lower
                && word.len() > 5
                && fits
                && !THINGS.contains(&word)
        })
}

/// "Rex is our dog", "Anna, my sister": what a name is said to be right behind it.
fn described(reading: &Reading<'_>, run: &Run, found: &mut Weights) {
    let end = run.words.end;
    let Some(first) = reading.token(end) else { return };
    let (is_verb, is_comma) = (matches!(first.lower.as_ref(), "is" | "was"), first.gap == Gap::Comma);
    if !(is_verb && first.gap == Gap::Space || is_comma) {
        return;
    }
    let at = end + usize::from(is_verb);
    let is_own =
        reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "my" | "our" | "his" | "her"));
    let is_some = reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "a" | "an" | "the"));
    for noun in at + 1..=at + 3 {
        if reading.token(noun).is_none_or(|token| token.gap != Gap::Space || token.is_possessive) {
            break;
        }
        let known = reading.known(noun);
        if known.has(Known::ANIMAL) && (is_own || is_some) {
            return found.raise(EntityKind::Animal, 14);
        }
        if known.has(Known::KIN) && is_own {
            return found.raise(EntityKind::Person, ROLE);
        }
    }
}

/// "our dog, Rex": a comma stands for "called" after "my", "our" and "a".
fn follows_my(reading: &Reading<'_>, at: usize) -> bool {
    (1..=3).any(|back| {
        at.checked_sub(back).and_then(|at| reading.token(at)).is_some_and(|token| {
            matches!(
                token.lower.as_ref(),
                "my" | "our" | "his" | "her" | "their" | "a" | "an" | "two" | "three" | "four" | "the"
            )
        })
    })
}
