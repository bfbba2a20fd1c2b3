//! Errors of handlers: how often they are reported, and what the client learns.

use crate::scripted::{LineClient, member};
use crate::server_typed::support::{never, revisions};
use crate::sim::Sim;
use core::error::Error;
use core::fmt;

use mcp_async::ErrorReply;
use mcp_async::model::ElicitUrlParams;
use mcp_async::server::AskError;
use mcp_proto::{Revision, SendError};

use mcp_async::Server;
use mcp_async::server::{Context, HandlerError};

use crate::connection::spans::Notes;
use crate::scripted::LinePeer;
use crate::settings::limits;
use crate::texts::{INTERNAL_ERROR, SHUTTING_DOWN};

/// Whether the error has to wait for room depends on the bytes before it.
#[test]
fn a_failure_is_reported_once_however_long_its_answer_waits() {
    for len in (3_600..4_000).step_by(20) {
        let notes = Notes::default();
        notes.watch(|| fail_behind(len));
        let lines = notes.take();
        let reported = lines.iter().filter(|line| line.contains("disk full"));
        assert_eq!(reported.count(), 1, "{len}: {lines:?}");
    }
}

/// A tool that fails once the output is full of texts of this length.
fn fail_behind(len: usize) {
    let limits = limits(|it| it.output = 4096);
    let server = Server::builder("demo", "1")
        .limits(limits)
        .tool("fills", "", move |(): (), _: Context| async move {
            Ok("x".repeat(len))
        })
        .tool("fails", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::from(std::io::Error::other("disk full")))
        });
    let server = server.build().unwrap();
    let (peer, streams) = LinePeer::pair(1 << 10);
    let (connection, _) = server.connect(streams, Sim);
    let mut peer = peer.polling(connection);
    let mut lines = vec![
        r#"0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}"#.to_owned(),
        "- notifications/initialized".to_owned(),
    ];
    for (id, tool) in (1..).zip(["fills", "fills", "fails"]) {
        lines.push(format!(r#"{id} tools/call {{"name":"{tool}"}}"#));
    }
    for line in lines {
        peer.send(&line);
        assert!(!peer.has_ended());
    }
    assert!(peer.read().len() > 2 * len);
    assert!(!peer.has_ended());
}

/// An error with another behind it.
#[derive(Debug)]
struct Outer(Box<dyn Error + Send + Sync>);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outer error")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

#[test]
fn a_source_of_an_error_may_choose_what_the_client_reads() {
    let server = Server::builder("demo", "1")
        .tool("reply", "", |(): (), _: Context| async {
            Err::<(), _>(Outer(ErrorReply::new(7, "chosen").into()).into())
        })
        .tool("asks", "", |(): (), _: Context| async {
            let refused = AskError::Refused(SendError::MissingCapability("sampling"));
            Err::<(), _>(Outer(Outer(refused.into()).into()).into())
        })
        .tool("calls", "", |(): (), _: Context| async {
            // What another server said stays here.
            let error = mcp_async::client::CallError::Server(ErrorReply::new(7, "SECRET"));
            Err::<(), _>(Outer(error.into()).into())
        });
    let server = server.build().unwrap();
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let mut error = |name: &str| wire.error("tools/call", &format!(r#"{{"name":"{name}"}}"#));
        assert_eq!(error("reply"), (7, "chosen".to_owned()));
        let (_, asked) = error("asks");
        assert_eq!(asked, "Missing required client capability: sampling");
        assert_eq!(error("calls"), (-32603, INTERNAL_ERROR.to_owned()));
    }
}

/// EL-13: a handler demands pages, where the revision has the error for it.
#[test]
fn el_13_a_handler_demands_pages() {
    let page = || ElicitUrlParams {
        message: "Sign in".to_owned(),
        url: "https://example.com/in".to_owned(),
        elicitation_id: Some("e1".to_owned()),
        ..ElicitUrlParams::default()
    };
    let server =
        Server::builder("demo", "1").tool("pay", "", move |(): (), _: Context| async move {
            let reply = ErrorReply::url_elicitation_required("Sign in first", [page()]);
            Err::<(), _>(HandlerError::reply(reply))
        });
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let answer = wire.ask("tools/call", r#"{"name":"pay"}"#);
        let code = member(&answer, &["error", "code"]);
        if revision == Revision::V2025_11_25 {
            assert_eq!(code, "-32042");
            let data = r#"{"elicitations":[{"mode":"url","message":"Sign in","url":"https://example.com/in","elicitationId":"e1"}]}"#;
            assert_eq!(member(&answer, &["error", "data"]), data);
        } else {
            // JR-24
            assert_eq!(code, "-32603", "{revision}");
        }
    }
}

#[test]
fn the_time_to_finish_is_a_setting() {
    let server = Server::builder("demo", "1")
        .shutdown_timeout(core::time::Duration::from_secs(5))
        .tool("never", "", never);
    let server = server.build().unwrap();
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let id = wire.send("tools/call", r#"{"name":"never"}"#);
        wire.peer.shutdown();
        wire.settle();
        wire.advance(core::time::Duration::from_millis(4_999));
        assert!(!wire.has_ended());
        wire.advance(core::time::Duration::from_millis(1));
        assert!(wire.answer(id).unwrap().contains(SHUTTING_DOWN));
        assert!(wire.has_ended());
    }
}
