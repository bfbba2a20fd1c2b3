//! An HTTP client made of function calls.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use mcp_async::http::{HttpBody, HttpService, Principal};
use tower_service::Service;

use crate::sim::{Flag, advance, now, settle};

type BoxError = Box<dyn core::error::Error + Send + Sync>;

/// A response whose body is read bit by bit.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Option<HttpBody>,
    /// What came until now and was not taken.
    text: String,
    flag: Arc<Flag>,
}

/// Sends a request, whose response has to begin at once.
pub(crate) fn send(service: &HttpService, request: Request<&str>) -> Reply {
    let (parts, body) = request.into_parts();
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    send_body(service, Request::from_parts(parts, body))
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
pub(crate) fn wait(service: &HttpService, request: Request<&str>) -> Waiting {
    let mut waiting = Waiting::new(service, request);
    assert!(waiting.reply().is_none(), "it has begun");
    waiting
}

impl Waiting {
    /// Sends a request.
    pub(crate) fn new(service: &HttpService, request: Request<&str>) -> Self {
        let (parts, body) = request.into_parts();
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        let response = service.clone().call(Request::from_parts(parts, body));
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

    /// What has come since the last look.
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

    /// The whole body of a response that has ended.
    pub(crate) fn whole(mut self) -> String {
        assert!(self.has_ended(), "there is more to come");
        self.text
    }
}

/// The request with a token.
pub(crate) fn signed<'b>(mut request: Request<&'b str>, token: &str) -> Request<&'b str> {
    let value = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert("authorization", value);
    request
}

/// A POST of 2026-07-28: the head repeats what the body says.
pub(crate) fn modern(body: &str) -> Request<&str> {
    let member = |name: &str| {
        let (_, rest) = body.split_once(&format!("\"{name}\":\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let mut request = Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28");
    if let Some(method) = member("method") {
        request = request.header("mcp-method", method);
        let name = match method {
            "resources/read" => member("uri"),
            "tools/call" | "prompts/get" => member("name"),
            _ => None,
        };
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
    }
    request.body(body).unwrap()
}

/// `_meta` of a modern request.
pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A modern request.
pub(crate) fn request(id: u32, method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{META}}}}}"#
    )
}

/// A client's session.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) service: HttpService,
    /// Empty before it is opened.
    pub(crate) id: String,
    pub(crate) revision: &'static str,
    pub(crate) principal: Option<Principal>,
}

pub(crate) fn post(body: &str) -> Request<&str> {
    Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(body)
        .unwrap()
}

/// A request for the stream of a session, or for what continues the one with this event.
pub(crate) fn get(last_event_id: Option<&str>) -> Request<&'static str> {
    let mut request = Request::get("/mcp")
        .header("host", "localhost:8000")
        .header("accept", "text/event-stream");
    if let Some(id) = last_event_id {
        request = request.header("last-event-id", id);
    }
    request.body("").unwrap()
}

pub(crate) fn delete() -> Request<&'static str> {
    let request = Request::delete("/mcp").header("host", "localhost:8000");
    request.body("").unwrap()
}

pub(crate) fn initialize(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
    )
}

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

impl Session {
    pub(crate) fn open(service: &HttpService, revision: &'static str) -> Self {
        Self::open_as(service, revision, None)
    }

    pub(crate) fn open_as(
        service: &HttpService,
        revision: &'static str,
        principal: Option<Principal>,
    ) -> Self {
        let session = Self {
            principal,
            ..Self::new(service, revision)
        };
        session.opened(|request| request)
    }

    /// A client that has no session.
    pub(crate) fn new(service: &HttpService, revision: &'static str) -> Self {
        Self {
            service: service.clone(),
            id: String::new(),
            revision,
            principal: None,
        }
    }

    /// Opens the session with requests that are signed.
    pub(crate) fn opened(
        mut self,
        sign: impl for<'b> Fn(Request<&'b str>) -> Request<&'b str>,
    ) -> Self {
        let body = initialize(self.revision);
        let reply = self.send(sign(post(&body)));
        assert_eq!(reply.status, 200);
        self.id = reply.header("mcp-session-id").to_owned();
        assert_eq!(self.id.len(), 32);
        let text = reply.whole();
        assert!(
            text.contains(&format!(r#""protocolVersion":"{}""#, self.revision)),
            "{text}"
        );
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let ready = self.send(sign(post(ready)));
        assert_eq!(ready.status, 202);
        assert_eq!(ready.whole(), "");
        self
    }

    pub(crate) fn send(&self, mut request: Request<&str>) -> Reply {
        if !self.id.is_empty() {
            let headers = request.headers_mut();
            headers.insert("mcp-session-id", self.id.parse().unwrap());
            if self.revision != "2025-03-26" {
                headers.insert("mcp-protocol-version", self.revision.parse().unwrap());
            }
        }
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        send(&self.service, request)
    }

    pub(crate) fn post(&self, body: &str) -> Reply {
        self.send(post(body))
    }

    pub(crate) fn get(&self, last_event_id: Option<&str>) -> Reply {
        self.send(get(last_event_id))
    }

    pub(crate) fn delete(&self) -> Reply {
        self.send(delete())
    }
}

/// The id of the last event in a text.
pub(crate) fn last_id(text: &str) -> String {
    let (_, rest) = text.rsplit_once("id: ").expect("an event with an id");
    rest.lines().next().unwrap().to_owned()
}
