//! Questions about opaque tokens: whose come first, and how long answers count.

use core::net::SocketAddr;
use core::time::Duration;

use http::Request;
use mcp_async::auth::{Protection, Scopes, Secret, TokenClaims, UnixTime};
use mcp_async::http::HttpService;
use mcp_async::net::RemoteAddr;

use crate::protection::support::{ISSUER, RESOURCE, now, protected, who};
use crate::scripted::{RequestExt, Waiting, modern, send, wait};
use crate::seen::Seen;
use crate::sim::{advance, sleep};

/// An application that knows the tokens that begin with `good`, needs a second for each answer, and notes what it
/// was asked.
#[derive(Clone, Default)]
struct Application(Seen);

impl Application {
    fn asked(&self) -> Vec<String> {
        self.0.take()
    }

    fn service(&self, set: impl FnOnce(Protection) -> Protection) -> HttpService {
        let asked = self.0.clone();
        let protection = Protection::new(RESOURCE).verifier(ISSUER, move |token: Secret| {
            asked.note(token.expose());
            async move {
                sleep(Duration::from_secs(1)).await;
                let claims = TokenClaims::new(ISSUER, RESOURCE)
                    .with_subject(match token.expose() {
                        "good-bob" => "bob",
                        _ => "ada",
                    })
                    .with_scopes(Scopes::parse("mcp"));
                let claims = match token.expose() {
                    "good-far" => claims.with_expiry(UnixTime::from_secs(now() + 400 * 86_400)),
                    "good-year" => claims.with_expiry(UnixTime::from_secs(now() + 365 * 86_400)),
                    _ => claims,
                };
                Ok::<_, String>(token.expose().starts_with("good").then_some(claims))
            }
        });
        protected(set(protection))
    }
}

fn from(address: [u8; 4], mut request: Request<String>) -> Request<String> {
    let address = SocketAddr::from((address, 40_000));
    request.extensions_mut().insert(RemoteAddr(address));
    request
}

fn begin(service: &HttpService, token: &str, address: [u8; 4]) -> Waiting {
    wait(service, from(address, who(token)))
}

/// The status of a request whose answer takes a question.
fn ask(service: &HttpService, token: &str) -> u16 {
    let mut waiting = begin(service, token, ALICE);
    advance(Duration::from_secs(1));
    waiting.reply().unwrap().status.as_u16()
}

const ALICE: [u8; 4] = [192, 0, 2, 1];
const BOB: [u8; 4] = [192, 0, 2, 2];

#[test]
fn answers_of_an_application_can_be_kept() {
    let application = Application::default();
    let service = application.service(|it| it.settings(|it| it.introspection_cache(30)));
    assert_eq!(ask(&service, "good"), 200);
    for _ in 0..3 {
        assert_eq!(send(&service, from(ALICE, who("good"))).status, 200);
    }
    assert_eq!(application.asked(), ["good"]);
    // If that is asked for.
    let service = application.service(|it| it);
    assert_eq!([ask(&service, "good"), ask(&service, "good")], [200, 200]);
    assert_eq!(application.asked(), ["good", "good"]);
}

#[test]
fn invented_tokens_are_remembered() {
    let application = Application::default();
    let service = application.service(|it| it);
    assert_eq!(ask(&service, "bad"), 401);
    assert_eq!(send(&service, from(BOB, who("bad"))).status, 401);
    assert_eq!(application.asked(), ["bad"]);
}

/// Whoever has a token that was valid does not wait for those who invent some.
#[test]
fn tokens_that_were_valid_go_first() {
    let application = Application::default();
    let service = application.service(|it| {
        let it = it.max_questions(2).timeout(Duration::from_secs(60));
        it.settings(|it| it.introspection_cache(0))
    });
    assert_eq!(ask(&service, "good"), 200);
    let mut invented: Vec<_> = (0..4)
        .map(|number| begin(&service, &format!("bad{number}"), BOB))
        .collect();
    assert_eq!(application.asked(), ["good", "bad0", "bad1"]);
    let mut known = begin(&service, "good", ALICE);
    assert_eq!(application.asked(), ["good"]);
    advance(Duration::from_secs(1));
    assert_eq!(known.reply().unwrap().status, 200);
    assert_eq!(invented[1].reply().unwrap().status, 401);
    assert!(invented[2].reply().is_none());
}

/// A user with many requests lets the questions of others pass in turn, also behind one proxy.
#[test]
fn users_take_turns() {
    let application = Application::default();
    let service = application.service(|it| {
        let it = it.max_questions(2).timeout(Duration::from_secs(60));
        it.settings(|it| it.introspection_cache(0))
    });
    assert_eq!([ask(&service, "good"), ask(&service, "good2")], [200, 200]);
    assert_eq!(ask(&service, "good-bob"), 200);
    let mut many: Vec<_> = (0..20)
        .map(|number| begin(&service, ["good", "good2"][number % 2], ALICE))
        .collect();
    let mut one = begin(&service, "good-bob", ALICE);
    application.asked();
    advance(Duration::from_secs(1));
    many.retain_mut(|waiting| waiting.reply().is_none());
    assert_eq!((many.len(), one.reply().is_some()), (18, false));
    many.retain_mut(|waiting| waiting.reply().is_none());
    assert!(application.asked().contains(&"good-bob".to_owned()));
    advance(Duration::from_secs(1));
    assert_eq!(one.reply().unwrap().status, 200);
    for _ in 0..10 {
        many.retain_mut(|waiting| waiting.reply().is_none());
        many.retain_mut(|waiting| waiting.reply().is_none());
        advance(Duration::from_secs(1));
    }
    many.retain_mut(|waiting| waiting.reply().is_none());
    assert!(many.is_empty());
}

#[test]
fn one_address_has_a_share_of_the_questions() {
    let application = Application::default();
    let service = application.service(|it| it.max_questions(2).timeout(Duration::from_secs(60)));
    // Four times as many may wait as are under way, and one address has half of them.
    let mut invented: Vec<_> = (0..4)
        .map(|number| begin(&service, &format!("bad{number}"), BOB))
        .collect();
    let refused = send(&service, from(BOB, who("bad4")));
    refused.has_head(503, [("retry-after", "5")]);
    let mut new = begin(&service, "good", ALICE);
    for left in [4, 2, 0] {
        assert!(new.reply().is_none());
        invented.retain_mut(|waiting| waiting.reply().is_none());
        assert_eq!(invented.len(), left);
        // Those that have a permission now ask.
        invented.retain_mut(|waiting| waiting.reply().is_none());
        if left > 0 {
            advance(Duration::from_secs(1));
        }
    }
    assert!(new.reply().is_none());
    advance(Duration::from_secs(1));
    assert_eq!(new.reply().unwrap().status, 200);
    assert_eq!(ask(&service, "good2"), 200);
}

/// AU-17: without an expiry of its own the token counts as long as the answer about it.
#[test]
fn streams_of_tokens_without_expiry_end_with_the_answer() {
    for (cache, lasts) in [(30, 30), (120, 120), (0, 30)] {
        let application = Application::default();
        let service =
            application.service(|it| it.settings(move |it| it.introspection_cache(cache)));
        let body = r#"9 subscriptions/listen {"notifications":{}}"#;
        let mut opened = wait(&service, from(ALICE, modern(body).signed("good")));
        advance(Duration::from_secs(1));
        let mut stream = opened.reply().unwrap();
        assert_eq!(stream.status, 200);
        stream.text();
        advance(Duration::from_secs(lasts - 3));
        assert!(!stream.has_ended(), "{cache}");
        advance(Duration::from_secs(4));
        assert!(stream.has_ended(), "{cache}");
    }
}

#[test]
fn a_token_is_valid_for_a_year_at_most() {
    let application = Application::default();
    let service = application.service(|it| it);
    assert_eq!(ask(&service, "good-year"), 200);
    assert_eq!(ask(&service, "good-far"), 401);
}
