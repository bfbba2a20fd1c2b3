//! A client logs in at a protected server, and every request of it is printed.
//!
//! ```text
//! cargo run -p authorization-server --bin login
//! cargo run -p authorization-server --bin login -- --revision 2025-03-26
//! ```
//!
//! In 2025-03-26 the server and its authorization server have one origin; since 2025-06-18 the server
//! names its authorization server, which may be anywhere. All parts run in this process.

mod servers;
mod trace;

use core::error::Error;
use std::io;

use clap::Parser;
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

impl Browser {
    fn new() -> Self {
        Self(HttpClient::builder().no_redirects().build())
    }
}

impl UserAgent for Browser {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok("http://127.0.0.1:8765/callback".into())
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        println!("The client opens the browser of the user\n");
        let request = http::Request::get(&page.url).body("");
        let request = request.map_err(io::Error::other)?;
        let response = self.0.send(request).await.map_err(io::Error::other)?;
        let location = response.headers().get(http::header::LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let location = location.ok_or_else(|| io::Error::other("no redirect"))?;
        println!("The user consents, and the browser goes back to the client\n");
        Ok(location.to_owned())
    }
}
