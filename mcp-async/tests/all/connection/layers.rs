//! Layers around a service: calls that take too long, too many at a time.

use core::future::{pending, poll_fn};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use allocation_counter::measure;
use mcp_async::server::layers::{ConcurrencyLimit, Timeout, around};
use mcp_async::server::{Call, Peer, Service, service_fn};
use mcp_async::{Answered, Job};
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::Method;
use mcp_proto::server::{Initialize, ServerConfig};
use tower_layer::{Layer, Stack};

use crate::connection::support::{Demo, Watch, Wire, answer, call};
use crate::scripted::cancelled;
use crate::settings::{limits, with_tools};
use crate::sim::{advance, clock, run, sleep, spawn, yield_now};
use crate::texts::INTERNAL_ERROR;

/// A legacy session with the demo behind a layer.
fn layered<L: Layer<Demo>>(layer: L) -> Wire
where
    L::Service: Service,
{
    Wire::layered(with_tools(), layer).legacy()
}

fn error(id: u32, message: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"{message}\"}}}}\n"
    )
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_call_that_takes_too_long_is_answered_and_dropped() {
    let mut wire = layered(Timeout::new(5 * SECOND));
    wire.call(1, "never");
    advance(2 * SECOND);
    wire.call(2, "later");
    advance(3 * SECOND - Duration::from_millis(1));
    assert_eq!(wire.read(), "");
    advance(Duration::from_millis(1));
    assert_eq!(wire.read(), error(1, "The call took longer than 5000 ms"));
    assert_eq!(wire.watch.dropped(), 1);
    wire.watch.open();
    assert_eq!(wire.read(), answer(2, r#"{"later":true}"#));
    // The place of the first call is free, and its time does not count for the next one there.
    wire.call(3, "never");
    advance(4 * SECOND);
    assert_eq!(wire.read(), "");
    advance(SECOND);
    assert_eq!(wire.read(), error(3, "The call took longer than 5000 ms"));
}

#[test]
fn the_shorter_time_counts() {
    let outer = Timeout::new(9 * SECOND);
    for inner in [2, 20] {
        let mut wire = layered(Stack::new(Timeout::new(inner * SECOND), outer));
        wire.call(1, "never");
        advance(2 * SECOND);
        assert_eq!(wire.read().is_empty(), inner == 20);
        advance(7 * SECOND);
        assert_eq!(wire.read().is_empty(), inner == 2);
    }
}

#[test]
fn a_ready_handler_arms_no_timer() {
    let mut wire = layered(Timeout::new(SECOND));
    wire.call(1, "echo");
    assert_eq!(wire.read(), answer(1, r#"{"id":1}"#));
    assert_eq!(clock().next_deadline(), None);
}

#[test]
fn whoever_left_for_another_task_hears_of_the_end() {
    let mut wire = layered(Timeout::new(SECOND));
    wire.call(1, "keeps");
    let cx = wire.watch.contexts.lock().unwrap().remove(0);
    run(cx.cancelled());
    assert!(cx.is_cancelled());
    assert_eq!(wire.read(), error(1, "The call took longer than 1000 ms"));
}

#[test]
fn an_error_waits_for_room() {
    let limits = limits(|it| it.output = 4096);
    let config = ServerConfig {
        limits,
        ..with_tools()
    };
    let service = Timeout::new(SECOND).layer(Demo::default());
    let mut wire = Wire::serving(config, service, 512, usize::MAX).legacy();
    for id in 1..=60 {
        wire.call(id, "never");
    }
    advance(SECOND);
    let text = wire.read();
    for id in 1..=60 {
        let expected = error(id, "The call took longer than 1000 ms");
        assert_eq!(text.matches(&expected).count(), 1, "{id}");
    }
}

/// A place keeps nothing of the calls before.
#[test]
fn every_call_has_its_own_time() {
    let layer = around(|call: Call<'_>, service: &dyn Service| {
        let arguments = call.params.get("arguments").and_then(|raw| raw.object());
        let seconds = arguments.and_then(|object| object.get("id")?.number()?.to_u64());
        let seconds = u32::try_from(seconds.unwrap_or_default()).unwrap();
        service.call(call).within(seconds * SECOND)
    });
    let mut wire = layered(layer);
    for (seconds, lasts) in [
        (10, 3),
        (1, 1),
        (10, 10),
        (5, 1),
        (20, 20),
        (3, 3),
        (2, 1),
        (9, 9),
    ] {
        wire.call(seconds, "never");
        advance(lasts * SECOND - Duration::from_millis(1));
        assert_eq!(wire.read(), "", "{seconds} {lasts}");
        advance(Duration::from_millis(1));
        let text = wire.read();
        assert_eq!(
            text.is_empty(),
            lasts < seconds,
            "{seconds} {lasts}: {text}"
        );
        wire.send(&cancelled(seconds));
    }
}

/// What is remembered of calls that finished in time does not add up.
#[test]
fn deadlines_do_not_pile_up() {
    let service = service_fn(|call| {
        call.answer(async {
            yield_now().await;
            Ok(Raw::EMPTY_OBJECT)
        })
    });
    let service = Timeout::new(3600 * SECOND).layer(service);
    let mut wire = Wire::serving(with_tools(), service, 1 << 20, usize::MAX).legacy();
    let mut round = |calls: u32| {
        for id in 0..calls {
            wire.call(id, "x");
            assert_eq!(wire.read().lines().count(), 1);
        }
    };
    round(1_000);
    let measured = measure(|| round(5_000));
    assert!(measured.bytes_current < 4_096, "{measured:?}");
}

/// Handlers that count how many of them run.
#[derive(Clone, Default)]
struct Crowd {
    inside: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Service for Crowd {
    fn call(&self, call: Call<'_>) -> Job {
        let Self { inside, most } = self.clone();
        call.answer(async move {
            let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            for _ in 0..3 {
                yield_now().await;
            }
            inside.fetch_sub(1, Ordering::SeqCst);
            Ok(Raw::EMPTY_OBJECT)
        })
    }
}

/// Two connections behind one layer are one crowd.
#[test]
fn so_many_calls_at_a_time() {
    for limit in [1, 2, 5, 100] {
        let layer = ConcurrencyLimit::new(limit);
        let crowd = Crowd::default();
        let mut wires = [(); 2].map(|()| {
            let service = layer.layer(crowd.clone());
            Wire::serving(with_tools(), service, 1 << 20, usize::MAX).legacy()
        });
        let lines: String = (1..=20).map(|id| call(id, "x", "") + "\n").collect();
        for wire in &mut wires {
            assert_eq!(wire.write_some(lines.as_bytes()), lines.len());
        }
        let mut answers = 0;
        for _ in 0..200 {
            for wire in &mut wires {
                answers += wire.read().lines().count();
            }
        }
        assert_eq!(answers, 40);
        assert!(crowd.most.load(Ordering::SeqCst) <= limit);
    }
}

#[test]
fn lists_need_not_wait() {
    let mut wire = layered(ConcurrencyLimit::new(1));
    wire.call(1, "never");
    wire.call(2, "echo");
    wire.send("3 tools/list");
    assert_eq!(wire.read(), answer(3, r#"{"tools":[]}"#));
    // A cancelled call makes room.
    wire.send(&cancelled(1));
    assert_eq!(wire.read(), answer(2, r#"{"id":2}"#));
}

#[test]
fn who_waits_in_front_may_give_up() {
    let mut wire = layered(ConcurrencyLimit::new(1));
    wire.call(1, "later");
    wire.call(2, "echo");
    wire.call(3, "echo");
    wire.send(&cancelled(2));
    wire.watch.open();
    assert_eq!(
        wire.read(),
        answer(1, r#"{"later":true}"#) + &answer(3, r#"{"id":3}"#)
    );
}

#[test]
fn waiting_counts_for_the_time() {
    let limits = (ConcurrencyLimit::new(1), Timeout::new(SECOND));
    let mut wire = layered(limits);
    wire.call(1, "never");
    advance(SECOND / 2);
    wire.call(2, "never");
    advance(SECOND / 2);
    assert_eq!(wire.read(), error(1, "The call took longer than 1000 ms"));
    advance(SECOND / 2);
    assert_eq!(wire.read(), error(2, "The call took longer than 1000 ms"));
}

#[test]
fn more_calls_are_refused() {
    let mut wire = layered(ConcurrencyLimit::new(2).refusing());
    wire.call(1, "later");
    wire.call(2, "later");
    wire.call(3, "echo");
    assert_eq!(wire.read(), error(3, "More than 2 calls at a time"));
    wire.watch.open();
    assert_eq!(wire.read().lines().count(), 2);
    wire.call(4, "echo");
    assert_eq!(wire.read(), answer(4, r#"{"id":4}"#));
}

/// A service that only hears.
struct Hears(Arc<Watch>);

impl Service for Hears {
    fn call(&self, call: Call<'_>) -> Job {
        self.0.log.note("call");
        call.ready(Ok(Raw::EMPTY_OBJECT))
    }

    fn handshake(&self, _: &Peer, _: &Initialize<'_>) {
        self.0.log.note("handshake");
    }

    fn listening(&self, _: &Peer) {
        self.0.log.note("listening");
    }

    fn notified(&self, _: &Peer, method: Method<'_>, _: mcp_proto::json::Object<'_>) {
        self.0.log.note(method.to_string());
    }
}

#[test]
fn everything_else_goes_through() {
    let watch = Arc::<Watch>::default();
    let seen = Arc::clone(&watch);
    let layer = around(move |call: Call<'_>, service: &dyn Service| {
        seen.log.note("before");
        let seen = Arc::clone(&seen);
        service.call(call).wrap(|job| async move {
            let answered = job.await;
            seen.log.note("after");
            answered
        })
    });
    let service = layer.layer(Hears(Arc::clone(&watch)));
    let mut wire = Wire::serving(with_tools(), service, 1 << 16, usize::MAX).legacy();
    wire.call(1, "x");
    wire.send("- notifications/roots/list_changed");
    assert_eq!(
        watch.log.take(),
        [
            "handshake",
            "listening",
            "before",
            "call",
            "after",
            "notifications/roots/list_changed"
        ]
    );
}

/// A layer that keeps the answer of one call and returns it for another has answered one call.
#[test]
fn the_answer_of_another_call_answers_nothing() {
    let kept: Arc<Mutex<Option<Answered>>> = Arc::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let layer = around(move |call: Call<'_>, service: &dyn Service| {
        let kept = Arc::clone(&kept);
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        service.call(call).wrap(move |job| async move {
            if first {
                let answered = job.await;
                *kept.lock().unwrap() = Some(answered);
                return pending::<Answered>().await;
            }
            drop(job);
            let answered = kept.lock().unwrap().take();
            answered.unwrap()
        })
    });
    let mut wire = layered(layer);
    wire.call(1, "echo");
    assert_eq!(wire.read(), answer(1, r#"{"id":1}"#));
    wire.call(2, "echo");
    assert_eq!(wire.read(), error(2, INTERNAL_ERROR));
}

/// The progress that a call held back leaves before its answer, also if that has to wait for room.
#[test]
fn an_answer_of_another_task_waits_for_room() {
    const MILLISECOND: Duration = Duration::from_millis(1);
    const HELD: usize = 2000;
    const ANSWER: usize = 3000;
    let service = service_fn(|call| {
        let cx = call.context().clone();
        call.answer(async move {
            for step in 0..40 {
                let message = "h".repeat(HELD);
                cx.progress(f64::from(step)).message(&message).await;
            }
            sleep(MILLISECOND).await;
            let answer = RawBuf::parse(format!(r#"{{"text":"{}"}}"#, "a".repeat(ANSWER)));
            Ok(answer.unwrap())
        })
    });
    // Polls the job outside of the connection.
    let moved = around(|call: Call<'_>, service: &dyn Service| {
        service.call(call).wrap(|job| {
            let done = Arc::<Mutex<(Option<Answered>, Option<Waker>)>>::default();
            let handed = Arc::clone(&done);
            async move {
                spawn(async move {
                    let answered = job.await;
                    let done = &mut *done.lock().unwrap();
                    done.0 = Some(answered);
                    done.1.take().into_iter().for_each(Waker::wake);
                });
                poll_fn(|cx| {
                    let handed = &mut *handed.lock().unwrap();
                    handed.1 = Some(cx.waker().clone());
                    handed.0.take().map_or(Poll::Pending, Poll::Ready)
                })
                .await
            }
        })
    });
    let limits = limits(|it| it.output = 4096);
    let config = ServerConfig {
        limits,
        progress_interval: 100 * MILLISECOND,
        ..with_tools()
    };
    let mut wire = Wire::serving(config, moved.layer(service), 1 << 16, usize::MAX).legacy();
    wire.send(&call(1, "x", r#","_meta":{"progressToken":1}"#));
    let reports = wire.read().matches("notifications/progress").count();
    assert!((1..40).contains(&reports), "{reports}");
    advance(MILLISECOND);
    let text = wire.read();
    let (held, answer) = (text.matches('h').count(), text.matches('a').count());
    assert!(held >= HELD && answer >= ANSWER, "{held} {answer}");
}
