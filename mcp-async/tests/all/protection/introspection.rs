//! Tokens that the authorization server is asked about.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::auth::{Introspect, Protection, Secret, StaticKeys};
use mcp_async::http::HttpService;

use crate::protection::signer::{Claims, Signer};
use crate::protection::support::{ISSUER, RESOURCE, now, protected, status, who};
use crate::scripted::{Waiting, wait};
use crate::sim::{advance, sleep};

/// An authorization server that gives one answer, and what it was asked.
#[derive(Clone)]
struct Endpoint {
    answer: Arc<Mutex<Result<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    fn new(answer: Result<String, &str>) -> Self {
        Self {
            answer: Arc::new(Mutex::new(answer.map_err(str::to_owned))),
            asked: Arc::default(),
        }
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn introspect(&self, time: Duration) -> impl Introspect + use<> {
        let endpoint = self.clone();
        move |token: Secret| {
            endpoint.asked.lock().unwrap().push(token.expose().into());
            let answer = endpoint.answer.lock().unwrap().clone();
            async move {
                if !time.is_zero() {
                    sleep(time).await;
                }
                answer.map(String::into_bytes)
            }
        }
    }

    fn service(&self) -> HttpService {
        protected(protection(self.introspect(Duration::ZERO)))
    }
}

fn protection(endpoint: impl Introspect) -> Protection {
    Protection::new(RESOURCE)
        .introspection(ISSUER, endpoint)
        .scopes(["mcp"])
}

fn active(more: &str) -> String {
    format!(
        r#"{{"active":true,"sub":"ada","client_id":"c1","scope":"mcp","aud":"{RESOURCE}"{more}}}"#
    )
}

/// AU-06, AU-18.
#[test]
fn answers_are_judged_like_tokens() {
    for (answer, expected) in [
        (Ok(active("")), 200),
        (
            Ok(active(&format!(
                r#","exp":{},"iss":"{ISSUER}""#,
                now() + 60
            ))),
            200,
        ),
        (Ok(r#"{"active":false}"#.into()), 401),
        (Ok(active(r#","exp":1"#)), 401),
        (Ok(active(r#","iss":"https://other.example""#)), 401),
        (
            Ok(active("").replace(RESOURCE, "https://other.example")),
            401,
        ),
        (
            Ok(r#"{"active":true,"sub":"ada","scope":"mcp"}"#.into()),
            401,
        ),
        (Ok(active("").replace(r#""mcp""#, r#""other""#)), 403),
        (Ok(r#"{"active":"yes"}"#.into()), 503),
        (Ok("{}".into()), 503),
        (Ok("<html>".into()), 503),
        (Ok(String::new()), 503),
        (Err("refused"), 503),
    ] {
        let shown = format!("{answer:?}");
        assert_eq!(
            status(&Endpoint::new(answer).service(), "t0ken"),
            expected,
            "{shown}"
        );
    }
}

/// AU-18: an answer is kept for the next requests with the token, and for no other token.
#[test]
fn answers_are_kept() {
    let endpoint = Endpoint::new(Ok(active("")));
    let service = endpoint.service();
    for _ in 0..3 {
        assert_eq!(status(&service, "one"), 200);
    }
    assert_eq!(status(&service, "two"), 200);
    assert_eq!(*endpoint.asked.lock().unwrap(), ["one", "two"]);
}

/// A storm of invented tokens is bounded, and a slow authorization server is given up.
#[test]
fn questions_are_bounded_in_number_and_time() {
    let endpoint = Endpoint::new(Ok(active("")));
    let protection = protection(endpoint.introspect(Duration::from_secs(2)))
        .max_questions(2)
        .timeout(Duration::from_secs(3));
    let service = protected(protection);
    let mut waiting: Vec<_> = (0..5)
        .map(|number| wait(&service, who(&format!("t{number}"))))
        .collect();
    assert_eq!(endpoint.asked(), 2);
    // A client that goes away leaves its place.
    waiting.remove(0);
    for waiting in &mut waiting {
        assert!(waiting.reply().is_none());
    }
    assert_eq!(endpoint.asked(), 3);
    advance(Duration::from_secs(2));
    let statuses = |waiting: &mut Vec<Waiting>| {
        let statuses = waiting
            .iter_mut()
            .map(|waiting| waiting.reply().map(|reply| reply.status.as_u16()));
        Vec::from_iter(statuses)
    };
    let first = statuses(&mut waiting);
    assert_eq!(first, [Some(200), Some(200), None, None]);
    assert_eq!(endpoint.asked(), 5);
    let mut late = waiting.split_off(2);
    advance(Duration::from_secs(1));
    assert_eq!(statuses(&mut late), [Some(503), Some(503)]);
}

/// Tokens that are JSON Web Tokens are verified by keys, others by questions.
#[test]
fn keys_and_introspection_work_side_by_side() {
    let issuer = Signer::ed25519(1);
    let endpoint = Endpoint::new(Ok(active("")));
    let protection = protection(endpoint.introspect(Duration::ZERO)).issuer_with_keys(
        "https://keys.example",
        StaticKeys::new(issuer.key_set("k1")),
    );
    let service = protected(protection);
    let claims = Claims::default().with("iss", r#""https://keys.example""#);
    assert_eq!(status(&service, &issuer.token("k1", &claims)), 200);
    assert_eq!(endpoint.asked(), 0);
    assert_eq!(status(&service, "opaque"), 200);
    assert_eq!(endpoint.asked(), 1);
}
