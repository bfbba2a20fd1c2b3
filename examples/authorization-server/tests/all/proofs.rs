use authorization_server::SigningKey;
use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};

use crate::scripted::{Fields, ISSUER, RESOURCE, Scripted, json, parts, redemption, refusal};

/// The key of a client, and how often it was used.
struct Prover<'s> {
    script: &'s Scripted,
    key: SigningKey,
    used: core::cell::Cell<u32>,
}

impl<'s> Prover<'s> {
    fn new(script: &'s Scripted) -> Self {
        let key = SigningKey::generate();
        Self {
            script,
            key,
            used: core::cell::Cell::new(0),
        }
    }

    /// A proof, with members that replace the usual ones; `null` removes one.
    fn prove(&self, header: &Value, claims: &Value) -> String {
        self.used.set(self.used.get() + 1);
        let mut jwk = self.key.jwk().clone();
        jwk.as_object_mut()
            .unwrap()
            .retain(|name, _| "kty crv x y".contains(&**name));
        let usual = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk });
        let usual_claims = json!({
            "jti": format!("proof {}", self.used.get()), "htm": "POST",
            "htu": format!("{ISSUER}/token"), "iat": self.script.now(),
        });
        self.key
            .sign_with(&merge(usual, header), &merge(usual_claims, claims))
    }

    fn redeem(&self, code: &str, claims: &Value) -> Response<Bytes> {
        let proof = self.prove(&json!({}), claims);
        self.send(&[("dpop", &proof)], &redemption(code, &[]))
    }

    fn send(&self, headers: Fields<'_>, form: Fields<'_>) -> Response<Bytes> {
        self.script.post("/token", headers, form)
    }
}

fn merge(mut usual: Value, more: &Value) -> Value {
    let members = usual.as_object_mut().unwrap();
    for (name, value) in more.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
    }
    members.retain(|_, value| !value.is_null());
    usual
}

/// AU-114
#[test]
fn tokens_are_bound_to_the_key() {
    let script = Scripted::new(|settings| settings);
    let prover = Prover::new(&script);
    let issued = json(&prover.redeem(&script.code(&[]), &json!({})));
    assert_eq!(issued["token_type"], "DPoP");
    let (_, claims) = parts(&issued["access_token"]);
    assert_eq!(claims["cnf"]["jkt"], prover.key.jwk()["kid"]);

    // The refresh token of a public client is bound as well.
    let refresh = issued["refresh_token"].as_str().unwrap();
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", "desk"),
        ("refresh_token", refresh),
        ("resource", RESOURCE),
    ];
    assert_eq!(refusal(&prover.send(&[], &form)).1, "invalid_grant");
    let thief = Prover::new(&script);
    let proof = thief.prove(&json!({}), &json!({}));
    assert_eq!(
        refusal(&thief.send(&[("dpop", &proof)], &form)).1,
        "invalid_grant"
    );
    let proof = prover.prove(&json!({}), &json!({}));
    assert_eq!(
        json(&prover.send(&[("dpop", &proof)], &form))["token_type"],
        "DPoP"
    );
}

#[test]
fn refused_proofs() {
    let script = Scripted::new(|settings| settings);
    let prover = Prover::new(&script);
    let code = script.code(&[]);
    let form = redemption(&code, &[]);
    let (now, other) = (script.now(), SigningKey::generate());
    let private = merge(prover.key.jwk().clone(), &json!({ "d": "AAAA" }));
    for (header, claims) in [
        (json!({ "typ": "JWT" }), json!({})),
        (json!({ "alg": "none" }), json!({})),
        (json!({ "alg": "RS256" }), json!({})),
        (json!({ "jwk": null }), json!({})),
        (json!({ "jwk": private }), json!({})),
        (json!({ "jwk": other.jwk() }), json!({})),
        (json!({ "crit": ["x"] }), json!({})),
        (json!({}), json!({ "htm": "GET" })),
        (json!({}), json!({ "htu": "http://localhost:9001/token" })),
        (json!({}), json!({ "htu": null })),
        (json!({}), json!({ "iat": now - 301 })),
        (json!({}), json!({ "iat": now + 301 })),
        (json!({}), json!({ "jti": null })),
    ] {
        let proof = prover.prove(&header, &claims);
        let refused = prover.send(&[("dpop", &proof)], &form);
        assert_eq!(
            refusal(&refused),
            (400, "invalid_dpop_proof".into()),
            "{header} {claims}"
        );
    }
    let [one, two] = [(); 2].map(|()| prover.prove(&json!({}), &json!({})));
    let both = prover.send(&[("dpop", &one), ("dpop", &two)], &form);
    assert_eq!(refusal(&both).1, "invalid_dpop_proof");
    // None of these has used the code; and each proof is used once.
    assert_eq!(prover.send(&[("dpop", &one)], &form).status(), 200);
    let again = script.code(&[]);
    let again = prover.send(&[("dpop", &one)], &redemption(&again, &[]));
    assert_eq!(refusal(&again).1, "invalid_dpop_proof");
}

/// A nonce is demanded, taken, and replaced; the one before still counts.
#[test]
fn nonces() {
    let script = Scripted::new(|settings| settings.require_dpop().demand_dpop_nonces());
    let prover = Prover::new(&script);
    let code = script.code(&[]);
    let missing = prover.send(&[], &redemption(&code, &[]));
    assert_eq!(refusal(&missing).1, "invalid_dpop_proof");
    let nonce = |response: &Response<Bytes>| {
        response.headers()["dpop-nonce"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    let asked = prover.redeem(&code, &json!({}));
    assert_eq!(refusal(&asked), (400, "use_dpop_nonce".into()));
    let first = nonce(&asked);
    let unknown = prover.redeem(&code, &json!({ "nonce": "x" }));
    assert_eq!(refusal(&unknown).1, "use_dpop_nonce");
    let issued = prover.redeem(&code, &json!({ "nonce": first }));
    assert_eq!(issued.status(), 200);
    let second = nonce(&issued);
    assert_ne!(first, second);
    let issued = prover.redeem(&script.code(&[]), &json!({ "nonce": first }));
    assert_eq!(issued.status(), 200);
    let late = prover.redeem(&script.code(&[]), &json!({ "nonce": first }));
    assert_eq!(refusal(&late).1, "use_dpop_nonce");
}

/// A code that names a key is for that key only.
#[test]
fn a_code_can_be_bound_to_a_key() {
    let script = Scripted::new(|settings| settings);
    let prover = Prover::new(&script);
    let key = prover.key.jwk()["kid"].as_str().unwrap();
    let code = script.code(&[("dpop_jkt", key)]);
    let thief = Prover::new(&script);
    assert_eq!(refusal(&thief.redeem(&code, &json!({}))).1, "invalid_grant");
    assert_eq!(refusal(&script.redeem(&code, &[])).1, "invalid_grant");
    assert_eq!(prover.redeem(&code, &json!({})).status(), 200);
}
