//! The protected fixture, on both runtimes.

#[path = "support/server.rs"]
mod server;

use core::time::Duration;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use server::Server;

/// More than any answer takes.
const LIMIT: Duration = Duration::from_secs(30);

/// A protected server.
struct Protected(Server);

impl Protected {
    fn start(runtime: &str, variables: &[(&str, &str)]) -> Self {
        Self(Server::start(runtime, &["http-auth"], &[], variables))
    }

    /// The whole response to a request with these fields.
    fn send(&self, line: &str, fields: &[&str], body: &str) -> String {
        let mut head = format!("{line} HTTP/1.1\r\nhost: 127.0.0.1:{}", self.0.port);
        for field in fields {
            head += &format!("\r\n{field}");
        }
        self.0.send(&head, body)
    }

    /// Calls a tool in 2026-07-28.
    fn call(&self, tool: &str, arguments: &str, authorization: &str) -> String {
        self.call_with(tool, arguments, authorization, &[])
    }

    /// The same with more fields.
    fn call_with(&self, tool: &str, arguments: &str, authorization: &str, more: &[&str]) -> String {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let name = format!("mcp-name: {tool}");
        let authorization = format!("authorization: {authorization}");
        let mut fields = vec![
            "accept: application/json, text/event-stream",
            "content-type: application/json",
            "mcp-protocol-version: 2026-07-28",
            "mcp-method: tools/call",
            &name,
            &authorization,
        ];
        if tool == "region" {
            fields.push("mcp-param-region: eu");
        }
        fields.extend(more);
        self.send("POST /mcp", &fields, &body)
    }

    /// Sends a request of 2026-07-28 of a client that follows tasks. `name` is what it is about.
    fn ask(&self, method: &str, name: &str, params: &str, token: &str) -> String {
        let (name, body) = (format!("mcp-name: {name}"), body(method, params));
        let method = format!("mcp-method: {method}");
        let fields = [&*method, &name, "mcp-protocol-version: 2026-07-28"];
        self.post(token, &fields, &body)
    }

    /// Subscribes to a task, and returns the acknowledgement.
    fn listen(&self, task: &str, token: &str) -> String {
        let params = format!(r#""notifications":{{"taskIds":["{task}"]}}"#);
        let (port, body) = (self.0.port, body("subscriptions/listen", &params));
        let length = body.len();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        let acknowledged = lines.find(|line| line.contains("subscriptions/acknowledged"));
        acknowledged.expect("an acknowledgement")
    }

    fn initialize(&self, token: &str) -> String {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        self.post(token, &[], body)
    }

    fn post(&self, token: &str, more: &[&str], body: &str) -> String {
        let token = format!("authorization: Bearer {token}");
        let mut fields = vec![
            "accept: application/json, text/event-stream",
            "content-type: application/json",
            &token,
        ];
        fields.extend(more);
        self.send("POST /mcp", &fields, body)
    }
}

/// A request of 2026-07-28 of a client that follows tasks.
fn body(method: &str, params: &str) -> String {
    let extension = r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#;
    let capabilities = format!(r#"{{"elicitation":{{"form":{{}}}},{extension}}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
    )
}

fn check(answer: &str, status: u16, holds: &[&str]) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer}"
    );
    for part in holds {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn tokens_of_the_table_are_judged() {
    for runtime in ["tokio", "smol"] {
        let server = Protected::start(runtime, &[]);
        let port = server.0.port;
        let document = format!("http://127.0.0.1:{port}/.well-known/oauth-protected-resource/mcp");
        let document = format!(r#"resource_metadata="{document}""#);
        let call = |authorization: &str| server.call("echo", r#"{"text":"hi"}"#, authorization);
        check(&call("Bearer good"), 200, &[r#""text":"hi""#]);
        check(&call("Bearer other-user"), 200, &[]);
        for token in ["expired", "wrong-aud", "unknown", "GOOD"] {
            let parts = [
                r#"Bearer error="invalid_token""#,
                &document,
                r#"scope="mcp""#,
            ];
            check(&call(&format!("Bearer {token}")), 401, &parts);
        }
        check(
            &call("Bearer no-scope"),
            403,
            &[r#"error="insufficient_scope""#, &document],
        );
        check(
            &call("Basic YTpi"),
            401,
            &["Bearer scope=\"mcp\", ", &document],
        );
        check(&call("Bearer"), 400, &["invalid_request"]);
        check(
            &server.send("POST /mcp?access_token=good", &[], "{}"),
            400,
            &["invalid_request"],
        );
        for path in ["", "/mcp"] {
            let line = format!("GET /.well-known/oauth-protected-resource{path}");
            let answer = server.send(&line, &["origin: https://app.example"], "");
            let resource = format!(r#""resource":"http://127.0.0.1:{port}/mcp""#);
            let parts = [
                &*resource,
                r#""authorization_servers":["https://as.example/"]"#,
                r#""scopes_supported":["mcp"]"#,
                "access-control-allow-origin: *",
            ];
            check(&answer, 200, &parts);
        }
    }
}

#[test]
fn sessions_belong_to_their_user() {
    for runtime in ["tokio", "smol"] {
        let server = Protected::start(runtime, &[]);
        check(&server.initialize("unknown"), 401, &[]);
        let opened = server.initialize("good");
        check(&opened, 200, &[]);
        let (_, id) = opened
            .split_once("mcp-session-id: ")
            .expect("it opens a session");
        let id = format!("mcp-session-id: {}", id.lines().next().unwrap());
        let fields = [&*id, "mcp-protocol-version: 2025-11-25"];
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        check(&server.post("good", &fields, list), 200, &["region"]);
        check(&server.post("other-user", &fields, list), 404, &[]);
        check(&server.post("expired", &fields, list), 401, &[]);
    }
}

/// TK-49, TK-59
#[test]
fn tasks_belong_to_their_user() {
    for runtime in ["tokio", "smol"] {
        let server = Protected(Server::start(runtime, &["tasks", "http"], &["--auth"], &[]));
        let call = r#""name":"job","arguments":{"steps":1,"ms":1,"ask":1}"#;
        check(&server.ask("tools/call", "job", call, "unknown"), 401, &[]);
        let created = server.ask("tools/call", "job", call, "good");
        check(&created, 200, &[r#""resultType":"task""#]);
        let (_, id) = created.split_once(r#""taskId":""#).expect(&created);
        let (id, _) = id.split_once('"').unwrap();
        let task = format!(r#""taskId":"{id}""#);
        let answers = |text: &str| {
            let answer = format!(r#"{{"action":"accept","content":{{"answer":"{text}"}}}}"#);
            format!(r#"{task},"inputResponses":{{"q1":{answer}}}"#)
        };
        let get = |token: &str| server.ask("tasks/get", id, &task, token);
        let wait = |expected: &str| {
            let end = Instant::now() + LIMIT;
            loop {
                let answer = get("good");
                if answer.contains(expected) {
                    return answer;
                }
                assert!(Instant::now() < end, "{answer}");
                thread::sleep(Duration::from_millis(20));
            }
        };
        wait(r#""status":"input_required""#);

        // For another user it is a task that does not exist.
        let unknown = r#""taskId":"nothing""#;
        let unknown = server.ask("tasks/get", "nothing", unknown, "other-user");
        check(&unknown, 200, &["-32602"]);
        let (_, unknown) = unknown.split_once("\r\n\r\n").unwrap();
        for (method, params) in [
            ("tasks/get", task.clone()),
            ("tasks/update", answers("bob")),
            ("tasks/cancel", task.clone()),
        ] {
            let refused = server.ask(method, id, &params, "other-user");
            check(&refused, 200, &[unknown]);
            check(&server.ask(method, id, &params, "expired"), 401, &[]);
            check(&server.ask(method, id, &params, "no-scope"), 403, &[]);
        }
        assert!(!server.listen(id, "other-user").contains("taskIds"));
        assert!(server.listen(id, "good").contains(id));

        // Nothing of that changed it.
        check(&get("good"), 200, &[r#""status":"input_required""#]);
        let answered = server.ask("tasks/update", id, &answers("alice"), "good");
        check(&answered, 200, &[r#""resultType":"complete""#]);
        let ended = wait(r#""status":"completed""#);
        assert!(ended.contains("done 1 alice"), "{ended}");
        check(&get("other-user"), 200, &[unknown]);
    }
}

/// An authorization server: metadata, and one key.
fn authorization_server(key: &Ed25519KeyPair) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let issuer = format!(
        "http://127.0.0.1:{}/tenant",
        listener.local_addr().unwrap().port()
    );
    let x = URL_SAFE_NO_PAD.encode(key.public_key());
    let keys =
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"k1","use":"sig"}}]}}"#);
    let metadata = format!(r#"{{"issuer":"{issuer}","jwks_uri":"{issuer}/keys"}}"#);
    // It ends with the process of the tests.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                head.extend(byte);
            }
            let head = String::from_utf8_lossy(&head);
            let (status, body) = match head.split(' ').nth(1) {
                Some("/tenant/.well-known/openid-configuration") => (200, &metadata),
                Some("/tenant/keys") => (200, &keys),
                _ => (404, &keys),
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} A\r\nconnection: close\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            );
        }
    });
    issuer
}

/// A JSON Web Token.
fn signed(key: &Ed25519KeyPair, header: &str, payload: &str) -> String {
    let text = [header, payload].map(|part| URL_SAFE_NO_PAD.encode(part));
    let text = text.join(".");
    let signature = URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes()));
    format!("{text}.{signature}")
}

/// An access token of the issuer with more claims.
fn token(key: &Ed25519KeyPair, issuer: &str, more: &str) -> String {
    let expires = now() + 600;
    let claims = format!(r#"{{"iss":"{issuer}","sub":"ada","exp":{expires},{more}}}"#);
    signed(key, r#"{"alg":"EdDSA","typ":"at+jwt","kid":"k1"}"#, &claims)
}

fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// Bound tokens need a proof, and others are bearer tokens.
#[test]
fn bound_tokens_are_accepted_with_a_proof() {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let issuer = authorization_server(&key);
    let client = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
    let x = URL_SAFE_NO_PAD.encode(client.public_key());
    let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    for runtime in ["tokio", "smol"] {
        let variables = [("MCP_AUTH_ISSUER", &*issuer), ("MCP_AUTH_DPOP", "1")];
        let server = Protected::start(runtime, &variables);
        let resource = format!("http://127.0.0.1:{}/mcp", server.0.port);
        let claims = format!(r#""aud":"{resource}","scope":"mcp""#);
        let free = token(&key, &issuer, &claims);
        let thumbprint = hash(&jwk);
        let bound = format!(r#"{claims},"cnf":{{"jkt":"{thumbprint}"}}"#);
        let bound = token(&key, &issuer, &bound);
        let proof = |jti: &str| {
            let header = format!(r#"{{"alg":"EdDSA","typ":"dpop+jwt","jwk":{jwk}}}"#);
            let (iat, ath) = (now(), hash(&bound));
            let payload = format!(
                r#"{{"htm":"POST","htu":"{resource}","iat":{iat},"jti":"{jti}","ath":"{ath}"}}"#
            );
            format!("dpop: {}", signed(&client, &header, &payload))
        };
        let call = |authorization: &str, fields: &[&str]| {
            server.call_with("echo", r#"{"text":"hi"}"#, authorization, fields)
        };
        check(&call(&format!("Bearer {free}"), &[]), 200, &["hi"]);
        let with_proof = format!("DPoP {bound}");
        check(&call(&with_proof, &[&proof("1")]), 200, &["hi"]);
        check(
            &call(&with_proof, &[&proof("1")]),
            401,
            &["invalid_dpop_proof"],
        );
        check(&call(&with_proof, &[]), 401, &["invalid_dpop_proof"]);
        check(&call(&format!("Bearer {bound}"), &[]), 401, &["DPoP error"]);
    }
}

/// Keys are found through the metadata of the issuer, when the first token arrives.
#[test]
fn signed_tokens_of_an_issuer_are_verified() {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let issuer = authorization_server(&key);
    for runtime in ["tokio", "smol"] {
        let server = Protected::start(runtime, &[("MCP_AUTH_ISSUER", &issuer)]);
        let port = server.0.port;
        let token = |audience: &str, scope: &str| {
            let claims = format!(r#""aud":"{audience}","scope":"{scope}""#);
            format!("Bearer {}", token(&key, &issuer, &claims))
        };
        let resource = format!("http://127.0.0.1:{port}/mcp");
        let echo = |token: &str| server.call("echo", r#"{"text":"hi"}"#, token);
        check(&echo(&token(&resource, "mcp")), 200, &["hi"]);
        check(&echo(&token(&resource, "admin")), 200, &["hi"]);
        check(
            &echo(&token("https://other.example", "mcp")),
            401,
            &["invalid_token"],
        );
        check(&echo(&token(&resource, "other")), 403, &[r#"scope="mcp""#]);
        check(&echo("Bearer good"), 401, &["invalid_token"]);
        let region = |scope: &str| {
            let token = token(&resource, scope);
            server.call("region", r#"{"region":"eu"}"#, &token)
        };
        check(&region("mcp"), 403, &[r#"scope="mcp region:read""#]);
        check(&region("admin region:read"), 200, &["eu:"]);
    }
}
