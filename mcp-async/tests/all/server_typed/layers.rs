//! What layers of typed servers learn of a call.

use std::sync::{Arc, Mutex};

use mcp_async::model::CallToolResult;
use mcp_async::server::layers::{ServerLayer, around};
use mcp_async::server::{Context, HandlerError, NoArguments};
use mcp_async::{CallOutcome, Server};
use mcp_proto::Revision;

use super::support::Wire;

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
    let server = Server::<()>::builder("demo", "1")
        .tool("works", "", |_: NoArguments, _: Context| async {
            Ok("done")
        })
        .tool("fails", "", |_: NoArguments, _: Context| async {
            Ok(CallToolResult::error("full"))
        })
        .tool("hints", "", |_: NoArguments, _: Context| async {
            Err::<(), _>(HandlerError::visible("try another"))
        })
        .tool("breaks", "", |_: NoArguments, _: Context| async {
            Err::<(), _>(HandlerError::from("disk full"))
        })
        .tool("refuses", "", |_: NoArguments, _: Context| async {
            Err::<(), _>(HandlerError::invalid_params("no"))
        })
        .tool("asks", "", |_: NoArguments, cx: Context| async move {
            let page = cx.elicit_url("page", "Look", "https://example.com").await?;
            Ok(format!("{page:?}"))
        })
        .layer(noting(&seen));
    let mut wire = Wire::declaring(
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
