//! The table of routes, and how its rows are mounted.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::response::IntoResponse as _;
use axum::routing::{MethodFilter, MethodRouter, on};
use hyper::Method;
use schemars::{Schema, SchemaGenerator};

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::host::Host;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::{area, edge, openapi};
use crate::settings::ServerSettings;

/// The longest time until a route answers that asks a language model. Source: own choice; three questions, each with the
/// repetitions that a minute of `llm.timeout_secs` allows, so that a slow model fails and is counted before the caller is told.
const OF_A_MODEL: Duration = Duration::from_mins(12);

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

/// A setting without which a route is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// `compat.mem0`.
    Mem0,
}

impl Switch {
    /// Whether settings turn it on.
    pub(crate) fn is_on(self, settings: &ServerSettings) -> bool {
        match self {
            Self::Mem0 => settings.compat.mem0,
        }
    }

    /// Says how to turn it on.
    fn hint(self) -> &'static str {
        match self {
            Self::Mem0 => {
                "Turn the routes of mem0 on: `[compat] mem0 = true` in the settings, or MNEMAL_COMPAT__MEM0=true before `mnemal serve`."
            }
        }
    }
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
    /// Other paths that mean the same, for programs that were made for another server; with the same names in the same order.
    pub(crate) aliases: Vec<&'static str>,
    /// What must be turned on.
    pub(crate) switch: Option<Switch>,
    /// Whether it is of the space as a whole, which the memory of one user is not.
    pub(crate) is_whole: bool,
    /// Whether a language model may be asked before it answers.
    pub(crate) asks_model: bool,
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
            aliases: Vec::new(),
            switch: None,
            is_whole: false,
            asks_model: false,
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

    /// The same, also under other paths.
    pub(crate) fn also(mut self, paths: &[&'static str]) -> Self {
        self.aliases.extend(paths);
        self
    }

    /// The same, for the memory of everybody alone.
    pub(crate) fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// The same, whose answer a language model may have to write first.
    pub(crate) fn asking(mut self) -> Self {
        self.asks_model = true;
        self
    }

    /// Returns the longest time until it answers.
    pub(crate) fn limit(&self, settings: &ServerSettings) -> Duration {
        let usual = settings.timeout();
        if self.asks_model { usual.max(OF_A_MODEL) } else { usual }
    }

    pub(crate) fn switch(mut self, switch: Switch) -> Self {
        self.switch = Some(switch);
        self
    }

    /// Makes sure that settings turn it on.
    ///
    /// # Errors
    /// `not_found` that says how to turn it on.
    pub(crate) fn is_served(&self, settings: &ServerSettings) -> Result<(), Problem> {
        match self.switch.filter(|switch| !switch.is_on(settings)) {
            Some(off) => Err(Problem::not_found("this route is turned off").hint(off.hint())),
            None => Ok(()),
        }
    }

    /// Returns the names that may stand behind the question mark.
    pub(crate) fn query_names(&self) -> Vec<String> {
        let mut names = self.query.map(fields).unwrap_or_default();
        if self.takes_user() {
            names.push(USER.to_owned());
        }
        names
    }

    /// Whether `user` behind the question mark narrows it to the memory of one user: every route of a space, but those whose
    /// own form says whose records are meant, and those of the space as a whole.
    pub(crate) fn takes_user(&self) -> bool {
        let has = |form: Form| fields(form).iter().any(|name| name == USER);
        let of_body = match self.takes {
            Takes::Json(form) => has(form),
            Takes::Nothing | Takes::Bytes(_) => false,
        };
        self.is_in_space() && !self.is_whole && !of_body && !self.query.is_some_and(has)
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
}

/// The name of the one user whose memory is meant.
pub(crate) const USER: &str = "user";

/// Returns the names of the fields of a form, whichever of its kinds has them.
fn fields(form: Form) -> Vec<String> {
    let schema = openapi::inlined(form);
    let kinds = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    let all = std::iter::once(&schema).chain(kinds.flatten());
    let fields = all.filter_map(|schema| schema.get("properties")?.as_object());
    fields.flat_map(|fields| fields.keys().cloned()).collect()
}

/// Mounts every route of the table; what is behind them is asked only by them.
pub(crate) fn router(host: &Arc<Host>) -> Router {
    area::routes().into_iter().fold(Router::new(), |router, route| {
        let paths = std::iter::once(route.path).chain(route.aliases.clone());
        let method = method(route.clone(), Arc::clone(host));
        paths.fold(router, |router, path| router.route(path, method.clone()))
    })
}

/// One method of a path.
fn method(route: Route, host: Arc<Host>) -> MethodRouter {
    let filter = MethodFilter::try_from(route.method.clone()).expect("the table has methods of HTTP alone");
    let known: Arc<[String]> = route.query_names().into();
    let route = Arc::new(route);
    on(filter, move |path: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
        let (host, route, known) = (Arc::clone(&host), Arc::clone(&route), Arc::clone(&known));
        async move {
            let answered = match path {
                Ok(path) => {
                    let values = path.iter().map(|(_, value)| value.to_owned()).collect();
                    edge::called(&host, (&route, &known), values, request).await
                }
                Err(_) => Err(Problem::not_found("the path is not UTF-8")),
            };
            let mut response = answered.map(Reply::into_response).into_response();
            response.extensions_mut().insert(Label(route.path));
            response
        }
    })
}

/// Under which name an answer is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(pub(crate) &'static str);

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

    // proves: GA-28
    #[test]
    fn an_operation_and_a_method_of_a_path_stand_once() {
        let routes = area::routes();
        let mut operations: Vec<&str> = routes.iter().map(|route| route.operation).collect();
        let mut places: Vec<String> =
            routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        for list in [operations.len(), places.len()] {
            assert_eq!(list, routes.len());
        }
        operations.sort_unstable();
        operations.dedup();
        places.sort_unstable();
        places.dedup();
        assert_eq!((operations.len(), places.len()), (routes.len(), routes.len()));
    }

    /// Calls with a body that change nothing.
    const READING: [&str; 9] = [
        "recall",
        "context",
        "answer",
        "working_search",
        "forget_preview",
        "recall_verify",
        "receipt_verify",
        "mem0_search",
        "mem0_find",
    ];

    #[test]
    fn what_changes_something_needs_more_than_the_right_to_read() {
        for route in area::routes() {
            let reads = READING.contains(&route.operation);
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
