//! JSON Web Tokens, and the keys that verify them.

use core::cell::Cell;
use core::future::pending;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::auth::{Algorithm, Algorithms, KeyFetchPolicy, KeySource, Protection, StaticKeys};
use mcp_async::http::HttpService;

use crate::protection::signer::{Claims, Signer, encoded};
use crate::protection::support::{ISSUER, RESOURCE, now, protected, who};
use crate::scripted::{send, wait};
use crate::sim::{advance, sleep};

fn protection(keys: impl KeySource) -> Protection {
    Protection::new(RESOURCE).issuer_with_keys(ISSUER, keys)
}

/// The status of a request with this token, and the error of its challenge.
fn check(service: &HttpService, token: &str) -> (u16, String) {
    let reply = send(service, who(token));
    let challenge = reply.header("www-authenticate");
    let error = challenge
        .split_once("error=\"")
        .map_or("", |(_, rest)| rest);
    let error = error.split_once('"').map_or("", |(error, _)| error);
    (reply.status.as_u16(), error.to_owned())
}

/// AU-06, AU-18: what the token states, before and after its signature.
#[test]
fn audience_issuer_and_times_are_validated() {
    let issuer = Signer::rsa();
    let service = protected(protection(StaticKeys::new(issuer.key_set("k1"))));
    let now = now();
    let good = Claims::default();
    let checks = |claims: &Claims| check(&service, &issuer.token("k1", claims));
    assert_eq!(checks(&good), (200, String::new()));
    let several = format!(r#"["https://other.example","{RESOURCE}"]"#);
    assert_eq!(checks(&good.clone().with("aud", several)).0, 200);
    for (name, value) in [
        ("aud", r#""https://other.example/mcp""#),
        ("aud", r#""http://localhost:8000/mcp/""#),
        ("aud", r#""http://localhost:8000""#),
        ("aud", ""),
        ("aud", "[]"),
        ("aud", "1"),
        ("iss", r#""https://as.example""#),
        ("iss", ""),
        ("exp", &(now - 3600).to_string()),
        ("exp", ""),
        ("exp", r#""soon""#),
        ("exp", "1e400"),
        ("exp", "1e16"),
        ("exp", "18446744073709551615"),
        ("exp", "18446744073709551616"),
        ("exp", &(now + 367 * 86_400).to_string()),
        ("nbf", &(now + 3600).to_string()),
        ("iat", &(now + 3600).to_string()),
        ("cnf", r#"{"jkt":"a"}"#),
        ("cnf", r#"{"x5t#S256":"a"}"#),
    ] {
        let outcome = checks(&good.clone().with(name, value));
        assert_eq!(outcome, (401, "invalid_token".into()), "{name} {value}");
    }
    let nobody = good.clone().with("sub", "").with("client_id", "");
    assert_eq!(checks(&nobody).0, 401);
    // Of an unknown key, and signed by another one.
    assert_eq!(check(&service, &issuer.token("k2", &good)).0, 401);
    let other = Signer::ed25519(9);
    assert_eq!(check(&service, &other.token("k1", &good)).0, 401);
}

/// AU-18: each algorithm that ring has.
#[test]
fn signatures_are_verified() {
    for algorithm in [
        Algorithm::Rs256,
        Algorithm::Rs384,
        Algorithm::Rs512,
        Algorithm::Ps256,
        Algorithm::Ps384,
        Algorithm::Ps512,
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::EdDsa,
    ] {
        let issuer = match algorithm {
            Algorithm::Es256 => Signer::es256(),
            Algorithm::Es384 => Signer::es384(),
            Algorithm::EdDsa => Signer::ed25519(1),
            _ => Signer::rsa(),
        };
        let allowed = Algorithms::of(&[algorithm]);
        let protection = protection(StaticKeys::new(issuer.key_set("k1")));
        let service = protected(protection.settings(move |it| it.algorithms(allowed)));
        let header = format!(r#"{{"alg":"{algorithm}","typ":"at+jwt","kid":"k1"}}"#);
        let payload = token_payload(&issuer);
        let token = issuer.sign(&header, &payload);
        assert_eq!(check(&service, &token).0, 200, "{algorithm}");
        // Each change of the signed text or the signature makes the token worthless.
        let (text, signature) = token.rsplit_once('.').unwrap();
        let other = issuer.sign(&header, &payload.replace("ada", "eve"));
        let (other, _) = other.rsplit_once('.').unwrap();
        assert_eq!(
            check(&service, &format!("{other}.{signature}")).0,
            401,
            "{algorithm}"
        );
        for at in [0, signature.len() / 2] {
            let mut changed = signature.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(
                check(&service, &format!("{text}.{changed}")).0,
                401,
                "{algorithm}"
            );
        }
    }
}

/// The payload of a good token.
fn token_payload(issuer: &Signer) -> String {
    let token = issuer.token("k1", &Claims::default());
    let payload = token.split('.').nth(1).unwrap().to_owned();
    let decoded = decoded(&payload);
    String::from_utf8(decoded).unwrap()
}

fn decoded(text: &str) -> Vec<u8> {
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// AU-18: `none`, HMAC with the public key, algorithms of other keys, critical headers, other types.
#[test]
fn hostile_headers_are_refused() {
    let issuer = Signer::ed25519(1);
    let service = protected(protection(StaticKeys::new(issuer.key_set("k1"))));
    let payload = token_payload(&issuer);
    for header in [
        r#"{"alg":"none","typ":"at+jwt","kid":"k1"}"#,
        r#"{"alg":"None","typ":"at+jwt","kid":"k1"}"#,
        r#"{"alg":"HS256","typ":"at+jwt","kid":"k1"}"#,
        r#"{"alg":"ES256","typ":"at+jwt","kid":"k1"}"#,
        r#"{"alg":"ES512","typ":"at+jwt","kid":"k1"}"#,
        r#"{"alg":"EdDSA","typ":"at+jwt","kid":"k1","crit":["exp"]}"#,
        r#"{"alg":"EdDSA","typ":"JWT","kid":"k1"}"#,
        r#"{"alg":"EdDSA","typ":"dpop+jwt","kid":"k1"}"#,
        r#"{"alg":"EdDSA","kid":"k1"}"#,
        r#"{"alg":"EdDSA","alg":"EdDSA","typ":"at+jwt","kid":"k1"}"#,
        r#"{"typ":"at+jwt","kid":"k1"}"#,
        "[]",
        "",
    ] {
        let token = issuer.sign(header, &payload);
        assert_eq!(check(&service, &token).0, 401, "{header}");
        let (unsigned, _) = token.rsplit_once('.').unwrap();
        assert_eq!(check(&service, &format!("{unsigned}.")).0, 401, "{header}");
    }
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for payload in ["", "{", "null", "[]", r#"{"iss":1}"#, &deep] {
        let header = r#"{"alg":"EdDSA","typ":"at+jwt","kid":"k1"}"#;
        assert_eq!(
            check(&service, &issuer.sign(header, payload)).0,
            401,
            "{payload:.20}"
        );
    }
    for token in [
        "a",
        "a.b",
        "..",
        "a.b.c",
        "a.b.c.d.e",
        &format!("{}.e.e", encoded(&[255])),
    ] {
        assert_eq!(check(&service, token).0, 401, "{token}");
    }
}

/// Keys that a test changes, and how often they were fetched.
#[derive(Clone)]
struct Published(Arc<Mutex<(Result<String, String>, usize)>>);

impl Published {
    fn new(keys: Result<String, &str>) -> Self {
        Self(Arc::new(Mutex::new((keys.map_err(str::to_owned), 0))))
    }

    fn set(&self, keys: Result<String, &str>) {
        self.0.lock().unwrap().0 = keys.map_err(str::to_owned);
    }

    fn fetches(&self) -> usize {
        self.0.lock().unwrap().1
    }

    /// A source that takes its time.
    fn source(&self, time: Duration) -> impl KeySource + use<> {
        let published = self.clone();
        move || {
            let keys = {
                let mut published = published.0.lock().unwrap();
                published.1 += 1;
                published.0.clone().map(String::into_bytes)
            };
            async move {
                if !time.is_zero() {
                    sleep(time).await;
                }
                keys
            }
        }
    }
}

/// AU-18: keys are fetched when they are needed, once, and again for an unknown `kid`.
#[test]
fn keys_are_fetched_once_and_again_when_they_change() {
    let (old, new) = (Signer::ed25519(1), Signer::ed25519(2));
    let published = Published::new(Ok(old.key_set("k1")));
    let policy = KeyFetchPolicy {
        unknown_key_interval: 0,
        ..KeyFetchPolicy::default()
    };
    let protection = protection(published.source(Duration::ZERO));
    let service = protected(protection.settings(move |it| it.key_fetches(policy)));
    let good = Claims::default();
    assert_eq!(published.fetches(), 0);
    // Nothing is fetched for what cannot be good.
    for claims in [
        good.clone().with("iss", r#""https://x.example""#),
        good.clone().with("exp", "1"),
    ] {
        assert_eq!(check(&service, &old.token("k1", &claims)).0, 401);
    }
    assert_eq!(published.fetches(), 0);
    for _ in 0..3 {
        assert_eq!(check(&service, &old.token("k1", &good)).0, 200);
    }
    assert_eq!(published.fetches(), 1);
    published.set(Ok(new.key_set("k2")));
    assert_eq!(check(&service, &new.token("k2", &good)).0, 200);
    assert_eq!(published.fetches(), 2);
    assert_eq!(check(&service, &old.token("k1", &good)).0, 401);
}

/// AU-18: tokens with invented keys cause no storm of fetches.
#[test]
fn unknown_keys_are_fetched_at_a_bounded_rate() {
    let issuer = Signer::ed25519(1);
    let published = Published::new(Ok(issuer.key_set("k1")));
    let service = protected(protection(published.source(Duration::ZERO)));
    for id in 0..50 {
        let token = issuer.token(&format!("x{id}"), &Claims::default());
        assert_eq!(check(&service, &token).0, 401);
    }
    assert_eq!(published.fetches(), 1);
    assert_eq!(
        check(&service, &issuer.token("k1", &Claims::default())).0,
        200
    );
}

/// AU-18: what is not the fault of the token is 503.
#[test]
fn keys_that_cannot_be_fetched_are_503() {
    let issuer = Signer::ed25519(1);
    let token = issuer.token("k1", &Claims::default());
    for keys in [
        Err("no t0ken route"),
        Ok("<html>".into()),
        Ok("{}".into()),
        Ok("[]".into()),
    ] {
        let published = Published::new(keys);
        let service = protected(protection(published.source(Duration::ZERO)));
        for _ in 0..3 {
            assert_eq!(check(&service, &token), (503, String::new()));
        }
        assert_eq!(published.fetches(), 1);
    }
    let service = protected(protection(StaticKeys::new(r#"{"keys":[]}"#)));
    assert_eq!(check(&service, &token).0, 401);
}

#[test]
fn many_requests_wait_for_one_fetch() {
    let issuer = Signer::ed25519(1);
    let published = Published::new(Ok(issuer.key_set("k1")));
    let service = protected(protection(published.source(Duration::from_secs(1))));
    let token = issuer.token("k1", &Claims::default());
    let mut waiting: Vec<_> = (0..10).map(|_| wait(&service, who(&token))).collect();
    assert_eq!(published.fetches(), 1);
    // The client that caused the fetch goes away.
    waiting.remove(0);
    advance(Duration::from_secs(1));
    for mut waiting in waiting {
        assert_eq!(waiting.reply().expect("it has keys").status, 200);
    }
    assert_eq!(published.fetches(), 1);
}

#[test]
fn a_fetch_without_an_end_is_given_up() {
    let issuer = Signer::ed25519(1);
    let never = || async {
        pending::<()>().await;
        Ok::<_, String>(Vec::new())
    };
    let service = protected(protection(never).timeout(Duration::from_secs(3)));
    let token = issuer.token("k1", &Claims::default());
    let mut waiting = wait(&service, who(&token));
    advance(Duration::from_secs(3));
    assert_eq!(waiting.reply().expect("it is given up").status, 503);
}

#[test]
fn a_fetch_that_panics_is_a_failed_one() {
    let issuer = Signer::ed25519(1);
    let panics = || async {
        let cell = Cell::new(0);
        assert_eq!(cell.get(), 1, "a bug of the application");
        Ok::<_, String>(Vec::new())
    };
    let service = protected(protection(panics));
    let token = issuer.token("k1", &Claims::default());
    let send = core::panic::AssertUnwindSafe(|| send(&service, who(&token)).status);
    // The runtime of the tests does not catch panics of tasks; the next request is not stuck.
    let caught = std::panic::catch_unwind(send);
    assert!(caught.is_err());
    crate::sim::end();
    assert_eq!(check(&service, &token).0, 503);
}

/// Several authorization servers, each with keys of its own.
#[test]
fn a_key_verifies_tokens_of_its_issuer_only() {
    let (one, two) = (Signer::ed25519(1), Signer::ed25519(2));
    let protection = protection(StaticKeys::new(one.key_set("k1")))
        .issuer_with_keys("https://two.example", StaticKeys::new(two.key_set("k1")));
    let service = protected(protection);
    let of_two = Claims::default().with("iss", r#""https://two.example""#);
    assert_eq!(check(&service, &one.token("k1", &Claims::default())).0, 200);
    assert_eq!(check(&service, &two.token("k1", &of_two)).0, 200);
    assert_eq!(check(&service, &one.token("k1", &of_two)).0, 401);
    assert_eq!(check(&service, &two.token("k1", &Claims::default())).0, 401);
}
