//! The records of requests that have ended.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::model::CallToolResult;
use mcp_async::server::layers::{Audit, Timeout, around};
use mcp_async::server::{Context, HandlerError, Prompt, ServerBuilder, Template};
use mcp_async::{AuditRecord, CallOutcome, ErrorReply, Method, Server};
use mcp_proto::Revision;

use crate::scripted::{LineClient, Serve, plain_call};
use crate::server_typed::support::{never, revisions, says};
use crate::sim::sleep;

type Seen = Arc<Mutex<Vec<AuditRecord>>>;

fn server(seen: &Seen) -> ServerBuilder {
    let seen = Arc::clone(seen);
    Server::builder("demo", "1")
        .tool("works", "", says("done"))
        .tool("slow", "", |(): (), _: Context| async {
            sleep(Duration::from_millis(250)).await;
            Ok("at last")
        })
        .tool("fails", "", |(): (), _: Context| async {
            Ok(CallToolResult::error("full"))
        })
        .tool("refuses", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::invalid_params("no"))
        })
        .tool("panics", "", |(): (), _: Context| async {
            panic!("a secret");
            #[expect(unreachable_code, reason = "it has a type")]
            Ok(())
        })
        .tool("never", "", never)
        .with(Prompt::new("greet").handler(|(): (), _| async { Ok("hello") }))
        .with(
            Template::new("demo://{+path}{?key}", "demo")
                .raw(|found, _| async move { Ok(found.uri) }),
        )
        .layer(Timeout::new(Duration::from_secs(60)))
        .layer(around(|call, service| match call.method {
            Method::ResourcesTemplatesList => call.refuse(ErrorReply::new(7, "closed")),
            _ => service.call(call),
        }))
        .layer(Audit::new(move |record| {
            seen.lock().unwrap().push(record.clone());
        }))
}

fn take(seen: &Seen) -> Vec<AuditRecord> {
    core::mem::take(&mut *seen.lock().unwrap())
}

#[track_caller]
fn check(
    seen: &Seen,
    revision: Revision,
    method: &str,
    subject: Option<&str>,
    outcome: CallOutcome,
    millis: u64,
) {
    let records = take(seen);
    let [record] = &*records else {
        panic!("{records:?} in {revision}");
    };
    assert_eq!(
        (&*record.method, record.subject.as_deref()),
        (method, subject)
    );
    assert_eq!((record.revision, record.outcome), (revision, outcome));
    assert_eq!(record.duration, Duration::from_millis(millis));
    assert_eq!((&record.principal, &record.session), (&None, &None));
}

#[test]
fn each_request_has_one_record() {
    let seen = Seen::default();
    let server = server(&seen);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        assert_eq!(take(&seen), [], "the handshake is not of the service");
        for (tool, outcome) in [
            ("works", CallOutcome::Result),
            ("fails", CallOutcome::ToolError),
            ("refuses", CallOutcome::Error(-32602)),
            ("panics", CallOutcome::Error(-32603)),
        ] {
            wire.ask(
                "tools/call",
                &format!(r#"{{"name":"{tool}","arguments":{{}}}}"#),
            );
            check(&seen, revision, "tools/call", Some(tool), outcome, 0);
        }
        let id = wire.send("tools/call", r#"{"name":"slow"}"#);
        wire.settle();
        assert_eq!(take(&seen), []);
        wire.advance(Duration::from_millis(250));
        assert!(wire.answer(id).unwrap().contains("at last"));
        check(
            &seen,
            revision,
            "tools/call",
            Some("slow"),
            CallOutcome::Result,
            250,
        );

        wire.ask("prompts/get", r#"{"name":"greet"}"#);
        check(
            &seen,
            revision,
            "prompts/get",
            Some("greet"),
            CallOutcome::Result,
            0,
        );
        let closed = CallOutcome::Error(7);
        wire.ask("resources/templates/list", "{}");
        check(&seen, revision, "resources/templates/list", None, closed, 0);
        // A cursor is no subject.
        wire.ask("tools/list", r#"{"cursor":"secret"}"#);
        check(
            &seen,
            revision,
            "tools/list",
            None,
            CallOutcome::Error(-32602),
            0,
        );
        wire.ask("ping", "{}");
        wire.ask("no/such", "{}");
        assert_eq!(take(&seen), []);
    }
}

#[test]
fn subjects_are_harmless_and_keep_secrets() {
    let seen = Seen::default();
    let server = server(&seen);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let mut check = |uri: &str, subject: &str| {
            wire.ask("resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
            let records = take(&seen);
            assert_eq!(records[0].subject.as_deref(), Some(subject));
        };
        check("demo://a/b", "demo://a/b");
        check("demo://a/b?key=secret", "demo://a/b");
        check("demo://ada:secret@a/b", "demo");
        let long = "x".repeat(1_000);
        let unknown = format!(r#"{{"name":"\u001b[2J\n{long}","arguments":{{"key":"secret"}}}}"#);
        wire.ask("tools/call", &unknown);
        let records = take(&seen);
        let subject = records[0].subject.as_deref().unwrap();
        assert!(subject.starts_with("\\u{1b}[2J\\nx") && subject.ends_with('\u{2026}'));
        assert!(subject.chars().count() < 150 && !format!("{records:?}").contains("secret"));
    }
}

#[test]
fn calls_that_are_not_answered_have_records() {
    let seen = Seen::default();
    let server = server(&seen);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let id = wire.send("tools/call", r#"{"name":"never"}"#);
        wire.advance(Duration::from_secs(1));
        wire.cancel(id);
        wire.settle();
        check(
            &seen,
            revision,
            "tools/call",
            Some("never"),
            CallOutcome::Cancelled,
            1_000,
        );

        let id = wire.send("tools/call", r#"{"name":"never"}"#);
        wire.advance(Duration::from_secs(60));
        assert!(wire.answer(id).unwrap().contains("-32603"));
        let late = CallOutcome::Error(-32603);
        check(&seen, revision, "tools/call", Some("never"), late, 60_000);

        wire.send("tools/call", r#"{"name":"never"}"#);
        wire.settle();
        drop(wire);
        check(
            &seen,
            revision,
            "tools/call",
            Some("never"),
            CallOutcome::Cancelled,
            0,
        );
    }
}

#[test]
fn a_hook_that_panics_ends_nothing() {
    let audit = Audit::new(|_| panic!("of the hook"));
    let server = Server::builder("demo", "1")
        .tool("works", "", says("done"))
        .tool("panics", "", |(): (), _: Context| async {
            panic!("of the handler");
            #[expect(unreachable_code, reason = "it has a type")]
            Ok(())
        })
        .layer(around(|call, service| match call.method {
            Method::ToolsList => panic!("of a layer"),
            _ => service.call(call),
        }))
        .layer(audit);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        for _ in 0..2 {
            assert!(
                wire.ask("tools/call", r#"{"name":"works"}"#)
                    .contains("done")
            );
            assert!(
                wire.ask("tools/call", r#"{"name":"panics"}"#)
                    .contains("-32603")
            );
            assert!(wire.ask("tools/list", "{}").contains("-32603"));
        }
    }
}

#[test]
fn a_session_has_a_name_that_is_not_its_id() {
    use mcp_async::server::Principal;

    use crate::scripted::{HttpClient, call, modern, send};

    let seen = Seen::default();
    let service = server(&seen).http().served();
    let sessions = ["ada", "ada", "bob"].map(|name| {
        let principal = Some(Principal::new(name));
        HttpClient::open_as(&service, "2025-11-25", principal)
    });
    for session in &sessions {
        session.post(&call(1, "works"));
        session.post(&call(2, "works"));
    }
    let records = take(&seen);
    let names: Vec<_> = records
        .iter()
        .map(|it| it.session.clone().unwrap())
        .collect();
    assert!(names.iter().all(|name| name.len() == 16));
    assert!(names[0] == names[1] && names[2] == names[3] && names[4] == names[5]);
    assert!(names[0] != names[2] && names[2] != names[4]);
    let known = records.iter().map(|it| it.principal.as_deref().unwrap());
    assert_eq!(Vec::from_iter(known).join(" "), "ada ada ada ada bob bob");
    for session in &sessions {
        assert!(!session.id.contains(&*names[0]) && !names.contains(&session.id));
    }
    assert_eq!(send(&service, modern(&plain_call(1, "works"))).status, 200);
    let record = &take(&seen)[0];
    assert_eq!((&record.principal, &record.session), (&None, &None));
}
