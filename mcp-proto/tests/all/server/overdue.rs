//! Requests that the application does not answer.

use core::time::Duration;

use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::{Event, ProgressReport, ServerConfig};
use mcp_proto::{Action, Machine as _, Pipe};

use super::Talk;
use crate::script::server::{
    REQUEST_CANCELLED, check_opened, config, error, notification, request,
};

const REVISION: &str = "2025-11-25";

fn watched() -> ServerConfig<'static> {
    ServerConfig {
        overdue_after: 1000,
        ..config()
    }
}

#[test]
fn a_forgotten_request_is_reported_once() {
    let script = r#"> 1 tools/call {"name":"x"}
        = request 0 tools/call x
        + 400
        > 2 tools/call {"name":"y"}
        = request 1 tools/call y
        + 599
        + 1
        = overdue 0
        + 400
        = overdue 1
        + 100000
        # Both are open still.
        answer 1 {}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        > - notifications/cancelled {"requestId":1}
        = cancelled 0"#;
    check_opened(watched(), REVISION, "{}", script);
}

#[test]
fn what_is_over_is_not_reported() {
    let script = r#"> 1 tools/call {"name":"x"}
        = request 0 tools/call x
        > 2 tools/call {"name":"y"}
        = request 1 tools/call y
        answer 0 {}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        > - notifications/cancelled {"requestId":2}
        = cancelled 1
        + 2000"#;
    check_opened(watched(), REVISION, "{}", script);
    let unanswered = r#"> 1 tools/call {"name":"x"}
        = request 0 tools/call x
        + 100000"#;
    check_opened(config(), REVISION, "{}", unanswered);
}

/// The application is notified of the end alone, and the client receives the error that it waits for.
#[test]
fn a_request_that_is_overdue_and_given_up_at_once_has_one_end() {
    let mut talk = Talk::open(watched(), REVISION, "{}");
    talk.say(&request("1", "tools/call", r#""name":"x""#));
    talk.events();
    let due = talk.now + Duration::from_secs(1);
    talk.machine.handle_timeout(due);
    let given_up = notification("$/cancelRequest", r#""id":1"#);
    let message = Incoming::Message(Message::parse(given_up.as_bytes(), 8));
    let action = talk.machine.handle(due, &Pipe, message);
    assert!(matches!(action, Action::Event(Event::Cancelled { .. })));
    assert!(talk.machine.poll_event().is_none());
    assert_eq!(talk.machine.poll_timeout(), None);
    talk.wait(1000);
    talk.hears(&[&error("1", -32800, REQUEST_CANCELLED)]);
}

/// Progress that is held back has the same timer.
#[cfg(feature = "alloc")]
#[test]
fn progress_and_the_limit_are_kept_apart() {
    let config = ServerConfig {
        progress_interval: Duration::from_millis(300),
        ..watched()
    };
    let mut talk = Talk::open(config, REVISION, "{}");
    let params = r#""name":"x","_meta":{"progressToken":1}"#;
    talk.say(&request("1", "tools/call", params));
    talk.events();
    let mut heard = 0;
    let mut overdue = Vec::new();
    for step in 0..600 {
        talk.progress(0, ProgressReport::new(step.into())).unwrap();
        heard += talk.heard().len();
        talk.wait(10);
        heard += talk.heard().len();
        overdue.extend(talk.events().into_iter().map(|event| (step, event)));
    }
    // A burst of 32, and then one in each interval of six seconds.
    assert!((32..=32 + 20).contains(&heard), "{heard}");
    assert_eq!(overdue, [(99, String::from("overdue 0"))]);
    talk.answer(0, "{}");
    assert_eq!(talk.machine.poll_timeout(), None);
}
