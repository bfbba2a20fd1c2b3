//! A flow of authorization among hostile parties.

use mcp_auth::{
    AuthConfig, Challenge, ClientProof, DpopKey, Flow, FlowStep, HttpResponse, Input,
    PreRegistered, Scheme, UnixTime, Uri,
};

const SECRET: &str = "cl1ent-s3cret";

/// Whatever the parties answer, the flow ends after a bounded number of steps, asks for and opens
/// only what is safe, and shows no secret.
///
/// The input is lines: a challenge, then one for each answer. Its first byte is the status (`2`,
/// `3`, `4`, `5`, and `n` for 400 with a nonce), or `-` for none; the rest is the body. The line
/// after a page is the query of the redirect, in which `STATE` stands for the right one.
pub fn auth_flow(input: &[u8]) {
    // A party that writes the secret itself learns nothing when an error repeats its words.
    let is_written = input
        .windows(SECRET.len())
        .any(|text| text == SECRET.as_bytes());
    let mut lines = input.split(|byte| *byte == b'\n');
    let challenges = Challenge::parse_all([lines.next().unwrap_or_default()]);
    for has_secret in [false, true] {
        let challenge = Challenge::select(&challenges, Scheme::Bearer).cloned();
        follow(config(has_secret), challenge, lines.clone(), is_written);
    }
}

fn config(has_secret: bool) -> AuthConfig {
    let mut config = AuthConfig::new("https://mcp.example/mcp", "Demo", "http://127.0.0.1:1/cb");
    if has_secret {
        config.pre_registered = Some(PreRegistered {
            issuer: Some("https://as.example".into()),
            client_id: "client".into(),
            proof: ClientProof::Secret(SECRET.into()),
        });
        let key = r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#;
        config.dpop = DpopKey::new("ES256", key).ok();
    }
    config
}

fn follow<'i>(
    config: AuthConfig,
    challenge: Option<Challenge>,
    mut lines: impl Iterator<Item = &'i [u8]>,
    is_written: bool,
) {
    let now = UnixTime::from_secs(1_750_000_000);
    let mut flow = Flow::authorize(config, challenge, None).expect("a configuration");
    let mut output = flow.start(now);
    let mut random = 0;
    for step in 0.. {
        assert!(step < 100, "the flow does not end");
        let asked = match output {
            Ok(FlowStep::Done(credentials)) => {
                assert!(!credentials.access_token.is_empty());
                return;
            }
            Ok(asked) => asked,
            Err(error) => {
                let shown = format!("{error} {error:?}");
                assert!(is_written || !shown.contains(SECRET), "{shown}");
                return;
            }
        };
        output = match asked {
            FlowStep::Send(request) => {
                let shown = format!("{request:?}");
                assert!(is_written || !shown.contains(SECRET), "{shown}");
                is_safe(&request.url);
                assert_eq!(request.body.is_some(), request.method == "POST");
                assert_eq!(request.max_redirects == 0, request.method == "POST");
                let line = lines.next().unwrap_or(b"-");
                let (status, headers): (_, &[_]) = match line.first() {
                    Some(b'2') => (200, &[]),
                    Some(b'3') => (302, &[]),
                    Some(b'4') => (404, &[]),
                    Some(b'5') => (500, &[]),
                    Some(b'n') => (400, &[("dpop-nonce", &b"nonce"[..])]),
                    _ => (0, &[]),
                };
                let body = line.get(1..).unwrap_or_default();
                flow.advance(
                    now,
                    match status {
                        0 => Input::Failed("no answer"),
                        _ => Input::Response(HttpResponse {
                            status,
                            headers,
                            body,
                        }),
                    },
                )
            }
            FlowStep::Random => {
                random += 1;
                flow.advance(now, Input::Random([random; 32]))
            }
            FlowStep::Hash(_) => flow.advance(now, Input::Digest([7; 32])),
            FlowStep::Sign(_) => flow.advance(now, Input::Signature(b"signature")),
            FlowStep::Open(page) => {
                is_safe(&page.url);
                let state = page.url.rsplit("&state=").next().expect("a state");
                let state = state.split('&').next().expect("a state");
                let line = String::from_utf8_lossy(lines.next().unwrap_or_default());
                let query = format!("?{}", line.replace("STATE", state));
                flow.advance(now, Input::Redirect(&query))
            }
            _ => flow.advance(now, Input::Identity(None)),
        };
    }
}

/// Whether nothing that is not `https` or this machine is reached.
fn is_safe(url: &str) {
    let uri = Uri::parse(url).expect("a URL");
    assert!(uri.is_confidential() && !uri.has_fragment(), "{url}");
}
