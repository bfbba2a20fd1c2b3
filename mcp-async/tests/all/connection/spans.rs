//! What a subscriber of `tracing` gets to see of a server, and what it never does.

use crate::connection::support::{Demo, Setup, Wire, call, modern_meta};
use crate::scripted::cancelled;
use crate::sim::{Sim, advance, run, settle};
use core::fmt::Debug;
use core::fmt::Write as _;
use core::future::Future as _;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use allocation_counter::measure;
use mcp_async::TraceContext;
use mcp_async::server::layers::{Timeout, Trace, around};
use mcp_async::server::{BoxService, Call, Service, service_fn};
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::Method;
use mcp_proto::server::ServerConfig;
use mcp_proto::{PingPolicy, Revision};
use tower_layer::{Layer, Stack};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Writes down every span when it ends, and every event when it happens.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Inner>);

#[derive(Default)]
struct Inner {
    has_all_targets: bool,
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, Fields>>,
    lines: Mutex<Vec<String>>,
    current: Mutex<Vec<u64>>,
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Fields {
    fn text(&self) -> String {
        self.0
            .iter()
            .fold(String::new(), |mut text, (name, value)| {
                write!(text, " {name}={value}").unwrap();
                text
            })
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.into());
    }
}

impl Notes {
    /// Writes down what happens in `run` on this thread.
    ///
    /// While a process has a single subscriber, `tracing` asks the thread that meets a span first
    /// whether it is wanted, and keeps the answer for all threads. Tests beside this one have no
    /// subscriber, so two more exist for as long as the process runs.
    pub(crate) fn watch<T>(&self, run: impl FnOnce() -> T) -> T {
        static OTHERS: LazyLock<[Dispatch; 2]> =
            LazyLock::new(|| core::array::from_fn(|_| Dispatch::new(Notes::default())));
        LazyLock::force(&OTHERS);
        with_default(self.clone(), run)
    }

    /// Notes of all targets.
    pub(crate) fn everything() -> Self {
        Self(Arc::new(Inner {
            has_all_targets: true,
            ..Inner::default()
        }))
    }

    /// What was written down since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        core::mem::take(&mut *self.0.lines.lock().unwrap())
    }

    #[track_caller]
    fn saw(&self, expected: &[&str]) {
        assert_eq!(self.take(), expected);
    }
}

impl Subscriber for Notes {
    /// Asked each time: other tests of the process do not watch.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        self.0.has_all_targets || target == "mcp_async" || target == "handler"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::SeqCst) + 1;
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        self.0.open.lock().unwrap().insert(id, fields);
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut open = self.0.open.lock().unwrap();
        values.record(open.get_mut(&span.into_u64()).unwrap());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let within = self.0.current.lock().unwrap().len();
        let line = format!("{} in {within}{}", event.metadata().level(), fields.text());
        self.0.lines.lock().unwrap().push(line);
    }

    fn enter(&self, span: &Id) {
        self.0.current.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        assert_eq!(self.0.current.lock().unwrap().pop(), Some(span.into_u64()));
    }

    fn try_close(&self, span: Id) -> bool {
        let fields = self.0.open.lock().unwrap().remove(&span.into_u64());
        let line = format!("span{}", fields.unwrap().text());
        self.0.lines.lock().unwrap().push(line);
        true
    }
}

fn config() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::PROMPTS)
            .capabilities(),
        ping: Some(PingPolicy {
            interval: Duration::from_secs(60),
            timeout: Duration::from_secs(5),
            misses: 2,
        }),
        ..ServerConfig::new("traced", "1")
    }
}

/// A legacy session with a traced service.
fn traced(service: impl Service) -> Wire {
    let service: BoxService = Box::new(service);
    Wire::serving(config(), Trace::new().layer(service), 1 << 20, usize::MAX).legacy()
}

/// The span of a call that nothing else is known of.
fn span(rest: &str) -> String {
    let mut fields: Vec<_> = rest
        .split(", ")
        .chain([
            "mcp.protocol.version=2025-11-25",
            "network.transport=pipe",
            "otel.kind=server",
        ])
        .collect();
    fields.sort_unstable();
    format!("span {}", fields.join(" "))
}

fn tool(name: &str, rest: &str) -> String {
    span(&format!(
        "gen_ai.operation.name=execute_tool, gen_ai.tool.name={name}, jsonrpc.request.id=1, mcp.method.name=tools/call, otel.name=tools/call {name}{rest}"
    ))
}

#[test]
fn every_call_has_a_span() {
    let notes = Notes::default();
    notes.watch(|| {
        let mut wire = Wire::layered(config(), Trace::new()).legacy();
        wire.call(1, "echo");
        notes.saw(&[&tool("echo", "")]);
        wire.call(1, "later");
        notes.saw(&[]);
        wire.watch.open();
        settle();
        notes.saw(&[&tool("later", "")]);
        wire.call(1, "a\\nb");
        let failed = ", error.type=-32602, otel.status_code=ERROR, rpc.response.status_code=-32602";
        notes.saw(&[&tool("a\\nb", failed)]);
    });
}

#[test]
fn a_span_tells_what_went_wrong() {
    std::panic::set_hook(Box::new(|_| {}));
    #[track_caller]
    fn check(name: &str, then: impl FnOnce(&mut Wire), events: &[&str], kind: &str, code: &str) {
        let notes = Notes::default();
        notes.watch(|| {
            let layers = Stack::new(Timeout::new(Duration::from_secs(9)), Trace::new());
            let mut wire = Wire::layered(config(), layers).legacy();
            wire.call(1, name);
            then(&mut wire);
            let mut rest = format!(", error.type={kind}, otel.status_code=ERROR");
            if !code.is_empty() {
                write!(rest, ", rpc.response.status_code={code}").unwrap();
            }
            let span = tool(name, &rest);
            let expected = events.iter().copied();
            notes.saw(&match kind {
                "timeout" => [span.as_str()]
                    .into_iter()
                    .chain(expected)
                    .collect::<Vec<_>>(),
                _ => expected.chain([span.as_str()]).collect(),
            });
        });
    }
    let nothing = |_: &mut Wire| {};
    let panicked = "ERROR in 0 message=a handler panicked";
    let cancel = |wire: &mut Wire| {
        wire.send(&cancelled(1));
    };
    check("fails", nothing, &[], "7", "7");
    check("never", cancel, &[], "cancelled", "");
    check(
        "never",
        |_| advance(Duration::from_secs(9)),
        &["WARN in 0 limit=9s message=a call took too long"],
        "timeout",
        "-32603",
    );
    let open = |wire: &mut Wire| {
        wire.watch.open();
        settle();
    };
    check("panics_later", open, &[panicked], "panic", "-32603");
    let _ = std::panic::take_hook();
}

/// What handlers say belongs to the span of their call, and to no other.
#[test]
fn handlers_run_in_their_span() {
    let notes = Notes::default();
    let service = service_fn(|call| {
        tracing::info!(target: "handler", "begun");
        call.answer(async {
            tracing::info!(target: "handler", "goes on");
            Ok(Raw::EMPTY_OBJECT)
        })
    });
    notes.watch(|| {
        let mut wire = traced(service);
        wire.call(1, "x");
        notes.saw(&[
            "INFO in 1 message=begun",
            "INFO in 1 message=goes on",
            &tool("x", ""),
        ]);
    });
}

#[test]
fn other_requests_are_named_after_their_subjects() {
    let notes = Notes::default();
    notes.watch(|| {
        let service = service_fn(|call| call.ready(Ok(Raw::EMPTY_OBJECT)));
        let mut wire = traced(service);
        for (method, params, fields) in [
            ("tools/list", "{}", "otel.name=tools/list"),
            (
                "prompts/get",
                r#"{"name":"greet","arguments":{"who":"SECRET"}}"#,
                "gen_ai.prompt.name=greet, otel.name=prompts/get greet",
            ),
            (
                "resources/read",
                r#"{"uri":"https://a.b/c?token=SECRET"}"#,
                "mcp.resource.uri=https://a.b/c, otel.name=resources/read",
            ),
        ] {
            wire.send(&format!(r#""a" {method} {params}"#));
            notes.saw(&[&span(&format!(
                "jsonrpc.request.id=\"a\", mcp.method.name={method}, {fields}"
            ))]);
        }
    });
}

#[test]
fn secrets_stay_out() {
    let notes = Notes::default();
    notes.watch(|| {
        let mut wire = traced(Demo::default());
        for meta in [
            modern_meta(""),
            modern_meta(r#","traceparent":"SECRET","x/y":"SECRET""#),
            format!(r#"{},"requestState":"SECRET""#, modern_meta("")),
        ] {
            let line = call(1, "fails", &meta).replace(r#"{"id":1}"#, r#"{"password":"SECRET"}"#);
            assert!(line.contains("SECRET"));
            wire.send(&line);
        }
        wire.send(r#"- SECRET {"a":"SECRET"}"#);
        wire.send(r#""SECRET" = {"a":"SECRET"}"#);
        wire.send("SECRET");
    });
    let lines = notes.0.lines.lock().unwrap();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(
        !lines.iter().any(|line| line.contains("SECRET")),
        "{lines:?}"
    );
}

#[test]
fn what_is_ignored_is_told_with_its_reason() {
    let notes = Notes::default();
    notes.watch(|| {
        let mut wire = traced(Demo::default());
        wire.send("- notifications/nonsense");
        wire.send("77 = {}");
        wire.send(&cancelled(5));
        notes.saw(&[
            "DEBUG in 0 message=a message of the peer was ignored reason=UnknownNotification",
            "DEBUG in 0 message=a message of the peer was ignored reason=LateResponse",
            "DEBUG in 0 message=a message of the peer was ignored reason=UnknownCancellation",
        ]);
        advance(Duration::from_secs(60));
        advance(Duration::from_secs(5));
        notes.saw(&["WARN in 0 limit=2 message=the peer did not answer a ping misses=1"]);
    });
}

/// JR-31: a valid trace is handed on, and nothing else is.
#[test]
fn spans_are_linked_to_the_traces_of_clients() {
    let notes = Notes::default();
    let links = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&links);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = Trace::new().linking(move |span, trace| {
        assert!(!span.is_disabled());
        seen.lock()
            .unwrap()
            .push((trace.to_string(), trace.state().map(str::to_owned)));
    });
    let layer = Stack::new(
        around(|call: Call<'_>, service: &dyn Service| {
            let told = call.context().trace_context().is_some();
            assert_eq!(
                told,
                call.request.subject.is_some_and(|name| name == "told")
            );
            service.call(call)
        }),
        trace,
    );
    notes.watch(|| {
        let mut wire = Wire::layered(config(), layer).legacy();
        let told = format!(r#""traceparent":"{parent}","tracestate":"a=\u0062""#);
        wire.send(&call(1, "told", &format!(r#","_meta":{{{told}}}"#)));
        wire.send(&call(2, "told", &modern_meta(&format!(",{told}"))));
        wire.send(&call(3, "untold", ""));
        wire.send(&call(4, "untold", &modern_meta(r#","traceparent":"00-x""#)));
        wire.send(&call(
            5,
            "untold",
            &modern_meta(r#","traceparent":7,"tracestate":"a=b""#),
        ));
        assert_eq!(wire.read().lines().count(), 5);
    });
    let expected = (parent.to_owned(), Some("a=b".to_owned()));
    assert_eq!(*links.lock().unwrap(), [expected.clone(), expected]);
}

#[test]
fn nobody_watching_costs_no_allocation() {
    let service = service_fn(|call| call.ready(Ok(Raw::EMPTY_OBJECT)));
    let mut wire = traced(service);
    let line = call(1, "x", "") + "\n";
    for warm in [false, false, true] {
        assert_eq!(wire.write_some(line.as_bytes()), line.len());
        let measured = measure(|| _ = settle());
        assert!(!wire.read().is_empty());
        assert!(!warm || measured.count_total == 1, "{measured:?}");
    }
}

#[derive(serde::Serialize)]
struct Named {
    name: &'static str,
    secret: &'static str,
}

const fn named(name: &'static str) -> Named {
    Named {
        name,
        secret: "SECRET",
    }
}

/// JR-31: what the handler says, what the call says instead, and neither.
#[test]
fn calls_tell_their_traces() {
    let parse = |digit: char| {
        let (trace, span) = (digit.to_string().repeat(32), digit.to_string().repeat(16));
        TraceContext::parse(&format!("00-{trace}-{span}-01"), Some("a=b"))
    };
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let pair = Setup::only(revision).join();
        pair.watch.open();
        let client = pair.client.clone();
        let params = named("keeps");
        let call = || client.call::<RawBuf>(Method::ToolsCall, Some(&params));
        run(call()).unwrap();
        *pair.person.trace.lock().unwrap() = parse('a');
        run(call()).unwrap();
        let own = parse('b').unwrap();
        run(call().trace(&own)).unwrap();
        let contexts = pair.watch.contexts.lock().unwrap();
        let traces: Vec<_> = contexts
            .iter()
            .map(|cx| cx.trace_context().cloned())
            .collect();
        assert_eq!(traces, [None, parse('a'), Some(own)], "{revision}");
    }
}

#[test]
fn calls_of_a_client_have_spans() {
    let notes = Notes::default();
    notes.watch(|| {
        let pair = Setup::default().join();
        let client = pair.client.clone();
        for (name, fields) in [("echo", ""), ("fails", " error.type=7"), ("asks", "")] {
            let params = named(name);
            let _ = run(client.call::<RawBuf>(Method::ToolsCall, Some(&params)));
            let rest = match fields {
                "" => ["", ""],
                _ => [" otel.status_code=ERROR", " rpc.response.status_code=7"],
            };
            notes.saw(&[&format!(
                "span{fields} mcp.method.name=tools/call network.transport=pipe otel.kind=client otel.name=tools/call{}{}",
                rest[0], rest[1]
            )]);
        }
        let params = named("never");
        let mut call = Box::pin(client.call::<RawBuf>(Method::ToolsCall, Some(&params)));
        let cx = &mut core::task::Context::from_waker(core::task::Waker::noop());
        assert!(call.as_mut().poll(cx).is_pending());
        drop(call);
        notes.saw(&[
            "span error.type=cancelled mcp.method.name=tools/call network.transport=pipe otel.kind=client otel.name=tools/call otel.status_code=ERROR",
        ]);
    });
}

/// A tool that fails answers with a result, but its span tells of it.
#[test]
fn a_failed_tool_is_no_success() {
    use mcp_async::model::CallToolResult;
    use mcp_async::server::{Context, HandlerError};

    use crate::scripted::LinePeer;
    use crate::server_typed::support::says;

    let server = mcp_async::Server::builder("demo", "1")
        .tool("told", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::visible("SECRET"))
        })
        .tool("result", "", |(): (), _: Context| async {
            Ok(CallToolResult::error("SECRET"))
        })
        .tool("well", "", says("SECRET"));
    let server = server.build().unwrap();
    let notes = Notes::default();
    notes.watch(|| {
        let (lines, streams) = LinePeer::pair(1 << 16);
        let (connection, _) = server.connect(streams, Sim);
        let mut lines = lines.polling(connection);
        for name in ["told", "result", "well"] {
            lines.send(&call(1, name, &modern_meta("")).replace(r#"{"id":1}"#, "{}"));
            assert!(!lines.has_ended());
        }
    });
    let failed = |name: &str| {
        let failed = ", error.type=tool_error, otel.status_code=ERROR";
        tool(name, failed).replace("2025-11-25", "2026-07-28")
    };
    let well = tool("well", "").replace("2025-11-25", "2026-07-28");
    notes.saw(&[&failed("told"), &failed("result"), &well]);
}
