//! An HTTP client made of function calls.

use core::future::Future;
use core::net::{IpAddr, SocketAddr};
use core::pin::Pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use mcp_async::http::{Http, HttpBody, HttpService};
use mcp_async::net::RemoteAddr;
use mcp_async::server::Principal;
use tower_service::Service;

use super::messages::{INITIALIZED, initialize, message, modern_message};
use crate::sim::{Flag, Sim, advance, now, settle};
use crate::texts::has;

type BoxError = Box<dyn core::error::Error + Send + Sync>;

/// Settings of an endpoint that a test sends requests to.
pub(crate) trait Serve {
    /// Returns the service with these settings.
    fn served(self) -> HttpService;
}

impl Serve for Http {
    #[track_caller]
    fn served(self) -> HttpService {
        self.into_service(Sim).unwrap()
    }
}

/// A response whose body is read bit by bit.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Option<HttpBody>,
    /// The text that was received and not taken.
    text: String,
    flag: Arc<Flag>,
}

/// Sends a request, whose response has to begin at once.
pub(crate) fn send(service: &HttpService, request: Request<String>) -> Reply {
    send_body(service, request.map(|body| Full::new(Bytes::from(body))))
}

pub(crate) fn send_body<B>(service: &HttpService, request: Request<B>) -> Reply
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    // Boxed: the service is compiled once for all bodies.
    let request = request.map(|body| body.map_err(Into::<BoxError>::into).boxed_unsync());
    let Ok(response) = now(service.clone().call(request));
    Reply::new(response)
}

/// A request whose response has not begun.
pub(crate) struct Waiting {
    response: Pin<Box<dyn Future<Output = Reply>>>,
}

/// Sends a request, whose response is to begin later.
pub(crate) fn wait(service: &HttpService, request: Request<String>) -> Waiting {
    let mut waiting = Waiting::new(service, request);
    assert!(waiting.reply().is_none(), "it has begun");
    waiting
}

impl Waiting {
    /// Sends a request.
    pub(crate) fn new(service: &HttpService, request: Request<String>) -> Self {
        let request = request.map(|body| Full::new(Bytes::from(body)));
        let response = service.clone().call(request);
        let response = Box::pin(async {
            let Ok(response) = response.await;
            Reply::new(response)
        });
        Self { response }
    }

    /// The response, if it has begun.
    pub(crate) fn poll(&mut self) -> Option<Reply> {
        match self.poll_with(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => Some(reply),
            Poll::Pending => None,
        }
    }

    /// The response, whose beginning wakes this task.
    pub(crate) fn poll_with(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        self.response.as_mut().poll(cx)
    }

    /// The status, once the response has begun.
    pub(crate) fn status(&mut self) -> Option<u16> {
        let reply = self.reply()?;
        Some(reply.status.as_u16())
    }

    /// The status, which comes in time.
    #[track_caller]
    pub(crate) fn eventually(&mut self) -> u16 {
        for _ in 0..600 {
            if let Some(status) = self.status() {
                return status;
            }
            advance(Duration::from_millis(100));
        }
        panic!("it has no answer")
    }

    /// The response, once it has begun.
    pub(crate) fn reply(&mut self) -> Option<Reply> {
        (0..100).find_map(|_| {
            settle();
            self.poll()
        })
    }
}

impl Reply {
    pub(crate) fn new(response: Response<HttpBody>) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            status: parts.status,
            headers: parts.headers,
            body: Some(body),
            text: String::new(),
            flag: Flag::new(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// Fails if the response has another status, or another value of one of these fields; a field that is
    /// missing is empty.
    #[track_caller]
    pub(crate) fn has_head<const N: usize>(&self, status: u16, fields: [(&str, &str); N]) {
        assert_eq!(self.status, status);
        for (name, value) in fields {
            assert_eq!(self.header(name), value, "{name}");
        }
    }

    /// The length of the body, if that is known before it is read.
    pub(crate) fn exact_len(&self) -> Option<u64> {
        self.body.as_ref()?.size_hint().exact()
    }

    /// The next frame, if it has come.
    pub(crate) fn frame(&mut self) -> Option<String> {
        let waker = Waker::from(Arc::clone(&self.flag));
        let body = Pin::new(self.body.as_mut()?);
        match body.poll_frame(&mut Context::from_waker(&waker)) {
            Poll::Ready(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap();
                return Some(core::str::from_utf8(&data).unwrap().to_owned());
            }
            Poll::Ready(None) => self.body = None,
            Poll::Pending => {}
        }
        None
    }

    /// True after the last frame.
    pub(crate) fn is_over(&self) -> bool {
        self.body.is_none()
    }

    /// The text that was received since the last call.
    pub(crate) fn text(&mut self) -> String {
        settle();
        while self.flag.take() {
            while let Some(frame) = self.frame() {
                self.text.push_str(&frame);
            }
            settle();
        }
        core::mem::take(&mut self.text)
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.text = self.text();
        self.is_over()
    }

    /// Fails if the response has another status, or has not ended with a body that contains these parts.
    #[track_caller]
    pub(crate) fn says<const N: usize>(self, status: u16, parts: [&str; N]) {
        let found = self.status;
        let text = self.whole();
        assert_eq!(found, status, "{text}");
        has(&text, parts);
    }

    /// The whole body of a response that has ended.
    pub(crate) fn whole(mut self) -> String {
        assert!(self.has_ended(), "there is more to come");
        self.text
    }
}

/// Returns a POST of a legacy client, whose body is this message, in short or in full.
pub(crate) fn post(text: &str) -> Request<String> {
    Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(message(text))
        .unwrap()
}

/// Returns a POST of 2026-07-28, whose head repeats what the body says.
pub(crate) fn modern(text: &str) -> Request<String> {
    let body = modern_message(text);
    let member = |name: &str| {
        let (_, rest) = body.split_once(&format!("\"{name}\":\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let mut request = post("").with("mcp-protocol-version", "2026-07-28");
    if let Some(method) = member("method") {
        request = request.with("mcp-method", method);
        let name = match method {
            "resources/read" => member("uri"),
            "tools/call" | "prompts/get" => member("name"),
            _ => None,
        };
        if let Some(name) = name {
            request = request.with("mcp-name", name);
        }
    }
    request.map(|_| body)
}

/// Returns a request for the stream of a session, or for what continues the one with this event.
pub(crate) fn get(last_event_id: Option<&str>) -> Request<String> {
    let request = Request::get("/mcp")
        .header("host", "localhost:8000")
        .header("accept", "text/event-stream");
    let request = request.body(String::new()).unwrap();
    match last_event_id {
        Some(id) => request.with("last-event-id", id),
        None => request,
    }
}

/// Returns a request that ends a session.
pub(crate) fn delete() -> Request<String> {
    let request = Request::delete("/mcp").header("host", "localhost:8000");
    request.body(String::new()).unwrap()
}

/// Changes of a request.
pub(crate) trait RequestExt: Sized {
    /// Sets a field of the head.
    fn with(self, name: &str, value: &str) -> Self;

    /// Sets the path.
    fn to(self, uri: &str) -> Self;

    /// Sets the method.
    fn with_method(self, method: Method) -> Self;

    /// Adds what a layer in front of the service has found out.
    fn extend<T: Clone + Send + Sync + 'static>(self, value: T) -> Self;

    /// Sets the token.
    fn signed(self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    /// Sets the principal.
    fn by(self, name: &str) -> Self {
        self.extend(Principal::new(name))
    }

    /// Sets the address of the client.
    fn at_address(self, address: &str) -> Self {
        let address: IpAddr = address.parse().unwrap();
        self.extend(RemoteAddr(SocketAddr::new(address, 40_000)))
    }
}

impl<B> RequestExt for Request<B> {
    fn with(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers_mut().insert(name, value.parse().unwrap());
        self
    }

    fn to(mut self, uri: &str) -> Self {
        *self.uri_mut() = uri.parse().unwrap();
        self
    }

    fn with_method(mut self, method: Method) -> Self {
        *self.method_mut() = method;
        self
    }

    fn extend<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions_mut().insert(value);
        self
    }
}

/// A client.
#[derive(Clone)]
pub(crate) struct HttpClient {
    pub(crate) service: HttpService,
    /// The id of its session; empty without a session.
    pub(crate) id: String,
    pub(crate) revision: &'static str,
    pub(crate) principal: Option<Principal>,
    /// Empty without a token.
    token: String,
}

impl HttpClient {
    /// Opens a session, in revisions that have sessions.
    pub(crate) fn open(service: &HttpService, revision: &'static str) -> Self {
        Self::new(service, revision).opened()
    }

    /// Opens a session of this principal.
    pub(crate) fn open_as(
        service: &HttpService,
        revision: &'static str,
        principal: Option<Principal>,
    ) -> Self {
        let client = Self::new(service, revision);
        Self {
            principal,
            ..client
        }
        .opened()
    }

    /// Opens a session with this token.
    pub(crate) fn signed(service: &HttpService, revision: &'static str, token: &str) -> Self {
        Self::new(service, revision).with_token(token).opened()
    }

    /// A client without a session.
    pub(crate) fn new(service: &HttpService, revision: &'static str) -> Self {
        Self {
            service: service.clone(),
            id: String::new(),
            revision,
            principal: None,
            token: String::new(),
        }
    }

    /// This session with another token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.into(),
            ..self.clone()
        }
    }

    /// This client in a session.
    pub(crate) fn in_session(&self, id: &str) -> Self {
        Self {
            id: id.into(),
            ..self.clone()
        }
    }

    /// This session at another service.
    pub(crate) fn at(&self, service: &HttpService) -> Self {
        Self {
            service: service.clone(),
            ..self.clone()
        }
    }

    /// This session, used by a principal.
    pub(crate) fn used_by(&self, principal: Option<Principal>) -> Self {
        Self {
            principal,
            ..self.clone()
        }
    }

    fn is_modern(&self) -> bool {
        self.revision == "2026-07-28"
    }

    fn opened(self) -> Self {
        let revision = self.revision;
        match self.is_modern() {
            true => self,
            false => self.opened_by(&initialize(revision)),
        }
    }

    /// Opens a session by this request.
    pub(crate) fn opened_by(mut self, request: &str) -> Self {
        let reply = self.post(request);
        assert_eq!(reply.status, 200);
        self.id = reply.header("mcp-session-id").to_owned();
        assert_eq!(self.id.len(), 32);
        has(
            &reply.whole(),
            [&format!(r#""protocolVersion":"{}""#, self.revision)],
        );
        self.post(INITIALIZED).says(202, []);
        self
    }

    /// Adds session, token and principal to a request.
    pub(crate) fn completed(&self, mut request: Request<String>) -> Request<String> {
        if !self.id.is_empty() {
            request = request.with("mcp-session-id", &self.id);
            if self.revision != "2025-03-26" {
                request = request.with("mcp-protocol-version", self.revision);
            }
        }
        if !self.token.is_empty() {
            request = request.signed(&self.token);
        }
        if let Some(principal) = &self.principal {
            request = request.extend(principal.clone());
        }
        request
    }

    pub(crate) fn send(&self, request: Request<String>) -> Reply {
        send(&self.service, self.completed(request))
    }

    pub(crate) fn post(&self, text: &str) -> Reply {
        self.send(self.message(text))
    }

    /// Posts a message whose response may begin later.
    pub(crate) fn begin(&self, text: &str) -> Waiting {
        self.begin_sending(self.message(text))
    }

    /// Sends a request whose response may begin later.
    pub(crate) fn begin_sending(&self, request: Request<String>) -> Waiting {
        Waiting::new(&self.service, self.completed(request))
    }

    fn message(&self, text: &str) -> Request<String> {
        match self.is_modern() {
            true => modern(text),
            false => post(text),
        }
    }

    /// Sends a request with these members as its parameters.
    pub(crate) fn ask(&self, method: &str, members: &str) -> Reply {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.post(&format!("{id} {method} {{{members}}}"))
    }

    /// Calls a tool without arguments; in a session, with progress.
    pub(crate) fn call(&self, tool: &str) -> Reply {
        let meta = match self.is_modern() {
            true => "",
            false => r#","_meta":{"progressToken":1}"#,
        };
        let members = format!(r#""name":"{tool}","arguments":{{}}{meta}"#);
        self.ask("tools/call", &members)
    }

    /// Subscribes to these resources, and returns the stream of changes.
    pub(crate) fn listen(&self, uris: &[&str]) -> Reply {
        let mut stream = match self.is_modern() {
            true => {
                let lists = r#""toolsListChanged":true,"resourcesListChanged":true"#;
                let filter = format!(r#"{lists},"resourceSubscriptions":{uris:?}"#);
                let filter = format!(r#""notifications":{{{filter}}}"#);
                self.ask("subscriptions/listen", &filter)
            }
            false => {
                for uri in uris {
                    let subscribed = self.ask("resources/subscribe", &format!(r#""uri":"{uri}""#));
                    subscribed.says(200, []);
                }
                self.get(None)
            }
        };
        assert_eq!(stream.status, 200);
        stream.text();
        stream
    }

    /// Asks for the stream of the session, or for what continues the one with this event.
    pub(crate) fn get(&self, last_event_id: Option<&str>) -> Reply {
        self.send(get(last_event_id))
    }

    pub(crate) fn delete(&self) -> Reply {
        self.send(delete())
    }
}

/// A client of 2024-11-05, whose stream is at `/sse`.
pub(crate) struct SseClient {
    client: HttpClient,
    pub(crate) stream: Reply,
    /// The endpoint of its messages.
    pub(crate) uri: String,
}

impl SseClient {
    /// Opens a stream.
    pub(crate) fn open(service: &HttpService) -> Self {
        Self::open_in(service, "", None)
    }

    /// Opens a stream of this principal; `/sse` is in this folder.
    pub(crate) fn open_in(service: &HttpService, folder: &str, by: Option<Principal>) -> Self {
        let client = HttpClient::new(service, "2024-11-05").used_by(by);
        let mut stream = client.send(get(None).to(&format!("{folder}/sse")));
        assert_eq!(stream.status, 200);
        assert_eq!(stream.header("content-type"), "text/event-stream");
        let text = stream.text();
        let data = text.strip_prefix("event: endpoint\ndata: ").expect(&text);
        let reference = data.strip_suffix("\n\n").unwrap();
        assert!(reference.starts_with("messages?c="), "{reference}");
        let uri = format!("{folder}/{reference}");
        Self {
            client,
            stream,
            uri,
        }
    }

    pub(crate) fn post(&self, text: &str) -> Reply {
        self.client.send(post(text).to(&self.uri))
    }

    /// Posts a message, lets everything happen, and returns the status.
    pub(crate) fn say(&self, text: &str) -> u16 {
        let status = self.post(text).status;
        settle();
        status.as_u16()
    }
}

/// The id of the last event in a text.
pub(crate) fn last_id(text: &str) -> String {
    let (_, rest) = text.rsplit_once("id: ").expect("an event with an id");
    rest.lines().next().unwrap().to_owned()
}
