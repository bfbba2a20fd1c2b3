//! Handlers that panic, come too late, or reach for the connection from where they should not;
//! clients that ask for too much.

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::{revisions, says};
use crate::sim::{Sim, yield_now};
use crate::texts::INTERNAL_ERROR;
use core::future::{Future, pending, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context as Task, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use allocation_counter::measure;
use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::Server;
use mcp_async::model::{LoggingLevel, PromptArgument};
use mcp_async::runtime::duplex;
use mcp_async::server::layers::{ConcurrencyLimit, Timeout};
use mcp_async::server::{Context, Prompt, Registry};
use mcp_proto::server::ListKind;
use mcp_proto::{Limits, Revision};

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("the secret of a destructor");
    }
}

fn panics(when: bool) {
    assert!(!when, "the secret of a handler");
}

/// A panic answers -32603 with a fixed text, and costs nobody else anything.
#[test]
fn panics_tell_nothing() {
    std::panic::set_hook(Box::new(|_| {}));
    let server = Server::builder("demo", "1")
        .tool("in_the_call", "", |(): (), _: Context| {
            panics(true);
            async { Ok("never") }
        })
        .tool("first", "", |(): (), _: Context| async {
            panics(true);
            Ok("never")
        })
        .tool("later", "", |(): (), _: Context| async {
            yield_now().await;
            panics(true);
            Ok("never")
        })
        .tool("at_the_end", "", |(): (), _: Context| async {
            let _kept = PanicsInDrop;
            yield_now().await;
            Ok("never")
        })
        .tool("cancelled", "", |(): (), _: Context| async {
            let _kept = PanicsInDrop;
            pending::<()>().await;
            Ok("never")
        })
        .tool("well", "", says("well"))
        .resource("test://r", "r", |_: Context| async {
            panics(true);
            Ok("never")
        })
        .with(
            Prompt::new("p")
                .argument(PromptArgument::optional("a"))
                .complete("a", |_, _| async {
                    panics(true);
                    Ok(vec!["never"])
                })
                .handler(|(): (), _: Context| async {
                    panics(true);
                    Ok("never")
                }),
        );
    let complete = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#;
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        for (method, params) in [
            ("tools/call", r#"{"name":"in_the_call"}"#),
            ("tools/call", r#"{"name":"first"}"#),
            ("tools/call", r#"{"name":"later"}"#),
            ("tools/call", r#"{"name":"at_the_end"}"#),
            ("resources/read", r#"{"uri":"test://r"}"#),
            ("prompts/get", r#"{"name":"p"}"#),
            ("completion/complete", complete),
        ] {
            let running = wire.send("tools/call", r#"{"name":"cancelled"}"#);
            let (code, message) = wire.error(method, params);
            assert_eq!(
                (code, message.as_str()),
                (-32603, INTERNAL_ERROR),
                "{params}"
            );
            wire.cancel(running);
            assert_eq!(wire.answer(running), None);
            let answer = wire.result("tools/call", r#"{"name":"well"}"#);
            assert_eq!(text(&answer, &["content", "0", "text"]), "well");
        }
        assert_eq!(wire.hear(), [""; 0]);
    }
    let _ = std::panic::take_hook();
}

/// A handler that takes no notice of its cancellation answers nothing any more: neither its old
/// request nor a new one by the same id.
#[test]
fn nobody_answers_twice() {
    let kept = Arc::new(Mutex::new(None));
    let keeper = Arc::clone(&kept);
    let server = Server::builder("demo", "1")
        .logging()
        .tool("keeps", "", move |(): (), cx: Context| {
            *keeper.lock().unwrap() = Some(cx);
            async {
                pending::<()>().await;
                Ok("never")
            }
        })
        .tool("well", "", says("well"));
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let params = r#"{"name":"keeps","_meta":{"progressToken":1}}"#;
        let id = wire.send("tools/call", params);
        let cx = kept.lock().unwrap().take().unwrap();
        assert!(!cx.is_cancelled());
        wire.cancel(id);
        assert!(cx.is_cancelled());
        let told = async {
            cx.progress(0.5).await;
            cx.log(LoggingLevel::Emergency, "too late").await;
        };
        let told = core::pin::pin!(told);
        let ready = told.poll(&mut Task::from_waker(Waker::noop()));
        assert!(ready.is_ready());
        let answer = wire.result("tools/call", r#"{"name":"well"}"#);
        assert_eq!(text(&answer, &["content", "0", "text"]), "well");
        assert_eq!(wire.answer(id), None);
        assert_eq!(wire.hear(), [""; 0], "{revision}");
    }
}

/// Reaches for the connection whenever it is polled and when it is dropped: it would wait for
/// itself for ever if anybody did that with a lock in his hand.
struct Nosy {
    cx: Context,
    registry: Registry,
    polls: usize,
    ends: Arc<AtomicUsize>,
}

impl Nosy {
    fn reach(&self) {
        let _ = self.cx.is_cancelled();
        let peer = self.cx.peer();
        let _ = peer.is_closed();
        peer.list_changed(ListKind::Tools);
        let _ = self.registry.peers();
        self.registry.list_changed(ListKind::Tools);
        let task = &mut Task::from_waker(Waker::noop());
        let _ = core::pin::pin!(self.cx.cancelled()).poll(task);
        let log = async { self.cx.log(LoggingLevel::Debug, "here").await };
        let _ = core::pin::pin!(log).poll(task);
    }
}

impl Future for Nosy {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Task<'_>) -> Poll<&'static str> {
        self.reach();
        match self.polls.checked_sub(1) {
            Some(left) => {
                self.polls = left;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Ready("done"),
        }
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.reach();
        self.ends.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn no_lock_is_held_over_what_is_a_users() {
    let ends = Arc::new(AtomicUsize::new(0));
    let nosy = |polls: usize| {
        let ends = Arc::clone(&ends);
        move |(): (), cx: Context| {
            let nosy = Nosy {
                registry: cx.registry(),
                cx,
                polls,
                ends: Arc::clone(&ends),
            };
            async move { Ok(nosy.await) }
        }
    };
    let never = {
        let ends = Arc::clone(&ends);
        move |(): (), cx: Context| {
            let nosy = Nosy {
                registry: cx.registry(),
                cx,
                polls: 0,
                ends: Arc::clone(&ends),
            };
            async move {
                pending::<()>().await;
                Ok(nosy.await)
            }
        }
    };
    let server = Server::builder("demo", "1")
        .logging()
        .change_notifications()
        .tool("at_once", "", nosy(0))
        .tool("later", "", nosy(3))
        .tool("never", "", never)
        .layer(ConcurrencyLimit::new(3))
        .layer(Timeout::new(Duration::from_secs(9)))
        .build()
        .unwrap();
    let mut ended = 0;
    let mut ends_are = |more: usize| {
        ended += more;
        assert_eq!(ends.load(Ordering::SeqCst), ended);
    };
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        for name in ["at_once", "later"] {
            let answer = wire.result("tools/call", &format!(r#"{{"name":"{name}"}}"#));
            assert_eq!(text(&answer, &["content", "0", "text"]), "done");
            ends_are(1);
        }
        let call = |wire: &mut LineClient| wire.send("tools/call", r#"{"name":"never"}"#);
        let cancelled = call(&mut wire);
        wire.cancel(cancelled);
        ends_are(1);
        let late = call(&mut wire);
        wire.advance(Duration::from_secs(9));
        let answer = wire.answer(late).unwrap();
        assert_eq!(member(&answer, &["error", "code"]), "-32603");
        ends_are(1);
        // Five, of which two wait in front of the gate, when the connection is dropped.
        for _ in 0..5 {
            call(&mut wire);
        }
        drop(wire);
        ends_are(5);
        // And when it ends in good order, but not in time.
        let mut wire = LineClient::new(&server, revision);
        call(&mut wire);
        wire.peer.shutdown();
        wire.settle();
        wire.advance(Duration::from_secs(2));
        assert!(wire.has_ended());
        ends_are(1);
    }
}

/// What is being answered when the server is ended is answered still; nothing is read any more.
#[test]
fn a_shutdown_loses_no_answer() {
    let gate: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
    let door = Arc::clone(&gate);
    let server = Server::builder("demo", "1").tool("waits", "", move |(): (), _| {
        let door = Arc::clone(&door);
        async move {
            poll_fn(|cx| {
                let mut door = door.lock().unwrap();
                door.1 = Some(cx.waker().clone());
                if door.0 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            Ok("waited")
        }
    });
    let server = server.build().unwrap();
    let registry = server.registry();
    let mut wires: Vec<_> = revisions()
        .map(|revision| LineClient::new(&server, revision))
        .collect();
    let mut idle = LineClient::new(&server, Revision::V2025_11_25);
    let (last, others) = wires.split_last_mut().unwrap();
    let id = last.send("tools/call", r#"{"name":"waits"}"#);
    registry.shutdown();
    assert!(idle.has_ended(), "whoever does nothing ends at once");
    assert!(others.iter_mut().all(LineClient::has_ended));
    assert!(!last.has_ended());
    let unread = last.send("ping", "{}");
    let waker = {
        let mut gate = gate.lock().unwrap();
        gate.0 = true;
        gate.1.take()
    };
    waker.unwrap().wake();
    assert!(last.answer(id).unwrap().contains("waited"));
    assert_eq!(last.answer(unread), None);
    assert!(last.has_ended());
    let mut late = LineClient::bare(&server, Revision::V2026_07_28);
    assert!(late.has_ended());
}

/// 100,000 calls at once, of a tool that does not finish: the table is full after those that
/// were configured, and every other call is refused. What they take together is bounded,
/// whether the client reads what it is told or not.
#[test]
fn a_flood_of_calls_stays_within_its_bounds() {
    const CALLS: usize = 100_000;
    const RUNNING: usize = 256;
    const OUTPUT: usize = 64 << 10;

    #[track_caller]
    fn check(reads: bool, bound: u64) {
        let limits = Limits {
            in_flight: RUNNING,
            output: OUTPUT,
            ..Limits::default()
        };
        let running = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&running);
        let server = Server::builder("demo", "1").limits(limits).tool(
            "slow",
            "",
            move |(): (), _: Context| {
                count.fetch_add(1, Ordering::SeqCst);
                async {
                    pending::<()>().await;
                    Ok("never")
                }
            },
        );
        let server = server.build().unwrap();
        let mut refused = 0;
        let mut written = 0;
        let measured = measure(|| {
            let (ours, theirs) = duplex(16 << 10);
            let (connection, _) = server.connect(theirs.split(), Sim);
            let mut connection = core::pin::pin!(connection);
            let (mut reader, mut writer) = ours.split();
            let cx = &mut Task::from_waker(Waker::noop());
            let mut buf = vec![0; 8 << 10];
            'flood: for id in 0..CALLS {
                let line = format!(
                    concat!(
                        r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"slow","_meta":{{"#,
                        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                        r#""io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#,
                        "\n"
                    ),
                    id
                );
                let mut rest = line.as_bytes();
                let mut stuck = 0;
                while !rest.is_empty() {
                    match Pin::new(&mut writer).poll_write(cx, rest) {
                        Poll::Ready(count) => rest = &rest[count.unwrap()..],
                        Poll::Pending if stuck > 8 => break 'flood,
                        Poll::Pending => {
                            stuck += 1;
                            assert!(connection.as_mut().poll(cx).is_pending());
                            while reads
                                && let Poll::Ready(Ok(count)) =
                                    Pin::new(&mut reader).poll_read(cx, &mut buf)
                            {
                                let text = &buf[..count];
                                refused += text.iter().filter(|byte| **byte == b'\n').count();
                                assert!(connection.as_mut().poll(cx).is_pending());
                                stuck = 0;
                            }
                        }
                    }
                }
                written += 1;
            }
        });
        assert_eq!(running.load(Ordering::SeqCst), RUNNING);
        if reads {
            assert_eq!(written, CALLS);
            assert!(refused > CALLS - RUNNING - 1_000, "{refused}");
        } else {
            assert!(
                written < 5_000,
                "a client that does not read is not read: {written}"
            );
        }
        assert!(measured.bytes_max < bound, "{measured:?}");
    }
    // Two kilobytes a running call, both outboxes, both pipes and a little more.
    let bound = (2 * RUNNING * 1024 + 2 * OUTPUT + (64 << 10)) as u64;
    check(true, bound);
    check(false, bound);
}
