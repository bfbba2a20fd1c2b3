//! How often progress leaves. PG-06.

use core::time::Duration;

use mcp_proto::model::LoggingLevel;
use mcp_proto::server::{ProgressReport, ServerConfig};
use mcp_proto::{Machine, SendError};

use super::Talk;
use crate::script::server::{config, request};

/// A call that wants progress, of a server that paces it.
fn talk() -> Talk {
    let config = ServerConfig {
        progress_interval: Duration::from_millis(100),
        ..config()
    };
    let mut talk = Talk::open(config, "2025-11-25", "{}");
    let params = r#""name":"x","_meta":{"progressToken":"t"}"#;
    talk.say(&request("1", "tools/call", params));
    talk
}

fn told(progress: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t","progress":{progress}}}}}"#
    )
}

/// Reports `from..to`; returns what the client heard.
fn report(talk: &mut Talk, from: u32, to: u32) -> Vec<String> {
    for step in from..to {
        let message = format!("step {step}");
        let progress = ProgressReport {
            total: Some(1e6),
            message: Some(&message),
            ..ProgressReport::new(f64::from(step))
        };
        talk.progress(0, progress).unwrap();
    }
    talk.heard()
}

#[test]
fn a_few_steps_leave_at_once_and_of_many_the_newest() {
    let mut talk = talk();
    let heard = report(&mut talk, 0, 100_000);
    assert_eq!(heard.len(), 32);
    assert_eq!(heard[31], told(r#"31,"total":1000000,"message":"step 31""#));
    // The newest value follows, once, when its time has come.
    let due = talk.machine.poll_timeout().unwrap();
    assert_eq!(due.saturating_since(talk.now), Duration::from_millis(100));
    talk.wait(99);
    assert_eq!(talk.heard(), [] as [String; 0]);
    talk.wait(1);
    assert_eq!(
        talk.heard(),
        [told(r#"99999,"total":1000000,"message":"step 99999""#)]
    );
    assert_eq!(talk.machine.poll_timeout(), None);
    // From here on one leaves in each interval.
    for step in 100_000..100_010 {
        assert_eq!(
            report(&mut talk, 10 * step, 10 * step + 10),
            [] as [String; 0]
        );
        talk.wait(100);
        assert_eq!(talk.heard().len(), 1, "{step}");
    }
    // After a pause a few leave at once again.
    talk.wait(60_000);
    assert_eq!(report(&mut talk, 2_000_000, 2_000_100).len(), 32);
}

#[test]
fn a_value_that_is_held_back_is_the_last_one() {
    let mut talk = talk();
    report(&mut talk, 0, 50);
    assert_eq!(
        talk.progress(0, ProgressReport::new(49.0)),
        Err(SendError::Progress),
        "PG-04"
    );
    talk.log(Some(0), LoggingLevel::Error, "x").unwrap();
    assert_eq!(talk.heard().len(), 1);
    // It can be flushed before the answer; no progress follows the answer (PG-03).
    let token = talk.token(0);
    let mut out = [0; 256];
    let sent = talk.machine.flush_progress(talk.now, token, &mut out);
    let len = sent.unwrap().unwrap().len;
    assert!(
        core::str::from_utf8(&out[..len])
            .unwrap()
            .contains("step 49")
    );
    assert!(matches!(
        talk.machine.flush_progress(talk.now, token, &mut out),
        Ok(None)
    ));
    talk.progress(0, ProgressReport::new(50.0)).unwrap();
    talk.answer(0, "{}");
    talk.heard();
    talk.wait(1000);
    assert_eq!(talk.heard(), [] as [String; 0]);
    assert_eq!(talk.machine.poll_timeout(), None);
}

#[test]
fn what_is_held_back_ends_with_its_request() {
    let mut talk = talk();
    report(&mut talk, 0, 50);
    talk.machine.hang_up();
    assert_eq!(talk.machine.poll_timeout(), None);
    assert_eq!(talk.machine.next_channel(), None);
}
