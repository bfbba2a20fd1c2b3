//! Pairs of features of an HTTP server that must work together, over any store that processes share.
//!
//! | Verification | session | refusals | event_stream | tasks_of_a_session | modern_tasks | guest |
//! |---|---|---|---|---|---|---|
//! | Protect | yes | yes | yes | yes | yes | no |
//! | AllowAnonymous | yes | yes | yes | yes | yes | yes |
//! | Authenticate | yes | yes | yes | yes | yes | no |
//! | Layer | yes | yes | yes | yes | yes | no |
//!
//! The rows are [`Verification`], the columns functions of this module. [`check`] compares the table with what
//! it runs. Scopes are tested where `protect` verifies.
//!
//! `protect` with `keep_tokens` cannot be shared: the endpoint is not built. No token reaches another process.
//! Each pair is tested with the stores in memory by the tests of `mcp-async`, and with Redis by those of
//! `fleet`. `protection::dpop` adds `protect` with DPoP, and `protection::sharing` the end of a forwarded
//! stream with its token and the refusal of a forwarded request.

mod reply;

use core::future::{Future, poll_fn};
use core::task::Poll;
use std::io;
use std::sync::LazyLock;
use std::time::SystemTime;

use http::request::Parts;
use http::{HeaderValue, Request};
use http_body_util::Full;
use mcp_async::auth::{Protection, Secret, TokenClaims};
use mcp_async::http::{AccessError, Http, HttpService, LocalForward, SessionStore};
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{Context, HandlerError, ListKind, Principal, Registry, StateKeys, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::TaskStore;
use mcp_async::{ErrorChain, Server};
use tower_service::Service as _;

use self::reply::Reply;

const RESOURCE: &str = "http://localhost:8000/mcp";
const ISSUER: &str = "https://as.example/";

/// How senders are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verification {
    /// `protect`.
    Protect,
    /// `protect` and `allow_anonymous`.
    AllowAnonymous,
    /// `authenticate` and `share_claims`.
    Authenticate,
    /// A layer in front of the service, past which the URL for other processes leads, and `share_claims`.
    Layer,
}

/// Claims of the application.
#[derive(serde::Serialize, serde::Deserialize)]
struct Tenant(String);

/// Tests every pair of the table with these stores.
pub(crate) async fn check<S, T>(runtime: impl Into<RuntimeHandle>, store: S, tasks: T)
where
    S: SessionStore + Clone + 'static,
    T: TaskStore + Clone + 'static,
{
    let runtime = runtime.into();
    cannot_keep_tokens(&runtime, &store);
    let mut table = row("Verification", |pair| pair) + "|---|---|---|---|---|---|---|\n";
    for verification in Verification::ALL {
        let forward = LocalForward::default();
        let process = |name| Process::new(&runtime, name, verification, &store, &forward, &tasks);
        let (first, second) = (process("first"), process("second"));
        let has = |pair: &str| pair != "guest" || verification == Verification::AllowAnonymous;
        for pair in PAIRS.split(' ').filter(|pair| has(pair)) {
            match pair {
                "session" => session(&first, &second).await,
                "refusals" => refusals(&first, &second).await,
                "event_stream" => event_stream(&first, &second).await,
                "tasks_of_a_session" => tasks_of_a_session(&first, &second).await,
                "modern_tasks" => modern_tasks(&first, &second).await,
                "guest" => guest(&first, &second).await,
                other => panic!("no test of {other}"),
            }
        }
        let name = format!("{verification:?}");
        table += &row(&name, |pair| if has(pair) { "yes" } else { "no" });
    }
    let header = include_str!("pairs.rs")
        .lines()
        .map_while(|line| line.strip_prefix("//!"));
    let written: String = header
        .filter_map(|line| line.strip_prefix(" |"))
        .map(|line| format!("|{line}\n"))
        .collect();
    assert_eq!(written, table, "the table at the top of this file");
}

const PAIRS: &str = "session refusals event_stream tasks_of_a_session modern_tasks guest";

/// A row of the table.
fn row(first: &str, cell: impl Fn(&'static str) -> &'static str) -> String {
    let cells: String = PAIRS
        .split(' ')
        .map(|pair| format!(" {} |", cell(pair)))
        .collect();
    format!("| {first} |{cells}\n")
}

fn cannot_keep_tokens(runtime: &RuntimeHandle, store: &(impl SessionStore + Clone + 'static)) {
    let server = Server::builder("pairs", "1.0").state_keys(StateKeys::new([7; 32]));
    let http = server
        .http()
        .share_with(store.clone(), LocalForward::default())
        .reached_at("http://localhost/first")
        .protect(protection().keep_tokens());
    let error = http.into_service(runtime).unwrap_err();
    let error = ErrorChain(&error).to_string();
    assert!(error.contains("keep_tokens"), "{error}");
}

/// A request is answered like at the process that owns the session, and so is its end.
async fn session(first: &Process, second: &Process) {
    let here = first.open("ada+mcp+write").await;
    let there = here.at(second);
    let known = here.call("who").await.text().await;
    let verification = first.verification;
    for part in ["ada", "acme"] {
        assert!(known.contains(part), "{known}");
    }
    // The hook of the application may leave the token in the head; another process never receives it.
    let keeps = !verification.has_scopes();
    assert_eq!(known.contains("Bearer"), keeps, "{known}");
    let forwarded = there.call("who").await.text().await;
    assert!(!forwarded.contains("Bearer"), "{forwarded}");
    let verified = |text: &str| text.split_once(", sent").unwrap().0.to_owned();
    assert_eq!(verified(&forwarded), verified(&known));
    // Scopes are those of tokens.
    let tools: &[&str] = match verification.has_scopes() {
        false => &["requires"],
        true => &["write", "requires"],
    };
    for tool in tools {
        let done = there.call(tool).await;
        assert_eq!(done.status, 200, "{verification:?} {tool}");
        assert!(done.text().await.contains("written"), "{verification:?}");
    }
    // The scopes are those of each request.
    let other = there.with_token("ada+mcp+extra");
    assert!(other.call("who").await.text().await.contains("ada"));
    if verification.has_scopes() {
        for tool in ["write", "requires"] {
            let refused = other.call(tool).await;
            assert_eq!(refused.status, 403, "{verification:?} {tool}");
            let challenge = refused.header("www-authenticate");
            assert!(challenge.contains("scope=\"mcp write\""), "{challenge}");
        }
    }
    assert_eq!(there.delete().await.status, 204, "{verification:?}");
    for gone in [&here, &there] {
        assert_eq!(gone.call("who").await.status, 404, "{verification:?}");
    }
}

/// Strangers do not learn of the session at either process.
async fn refusals(first: &Process, second: &Process) {
    let here = first.open("ada+mcp+write").await;
    let there = here.at(second);
    let verification = first.verification;
    for (token, status) in [
        ("bob+mcp+write", 404),
        ("unknown", 401),
        match verification {
            Verification::AllowAnonymous => ("", 404),
            _ => ("", 401),
        },
    ] {
        for session in [&here, &there] {
            let stranger = session.with_token(token);
            let case = format!("{verification:?} {token}");
            assert_eq!(stranger.call("who").await.status, status, "{case}");
            assert_eq!(stranger.get().await.status, status, "{case}");
            assert_eq!(stranger.delete().await.status, status, "{case}");
        }
    }
    assert_eq!(there.call("who").await.status, 200, "{verification:?}");
}

/// The stream of a session has what its owner sends.
async fn event_stream(first: &Process, second: &Process) {
    let here = first.open("ada+mcp").await;
    let mut stream = here.at(second).get().await;
    assert_eq!(stream.status, 200, "{:?}", first.verification);
    first.registry.list_changed(ListKind::Tools);
    stream.read_until("notifications/tools/list_changed").await;
}

/// Tasks of 2025-11-25.
async fn tasks_of_a_session(first: &Process, second: &Process) {
    let here = first.open("ada+mcp+write").await;
    let there = here.at(second);
    let call = r#""name":"who","arguments":{},"task":{}"#;
    let created = there.ask("tools/call", call).await.text().await;
    let about = format!(r#""taskId":"{}""#, member(&created, "taskId"));
    for session in [&here, &there] {
        let got = session.ask("tasks/get", &about).await.text().await;
        assert!(got.contains("status"), "{got}");
        let result = session.ask("tasks/result", &about).await.text().await;
        assert!(result.contains("ada"), "{result}");
        let listed = session.ask("tasks/list", "").await.text().await;
        assert!(listed.contains(&about), "{listed}");
    }
    let bob = second.open("bob+mcp").await;
    let refused = bob.ask("tasks/get", &about).await.text().await;
    assert!(refused.contains("error"), "{refused}");
}

/// Tasks of 2026-07-28, which need no session.
async fn modern_tasks(first: &Process, second: &Process) {
    let here = first.client("ada+mcp+write");
    let there = second.client("ada+mcp+write");
    let call = r#""name":"who","arguments":{}"#;
    let created = here.ask("tools/call", call).await.text().await;
    let about = format!(r#""taskId":"{}""#, member(&created, "taskId"));
    for client in [&there, &here] {
        let mut got = String::new();
        for _ in 0..1000 {
            got = client.ask("tasks/get", &about).await.text().await;
            if got.contains("completed") {
                break;
            }
            pause().await;
        }
        assert!(got.contains("completed") && got.contains("ada"), "{got}");
    }
    let bob = second.client("bob+mcp");
    let refused = bob.ask("tasks/get", &about).await.text().await;
    assert!(refused.contains("error"), "{refused}");
}

/// A session without a token.
async fn guest(first: &Process, second: &Process) {
    let here = first.open("").await;
    let there = here.at(second);
    let answer = there.call("who").await;
    assert_eq!(answer.status, 200);
    let text = answer.text().await;
    assert!(text.contains("a guest"), "{text}");
    assert_eq!(there.call("write").await.status, 401);
    let user = there.with_token("ada+mcp");
    assert_eq!(user.call("who").await.status, 404);
    assert_eq!(there.delete().await.status, 204);
}

/// A process that shares its sessions and tasks.
struct Process {
    service: HttpService,
    registry: Registry,
    verification: Verification,
}

impl Process {
    fn new<S, T>(
        runtime: &RuntimeHandle,
        name: &str,
        verification: Verification,
        store: &S,
        forward: &LocalForward,
        tasks: &T,
    ) -> Self
    where
        S: SessionStore + Clone + 'static,
        T: TaskStore + Clone + 'static,
    {
        let server = Server::builder("pairs", "1.0")
            .state_keys(StateKeys::new([7; 32]))
            .change_notifications()
            .tasks(Tasks::new().core_2025_11_25().store(tasks.clone()))
            .with(Tool::new("who").task(TaskPolicy::Optional).handler(who))
            .with(
                Tool::new("write")
                    .scopes(["write"])
                    .handler(|(): (), _: Context| async { Ok("written") }),
            )
            .with(Tool::new("requires").handler(requires))
            .build()
            .unwrap();
        let url = format!("http://localhost/{name}");
        let http = server.http().share_with(store.clone(), forward.clone());
        let http = verification.apply(http.reached_at(&url));
        let service = http.into_service(runtime).unwrap();
        forward.insert(url, &service);
        Self {
            service,
            registry: server.registry(),
            verification,
        }
    }

    /// A client of 2026-07-28.
    fn client(&self, token: &str) -> Client {
        Client {
            service: self.service.clone(),
            verification: self.verification,
            token: token.into(),
            session: None,
        }
    }

    /// A client of 2025-11-25 with a session.
    async fn open(&self, token: &str) -> Client {
        let mut client = self.client(token);
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        let opened = client.post(body.into()).await;
        assert_eq!(opened.status, 200, "{:?}", self.verification);
        client.session = Some(opened.header("mcp-session-id").to_owned());
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(client.post(ready.into()).await.status, 202);
        client
    }
}

impl Verification {
    const ALL: [Self; 4] = [
        Self::Protect,
        Self::AllowAnonymous,
        Self::Authenticate,
        Self::Layer,
    ];

    fn apply(self, http: Http) -> Http {
        match self {
            Self::Protect => http.protect(protection()),
            Self::AllowAnonymous => http.protect(protection().allow_anonymous()),
            Self::Authenticate => {
                let http = http.share_claims::<Tenant>("tenant");
                http.authenticate(|head: &Parts| {
                    let sent = head.headers.get("authorization");
                    let sent = sent.and_then(|sent| sent.to_str().ok()).unwrap_or_default();
                    let user = user(sent.strip_prefix("Bearer ").unwrap_or_default());
                    let challenge =
                        || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
                    let user = user.ok_or_else(challenge);
                    async move { user }
                })
            }
            Self::Layer => http.share_claims::<Tenant>("tenant"),
        }
    }

    /// Whether a token has scopes, and stays where it is verified.
    fn has_scopes(self) -> bool {
        matches!(self, Self::Protect | Self::AllowAnonymous)
    }
}

/// Whom the hook and the layer recognize by a token.
fn user(token: &str) -> Option<Principal> {
    let name = match token {
        "" | "unknown" => return None,
        token => token.split('+').next()?,
    };
    Some(Principal::new(name).with_claims(Tenant("acme".into())))
}

fn protection() -> Protection {
    Protection::new(RESOURCE)
        .introspection(ISSUER, introspect)
        .scopes(["mcp"])
}

/// In an hour, as seconds since 1970: one time, so that a token has the same answer at every process.
static EXPIRES: LazyLock<u64> = LazyLock::new(|| {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    now.as_secs() + 3600
});

/// A token is its user and its scopes: `ada+mcp+write`.
fn introspect(token: Secret) -> impl Future<Output = Result<Vec<u8>, io::Error>> + Send {
    let expires = *EXPIRES;
    let answer = match token.expose().split_once('+') {
        Some((user, scopes)) => format!(
            r#"{{"active":true,"sub":"{user}","client_id":"c1","aud":"{RESOURCE}","exp":{expires},"scope":"{}","tenant":"acme"}}"#,
            scopes.replace('+', " "),
        ),
        None => r#"{"active":false}"#.into(),
    };
    async move { Ok(answer.into_bytes()) }
}

/// All that a handler can learn of the sender.
async fn who((): (), cx: Context) -> Result<String, HandlerError> {
    let name = cx.principal().map_or("a guest", Principal::name);
    let claims = cx.principal().and_then(Principal::claims::<TokenClaims>);
    let claims = claims.map(|claims| {
        let (issuer, subject) = (claims.issuer(), claims.subject());
        let all = claims.all().as_raw().as_str();
        format!(
            "{issuer:?} {subject:?} {:?} {claims:?} {all}",
            claims.client()
        )
    });
    let tenant = cx.principal().and_then(Principal::claims::<Tenant>);
    let tenant = tenant.map(|Tenant(name)| name);
    let sent = cx.http().and_then(|head| head.headers.get("authorization"));
    Ok(format!("{name} {claims:?} {tenant:?}, sent {sent:?}"))
}

async fn requires((): (), cx: Context) -> Result<&'static str, HandlerError> {
    if cx
        .principal()
        .is_some_and(|sender| sender.claims::<TokenClaims>().is_some())
    {
        cx.require_scopes(["write"])?;
    }
    Ok("written")
}

/// A client of one process, with a token.
struct Client {
    service: HttpService,
    verification: Verification,
    token: String,
    session: Option<String>,
}

impl Client {
    /// The same client, whose requests arrive at another process.
    fn at(&self, process: &Process) -> Self {
        Self {
            service: process.service.clone(),
            verification: self.verification,
            token: self.token.clone(),
            session: self.session.clone(),
        }
    }

    fn with_token(&self, token: &str) -> Self {
        Self {
            service: self.service.clone(),
            verification: self.verification,
            token: token.into(),
            session: self.session.clone(),
        }
    }

    async fn call(&self, tool: &str) -> Reply {
        let params = format!(r#""name":"{tool}","arguments":{{}}"#);
        self.ask("tools/call", &params).await
    }

    async fn ask(&self, method: &str, params: &str) -> Reply {
        let meta = match self.session {
            Some(_) => "",
            None => META,
        };
        let comma = match params.is_empty() || meta.is_empty() {
            true => "",
            false => ",",
        };
        self.post(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
        ))
        .await
    }

    async fn get(&self) -> Reply {
        self.send(
            Request::get("/mcp").header("accept", "text/event-stream"),
            String::new(),
        )
        .await
    }

    async fn delete(&self) -> Reply {
        self.send(Request::delete("/mcp"), String::new()).await
    }

    async fn post(&self, body: String) -> Reply {
        let mut post = Request::post("/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if self.session.is_none() && body.contains(META) {
            post = post
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", member(&body, "method"));
            let named = if body.contains("\"taskId\"") {
                "taskId"
            } else {
                "name"
            };
            post = post.header("mcp-name", member(&body, named));
        }
        self.send(post, body).await
    }

    async fn send(&self, request: http::request::Builder, body: String) -> Reply {
        let mut request = request.header("host", "localhost:8000");
        if let Some(session) = &self.session {
            request = request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", "2025-11-25");
        }
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        let mut request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
        if self.verification == Verification::Layer {
            match user(&self.token) {
                Some(user) => request.extensions_mut().insert(user),
                None => return Reply::refused(401),
            };
        }
        let Ok(response) = self.service.clone().call(request).await;
        Reply::new(response)
    }
}

/// `_meta` of a request of 2026-07-28.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;

/// The first text that a member of this name has.
fn member<'t>(text: &'t str, name: &str) -> &'t str {
    let (_, rest) = text
        .split_once(&format!("\"{name}\":\""))
        .unwrap_or_else(|| panic!("no {name} in {text}"));
    rest.split('"').next().unwrap()
}

/// Lets other tasks run.
async fn pause() {
    let mut paused = false;
    poll_fn(|cx| match core::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}
