//! Layers of `tower` around handlers.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::server::Context;
use mcp_async::server::layers::{self, ServerLayer, StartedCall};
use mcp_async::{ErrorReply, Server};
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::util::{MapErrLayer, MapRequestLayer};

use crate::server_typed::support::{Wire, member, revisions};
use crate::sim::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// A server whose tool `slow` takes a second.
fn server(layer: impl ServerLayer) -> Server {
    let server = Server::builder("demo", "1")
        .tool("slow", "Takes a second", |(): (), _: Context| async {
            sleep(SECOND).await;
            Ok("done")
        })
        .layer(layer);
    server.build().unwrap()
}

/// A call of the tool `slow`.
fn call(wire: &mut Wire) -> u64 {
    wire.send("tools/call", r#"{"name":"slow","arguments":{}}"#)
}

#[test]
fn calls_beyond_a_limit_of_tower_wait_for_their_turn_on_all_connections() {
    for revision in revisions() {
        let server = server(layers::tower(ConcurrencyLimitLayer::new(1)));
        let (mut one, mut two) = (Wire::new(&server, revision), Wire::new(&server, revision));
        let (first, second) = (call(&mut one), call(&mut two));
        assert!(one.answer(first).is_none() && two.answer(second).is_none());
        // A list does not wait.
        assert!(one.result("tools/list", "{}").contains("slow"));
        one.advance(SECOND);
        assert!(one.answer(first).unwrap().contains("done"), "{revision}");
        assert!(two.answer(second).is_none());
        two.advance(SECOND);
        assert!(two.answer(second).unwrap().contains("done"), "{revision}");
    }
}

#[test]
fn an_error_of_a_layer_of_tower_answers_the_call() {
    for revision in revisions() {
        let limit = (LoadShedLayer::new(), ConcurrencyLimitLayer::new(1));
        let busy = MapErrLayer::new(|_| ErrorReply::new(7, "busy"));
        let hidden = server(layers::tower(limit.clone()));
        let shown = server(layers::tower((busy, limit)));
        for (server, code, message) in [(hidden, "-32603", "Internal error"), (shown, "7", "busy")]
        {
            let mut wire = Wire::new(&server, revision);
            let first = call(&mut wire);
            assert!(wire.answer(first).is_none());
            let refused = wire.ask("tools/call", r#"{"name":"slow","arguments":{}}"#);
            assert_eq!(member(&refused, &["error", "code"]), code);
            assert!(refused.contains(message), "{refused}");
            wire.advance(SECOND);
            assert!(wire.answer(first).unwrap().contains("done"), "{revision}");
        }
    }
}

#[test]
fn a_layer_of_tower_learns_what_is_called_and_cancelling_drops_it() {
    for revision in revisions() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let note = MapRequestLayer::new(move |call: StartedCall| {
            let tool = call.tool_name().map(str::to_owned);
            let entry = (call.method().to_owned(), tool, call.context().revision());
            noted.lock().unwrap().push(entry);
            call
        });
        let server = server(layers::tower((note, ConcurrencyLimitLayer::new(1))));
        let mut wire = Wire::new(&server, revision);
        let (first, second) = (call(&mut wire), call(&mut wire));
        assert!(wire.answer(second).is_none());
        let cancelled = format!(r#"{{"requestId":{first}}}"#);
        wire.notify("notifications/cancelled", &cancelled);
        wire.advance(SECOND);
        assert!(wire.answer(second).unwrap().contains("done"), "{revision}");
        let entry = ("tools/call".to_owned(), Some("slow".to_owned()), revision);
        assert_eq!(*seen.lock().unwrap(), [entry.clone(), entry]);
    }
}
