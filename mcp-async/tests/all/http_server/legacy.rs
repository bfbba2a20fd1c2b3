//! A client of the legacy revisions, and the server that it talks to.

use core::future::pending;
use core::time::Duration;

use http::Request;
use mcp_async::Server;
use mcp_async::http::{HttpService, Principal};
use mcp_async::server::{Context, HandlerError, NoArguments, ServerBuilder};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::http_server::support::{Reply, send, sleep};
use crate::server_typed::support::says;
use crate::sim::Sim;

pub(crate) fn server() -> ServerBuilder<Sim> {
    Server::<Sim>::builder("demo", "1.0")
        .logging()
        .tool("echo", "Says it at once", says("done"))
        .tool(
            "slow",
            "Takes a second",
            |_: NoArguments, cx: Context| async move {
                cx.progress(1.0).await;
                sleep(Duration::from_secs(1)).await;
                cx.progress(2.0).await;
                Ok("at last")
            },
        )
        .tool(
            "poll",
            "Lets the client poll",
            |_: NoArguments, cx: Context| async move {
                cx.close_stream(Duration::from_millis(500)).await;
                sleep(Duration::from_secs(1)).await;
                Ok("at last")
            },
        )
        .tool(
            "ask",
            "Asks for the roots",
            |_: NoArguments, cx: Context| async move {
                let nothing = RawBuf::parse("{}").unwrap();
                let answer = cx.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
                match answer {
                    Ok(roots) => Ok(roots.as_raw().as_str().to_owned()),
                    Err(error) => Err(HandlerError::visible(error.to_string())),
                }
            },
        )
        .tool("never", "Has no end", |_: NoArguments, _: Context| async {
            pending::<()>().await;
            Ok("")
        })
}

pub(crate) fn service() -> HttpService<Sim> {
    server().http().into_service().unwrap()
}

/// A client's session.
pub(crate) struct Session {
    pub(crate) service: HttpService<Sim>,
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
    pub(crate) fn open(service: &HttpService<Sim>, revision: &'static str) -> Self {
        Self::open_as(service, revision, None)
    }

    pub(crate) fn open_as(
        service: &HttpService<Sim>,
        revision: &'static str,
        principal: Option<Principal>,
    ) -> Self {
        let body = initialize(revision);
        let mut request = post(&body);
        if let Some(principal) = &principal {
            request.extensions_mut().insert(principal.clone());
        }
        let reply = send(service, request);
        assert_eq!(reply.status, 200);
        let id = reply.header("mcp-session-id").to_owned();
        assert_eq!(id.len(), 32);
        let session = Self {
            service: service.clone(),
            id,
            revision,
            principal,
        };
        let text = reply.whole();
        assert!(
            text.contains(&format!(r#""protocolVersion":"{revision}""#)),
            "{text}"
        );
        let ready = session.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(ready.status, 202);
        assert_eq!(ready.whole(), "");
        session
    }

    pub(crate) fn send(&self, mut request: Request<&str>) -> Reply {
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", self.id.parse().unwrap());
        if self.revision != "2025-03-26" {
            headers.insert("mcp-protocol-version", self.revision.parse().unwrap());
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
        let mut request = Request::get("/mcp")
            .header("host", "localhost:8000")
            .header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        self.send(request.body("").unwrap())
    }

    pub(crate) fn delete(&self) -> Reply {
        let request = Request::delete("/mcp").header("host", "localhost:8000");
        self.send(request.body("").unwrap())
    }
}

/// The id of the last event in a text.
pub(crate) fn last_id(text: &str) -> String {
    let (_, rest) = text.rsplit_once("id: ").expect("an event with an id");
    rest.lines().next().unwrap().to_owned()
}
