use authorization_server::{Client, SigningKey};
use serde_json::json;

use crate::scripted::{ISSUER, RESOURCE, Scripted, basic, json, parts, refusal};

/// AU-70: each refresh token is used once. The second use revokes the grant, for one of both users is a
/// thief.
#[test]
fn refresh_tokens_are_replaced() {
    let script = Scripted::new(|settings| settings);
    let first = script.log_in();
    let refresh = |token: &serde_json::Value, more: &[(&str, &str)]| {
        let mut form = vec![
            ("grant_type", "refresh_token"),
            ("client_id", "desk"),
            ("refresh_token", token.as_str().unwrap()),
        ];
        form.extend(more);
        script.post("/token", &[], &form)
    };
    let resource = ("resource", RESOURCE);
    let wider = refresh(&first["refresh_token"], &[resource, ("scope", "mcp admin")]);
    assert_eq!(refusal(&wider), (400, "invalid_scope".into()));
    let other = refresh(&first["refresh_token"], &[]);
    assert_eq!(refusal(&other), (400, "invalid_target".into()));

    let second = json(&refresh(
        &first["refresh_token"],
        &[resource, ("scope", "mcp")],
    ));
    let third = json(&refresh(&second["refresh_token"], &[resource]));
    assert_eq!(third["scope"], "mcp");
    let is_active = |body: &serde_json::Value| {
        let token = body["access_token"].as_str().unwrap();
        script.server.introspect(token)["active"] == true
    };
    assert!(is_active(&third));
    let again = refresh(&second["refresh_token"], &[resource]);
    assert_eq!(refusal(&again), (400, "invalid_grant".into()));
    assert!(!is_active(&first) && !is_active(&third));
    let thief = refresh(&third["refresh_token"], &[resource]);
    assert_eq!(refusal(&thief), (400, "invalid_grant".into()));
}

#[test]
fn a_client_authenticates_as_registered() {
    let script = Scripted::new(|settings| settings);
    let grant = ("grant_type", "client_credentials");
    let resource = ("resource", RESOURCE);
    let issued = json(&script.robot(&[grant, resource, ("scope", "mcp")]));
    let (_, claims) = parts(&issued["access_token"]);
    assert_eq!(claims["sub"], "robot");
    assert_eq!(claims["aud"], RESOURCE);
    assert!(issued.get("refresh_token").is_none());

    let unauthorized = (401, "invalid_client".to_owned());
    let wrong = [("authorization", &*basic("robot", "wrong"))];
    let refused = script.post("/token", &wrong, &[grant]);
    assert_eq!(refusal(&refused), unauthorized);
    assert!(refused.headers().contains_key("www-authenticate"));
    // The secret is form-encoded before Base64, and stands in the header only.
    let post = [grant, ("client_id", "robot"), ("client_secret", "s3cret/+")];
    assert_eq!(refusal(&script.post("/token", &[], &post)), unauthorized);
    let unencoded = [("authorization", &*basic("robot", "s3cret/+"))];
    assert_eq!(
        refusal(&script.post("/token", &unencoded, &[grant])),
        unauthorized
    );
    let twice = script.robot(&[grant, ("client_secret", "s3cret/+")]);
    assert_eq!(refusal(&twice), (400, "invalid_request".into()));
    let none = [grant, ("client_id", "robot")];
    assert_eq!(refusal(&script.post("/token", &[], &none)), unauthorized);
    let desk = [grant, ("client_id", "desk")];
    let refused = script.post("/token", &[], &desk);
    assert_eq!(refusal(&refused), (400, "unauthorized_client".into()));
}

#[test]
fn a_client_authenticates_with_its_key() {
    let keys = [
        SigningKey::generate(),
        SigningKey::from_pem(include_str!("rsa.pem")).unwrap(),
    ];
    for key in keys {
        let client = Client::with_keys("robot2", [key.jwk().clone()]);
        let client = client.grants(["client_credentials"]);
        let script = Scripted::new(|settings| settings.client(client));
        let now = script.now();
        let right = json!({
            "iss": "robot2", "sub": "robot2", "aud": ISSUER, "iat": now, "exp": now + 60, "jti": "1",
        });
        let send = |claims: &serde_json::Value, key: &SigningKey| {
            let form = [
                ("grant_type", "client_credentials"),
                (
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                ),
                ("client_assertion", &key.sign("JWT", claims)),
            ];
            script.post("/token", &[], &form)
        };
        assert_eq!(send(&right, &key).status(), 200);
        for (name, value) in [
            ("jti", json!("1")),
            ("jti", json!(null)),
            ("iss", json!("desk")),
            ("aud", json!("http://localhost:9001")),
            ("aud", json!([ISSUER])),
            ("exp", json!(now)),
            ("exp", json!(now + 3600)),
            ("exp", json!(null)),
        ] {
            let mut claims = right.clone();
            claims["jti"] = "other".into();
            claims[name] = value;
            assert_eq!(refusal(&send(&claims, &key)).0, 401, "{claims}");
        }
        let mut claims = right;
        claims["jti"] = "2".into();
        assert_eq!(refusal(&send(&claims, &SigningKey::generate())).0, 401);
        assert_eq!(send(&claims, &key).status(), 200);
    }
}

/// Tokens of an earlier key stay valid after the key has changed.
#[test]
fn introspection_and_rotation_of_keys() {
    let script = Scripted::new(|settings| settings);
    let first = script.log_in()["access_token"].clone();
    script.server.rotate_key();
    let second = script.log_in();
    assert_eq!(
        script.get_json("/jwks")["keys"].as_array().unwrap().len(),
        2
    );
    let ids = [&first, &second["access_token"]].map(|token| parts(token).0["kid"].clone());
    assert_ne!(ids[0], ids[1]);
    let ask = |token: &str| {
        let header = [("authorization", &*basic("robot", "s3cret%2F%2B"))];
        script.post("/introspect", &header, &[("token", token)])
    };
    let answer = json(&ask(first.as_str().unwrap()));
    assert_eq!(answer["active"], true);
    assert_eq!(answer["sub"], "alice");
    assert_eq!(answer["token_type"], "Bearer");
    let refresh = second["refresh_token"].as_str().unwrap();
    assert_eq!(json(&ask(refresh)), json!({ "active": false }));
    let desk = [("client_id", "desk"), ("token", refresh)];
    assert_eq!(refusal(&script.post("/introspect", &[], &desk)).0, 401);

    // Another client's revocation has no effect.
    let access = second["access_token"].as_str().unwrap();
    let header = [("authorization", &*basic("robot", "s3cret%2F%2B"))];
    let revoked = script.post("/revoke", &header, &[("token", refresh)]);
    assert_eq!(revoked.status(), 200);
    assert_eq!(json(&ask(access))["active"], true);
    assert_eq!(script.post("/revoke", &[], &desk).status(), 200);
    assert_eq!(json(&ask(access)), json!({ "active": false }));
    script.advance(3600);
    assert_eq!(
        json(&ask(first.as_str().unwrap())),
        json!({ "active": false })
    );
}

#[test]
fn tokens_can_be_signed_with_rsa() {
    let key = SigningKey::from_pem(include_str!("rsa.pem")).unwrap();
    let script = Scripted::new(|settings| settings.signing_key(key));
    let token = script.log_in()["access_token"].clone();
    assert_eq!(parts(&token).0["alg"], "RS256");
    assert_eq!(
        script.server.introspect(token.as_str().unwrap())["active"],
        true
    );
    assert!(SigningKey::from_pem("-----BEGIN PRIVATE KEY-----\nAAAA").is_err());
}
