//! A sketch of the draft extension Events (EX-23), made of what the hook offers: a request that sends
//! notifications and heartbeats while it runs, a paged list, and a key of the filter of
//! subscriptions.

use crate::scripted::{LineClient, member};
use crate::sim::Sim;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::Mutex;

use mcp_async::Server;
use mcp_async::model::Cursor;
use mcp_async::runtime::{ManualRuntime, Runtime};
use mcp_async::server::layers::Timeout;
use mcp_async::server::{
    Cached, Context, Extension, ExtensionMethod, HandlerError, ServerBuilder, Subscriber,
};
use mcp_proto::Revision;
use mcp_proto::model::CacheScope;

const NAME: &str = "io.modelcontextprotocol/events";
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events of a server, in the order in which they happened.
pub(super) struct Bus {
    clock: ManualRuntime,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    events: Vec<String>,
    closed: bool,
    waiting: Vec<Waker>,
}

/// Why a reader of the bus goes on.
enum Woken {
    Event(usize, String),
    Quiet,
    Closed,
}

impl Bus {
    pub(super) fn new(clock: ManualRuntime) -> Self {
        Self {
            clock,
            log: Mutex::default(),
        }
    }

    pub(super) fn publish(&self, name: &str) {
        self.change(|log| log.events.push(name.to_owned()));
    }

    fn close(&self) {
        self.change(|log| log.closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut Log)) {
        let waiting = {
            let mut log = self.log.lock().unwrap();
            change(&mut log);
            core::mem::take(&mut log.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Waits for the event after this many, or for the time of a heartbeat.
    async fn next(&self, after: usize) -> Woken {
        let mut timer = self.clock.timer();
        let deadline = self.clock.now() + HEARTBEAT;
        poll_fn(|cx| {
            let mut log = self.log.lock().unwrap();
            if let Some(name) = log.events.get(after) {
                return Poll::Ready(Woken::Event(after + 1, name.clone()));
            }
            if log.closed {
                return Poll::Ready(Woken::Closed);
            }
            log.waiting.push(cx.waker().clone());
            timer
                .as_mut()
                .poll_until(deadline, cx)
                .map(|()| Woken::Quiet)
        })
        .await
    }
}

#[derive(serde::Serialize)]
struct At<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    cursor: usize,
}

#[derive(serde::Deserialize)]
struct Stream {
    #[serde(default)]
    cursor: usize,
}

/// `events/stream`: what happened after the cursor, and what happens, until the bus is closed.
async fn stream(stream: Stream, cx: Context<Bus>) -> Result<At<'static>, HandlerError> {
    let mut cursor = stream.cursor;
    loop {
        match cx.state().next(cursor).await {
            Woken::Event(next, name) => {
                cursor = next;
                let name = Some(name.as_str());
                cx.notify("notifications/events/event", &At { name, cursor })
                    .await?;
            }
            Woken::Quiet => {
                let beat = At { name: None, cursor };
                cx.notify("notifications/events/heartbeat", &beat).await?;
            }
            Woken::Closed => return Ok(At { name: None, cursor }),
        }
    }
}

#[derive(serde::Deserialize)]
struct List {
    cursor: Option<Cursor>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

const KNOWN: [&str; 2] = ["opened", "closed"];

/// `events/list`: which events there are, one on a page.
async fn list(list: List, _: Context<Bus>) -> Result<Cached<Page>, HandlerError> {
    let cursor = list.cursor.as_ref().map(Cursor::to_str);
    let at: usize = cursor.as_deref().unwrap_or("0").parse().unwrap_or(2);
    let name = KNOWN.get(at);
    let name = name.ok_or_else(|| HandlerError::invalid_params("Invalid cursor"))?;
    let page = Page {
        events: [name],
        next_cursor: (at == 0).then(|| "1".into()),
    };
    let ttl = Duration::from_secs(60);
    Ok(Cached::new(page, ttl, CacheScope::Public))
}

/// The key `events` of a filter: the known ones of these names.
async fn judge(
    mut names: Vec<String>,
    subscriber: Subscriber<Bus>,
) -> Result<Option<Vec<String>>, HandlerError> {
    names.retain(|name| KNOWN.contains(&name.as_str()));
    let (wanted, source) = (names.clone(), subscriber.clone());
    subscriber.run(async move {
        let mut after = 0;
        while let Woken::Event(next, name) = source.state().next(after).await {
            after = next;
            if wanted.contains(&name) {
                let name = Some(name.as_str());
                let event = At {
                    name,
                    cursor: after,
                };
                let sent = source.notify("notifications/events/event", &event).await;
                assert_eq!(sent, Ok(()));
            }
        }
    });
    Ok((!names.is_empty()).then_some(names))
}

fn events() -> Extension<Bus> {
    Extension::new(NAME)
        .sends("notifications/events/event")
        .sends("notifications/events/heartbeat")
        .method("events/list", list)
        .with_method(
            ExtensionMethod::new("events/stream")
                .long_running()
                .handler(stream),
        )
        .filter("events", judge)
}

/// A server with limits that a stream does not meet.
pub(super) fn server(clock: &ManualRuntime) -> ServerBuilder<Bus> {
    Server::builder("demo", "1")
        .with_state(Bus::new(clock.clone()))
        .layer(Timeout::new(Duration::from_secs(5)))
        .concurrency(1)
        .extension(events())
        .tool("open", "", |(): (), cx: Context<Bus>| async move {
            cx.state().publish("opened");
            Ok("")
        })
        .tool("tick", "", |(): (), cx: Context<Bus>| async move {
            cx.state().publish("ticked");
            Ok("")
        })
        .tool("close", "", |(): (), cx: Context<Bus>| async move {
            cx.state().close();
            Ok("")
        })
}

fn wire() -> LineClient {
    let begin = |streams| {
        let server = server(&crate::sim::clock()).build().unwrap();
        server.connect(streams, Sim)
    };
    LineClient::of(begin, Revision::V2026_07_28, "{}")
}

impl LineClient {
    fn tool(&mut self, name: &str) {
        self.result("tools/call", &format!(r#"{{"name":"{name}"}}"#));
    }
}

/// The notifications that came, as their last name and their parameters.
fn heard(wire: &mut LineClient) -> Vec<(String, String)> {
    let lines = wire.hear();
    let read = |line: &String| {
        let method = member(line, &["method"]);
        let name = method.trim_matches('"').rsplit('/').next().unwrap();
        (name.to_owned(), member(line, &["params"]))
    };
    lines.iter().map(read).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, params): &(&str, &str)| (name.to_string(), params.to_string());
    expected.iter().map(owned).collect()
}

/// EX-14, EX-23. Other calls are answered meanwhile, and neither a limit of time nor one of calls
/// ends the stream.
#[test]
fn a_stream_sends_its_own_notifications_until_it_ends() {
    let mut wire = wire();
    let id = wire.send("events/stream", "{}");
    assert_eq!(wire.hear(), Vec::<String>::new());
    wire.tool("open");
    wire.advance(HEARTBEAT);
    wire.tool("tick");
    assert_eq!(
        heard(&mut wire),
        pairs(&[
            ("event", r#"{"name":"opened","cursor":1}"#),
            ("heartbeat", r#"{"cursor":1}"#),
            ("event", r#"{"name":"ticked","cursor":2}"#),
        ])
    );
    for _ in 0..100 {
        wire.advance(HEARTBEAT);
    }
    assert_eq!(heard(&mut wire).len(), 100, "no limit ends it");
    wire.tool("close");
    let answer = wire.answer(id).unwrap();
    let result = member(&answer, &["result"]);
    assert!(
        result.starts_with(r#"{"cursor":2,"resultType":"complete""#),
        "{result}"
    );
}

/// A stream continues behind a cursor, and ends with its cancellation.
#[test]
fn a_stream_continues_behind_its_cursor() {
    let mut wire = wire();
    wire.tool("open");
    wire.tool("tick");
    let id = wire.send("events/stream", r#"{"cursor":1}"#);
    let tick = ("event", r#"{"name":"ticked","cursor":2}"#);
    assert_eq!(heard(&mut wire), pairs(&[tick]));
    wire.cancel(id);
    wire.tool("open");
    wire.advance(HEARTBEAT);
    assert_eq!(heard(&mut wire), pairs(&[]));
    let bad = wire.error("events/stream", r#"{"cursor":"x"}"#);
    assert_eq!(bad.0, -32602);
    assert!(bad.1.contains("cursor"), "{}", bad.1);
}

/// EX-17, PN-05, CH-01, CH-10.
#[test]
fn a_list_of_an_extension_is_paged_and_cached() {
    let mut wire = wire();
    let first = wire.result("events/list", "{}");
    let cursor = member(&first, &["nextCursor"]);
    let second = wire.result("events/list", &format!(r#"{{"cursor":{cursor}}}"#));
    assert_eq!(member(&first, &["events"]), r#"["opened"]"#);
    assert_eq!(member(&second, &["events"]), r#"["closed"]"#);
    assert_eq!(member(&second, &["nextCursor"]), "");
    for page in [first, second] {
        assert_eq!(member(&page, &["ttlMs"]), "60000");
        assert_eq!(member(&page, &["cacheScope"]), r#""public""#);
    }
    let error = wire.error("events/list", r#"{"cursor":"7"}"#);
    assert_eq!(error, (-32602, "Invalid cursor".into()));
}

/// EX-13, EX-14, SB-01 to SB-03.
#[test]
fn a_subscription_receives_the_events_that_it_asked_for() {
    let mut wire = wire();
    let filter = r#"{"notifications":{"events":["opened","unknown"],"other":1}}"#;
    let id = wire.send("subscriptions/listen", filter);
    let named = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let acknowledged = format!(r#"{{{named},"notifications":{{"events":["opened"]}}}}"#);
    assert_eq!(heard(&mut wire), pairs(&[("acknowledged", &acknowledged)]));
    wire.tool("tick");
    wire.tool("open");
    let opened = format!(r#"{{"name":"opened","cursor":2,{named}}}"#);
    assert_eq!(heard(&mut wire), pairs(&[("event", &opened)]));

    wire.cancel(id);
    wire.tool("open");
    assert_eq!(heard(&mut wire), pairs(&[]));
}

mod over_http {
    use mcp_async::Server;
    use mcp_async::http::HttpService;

    use super::{Bus, HEARTBEAT, NAME, events, server};
    use crate::scripted::{Serve, modern, plain_call, send};
    use crate::sim::{advance, clock};
    use crate::texts::has;

    fn service() -> HttpService {
        server(&clock()).http().served()
    }

    fn tool(service: &HttpService, name: &str) {
        assert_eq!(send(service, modern(&plain_call(9, name))).status, 200);
    }

    /// EX-14: on the stream of the response.
    #[test]
    fn a_stream_is_the_response_to_its_request() {
        let service = service();
        tool(&service, "open");
        let mut reply = send(&service, modern("1 events/stream"));
        reply.has_head(200, [("content-type", "text/event-stream")]);
        has(&reply.text(), [r#""name":"opened","cursor":1"#]);
        advance(HEARTBEAT);
        has(&reply.text(), ["notifications/events/heartbeat"]);
        tool(&service, "close");
        has(&reply.text(), [r#""result":{"cursor":1,"#]);
        assert!(reply.has_ended());
    }

    /// EX-13, SB-02, SB-03.
    #[test]
    fn a_subscription_is_a_stream() {
        let service = service();
        let body = r#"1 subscriptions/listen {"notifications":{"events":["closed","opened"]}}"#;
        let mut reply = send(&service, modern(body));
        assert_eq!(reply.status, 200);
        has(
            &reply.text(),
            [r#""notifications":{"events":["closed","opened"]}"#],
        );
        tool(&service, "open");
        let event = reply.text();
        let named =
            r#""name":"opened","cursor":1,"_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
        assert!(event.contains(named), "{event}");
        // A client that goes away ends it, and what sends to it.
        drop(reply);
        tool(&service, "open");
    }

    /// EX-13: it is refused before a stream begins.
    #[test]
    fn a_subscription_that_is_refused_is_no_stream() {
        let body = r#"1 subscriptions/listen {"notifications":{"events":7}}"#;
        let check = |service: &HttpService, status: u16, parts: [&str; 2]| {
            let reply = send(service, modern(body));
            reply.has_head(status, [("content-type", "application/json")]);
            let text = reply.whole();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        };
        check(&service(), 200, ["-32602", "notifications.events"]);
        let required = Server::builder("demo", "1")
            .with_state(Bus::new(clock()))
            .extension(events().requires_client());
        let required = required.http().served();
        check(&required, 400, ["-32021", NAME]);
    }
}
