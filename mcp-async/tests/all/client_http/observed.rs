//! The steps that an observer of exchanges sees.

use crate::scripted::http_server::{Asked, HttpServer, check};
use crate::sim::Sim;
use core::error::Error;
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use mcp_async::http::HttpConnector;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mcp_async::http::{HttpEvent, HttpStep};
use mcp_proto::Revision;
use tower_service::Service;

const MODERN: &[Revision] = &[Revision::V2026_07_28];

#[test]
fn exchanges_are_observed() {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&steps);
    let note = move |event: HttpEvent<'_>| {
        let step = match event.step {
            HttpStep::Request {
                method,
                url,
                headers,
                body,
            } => {
                assert!(headers["authorization"].is_sensitive());
                let method_of_rpc = &headers["mcp-method"];
                assert!(body.starts_with(b"{\"jsonrpc\""));
                format!("{method} {url} {method_of_rpc:?}")
            }
            HttpStep::Response { status, headers } => {
                format!("{status} {:?}", headers["content-type"])
            }
            HttpStep::Data(data) => String::from_utf8_lossy(data).into_owned(),
            step => format!("{step:?}"),
        };
        noted.lock().unwrap().push((event.exchange, step));
    };
    check(
        |site| async move {
            let builder = site.client(MODERN).bearer("t-1").on_http(note);
            let client = site.join(builder).await.unwrap();
            client.tools().page(None).await.unwrap();
        },
        |site| async move {
            site.expect("server/discover").await.discovered();
            site.expect("tools/list").await.result(TOOLS);
        },
    );
    let steps = steps.lock().unwrap();
    let second = steps.iter().filter(|(exchange, _)| *exchange == 2);
    let second: Vec<&str> = second.map(|(_, step)| &**step).collect();
    let [request, response, data, end] = second[..] else {
        panic!("{steps:?}");
    };
    assert!(request.starts_with("POST http"), "{request}");
    assert!(request.ends_with("\"tools/list\""), "{request}");
    assert!(response.starts_with("200 OK"), "{response}");
    assert!(data.contains(TOOLS), "{data}");
    assert_eq!(end, "End");
}

/// A page for people in the place of an answer is read for the observer.
#[test]
fn pages_are_observed() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    check(
        |site| async move {
            let builder = site.client(MODERN).on_http(move |event: HttpEvent<'_>| {
                if let HttpStep::Data(data) = event.step {
                    noted.lock().unwrap().extend_from_slice(data);
                }
            });
            site.join(builder).await.unwrap_err();
        },
        |site| async move {
            site.next().await.untyped("<h1>Welcome</h1>");
        },
    );
    assert_eq!(&*seen.lock().unwrap(), b"<h1>Welcome</h1>");
}

const TOOLS: &str = r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#;

/// The steps of each exchange, without its data.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<BTreeMap<u64, Vec<String>>>>);

impl Steps {
    fn note(&self, event: &HttpEvent<'_>) {
        let step = match event.step {
            HttpStep::Request { body, .. } => {
                let body = String::from_utf8_lossy(body).into_owned();
                let method = body.split_once("\"method\":\"").map(|(_, rest)| rest);
                method.map_or_else(String::new, |it| it.split('"').next().unwrap().to_owned())
            }
            HttpStep::Data(_) => return,
            step => format!("{step:?}"),
        };
        let mut exchanges = self.0.lock().unwrap();
        exchanges.entry(event.exchange).or_default().push(step);
    }

    /// Checks that each exchange has one last step, and that those of this method end so.
    #[track_caller]
    fn end(&self, method: &str, expected: &str) {
        let exchanges = self.0.lock().unwrap();
        for steps in exchanges.values() {
            let is_last = |step: &&String| *step == "End" || step.starts_with("Failed(");
            let last = steps.iter().filter(is_last).count();
            assert!(last == 1 && is_last(&steps.last().unwrap()), "{steps:?}");
        }
        let mut of_method = exchanges.values().filter(|steps| steps[0] == method);
        let steps = of_method.next().expect("the method is called");
        assert_eq!(steps[1..].join(" "), expected);
    }
}

/// Lists tools over a carrier, of a server that does `answer` if it is asked, and checks how the
/// exchange ends.
#[track_caller]
fn ends<C>(carrier: impl FnOnce(HttpServer) -> C, answer: Option<fn(Asked)>, expected: &str)
where
    C: Service<Request<Full<Bytes>>, Response = Response> + Clone + Send + 'static,
    C::Future: Send,
    C::Error: Into<Failed>,
{
    let steps = Steps::default();
    let noted = steps.clone();
    check(
        |site| async move {
            let client = site.client(MODERN).on_http(move |event| noted.note(&event));
            let url = "http://localhost/mcp";
            let client = client
                .connect(HttpConnector::new(Sim, url).through(carrier(site)))
                .await
                .unwrap();
            let call = client.tools().page(None).timeout(Duration::from_secs(2));
            let _ = call.await;
            let _ = client.close().await;
        },
        |site| async move {
            site.expect("server/discover").await.discovered();
            if let Some(answer) = answer {
                answer(site.expect("tools/list").await);
            }
        },
    );
    steps.end("tools/list", expected);
}

#[test]
fn every_exchange_has_one_last_step() {
    let check = |answer, expected: &str| ends(|site| site, Some(answer), expected);
    check(|asked| asked.result(TOOLS), "Response(200 OK) End");
    check(Asked::vanish, "Failed(\"cut\")");
    check(
        |asked| asked.stream().cut(),
        "Response(200 OK) Failed(\"the body of the response broke off\")",
    );
    // The client gives up: before the head, and in the body.
    check(drop, "Failed(\"dropped by the client\")");
    check(
        |asked| drop(asked.stream()),
        "Response(200 OK) Failed(\"dropped by the client\")",
    );
    // The client does not read this body, which is empty.
    check(
        |asked| asked.refuse_with(204, &[]),
        "Response(204 No Content) End",
    );
    let check = |fault, expected: &str| {
        let requests = Arc::default();
        let carrier = |site| Faulty {
            site,
            requests,
            fault,
        };
        ends(carrier, None, expected);
    };
    check(
        || Poll::Ready(Err("not ready".into())),
        "Failed(\"not ready\")",
    );
    check(
        || panic!("a fault of the carrier"),
        "Failed(\"dropped by the client\")",
    );
}

type Response = <HttpServer as Service<Request<Full<Bytes>>>>::Response;
type Failed = Box<dyn Error + Send + Sync>;

/// A site on a carrier with a fault at the second request.
#[derive(Clone)]
struct Faulty {
    site: HttpServer,
    requests: Arc<AtomicU32>,
    fault: fn() -> Poll<Result<(), Failed>>,
}

impl Service<Request<Full<Bytes>>> for Faulty {
    type Response = Response;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Failed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        match self.requests.fetch_add(1, Ordering::Relaxed) {
            1 => (self.fault)(),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let response = self.site.call(request);
        Box::pin(async move { Ok(response.await?) })
    }
}
