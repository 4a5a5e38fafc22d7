//! The areas of the API; each file parses its forms, calls the facade, and writes its responses.

mod compat;
mod condition;
mod decisions;
mod events;
mod forget;
mod graph;
mod import;
mod keys;
mod login;
mod mem0;
mod memories;
mod memory_tool;
mod operations;
mod read;
mod report;
mod settings;
mod spaces;
mod stream;
mod summaries;
mod transfer;
mod why;
mod work;
mod working;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::http::route::Route;

/// Returns every route.
pub(crate) fn routes() -> Vec<Route> {
    [
        operations::routes(),
        keys::routes(),
        login::routes(),
        spaces::routes(),
        events::routes(),
        memories::routes(),
        memory_tool::routes(),
        read::routes(),
        graph::routes(),
        decisions::routes(),
        summaries::routes(),
        working::routes(),
        work::routes(),
        import::routes(),
        transfer::routes(),
        stream::routes(),
        forget::routes(),
        why::routes(),
        report::routes(),
        settings::routes(),
        compat::routes(),
        mem0::routes(),
    ]
    .concat()
}

/// Returns the schema of a form.
fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
