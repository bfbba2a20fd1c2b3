//! Verified callers, who share a server in front over HTTP.

use core::convert::Infallible;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_async::client::{CallError, InputAnswers, RoundResult};
use mcp_async::http::{HttpBody, HttpConnector, HttpService};
use mcp_async::model::ElicitResult;
use mcp_async::server::{Context, Principal, ServerBuilder, Tool};
use mcp_async::tasks::client::{TaskOptions, ToolOutcome};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::{Client, Revision, RevisionSet, Server};
use mcp_compose::{Naming, Proxy};
use tower_service::Service;

use super::entry;
use crate::support::{only, pause, run, runtime};

/// The service, for requests of one principal.
#[derive(Clone)]
struct As(&'static str, HttpService);

impl Service<Request<Full<Bytes>>> for As {
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = <HttpService as Service<Request<Full<Bytes>>>>::Future;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Full<Bytes>>) -> Self::Future {
        request.extensions_mut().insert(Principal::new(self.0));
        self.1.call(request)
    }
}

async fn service(server: ServerBuilder) -> (Proxy, HttpService) {
    let proxy = Proxy::builder().entry(entry("back", &server));
    let proxy = proxy.naming(Naming::bare()).start(runtime()).await;
    let front = Server::builder("front", "1.0").tasks(Tasks::new());
    let front = proxy.server(front).expect("it is well formed");
    let service = front.http().into_service(runtime());
    (proxy, service.expect("it is well formed"))
}

/// A client of this principal that can be asked.
async fn join(service: &HttpService, name: &'static str, revision: Revision) -> Client {
    let client = only(revision).tasks(TaskOptions::default());
    let client = client.on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
    let connector = HttpConnector::new(runtime(), "http://localhost/mcp");
    let connector = connector.through(As(name, service.clone()));
    client.connect(connector).await.expect("it connects")
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn server(revision: Revision) -> ServerBuilder {
    #[derive(Default)]
    struct Calls(AtomicUsize);

    let slow = Tool::new("slow").task(TaskPolicy::Optional);
    Server::builder("back", "1.0")
        .revisions(RevisionSet::of(&[revision]))
        .tasks(Tasks::new())
        .tool("count", "Counts", |(): (), cx: Context| async move {
            let calls = cx.session_state::<Calls>().expect("a session");
            Ok((calls.0.fetch_add(1, Ordering::SeqCst) + 1).to_string())
        })
        .tool("ask", "Asks", |(): (), cx: Context| async move {
            cx.elicit::<Name>("name", "Your name?").await?;
            Ok("asked")
        })
        .with(slow.handler(|(): (), _: Context| async {
            pause(3).await;
            Ok("at last")
        }))
}

#[test]
fn sessions_with_a_legacy_server_are_those_of_one_principal() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let (proxy, service) = service(server(Revision::V2025_11_25)).await;
            let count = async |name: &'static str| {
                let client = join(&service, name, revision).await;
                let counted = client.call_tool("count", &()).await;
                let text = counted.expect("a result").text();
                (client, text)
            };
            let (_ada, first) = count("ada").await;
            let (_bob, second) = count("bob").await;
            assert_eq!((&*first, &*second), ("1", "1"), "{revision}");
            assert_eq!(proxy.in_use().0, 3, "{revision}");
            // A caller of 2026-07-28 has no session, and is known by its name.
            let (_again, third) = count("ada").await;
            let expected = ["1", "2"][usize::from(revision.is_modern())];
            assert_eq!(third, expected, "{revision}");
        });
    }
}

#[test]
fn a_call_that_waits_is_continued_by_its_principal_alone() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let (proxy, service) = service(server(upstream)).await;
            let ada = join(&service, "ada", Revision::V2026_07_28).await;
            let bob = join(&service, "bob", Revision::V2026_07_28).await;
            let asked = ada.call_tool("ask", &()).one_round(InputAnswers::default());
            let RoundResult::Input(questions) = asked.await.expect("a question") else {
                panic!("it asks");
            };
            let waiting = proxy.in_use().1;
            let answers = InputAnswers {
                responses: Some(
                    ada.answer_inputs(questions.requests)
                        .await
                        .expect("answers"),
                ),
                state: questions.state,
            };
            let stolen = bob.call_tool("ask", &()).one_round(answers.clone()).await;
            let error = stolen.expect_err("it is not bob's");
            assert!(
                matches!(&error, CallError::Server(error) if error.code == -32602),
                "{upstream} {error}"
            );
            assert_eq!(proxy.in_use().1, waiting, "{upstream}");
            let result = ada.call_tool("ask", &()).one_round(answers).await;
            assert!(
                matches!(result, Ok(RoundResult::Result(_))),
                "{upstream} {result:?}"
            );
        });
    }
}

#[test]
fn tasks_belong_to_their_principal() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let (_proxy, service) = service(server(upstream)).await;
            let ada = join(&service, "ada", Revision::V2026_07_28).await;
            let bob = join(&service, "bob", Revision::V2026_07_28).await;
            let outcome = ada.call_tool_task("slow", &()).await.expect("an outcome");
            let ToolOutcome::Task(task) = outcome else {
                // A legacy server without tasks answers.
                assert!(upstream.is_legacy());
                return;
            };
            let stolen = bob.resume_task(task.id()).result().await;
            assert!(stolen.is_err(), "{upstream} {stolen:?}");
            let cancelled = bob.resume_task(task.id()).cancel().await;
            assert!(cancelled.is_err(), "{upstream} {cancelled:?}");
            let result = task.result().await.expect("a result");
            assert_eq!(result.text(), "at last", "{upstream}");
        });
    }
}
