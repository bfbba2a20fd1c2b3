use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::BodyExt as _;
use mcp_async::ErrorChain;
use mcp_async::net::{
    HttpClient, HttpClientBuilder, Identity, ResponseBody, RootCertificates, SendFailed,
};

use super::service::Tested;
use super::{PATIENCE, SOON, certificate, local, start};
use crate::adapter::{Runtime, tcp};
use crate::block_on;

type Client = HttpClient;

fn direct() -> Client {
    started(Client::builder().no_proxy())
}

/// A client that sends on the runtime of the test.
fn started(builder: HttpClientBuilder) -> Client {
    let client = builder.build();
    client.start(Runtime);
    client
}

async fn text(response: Response<ResponseBody>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn get(url: String) -> Request<Bytes> {
    Request::get(url).body(Bytes::new()).unwrap()
}

/// A server that says what it is told to, once for each connection that it accepts: a head was
/// read, then comes each text. What it read is handed out.
fn scripted(connections: Vec<Vec<String>>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (heads, heard) = mpsc::channel();
    thread::spawn(move || {
        for answers in connections {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in answers {
                heads.send(head(&mut stream)).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            }
            drop(stream);
            let _ = heads.send(CLOSED.to_owned());
        }
    });
    (address.to_string(), heard)
}

fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "the client broke off");
        bytes.extend_from_slice(&byte);
    }
    String::from_utf8(bytes).unwrap()
}

const CLOSED: &str = "closed";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn script(answers: &[&str]) -> Vec<String> {
    answers.iter().map(|answer| (*answer).to_owned()).collect()
}

#[test]
fn a_connection_is_kept() {
    let (address, heard) = scripted(vec![script(&[OK; 20])]);
    block_on(async {
        let client = direct();
        for _ in 0..20 {
            let response = client.send(get(format!("http://{address}/a?b"))).await;
            assert_eq!(text(response.unwrap()).await, "ok");
            let head = heard.recv().unwrap().to_lowercase();
            assert!(head.starts_with("get /a?b http/1.1\r\n"), "{head}");
            assert!(head.contains(&format!("\r\nhost: {address}\r\n")), "{head}");
        }
    });
}

#[test]
fn as_many_connections_are_kept_as_requests_run_at_once() {
    let server = start(local(), Tested::default());
    block_on(async {
        let client = direct();
        let url = format!("http://{}/address", server.address);
        let mut used = Vec::new();
        for _ in 0..2 {
            let mut responses = Vec::new();
            for _ in 0..40 {
                responses.push(client.send(get(url.clone())).await.unwrap());
            }
            let mut addresses = Vec::new();
            for response in responses {
                addresses.push(text(response).await);
            }
            addresses.sort();
            used.push(addresses);
        }
        assert_eq!(used[0], used[1]);
    });
}

#[test]
fn each_request_has_its_connection_where_none_may_be_idle() {
    let server = start(local(), Tested::default());
    block_on(async {
        let client = started(Client::builder().no_proxy().max_idle(0));
        let body = "x".repeat(3_000_000);
        let echo = Request::post(format!("http://{}/echo", server.address));
        let response = client.send(echo.body(body.clone()).unwrap()).await.unwrap();
        pause().await;
        assert_eq!(text(response).await, body);
        let url = format!("http://{}/address", server.address);
        let one = client.send(get(url.clone())).await.unwrap();
        let one = text(one).await;
        let other = client.send(get(url)).await.unwrap();
        assert_ne!(text(other).await, one);
    });
}

#[test]
fn a_kept_connection_that_was_closed_costs_nothing() {
    let (address, heard) = scripted(vec![script(&[OK]); 5]);
    block_on(async {
        let client = direct();
        for _ in 0..5 {
            let response = client.send(get(format!("http://{address}/"))).await;
            assert_eq!(text(response.unwrap()).await, "ok");
            assert_ne!(heard.recv().unwrap(), CLOSED);
            assert_eq!(heard.recv().unwrap(), CLOSED);
            pause().await;
            pause().await;
        }
    });
}

#[test]
fn a_request_that_was_read_is_not_sent_again() {
    let (address, heard) = scripted(vec![script(&[OK, ""]), script(&[OK])]);
    block_on(async {
        let client = direct();
        let url = format!("http://{address}/");
        assert_eq!(
            text(client.send(get(url.clone())).await.unwrap()).await,
            "ok"
        );
        let error = client.send(get(url)).await.unwrap_err();
        assert!(matches!(error, SendFailed::Lost(_)), "{error}");
        assert!(!error.is_unsent());
    });
    assert_eq!(heard.try_iter().filter(|head| head != CLOSED).count(), 2);
}

#[test]
fn requests_at_once_and_bodies_of_any_size() {
    let server = start(local(), Tested::default());
    block_on(async {
        let client = direct();
        let url = format!("http://{}/echo", server.address);
        for size in [0, 1, 1000, 100_000, 3_000_000] {
            let body = "x".repeat(size);
            let (one, two) = (
                Request::post(&url).body(body.clone()),
                Request::post(&url).body("2"),
            );
            let one = client.send(one.unwrap()).await.unwrap();
            let two = client.send(two.unwrap()).await.unwrap();
            assert_eq!(text(two).await, "2");
            assert_eq!(text(one).await, body);
        }
    });
}

#[test]
fn a_stream_arrives_as_it_is_written_and_ends_with_its_reader() {
    let service = Tested::default();
    let server = start(local(), service.clone());
    block_on(async {
        let client = direct();
        let response = client
            .send(get(format!("http://{}/silent", server.address)))
            .await;
        let mut body = response.unwrap().into_body();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "data: 1\n\n");
        service.has_open(1);
        drop(body);
        // The task that notices runs in this runtime.
        while service.open() > 0 {
            pause().await;
        }
    });
}

/// Lets the tasks of the runtime run for a moment.
async fn pause() {
    let client = direct();
    let _ = client.send(get("http://127.0.0.1:1/".into())).await;
}

/// SC-25.
#[test]
fn redirects_stay_with_the_server_and_keep_the_request() {
    let to = |status: &str, location: &str| {
        format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
    };
    let (elsewhere, heard_elsewhere) = scripted(vec![script(&[OK])]);
    let answers = vec![
        to("307 Moved", "/there?x"),
        to("308 Moved", "again"),
        OK.to_owned(),
        to("307 Moved", &format!("http://{elsewhere}/")),
        to("302 Found", "/there"),
    ];
    let (address, heard) = scripted(vec![answers]);
    block_on(async {
        let client = direct();
        let post = || {
            let request = Request::post(format!("http://{address}/here"));
            request
                .header("authorization", "Bearer x")
                .body("")
                .unwrap()
        };
        assert_eq!(text(client.send(post()).await.unwrap()).await, "ok");
        for path in ["/here", "/there?x", "/again"] {
            let head = heard.recv().unwrap();
            assert!(
                head.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
                "{head}"
            );
            assert!(head.contains("Bearer x"), "{head}");
        }
        assert_eq!(client.send(post()).await.unwrap().status(), 307);
        assert_eq!(client.send(post()).await.unwrap().status(), 302);
        assert_eq!(heard_elsewhere.try_iter().count(), 0);
    });
}

#[test]
fn a_circle_of_redirects_ends() {
    let round = "HTTP/1.1 307 Round\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    let (address, _heard) = scripted(vec![script(&[round; 20])]);
    let error = block_on(async { direct().send(get(format!("http://{address}/"))).await });
    assert!(matches!(error, Err(SendFailed::Redirects)));
}

#[test]
fn a_proxy_forwards_what_is_plain() {
    let (address, heard) = scripted(vec![script(&[OK])]);
    block_on(async {
        let proxy = format!("http://user:pa%20ss@{address}");
        let client = started(Client::builder().proxy(proxy));
        let response = client.send(get("http://server.example/a".into())).await;
        assert_eq!(text(response.unwrap()).await, "ok");
    });
    let head = heard.recv().unwrap();
    assert!(
        head.starts_with("GET http://server.example/a HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\nhost: server.example\r\n"), "{head}");
    // user:pa ss
    let authorization = "\r\nproxy-authorization: Basic dXNlcjpwYSBzcw==\r\n";
    assert!(head.contains(authorization), "{head}");
}

#[test]
fn this_machine_is_reached_without_a_proxy() {
    let server = start(local(), Tested::default());
    block_on(async {
        let client = started(Client::builder().proxy("http://192.0.2.1:1"));
        let port = server.address.port();
        for host in ["127.0.0.1", "127.1"] {
            let response = client.send(get(format!("http://{host}:{port}/hello")));
            assert_eq!(text(response.await.unwrap()).await, "hello", "{host}");
        }
    });
}

#[test]
fn tls_brings_the_second_version() {
    let (identity, roots) = certificate();
    let server = start(local().tls(identity), Tested::default());
    block_on(async {
        let client = started(Client::builder().no_proxy().roots(roots));
        for host in ["127.0.0.1", "localhost"] {
            let url = format!("https://{host}:{}/echo", server.address.port());
            for size in [1, 1_000_000] {
                let request = Request::post(&url).body("x".repeat(size)).unwrap();
                let response = client.send(request).await.unwrap();
                assert_eq!(response.version(), Version::HTTP_2);
                assert_eq!(text(response).await.len(), size);
            }
        }
    });
}

#[test]
fn streams_of_one_connection_end_alone() {
    let (identity, roots) = certificate();
    let service = Tested::default();
    let server = start(local().tls(identity), service.clone());
    block_on(async {
        let client = started(Client::builder().no_proxy().roots(roots));
        let url = format!("https://{}", server.address);
        let first = client.send(get(format!("{url}/silent"))).await.unwrap();
        let second = client.send(get(format!("{url}/silent"))).await.unwrap();
        service.has_open(2);
        drop(first);
        while service.open() > 1 {
            pause().await;
        }
        let hello = client.send(get(format!("{url}/hello"))).await.unwrap();
        assert_eq!(text(hello).await, "hello");
        drop(second);
    });
}

#[test]
fn who_is_not_trusted_gets_nothing() {
    let (identity, _) = certificate();
    let (_, others) = certificate();
    let server = start(local().tls(identity), Tested::default());
    block_on(async {
        let url = format!("https://{}/hello", server.address);
        let system = direct();
        let other = started(Client::builder().no_proxy().roots(others));
        for client in [system, other] {
            let error = client.send(get(url.clone())).await.unwrap_err();
            assert!(matches!(error, SendFailed::Unreachable { .. }), "{error}");
            let chain = ErrorChain(&error).to_string();
            assert!(chain.contains("certificate"), "{chain}");
        }
    });
}

#[test]
fn a_certificate_needs_its_key() {
    let one = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
    let two = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
    let (certificate, key) = (one.cert.pem(), two.signing_key.serialize_pem());
    for (certificate, key) in [
        (certificate.as_str(), key.as_str()),
        (certificate.as_str(), ""),
        (certificate.as_str(), certificate.as_str()),
        ("", key.as_str()),
        ("nonsense", key.as_str()),
    ] {
        assert!(Identity::from_pem(certificate.as_bytes(), key.as_bytes()).is_err());
    }
    assert!(RootCertificates::from_pem(b"").is_err());
}

/// A proxy that lets one connection through to `to`, if it is asked to; what it was asked.
fn through(to: String) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (heads, heard) = mpsc::channel();
    thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        heads.send(head(&mut near)).unwrap();
        let mut far = TcpStream::connect(to).unwrap();
        near.write_all(b"HTTP/1.1 200 Go on\r\n\r\n").unwrap();
        let mut back = (far.try_clone().unwrap(), near.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut back.0, &mut back.1));
        let _ = std::io::copy(&mut near, &mut far);
    });
    (address.to_string(), heard)
}

#[test]
fn a_proxy_lets_tls_through() {
    let (identity, roots) = certificate();
    let server = start(local().tls(identity), Tested::default());
    let (address, heard) = through(server.address.to_string());
    block_on(async {
        let proxy = format!("http://user:password@{address}");
        let client = started(Client::builder().proxy(proxy).roots(roots));
        let response = client
            .send(get("https://server.example/hello".into()))
            .await;
        assert_eq!(text(response.unwrap()).await, "hello");
    });
    let head = heard.recv().unwrap();
    assert!(
        head.starts_with("CONNECT server.example:443 HTTP/1.1\r\n"),
        "{head}"
    );
    let authorization = "\r\nProxy-Authorization: Basic dXNlcjpwYXNzd29yZA==\r\n";
    assert!(head.contains(authorization), "{head}");
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let refusal = "HTTP/1.1 407 Who are you\r\nContent-Length: 4\r\n\r\nwho?";
    for answer in [refusal, "", "what?\r\n\r\n", "HTTP/1.1 200"] {
        let (address, _heard) = scripted(vec![script(&[answer])]);
        block_on(async {
            let client = started(Client::builder().proxy(format!("http://{address}")));
            let error = client.send(get("https://server.example/".into())).await;
            let error = error.unwrap_err();
            assert!(matches!(error, SendFailed::Unreachable { .. }), "{error}");
            assert!(error.is_unsent());
            let chain = ErrorChain(&error).to_string();
            assert!(chain.contains("proxy"), "{chain}");
        });
    }
}

/// `http` and `https` the wrong way round, in both directions.
#[test]
fn a_port_of_the_other_scheme_is_named() {
    let (identity, roots) = certificate();
    let tls = start(local().tls(identity), Tested::default());
    let plain = start(local(), Tested::default());
    block_on(async {
        let client = started(Client::builder().no_proxy().roots(roots));
        let url = format!("http://{}/hello", tls.address);
        let error = client.send(get(url)).await.unwrap_err();
        assert!(matches!(error, SendFailed::NotHttp { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&tls.address.to_string()) && text.contains("https://"),
            "{text}"
        );

        let url = format!("https://{}/hello", plain.address);
        let error = client.send(get(url)).await.unwrap_err();
        assert!(matches!(error, SendFailed::Unreachable { .. }), "{error}");
        let text = ErrorChain(&error).to_string();
        assert!(
            text.contains(&plain.address.to_string()) && text.contains("http://"),
            "{text}"
        );
    });
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = tcp(address).address().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn where_nobody_answers_is_said() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    block_on(async {
        let hasty = started(Client::builder().no_proxy().connect_timeout(SOON));
        let url = format!("https://{}/", silent.local_addr().unwrap());
        let error = hasty.send(get(url)).await.unwrap_err();
        assert!(matches!(error, SendFailed::TimedOut { .. }), "{error}");
        let client = direct();
        let error = client
            .send(get(format!("http://{closed}/")))
            .await
            .unwrap_err();
        assert!(matches!(error, SendFailed::Unreachable { .. }), "{error}");
        for url in ["/path", "ftp://server.example/", "server.example"] {
            let error = client.send(get(url.into())).await.unwrap_err();
            assert!(matches!(error, SendFailed::Address(_)), "{error}");
        }
    });
}

#[test]
fn a_proxy_that_is_none_is_not_gone_around() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    for proxy in ["", "this is : none"] {
        let client = started(Client::builder().proxy(proxy));
        let error = block_on(client.send(get(url.clone()))).unwrap_err();
        assert!(matches!(error, SendFailed::Proxy), "{error}");
        assert!(error.is_unsent());
    }
}

#[test]
fn packed_answers_are_unpacked_if_asked_for() {
    // "hello" in gzip, stored.
    let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x05\0\xfa\xffhello\x86\xa6\x106\x05\0\0\0";
    let serve = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heads, heard) = mpsc::channel();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            heads.send(head(&mut stream)).unwrap();
            let length = packed.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(packed).unwrap();
        });
        (address, heard)
    };
    let ask = |client: Client| -> (Vec<u8>, String) {
        let (address, heard) = serve();
        let body = block_on(async {
            let response = client
                .send(get(format!("http://{address}/")))
                .await
                .unwrap();
            response
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
                .to_vec()
        });
        (body, heard.recv().unwrap())
    };
    let (body, head) = ask(started(Client::builder().no_proxy().decompress()));
    assert_eq!(body, b"hello");
    assert!(
        head.contains("accept-encoding: gzip, deflate\r\n"),
        "{head}"
    );
    let (body, head) = ask(direct());
    assert_eq!(body, packed);
    assert!(!head.contains("accept-encoding"), "{head}");
}
