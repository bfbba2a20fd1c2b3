//! Tasks of 2025-11-25 over HTTP.

use mcp_async::http::HttpService;
use mcp_async::server::Principal;
use mcp_async::tasks::server::Tasks;

use super::support::{filled, server};
use crate::scripted::{
    HttpClient, RequestExt, Serve, initialize, initialize_with, member, post, send, text,
};
use crate::sim::{self};
use crate::tasks::support::pass;
use crate::texts::{UNKNOWN_TASK, has};

fn service() -> HttpService {
    server(Tasks::new()).0.http().served()
}

/// A session of this user, or of a client that is not verified.
fn session(service: &HttpService, name: Option<&str>) -> HttpClient {
    HttpClient::open_as(service, "2025-11-25", name.map(Principal::new))
}

/// The answer to a request, which is no event stream.
fn ask(session: &HttpClient, method: &str, params: &str) -> String {
    let body = format!("7 {method} {params}");
    let reply = session.post(&body);
    assert_eq!(reply.header("content-type"), "application/json", "{method}");
    reply.whole()
}

fn create(session: &HttpClient, arguments: &str) -> String {
    let params = format!(r#"{{"name":"job","arguments":{arguments},"task":{{}}}}"#);
    let created = ask(session, "tools/call", &params);
    text(&created, &["result", "task", "taskId"])
}

fn ids(page: &str) -> Vec<String> {
    let count = page.matches("taskId").count();
    let id = |at: usize| text(page, &["result", "tasks", &at.to_string(), "taskId"]);
    (0..count).map(id).collect()
}

/// TK-01, TK-17, TK-19
#[test]
fn a_user_lists_the_own_tasks() {
    let service = service();
    let (ada, bob) = (
        session(&service, Some("ada")),
        session(&service, Some("bob")),
    );
    let mut created: Vec<_> = (0..200).map(|_| create(&ada, "{}")).collect();
    created.sort_unstable();
    create(&bob, "{}");
    let first = ask(&ada, "tasks/list", "{}");
    let cursor = text(&first, &["result", "nextCursor"]);
    let second = ask(&ada, "tasks/list", &format!(r#"{{"cursor":"{cursor}"}}"#));
    assert_eq!(member(&second, &["result", "nextCursor"]), "");
    let listed: Vec<_> = ids(&first).into_iter().chain(ids(&second)).collect();
    assert_eq!(listed, created);
    assert_eq!(ids(&ask(&bob, "tasks/list", "{}")).len(), 1);
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let refused = ask(&bob, method, &format!(r#"{{"taskId":"{}"}}"#, created[0]));
        assert_eq!(text(&refused, &["error", "message"]), UNKNOWN_TASK);
    }
    sim::end();
}

/// SH-44
#[test]
fn a_task_is_shown_without_an_event_stream() {
    let service = service();
    let session = session(&service, None);
    let id = create(&session, r#"{"steps":2}"#);
    for _ in 0..3 {
        let got = ask(&session, "tasks/get", &format!(r#"{{"taskId":"{id}"}}"#));
        assert_eq!(text(&got, &["result", "taskId"]), id);
        pass(100);
    }
    sim::end();
}

/// TK-58
#[test]
fn polls_that_are_too_frequent_are_refused_in_sessions() {
    let tasks = Tasks::new().max_polls_per_interval(20);
    let service = server(tasks).0.http().served();
    let (ada, eve) = (
        session(&service, Some("ada")),
        session(&service, Some("eve")),
    );
    let id = create(&ada, r#"{"steps":1000}"#);
    let params = format!(r#""params":{{"taskId":"{id}"}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tasks/get",{params}}}"#);
    // What another user polls does not count.
    for _ in 0..30 {
        eve.post(&body);
    }
    for _ in 0..2 {
        for _ in 0..20 {
            let got = ada.post(&body).whole();
            assert_eq!(text(&got, &["result", "taskId"]), id);
        }
        let refused = ada.post(&body);
        assert_eq!(refused.status, 200);
        let refused = refused.whole();
        assert_eq!(member(&refused, &["error", "code"]), "-32603");
        let message = text(&refused, &["error", "message"]);
        assert_eq!(message, "limit reached: polls of a task in its interval");
        pass(1000);
    }
    sim::end();
}

/// TK-14
#[test]
fn what_is_no_cursor_is_refused() {
    let service = service();
    let ada = session(&service, Some("ada"));
    for cursor in ["", "x", "2", "ffffffffffffffffffffffffffffffffff"] {
        let refused = ask(&ada, "tasks/list", &format!(r#"{{"cursor":"{cursor}"}}"#));
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
    }
}

/// TK-19
#[test]
fn a_list_is_declared_to_users_only() {
    let service = service();
    for (user, list) in [(Some("ada"), "{}"), (None, "")] {
        let opening = post(&initialize("2025-11-25"));
        let request = match user {
            Some(name) => opening.by(name),
            None => opening,
        };
        let opened = send(&service, request).whole();
        let (_, data) = opened.split_once(r#"{"jsonrpc""#).expect("an answer");
        let answer = format!(r#"{{"jsonrpc"{}"#, data.trim_end());
        let declared = ["result", "capabilities", "tasks", "list"];
        assert_eq!(member(&answer, &declared), list, "{answer}");
    }
    let anonymous = session(&service, None);
    let refused = ask(&anonymous, "tasks/list", "{}");
    assert_eq!(member(&refused, &["error", "code"]), "-32601", "{refused}");
}

/// A session of a client that can be asked.
fn asked(service: &HttpService) -> HttpClient {
    let opening = initialize_with("2025-11-25", r#"{"elicitation":{}}"#);
    HttpClient::new(service, "2025-11-25").opened_by(&opening)
}

/// Answers the one question among these events.
fn answer(session: &HttpClient, events: &str, answer: &str) {
    let mut data = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let question = data.find(|data| data.contains("elicitation/create"));
    let question = question.unwrap_or_else(|| panic!("no question in {events}"));
    let (number, given) = (member(question, &["id"]), filled(answer));
    let taken = session.post(&format!(r#"{{"jsonrpc":"2.0","id":{number},{given}}}"#));
    assert_eq!(taken.status, 202);
    pass(0);
}

/// TK-16
#[test]
fn the_stream_of_the_session_asks_where_no_request_waits() {
    let service = service();
    let session = asked(&service);
    let id = create(&session, r#"{"ask":1}"#);
    // Without such a stream the question waits for the request.
    (0..5).for_each(|_| pass(1000));
    let mut stream = session.get(None);
    assert!(!stream.text().contains("elicitation/create"));
    (0..5).for_each(|_| pass(1000));
    answer(&session, &stream.text(), "green");
    has(&stream.text(), [r#""status":"completed""#]);
    let got = ask(&session, "tasks/get", &format!(r#"{{"taskId":"{id}"}}"#));
    assert_eq!(text(&got, &["result", "status"]), "completed");
    sim::end();
}

/// TK-11, TK-13
#[test]
fn questions_are_on_the_stream_of_the_result() {
    let service = service();
    let session = asked(&service);
    let id = create(&session, r#"{"ask":1,"steps":1}"#);
    let wanted = format!(r#"8 tasks/result {{"taskId":"{id}"}}"#);
    let mut stream = session.post(&wanted);
    assert_eq!(stream.header("content-type"), "text/event-stream");
    pass(100);
    answer(&session, &stream.text(), "blue");
    let rest = stream.whole();
    assert!(rest.contains(r#""text":"done blue""#), "{rest}");
    assert!(rest.contains("related-task"), "{rest}");
    sim::end();
}
