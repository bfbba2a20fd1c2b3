//! Serves a proxy to others, and the clients of its servers.

use core::future::ready;
use core::sync::atomic::AtomicBool;
use std::io;
use std::sync::Arc;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::connect::{command, timeouts};
use super::exit::{Exit, Failure};
use super::login::authorization;
use super::options::{Common, Serving};
use super::out;
use super::response::LastResponse;
use super::screen::Screen;
use mcp_tokio::compose::{Proxy, ServerEntry, ServerTarget, UpstreamState};
use mcp_tokio::http::{AccessError, HttpStatus, Readiness};
use mcp_tokio::server::Principal;
use mcp_tokio::tasks::server::Tasks;
use mcp_tokio::{Server, stdio, tcp};

/// Returns the entry of a server with the settings of the command line. A server at a URL may want a login, which is that of this
/// program for all callers.
pub(crate) fn entry(
    name: &str,
    target: ServerTarget,
    common: &Common,
    screen: &Screen,
) -> ServerEntry {
    let timeouts = timeouts(common);
    let entry = match target {
        ServerTarget::Program(program) => {
            let never = Arc::new(AtomicBool::new(false));
            let command = command(&program, common, screen, name, &never);
            ServerEntry::program(name, command).client(move |client| client.timeouts(timeouts))
        }
        ServerTarget::Url(remote) => {
            let secrets = screen.secrets();
            secrets.add_url(&remote.url);
            for (name, value) in &remote.headers {
                secrets.add_header(name, value);
            }
            let (common, screen) = (common.clone(), screen.clone());
            let entry = ServerTarget::Url(remote.clone()).into_entry(name);
            entry.client(move |client| {
                let response = LastResponse::new(screen.secrets());
                let authorization = authorization(&common, &remote, &screen, &response);
                client.timeouts(timeouts).authorize(authorization)
            })
        }
    };
    match common.connect_timeout {
        Some(deadline) => entry.deadline(deadline),
        None => entry,
    }
}

/// Checks the ways to serve before any server is started.
///
/// # Errors
/// The address can be reached from other machines, and no token is set; or the variable of the token is not.
pub(crate) fn check(serving: &Serving) -> Result<(), Failure> {
    token(serving)?;
    match serving.http {
        Some(address) if !address.ip().is_loopback() && serving.token_env.is_none() => {
            let text = format!(
                "{address} can be reached from other machines, whose callers could use every server: set a token by --token-env"
            );
            Err(Failure::usage(text))
        }
        _ => Ok(()),
    }
}

/// Serves the proxy until the program is interrupted, or the end of standard input, and ends its servers.
///
/// # Errors
/// The address cannot be bound.
pub(crate) async fn serve(
    proxy: &Proxy,
    name: &str,
    common: &Common,
    serving: &Serving,
) -> Result<(), Failure> {
    let server = Server::builder(name, env!("CARGO_PKG_VERSION"));
    let server = server.tasks(Tasks::new());
    let server = match common.revisions {
        Some(revisions) => server.revisions(revisions),
        None => server,
    };
    let server = proxy
        .server(server)
        .map_err(|error| Failure::new(Exit::Other, error))?;
    let served = match serving.http {
        None => server.serve(stdio()).await,
        Some(address) => {
            let listener = tcp(address);
            let address = listener.address().map_err(|error| bound(&error))?;
            let behind = proxy.clone();
            let mut http = server
                .http()
                .probe(READY, move |status| report(status, &behind));
            if let Some(token) = token(serving)? {
                let challenge = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
                http = http.authenticate(move |head: &Parts| {
                    ready(holder(head, &token).ok_or_else(challenge))
                });
                if !address.ip().is_loopback() {
                    http = http.allow_any_host();
                }
            }
            out::text(&format!("http://{address}/mcp"))?;
            http.serve(listener).await
        }
    };
    proxy.close().await;
    served.map_err(|error| bound(&error))
}

/// Returns the numbers of the endpoint and its servers, for the check of a balancer; as an error if it takes no requests, or no server is
/// connected.
fn report(status: &HttpStatus, proxy: &Proxy) -> Result<String, String> {
    let states = proxy.states();
    let connected = states
        .iter()
        .filter(|(_, state)| matches!(state, UpstreamState::Ready | UpstreamState::Resting));
    let connected = connected.count();
    let (behind, waiting) = proxy.in_use();
    let text = format!(
        "{:?}: {connected} of {} servers connected, {behind} sessions with servers, {waiting} calls that wait for their callers\n\
         {} sessions of callers, {} exchanges, {} tasks\n",
        status.readiness,
        states.len(),
        status.sessions,
        status.exchanges,
        status.tasks,
    );
    match status.readiness {
        Readiness::Ready if connected > 0 || states.is_empty() => Ok(text),
        _ => Err(text),
    }
}

/// The path of the check.
const READY: &str = "/ready";

/// Returns the token that callers have to send, if there is one.
fn token(serving: &Serving) -> Result<Option<String>, Failure> {
    let Some(name) = &serving.token_env else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(token) if !token.is_empty() => Ok(Some(token)),
        _ => Err(Failure::usage(format!(
            "--token-env: the variable {name} is not set"
        ))),
    }
}

/// Returns the caller, if it sends the token.
fn holder(head: &Parts, token: &str) -> Option<Principal> {
    let given = head.headers.get(AUTHORIZATION)?;
    let given = given.as_bytes().strip_prefix(b"Bearer ")?;
    is_equal(given, token.as_bytes()).then(|| Principal::new("holder of the token"))
}

/// Compares texts in a time that does not depend on where they differ.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differences = a
        .iter()
        .zip(b)
        .fold(0, |differences, (a, b)| differences | (a ^ b));
    a.len() == b.len() && differences == 0
}

fn bound(error: &io::Error) -> Failure {
    Failure::new(Exit::Other, error)
}
