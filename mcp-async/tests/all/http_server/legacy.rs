//! A client of the legacy revisions, and the server that it talks to.

use core::future::pending;
use core::time::Duration;

use http::Request;
use mcp_async::Server;
use mcp_async::http::{HttpService, Principal};
use mcp_async::server::{Context, HandlerError, ServerBuilder};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::http_server::support::{Reply, send, sleep};
use crate::server_typed::support::says;
use crate::sim::Sim;

pub(crate) fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
        .logging()
        .tool("echo", "Says it at once", says("done"))
        .tool("slow", "Takes a second", |(): (), cx: Context| async move {
            cx.progress(1.0).await;
            sleep(Duration::from_secs(1)).await;
            cx.progress(2.0).await;
            Ok("at last")
        })
        .tool(
            "poll",
            "Lets the client poll",
            |(): (), cx: Context| async move {
                cx.close_stream(Duration::from_millis(500)).await;
                sleep(Duration::from_secs(1)).await;
                Ok("at last")
            },
        )
        .tool(
            "ask",
            "Asks for the roots",
            |(): (), cx: Context| async move {
                let nothing = RawBuf::parse("{}").unwrap();
                let answer = cx.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
                match answer {
                    Ok(roots) => Ok(roots.as_raw().as_str().to_owned()),
                    Err(error) => Err(HandlerError::visible(error.to_string())),
                }
            },
        )
        .tool("never", "Has no end", |(): (), _: Context| async {
            pending::<()>().await;
            Ok("")
        })
}

pub(crate) fn service() -> HttpService {
    server().http().into_service(Sim).unwrap()
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
