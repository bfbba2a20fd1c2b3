//! Keys and answers that are fetched over HTTP.

use mcp_async::auth::{Protection, RemoteIntrospection};

use crate::authorization::guard::{dialled, json_page, names, page, pages};
use crate::protection::signer::{Claims, Signer};
use crate::protection::support::{RESOURCE, protected, status};

const LOCAL: &str = "http://localhost:9";

fn token(issuer: &Signer) -> String {
    let claims = Claims::default().with("iss", format!(r#""{LOCAL}""#));
    issuer.token("k1", &claims)
}

/// AU-18, AU-25, AU-26.
#[test]
fn keys_are_found_through_the_metadata_of_the_issuer() {
    names(&[("localhost", &["127.0.0.1"])]);
    let issuer = Signer::es256();
    let metadata = |issuer: &str| {
        json_page(&format!(
            r#"{{"issuer":"{issuer}","jwks_uri":"{LOCAL}/keys"}}"#
        ))
    };
    for (metadata, expected) in [
        (metadata(LOCAL), 200),
        (metadata("http://localhost:9/"), 503),
        (metadata("https://other.example"), 503),
        (page("200 OK", "", "<html>"), 503),
    ] {
        // The first of the places has nothing.
        pages([
            ("/.well-known/openid-configuration", metadata),
            ("/keys", json_page(&issuer.key_set("k1"))),
        ]);
        let service = protected(Protection::new(RESOURCE).issuer(LOCAL));
        assert_eq!(status(&service, &token(&issuer)), expected);
        assert_eq!(
            status(&service, &token(&Signer::es256())),
            if expected == 200 { 401 } else { 503 }
        );
    }
}

/// AU-29: no document leads to addresses that are not public.
#[test]
fn keys_are_not_fetched_from_private_addresses_of_others() {
    names(&[
        ("localhost", &["127.0.0.1"]),
        ("inside.example", &["10.0.0.1"]),
        ("cloud.example", &["169.254.169.254"]),
    ]);
    let issuer = Signer::es256();
    for keys in [
        "https://inside.example/keys",
        "https://cloud.example/keys",
        "https://10.0.0.1/keys",
        "https://[::ffff:10.0.0.1]/keys",
        "http://public.example/keys",
    ] {
        let metadata = format!(r#"{{"issuer":"{LOCAL}","jwks_uri":"{keys}"}}"#);
        pages([
            (
                "/.well-known/oauth-authorization-server",
                json_page(&metadata),
            ),
            ("/keys", json_page(&issuer.key_set("k1"))),
        ]);
        let service = protected(Protection::new(RESOURCE).issuer(LOCAL));
        assert_eq!(status(&service, &token(&issuer)), 503, "{keys}");
        let dialled = dialled();
        assert!(
            dialled.iter().all(|it| it == "127.0.0.1:9"),
            "{keys}: {dialled:?}"
        );
    }
}

/// AU-31: documents are bounded, and a redirect to another origin is not followed.
#[test]
fn keys_come_from_a_sound_response() {
    names(&[("localhost", &["127.0.0.1"])]);
    let issuer = Signer::es256();
    let keys = issuer.key_set("k1");
    let long = format!("{}{keys}", " ".repeat(1 << 20));
    for (keys, expected) in [
        (json_page(&keys), 200),
        (json_page(&long), 503),
        (page("500 Internal Server Error", "", &keys), 503),
        (page("201 Created", "", &keys), 503),
        (
            page(
                "307 Temporary Redirect",
                "location: http://localhost:10/keys\r\n",
                &keys,
            ),
            503,
        ),
    ] {
        pages([("/keys", keys)]);
        let protection = Protection::new(RESOURCE);
        let protection = protection.issuer_with_keys_at(LOCAL, format!("{LOCAL}/keys"));
        assert_eq!(status(&protected(protection), &token(&issuer)), expected);
    }
}

/// AU-18.
#[test]
fn the_authorization_server_is_asked_about_opaque_tokens() {
    names(&[("localhost", &["127.0.0.1"])]);
    let active = format!(r#"{{"active":true,"sub":"ada","aud":"{RESOURCE}"}}"#);
    for (answer, expected) in [
        (json_page(&active), 200),
        (json_page(r#"{"active":false}"#), 401),
        (page("401 Unauthorized", "", &active), 503),
        (page("200 OK", "", "<html>"), 503),
    ] {
        pages([("/introspect", answer)]);
        let endpoint = RemoteIntrospection::at(format!("{LOCAL}/introspect"));
        let endpoint = endpoint.basic("server", "secret");
        let service = protected(Protection::new(RESOURCE).introspection(LOCAL, endpoint));
        assert_eq!(status(&service, "t0ken"), expected);
    }
}
