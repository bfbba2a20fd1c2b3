//! A client logs in at a protected server, and every request of it is printed.
//!
//! ```text
//! cargo run -p authorization-server --bin login
//! cargo run -p authorization-server --bin login -- --revision 2025-03-26
//! cargo run -p authorization-server --bin login -- --delegate
//! ```
//!
//! In 2025-03-26 the server and its authorization server have one origin; since 2025-06-18 the server
//! names its authorization server, which may be anywhere. With `--delegate` the server is the authorization server in
//! every revision, and its users log in at another one, where clients cannot register. All parts run in this process.

mod servers;
mod trace;

use core::error::Error;
use std::io;

use clap::Parser;
use http::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use mcp_async::Client;
use mcp_async::auth::{Authorization, AuthorizationPage, DpopUse, SigningKey, UserAgent};
use mcp_async::net::HttpClient;
use mcp_async::runtime::RuntimeHandle;
use mcp_tokio::{Revision, RevisionSet};

/// Logs in at a protected server and prints each request
#[derive(Debug, Parser)]
struct Arguments {
    /// Speaks this revision of MCP
    #[arg(long, default_value = "2026-07-28")]
    revision: Revision,
    /// Serves no metadata of the authorization server in 2025-03-26: the client uses the default paths
    #[arg(long)]
    no_metadata: bool,
    /// Binds the tokens to a key of the client (DPoP), since 2025-06-18
    #[arg(long)]
    dpop: bool,
    /// Lets the server send its users to a provider that knows no clients
    #[arg(long, conflicts_with_all = ["dpop", "no_metadata"])]
    delegate: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime
        .enable_all()
        .build()?
        .block_on(run(&Arguments::parse()))
}

async fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let revisions = RevisionSet::of(&[arguments.revision]);
    let url = match arguments.revision {
        Revision::V2024_11_05 => return Err("2024-11-05 has no authorization".into()),
        _ if arguments.delegate => servers::delegated(revisions)?,
        Revision::V2025_03_26 if arguments.dpop => return Err("2025-03-26 has no DPoP".into()),
        Revision::V2025_03_26 => servers::same_origin(revisions, !arguments.no_metadata)?,
        _ if arguments.dpop => servers::apart(revisions, DpopUse::Required)?,
        _ => servers::apart(revisions, DpopUse::Off)?,
    };
    println!("A client of {} connects to {url}\n", arguments.revision);

    let mut authorization = Authorization::new().user_agent(Browser::new());
    if arguments.dpop {
        authorization = authorization.require_dpop(SigningKey::generate()?);
    }
    let client = Client::builder("login", env!("CARGO_PKG_VERSION"))
        .revisions(revisions)
        .authorize(authorization)
        .connect(mcp_tokio::http(url))
        .await?;
    println!("The client is connected, and calls the tool \"whoami\"\n");
    let answer = client.call_tool("whoami", &()).await?;
    println!("The tool answers: {}\n", answer.text());
    client.close().await?;
    Ok(())
}

/// The browser of a user who consents to everything.
struct Browser(HttpClient);

/// Where the user comes back to the client.
const REDIRECT: &str = "http://127.0.0.1:8765/callback";

impl Browser {
    fn new() -> Self {
        Self(HttpClient::builder().no_redirects().build())
    }

    async fn send(&self, request: Request<String>) -> io::Result<Response<String>> {
        let sent = self.0.send(request).await.map_err(io::Error::other)?;
        let (head, body) = sent.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let body = String::from_utf8(body.into()).map_err(io::Error::other)?;
        Ok(Response::from_parts(head, body))
    }
}

impl UserAgent for Browser {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok(REDIRECT.into())
    }

    /// Follows redirects up to the client, and answers a consent page.
    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        println!("The client opens the browser of the user\n");
        let (mut url, mut cookie) = (page.url.clone(), String::new());
        let mut form = None;
        while !url.starts_with(REDIRECT) {
            let request = match &form {
                Some(_) => Request::post(&url).header(ORIGIN, &page.issuer),
                None => Request::get(&url),
            };
            let request = request
                .header(COOKIE, &cookie)
                .body(form.take().unwrap_or_default());
            let response = self.send(request.map_err(io::Error::other)?).await?;
            let field = |name| response.headers().get(name)?.to_str().ok();
            if let Some(set) = field(SET_COOKIE) {
                cookie = set.split(';').next().unwrap_or_default().to_owned();
            }
            match field(LOCATION) {
                Some(location) => url = location.to_owned(),
                None => {
                    println!("The user reads the page of the server, and allows the access\n");
                    let (action, request) = read_form(response.body())?;
                    form = Some(format!("request={request}&decision=allow"));
                    url = action;
                }
            }
        }
        println!("The user consents, and the browser goes back to the client\n");
        Ok(url)
    }
}

/// The address of the form of a consent page, and what it holds.
fn read_form(page: &str) -> io::Result<(String, String)> {
    let attribute = |before: &str| {
        let (_, rest) = page.split_once(before)?;
        Some(rest.split('"').next()?.to_owned())
    };
    let form = attribute("action=\"").zip(attribute("name=\"request\" value=\""));
    form.ok_or_else(|| io::Error::other("neither a redirect nor a consent page"))
}
