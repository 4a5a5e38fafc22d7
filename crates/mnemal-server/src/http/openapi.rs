//! The `OpenAPI` document, generated from the table of routes.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::problem::{self, ProblemForm};
use crate::http::route::{Authorization, RequestBody, ResponseBody, Route, USER, names};
use crate::http::routes;
use crate::settings::ServerSettings;

/// Returns the document of the routes that these settings enable.
pub(crate) fn document(served: &ServerSettings) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemForm>().to_value();
    let mut rows = routes::routes();
    rows.retain(|route| route.is_served(served).is_ok());
    rows.sort_by(|one, two| (one.path, one.method.as_str()).cmp(&(two.path, two.method.as_str())));
    let mut paths = Map::new();
    for route in &rows {
        let path = route.path.replace("{*", "{");
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(route.method.as_str().to_lowercase(), operation(route, &problem, &mut generator));
        }
    }
    let codes: Vec<Value> =
        problem::codes().map(|(code, status)| json!(format!("{code} ({status})"))).collect();
    let codes = codes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "mnemal",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Memory for AI agents. Times are RFC 3339 in UTC; scores lie in 0 to 1; ids are opaque. Codes of problems: {codes}."
            ),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(route: &Route, problem: &Value, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = names(route.path)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    if let Some(form) = route.query {
        parameters.extend(query(&inlined(form)));
    }
    if route.takes_user() {
        parameters.push(json!({
            "name": USER, "in": "query", "required": false, "schema": {"type": "string"},
            "description": "Only this user's memory: his records, and what was made of his words alone.",
        }));
    }
    if route.changes() {
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 200});
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false, "schema": schema,
            "description": "The same request with the same key is done once.",
        }));
    }
    parameters.push(json!({
        "name": "Time-Zone", "in": "header", "required": false, "schema": {"type": "string"},
        "description": "Where the days of this request are, `Europe/Berlin` or `+02:00`; without it days are those of UTC. \
            A time with an offset keeps its own.",
    }));
    let content = |content_type: &str, schema: Value| json!({content_type: {"schema": schema}});
    let success = match route.gives {
        ResponseBody::Json(_, form) => content("application/json", form(generator).to_value()),
        ResponseBody::Bytes(content_type) => content(content_type, json!({"type": "string"})),
    };
    let status = match route.gives {
        ResponseBody::Json(status, _) => status,
        ResponseBody::Bytes(_) => 200,
    };
    let mut responses = Map::new();
    let answered = |words: &str| json!({"description": words, "content": success});
    responses.insert(status.to_string(), answered("Done."));
    if status == 201 {
        responses.insert(
            "200".to_owned(),
            answered("Done before; nothing was added, or a new version of what was there."),
        );
    }
    let refused =
        json!({"description": "A problem.", "content": content("application/problem+json", problem.clone())});
    responses.insert("default".to_owned(), refused);
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses,
    });
    let Some(fields) = operation.as_object_mut() else { return operation };
    if route.path.starts_with("/api/") || route.operation.starts_with("mem0_") {
        fields.insert("tags".to_owned(), json!(["compat"]));
    }
    if let Authorization::Right(right) = route.needs {
        fields.insert("security".to_owned(), json!([{"key": []}]));
        fields.insert("x-right".to_owned(), json!(right.as_str()));
    }
    let body = match route.takes {
        RequestBody::Nothing => None,
        RequestBody::Json(form) => Some(content("application/json", form(generator).to_value())),
        RequestBody::Bytes(content_type) => Some(content(content_type, json!({"type": "string"}))),
    };
    if let Some(body) = body {
        fields.insert("requestBody".to_owned(), json!({"required": true, "content": body}));
    }
    operation
}

/// Returns the schema of a form without references.
pub(crate) fn inlined(form: crate::http::route::SchemaForm) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    form(&mut settings.into_generator()).to_value()
}

/// Returns the fields of a form as parameters.
fn query(schema: &Value) -> Vec<Value> {
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let required = schema.get("required").and_then(Value::as_array);
    let parameter = |(name, schema): (&String, &Value)| {
        let is_required =
            required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name.as_str())));
        let mut schema = schema.clone();
        let words = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        // A query parameter is omitted instead of being null.
        if schema.get("default").is_some_and(Value::is_null)
            && let Some(schema) = schema.as_object_mut()
        {
            schema.remove("default");
        }
        if let Some(types) = schema.get("type").and_then(Value::as_array) {
            let one =
                types.iter().find(|one| one.as_str() != Some("null")).cloned().unwrap_or(json!("string"));
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("type".to_owned(), one);
            }
        }
        json!({"name": name, "in": "query", "required": is_required, "schema": schema, "description": words.unwrap_or_default()})
    };
    fields.iter().map(parameter).collect()
}
