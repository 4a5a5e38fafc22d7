//! Filter conditions on owners, times, text and metadata, in the form of mem0's filters; unsupported ones are rejected by name.

use std::collections::BTreeMap;

use mnemal_core::Metadata;
use serde_json::{Map, Value};

use crate::http::problem::Problem;
use crate::wire::event_fields;

/// The fields for the owner of a memory.
pub(super) const OWNERS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];
/// Other fields of a memory; every other name is a metadata field.
const OWN: [&str; 6] = ["created_at", "updated_at", "id", "memory", "expiration_date", "role"];
/// Groups of conditions.
const GROUPS: [&str; 3] = ["AND", "OR", "NOT"];
/// Maximum nesting of groups. Source: own default.
const DEPTH: usize = 8;

/// A condition on a memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// All of these hold.
    All(Vec<Condition>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// None of these holds.
    None(Vec<Condition>),
    /// A field passes a test.
    Field(String, FieldTest),
}

/// A test of a field's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldTest {
    /// It has a value.
    Exists,
    /// Equal to this; for a list, one of its items.
    Is(Value),
    /// Not equal to it, or missing.
    IsNot(Value),
    /// Greater than, at least, less than or at most a number or a text.
    Order(Order, Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// Equal to none of these, or missing.
    NotIn(Vec<Value>),
    /// A text with this substring, or a list with this item.
    Contains(Value),
    /// The same, ignoring case.
    ContainsAnyCase(String),
}

/// An order relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Greater.
    Above,
    /// Greater or equal.
    From,
    /// Less.
    Below,
    /// Less or equal.
    UpTo,
}

impl Condition {
    /// Parses filters at a place of the body.
    ///
    /// # Errors
    /// `invalid_request` with the unsupported part.
    pub(super) fn read(filters: &Value, place: &str) -> Result<Self, Problem> {
        Self::nested(filters, place, 0)
    }

    /// Parses conditions on metadata, `{"topic": "tea", "n": {"gt": 3}}`, at a place.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn of_metadata(conditions: &Value, place: &str) -> Result<Self, Problem> {
        if !conditions.is_object() {
            return Err(Problem::invalid(format!(
                "{place}: an object of conditions is meant, {{\"topic\": \"tea\"}}"
            )));
        }
        Self::metadata(conditions, place)
    }

    /// Whether metadata satisfies conditions on metadata.
    pub(super) fn matches(&self, metadata: &Metadata) -> bool {
        let fields = event_fields(metadata).into_iter();
        self.passes(&fields.map(|(name, value)| (format!("metadata.{name}"), value)).collect())
    }

    /// Returns a condition that is always true.
    pub(super) fn always() -> Self {
        Self::All(Vec::new())
    }

    /// Returns the condition that a field has this value.
    pub(super) fn is(name: &str, value: impl Into<Value>) -> Self {
        Self::Field(name.to_owned(), FieldTest::Is(value.into()))
    }

    /// Returns the conjunction of two conditions.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::All(mut all), other) => {
                all.push(other);
                Self::All(all)
            }
            (one, other) => Self::All(vec![one, other]),
        }
    }

    fn nested(filters: &Value, place: &str, depth: usize) -> Result<Self, Problem> {
        if depth > DEPTH {
            return Err(Problem::invalid(format!("{place}: groups are nested at most {DEPTH} deep")));
        }
        let Value::Object(fields) = filters else {
            return Err(Problem::invalid(format!("{place}: an object of conditions is meant")));
        };
        let mut all = Vec::new();
        for (name, value) in fields {
            let inside = format!("{place}.{name}");
            all.push(if GROUPS.contains(&name.as_str()) {
                Self::group(name, value, &inside, depth)?
            } else if name == "metadata" && value.is_object() {
                Self::metadata(value, &inside)?
            } else {
                Self::field(name, value, &inside)?
            });
        }
        Ok(Self::All(all))
    }

    fn group(name: &str, value: &Value, place: &str, depth: usize) -> Result<Self, Problem> {
        let conditions = match value {
            Value::Array(conditions) if !conditions.is_empty() => conditions.as_slice(),
            Value::Object(_) => std::slice::from_ref(value),
            _ => {
                return Err(Problem::invalid(format!(
                    "{place}: a list of conditions is meant, with one at least"
                )));
            }
        };
        let mut read = Vec::new();
        for (at, condition) in conditions.iter().enumerate() {
            let inside = format!("{place}[{at}]");
            if condition.as_object().is_some_and(Map::is_empty) {
                return Err(Problem::invalid(format!("{inside}: there is no condition in it")));
            }
            read.push(Self::nested(condition, &inside, depth + 1)?);
        }
        Ok(match name {
            "OR" => Self::Any(read),
            "NOT" => Self::None(read),
            _ => Self::All(read),
        })
    }

    /// Parses conditions on metadata only, whose names may equal those of other fields.
    fn metadata(value: &Value, place: &str) -> Result<Self, Problem> {
        let fields = value.as_object().into_iter().flatten();
        let read = |(name, value): (&String, &Value)| {
            let tests = FieldTest::read(value, &format!("{place}.{name}"))?;
            Ok(Self::All(
                tests.into_iter().map(|test| Self::Field(format!("metadata.{name}"), test)).collect(),
            ))
        };
        fields.map(read).collect::<Result<_, Problem>>().map(Self::All)
    }

    fn field(name: &str, value: &Value, place: &str) -> Result<Self, Problem> {
        if let Some(meant) = nearly(name) {
            return Err(Problem::invalid(format!("{place}: no such field; {meant} is meant?")));
        }
        let name = match name {
            "keywords" => "memory",
            "memory_ids" => "id",
            name => name,
        };
        let tests = match (name, value) {
            ("id", Value::Array(ids)) => return Ok(Self::Field("id".to_owned(), FieldTest::In(ids.clone()))),
            _ => FieldTest::read(value, place)?,
        };
        let mut all: Vec<Self> = tests.into_iter().map(|test| Self::Field(name.to_owned(), test)).collect();
        if all.len() == 1 { Ok(all.remove(0)) } else { Ok(Self::All(all)) }
    }

    /// Whether it restricts the result to a given owner.
    pub(super) fn names_owner(&self) -> bool {
        match self {
            Self::All(all) => all.iter().any(Self::names_owner),
            Self::Any(any) => !any.is_empty() && any.iter().all(Self::names_owner),
            Self::None(_) => false,
            Self::Field(name, test) => {
                OWNERS.contains(&name.as_str())
                    && matches!(test, FieldTest::Is(_) | FieldTest::In(_) | FieldTest::Exists)
            }
        }
    }

    /// Whether it tests fields other than owners.
    pub(super) fn asks_more_than_owners(&self) -> bool {
        match self {
            Self::All(all) => all.iter().any(Self::asks_more_than_owners),
            Self::Field(name, FieldTest::Is(_)) => !OWNERS.contains(&name.as_str()),
            _ => true,
        }
    }

    /// Returns the value that a field has in every match.
    pub(super) fn fixed(&self, wanted: &str) -> Option<&str> {
        match self {
            Self::All(all) => all.iter().find_map(|one| one.fixed(wanted)),
            Self::Field(name, FieldTest::Is(Value::String(text))) if name == wanted => Some(text),
            _ => None,
        }
    }

    /// Whether a memory matches.
    pub(super) fn passes(&self, fields: &BTreeMap<String, Value>) -> bool {
        match self {
            Self::All(all) => all.iter().all(|one| one.passes(fields)),
            Self::Any(any) => any.iter().any(|one| one.passes(fields)),
            Self::None(none) => !none.iter().any(|one| one.passes(fields)),
            Self::Field(name, test) => {
                let is_own = OWNERS.contains(&name.as_str()) || OWN.contains(&name.as_str());
                let value = if is_own || name.starts_with("metadata.") {
                    fields.get(name)
                } else {
                    fields.get(&format!("metadata.{name}"))
                };
                test.passes(value.unwrap_or(&Value::Null))
            }
        }
    }
}

/// Returns the known field that a name is a variant spelling of; otherwise the name would be taken for metadata.
fn nearly(name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace(['_', '-', ' '], "").to_lowercase();
    let known = OWNERS.iter().chain(OWN.iter().filter(|own| own.contains('_'))).chain(&GROUPS);
    known.copied().find(|known| plain(known) == plain(name) && *known != name)
}

impl FieldTest {
    /// Parses the test of a field: a value, or operators.
    fn read(value: &Value, place: &str) -> Result<Vec<Self>, Problem> {
        match value {
            Value::String(text) if text == "*" => Ok(vec![Self::Exists]),
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(vec![Self::Is(value.clone())]),
            Value::Object(operators) if !operators.is_empty() => {
                operators.iter().map(|(name, value)| Self::operator(name, value, place)).collect()
            }
            _ => Err(Problem::invalid(format!(
                "{place}: a text, a number, true or false, \"*\", or operators such as {{\"in\": [...]}} are meant"
            ))),
        }
    }

    fn operator(name: &str, value: &Value, place: &str) -> Result<Self, Problem> {
        let wrong = |meant: &str| Problem::invalid(format!("{place}.{name}: {meant} is meant"));
        let scalar = || match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(value.clone()),
            _ => Err(wrong("a text, a number, true or false")),
        };
        let ordered = |order| match value {
            Value::String(_) | Value::Number(_) => Ok(Self::Order(order, value.clone())),
            _ => Err(wrong("a number or a text")),
        };
        let list = || match value {
            Value::Array(values) if values.iter().all(|value| !value.is_object() && !value.is_array()) => {
                Ok(values.clone())
            }
            _ => Err(wrong("a list of texts or numbers")),
        };
        match name {
            "eq" if value.as_str() == Some("*") => Ok(Self::Exists),
            "eq" => scalar().map(Self::Is),
            "ne" => scalar().map(Self::IsNot),
            "gt" => ordered(Order::Above),
            "gte" => ordered(Order::From),
            "lt" => ordered(Order::Below),
            "lte" => ordered(Order::UpTo),
            "in" => list().map(Self::In),
            "nin" => list().map(Self::NotIn),
            "contains" => scalar().map(Self::Contains),
            "icontains" => match value {
                Value::String(text) => Ok(Self::ContainsAnyCase(text.to_lowercase())),
                _ => Err(wrong("a text")),
            },
            _ => Err(Problem::invalid(format!(
                "{place}.{name}: no such operator; there are eq, ne, gt, gte, lt, lte, in, nin, contains and icontains"
            ))),
        }
    }

    fn passes(&self, value: &Value) -> bool {
        match self {
            Self::Exists => !value.is_null(),
            Self::Is(wanted) => is(value, wanted),
            Self::IsNot(other) => !is(value, other),
            Self::Order(order, bound) => order.compares(value, bound),
            Self::In(wanted) => wanted.iter().any(|wanted| is(value, wanted)),
            Self::NotIn(others) => !others.iter().any(|other| is(value, other)),
            Self::Contains(part) => match (value, part) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), part) => items.iter().any(|item| same(item, part)),
                _ => false,
            },
            Self::ContainsAnyCase(part) => {
                let holds =
                    |text: &Value| text.as_str().is_some_and(|text| text.to_lowercase().contains(part));
                holds(value) || value.as_array().is_some_and(|items| items.iter().any(holds))
            }
        }
    }
}

/// Whether a value equals the wanted one, or is a list with it.
fn is(value: &Value, wanted: &Value) -> bool {
    same(value, wanted) || value.as_array().is_some_and(|items| items.iter().any(|item| same(item, wanted)))
}

/// Whether two values are equal; numbers are compared numerically.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one_number), Some(other_number)) => one == other || one_number.total_cmp(&other_number).is_eq(),
        _ => one == other,
    }
}

impl Order {
    /// Whether a value has this order relation to a bound. Times are compared as times, other texts lexically; a number and a
    /// text are not comparable.
    fn compares(self, value: &Value, bound: &Value) -> bool {
        let order = match (value, bound) {
            (Value::String(text), Value::String(bound)) => match (moment(text), moment(bound)) {
                (Some(at), Some(bound)) => at.cmp(&bound),
                _ => text.as_str().cmp(bound.as_str()),
            },
            _ => match (value.as_f64(), bound.as_f64()) {
                (Some(number), Some(bound)) => number.total_cmp(&bound),
                _ => return false,
            },
        };
        match self {
            Self::Above => order.is_gt(),
            Self::From => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::UpTo => order.is_le(),
        }
    }
}

/// Parses a day or a moment, in UTC without a zone.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    let day = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(day()?.timestamp()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row() -> BTreeMap<String, Value> {
        let fields = json!({
            "user_id": "ana", "run_id": "r1", "memory": "The kiln is hot", "created_at": "2026-03-02T08:00:00Z",
            "metadata.topic": "pottery", "metadata.n": 3, "metadata.open": true, "metadata.tags": ["clay", "glaze", 7],
        });
        fields.as_object().unwrap().clone().into_iter().collect()
    }

    fn passes(filters: &Value) -> bool {
        Condition::read(filters, "filters")
            .unwrap_or_else(|wrong| panic!("{filters}: {wrong:?}"))
            .passes(&row())
    }

    #[test]
    fn operators_and_groups_mean_what_they_say() {
        for (filters, expect) in [
            (json!({}), true),
            (json!({"topic": "pottery"}), true),
            (json!({"topic": "Pottery"}), false),
            (json!({"topic": "*"}), true),
            (json!({"other": "*"}), false),
            (json!({"n": 3.0}), true),
            (json!({"n": "3"}), false),
            (json!({"open": true}), true),
            (json!({"tags": "clay"}), true),
            (json!({"tags": {"contains": 7}}), true),
            (json!({"tags": {"icontains": "GLA"}}), true),
            (json!({"topic": {"contains": "otter"}}), true),
            (json!({"topic": {"contains": "OTTER"}}), false),
            (json!({"topic": {"icontains": "OTTER"}}), true),
            (json!({"n": {"gt": 2, "lte": 3}}), true),
            (json!({"n": {"gt": 3}}), false),
            (json!({"n": {"gte": "3"}}), false),
            (json!({"n": {"in": [1, 3]}}), true),
            (json!({"n": {"in": []}}), false),
            (json!({"n": {"nin": [1, 2]}}), true),
            (json!({"other": {"ne": "x"}}), true),
            (json!({"topic": {"ne": "pottery"}}), false),
            (json!({"created_at": {"gte": "2026-03-02", "lt": "2026-03-03"}}), true),
            (json!({"created_at": {"gt": "2026-03-02T09:00:00+02:00"}}), true),
            (json!({"created_at": {"lt": "2026-03-02"}}), false),
            (json!({"keywords": {"icontains": "KILN"}}), true),
            (json!({"metadata": {"topic": "pottery", "n": {"lt": 4}}}), true),
            (json!({"metadata": {"user_id": "ana"}}), false),
            (json!({"AND": [{"user_id": "ana"}, {"n": 3}]}), true),
            (json!({"AND": [{"user_id": "ana"}, {"n": 4}]}), false),
            (json!({"OR": [{"n": 4}, {"topic": "pottery"}]}), true),
            (json!({"OR": [{"n": 4}, {"topic": "bread"}]}), false),
            (json!({"NOT": [{"n": 4}, {"topic": "bread"}]}), true),
            (json!({"NOT": [{"n": 4}, {"topic": "pottery"}]}), false),
            (json!({"NOT": {"run_id": "r1"}}), false),
            (json!({"AND": [{"OR": [{"n": 1}, {"NOT": [{"n": 1}]}]}, {"run_id": "*"}]}), true),
        ] {
            assert_eq!(passes(&filters), expect, "{filters}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (filters, names) in [
            (json!({"userId": "ana"}), "filters.userId"),
            (json!({"user-id": "ana"}), "user_id is meant"),
            (json!({"or": [{"n": 1}]}), "OR is meant"),
            (json!({"n": {"between": [1, 2]}}), "filters.n.between"),
            (json!({"AND": [{"n": {"$gt": 1}}]}), "filters.AND[0].n.$gt"),
            (json!({"n": {"gt": true}}), "filters.n.gt"),
            (json!({"n": {"in": 3}}), "filters.n.in"),
            (json!({"n": {"icontains": 3}}), "filters.n.icontains"),
            (json!({"n": null}), "filters.n"),
            (json!({"n": [1, 2]}), "filters.n"),
            (json!({"n": {}}), "filters.n"),
            (json!({"AND": []}), "filters.AND"),
            (json!({"OR": "x"}), "filters.OR"),
            (json!({"NOT": [{}]}), "filters.NOT[0]"),
            (json!({"AND": [3]}), "filters.AND[0]"),
            (json!([{"n": 1}]), "filters"),
            (json!("user_id=ana"), "filters"),
        ] {
            let problem = Condition::read(&filters, "filters").unwrap_err();
            let told = problem.detail();
            assert!(told.contains(names), "{filters}: {told}");
        }
        let deep = (0..20).fold(json!({"n": 1}), |inner, _| json!({"AND": [inner]}));
        assert!(Condition::read(&deep, "filters").is_err());
    }

    #[test]
    fn an_owner_is_named_where_nothing_passes_that_is_of_nobody_named() {
        for (filters, expect) in [
            (json!({"user_id": "ana"}), true),
            (json!({"run_id": {"in": ["a", "b"]}}), true),
            (json!({"agent_id": "*"}), true),
            (json!({"AND": [{"n": 1}, {"user_id": "ana"}]}), true),
            (json!({"OR": [{"user_id": "ana"}, {"user_id": "bo"}]}), true),
            (json!({}), false),
            (json!({"topic": "x"}), false),
            (json!({"OR": [{"user_id": "ana"}, {"topic": "x"}]}), false),
            (json!({"NOT": [{"user_id": "bo"}]}), false),
            (json!({"user_id": {"ne": "bo"}}), false),
            (json!({"user_id": {"contains": "a"}}), false),
            (json!({"metadata": {"user_id": "ana"}}), false),
        ] {
            assert_eq!(Condition::read(&filters, "filters").unwrap().names_owner(), expect, "{filters}");
        }
        let both = Condition::read(&json!({"AND": [{"user_id": "ana"}, {"n": 1}]}), "filters").unwrap();
        assert_eq!((both.fixed("user_id"), both.fixed("run_id")), (Some("ana"), None));
        assert!(both.asks_more_than_owners());
        assert!(!Condition::is("user_id", "ana").and(Condition::is("run_id", "r")).asks_more_than_owners());
    }
}
