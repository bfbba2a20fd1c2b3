//! Too much of everything: each request has one answer, and the server lives on.

use core::future::pending;
use core::time::Duration;

use mcp_async::Server;
use mcp_async::model::LoggingLevel;
use mcp_async::server::{Context, RateLimit, RateLimits, ServerBuilder, Template};

use crate::attack::client_of;
use crate::scripted::{LineClient, cancelled, message};
use crate::server_typed::support::says;
use crate::sim::advance;
use crate::texts::has;

fn server() -> ServerBuilder {
    Server::builder("floods", "1")
        .logging()
        .rate_limits(RateLimits {
            completions: Some(RateLimit::new(5, Duration::from_secs(1))),
            logs: Some(RateLimit::new(5, Duration::from_secs(1))),
            ..RateLimits::default()
        })
        .tool("well", "", says("well"))
        .tool("never", "", |(): (), _| async {
            pending::<()>().await;
            Ok("")
        })
        .tool("spams", "", |(): (), cx: Context| async move {
            for n in 0..1_000 {
                cx.log(LoggingLevel::Info, n).await;
                cx.progress(f64::from(n)).await;
            }
            Ok("spammed")
        })
        .with(
            Template::new("f://{name}/{rest}", "t")
                .complete("name", |_, _| async { Ok(vec!["x"]) })
                .handler(says("")),
        )
}

fn lives_on(wire: &mut LineClient) {
    has(
        &wire.ask("tools/call", r#"{"name":"well"}"#),
        [r#""text":"well""#],
    );
}

#[test]
fn calls_that_never_end() {
    let mut wire = client_of(&server());
    let calls: String = (0..20_000)
        .map(|_| wire.request("tools/call", r#"{"name":"never"}"#) + "\n")
        .collect();
    let refused = wire.write(calls.as_bytes());
    assert!(refused.len() < 20_000);
    assert!(refused.iter().all(|line| line.contains(r#""error""#)));
    let cancels: String = (1..=20_000)
        .map(|id| message(&cancelled(id)) + "\n")
        .collect();
    assert_eq!(wire.write(cancels.as_bytes()), [""; 0]);
    lives_on(&mut wire);
}

#[test]
fn completions() {
    let mut wire = client_of(&server());
    let params = r#"{"ref":{"type":"ref/resource","uri":"f://{name}/{rest}"},"argument":{"name":"name","value":""}}"#;
    let lines: String = (0..1_000)
        .map(|_| wire.request("completion/complete", params) + "\n")
        .collect();
    let answers = wire.write(lines.as_bytes());
    assert_eq!(answers.len(), 1_000);
    let good = answers.iter().filter(|line| line.contains(r#""values""#));
    assert_eq!(good.count(), 5);
    // However far the clock jumps, it is one burst.
    advance(Duration::from_secs(1 << 40));
    let lines: String = (0..100)
        .map(|_| wire.request("completion/complete", params) + "\n")
        .collect();
    let answers = wire.write(lines.as_bytes());
    let good = answers.iter().filter(|line| line.contains(r#""values""#));
    assert_eq!(good.count(), 5);
    let wrong = r#"{"ref":{"type":"ref/resource","uri":"f://a"},"argument":7}"#;
    assert!(
        wire.ask("completion/complete", wrong)
            .contains(r#""error""#)
    );
    lives_on(&mut wire);
}

#[test]
fn logs_and_progress_of_one_call() {
    let mut wire = client_of(&server());
    wire.send("tools/call", r#"{"name":"spams"}"#);
    let lines = wire.hear();
    let logs = lines
        .iter()
        .filter(|line| line.contains("notifications/message"));
    assert_eq!(logs.count(), 5);
    assert!(lines.last().unwrap().contains("spammed"));
}

#[test]
fn subscriptions_to_thousands_of_addresses() {
    let mut wire = client_of(&server());
    for count in [1_000, 20_000] {
        let uris: Vec<_> = (0..count).map(|n| format!(r#""f://{n}/x""#)).collect();
        let filter = format!(
            r#"{{"notifications":{{"resourceSubscriptions":[{}]}}}}"#,
            uris.join(",")
        );
        for _ in 0..20 {
            wire.send("subscriptions/listen", &filter);
            let came = wire.hear();
            assert!(came.len() <= 1, "{}", came.len());
        }
        lives_on(&mut wire);
    }
    for filter in [
        r#"{"notifications":7}"#,
        r#"{"notifications":{"resourceSubscriptions":7}}"#,
        "{}",
    ] {
        wire.send("subscriptions/listen", filter);
        let came = wire.hear();
        assert_eq!(came.len(), 1, "{filter}: {came:?}");
    }
    lives_on(&mut wire);
}

#[test]
fn addresses_that_templates_look_at_for_long() {
    let mut wire = client_of(&server());
    for uri in [
        format!("f://{}", "/".repeat(60_000)),
        format!("f://{}", "%41".repeat(20_000)),
        format!("f://{}/", "a".repeat(900_000)),
    ] {
        let answer = wire.ask("resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
        assert!(answer.contains(r#""error""#), "{answer:.200}");
    }
    lives_on(&mut wire);
}
