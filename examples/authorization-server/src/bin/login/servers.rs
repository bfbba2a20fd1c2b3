use core::error::Error;
use core::future::pending;

use authorization_server::{AuthorizationServer, Client, Consent, SameOrigin, Settings};
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use mcp_async::Server;
use mcp_async::auth::{DelegatedLogin, DpopUse, Protection, Provider};
use mcp_async::http::AccessError;
use mcp_async::server::{Principal, ServerBuilder};
use mcp_tokio::RevisionSet;
use mcp_tokio::{Runtime, tcp};

use crate::trace::Traced;

/// Serves a protected server and, at another origin, its authorization server. Returns the URL of
/// the server. It accepts tokens that are bound to a key as `dpop` says.
pub(crate) fn apart(revisions: RevisionSet, dpop: DpopUse) -> Result<String, Box<dyn Error>> {
    let listen = tcp("127.0.0.1:0");
    let issuer = format!("http://{}", listen.address()?);
    let settings = Settings::new(&issuer).consent(Consent::Allow);
    let server = AuthorizationServer::new(settings.scopes(["mcp"]))?;
    tokio::spawn(listen.serve(Traced::new(&issuer, server), pending()));

    let listen = tcp("127.0.0.1:0");
    let origin = format!("http://{}", listen.address()?);
    let url = format!("{origin}/mcp");
    let protection = Protection::new(&url)
        .issuer(&issuer)
        .scopes(["mcp"])
        .dpop(dpop);
    let service = builder(revisions)
        .http()
        .protect(protection)
        .into_service(Runtime)?;
    tokio::spawn(listen.serve(Traced::new(&origin, service), pending()));
    Ok(url)
}

/// Serves a protected server and its authorization server at one origin, as in 2025-03-26. Returns
/// the URL of the server.
pub(crate) fn same_origin(
    revisions: RevisionSet,
    has_metadata: bool,
) -> Result<String, Box<dyn Error>> {
    let listen = tcp("127.0.0.1:0");
    let origin = format!("http://{}", listen.address()?);
    let mut settings = Settings::new(&origin).consent(Consent::Allow);
    settings = settings.without_issuer_parameter();
    if !has_metadata {
        settings = settings.without_metadata();
    }
    let server = AuthorizationServer::new(settings)?;
    let issuer = server.clone();
    // Without metadata of the resource, a challenge says no more than that a token is needed.
    let hook = move |head: &Parts| {
        let user = user(&issuer, head);
        async move {
            let bearer = HeaderValue::from_static("Bearer");
            let user = user.ok_or_else(|| AccessError::unauthorized(bearer))?;
            Ok::<_, AccessError>(Principal::new(user))
        }
    };
    let service = builder(revisions)
        .http()
        .authenticate(hook)
        .into_service(Runtime)?;
    let service = Traced::new(&origin, SameOrigin::new(server, service));
    tokio::spawn(listen.serve(service, pending()));
    Ok(format!("{origin}/mcp"))
}

/// Serves a protected server that is the authorization server of its clients, and at another origin the provider at
/// which its users log in. Returns the URL of the server.
pub(crate) fn delegated(revisions: RevisionSet) -> Result<String, Box<dyn Error>> {
    let (listen, provider) = (tcp("127.0.0.1:0"), tcp("127.0.0.1:0"));
    let origin = format!("http://{}", listen.address()?);
    let issuer = format!("http://{}", provider.address()?);
    let notes = Client::confidential("notes", "s3cret").redirect(format!("{origin}/callback"));
    let settings = Settings::new(&issuer).consent(Consent::Allow);
    let settings = settings.without_registration().client(notes);
    let server = AuthorizationServer::new(settings)?;
    tokio::spawn(provider.serve(Traced::new(&issuer, server), pending()));

    let url = format!("{origin}/mcp");
    let provider = Provider::oidc(&issuer, "notes", "s3cret");
    let login = DelegatedLogin::new(&url, provider).scopes(["mcp"]);
    let service = builder(revisions)
        .http()
        .delegate_login(login)
        .into_service(Runtime)?;
    tokio::spawn(listen.serve(Traced::new(&origin, service), pending()));
    Ok(url)
}

/// The user of a token that the authorization server of this process has issued.
fn user(issuer: &AuthorizationServer, head: &Parts) -> Option<String> {
    let sent = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let claims = issuer.introspect(sent.strip_prefix("Bearer ")?);
    claims["active"].as_bool()?.then_some(())?;
    Some(claims["sub"].as_str()?.to_owned())
}

fn builder(revisions: RevisionSet) -> ServerBuilder {
    Server::builder("login", env!("CARGO_PKG_VERSION"))
        .revisions(revisions)
        .tool("whoami", "The user", |(): (), cx| async move {
            let name = cx.principal().map(|principal| principal.name().to_owned());
            Ok(name.unwrap_or_default())
        })
}
