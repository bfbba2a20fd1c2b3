//! A served connection, line by line: handlers of every temper, the end of the input, a peer
//! that does not read.

use core::time::Duration;

use std::sync::{Arc, Mutex};

use mcp_proto::rpc::Method;
use mcp_proto::server::ListKind;
use mcp_proto::{Limits, SendError};

use crate::connection::support::{Wire, answer, call};
use crate::scripted::{array, cancelled, initialize_with, message, request_id};
use crate::settings::limits;
use crate::sim::{advance, end, run, settle, spawn};
use crate::texts::{SHUTTING_DOWN, has, internal};

const INTERNAL: &str = r#""code":-32603"#;

#[test]
fn a_ready_handler_answers_in_the_same_turn() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "echo");
    assert_eq!(wire.read(), answer(1, r#"{"id":1}"#));
}

#[test]
fn handlers_wait_side_by_side_and_finish_in_any_order() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "later");
    wire.call(2, "never");
    wire.call(3, "echo");
    assert_eq!(wire.read(), answer(3, r#"{"id":3}"#));
    wire.watch.open();
    assert_eq!(wire.read(), answer(1, r#"{"later":true}"#));
    assert_eq!(
        wire.watch.dropped(),
        2,
        "the guards of the first and the third call are gone"
    );
}

#[test]
fn a_handler_that_wakes_itself_does_not_starve_the_others() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "yields");
    wire.call(2, "echo");
    let text = wire.read();
    assert!(text.contains(&answer(2, r#"{"id":2}"#)), "{text}");
    assert!(text.contains(&answer(1, r#"{"yielded":1000}"#)), "{text}");
}

#[test]
fn a_handler_that_wakes_itself_does_not_keep_messages_unread() {
    let mut wire = Wire::new().legacy();
    let cancelled = message(&cancelled(1));
    wire.send(&format!("{}\n{cancelled}", call(1, "yields", "")));
    assert_eq!(wire.read(), "");
}

#[test]
fn a_cancelled_call_is_dropped_and_never_answered() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "later");
    wire.send(&cancelled(1));
    assert_eq!(wire.watch.dropped(), 1);
    wire.watch.open();
    assert_eq!(wire.read(), "");
    wire.call(1, "echo");
    assert_eq!(
        wire.read(),
        answer(1, r#"{"id":1}"#),
        "the id is free again"
    );
}

/// ST-16: so it is without a session.
#[test]
fn st_16_a_cancelled_call_stops() {
    let mut wire = Wire::new();
    let meta = concat!(
        r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    wire.send(&call(1, "later", meta));
    wire.send(&cancelled(1));
    assert_eq!(wire.watch.dropped(), 1);
    wire.watch.open();
    assert_eq!(wire.read(), "");
}

#[test]
fn a_context_outlives_its_call() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "keeps");
    let cx = wire.watch.contexts.lock().unwrap().remove(0);
    assert!(!cx.is_cancelled());
    wire.send(&cancelled(1));
    assert!(cx.is_cancelled());
    run(cx.cancelled());
    run(cx.log(mcp_proto::model::LoggingLevel::Error, "late"));
    assert_eq!(wire.read(), "");
}

#[test]
fn panics_become_internal_errors_that_tell_nothing() {
    std::panic::set_hook(Box::new(|_| {}));
    for tool in ["panics", "panics_later", "panics_in_answer", "no_object"] {
        let mut wire = Wire::new().legacy();
        wire.call(1, tool);
        wire.watch.open();
        let text = wire.read();
        assert!(
            text.contains(INTERNAL) && text.contains(r#""id":1"#),
            "{tool}: {text}"
        );
        assert!(!text.contains("secret"), "{tool}: {text}");
        assert_eq!(text.lines().count(), 1, "{tool}: {text}");
        wire.call(2, "echo");
        assert_eq!(
            wire.read(),
            answer(2, r#"{"id":2}"#),
            "{tool}: the server lives on"
        );
    }
    let mut wire = Wire::new().legacy();
    wire.call(1, "panics_in_drop");
    wire.send(&cancelled(1));
    wire.call(2, "echo");
    assert_eq!(wire.read(), answer(2, r#"{"id":2}"#));
    let _ = std::panic::take_hook();
}

#[test]
fn an_error_of_the_handler_is_told_as_it_is() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "fails");
    has(&wire.read(), [r#""error":{"code":7,"message":"failed"}"#]);
}

#[test]
fn progress_and_logs_leave_before_the_answer() {
    let mut wire = Wire::new().legacy();
    wire.send(&call(1, "progress", r#","_meta":{"progressToken":"p"}"#));
    wire.call(2, "logs");
    let text = wire.read();
    let kinds: Vec<_> = text
        .lines()
        .map(|line| match line {
            line if line.contains("notifications/progress") => "progress",
            line if line.contains("notifications/message") => "log",
            _ => "answer",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "progress", "progress", "progress", "answer", "log", "answer"
        ],
        "{text}"
    );
    has(&text, [r#""progress":3"#, "smoke"]);
}

#[test]
fn a_question_is_answered_refused_and_taken_back() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "asks");
    let asked = wire.read();
    assert!(asked.contains("elicitation/create"), "{asked}");
    let id = request_id(&asked);
    wire.send(&format!(r#"{id} = {{"action":"decline"}}"#));
    assert_eq!(wire.read(), answer(1, r#"{"action":"decline"}"#));

    wire.call(2, "asks");
    let asked = wire.read();
    let id = request_id(&asked);
    wire.send(&format!("{id} ! -1 no"));
    assert!(wire.read().contains(r#""code":8"#));
    assert_eq!(
        wire.watch.log.take().last().unwrap(),
        "the user rejected the question"
    );

    wire.call(3, "asks");
    wire.read();
    wire.send(&cancelled(3));
    let told = wire.read();
    assert!(
        told.contains("notifications/cancelled"),
        "the client need not answer: {told}"
    );
}

#[test]
fn a_handle_wakes_the_connection() {
    let mut wire = Wire::new().legacy();
    wire.peer.list_changed(ListKind::Tools);
    has(&wire.read(), ["notifications/tools/list_changed"]);
    assert_eq!(wire.watch.log.take(), ["listening"]);
}

/// EL-11.
#[test]
fn a_handle_sends_notifications_that_are_nobody_elses() {
    let mut wire = Wire::new().legacy();
    let peer = wire.peer.clone();
    let results = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&results);
    spawn(async move {
        let done = peer.elicitation_complete("e1").await;
        let core = peer.notify(Method::ToolsListChanged, None).await;
        told.lock().unwrap().extend([done, core]);
    });
    has(
        &wire.read(),
        [r#""method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}"#],
    );
    let results = results.lock().unwrap();
    assert_eq!(results.as_slice(), [Ok(()), Err(SendError::NotInRevision)]);
}

#[test]
fn an_idle_server_ends_at_once_with_its_input() {
    let mut wire = Wire::new();
    wire.close();
    assert_eq!(wire.result(), Some(Ok(())));
    let mut wire = Wire::new().legacy();
    wire.close();
    assert_eq!(wire.result(), Some(Ok(())));
    assert!(wire.peer.is_closed());
}

#[test]
fn what_was_read_is_answered_after_the_end_of_the_input() {
    let mut wire = Wire::new().legacy();
    let last = call(2, "echo", "");
    wire.call(1, "later");
    assert_eq!(
        wire.write_some(last.as_bytes()),
        last.len(),
        "without a newline"
    );
    wire.close();
    assert_eq!(wire.read(), answer(2, r#"{"id":2}"#));
    assert_eq!(wire.result(), None);
    advance(Duration::from_millis(900));
    wire.watch.open();
    assert_eq!(wire.read(), answer(1, r#"{"later":true}"#));
    assert_eq!(wire.result(), Some(Ok(())));
}

fn ending(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},{}}}"#,
        internal(SHUTTING_DOWN)
    )
}

/// ST-23
#[test]
fn what_still_runs_after_the_grace_is_dropped_and_answered() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "never");
    wire.call(2, "never");
    wire.close();
    advance(Duration::from_millis(999));
    assert_eq!((wire.result(), wire.watch.dropped()), (None, 0));
    advance(Duration::from_millis(1));
    assert_eq!((wire.result(), wire.watch.dropped()), (Some(Ok(())), 2));
    assert_eq!(wire.read(), format!("{}\n{}\n", ending(1), ending(2)));
}

#[test]
fn what_still_runs_after_the_grace_is_answered_in_its_batch() {
    let mut wire = Wire::new();
    wire.send(&initialize_with("2025-03-26", "{}"));
    wire.read();
    wire.send(&array(&[call(1, "echo", ""), call(2, "never", "")]));
    wire.close();
    advance(Duration::from_secs(1));
    assert_eq!(wire.result(), Some(Ok(())));
    let echo = answer(1, r#"{"id":1}"#);
    assert_eq!(
        wire.read(),
        format!("[{},{}]\n", echo.trim_end(), ending(2))
    );
}

#[test]
fn errors_of_the_end_wait_for_room() {
    let mut wire = Wire::with(64, usize::MAX, Limits::default()).legacy();
    for id in 1..=5 {
        wire.call(id, "never");
    }
    wire.close();
    advance(Duration::from_secs(1));
    assert_eq!(wire.result(), None, "the client has not read everything");
    let text = wire.read();
    for id in 1..=5 {
        assert!(text.contains(&ending(id)), "{text}");
    }
    assert_eq!(wire.result(), Some(Ok(())));
    // A client that reads nothing is waited for as long, and no longer.
    let mut wire = Wire::with(64, usize::MAX, Limits::default()).legacy();
    wire.call(1, "never");
    wire.close();
    advance(Duration::from_secs(1));
    assert_eq!(wire.result(), None);
    advance(Duration::from_secs(2));
    assert_eq!(wire.result(), Some(Ok(())));
}

/// The time that a client takes to read is not the time of the handlers.
#[test]
fn whoever_reads_slowly_gets_every_answer() {
    let limits = limits(|it| it.output = 100_000);
    let mut wire = Wire::with(8 << 10, usize::MAX, limits).legacy();
    let calls = (1..=6).map(|id| call(id, "big", "") + "\n");
    let text = calls.collect::<String>();
    assert_eq!(wire.write_some(text.as_bytes()), text.len());
    settle();
    wire.peer.shutdown();
    let mut text = Vec::new();
    while wire.result().is_none() {
        advance(Duration::from_millis(900));
        let mut buf = [0; 4096];
        let count = wire.read_some(&mut buf);
        text.extend_from_slice(&buf[..count]);
    }
    let text = String::from_utf8(text).unwrap() + &wire.read();
    assert_eq!(text.matches(r#""result":{"big""#).count(), 6);
}

#[test]
fn a_closed_output_ends_the_connection_quietly() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "never");
    wire.stop_reading();
    assert_eq!(wire.result(), None, "nobody has noticed yet");
    wire.call(2, "echo");
    assert_eq!(
        (wire.result(), wire.watch.dropped()),
        (Some(Ok(())), 2),
        "of both calls"
    );
}

#[test]
fn shutdown_answers_what_runs_and_ends() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "later");
    wire.peer.shutdown();
    settle();
    assert_eq!(wire.result(), None);
    wire.watch.open();
    assert_eq!(wire.read(), answer(1, r#"{"later":true}"#));
    assert_eq!(wire.result(), Some(Ok(())));
}

#[test]
fn a_peer_that_never_reads_stops_the_reader() {
    let limits = limits(|it| it.output = 100_000);
    let mut wire = Wire::with(8 << 10, usize::MAX, limits).legacy();
    let mut sent = 0;
    let line = format!("{}\n", call(9, "big", ""));
    let mut text = String::new();
    // Requests without end, all with another id; nothing is read.
    for id in 100..1_000 {
        text += &line.replace("\"id\":9", &format!("\"id\":{id}"));
    }
    loop {
        let count = wire.write_some(&text.as_bytes()[sent..]);
        settle();
        if count == 0 {
            break;
        }
        sent += count;
    }
    let calls = wire.watch.calls();
    // Two outboxes of 100 kB and one answer that waits.
    assert!((2..=4).contains(&calls), "{calls} calls were taken");
    assert!(sent < 64 << 10, "{sent} bytes were taken");
    // As soon as it reads, everything goes on, and nothing was lost.
    let mut answers = 0;
    loop {
        let count = wire.write_some(&text.as_bytes()[sent..]);
        sent += count;
        let idle = wire.count_answers(&mut answers);
        if count == 0 && idle {
            break;
        }
    }
    assert_eq!((sent, answers), (text.len(), 900));
}

#[test]
fn an_answer_larger_than_the_output_may_be_is_an_error() {
    let limits = limits(|it| it.output = 100_000);
    let mut wire = Wire::with(1 << 20, usize::MAX, limits).legacy();
    wire.call(1, "huge");
    wire.send("2 ping");
    let text = wire.read();
    assert!(text.contains(INTERNAL), "{text}");
    assert!(text.contains(&answer(2, "{}")), "{text}");
}

#[test]
fn a_dropped_connection_drops_its_handlers() {
    let mut wire = Wire::new().legacy();
    wire.call(1, "keeps");
    let cx = wire.watch.contexts.lock().unwrap().remove(0);
    end();
    assert_eq!(wire.watch.dropped(), 1);
    assert!(cx.is_cancelled() && wire.peer.is_closed());
    wire.peer.list_changed(ListKind::Tools);
}

#[test]
fn every_size_of_chunk_gives_the_same_bytes() {
    let script = |capacity, chop| {
        let mut wire = Wire::with(capacity, chop, Limits::default()).legacy();
        wire.call(1, "echo");
        wire.send(&call(2, "progress", r#","_meta":{"progressToken":2}"#));
        wire.send("{]");
        wire.call(3, "later");
        wire.watch.open();
        let mut text = wire.read();
        wire.call(4, "big");
        wire.close();
        text += &wire.read();
        assert_eq!(wire.result(), Some(Ok(())));
        text
    };
    let whole = script(1 << 20, usize::MAX);
    assert_eq!(whole.lines().count(), 8, "{whole}");
    for (capacity, chop) in [(1, 1), (7, 3), (64, 64), (1000, 1), (4096, 1000)] {
        assert_eq!(script(capacity, chop), whole, "{capacity} {chop}");
    }
}
