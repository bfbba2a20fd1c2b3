//! Settings of the core that the builders pass on.

use mcp_async::model::LoggingLevel;
use mcp_async::server::Context;
use mcp_async::{Client, Revision, Server};

use crate::scripted::{LineClient, member};
use crate::server_typed::support::revisions;

/// VR-08.
#[test]
fn a_server_names_itself_in_results_of_2026_07_28_unless_it_is_told_not_to() {
    for identify in [true, false] {
        let server = Server::builder("demo", "1").identify(identify);
        for revision in revisions() {
            let mut wire = LineClient::new(&server, revision);
            let method = if revision.is_modern() {
                "server/discover"
            } else {
                "ping"
            };
            let named = wire
                .ask(method, "{}")
                .contains("io.modelcontextprotocol/serverInfo");
            assert_eq!(named, identify && revision.is_modern(), "{revision}");
        }
    }
}

/// LG-03.
#[test]
fn the_first_log_level_counts_until_a_legacy_client_chooses_another() {
    let server = Server::builder("demo", "1")
        .logging()
        .first_log_level(LoggingLevel::Error)
        .tool("talk", "Logs", |(): (), cx: Context| async move {
            cx.log(LoggingLevel::Warning, "beware").await;
            Ok(())
        });
    for revision in revisions().filter(|revision| revision.is_legacy()) {
        let mut wire = LineClient::new(&server, revision);
        let is_logged = |wire: &mut LineClient| {
            wire.ask("tools/call", r#"{"name":"talk"}"#);
            wire.hear().iter().any(|line| line.contains("beware"))
        };
        assert!(!is_logged(&mut wire), "{revision}");
        wire.ask("logging/setLevel", r#"{"level":"info"}"#);
        assert!(is_logged(&mut wire), "{revision}");
    }
}

#[test]
fn the_cancellation_of_other_protocols_is_heard_unless_it_is_switched_off() {
    for accept in [true, false] {
        let server = Server::builder("demo", "1").cancel_alias(accept).tool(
            "wait",
            "Waits for ever",
            |(): (), _: Context| core::future::pending::<Result<(), _>>(),
        );
        for revision in revisions().filter(|revision| revision.is_legacy()) {
            let mut wire = LineClient::new(&server, revision);
            let call = wire.send("tools/call", r#"{"name":"wait"}"#);
            wire.notify("$/cancelRequest", &format!(r#"{{"id":{call}}}"#));
            let answer = wire.answer(call);
            let is_cancelled = answer.is_some_and(|answer| answer.contains("-32800"));
            assert_eq!(is_cancelled, accept, "{revision}");
        }
    }
}

/// JR-51.
#[test]
fn errors_of_2024_11_05_about_unreadable_messages_have_a_null_id_if_the_server_is_told_so() {
    for null_ids in [true, false] {
        let server = Server::builder("demo", "1");
        let server = if null_ids { server.null_ids() } else { server };
        let mut wire = LineClient::new(&server, Revision::V2024_11_05);
        wire.line("{");
        let heard = wire.hear();
        let [error] = &heard[..] else {
            panic!("{heard:?}");
        };
        assert_eq!(member(error, &["error", "code"]), "-32700");
        let id = if null_ids { "null" } else { "" };
        assert_eq!(member(error, &["id"]), id);
    }
}

#[test]
fn the_switches_of_a_client_are_in_its_configuration() {
    let plain = format!("{:?}", Client::builder("demo", "1"));
    let builder = Client::builder("demo", "1")
        .identify(false)
        .progress_restarts_timeout(false)
        .cancel_alias(false);
    let switched = format!("{builder:?}");
    for switch in ["identify", "progress_extends", "cancel_alias"] {
        assert!(plain.contains(&format!("{switch}: true")), "{plain}");
        assert!(switched.contains(&format!("{switch}: false")), "{switched}");
    }
}
