//! The server of `fixture http-auth`: the tools of [`server`](crate::server), protected.
//!
//! Tokens are those of a table, or JSON Web Tokens of the issuer in `MCP_AUTH_ISSUER`. With
//! `MCP_AUTH_DPOP=1` tokens that are bound to a key are accepted with a proof. With `MCP_AUTH_PROVIDER`, an issuer at
//! which the client `notes` is registered, the server is the authorization server, and its users log in there.

use core::net::Ipv4Addr;
use std::env;
use std::io;
use std::time::SystemTime;

use mcp_async::auth::{
    DelegatedLogin, DpopUse, Protection, Provider, Scopes, Secret, TokenClaims, UnixTime,
};
use mcp_async::net::HttpListener;
use mcp_async::runtime::RuntimeHandle;

use crate::server::server;

/// Serves `http://127.0.0.1:PORT/mcp` until interrupted, and requires a token.
pub(crate) async fn http(runtime: RuntimeHandle, port: &str) -> io::Result<()> {
    let port: u16 = port.parse().map_err(io::Error::other)?;
    let region_scopes: &[&str] = if env::var("MCP_AUTH_ISSUER").is_ok() {
        &["region:read"]
    } else {
        &[]
    };
    let server = server(runtime.clone(), region_scopes);
    let http = match env::var("MCP_AUTH_PROVIDER") {
        Ok(issuer) => {
            let provider = Provider {
                scopes: Scopes::parse("openid"),
                ..Provider::oidc(issuer, "notes", "s3cret")
            };
            let login = DelegatedLogin::new(resource(port), provider).scopes(["mcp"]);
            server.http().delegate_login(login)
        }
        Err(_) => server.http().protect(protection(port)),
    };
    http.serve(HttpListener::bind(runtime, (Ipv4Addr::LOCALHOST, port)))
        .await
}

/// What the environment says of tokens.
pub(crate) fn protection(port: u16) -> Protection {
    let resource = resource(port);
    let protection = Protection::new(resource.clone()).scopes(["mcp"]);
    let issuer = env::var("MCP_AUTH_ISSUER").ok();
    let mut protection = match issuer {
        Some(issuer) => protection.issuer(issuer).settings(|resource| {
            resource.hierarchy(|granted: &str, needed: &str| granted == "admin" && needed == "mcp")
        }),
        None => protection.verifier(ISSUER, move |token: Secret| {
            let claims = claims_of(token.expose(), &resource);
            async move { Ok::<_, io::Error>(claims) }
        }),
    };
    if env::var("MCP_AUTH_DPOP").is_ok_and(|value| value == "1") {
        protection = protection.dpop(DpopUse::Accepted);
    }
    protection
}

fn resource(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// The table of opaque tokens. It states claims, and judges none of them.
fn claims_of(token: &str, resource: &str) -> Option<TokenClaims> {
    let (subject, client) = match token {
        "other-user" => ("bob", "c2"),
        "good" | "expired" | "wrong-aud" | "no-scope" => ("alice", "c1"),
        _ => return None,
    };
    let audience = match token {
        "wrong-aud" => "https://other.example/mcp",
        _ => resource,
    };
    let scopes = if token == "no-scope" { "other" } else { "mcp" };
    let now = SystemTime::UNIX_EPOCH.elapsed().ok()?.as_secs();
    let now = UnixTime::from_secs(now);
    let expires = match token {
        "expired" => now.saturating_sub(HOUR),
        _ => now.saturating_add(HOUR),
    };
    let claims = TokenClaims::new(ISSUER, audience)
        .with_subject(subject)
        .with_client(client)
        .with_scopes(Scopes::parse(scopes))
        .with_expiry(expires);
    Some(claims)
}

/// An authorization server that does not exist.
const ISSUER: &str = "https://as.example/";

/// In seconds.
const HOUR: u64 = 3600;
