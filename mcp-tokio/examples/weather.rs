//! A small server with one tool, for every revision.
//!
//! The type of the arguments defines their schema. Progress reaches clients that requested it.

use mcp_tokio::{Server, stdio};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// Where to look at the sky.
    city: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let server = Server::builder("weather", env!("CARGO_PKG_VERSION")).tool(
        "forecast",
        "Forecast for a city",
        |args: Forecast, cx| async move {
            cx.progress(0.5).await;
            Ok(format!("sunny in {}", args.city))
        },
    );
    server.serve(stdio()).await
}
