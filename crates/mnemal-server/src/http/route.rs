//! The table of routes, and how a path finds its row.

use std::borrow::Cow;
use std::pin::Pin;

use hyper::Method;
use schemars::{Schema, SchemaGenerator};

use crate::auth::Right;
use crate::http::area;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;

/// What a handler gives.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;
/// What a route does: reads its call, asks the facade, writes the answer.
pub(crate) type Handler = fn(Call) -> Answering;
/// Writes the schema of a form.
pub(crate) type Form = fn(&mut SchemaGenerator) -> Schema;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Anybody who reaches the server.
    Nothing,
    /// Whoever has this right.
    Right(Right),
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    /// There is none.
    Nothing,
    /// A JSON document of this form.
    Json(Form),
    /// Bytes of this type, as they come.
    Bytes(&'static str),
}

/// What a success answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gives {
    /// A JSON document of this form, with this status.
    Json(u16, Form),
    /// Bytes of this type.
    Bytes(&'static str),
}

/// One route.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The name of the operation.
    pub(crate) operation: &'static str,
    /// The method.
    pub(crate) method: Method,
    /// The path; `{name}` stands for a segment, `{*name}` at the end for the rest.
    pub(crate) path: &'static str,
    /// What it does, in a line.
    pub(crate) summary: &'static str,
    /// Who may call it.
    pub(crate) needs: Needs,
    /// What may stand behind the question mark.
    pub(crate) query: Option<Form>,
    /// What the body is.
    pub(crate) takes: Takes,
    /// What a success answers.
    pub(crate) gives: Gives,
    /// What it does.
    pub(crate) handle: Handler,
}

impl Route {
    /// A route without a query and a body, which needs the right to read.
    pub(crate) fn get(
        operation: &'static str,
        path: &'static str,
        summary: &'static str,
        (answer, handle): (Form, Handler),
    ) -> Self {
        Self {
            operation,
            method: Method::GET,
            path,
            summary,
            needs: Needs::Right(Right::Read),
            query: None,
            takes: Takes::Nothing,
            gives: Gives::Json(200, answer),
            handle,
        }
    }

    /// A route with a body, which needs the right to write.
    pub(crate) fn post(
        operation: &'static str,
        path: &'static str,
        summary: &'static str,
        (body, answer, handle): (Form, Form, Handler),
    ) -> Self {
        let plain = Self::get(operation, path, summary, (answer, handle));
        Self { method: Method::POST, needs: Needs::Right(Right::Write), takes: Takes::Json(body), ..plain }
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    pub(crate) fn right(self, right: Right) -> Self {
        self.needs(Needs::Right(right))
    }

    pub(crate) fn query(mut self, form: Form) -> Self {
        self.query = Some(form);
        self
    }

    pub(crate) fn takes(mut self, content_type: &'static str) -> Self {
        self.takes = Takes::Bytes(content_type);
        self
    }

    pub(crate) fn gives(mut self, content_type: &'static str) -> Self {
        self.gives = Gives::Bytes(content_type);
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        if let Gives::Json(_, form) = self.gives {
            self.gives = Gives::Json(status, form);
        }
        self
    }

    /// Whether it changes something, so that it is not broken off and can be repeated by its idempotency key.
    pub(crate) fn changes(&self) -> bool {
        self.method != Method::GET && !matches!(self.needs, Needs::Right(Right::Read))
    }

    /// Whether its path begins with a space.
    pub(crate) fn is_in_space(&self) -> bool {
        self.path.starts_with("/v1/spaces/{space}")
    }

    /// Returns what the segments of a path stand for, by the order of the names; `None` for another path.
    fn reads(&self, path: &str) -> Option<Vec<String>> {
        let (mut given, mut values) = (path.split('/'), Vec::new());
        for wanted in self.path.split('/') {
            if wanted.starts_with("{*") {
                let rest: Vec<&str> = given.by_ref().collect();
                let rest = rest.join("/");
                if rest.is_empty() {
                    return None;
                }
                values.push(decoded(&rest)?);
                return Some(values);
            }
            let segment = given.next()?;
            if wanted.starts_with('{') {
                if segment.is_empty() {
                    return None;
                }
                values.push(decoded(segment)?);
            } else if wanted != segment {
                return None;
            }
        }
        given.next().is_none().then_some(values)
    }

    /// How exactly the path is said: of two that fit, the one with more words of its own is meant.
    fn words(&self) -> usize {
        let of_its_own = |segment: &&str| !segment.starts_with('{');
        // A rest is said less exactly than any segments are.
        self.path.split('/').filter(of_its_own).count() * 2 + usize::from(!self.path.contains("{*"))
    }
}

/// What a path means.
#[derive(Debug)]
pub(crate) enum Found<'r> {
    /// A route, and what stands in its path.
    Route(&'r Route, Vec<String>),
    /// A path that has other methods.
    Methods(Vec<&'r Method>),
    /// Nothing.
    Nothing,
}

/// All routes.
#[derive(Debug)]
pub(crate) struct Routes(Vec<Route>);

impl Routes {
    pub(crate) fn all() -> Self {
        let mut routes = area::routes();
        routes.sort_by_key(|route| std::cmp::Reverse(route.words()));
        Self(routes)
    }

    /// Returns the rows, those with more words in their path first.
    pub(crate) fn rows(&self) -> &[Route] {
        &self.0
    }

    /// Finds what a request means.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let fitting = || self.0.iter().filter_map(|route| Some((route, route.reads(path)?)));
        if let Some((route, values)) = fitting().find(|(route, _)| route.method == *method) {
            return Found::Route(route, values);
        }
        let methods: Vec<&Method> = fitting().map(|(route, _)| &route.method).collect();
        if methods.is_empty() { Found::Nothing } else { Found::Methods(methods) }
    }
}

/// Returns a segment without its escapes; `None` when it is not UTF-8.
fn decoded(segment: &str) -> Option<String> {
    if !segment.contains('%') {
        return Some(segment.to_owned());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        let digit =
            |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(if byte == b'%' { digit(rest.next())? * 16 + digit(rest.next())? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the names in a path, in their order.
pub(crate) fn names(path: &'static str) -> impl Iterator<Item = Cow<'static, str>> {
    path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?;
        Some(Cow::Borrowed(name.trim_start_matches('*')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_paths_the_one_with_more_words_is_meant() {
        let routes = Routes::all();
        let operation = |method: Method, path: &str| match routes.find(&method, path) {
            Found::Route(route, values) => Some((route.operation, values)),
            _ => None,
        };
        let found = |operation: &'static str, values: &[&str]| {
            Some((operation, values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()))
        };
        let at = |rest: &str| format!("/v1/spaces/s/{rest}");
        assert_eq!(operation(Method::POST, &at("recall")), found("recall", &["s"]));
        assert_eq!(operation(Method::GET, &at("memories/mem_1")), found("memory_get", &["s", "mem_1"]));
        assert_eq!(
            operation(Method::GET, &at("memories/by-key/a%2Fb")),
            found("memory_get_by_key", &["s", "a/b"])
        );
        assert_eq!(operation(Method::POST, &at("memories/delete")), found("memories_delete", &["s"]));
        assert_eq!(operation(Method::GET, &at("working/a/b/c")), found("working_get", &["s", "a/b/c"]));
        assert_eq!(operation(Method::POST, &at("working/search")), found("working_search", &["s"]));
        assert_eq!(operation(Method::GET, &at("events/%ff")), None, "not UTF-8");
        assert_eq!(operation(Method::GET, "/v1/spaces//stats"), None);
        assert!(
            matches!(routes.find(&Method::DELETE, &at("recall")), Found::Methods(methods) if methods == [Method::POST])
        );
        assert!(matches!(routes.find(&Method::GET, "/nowhere"), Found::Nothing));
    }

    #[test]
    fn an_operation_and_a_method_of_a_path_stand_once() {
        let routes = Routes::all();
        let mut operations: Vec<&str> = routes.rows().iter().map(|route| route.operation).collect();
        let mut places: Vec<String> =
            routes.rows().iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        for list in [operations.len(), places.len()] {
            assert_eq!(list, routes.rows().len());
        }
        operations.sort_unstable();
        operations.dedup();
        places.sort_unstable();
        places.dedup();
        assert_eq!((operations.len(), places.len()), (routes.rows().len(), routes.rows().len()));
    }

    #[test]
    fn what_changes_something_needs_more_than_the_right_to_read() {
        for route in Routes::all().rows() {
            let reads = ["recall", "context", "working_search", "forget_preview"].contains(&route.operation);
            let is_get = route.method == Method::GET;
            assert_eq!(
                route.changes(),
                !is_get && !reads && route.operation != "login",
                "{}",
                route.operation
            );
        }
    }
}
