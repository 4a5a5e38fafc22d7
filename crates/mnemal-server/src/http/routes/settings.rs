//! Settings of the program in effect.

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::{Route, RouteSwitch};
use crate::http::routes::of;
use crate::wire::SettingsForm;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "setting_list",
            "/v1/settings",
            "The settings in effect, with their origins; of a secret only whether it is set.",
            (of::<SettingsForm>, |call| Box::pin(async move { list(&call) })),
        )
        .right(Right::Admin)
        .switch(RouteSwitch::Keys),
    ]
}

fn list(call: &Call) -> Result<Reply, Problem> {
    match call.host.setting_list.get() {
        Some(list) => Reply::ok(list),
        None => Reply::ok(&SettingsForm::default()),
    }
}
