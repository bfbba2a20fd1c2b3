use authorization_server::{Client, SigningKey};
use serde_json::{Value, json};

use crate::scripted::{ISSUER, RESOURCE, Scripted, basic, json, parts, redemption, refusal};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const REFRESH_TOKEN: &str = "urn:ietf:params:oauth:token-type:refresh_token";

/// One server as identity provider and as authorization server of the resource.
fn enterprise() -> Scripted {
    Scripted::new(|settings| settings.partner(ISSUER, RESOURCE))
}

/// The tokens of the user at the identity provider, for the client `robot`.
fn log_in(script: &Scripted) -> Value {
    let code = script.code(&[
        ("client_id", "robot"),
        ("scope", "openid"),
        ("resource", ""),
    ]);
    let form = redemption(&code, &[("client_id", ""), ("resource", "")]);
    json(&script.robot(&form))
}

fn exchange(script: &Scripted, kind: &str, token: &Value) -> Value {
    let form = [
        ("grant_type", EXCHANGE),
        ("requested_token_type", ID_JAG),
        ("audience", ISSUER),
        ("resource", RESOURCE),
        ("scope", "mcp"),
        ("subject_token", token.as_str().unwrap()),
        ("subject_token_type", kind),
    ];
    json(&script.robot(&form))
}

/// AU-83, AU-88, AU-89
#[test]
fn an_identity_assertion_becomes_a_token() {
    let script = enterprise();
    let user = log_in(&script);
    for (kind, member) in [(ID_TOKEN, "id_token"), (REFRESH_TOKEN, "refresh_token")] {
        let exchanged = exchange(&script, kind, &user[member]);
        assert_eq!(exchanged["issued_token_type"], ID_JAG);
        assert_eq!(exchanged["token_type"], "N_A");
        let (header, claims) = parts(&exchanged["access_token"]);
        assert_eq!(header["typ"], "oauth-id-jag+jwt");
        assert_eq!(claims["sub"], "alice");
        assert_eq!(claims["client_id"], "robot");

        let assertion = exchanged["access_token"].as_str().unwrap();
        let form = [("grant_type", BEARER), ("assertion", assertion)];
        // Only with the credentials of its client, and once.
        let desk = [form[0], form[1], ("client_id", "desk")];
        assert_eq!(
            refusal(&script.post("/token", &[], &desk)).1,
            "unauthorized_client"
        );
        let issued = json(&script.robot(&form));
        assert_eq!(issued["scope"], "mcp");
        let (_, claims) = parts(&issued["access_token"]);
        assert_eq!(claims["aud"], RESOURCE);
        assert_eq!(claims["sub"], "alice");
        assert_eq!(refusal(&script.robot(&form)).1, "invalid_grant");
        // It is no access token.
        assert_eq!(script.server.introspect(assertion)["active"], false);
    }
}

/// AU-89: the identity provider knows which audience has which resource.
#[test]
fn refused_exchanges() {
    let script = enterprise();
    let user = log_in(&script);
    let id = user["id_token"].as_str().unwrap();
    let access = user["access_token"].as_str().unwrap();
    let right = [
        ("grant_type", EXCHANGE),
        ("requested_token_type", ID_JAG),
        ("audience", ISSUER),
        ("resource", RESOURCE),
        ("subject_token", id),
        ("subject_token_type", ID_TOKEN),
    ];
    for (name, value, error) in [
        ("requested_token_type", "urn:x", "invalid_request"),
        ("audience", "http://localhost:9001", "invalid_target"),
        ("resource", "http://localhost:8001/mcp", "invalid_target"),
        ("subject_token", access, "invalid_grant"),
        ("subject_token", "x", "invalid_grant"),
        ("subject_token_type", "urn:x", "invalid_request"),
        ("subject_token_type", REFRESH_TOKEN, "invalid_grant"),
    ] {
        let form = right.map(|field| {
            if field.0 == name {
                (name, value)
            } else {
                field
            }
        });
        assert_eq!(
            refusal(&script.robot(&form)),
            (400, error.into()),
            "{name} {value}"
        );
    }
    script.advance(3600);
    assert_eq!(refusal(&script.robot(&right)).1, "invalid_grant");
}

/// AU-83, AU-88, AU-89
#[test]
fn refused_identity_assertions() {
    let provider = SigningKey::generate();
    let keys = [provider.jwk().clone()];
    let script = Scripted::new(|settings| {
        settings
            .trust("https://idp.example", keys)
            .resources([RESOURCE])
    });
    let now = script.now();
    let right = json!({
        "iss": "https://idp.example", "sub": "bob", "aud": ISSUER, "client_id": "robot",
        "resource": RESOURCE, "scope": "mcp admin", "iat": now, "exp": now + 300, "jti": "1",
    });
    let send = |kind: &str, claims: &Value, key: &SigningKey, scope: &str| {
        let assertion = key.sign(kind, claims);
        let form = [
            ("grant_type", BEARER),
            ("assertion", &*assertion),
            ("scope", scope),
        ];
        script.robot(&form)
    };
    let kind = "oauth-id-jag+jwt";
    for (name, value) in [
        ("iss", json!("https://other.example")),
        ("iss", json!(null)),
        ("sub", json!(null)),
        ("aud", json!("http://localhost:9001")),
        ("client_id", json!("desk")),
        ("resource", json!(null)),
        ("resource", json!("http://localhost:8001/mcp")),
        ("iat", json!(null)),
        ("exp", json!(now - 60)),
        ("exp", json!(null)),
        ("jti", json!(null)),
    ] {
        let mut claims = right.clone();
        claims[name] = value;
        let refused = send(kind, &claims, &provider, "");
        assert_eq!(refusal(&refused), (400, "invalid_grant".into()), "{claims}");
    }
    let stranger = SigningKey::generate();
    assert_eq!(
        refusal(&send(kind, &right, &stranger, "")).1,
        "invalid_grant"
    );
    assert_eq!(
        refusal(&send("JWT", &right, &provider, "")).1,
        "invalid_grant"
    );
    // What is asked for is limited by the assertion.
    let issued = json(&send(kind, &right, &provider, "mcp other"));
    assert_eq!(issued["scope"], "mcp");
}

/// AU-94
#[test]
fn a_workload_uses_its_own_token() {
    let platform = SigningKey::generate();
    let keys = [platform.jwk().clone()];
    let script = Scripted::new(|settings| {
        let issuer = "https://platform.example";
        let settings = settings.trust(issuer, keys);
        settings
            .workload(issuer, "ns/default/job", "job")
            .client(Client::public("job"))
    });
    let now = script.now();
    let right = json!({
        "iss": "https://platform.example", "sub": "ns/default/job", "aud": ISSUER,
        "iat": now, "exp": now + 300, "jti": "1",
    });
    let send = |claims: &Value, client: &str| {
        let assertion = platform.sign("JWT", claims);
        let form = [
            ("grant_type", BEARER),
            ("assertion", &*assertion),
            ("resource", RESOURCE),
            ("client_id", client),
        ];
        script.post("/token", &[], &form)
    };
    let mut other = right.clone();
    other["sub"] = "ns/default/other".into();
    assert_eq!(refusal(&send(&other, "")).1, "invalid_grant");
    let mut other = right.clone();
    other["aud"] = RESOURCE.into();
    assert_eq!(refusal(&send(&other, "")).1, "invalid_grant");
    assert_eq!(refusal(&send(&right, "desk")).1, "invalid_grant");
    let issued = json(&send(&right, "job"));
    let (_, claims) = parts(&issued["access_token"]);
    assert_eq!(claims["sub"], "ns/default/job");
    assert_eq!(claims["client_id"], "job");
    assert_eq!(refusal(&send(&right, "job")).1, "invalid_grant");
    // The server's own tokens are no assertions.
    let access = script.log_in()["access_token"].clone();
    let form = [
        ("grant_type", BEARER),
        ("assertion", access.as_str().unwrap()),
    ];
    assert_eq!(
        refusal(&script.post("/token", &[], &form)).1,
        "invalid_grant"
    );
    let header = [("authorization", &*basic("robot", "s3cret%2F%2B"))];
    assert_eq!(
        refusal(&script.post("/token", &header, &form)).1,
        "invalid_grant"
    );
}
