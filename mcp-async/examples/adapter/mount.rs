//! A server inside another program: in the router of axum, beside routes of its own and behind
//! its middleware.
//!
//! `/health` is the program's; `/mcp` is for whoever knows the word.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::adapter::http::Principal;
use crate::adapter::server::Context;
use crate::adapter::{Runtime, Server};

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// Where to look at the sky.
    city: String,
}

fn server() -> Server {
    Server::new("weather", env!("CARGO_PKG_VERSION")).tool(
        "forecast",
        "Forecast for a city",
        |args: Forecast, cx: Context| async move {
            let who = cx.principal().unwrap_or("somebody").to_owned();
            Ok(format!("sunny in {}, {who}", args.city))
        },
    )
}

/// The program's router. What runs is told when the program is interrupted, so that streams end
/// with their results instead of keeping it.
pub(crate) fn router() -> Router {
    let http = server().http().until(interrupted());
    Router::new()
        .route_service("/mcp", http.into_service())
        .route_layer(from_fn(known))
        .route("/health", get(|| async { "well" }))
}

/// Lets those in who know the word, under the name that goes with it.
async fn known(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let said = request.headers().get(AUTHORIZATION);
    if said.is_none_or(|said| said != "Bearer open sesame") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    request.extensions_mut().insert(Principal::new("Ali"));
    Ok(next.run(request).await)
}

/// Done on SIGINT, SIGTERM or Ctrl-C.
pub(crate) fn interrupted() -> crate::adapter::mcp_async::Task {
    <Runtime as crate::adapter::mcp_async::Runtime>::interrupted()
}
