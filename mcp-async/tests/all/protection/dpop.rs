//! Tokens that are bound to the key of their client.

use http::Request;
use mcp_async::auth::{DpopUse, Protection, Scopes, Secret, TokenClaims};
use mcp_async::http::HttpService;

use crate::protection::sharing::processes;
use crate::protection::signer::{Signer, hash};
use crate::protection::support::{ISSUER, RESOURCE, now, server};
use crate::scripted::{Reply, RequestExt, Serve, initialize, modern, post, send};

const TOKEN: &str = "b0und";

/// Tokens: one that is bound to the key, and one that is not.
fn service(key: &Signer, dpop: DpopUse, nonces: bool) -> HttpService {
    let http = server().http().legacy_sse("/sse", "/messages");
    let http = http.protect(protection(key, dpop, nonces));
    http.served()
}

fn protection(key: &Signer, dpop: DpopUse, nonces: bool) -> Protection {
    let thumbprint = key.thumbprint();
    let verify = move |token: Secret| {
        let claims = TokenClaims::new(ISSUER, RESOURCE)
            .with_subject("ada")
            .with_scopes(Scopes::parse("mcp"));
        let claims = match token.expose() {
            TOKEN => Some(claims.with_key_thumbprint(thumbprint.clone())),
            "free" => Some(claims),
            _ => None,
        };
        async move { Ok::<_, String>(claims) }
    };
    let mut protection = Protection::new(RESOURCE)
        .verifier(ISSUER, verify)
        .dpop(dpop);
    if nonces {
        protection = protection.settings(|resource| resource.demand_nonces(60));
    }
    protection
}

/// What a proof states.
#[derive(Clone)]
struct Proof {
    header: String,
    htm: &'static str,
    htu: &'static str,
    iat: u64,
    jti: String,
    ath: String,
    nonce: Option<String>,
}

impl Proof {
    fn new(key: &Signer, jti: &str) -> Self {
        let jwk = key.public_key();
        Self {
            header: format!(r#"{{"alg":"ES256","typ":"dpop+jwt","jwk":{jwk}}}"#),
            htm: "POST",
            htu: RESOURCE,
            iat: now(),
            jti: jti.into(),
            ath: hash(TOKEN),
            nonce: None,
        }
    }

    fn sign(&self, key: &Signer) -> String {
        let Self {
            htm,
            htu,
            iat,
            jti,
            ath,
            ..
        } = self;
        let nonce = self.nonce.as_ref();
        let nonce = nonce.map_or(String::new(), |nonce| format!(r#","nonce":"{nonce}""#));
        let jti = if jti.is_empty() {
            String::new()
        } else {
            format!(r#","jti":"{jti}""#)
        };
        let payload =
            format!(r#"{{"htm":"{htm}","htu":"{htu}","iat":{iat},"ath":"{ath}"{jti}{nonce}}}"#);
        key.sign(&self.header, &payload)
    }
}

fn ask(service: &HttpService, authorization: &str, proofs: &[String]) -> Reply {
    let mut request = modern(r#"1 tools/call {"name":"who","arguments":{}}"#);
    let headers = request.headers_mut();
    headers.insert("authorization", authorization.parse().unwrap());
    headers.insert("origin", "http://localhost:5173".parse().unwrap());
    for proof in proofs {
        headers.append("dpop", proof.parse().unwrap());
    }
    send(service, request)
}

/// The errors of the challenges of a refusal, with their schemes.
fn challenges(reply: &Reply) -> Vec<String> {
    let all = reply.headers.get_all("www-authenticate").iter();
    let all = all.map(|challenge| {
        let challenge = challenge.to_str().unwrap();
        let scheme = challenge.split(' ').next().unwrap();
        let error = challenge
            .split_once("error=\"")
            .map_or("", |(_, rest)| rest);
        format!("{scheme} {}", error.split('"').next().unwrap())
    });
    all.collect()
}

/// AU-97, AU-110, AU-111, AU-112.
#[test]
fn proofs_are_checked() {
    let (key, other) = (Signer::es256(), Signer::es256());
    let service = service(&key, DpopUse::Required, false);
    let bound = format!("DPoP {TOKEN}");
    let good = Proof::new(&key, "1");
    let reply = ask(&service, &bound, &[good.sign(&key)]);
    assert_eq!(reply.status, 200);
    // It is used.
    let refused = ask(&service, &bound, &[good.sign(&key)]);
    assert_eq!(
        (refused.status.as_u16(), challenges(&refused)),
        (401, vec!["DPoP invalid_dpop_proof".into()])
    );
    let header = |from: &str, to: &str| good.header.replace(from, to);
    let changed = |change: &dyn Fn(&mut Proof)| {
        let mut proof = Proof {
            jti: "2".into(),
            ..good.clone()
        };
        change(&mut proof);
        proof.sign(&key)
    };
    let fresh = |number: u32| {
        Proof {
            jti: format!("f{number}"),
            ..good.clone()
        }
        .sign(&key)
    };
    let tampered = {
        let proof = fresh(1);
        let (text, signature) = proof.rsplit_once('.').unwrap();
        let first = if signature.starts_with('A') { "B" } else { "A" };
        format!("{text}.{first}{}", &signature[1..])
    };
    for (name, proofs) in [
        ("none", vec![]),
        ("two", vec![fresh(2), fresh(3)]),
        ("no JWT", vec!["proof".into()]),
        ("tampered", vec![tampered]),
        (
            "typ",
            vec![changed(&|it| it.header = header("dpop+jwt", "JWT"))],
        ),
        (
            "alg",
            vec![changed(&|it| it.header = header("ES256", "none"))],
        ),
        (
            "alg of another key",
            vec![changed(&|it| it.header = header("ES256", "EdDSA"))],
        ),
        (
            "private key",
            vec![changed(&|it| {
                it.header = header(r#""kty""#, r#""d":"AA","kty""#);
            })],
        ),
        ("htm", vec![changed(&|it| it.htm = "GET")]),
        (
            "htu",
            vec![changed(&|it| it.htu = "http://localhost:8000/other")],
        ),
        ("old", vec![changed(&|it| it.iat -= 301)]),
        ("early", vec![changed(&|it| it.iat += 302)]),
        ("jti", vec![changed(&|it| it.jti.clear())]),
        ("ath", vec![changed(&|it| it.ath = hash("other"))]),
        ("key", vec![Proof::new(&other, "2").sign(&other)]),
        ("key of another", vec![Proof::new(&key, "2").sign(&other)]),
    ] {
        let refused = ask(&service, &bound, &proofs);
        assert_eq!(refused.status, 401, "{name}");
        assert_eq!(challenges(&refused), ["DPoP invalid_dpop_proof"], "{name}");
    }
    // AU-112: a bound token is no bearer token, and an unbound one has no proof.
    for (authorization, proofs) in [
        (format!("Bearer {TOKEN}"), vec![]),
        (format!("Bearer {TOKEN}"), vec![fresh(4)]),
        ("Bearer free".into(), vec![]),
        (
            "DPoP free".into(),
            vec![
                Proof {
                    ath: hash("free"),
                    jti: "5".into(),
                    ..good.clone()
                }
                .sign(&key),
            ],
        ),
    ] {
        let refused = ask(&service, &authorization, &proofs);
        assert_eq!(refused.status, 401, "{authorization}");
    }
    // A refusal did not use the proof.
    assert_eq!(ask(&service, &bound, &[fresh(6)]).status, 200);
}

#[test]
fn where_both_schemes_are_accepted_each_token_needs_its_own() {
    let key = Signer::es256();
    let service = service(&key, DpopUse::Accepted, false);
    let bound = format!("DPoP {TOKEN}");
    assert_eq!(ask(&service, "Bearer free", &[]).status, 200);
    let proof = Proof::new(&key, "1").sign(&key);
    assert_eq!(
        ask(
            &service,
            &format!("Bearer {TOKEN}"),
            core::slice::from_ref(&proof)
        )
        .status,
        401
    );
    assert_eq!(ask(&service, &bound, &[proof]).status, 200);
    let refused = ask(&service, "Bearer unknown", &[]);
    assert_eq!(challenges(&refused), ["Bearer invalid_token", "DPoP "]);
}

/// AU-98, AU-113.
#[test]
fn a_proof_needs_the_current_nonce() {
    let key = Signer::es256();
    let service = service(&key, DpopUse::Required, true);
    let bound = format!("DPoP {TOKEN}");
    let refused = ask(&service, &bound, &[Proof::new(&key, "1").sign(&key)]);
    assert_eq!(refused.status, 401);
    assert_eq!(challenges(&refused), ["DPoP use_dpop_nonce"]);
    let nonce = refused.header("dpop-nonce").to_owned();
    assert_eq!(nonce.len(), 32);
    let exposed = refused
        .headers
        .get_all("access-control-expose-headers")
        .iter();
    let exposed = Vec::from_iter(exposed.map(|it| it.to_str().unwrap()));
    assert_eq!(exposed, ["DPoP-Nonce", "Mcp-Session-Id, WWW-Authenticate"]);
    let with = |jti: &str, nonce: &str| {
        let proof = Proof {
            nonce: Some(nonce.into()),
            ..Proof::new(&key, jti)
        };
        ask(&service, &bound, &[proof.sign(&key)])
    };
    let reply = with("2", &nonce);
    reply.has_head(200, [("dpop-nonce", "")]);
    assert_eq!(challenges(&with("3", "invented")), ["DPoP use_dpop_nonce"]);
}

/// AU-97, AU-98: a proof is checked once, by the process that the request arrives at.
#[test]
fn a_forwarded_request_needs_no_proof_of_its_own() {
    let key = Signer::es256();
    let [first, second] =
        processes(|http, _| http.protect(protection(&key, DpopUse::Required, true)));
    let send = |service: &HttpService, id: &str, body: &str| {
        let attempt = |nonce: Option<String>| {
            let proof = Proof {
                nonce,
                ..Proof::new(&key, &format!("{id}{}", body.len()))
            };
            let mut request = post(body).signed(TOKEN);
            let headers = request.headers_mut();
            let bound = format!("DPoP {TOKEN}").parse().unwrap();
            headers.insert("authorization", bound);
            headers.insert("dpop", proof.sign(&key).parse().unwrap());
            if !id.is_empty() {
                headers.insert("mcp-session-id", id.parse().unwrap());
            }
            send(service, request)
        };
        let refused = attempt(None);
        assert_eq!(refused.status, 401);
        attempt(Some(refused.header("dpop-nonce").to_owned()))
    };
    let opened = send(&first, "", &initialize("2025-11-25"));
    let id = opened.header("mcp-session-id").to_owned();
    for service in [&second, &first] {
        let reply = send(service, &id, "9 ping");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.headers.get_all("dpop-nonce").iter().count(), 0);
    }
    crate::sim::end();
}

/// AU-97: a proof is for the URL of the endpoint that it is sent to.
#[test]
fn proofs_for_the_endpoints_of_2024_11_05_state_their_urls() {
    let key = Signer::es256();
    let service = service(&key, DpopUse::Required, false);
    let get = |jti: &str, htu: &'static str| {
        let proof = Proof {
            htm: "GET",
            htu,
            ..Proof::new(&key, jti)
        };
        let request = Request::get("/sse")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("authorization", format!("DPoP {TOKEN}"))
            .header("dpop", proof.sign(&key));
        send(&service, request.body(String::new()).unwrap()).status
    };
    assert_eq!(get("1", "http://localhost:8000/sse"), 200);
    assert_eq!(get("2", RESOURCE), 401);
}
