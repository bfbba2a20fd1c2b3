//! Logs in at a protected server with rmcp, lists its tools and calls one.
//!
//! Usage: login REVISION URL
//!
//! Prints one JSON line per step. The authorization server must redirect at once.

use std::error::Error;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let revision = arguments.next().ok_or("no revision")?;
    let url = arguments.next().ok_or("no URL")?;
    let lifecycle = match &*revision {
        "2026-07-28" => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let client = tell("log in", async {
        let transport = log_in(&url).await?;
        let client = ().serve_with_lifecycle(transport, lifecycle).await?;
        Ok(client)
    });
    let client = client.await?;
    tell("list", async { Ok(client.list_all_tools().await?) }).await?;
    let arguments = json!({ "text": "hello" }).as_object().cloned();
    let mut call = CallToolRequestParams::new("echo");
    call.arguments = arguments;
    tell("call", async {
        let result = serde_json::to_value(client.call_tool(call).await?)?;
        match result["content"][0]["text"] == "hello" {
            true => Ok(()),
            false => Err(result.to_string().into()),
        }
    })
    .await?;
    client.cancel().await?;
    Ok(())
}

async fn log_in(url: &str) -> Outcome<StreamableHttpClientTransport<AuthClient<reqwest::Client>>> {
    let mut state = OAuthState::new(url, None).await?;
    let request = AuthorizationRequest::new("http://127.0.0.1:33418/callback")
        .with_client_name("rmcp-interop")
        .with_application_type("native")
        .with_initial_scope_selection();
    state.start_authorization(request).await?;
    let page = state.get_authorization_url().await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let response = browser.build()?.get(page).send().await?;
    let location = response.headers().get("location").ok_or("no redirect")?;
    state.handle_callback_url(location.to_str()?).await?;
    let manager = state.into_authorization_manager().ok_or("not authorized")?;
    let client = AuthClient::new(reqwest::Client::new(), manager);
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

async fn tell<T>(feature: &str, doing: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let done = doing.await;
    let line = match &done {
        Ok(_) => json!({ "feature": feature, "ok": true }),
        Err(error) => json!({ "feature": feature, "ok": false, "detail": error.to_string() }),
    };
    println!("{line}");
    done
}
