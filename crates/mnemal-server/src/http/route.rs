//! The table of routes, and their mounting.

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
use crate::http::{middleware, openapi, routes};
use crate::settings::ServerSettings;

/// Timeout of a route that may call a language model. Source: own choice; three requests, each with the retries that a minute of
/// `llm.timeout_secs` allows, so that a slow model fails and is counted before the caller gets an error.
const OF_A_MODEL: Duration = Duration::from_mins(12);

/// The pending response of a handler.
pub(crate) type ResponseFuture = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;
/// A handler: parses its call, calls the facade, writes the response.
pub(crate) type Handler = fn(Call) -> ResponseFuture;
/// Generates the schema of a form.
pub(crate) type SchemaForm = fn(&mut SchemaGenerator) -> Schema;

/// The authorization of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authorization {
    /// None: public.
    Nothing,
    /// This right.
    Right(Right),
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestBody {
    /// No body.
    Nothing,
    /// A JSON document of this form.
    Json(SchemaForm),
    /// A stream of bytes with this content type.
    Bytes(&'static str),
}

/// The response of a success.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResponseBody {
    /// A JSON document of this form, with this status.
    Json(u16, SchemaForm),
    /// Bytes of this content type.
    Bytes(&'static str),
}

/// A setting that enables a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteSwitch {
    /// A server that others reach: an embedded memory has no keys.
    Keys,
    /// `compat.mem0`.
    Mem0,
}

impl RouteSwitch {
    /// Whether settings enable it.
    pub(crate) fn is_on(self, settings: &ServerSettings) -> bool {
        match self {
            Self::Keys => !settings.is_embedded,
            Self::Mem0 => settings.compat.mem0,
        }
    }

    /// Returns the hint that explains how to enable it.
    fn hint(self) -> &'static str {
        match self {
            Self::Keys => "An embedded memory belongs to its process; `mnemal serve` lets others in by keys.",
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
    /// A one-line description.
    pub(crate) summary: &'static str,
    /// Its authorization.
    pub(crate) needs: Authorization,
    /// The form of its query parameters.
    pub(crate) query: Option<SchemaForm>,
    /// The body of its requests.
    pub(crate) takes: RequestBody,
    /// The response of a success.
    pub(crate) gives: ResponseBody,
    /// Its handler.
    pub(crate) handle: Handler,
    /// Alias paths, for clients of another server; with the same parameters in the same order.
    pub(crate) aliases: Vec<&'static str>,
    /// The setting that enables it.
    pub(crate) switch: Option<RouteSwitch>,
    /// Whether it concerns the space as a whole, and is unavailable in a memory of one user.
    pub(crate) is_whole: bool,
    /// Whether it may call a language model before it responds.
    pub(crate) asks_model: bool,
}

impl Route {
    /// Creates a route without query and body that needs the right to read.
    pub(crate) fn get(
        operation: &'static str,
        path: &'static str,
        summary: &'static str,
        (answer, handle): (SchemaForm, Handler),
    ) -> Self {
        Self {
            operation,
            method: Method::GET,
            path,
            summary,
            needs: Authorization::Right(Right::Read),
            query: None,
            takes: RequestBody::Nothing,
            gives: ResponseBody::Json(200, answer),
            handle,
            aliases: Vec::new(),
            switch: None,
            is_whole: false,
            asks_model: false,
        }
    }

    /// Creates a route with a body that needs the right to write.
    pub(crate) fn post(
        operation: &'static str,
        path: &'static str,
        summary: &'static str,
        (body, answer, handle): (SchemaForm, SchemaForm, Handler),
    ) -> Self {
        let plain = Self::get(operation, path, summary, (answer, handle));
        Self {
            method: Method::POST,
            needs: Authorization::Right(Right::Write),
            takes: RequestBody::Json(body),
            ..plain
        }
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn needs(mut self, needs: Authorization) -> Self {
        self.needs = needs;
        self
    }

    pub(crate) fn right(self, right: Right) -> Self {
        self.needs(Authorization::Right(right))
    }

    pub(crate) fn query(mut self, form: SchemaForm) -> Self {
        self.query = Some(form);
        self
    }

    pub(crate) fn with_body(mut self, content_type: &'static str) -> Self {
        self.takes = RequestBody::Bytes(content_type);
        self
    }

    pub(crate) fn gives(mut self, content_type: &'static str) -> Self {
        self.gives = ResponseBody::Bytes(content_type);
        self
    }

    /// Adds alias paths.
    pub(crate) fn also(mut self, paths: &[&'static str]) -> Self {
        self.aliases.extend(paths);
        self
    }

    /// Marks the route as one on the whole space.
    pub(crate) fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Marks the route as one that may call a language model.
    pub(crate) fn asking(mut self) -> Self {
        self.asks_model = true;
        self
    }

    /// Returns its timeout.
    pub(crate) fn limit(&self, settings: &ServerSettings) -> Duration {
        let usual = settings.timeout();
        if self.asks_model { usual.max(OF_A_MODEL) } else { usual }
    }

    pub(crate) fn switch(mut self, switch: RouteSwitch) -> Self {
        self.switch = Some(switch);
        self
    }

    /// Checks that settings enable it.
    ///
    /// # Errors
    /// `not_found` with a hint how to enable it.
    pub(crate) fn is_served(&self, settings: &ServerSettings) -> Result<(), Problem> {
        match self.switch.filter(|switch| !switch.is_on(settings)) {
            Some(off) => Err(Problem::not_found("this route is turned off").hint(off.hint())),
            None => Ok(()),
        }
    }

    /// Returns the names of its query parameters.
    pub(crate) fn query_names(&self) -> Vec<String> {
        let mut names = self.query.map(fields).unwrap_or_default();
        if self.takes_user() {
            names.push(USER.to_owned());
        }
        names
    }

    /// Whether the query parameter `user` narrows it to the memory of one user: for every route of a space, except those whose
    /// own form names the owner, and those on the whole space.
    pub(crate) fn takes_user(&self) -> bool {
        let has = |form: SchemaForm| fields(form).iter().any(|name| name == USER);
        let of_body = match self.takes {
            RequestBody::Json(form) => has(form),
            RequestBody::Nothing | RequestBody::Bytes(_) => false,
        };
        self.is_in_space() && !self.is_whole && !of_body && !self.query.is_some_and(has)
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        if let ResponseBody::Json(_, form) = self.gives {
            self.gives = ResponseBody::Json(status, form);
        }
        self
    }

    /// Whether it changes something of a memory or of the keys, so that it is not interrupted and can be retried with its
    /// idempotency key.
    pub(crate) fn changes(&self) -> bool {
        self.method != Method::GET
            && !matches!(self.needs, Authorization::Nothing | Authorization::Right(Right::Read))
    }

    /// Whether its path begins with a space.
    pub(crate) fn is_in_space(&self) -> bool {
        self.path.starts_with("/v1/spaces/{space}")
    }
}

/// The query parameter for the user.
pub(crate) const USER: &str = "user";

/// Returns the field names of a form, over all of its variants.
fn fields(form: SchemaForm) -> Vec<String> {
    let schema = openapi::inlined(form);
    let kinds = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    let all = std::iter::once(&schema).chain(kinds.flatten());
    let fields = all.filter_map(|schema| schema.get("properties")?.as_object());
    fields.flat_map(|fields| fields.keys().cloned()).collect()
}

/// Builds the router of the table; middleware applies to these routes only.
pub(crate) fn router(host: &Arc<Host>) -> Router {
    routes::routes().into_iter().fold(Router::new(), |router, route| {
        let paths = std::iter::once(route.path).chain(route.aliases.clone());
        let method = method(route.clone(), Arc::clone(host));
        paths.fold(router, |router, path| router.route(path, method.clone()))
    })
}

/// Mounts one method of a path.
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
                    middleware::called(&host, (&route, &known), values, request).await
                }
                Err(_) => Err(Problem::not_found("the path is not UTF-8")),
            };
            let mut response = answered.map(Reply::into_response).into_response();
            response.extensions_mut().insert(Label(route.path));
            response
        }
    })
}

/// The metric label of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(pub(crate) &'static str);

/// Returns the parameters of a path, in order.
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
        let routes = routes::routes();
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

    /// Routes of other methods that change nothing of a memory or of the keys.
    const READING: [&str; 12] = [
        "recall",
        "context",
        "answer",
        "working_search",
        "forget_preview",
        "recall_verify",
        "receipt_verify",
        "mem0_search",
        "mem0_find",
        "login",
        "login_code",
        "logout",
    ];

    #[test]
    fn what_changes_something_needs_more_than_the_right_to_read() {
        for route in routes::routes() {
            let reads = READING.contains(&route.operation);
            let is_get = route.method == Method::GET;
            assert_eq!(route.changes(), !is_get && !reads, "{}", route.operation);
        }
    }
}
