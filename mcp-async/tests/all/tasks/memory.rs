//! The memory of tasks that run.

use crate::scripted::{RequestExt, Serve, declaring, modern, send, text};
use core::future::{Future as _, pending, poll_fn};
use core::pin::pin;
use core::task::Poll;

use allocation_counter::measure;
use bytes::Bytes;
use http::HeaderValue;
use mcp_async::ErrorReply;
use mcp_async::server::layers::around;
use mcp_async::server::{Context, Detach, HandlerError, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};

use super::support::{BOTH, Running, client, create, pass, server, server_with, sleep};

const TASKS: u64 = 100;

/// The bytes of one task, of many that are created in this way and wait for time.
fn bytes(mut create: impl FnMut()) -> u64 {
    // What all tasks share.
    create();
    pass(0);
    let info = measure(|| {
        (0..TASKS).for_each(|_| create());
        pass(0);
        pass(1000);
    });
    u64::try_from(info.bytes_current).unwrap() / TASKS
}

/// TK-60: it is bounded, and most of it is the handler's and the record's.
#[test]
fn a_task_that_runs_takes_little_memory() {
    let (builder, _) = server(Tasks::new());
    let mut wire = client(&builder);
    let pipe = bytes(|| drop(create(&mut wire, "job", r#"{"steps":1000000}"#)));
    let service = builder.http().served();
    let call = r#"1 tools/call {"name":"job","arguments":{"steps":1000000}}"#;
    let call = declaring(BOTH, call);
    let http = bytes(|| {
        let created = send(&service, modern(&call)).text();
        assert!(created.contains("taskId"), "{created}");
    });
    assert!(pipe < 6 << 10 && http < 12 << 10, "{pipe} {http}");
    crate::sim::end();
}

/// The texts of a head share the buffer that they were read into, of which a task is a small part.
#[test]
fn a_task_does_not_hold_the_buffer_of_its_connection() {
    let (builder, _) = server_with(Tasks::new(), |server| {
        let tool = Tool::new("asks").task(TaskPolicy::Required);
        server.with(tool.handler(async |(): (), cx: Context<Running>| {
            let () = sleep(1000).await;
            let head = cx.http().expect("a head");
            Ok(format!(
                "{} {:?}",
                head.uri.path(),
                head.headers["accept-language"]
            ))
        }))
    });
    let service = builder.http().served();
    let buffer = Bytes::from(b"ja, en".to_vec());
    let language = HeaderValue::from_maybe_shared(buffer.clone()).unwrap();
    let ask = |text: &str| modern(&declaring(BOTH, text));
    let mut call = ask(r#"1 tools/call {"name":"asks","arguments":{}}"#);
    call.headers_mut().insert("accept-language", language);
    let created = send(&service, call).text();
    pass(0);
    assert!(buffer.is_unique());
    pass(1000);
    let id = text(&created, &["result", "taskId"]);
    let poll = ask(&format!(r#"2 tasks/get {{"taskId":"{id}"}}"#));
    let ended = send(&service, poll.with("mcp-name", &id)).text();
    assert!(ended.contains(r#"/mcp \"ja, en\""#), "{ended}");
    crate::sim::end();
}

/// Waits for its end, with many looks: some now, and as many again after a second.
async fn looks((): (), cx: Context<Running>) -> Result<&'static str, HandlerError> {
    let mut cancelled = pin!(cx.cancelled());
    for _ in 0..2 {
        poll_fn(|task| {
            let pending = (0..10_000).all(|_| cancelled.as_mut().poll(task).is_pending());
            assert!(pending);
            Poll::Ready(())
        })
        .await;
        sleep(1000).await;
    }
    pending().await
}

/// A task of a server, behind a layer that may let calls leave their exchanges, too.
#[test]
fn a_call_that_waits_for_its_end_takes_the_memory_of_one_waker() {
    let (builder, _) = server_with(Tasks::new(), |server| {
        let tool = Tool::new("looks").deferred_task(TaskPolicy::Optional);
        let layer = around(|call, service| {
            let begin = |_| async { Err::<(), _>(ErrorReply::internal()) };
            call.detach(service, Detach::OnRequest, begin)
        });
        server.with(tool.handler(looks)).layer(layer)
    });
    let mut wire = client(&builder);
    wire.send("tools/call", r#"{"name":"looks","arguments":{}}"#);
    wire.settle();
    let held = measure(|| {
        pass(1000);
        wire.settle();
    });
    assert!(held.bytes_current < 1000, "{}", held.bytes_current);
    crate::sim::end();
}
