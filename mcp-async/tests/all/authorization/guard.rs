//! Addresses that no party may lead the client to (AU-29).

use core::cell::RefCell;
use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::{BTreeMap, VecDeque};
use std::io;

use futures_io::{AsyncRead as _, AsyncWrite as _};
use mcp_async::auth::{Authorization, CredentialStore as _, Credentials, MemoryCredentialStore};
use mcp_async::http::HttpConnector;
use mcp_async::net::{AddressGuard, HttpClient};
use mcp_async::runtime::{BoxStream, Listener};
use mcp_async::runtime::{Duplex, duplex};
use mcp_async::{Client, ErrorChain};
use mcp_proto::Revision;

use super::party::{Parties, SERVER};
use crate::sim::{self, Sim, play};
use crate::texts::has;

thread_local! {
    /// What names resolve to, each time the first of what is left: addresses with spaces between them.
    static NAMES: RefCell<BTreeMap<String, Vec<&'static str>>> = const { RefCell::new(BTreeMap::new()) };
    static DIALLED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static ACCEPTED: RefCell<VecDeque<(io::Result<String>, Answered)>> = const { RefCell::new(VecDeque::new()) };
    static ACCEPTING: RefCell<Option<Waker>> = const { RefCell::new(None) };
    static PAGES: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Takes the response to a request.
type Answered = Box<dyn FnOnce(&str) + Send>;

/// Connects to the next listener that accepts, and sends this request.
pub(crate) fn accept_next(request: io::Result<String>) {
    accept_and(request, |_| {});
}

/// The same; the function takes the response.
pub(crate) fn accept_and(
    request: io::Result<String>,
    answered: impl FnOnce(&str) + Send + 'static,
) {
    ACCEPTED.with_borrow_mut(|accepted| accepted.push_back((request, Box::new(answered))));
    if let Some(waker) = ACCEPTING.take() {
        waker.wake();
    }
}

/// Accepts what the test sends next.
pub(crate) struct Accepting;

impl Listener for Accepting {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(BoxStream, SocketAddr)>> {
        let Some((request, answered)) = ACCEPTED.with_borrow_mut(VecDeque::pop_front) else {
            ACCEPTING.set(Some(cx.waker().clone()));
            return Poll::Pending;
        };
        let request = request?;
        let (ours, mut theirs) = duplex(1 << 16);
        sim::spawn(async move {
            let mut rest = request.as_bytes();
            while !rest.is_empty() {
                let written =
                    core::future::poll_fn(|cx| Pin::new(&mut theirs).poll_write(cx, rest));
                let Ok(written) = written.await else { return };
                rest = &rest[written..];
            }
            let mut bytes = [0; 4096];
            let read = core::future::poll_fn(|cx| Pin::new(&mut theirs).poll_read(cx, &mut bytes));
            let count = read.await.unwrap_or(0);
            answered(core::str::from_utf8(&bytes[..count]).unwrap());
        });
        let from = SocketAddr::from(([127, 0, 0, 1], 50000));
        Poll::Ready(Ok((Box::new(ours), from)))
    }
}

/// The addresses of a name of the test.
pub(crate) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let address = NAMES.with_borrow_mut(|names| {
        let addresses = names.get_mut(host)?;
        match addresses.len() {
            0 | 1 => addresses.first().copied(),
            _ => Some(addresses.remove(0)),
        }
    });
    let addresses = address.ok_or(io::ErrorKind::NotFound)?.split(' ');
    let addresses = addresses.map(|address| SocketAddr::new(address.parse().unwrap(), port));
    Ok(addresses.collect())
}

/// A connection to a server of the test.
pub(crate) fn dial(address: SocketAddr) -> BoxStream {
    DIALLED.with_borrow_mut(|dialled| dialled.push(address.to_string()));
    let (ours, theirs) = duplex(1 << 16);
    sim::spawn(serve(theirs));
    Box::new(ours)
}

/// Answers each request with the page of its path.
async fn serve(mut stream: Duplex) {
    let mut read = Vec::new();
    loop {
        let mut bytes = [0; 4096];
        let count = core::future::poll_fn(|cx| Pin::new(&mut stream).poll_read(cx, &mut bytes));
        match count.await {
            Ok(count) if count > 0 => read.extend_from_slice(&bytes[..count]),
            _ => return,
        }
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().unwrap())
        });
        if body.len() < length.unwrap_or(0) {
            continue;
        }
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let page = PAGES.with_borrow(|pages| pages.get(&path).cloned());
        let page =
            page.unwrap_or_else(|| "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into());
        read.clear();
        let mut rest = page.as_bytes();
        while !rest.is_empty() {
            let written = core::future::poll_fn(|cx| Pin::new(&mut stream).poll_write(cx, rest));
            let Ok(written) = written.await else { return };
            rest = &rest[written..];
        }
    }
}

/// Sets what names resolve to.
pub(crate) fn names(names: &[(&str, &[&'static str])]) {
    NAMES.set(
        names
            .iter()
            .map(|(name, to)| ((*name).into(), to.to_vec()))
            .collect(),
    );
    DIALLED.take();
}

/// A rebinding name is judged at each connection.
#[test]
fn the_address_counts_and_not_the_name() {
    names(&[
        ("inside.example", &["10.0.0.1"]),
        ("cloud.example", &["169.254.169.254"]),
        ("rebound.example", &["93.184.215.14", "127.0.0.1"]),
    ]);
    play(async {
        let guard = AddressGuard::public_only();
        let client = HttpClient::builder()
            .guard(guard)
            .no_proxy()
            .max_idle(0)
            .build();
        client.start(Sim);
        let get = async |host: &str| {
            let request = http::Request::get(format!("http://{host}/"))
                .body("")
                .unwrap();
            match client.send(request).await {
                Ok(response) => response.status().to_string(),
                Err(error) => ErrorChain(&error).to_string(),
            }
        };
        assert!(
            get("inside.example")
                .await
                .contains("10.0.0.1 is a private address")
        );
        assert!(get("cloud.example").await.contains("link-local"));
        assert!(get("[::ffff:127.0.0.1]").await.contains("cannot connect"));
        assert_eq!(get("rebound.example").await, "404 Not Found");
        assert!(
            get("rebound.example")
                .await
                .contains("127.0.0.1 is a loopback address")
        );
    });
    assert_eq!(DIALLED.take(), ["93.184.215.14:80"]);
}

/// RFC 6761, section 6.3
#[test]
fn names_of_this_machine_lead_nowhere_else() {
    names(&[
        ("a.localhost", &["93.184.215.14"]),
        ("LOCALHOST.", &["10.0.0.1"]),
        ("b.localhost", &["127.0.0.1"]),
        ("localhost.example", &["93.184.215.15"]),
    ]);
    play(async {
        let client = HttpClient::builder().no_proxy().build();
        client.start(Sim);
        for (host, is_sent) in [
            ("a.localhost", false),
            ("LOCALHOST.", false),
            ("b.localhost", true),
            ("localhost.example", true),
        ] {
            let request = http::Request::get(format!("http://{host}/")).body("");
            let sent = client.send(request.unwrap()).await;
            assert_eq!(sent.is_ok(), is_sent, "{host}");
        }
    });
    assert_eq!(DIALLED.take(), ["127.0.0.1:80", "93.184.215.15:80"]);
}

/// Sets the responses to the requests for these paths.
pub(crate) fn pages<const N: usize>(pages: [(&str, String); N]) {
    PAGES.set(pages.map(|(path, page)| (path.into(), page)).into());
}

/// The addresses that connections were made to since the last look.
pub(crate) fn dialled() -> Vec<String> {
    DIALLED.take()
}

pub(crate) fn page(status: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{fields}content-length: {length}\r\n\r\n{body}")
}

/// A document of JSON.
pub(crate) fn json_page(body: &str) -> String {
    page("200 OK", "content-type: application/json\r\n", body)
}

/// A server of this machine names an authorization server elsewhere.
fn refused(metadata: &str, resolved: &[(&str, &[&'static str])], expected: &str) {
    let mut all = vec![("localhost", &["127.0.0.1"] as &[_])];
    all.extend(resolved);
    names(&all);
    let challenge = "www-authenticate: Bearer\r\n";
    PAGES.set(BTreeMap::from([
        ("/mcp".into(), page("401 Unauthorized", challenge, "")),
        (
            "/.well-known/oauth-protected-resource/mcp".into(),
            metadata.into(),
        ),
    ]));
    let expected = expected.to_owned();
    play(async {
        let authorization = Authorization::new().user_agent(Parties::new(Revision::V2026_07_28));
        let builder = Client::builder("demo", "1.0").authorize(authorization);
        let error = builder
            .connect(HttpConnector::new(Sim, "http://localhost/mcp"))
            .await
            .unwrap_err();
        has(&ErrorChain(&error).to_string(), [&expected]);
    });
    let dialled = DIALLED.take();
    assert!(
        dialled.iter().all(|address| address == "127.0.0.1:80"),
        "{dialled:?}"
    );
}

#[test]
fn metadata_leads_to_no_private_address() {
    let document = |issuer: &str| {
        let body = format!(
            r#"{{"resource":"http://localhost/mcp","authorization_servers":["{issuer}"]}}"#
        );
        json_page(&body)
    };
    refused(
        &document("https://login.inside"),
        &[("login.inside", &["192.168.1.1"])],
        "192.168.1.1 is a private address",
    );
    refused(
        &document("https://login.cloud"),
        &[("login.cloud", &["169.254.169.254"])],
        "169.254.169.254 is a link-local address",
    );
    refused(&document("http://login.plain"), &[], "login.plain");
}

/// A refresh comes before the first connection: the server is in a private network if all addresses
/// of its name are.
#[test]
fn a_refresh_before_the_first_connection() {
    for (resolved, is_sent) in [
        ("10.0.0.5", true),
        ("10.0.0.5 10.0.0.6", true),
        ("10.0.0.5 93.184.215.14", false),
        ("93.184.215.14 10.0.0.5", false),
    ] {
        names(&[
            ("mcp.inside", &[resolved]),
            ("login.inside", &["192.168.1.1"]),
        ]);
        play(async {
            let record = r#"{"version":1,"server":"https://mcp.inside/mcp","issuer":"https://login.inside",
                    "token_endpoint":"https://login.inside/token","identity":"dynamic","client_id":"c",
                    "redirect_uri":"http://127.0.0.1:1/callback","endpoint_auth_method":"none",
                    "requested_scope":"","granted_scope":"","access_token":"a","token_type":"Bearer",
                    "expires_at":1,"refresh_token":"r"}"#;
            let store = MemoryCredentialStore::new();
            let record = Credentials::from_json(record.as_bytes()).unwrap();
            store.save(&record).await.unwrap();
            let authorization = Authorization::new().non_interactive().store(store);
            let builder = Client::builder("demo", "1.0").authorize(authorization);
            builder
                .connect(HttpConnector::new(Sim, "https://mcp.inside/mcp"))
                .await
                .unwrap_err();
        });
        let dialled = DIALLED.take();
        let endpoint = "192.168.1.1:443".to_owned();
        assert_eq!(
            dialled.contains(&endpoint),
            is_sent,
            "{resolved}: {dialled:?}"
        );
    }
}

/// AU-31: the body never arrives, and is not waited for.
#[test]
fn a_document_that_is_announced_too_long_is_not_read() {
    refused(
        "HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n",
        &[],
        "longer than 1048576 bytes",
    );
}

#[test]
fn redirects_lead_to_no_private_address() {
    let to = |url: &str| page("302 Found", &format!("location: {url}\r\n"), "");
    refused(
        &to("https://meta.inside/x"),
        &[("meta.inside", &["10.1.1.1"])],
        "10.1.1.1 is a private address",
    );
    refused(
        &to("http://meta.plain/x"),
        &[],
        "redirected to http://meta.plain/x",
    );
    refused(
        &to("/.well-known/oauth-protected-resource/mcp"),
        &[],
        "too many redirects",
    );
}

/// Through a service, the addresses in URLs are judged here.
#[test]
fn a_service_receives_no_request_to_a_private_address() {
    let parties = Parties::new(Revision::V2026_07_28).with(|state| {
        let metadata =
            format!(r#"{{"resource":"{SERVER}","authorization_servers":["https://10.0.0.1"]}}"#);
        let url = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
        let answer = (200, "content-type", "application/json".into(), metadata);
        state.replaced.insert(url.into(), answer);
    });
    play(async {
        let error = parties.connect(parties.authorization()).await.unwrap_err();
        has(
            &ErrorChain(&error).to_string(),
            ["10.0.0.1 is a private address"],
        );
    });
    assert_eq!(parties.count("10.0.0.1"), 0);
}
