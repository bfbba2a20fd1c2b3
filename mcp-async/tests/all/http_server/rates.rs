//! One caller sends only so much in a time.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use http::Request;
use mcp_async::Server;
use mcp_async::http::{Http, HttpService, Principal};
use mcp_async::net::RemoteAddr;
use mcp_async::server::{RateLimit, RateLimits};

use crate::http_server::legacy::server;
use crate::http_server::nodes::{at, ping, processes_with};
use crate::scripted::{Reply, Session, call, initialize, modern, post, request, send};
use crate::server_typed::support::says;
use crate::sim::{Sim, advance};

fn built(set: impl FnOnce(Http) -> Http) -> HttpService {
    set(server().http()).into_service(Sim).unwrap()
}

/// A server whose callers may send five messages at once, and one more every two seconds.
fn slow() -> HttpService {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    built(|http| http.rate_limit(Some(limit)))
}

fn from<'b>(address: &str, mut request: Request<&'b str>) -> Request<&'b str> {
    let address: IpAddr = address.parse().unwrap();
    let address = RemoteAddr(SocketAddr::new(address, 40_000));
    request.extensions_mut().insert(address);
    request
}

fn by<'b>(name: &str, mut request: Request<&'b str>) -> Request<&'b str> {
    request.extensions_mut().insert(Principal::new(name));
    request
}

fn echo(id: u32) -> String {
    request(id, "tools/call", r#""name":"echo","arguments":{}"#)
}

/// The number of calls that this caller may make now, at most `most`.
fn calls(
    service: &HttpService,
    most: u32,
    send_as: impl Fn(Request<&str>) -> Request<&str>,
) -> usize {
    let replies = (0..most).map(|id| send(service, send_as(modern(&echo(id)))));
    replies.take_while(|reply| reply.status == 200).count()
}

#[track_caller]
fn check_refused(refused: Reply, retry_after: &str) {
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), retry_after);
    assert_eq!(refused.header("content-type"), "application/json");
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"limit reached: requests of one caller"}}"#;
    assert_eq!(refused.whole(), error);
}

#[test]
fn each_caller_has_the_limit_that_is_on_by_default() {
    let service = built(|http| http);
    let asked = |address: &str| calls(&service, 3_000, |it| from(address, it));
    assert_eq!(asked("192.0.2.1"), 2_000);
    let body = echo(1);
    check_refused(send(&service, from("192.0.2.1", modern(&body))), "1");
    // Others do not notice: another address, and a principal behind the first one.
    assert_eq!(asked("192.0.2.2"), 2_000);
    let of_ada = calls(&service, 3_000, |it| by("ada", from("192.0.2.1", it)));
    assert_eq!(of_ada, 2_000);
    advance(Duration::from_millis(500));
    assert_eq!(asked("192.0.2.1"), 500);
    advance(Duration::from_secs(60));
    assert_eq!(asked("192.0.2.1"), 2_000);
}

#[test]
fn a_network_of_ipv6_is_one_caller() {
    let service = slow();
    let asked = |address: &str| calls(&service, 9, |it| from(address, it));
    let asked = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(asked);
    assert_eq!(asked, [5, 0, 5]);
}

#[test]
fn proxies_that_are_trusted_name_the_caller() {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    for (trusted, expected) in [("10.0.0.0/8", [5, 5]), ("10.9.9.9", [5, 0])] {
        let service = built(|http| http.rate_limit(Some(limit)).trusted_proxies([trusted]));
        let asked = ["192.0.2.1", "192.0.2.2"].map(|client| {
            (0..9)
                .map(|id| {
                    let body = echo(id);
                    let mut request = from("10.1.2.3", modern(&body));
                    let value = client.parse().unwrap();
                    request.headers_mut().insert("x-forwarded-for", value);
                    send(&service, request)
                })
                .filter(|reply| reply.status == 200)
                .count()
        });
        assert_eq!(asked, expected, "{trusted}");
    }
}

#[test]
fn a_limit_can_be_off_and_cannot_be_zero() {
    let second = Duration::from_secs(1);
    let service = built(|http| http.rate_limit(None));
    assert_eq!(calls(&service, 2_500, |it| from("192.0.2.1", it)), 2_500);
    // A caller that is not known again has none.
    assert_eq!(calls(&slow(), 100, |it| it), 100);
    for zero in [
        RateLimit::new(0, second),
        RateLimit::new(1, second).burst(0),
    ] {
        let http = server().http().rate_limit(Some(zero));
        let error = http.into_service(Sim).unwrap_err();
        assert_eq!(error.mistakes()[0].name(), "rate_limit");
    }
}

#[test]
fn a_session_goes_on_after_a_refusal() {
    let service = slow();
    let ada = Some(Principal::new("ada"));
    let session = Session::open_as(&service, "2025-11-25", ada);
    for id in 1..=3 {
        assert_eq!(session.post(&call(id, "echo")).status, 200);
    }
    // Every method counts.
    check_refused(session.post(&call(4, "echo")), "2");
    check_refused(session.get(None), "2");
    check_refused(session.delete(), "2");
    advance(Duration::from_millis(900));
    check_refused(session.post(&call(4, "echo")), "2");
    advance(Duration::from_millis(1_100));
    let answer = session.post(&call(4, "echo"));
    assert!(answer.whole().contains(r#""id":4"#));
    advance(Duration::from_secs(4));
    assert_eq!(session.get(None).status, 200);
    assert_eq!(session.delete().status, 204);
}

#[test]
fn each_message_of_an_array_counts() {
    let service = slow();
    let ada = Some(Principal::new("ada"));
    let session = Session::open_as(&service, "2025-03-26", ada);
    let ping = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let array = |count| format!("[{}]", Vec::from_iter((1..=count).map(ping)).join(","));
    // Three are left.
    advance(Duration::from_secs(2));
    check_refused(session.post(&array(5)), "2");
    advance(Duration::from_secs(60));
    let answer = session.post(&array(5));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.whole().matches(r#""result":{}"#).count(), 5);
    check_refused(session.post(&ping(6)), "2");
    // More than may be sent at once never can.
    advance(Duration::from_secs(60));
    assert_eq!(session.post(&array(6)).status, 429);
}

#[test]
fn a_flood_of_notifications_is_refused() {
    let service = slow();
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let ada = Some(Principal::new("ada"));
    let session = Session::open_as(&service, "2025-11-25", ada);
    let statuses = [(); 6].map(|()| session.post(progress).status.as_u16());
    assert_eq!(statuses, [202, 202, 202, 429, 429, 429]);
    advance(Duration::from_secs(2));
    assert_eq!(session.post(&call(1, "echo")).status, 200);
}

/// The process that a request arrives at counts it, and the owner of its session does not.
#[test]
fn a_forwarded_request_counts_once() {
    let limit = RateLimit::new(1, Duration::from_secs(3_600)).burst(5);
    let [owner, other] = processes_with(|http| http.rate_limit(Some(limit)));
    let ada = Some(Principal::new("ada"));
    let open = || Session::open_as(&owner.service, "2025-11-25", ada.clone());
    let here = owner.sim.run(open);
    let there = at(&other, &here);
    let statuses = [(); 6].map(|()| there.post(ping()).status.as_u16());
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    // Two have opened the session.
    let statuses = [(); 4].map(|()| here.post(ping()).status.as_u16());
    assert_eq!(statuses, [200, 200, 200, 429]);
}

#[test]
fn what_the_checks_refuse_does_not_count() {
    let service = slow();
    for _ in 0..20 {
        let mut foreign = from("192.0.2.1", post("{}"));
        let host = "evil.example".parse().unwrap();
        foreign.headers_mut().insert("host", host);
        assert_eq!(send(&service, foreign).status, 403);
        let preflight = Request::options("/mcp")
            .header("host", "localhost")
            .header("origin", "http://localhost")
            .header("access-control-request-method", "POST");
        let preflight = from("192.0.2.1", preflight.body("").unwrap());
        assert_eq!(send(&service, preflight).status, 204);
    }
    assert_eq!(calls(&service, 9, |it| from("192.0.2.1", it)), 5);
    // Bodies that are no messages count.
    for body in ["", "{", "[]", "[1]", "7"] {
        let refused = send(&service, from("192.0.2.2", post(body)));
        assert_eq!(refused.status, 400, "{body}");
    }
    let body = initialize("2025-11-25");
    check_refused(send(&service, from("192.0.2.2", post(&body))), "2");
}

#[test]
fn the_endpoints_of_2024_11_05_count_too() {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    let http = server().http().legacy_sse("/sse", "/messages");
    let service = http.rate_limit(Some(limit)).into_service(Sim).unwrap();
    let open = || {
        let request = Request::get("/sse")
            .header("host", "localhost:8000")
            .header("accept", "text/event-stream");
        send(&service, by("ada", request.body("").unwrap()))
    };
    let mut stream = open();
    let text = stream.text();
    let uri = format!("/{}", text.trim_end().rsplit_once("data: ").unwrap().1);
    let say = |body: &str| {
        let mut request = post("").map(|_| body);
        *request.uri_mut() = uri.parse().unwrap();
        send(&service, by("ada", request)).status.as_u16()
    };
    let statuses = [(); 5].map(|()| say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    assert_eq!(statuses, [202, 202, 202, 202, 429]);
    check_refused(open(), "2");
    advance(Duration::from_secs(2));
    assert_eq!(say(&initialize("2024-11-05")), 202);
    assert!(stream.text().contains("protocolVersion"));
}

#[test]
fn callers_without_a_principal_do_not_share_the_limits_of_tools() {
    let limits = RateLimits {
        calls: Some(RateLimit::new(2, Duration::from_secs(60))),
        ..RateLimits::default()
    };
    let server = Server::builder("demo", "1.0").tool("echo", "", says("done"));
    let http = server.rate_limits(limits).http();
    let service = http.into_service(Sim).unwrap();
    let asked = |address: &str| calls(&service, 9, |it| from(address, it));
    assert_eq!(
        ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map(asked),
        [2, 0, 2]
    );
    let refused = send(&service, from("192.0.2.1", modern(&echo(1))));
    assert_eq!(
        (refused.status.as_u16(), refused.header("retry-after")),
        (429, "1")
    );
}
