//! Layers of `tower` around handlers.

use core::future::Future;
use core::task::{Context as Cx, Poll};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::server::Context;
use mcp_async::server::layers::{self, DecodedCall, Handlers, ServerLayer};
use mcp_async::{Answered, CallOutcome, ErrorReply, Server};
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::util::{AndThenLayer, MapErrLayer, MapRequestLayer};
use tower::{Service, service_fn};
use tower_layer::layer_fn;

use crate::scripted::{LineClient, member};
use crate::server_typed::support::revisions;
use crate::sim::sleep;
use crate::texts::has;

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
fn call(wire: &mut LineClient) -> u64 {
    wire.send("tools/call", r#"{"name":"slow","arguments":{}}"#)
}

#[test]
fn calls_beyond_a_limit_of_tower_wait_for_their_turn_on_all_connections() {
    for revision in revisions() {
        let server = server(layers::tower(ConcurrencyLimitLayer::new(1)));
        let (mut one, mut two) = (
            LineClient::new(&server, revision),
            LineClient::new(&server, revision),
        );
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
            let mut wire = LineClient::new(&server, revision);
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
        let note = MapRequestLayer::new(move |call: DecodedCall| {
            let tool = call.tool_name().map(str::to_owned);
            let entry = (call.method().to_owned(), tool, call.context().revision());
            noted.lock().unwrap().push(entry);
            call
        });
        let server = server(layers::tower((note, ConcurrencyLimitLayer::new(1))));
        let mut wire = LineClient::new(&server, revision);
        let (first, second) = (call(&mut wire), call(&mut wire));
        assert!(wire.answer(second).is_none());
        wire.cancel(first);
        wire.advance(SECOND);
        assert!(wire.answer(second).unwrap().contains("done"), "{revision}");
        let entry = ("tools/call".to_owned(), Some("slow".to_owned()), revision);
        assert_eq!(*seen.lock().unwrap(), [entry.clone(), entry]);
    }
}

/// A service of `tower` that is made for tests of its readiness.
#[derive(Clone)]
struct Readiness(fn() -> Poll<Result<(), ErrorReply>>, Handlers);

impl Service<DecodedCall> for Readiness {
    type Response = <Handlers as Service<DecodedCall>>::Response;
    type Error = ErrorReply;
    type Future =
        core::pin::Pin<Box<dyn Future<Output = Result<Self::Response, ErrorReply>> + Send>>;

    fn poll_ready(&mut self, _: &mut Cx<'_>) -> Poll<Result<(), ErrorReply>> {
        (self.0)()
    }

    fn call(&mut self, call: DecodedCall) -> Self::Future {
        let called = self.1.call(call);
        Box::pin(async { Ok(called.await.unwrap_or_else(|error| match error {})) })
    }
}

#[test]
fn a_layer_of_tower_that_panics_fails_its_call_alone_and_one_that_is_never_ready_is_dropped() {
    for revision in revisions() {
        let server_of = |ready| {
            let layer = layer_fn(move |inner| Readiness(ready, inner));
            server(layers::tower(layer))
        };
        let mut wire = LineClient::new(&server_of(|| panic!("in poll_ready")), revision);
        for _ in 0..2 {
            let failed = wire.ask("tools/call", r#"{"name":"slow","arguments":{}}"#);
            assert_eq!(member(&failed, &["error", "code"]), "-32603");
        }
        assert!(wire.result("tools/list", "{}").contains("slow"));

        let mut wire = LineClient::new(&server_of(|| Poll::Pending), revision);
        let waits = call(&mut wire);
        wire.cancel(waits);
        wire.advance(SECOND);
        assert!(wire.answer(waits).is_none(), "{revision}");
        assert!(wire.result("tools/list", "{}").contains("slow"));
    }
}

#[test]
fn an_error_after_the_answer_of_a_handler_changes_nothing_and_one_in_its_place_is_the_answer() {
    for revision in revisions() {
        let late = AndThenLayer::new(|answered: Answered| async move {
            assert_eq!(answered.outcome(), CallOutcome::Result);
            Err::<Answered, _>(ErrorReply::new(7, "late"))
        });
        let lift =
            MapErrLayer::new(|error: core::convert::Infallible| -> ErrorReply { match error {} });
        let mut wire = LineClient::new(&server(layers::tower((late, lift))), revision);
        for _ in 0..2 {
            let first = call(&mut wire);
            wire.advance(SECOND);
            has(&wire.answer(first).unwrap(), ["done"]);
        }

        let instead = layer_fn(|_: Handlers| {
            service_fn(|call: DecodedCall| async move {
                drop(call);
                Err::<Answered, _>(ErrorReply::new(7, "instead"))
            })
        });
        let mut wire = LineClient::new(&server(layers::tower(instead)), revision);
        for _ in 0..2 {
            let refused = wire.ask("tools/call", r#"{"name":"slow","arguments":{}}"#);
            assert_eq!(member(&refused, &["error", "code"]), "7", "{refused}");
        }
    }
}

/// The proof of an answer counts for its own call.
#[test]
fn a_layer_of_tower_that_swaps_the_answers_of_two_calls_leaves_none_without_an_answer() {
    for revision in revisions() {
        let held = Arc::new(Mutex::new(None));
        let swap = AndThenLayer::new(move |answered: Answered| {
            let earlier = held.lock().unwrap().replace(answered);
            async move {
                match earlier {
                    Some(earlier) => Ok::<_, core::convert::Infallible>(earlier),
                    None => core::future::pending().await,
                }
            }
        });
        let mut wire = LineClient::new(&server(layers::tower(swap)), revision);
        let (first, second) = (call(&mut wire), call(&mut wire));
        wire.advance(SECOND);
        for id in [first, second] {
            has(&wire.answer(id).unwrap(), ["done"]);
        }
    }
}
