//! Keys of an issuer whose metadata says where they are.

use mcp_auth::resource::{ProtectedResource, ResourceBuilder};

use super::tool::{ISSUER, RESOURCE, Request, Server, builder, check, jwks, token};

const OAUTH: &str = "https://as.example/.well-known/oauth-authorization-server";
const OPENID: &str = "https://as.example/.well-known/openid-configuration";
const GRANTED: &str = "granted [\"https://as.example\",\"ada\",\"editor\"]";
const UNAVAILABLE: &str = "503: access tokens cannot be verified at the moment";

fn finding() -> ResourceBuilder {
    ProtectedResource::builder(RESOURCE).issuer(ISSUER)
}

fn metadata(keys_url: &str) -> String {
    format!(r#"{{"issuer":"https://as.example","jwks_uri":"{keys_url}"}}"#)
}

fn server(metadata: Vec<(&'static str, String)>) -> Server {
    let mut server = Server::new(finding());
    server.metadata = metadata;
    server
}

fn request() -> Request {
    Request::bearer(&token(&["exp=2000000"]))
}

/// AU-18, AU-25: at the first place that has it, once.
#[test]
fn the_places_of_the_metadata() {
    let found = metadata("https://as.example/keys");
    let openid = format!("fetch {OAUTH}\nfetch {OPENID}");
    let bare = r#"{"issuer":"https://as.example","token_endpoint":"https://as.example/token"}"#;
    for (metadata, steps) in [
        (vec![(OAUTH, found.clone())], format!("fetch {OAUTH}")),
        (vec![(OPENID, found.clone())], openid.clone()),
        // Neither a page nor metadata without keys ends the search.
        (
            vec![(OAUTH, "<html>".into()), (OPENID, found.clone())],
            openid.clone(),
        ),
        (vec![(OAUTH, bare.into()), (OPENID, found)], openid),
    ] {
        let mut server = server(metadata);
        let keys = "fetch https://as.example/keys\nverify ES256";
        check(
            &server.send(&request()),
            &format!("{steps}\n{keys}\n{GRANTED}"),
        );
        check(&server.send(&request()), GRANTED);
        // The keys are fetched again, the metadata is not.
        server.now += 600;
        check(&server.send(&request()), &format!("{keys}\n{GRANTED}"));
        assert_eq!(server.errors, [""; 0]);
    }
}

/// An issuer with a path has three places.
#[test]
fn issuers_with_a_path() {
    let mut server = Server::new(ProtectedResource::builder(RESOURCE).issuer("https://h/t"));
    let token = token(&["iss=\"https://h/t\""]);
    check(
        &server.send(&Request::bearer(&token)),
        &format!(
            "fetch https://h/.well-known/oauth-authorization-server/t
            fetch https://h/.well-known/openid-configuration/t
            fetch https://h/t/.well-known/openid-configuration
            {UNAVAILABLE}"
        ),
    );
    assert_eq!(
        server.errors,
        [
            "authorization server metadata at https://h/t: found at none of its places; report this to \
          the operator of the server"
        ]
    );
}

/// AU-26, AU-32: metadata of another issuer, and addresses that are not to be asked.
#[test]
fn metadata_that_is_not_used() {
    for (document, error) in [
        (
            metadata("https://as.example/keys")
                .replace("\"https://as.example\"", "\"https://evil\""),
            "`issuer` must be \"https://as.example\", found \"https://evil\"",
        ),
        (
            metadata("https://as.example/keys")
                .replace("\"https://as.example\"", "\"https://as.example/\""),
            "`issuer` must be \"https://as.example\", found \"https://as.example/\"",
        ),
        (metadata("http://as.example/keys"), "`jwks_uri` is not safe"),
        (metadata("https://127.0.0.1/keys"), "`jwks_uri` is not safe"),
        (metadata("http://localhost/keys"), "`jwks_uri` is not safe"),
        (metadata("file:///etc/passwd"), "`jwks_uri`: "),
        (metadata("/keys"), "`jwks_uri`: "),
        (
            r#"{"issuer":"https://as.example","jwks_uri":1}"#.into(),
            "`jwks_uri` must be a string",
        ),
        (
            r#"{"issuer":"https://as.example"}"#.into(),
            "`jwks_uri` is missing",
        ),
    ] {
        let mut server = server(vec![(OAUTH, document)]);
        check(
            &server.send(&request()),
            &format!("fetch {OAUTH}\nfetch {OPENID}\n{UNAVAILABLE}"),
        );
        let [found] = &server.errors[..] else {
            panic!("{:?}", server.errors)
        };
        assert!(found.contains(error) && found.contains(OAUTH), "{found}");
    }
    // An issuer on this machine may name services of this machine.
    let mut server = Server::new(ProtectedResource::builder(RESOURCE).issuer("http://localhost:1"));
    let place = "http://localhost:1/.well-known/oauth-authorization-server";
    let found = r#"{"issuer":"http://localhost:1","jwks_uri":"http://localhost:2/keys"}"#;
    server.metadata = vec![(place, found.into())];
    let token = token(&["iss=\"http://localhost:1\""]);
    let found = server.send(&Request::bearer(&token));
    assert!(found.contains("fetch http://localhost:2/keys"), "{found}");
}

/// The search is repeated at a bounded rate, and after keys were not at their address any more.
#[test]
fn searches_are_repeated() {
    let mut server = server(Vec::new());
    let search = format!("fetch {OAUTH}\nfetch {OPENID}");
    check(
        &server.send(&request()),
        &format!("{search}\n{UNAVAILABLE}"),
    );
    check(&server.send(&request()), UNAVAILABLE);
    server.now += 5;
    server.metadata = vec![(OPENID, metadata("https://as.example/old"))];
    let found = server.send(&request());
    assert!(found.ends_with(GRANTED), "{found}");

    server.keys = None;
    server.now += 600;
    check(
        &server.send(&request()),
        &format!("fetch https://as.example/old\nverify ES256\n{GRANTED}"),
    );
    let error = server.errors.last().unwrap();
    assert!(
        error.starts_with("keys of the authorization server at https://as.example/old: found"),
        "{error}"
    );
    server.metadata = vec![(OPENID, metadata("https://as.example/new"))];
    server.keys = Some(jwks(&["k1"]));
    check(
        &server.send(&request()),
        &format!("verify ES256\n{GRANTED}"),
    );
    server.now += 5;
    check(
        &server.send(&request()),
        &format!("{search}\nfetch https://as.example/new\nverify ES256\n{GRANTED}"),
    );
}

/// What is wrong with a document of keys is said with its URL.
#[test]
fn errors_of_keys() {
    for (document, error) in [
        ("<html>", "expected JSON"),
        ("[]", "expected a JSON object, found a JSON array"),
        ("{}", "`keys` is missing"),
        (
            "{\"keys\":{}}",
            "`keys` must be an array, found a JSON object",
        ),
        ("{\"keys\":[],\"keys\":[]}", "`keys` comes twice"),
    ] {
        let mut server = Server::new(builder());
        server.keys = Some(document.into());
        assert!(server.send(&request()).ends_with(UNAVAILABLE));
        let found = &server.errors[0];
        assert!(
            found.contains(error) && found.contains("https://as.example/jwks"),
            "{found}"
        );
        // A configured address is never searched for.
        server.now += 5;
        assert!(
            server
                .send(&request())
                .starts_with("fetch https://as.example/jwks")
        );
    }
}
