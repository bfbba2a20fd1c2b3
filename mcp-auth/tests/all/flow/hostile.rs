//! Hostile documents and callers: every flow ends with an error that names the document.

use super::script::*;
use mcp_auth::{
    AuthConfig, ClientProof, Credentials, Document, Flow, HttpRequest, Input, ResourceMetadata,
    Scopes, Secret, ServerMetadata, UnixTime,
};

/// AU-04: every member of both documents with a value of every other type; no list of
/// authorization servers is empty.
#[test]
fn wrong_types_everywhere() {
    let values = [
        "1", "true", "\"x\"", "[]", "{}", "[1]", "[[]]", "[{}]", "[null]",
    ];
    for (member, good) in [
        ("resource", "\"x\""),
        ("authorization_servers", ""),
        ("scopes_supported", "[]"),
        ("dpop_bound_access_tokens_required", "true"),
    ] {
        for value in values.into_iter().filter(|value| *value != good) {
            let body = match member {
                "resource" | "authorization_servers" => format!(r#"{{"{member}":{value}}}"#),
                _ => format!(
                    r#"{{"resource":"https://h","authorization_servers":["https://a"],"{member}":{value}}}"#
                ),
            };
            let error = ResourceMetadata::read("https://h/x", body.as_bytes()).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("https://h/x") && text.contains('`'),
                "{body} {text}"
            );
        }
    }
    for member in [
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
        "code_challenge_methods_supported",
        "token_endpoint_auth_methods_supported",
        "client_id_metadata_document_supported",
        "authorization_response_iss_parameter_supported",
    ] {
        for value in ["1", "{}", "[1]"] {
            let body = format!(r#"{{"issuer":"https://a","{member}":{value}}}"#);
            let error = ServerMetadata::read("https://a/x", body.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(member), "{error}");
        }
    }
}

/// AU-31: documents that are too long, too deep, or have endless lists.
#[test]
fn bounds_of_documents() {
    let long = format!(r#"{{"resource":"{}"}}"#, "x".repeat(HttpRequest::MAX_BODY));
    let error = ResourceMetadata::read("https://h/x", long.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("longer than 1048576 bytes"),
        "{error}"
    );

    let list = vec!["\"a\""; 1001].join(",");
    let many = format!(r#"{{"resource":"https://h","authorization_servers":[{list}]}}"#);
    let error = ResourceMetadata::read("https://h/x", many.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("too many"), "{error}");

    let deep = format!(r#"{{"resource":{}{}}}"#, "[".repeat(50), "]".repeat(50));
    assert_eq!(
        ResourceMetadata::read("https://h/x", deep.as_bytes()),
        Ok(None)
    );

    // An error shows a part of a long text only, and no control characters.
    let name = format!("https://evil.example/{}", "y".repeat(5000));
    let mut script = Script::new(config(), None);
    script
        .gets(RESOURCE_METADATA)
        .answers(200, &PUBLISHED.replace(SERVER, &name));
    let error = script.error(Document::ResourceMetadata, &["https://evil.example/"]);
    assert!(error.to_string().len() < 1500);
}

/// AU-31: what is stored is so short that its record can be read again, however it is escaped.
#[test]
fn bounds_of_stored_texts() {
    let longest = "\\u0001".repeat(Secret::MAX_BYTES);
    let token = "\\\"".repeat(Secret::MAX_BYTES);
    let registration = |id: &str, secret: &str| {
        let answer = format!(r#"{{"client_id":"{id}","client_secret":"{secret}"}}"#);
        let mut script = Script::new(config(), None);
        script.discovers("");
        script.posts("https://as.example/register");
        script.answers(201, &answer);
        script
    };
    let response = |access: &str, refresh: &str| {
        let mut script = registration(&longest, &longest);
        script.consents();
        script.posts(TOKEN);
        let scope = "a".repeat(Scopes::MAX_BYTES - 1);
        let answer = format!(
            r#"{{"access_token":"{access}","refresh_token":"{refresh}","scope":"{scope}"}}"#
        );
        script.answers(200, &answer);
        script
    };
    let credentials = response(&token, &longest).done();
    let record = credentials.to_json();
    assert_eq!(
        Credentials::from_json(record.expose().as_bytes()),
        Ok(credentials)
    );
    for (access, refresh, member) in [
        (format!("{token}x"), "r", "access_token"),
        ("t".into(), &*format!("{longest}x"), "refresh_token"),
    ] {
        let texts = [member, "has more than 16384 bytes"];
        response(&access, refresh).error(Document::TokenResponse, &texts);
    }
    let long = format!("{longest}x");
    for (id, secret, member) in [(&*long, "s", "client_id"), ("c", &*long, "client_secret")] {
        let texts = [member, "has more than 16384 bytes"];
        registration(id, secret).error(Document::Registration, &texts);
    }

    // Endpoints have no bound of their own.
    let endpoint = format!(
        "https://as.example/{}",
        "x".repeat(HttpRequest::MAX_BODY - 500)
    );
    let document = metadata("").replace(TOKEN, &endpoint);
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    script.gets(SERVER_METADATA).answers(200, &document);
    script.consents();
    script.posts(&endpoint);
    let token = "t".repeat(500);
    script.answers(200, &format!(r#"{{"access_token":"{token}"}}"#));
    script.error(Document::TokenResponse, &["longer than 1048576 bytes"]);
}

/// AU-31: a list of scopes is cut, in a time that does not grow with the square of its length.
#[test]
fn bounds_of_scopes() {
    let list = |count: usize| {
        let scopes: Vec<String> = (0..count).map(|number| format!("{number:x}")).collect();
        scopes.join(" ")
    };
    let scopes = Scopes::parse(&list(200_000));
    assert_eq!(scopes.iter().count(), Scopes::MOST);
    assert_eq!(Scopes::parse(&list(200_000).replace(' ', " 0 ")), scopes);
    assert_eq!(scopes.union(&Scopes::parse("more")), scopes);
    let mut more = scopes.clone();
    more.insert("more");
    assert_eq!(more, scopes);

    // What is too long costs no other scope its place.
    let half = "x".repeat(Scopes::MAX_BYTES / 2);
    let scopes = Scopes::parse(&format!("a {half} {half}y b"));
    assert_eq!(scopes, Scopes::parse(&format!("a {half} b")));
    assert!(scopes.to_string().len() < Scopes::MAX_BYTES);
}

/// Every prefix of a document is refused or of another kind, never read as another document.
#[test]
fn cut_documents() {
    let body = metadata("");
    for length in 0..body.len() {
        let read = ServerMetadata::read("https://a/x", &body.as_bytes()[..length]);
        assert_eq!(read, Ok(None), "{length}");
    }
}

/// Every output answered with inputs of another kind: an error, and the flow has ended.
#[test]
fn inputs_of_another_kind() {
    let inputs = || {
        [
            Input::Random([0; 32]),
            Input::Digest([0; 32]),
            Input::Signature(b"x"),
            Input::Redirect("?code=c&state=s"),
            Input::Identity(None),
            Input::Failed("x"),
        ]
    };
    let now = UnixTime::from_secs(START);
    for input in inputs() {
        let mut flow = Flow::authorize(config(), None, None).unwrap();
        assert!(flow.advance(now, input.clone()).is_err());
        assert!(flow.start(now).is_err());

        let mut flow = Flow::authorize(config(), None, None).unwrap();
        flow.start(now).unwrap();
        assert!(flow.start(now).is_err());
        for input in inputs() {
            assert!(flow.advance(now, input).is_err());
        }
    }
}

/// A server that answers everything with the same: each flow ends after a bounded number of
/// requests.
#[test]
fn servers_that_repeat_themselves() {
    let documents = [
        (200, "{}".to_owned()),
        (200, PUBLISHED.to_owned()),
        (200, metadata("")),
        (404, String::new()),
        (401, r#"{"error":"use_dpop_nonce"}"#.to_owned()),
        (
            200,
            r#"{"client_id":"c","access_token":"t","issuer":"https://mcp.example"}"#.to_owned(),
        ),
        (302, "<html>".to_owned()),
    ];
    for (status, body) in documents {
        for config in [
            config(),
            registered(ClientProof::Public),
            AuthConfig {
                dynamic_registration: false,
                ..config()
            },
        ] {
            let mut flow = Flow::authorize(config, challenge("Bearer"), None).unwrap();
            let now = UnixTime::from_secs(START);
            let mut output = flow.start(now);
            let mut steps = 0;
            while let Ok(asked) = output {
                use mcp_auth::{FlowStep, HttpResponse};
                steps += 1;
                assert!(steps < 50, "{status} {body}");
                output = match asked {
                    FlowStep::Send(_) => flow.advance(
                        now,
                        Input::Response(HttpResponse {
                            status,
                            headers: &[("dpop-nonce", b"n")],
                            body: body.as_bytes(),
                        }),
                    ),
                    FlowStep::Random => flow.advance(now, Input::Random([7; 32])),
                    FlowStep::Hash(_) => flow.advance(now, Input::Digest([7; 32])),
                    FlowStep::Sign(_) => flow.advance(now, Input::Signature(b"s")),
                    FlowStep::Open(_) => flow.advance(now, Input::Redirect("?code=c")),
                    _ => flow.advance(now, Input::Identity(None)),
                };
            }
        }
    }
}

/// Parties that answer at random from what a flow may meet: it ends, without a panic.
#[test]
fn parties_that_answer_at_random() {
    use mcp_auth::{
        DpopKey, EnterpriseGrant, FlowStep, Grant, HttpResponse, PreRegistered, Subject,
    };
    let documents = [
        PUBLISHED.to_owned(),
        PUBLISHED.replace(ISSUER, "https://a.example\",\"https://as.example"),
        metadata(""),
        metadata(r#","client_id_metadata_document_supported":true,"scopes_supported":["offline_access"]"#),
        metadata("").replace("as.example", "mcp.example"),
        r#"{"client_id":"c","client_secret":"s"}"#.to_owned(),
        r#"{"access_token":"t","refresh_token":"r","token_type":"DPoP"}"#.to_owned(),
        r#"{"access_token":"t","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}"#.to_owned(),
        r#"{"error":"use_dpop_nonce"}"#.to_owned(),
        String::new(),
    ];
    let key = || DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#).ok();
    let enterprise = || EnterpriseGrant {
        token_endpoint: "https://idp.example/token".into(),
        client: PreRegistered {
            issuer: None,
            client_id: "i".into(),
            proof: ClientProof::Secret("s".into()),
        },
        endpoint_auth: None,
        subject: Subject::IdToken("id".into()),
        force: true,
    };
    let configs = [
        config(),
        AuthConfig {
            dpop: key(),
            ..config()
        },
        AuthConfig {
            dpop: key(),
            ..registered(ClientProof::Secret("s".into()))
        },
        AuthConfig {
            grant: Grant::ClientCredentials,
            ..registered(ClientProof::Secret("s".into()))
        },
        AuthConfig {
            grant: Grant::Enterprise(enterprise()),
            ..registered(ClientProof::Public)
        },
    ];
    let mut completed = 0;
    let mut seed = 1_u64;
    let mut draw = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    for round in 0..20_000 {
        let config = configs[round % configs.len()].clone();
        let mut flow = Flow::authorize(config, challenge("Bearer scope=a"), None).unwrap();
        let now = UnixTime::from_secs(START);
        let mut output = flow.start(now);
        for step in 0.. {
            assert!(step < 100, "the flow does not end");
            let asked = match output {
                Ok(FlowStep::Done(_)) => {
                    completed += 1;
                    break;
                }
                Ok(asked) => asked,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    break;
                }
            };
            output = match asked {
                FlowStep::Send(request) => {
                    // Mostly a document of the right kind, so that all states are reached.
                    let document = match (request.document, draw(8)) {
                        (_, 0) => draw(documents.len()),
                        (Document::ResourceMetadata, _) => draw(2),
                        (Document::ServerMetadata, _) => 2 + draw(3),
                        (Document::Registration, _) => 5,
                        (Document::IdentityAssertion, _) => 7,
                        _ => [6, 6, 8][draw(3)],
                    };
                    let status = [200, 200, 200, 200, 200, 200, 201, 400, 404, 500][draw(10)];
                    let nonce = [b'a' + draw(3) as u8];
                    let response = HttpResponse {
                        status,
                        headers: &[("dpop-nonce", &nonce)],
                        body: documents[document].as_bytes(),
                    };
                    flow.advance(now, Input::Response(response))
                }
                FlowStep::Random => flow.advance(now, Input::Random([draw(256) as u8; 32])),
                FlowStep::Hash(_) => flow.advance(now, Input::Digest([draw(256) as u8; 32])),
                FlowStep::Sign(_) => flow.advance(now, Input::Signature(b"s")),
                FlowStep::Open(page) => {
                    let state = page.url.split("state=").nth(1).unwrap();
                    let state = state.split('&').next().unwrap();
                    let redirect = format!("?code=c&state={state}");
                    flow.advance(now, Input::Redirect(&redirect))
                }
                _ => flow.advance(now, Input::Identity(None)),
            };
        }
    }
    // The rest ended with errors: both must happen for the test to mean anything.
    assert!((100..19_900).contains(&completed), "{completed}");
}
