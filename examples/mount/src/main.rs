//! Mounts a server in an axum router, with routes and middleware of the program.
//!
//! `curl http://127.0.0.1:8000/health` needs no credentials; `/mcp` requires
//! `Authorization: Bearer open sesame`. On Ctrl-C the event streams end with their results.

use axum::Router;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use axum::http::request::Parts;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use mcp_tokio::http::AccessError;
use mcp_tokio::server::{BuildError, Principal};
use mcp_tokio::{HttpService, Runtime, Server, ServerBuilder, interrupted};

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// Where to look at the sky.
    city: String,
}

fn server() -> ServerBuilder {
    Server::builder("weather", env!("CARGO_PKG_VERSION")).tool(
        "forecast",
        "Forecast for a city",
        |args: Forecast, cx| async move {
            let who = cx.principal().map_or("somebody", Principal::name);
            Ok(format!("sunny in {}, {who}", args.city))
        },
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    let mcp = service()?;
    axum::serve(listener, router(mcp.clone()))
        .with_graceful_shutdown(interrupted())
        .await?;
    // Tasks have as much time to end as calls.
    mcp.drain().await;
    Ok(())
}

/// The server as a service. Requests in flight are notified when the program is interrupted, so that streams
/// end with their results instead of keeping it.
fn service() -> Result<HttpService, BuildError> {
    server()
        .http()
        .authenticate(known)
        .with_graceful_shutdown(interrupted())
        .into_service(Runtime)
}

/// The program's router.
fn router(mcp: HttpService) -> Router {
    Router::new()
        .route_service("/mcp", mcp)
        .route("/health", get(|| async { "well" }))
}

/// Verifies the password, and names the user who has it. The service calls this after its checks of
/// host and origin, and answers browsers that ask whether a page may send a request.
fn known(head: &Parts) -> impl Future<Output = Result<Principal, AccessError>> + use<> {
    let sent = head.headers.get(AUTHORIZATION);
    let is_known = sent.is_some_and(|sent| sent == "Bearer open sesame");
    async move {
        match is_known {
            true => Ok(Principal::new("Ali")),
            false => Err(AccessError::unauthorized(HeaderValue::from_static(
                "Bearer",
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::future::IntoFuture as _;

    use mcp_tokio::{Client, http};
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn routes_of_the_program_and_of_the_server() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, router(service().unwrap())).into_future());

        let url = format!("http://{address}/mcp");
        let refused = Client::connect(http(&url)).await.unwrap_err();
        assert!(refused.to_string().contains("401"), "{refused}");
        let client = Client::builder("t", "1").bearer("open sesame");
        let client = client.connect(http(url)).await.unwrap();
        let city = json!({ "city": "Kyoto" });
        let forecast = client.call_tool("forecast", &city).await.unwrap();
        assert_eq!(forecast.text(), "sunny in Kyoto, Ali");
        client.close().await.unwrap();
    }

    /// A browser asks without credentials, and a page may read why its request is refused.
    #[tokio::test]
    async fn browsers() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, router(service().unwrap())).into_future());
        let asked = "Access-Control-Request-Method: POST\r\n";
        let typed = "Content-Type: application/json\r\nContent-Length: 2\r\n";
        for (method, fields, body, status) in [
            ("OPTIONS", asked, "", " 204 "),
            ("POST", typed, "{}", " 401 "),
        ] {
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            let origin = "http://localhost:5173";
            let request = format!(
                "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n{fields}Connection: close\r\n\r\n{body}"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let line = answer.lines().next().unwrap_or_default();
            assert!(line.contains(status), "{answer}");
            let allowed = format!("access-control-allow-origin: {origin}");
            assert!(answer.contains(&allowed), "{answer}");
            assert_eq!(
                answer.contains("www-authenticate: Bearer"),
                status == " 401 "
            );
        }
    }

    /// What HTTP forbids is refused as well where another program has the connection.
    #[tokio::test]
    async fn wrong_heads() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, router(service().unwrap())).into_future());
        let wrong = [
            ("POST", "", "", " 400 "),
            (
                "POST",
                "Host: localhost\r\nHost: localhost\r\n",
                "",
                " 400 ",
            ),
            ("POST", "Host: localhost:eighty\r\n", "", " 400 "),
            (
                "POST",
                "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
                "0\r\n\r\n",
                " 501 ",
            ),
            (
                "DELETE",
                "Host: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\n",
                "",
                " 405 ",
            ),
        ];
        for (method, fields, body, status) in wrong {
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            let key = "Authorization: Bearer open sesame\r\nConnection: close";
            let request = format!("{method} /mcp HTTP/1.1\r\n{fields}{key}\r\n\r\n{body}");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let line = answer.lines().next().unwrap_or_default();
            assert!(line.contains(status), "{fields}: {answer}");
        }
    }
}
