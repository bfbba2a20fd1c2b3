//! Serves the authorization server on loopback, on tokio or on smol.

use core::error::Error;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::path::PathBuf;

use authorization_server::{AuthorizationServer, Client, Consent, Settings, SigningKey};
use bytes::Bytes;
use clap::{Parser, ValueEnum};
use http::Request;
use http_body_util::{BodyExt as _, Limited};
use mcp_async::net::{AddressGuard, HttpClient, HttpListener};
use mcp_async::runtime::RuntimeHandle;

/// An authorization server for development
#[derive(Debug, Parser)]
struct Arguments {
    /// Listens on this port of 127.0.0.1; 0 is any that is free
    #[arg(long, default_value_t = 9000)]
    port: u16,
    /// Is this issuer; http://localhost:PORT if not given
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// Asks the user, or answers for the user
    #[arg(long, value_enum, default_value_t = Answer::Ask)]
    consent: Answer,
    /// Logs in this user
    #[arg(long, default_value = "alice")]
    user: String,
    /// Adds a client, as ID or ID:SECRET or ID:SECRET=REDIRECT_URI
    #[arg(long = "client", value_name = "CLIENT")]
    clients: Vec<String>,
    /// Knows these scopes only, as mcp,admin
    #[arg(long, value_delimiter = ',', value_name = "SCOPES")]
    scopes: Vec<String>,
    /// Access tokens last so many seconds
    #[arg(long, default_value_t = 3600)]
    token_seconds: u64,
    /// Signs with this private key (PEM of PKCS#8, P-256 or RSA)
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// Demands DPoP proofs
    #[arg(long)]
    dpop: bool,
    /// Demands nonces in DPoP proofs
    #[arg(long)]
    dpop_nonces: bool,
    /// Serves no metadata, as some servers of 2025-03-26
    #[arg(long)]
    no_metadata: bool,
    /// Offers no registration
    #[arg(long)]
    no_registration: bool,
    /// Runs on this runtime
    #[arg(long, value_enum, default_value_t = Runtime::Tokio)]
    runtime: Runtime,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Runtime {
    Tokio,
    Smol,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Answer {
    Ask,
    /// Allows every request without a page
    Auto,
    Deny,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    match arguments.runtime {
        Runtime::Tokio => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(serve(mcp_tokio::Runtime.into(), &arguments)),
        Runtime::Smol => smol::block_on(serve(mcp_smol::Runtime.into(), &arguments)),
    }
}

async fn serve(runtime: RuntimeHandle, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let listen = HttpListener::bind(&runtime, (Ipv4Addr::LOCALHOST, arguments.port));
    let guard = AddressGuard::near(Ipv4Addr::LOCALHOST.into());
    let client = HttpClient::builder().guard(guard).no_redirects();
    let client = client.stall_timeout(Duration::from_secs(5)).build();
    client.start(&runtime);
    let settings = settings(arguments, listen.address()?)?
        .client_documents(move |url| fetch(client.clone(), url));
    let server = AuthorizationServer::new(settings)?;
    println!("{}", server.issuer());
    Ok(listen.serve(server, runtime.interrupted()).await?)
}

/// Fetches the document of a client, which may be on this machine.
async fn fetch(client: HttpClient, url: String) -> Result<Bytes, String> {
    let request = Request::get(url).header("accept", "application/json");
    let request = request.body("").map_err(|error| error.to_string())?;
    let response = client
        .send(request)
        .await
        .map_err(|error| error.to_string())?;
    if response.status() != 200 {
        return Err(format!("status {}", response.status()));
    }
    let body = Limited::new(response.into_body(), MAX_DOCUMENT).collect();
    let body = body.await.map_err(|error| error.to_string())?;
    Ok(body.to_bytes())
}

/// A document has at most this many bytes.
const MAX_DOCUMENT: usize = 64 * 1024;

fn settings(arguments: &Arguments, address: SocketAddr) -> Result<Settings, Box<dyn Error>> {
    let issuer = arguments.issuer.clone();
    let issuer = issuer.unwrap_or_else(|| format!("http://localhost:{}", address.port()));
    let mut settings = Settings::new(issuer)
        .user(&arguments.user)
        .scopes(&arguments.scopes)
        .token_lifetime(arguments.token_seconds)
        .consent(match arguments.consent {
            Answer::Ask => Consent::Ask,
            Answer::Auto => Consent::Allow,
            Answer::Deny => Consent::Deny,
        });
    for text in &arguments.clients {
        settings = settings.client(client(text));
    }
    if let Some(file) = &arguments.signing_key {
        settings = settings.signing_key(SigningKey::from_pem(&std::fs::read_to_string(file)?)?);
    }
    for (is_set, set) in [
        (
            arguments.dpop,
            Settings::require_dpop as fn(Settings) -> Settings,
        ),
        (arguments.dpop_nonces, Settings::demand_dpop_nonces),
        (arguments.no_metadata, Settings::without_metadata),
        (arguments.no_registration, Settings::without_registration),
    ] {
        if is_set {
            settings = set(settings);
        }
    }
    Ok(settings)
}

/// `ID`, `ID:SECRET`, `ID=REDIRECT_URI` or `ID:SECRET=REDIRECT_URI`.
fn client(text: &str) -> Client {
    let (names, redirect) = match text.split_once('=') {
        Some((names, redirect)) => (names, Some(redirect)),
        None => (text, None),
    };
    let client = match names.split_once(':') {
        Some((id, secret)) => Client::confidential(id, secret),
        None => Client::public(names),
    };
    match redirect {
        Some(uri) => client.redirect(uri),
        None => client.grants(["client_credentials"]),
    }
}
