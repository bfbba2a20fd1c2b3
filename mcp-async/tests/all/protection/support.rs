//! A protected server, and clients with tokens.

use core::future::{Ready, ready};
use core::time::Duration;
use std::time::SystemTime;

use http::Request;
use mcp_async::Server;
use mcp_async::auth::{Protection, Scopes, Secret, TokenClaims, UnixTime};
use mcp_async::http::HttpService;
use mcp_async::server::{Context, Principal, Resource, ServerBuilder};

use crate::scripted::{RequestExt, Serve, modern, plain_call, send};
use crate::sim::sleep;

pub(crate) const RESOURCE: &str = "http://localhost:8000/mcp";
pub(crate) const ISSUER: &str = "https://as.example/";
pub(crate) const METADATA: &str = "http://localhost:8000/.well-known/oauth-protected-resource/mcp";

/// Revisions with and without sessions.
pub(crate) const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The time of the day, in seconds.
pub(crate) fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

/// A token is its user, its scopes separated by `+`, and its lifetime in seconds: `ada/mcp/60`.
/// A colon in a scope is a tilde, because a token has none. `other` as the user is a token of another resource, `broken` cannot be verified.
pub(crate) fn verify(token: Secret) -> Ready<Result<Option<TokenClaims>, String>> {
    let mut parts = token.expose().split('/');
    let (user, scopes, life) = (parts.next(), parts.next(), parts.next());
    ready(match (user, scopes, life.map(str::parse::<i64>)) {
        (Some("broken"), ..) => Err("the database of t0ken is down".into()),
        (Some(user), Some(scopes), Some(Ok(life))) => {
            let audience = if user == "other" {
                "https://other.example/mcp"
            } else {
                RESOURCE
            };
            let expires = now().saturating_add_signed(life);
            let claims = TokenClaims::new(ISSUER, audience)
                .with_subject(user)
                .with_client("c1")
                .with_scopes(Scopes::parse(&scopes.replace('+', " ").replace('~', ":")))
                .with_expiry(UnixTime::from_secs(expires));
            Ok(Some(claims))
        }
        _ => Ok(None),
    })
}

/// Tokens of [`verify`], all of which need the scope `mcp`.
pub(crate) fn protection() -> Protection {
    Protection::new(RESOURCE)
        .verifier(ISSUER, verify)
        .scopes(["mcp"])
}

pub(crate) fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
        .change_notifications()
        .tool("who", "Says who asks", |(): (), cx: Context| async move {
            let claims = cx.principal().and_then(Principal::claims::<TokenClaims>);
            let subject = claims.and_then(TokenClaims::subject);
            Ok(subject.unwrap_or("a guest").to_owned())
        })
        .tool(
            "header",
            "Reads the token",
            |(): (), cx: Context| async move {
                let head = cx.http().unwrap();
                let sent = head.headers.get("authorization");
                Ok(sent
                    .map_or("none", |sent| sent.to_str().unwrap())
                    .to_owned())
            },
        )
        .tool("slow", "Takes a second", |(): (), cx: Context| async move {
            cx.progress(1.0).await;
            sleep(Duration::from_secs(1)).await;
            Ok("at last")
        })
        .with(Resource::new("demo://open", "open").handler(|_| async { Ok("read") }))
}

/// A service with the tokens of [`verify`].
pub(crate) fn service() -> HttpService {
    protected(protection())
}

pub(crate) fn protected(protection: Protection) -> HttpService {
    server().http().protect(protection).served()
}

/// Returns a call of 2026-07-28 with this token, which asks who calls.
pub(crate) fn who(token: &str) -> Request<String> {
    modern(&plain_call(1, "who")).signed(token)
}

/// Returns the status of the response to [`who`].
pub(crate) fn status(service: &HttpService, token: &str) -> u16 {
    send(service, who(token)).status.as_u16()
}
