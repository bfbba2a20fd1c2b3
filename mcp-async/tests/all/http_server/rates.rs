//! One caller sends only so much in a time.

use core::time::Duration;

use http::{Method, Request};
use mcp_async::Server;
use mcp_async::http::{Http, HttpService};
use mcp_async::server::{Principal, RateLimit, RateLimits};

use crate::http_server::legacy::server;
use crate::http_server::nodes::{at, ping, processes_with};
use crate::scripted::{
    HttpClient, Reply, RequestExt, Serve, SseClient, array, call, get, initialize, modern,
    plain_call, post, send,
};
use crate::server_typed::support::says;
use crate::sim::{Sim, advance};
use crate::texts::has;

fn built(set: impl FnOnce(Http) -> Http) -> HttpService {
    set(server().http()).served()
}

/// A server whose callers may send five messages at once, and one more every two seconds.
fn slow() -> HttpService {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    built(|http| http.rate_limit(Some(limit)))
}

fn echo(id: u32) -> Request<String> {
    modern(&plain_call(id, "echo"))
}

/// The number of calls that this caller may make now, at most `most`.
fn calls(
    service: &HttpService,
    most: u32,
    send_as: impl Fn(Request<String>) -> Request<String>,
) -> usize {
    let replies = (0..most).map(|id| send(service, send_as(echo(id))));
    replies.take_while(|reply| reply.status == 200).count()
}

#[track_caller]
fn check_refused(refused: Reply, retry_after: &str) {
    refused.has_head(
        429,
        [
            ("retry-after", retry_after),
            ("content-type", "application/json"),
        ],
    );
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"limit reached: requests of one caller"}}"#;
    assert_eq!(refused.whole(), error);
}

#[test]
fn each_caller_has_the_limit_that_is_on_by_default() {
    let service = built(|http| http);
    let asked = |address: &str| calls(&service, 3_000, |it| it.at_address(address));
    assert_eq!(asked("192.0.2.1"), 2_000);
    check_refused(send(&service, echo(1).at_address("192.0.2.1")), "1");
    // Others do not notice: another address, and a principal behind the first one.
    assert_eq!(asked("192.0.2.2"), 2_000);
    let of_ada = calls(&service, 3_000, |it| it.at_address("192.0.2.1").by("ada"));
    assert_eq!(of_ada, 2_000);
    advance(Duration::from_millis(500));
    assert_eq!(asked("192.0.2.1"), 500);
    advance(Duration::from_secs(60));
    assert_eq!(asked("192.0.2.1"), 2_000);
}

#[test]
fn a_network_of_ipv6_is_one_caller() {
    let service = slow();
    let asked = |address: &str| calls(&service, 9, |it| it.at_address(address));
    let asked = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(asked);
    assert_eq!(asked, [5, 0, 5]);
}

#[test]
fn proxies_that_are_trusted_name_the_caller() {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    for (trusted, expected) in [("10.0.0.0/8", [5, 5]), ("10.9.9.9", [5, 0])] {
        let service = built(|http| http.rate_limit(Some(limit)).trusted_proxies([trusted]));
        let asked = ["192.0.2.1", "192.0.2.2"].map(|client| {
            let from = |it: Request<String>| it.at_address("10.1.2.3");
            calls(&service, 9, |it| from(it).with("x-forwarded-for", client))
        });
        assert_eq!(asked, expected, "{trusted}");
    }
}

#[test]
fn a_limit_can_be_off_and_cannot_be_zero() {
    let second = Duration::from_secs(1);
    let service = built(|http| http.rate_limit(None));
    assert_eq!(
        calls(&service, 2_500, |it| it.at_address("192.0.2.1")),
        2_500
    );
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
    let session = HttpClient::open_as(&service, "2025-11-25", ada);
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
    let session = HttpClient::open_as(&service, "2025-03-26", ada);
    let ping = |id| format!("{id} ping");
    let array = |count| {
        let pings = Vec::from_iter((1..=count).map(ping));
        array(&Vec::from_iter(pings.iter().map(String::as_str)))
    };
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
    let progress = r#"- notifications/progress {"progressToken":1,"progress":1}"#;
    let ada = Some(Principal::new("ada"));
    let session = HttpClient::open_as(&service, "2025-11-25", ada);
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
    let open = || HttpClient::open_as(&owner.service, "2025-11-25", ada.clone());
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
        let stranger = post("{}").at_address("192.0.2.1");
        let foreign = stranger.clone().with("host", "evil.example");
        assert_eq!(send(&service, foreign).status, 403);
        let preflight = stranger.with_method(Method::OPTIONS);
        let preflight = preflight.with("origin", "http://localhost");
        let preflight = preflight.with("access-control-request-method", "POST");
        assert_eq!(send(&service, preflight).status, 204);
    }
    assert_eq!(calls(&service, 9, |it| it.at_address("192.0.2.1")), 5);
    // Bodies that are no messages count.
    for body in ["", "{", "[]", "[1]", "7"] {
        let refused = send(&service, post(body).at_address("192.0.2.2"));
        assert_eq!(refused.status, 400, "{body}");
    }
    let opening = post(&initialize("2025-11-25"));
    check_refused(send(&service, opening.at_address("192.0.2.2")), "2");
}

#[test]
fn the_endpoints_of_2024_11_05_count_too() {
    let limit = RateLimit::new(1, Duration::from_secs(2)).burst(5);
    let http = server().http().legacy_sse("/sse", "/messages");
    let service = http.rate_limit(Some(limit)).served();
    let ada = Some(Principal::new("ada"));
    let mut client = SseClient::open_in(&service, "", ada);
    let statuses = [(); 5].map(|()| client.post("1 ping").status.as_u16());
    assert_eq!(statuses, [202, 202, 202, 202, 429]);
    check_refused(send(&service, get(None).to("/sse").by("ada")), "2");
    advance(Duration::from_secs(2));
    assert_eq!(client.say(&initialize("2024-11-05")), 202);
    has(&client.stream.text(), ["protocolVersion"]);
}

#[test]
fn callers_without_a_principal_do_not_share_the_limits_of_tools() {
    let limits = RateLimits {
        calls: Some(RateLimit::new(2, Duration::from_secs(60))),
        ..RateLimits::default()
    };
    let server = Server::builder("demo", "1.0").tool("echo", "", says("done"));
    let http = server.rate_limits(limits).http();
    let service = http.served();
    let asked = |address: &str| calls(&service, 9, |it| it.at_address(address));
    assert_eq!(
        ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map(asked),
        [2, 0, 2]
    );
    let refused = send(&service, echo(1).at_address("192.0.2.1"));
    refused.has_head(429, [("retry-after", "1")]);
}
