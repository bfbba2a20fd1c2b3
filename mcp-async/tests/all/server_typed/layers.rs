//! What layers of typed servers learn of a call.

use core::future::pending;
use core::task::Poll;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_async::model::CallToolResult;
use mcp_async::server::layers::{ServerLayer, around};
use mcp_async::server::{Context, Detach, DetachedCall, HandlerError};
use mcp_async::{CallOutcome, Job, Server};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;

use crate::client_typed::support::poll_once;
use crate::scripted::LineClient;
use crate::server_typed::support::says;

type Seen = Arc<Mutex<Vec<(Option<String>, CallOutcome)>>>;

/// A layer that a function returns.
fn noting(seen: &Seen) -> impl ServerLayer {
    let seen = Arc::clone(seen);
    around(move |call, service| {
        let (tool, seen) = (
            call.tool_name().map(|name| name.into_owned()),
            Arc::clone(&seen),
        );
        service.call(call).wrap(|job| async move {
            let answered = job.await;
            seen.lock().unwrap().push((tool, answered.outcome()));
            answered
        })
    })
}

#[test]
fn layers_learn_how_a_call_ended() {
    let seen = Seen::default();
    let server = Server::builder("demo", "1")
        .tool("works", "", says("done"))
        .tool("fails", "", |(): (), _: Context| async {
            Ok(CallToolResult::error("full"))
        })
        .tool("hints", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::visible("try another"))
        })
        .tool("breaks", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::from("disk full"))
        })
        .tool("refuses", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::invalid_params("no"))
        })
        .tool("asks", "", |(): (), cx: Context| async move {
            let page = cx.elicit_url("page", "Look", "https://example.com").await?;
            Ok(format!("{page:?}"))
        })
        .layer(noting(&seen));
    let mut wire = LineClient::declaring(
        &server,
        Revision::V2026_07_28,
        r#"{"elicitation":{"form":{},"url":{}}}"#,
    );
    let mut check = |name: &str, tool: Option<&str>, outcome: CallOutcome| {
        wire.ask("tools/call", &format!(r#"{{"name":"{name}"}}"#));
        let expected = (tool.map(str::to_owned), outcome);
        assert_eq!(seen.lock().unwrap().pop(), Some(expected));
    };
    check("works", Some("works"), CallOutcome::Result);
    check(r"\u0077orks", Some("works"), CallOutcome::Result);
    check("fails", Some("fails"), CallOutcome::ToolError);
    check("hints", Some("hints"), CallOutcome::ToolError);
    check("breaks", Some("breaks"), CallOutcome::Error(-32603));
    check("refuses", Some("refuses"), CallOutcome::Error(-32602));
    check("asks", Some("asks"), CallOutcome::Input);
    // Clients cannot make up names that count.
    check("missing", None, CallOutcome::Error(-32602));
    wire.ask("tools/list", "{}");
    assert_eq!(
        seen.lock().unwrap().pop(),
        Some((None, CallOutcome::Result))
    );
}

/// A layer may let a job outlive its call.
#[test]
fn jobs_learn_that_their_call_was_cancelled() {
    let kept: Arc<Mutex<Option<Job>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let server = Server::builder("demo", "1")
        .tool("works", "", says("done"))
        .layer(around(move |call, service| {
            let keep = Arc::clone(&keep);
            service.call(call).wrap(|job| async move {
                *keep.lock().unwrap() = Some(job);
                pending().await
            })
        }));
    let ended = || {
        let job = kept.lock().unwrap().take().unwrap();
        match poll_once(core::pin::pin!(job)) {
            Poll::Ready(answered) => answered.outcome(),
            Poll::Pending => panic!("there is room"),
        }
    };
    let mut wire = LineClient::new(&server, Revision::V2025_11_25);
    wire.send("tools/call", r#"{"name":"works"}"#);
    wire.settle();
    assert_eq!(ended(), CallOutcome::Result);
    let id = wire.send("tools/call", r#"{"name":"works"}"#);
    wire.cancel(id);
    wire.settle();
    assert_eq!(ended(), CallOutcome::Cancelled);
    wire.send("tools/call", r#"{"name":"works"}"#);
    wire.settle();
    drop(wire);
    assert_eq!(ended(), CallOutcome::Cancelled);
}

/// The outcome of a call that has left its exchange is that of the answer that its task receives.
#[test]
fn outcomes_of_detached_calls() {
    struct Unwritable;

    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("it cannot be written"))
        }
    }

    let seen = Seen::default();
    let server = Server::builder("demo", "1")
        .method("com.example/broken", |_: RawBuf, _: Context| async {
            Ok(Unwritable)
        })
        .method("com.example/whole", |_: RawBuf, _: Context| async {
            Ok(BTreeMap::<String, u8>::new())
        })
        .layer(noting(&seen))
        .layer(around(|call, service| {
            call.detach(service, Detach::Now, |mut call: DetachedCall| async move {
                call.detach();
                call.changed().await;
                call.take_outcome().unwrap()
            })
        }));
    let mut wire = LineClient::new(&server, Revision::V2025_11_25);
    let mut check = |method: &str, outcome: CallOutcome| {
        wire.ask(method, "{}");
        assert_eq!(
            seen.lock().unwrap().pop(),
            Some((None, outcome)),
            "{method}"
        );
    };
    check("com.example/whole", CallOutcome::Result);
    check("com.example/broken", CallOutcome::Error(-32603));
}
