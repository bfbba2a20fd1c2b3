//! Logs in at a protected server with rmcp, lists its tools and calls one.
//!
//! Usage: login REVISION URL
//!
//! Prints one JSON line per step. The authorization server must redirect at once, or have a consent page with one form.

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
    let request = AuthorizationRequest::new(REDIRECT)
        .with_client_name("rmcp-interop")
        .with_application_type("native")
        .with_initial_scope_selection();
    state.start_authorization(request).await?;
    let page = state.get_authorization_url().await?;
    let location = browse(&page).await?;
    state.handle_callback_url(&location).await?;
    let manager = state.into_authorization_manager().ok_or("not authorized")?;
    let client = AuthClient::new(reqwest::Client::new(), manager);
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

const REDIRECT: &str = "http://127.0.0.1:33418/callback";

/// Follows the redirects of the authorization server up to the client, and answers its consent page if it has one.
async fn browse(page: &str) -> Outcome<String> {
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build()?;
    let field = |response: &reqwest::Response, name| {
        let value = response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok());
        value.map(str::to_owned)
    };
    let mut response = browser.get(page).send().await?;
    let cookie = field(&response, "set-cookie").unwrap_or_default();
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    if field(&response, "location").is_none() {
        let text = response.text().await?;
        let attribute = |before: &str| text.split_once(before)?.1.split('"').next();
        let action = attribute("action=\"").ok_or("no redirect and no form")?;
        let request = attribute("name=\"request\" value=\"").ok_or("another form")?;
        let form = browser.post(action).header("cookie", &cookie);
        let form = form.body(format!("request={request}&decision=allow"));
        response = form.send().await?;
    }
    loop {
        let next = field(&response, "location").ok_or("no redirect")?;
        if next.starts_with(REDIRECT) {
            return Ok(next);
        }
        response = browser.get(next).header("cookie", &cookie).send().await?;
    }
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
