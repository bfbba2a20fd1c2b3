//! One caller does not take what all share.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::Request;
use mcp_async::http::{Http, HttpService};
use mcp_async::server::{Context, Principal, ServerBuilder};
use mcp_proto::model::LoggingLevel;

use crate::http_server::legacy::server;
use crate::scripted::{
    HttpClient, INITIALIZED, Reply, RequestExt, Serve, SseClient, call, get, initialize, modern,
    plain_call, post, send, wait,
};
use crate::sim::{Sim, advance, settle};
use crate::texts::has;

fn called(tool: &str) -> Request<String> {
    modern(&plain_call(1, tool))
}

fn listen() -> Request<String> {
    modern(r#"9 subscriptions/listen {"notifications":{}}"#)
}

/// Opens as many listens as this caller may have, at most `most`.
fn listens(
    service: &HttpService,
    most: usize,
    send_as: impl Fn(Request<String>) -> Request<String>,
) -> Vec<Reply> {
    let replies = (0..most).map(|_| send(service, send_as(listen())));
    replies.take_while(|reply| reply.status == 200).collect()
}

fn built(set: impl FnOnce(Http) -> Http) -> HttpService {
    set(server().http()).served()
}

#[test]
fn a_caller_leaves_room_for_the_listens_of_others() {
    let service = built(|http| http.max_exchanges(12));
    let first = listens(&service, 12, |it| it.at_address("192.0.2.1").by("bob"));
    let second = listens(&service, 12, |it| it.at_address("192.0.2.1").by("eve"));
    let third = listens(&service, 12, |it| it.at_address("192.0.2.1"));
    assert_eq!([&first, &second, &third].map(Vec::len), [6, 3, 2]);
    drop(first);
    assert_eq!(
        listens(&service, 12, |it| it.at_address("192.0.2.2")).len(),
        4
    );
}

#[test]
fn an_address_of_ipv6_is_a_network() {
    let service = built(|http| http.max_exchanges(4));
    let kept = [
        "2001:db8::1",
        "2001:db8::2",
        "2001:db8::3",
        "2001:db8:0:1::1",
    ]
    .map(|address| listens(&service, 1, |it| it.at_address(address)));
    assert_eq!(kept.each_ref().map(Vec::len), [1, 1, 0, 1]);
}

#[test]
fn without_a_caller_only_the_number_counts() {
    let service = built(|http| http.max_exchanges(4));
    assert_eq!(listens(&service, 9, |it| it).len(), 4);
}

#[test]
fn named_proxies_say_who_asks() {
    for (is_named, expected) in [(true, 1), (false, 0)] {
        let service = built(|http| match is_named {
            true => http.max_exchanges(4).trusted_proxies(["10.0.0.0/8"]),
            false => http.max_exchanges(4),
        });
        let ask = |address| {
            let request = listen().with("x-forwarded-for", address);
            send(&service, request.at_address("10.1.2.3"))
        };
        let kept = [ask("192.0.2.1"), ask("192.0.2.1"), ask("192.0.2.1")];
        assert_eq!(
            kept.each_ref().map(|it| it.status.as_u16()),
            [200, 200, 503]
        );
        let other = ask("192.0.2.2");
        assert_eq!(usize::from(other.status == 200), expected);
    }
    let error = server().http().trusted_proxies(["proxy"]).into_service(Sim);
    let mistakes = error.unwrap_err();
    assert_eq!(mistakes.mistakes()[0].name(), "trusted_proxies");
}

/// Only what takes longer needs a place, and is refused before its response begins.
#[test]
fn a_full_table_does_not_keep_out_what_ends_at_once() {
    let service = built(|http| http.max_exchanges(2));
    let full = listens(&service, 9, |it| it);
    assert_eq!(full.len(), 2);
    assert_eq!(send(&service, called("echo")).status, 200);
    assert_eq!(send(&service, modern("1 tools/list")).status, 200);
    for tool in ["slow", "never"] {
        let refused = send(&service, called(tool));
        assert_eq!(refused.header("retry-after"), "5");
        refused.says(503, ["may have run"]);
    }
    drop(full);
    let mut slow = wait(&service, called("slow"));
    advance(Duration::from_secs(1));
    assert_eq!(slow.reply().unwrap().status, 200);
    // It has left its place.
    assert_eq!(listens(&service, 9, |it| it).len(), 2);
}

fn open(service: &HttpService, address: &str) -> Reply {
    send(service, post(&initialize("2025-11-25")).at_address(address))
}

#[test]
fn a_caller_leaves_room_for_the_sessions_of_others() {
    let service = built(|http| http.max_sessions(4));
    let open = |name: &str| {
        let reply = send(&service, post(&initialize("2025-11-25")).by(name));
        if reply.status == 200 {
            let client =
                HttpClient::new(&service, "2025-11-25").used_by(Some(Principal::new(name)));
            let session = client.in_session(reply.header("mcp-session-id"));
            session.post(INITIALIZED);
        }
        reply.status.as_u16()
    };
    assert_eq!(["bob", "bob", "bob"].map(open), [200, 200, 503]);
    assert_eq!(["eve", "eve", "ada", "joe"].map(open), [200, 503, 200, 503]);
}

fn ping(service: &HttpService, opened: &Reply) -> u16 {
    say(service, opened, "2 ping")
}

fn confirm(service: &HttpService, opened: &Reply) {
    assert_eq!(say(service, opened, INITIALIZED), 202);
}

fn say(service: &HttpService, opened: &Reply, body: &str) -> u16 {
    let client = HttpClient::new(service, "2025-11-25");
    let session = client.in_session(opened.header("mcp-session-id"));
    session.post(body).status.as_u16()
}

#[test]
fn sessions_without_a_sign_of_life_make_room_after_a_minute() {
    let service = built(|http| http.max_sessions(4));
    let [first, second] = [open(&service, "192.0.2.1"), open(&service, "192.0.2.1")];
    assert_eq!(open(&service, "192.0.2.1").status, 503);
    // Its client was heard of.
    confirm(&service, &first);
    advance(Duration::from_secs(59));
    assert_eq!(open(&service, "192.0.2.1").status, 503);
    advance(Duration::from_secs(1));
    let third = open(&service, "192.0.2.1");
    assert_eq!(third.status, 200);
    assert_eq!(ping(&service, &second), 404);
    assert_eq!([&first, &third].map(|it| ping(&service, it)), [200, 200]);
    // Only the third may make room, and not before a minute is over.
    assert_eq!(open(&service, "192.0.2.1").status, 503);
}

#[test]
fn a_full_table_makes_room_for_a_new_caller_at_once() {
    let service = built(|http| http.max_sessions(2));
    let [first, second] = ["192.0.2.1", "192.0.2.2"].map(|it| open(&service, it));
    assert_eq!(
        [first.status, second.status].map(|it| it.as_u16()),
        [200, 200]
    );
    // Who has a session already waits for the minute.
    assert_eq!(open(&service, "192.0.2.1").status, 503);
    let third = open(&service, "192.0.2.3");
    assert_eq!(third.status, 200);
    assert_eq!(ping(&service, &first), 404);
    assert_eq!([&second, &third].map(|it| ping(&service, it)), [200, 200]);
    for session in [&second, &third] {
        confirm(&service, session);
    }
    assert_eq!(open(&service, "192.0.2.4").status, 503);
}

#[test]
fn a_stream_of_2024_11_05_makes_room_too() {
    let service = built(|http| http.max_sessions(1).legacy_sse("/sse", "/messages"));
    let mut stream = send(&service, get(None).to("/sse").at_address("192.0.2.1"));
    stream.text();
    assert!(!stream.has_ended());
    assert_eq!(open(&service, "192.0.2.2").status, 200);
    settle();
    assert!(stream.has_ended());
}

/// An endpoint with long answers and long streams.
fn wordy(bytes: usize) -> HttpService {
    counted(bytes).0
}

/// The endpoint, with the number of the chapters that its handlers have told.
fn counted(bytes: usize) -> (HttpService, Arc<AtomicUsize>) {
    let told = Arc::<AtomicUsize>::default();
    let server = server()
        .tool("long", "", |(): (), _: Context| async {
            Ok("x".repeat(40_000))
        })
        .tool("many", "", |(): (), cx: Context| async move {
            for step in 0..1000 {
                cx.progress(f64::from(step)).await;
            }
            Ok(format!("{} done", "x".repeat(20_000)))
        });
    let http = chapters(server, &told).http();
    let http = http.max_total_unread_bytes(bytes);
    let service = http.legacy_sse("/sse", "/messages").into_service(Sim);
    (service.unwrap(), told)
}

/// Adds a tool that tells 120 kB in twelve chapters.
fn chapters(server: ServerBuilder, told: &Arc<AtomicUsize>) -> ServerBuilder {
    let told = Arc::clone(told);
    server.tool("chapters", "", move |(): (), cx: Context| {
        let told = Arc::clone(&told);
        async move {
            for _ in 0..12 {
                cx.log(LoggingLevel::Info, &"x".repeat(10_000)).await;
                told.fetch_add(1, Ordering::SeqCst);
            }
            Ok("the end")
        }
    })
}

#[test]
fn answers_that_are_not_read_are_bounded() {
    let service = wordy(160_000);
    let ask = |address: &str| send(&service, called("long").at_address(address));
    let mut kept = [ask("192.0.2.1"), ask("192.0.2.1")];
    assert_eq!(kept.each_ref().map(|it| it.status.as_u16()), [200, 200]);
    let refused = ask("192.0.2.1");
    assert_eq!(refused.header("retry-after"), "5");
    refused.says(503, ["may have run"]);
    // Others are answered, and so are short answers.
    let other = ask("192.0.2.2");
    assert_eq!(other.status, 200);
    let short = send(&service, called("echo").at_address("192.0.2.1"));
    assert_eq!(short.status, 200);
    // What is read makes room, whoever holds the response.
    assert!(kept[0].text().contains("xxx"));
    assert_eq!(ask("192.0.2.1").status, 200);
    drop(kept);
    assert_eq!(ask("192.0.2.1").status, 200);
}

/// A client that does not learn the name of its session cannot end it.
#[test]
fn a_handshake_whose_answer_has_no_room_opens_no_session() {
    let server = server().instructions("x".repeat(40_000));
    let http = server.http().max_total_unread_bytes(160_000);
    let service = http.served();
    let opening = initialize("2025-11-25");
    let open = |address: &str| send(&service, post(&opening).at_address(address));
    let kept = [(); 3].map(|()| open("192.0.2.1"));
    let statuses = kept.each_ref().map(|it| it.status.as_u16());
    assert_eq!(statuses, [200, 200, 503]);
    assert_eq!(service.status().sessions, 2);
    assert_eq!(open("192.0.2.2").status, 200);
    drop(kept);
    assert_eq!(open("192.0.2.1").status, 200);
    assert_eq!(service.status().sessions, 4);
}

#[test]
fn a_stream_gives_back_what_was_read() {
    let service = wordy(160_000);
    let many = || modern(&call(1, "many")).at_address("192.0.2.1");
    for _ in 0..3 {
        let mut stream = send(&service, many());
        let text = stream.text();
        assert!(text.contains("done") && stream.has_ended());
    }
    let unread = send(&service, many());
    drop(unread);
    let kept = [(); 2].map(|()| send(&service, called("long").at_address("192.0.2.1")));
    assert_eq!(kept.map(|it| it.status.as_u16()), [200, 200]);
}

#[test]
fn a_budget_of_zero_is_a_mistake() {
    let error = server().http().max_total_unread_bytes(0).into_service(Sim);
    let error = error.unwrap_err();
    assert_eq!(error.mistakes()[0].name(), "max_total_unread_bytes");
}

fn session_of(service: &HttpService, name: &str) -> HttpClient {
    HttpClient::open_as(service, "2025-11-25", Some(Principal::new(name)))
}

fn read_chapters(session: &HttpClient) {
    has(&session.post(&call(2, "chapters")).whole(), ["the end"]);
}

#[test]
fn handlers_of_sessions_wait_for_their_readers() {
    let (service, told) = counted(160_000);
    let sessions = ["bob", "bob", "eve"].map(|name| session_of(&service, name));
    let mut before = 0;
    let mut unread = sessions.each_ref().map(|session| {
        let reply = session.post(&call(1, "chapters"));
        let now = told.load(Ordering::SeqCst);
        (reply, now - core::mem::replace(&mut before, now))
    });
    assert_eq!(unread.each_ref().map(|(_, told)| *told), [9, 1, 5]);
    // Other streams of a session are not held up by the one that is not read.
    read_chapters(&sessions[0]);
    for (reply, _) in &mut unread {
        assert!(reply.text().contains("the end"));
    }
}

#[test]
fn handlers_of_2024_11_05_wait_for_their_readers() {
    let (service, told) = counted(160_000);
    let principal = Some(Principal::new("bob"));
    let mut client = SseClient::open_in(&service, "", principal);
    assert_eq!(client.say(&initialize("2024-11-05")), 202);
    has(&client.stream.text(), ["serverInfo"]);
    assert_eq!(client.say(&call(1, "chapters")), 202);
    assert_eq!(told.load(Ordering::SeqCst), 9);
    assert_eq!(client.say(&call(2, "echo")), 503);
    has(&client.stream.text(), ["the end"]);
    assert_eq!(client.say(&call(2, "echo")), 202);
}
