//! What bounds refuse over HTTP, where nothing was accepted.

use http::Request;
use mcp_async::http::HttpService;
use mcp_async::tasks::server::Tasks;

use super::support::{TASKS, pass, server};
use crate::scripted::{Reply, RequestExt, Serve, declaring, modern, send, text};

fn service(tasks: Tasks) -> HttpService {
    server(tasks).0.http().served()
}

fn request(text: &str, user: &str) -> Request<String> {
    modern(&declaring(TASKS, text)).by(user)
}

fn call(service: &HttpService, user: &str) -> Reply {
    let call = r#"1 tools/call {"name":"job_only","arguments":{"steps":1000}}"#;
    send(service, request(call, user))
}

#[track_caller]
fn check(refused: Reply, status: u16, retry_after: &str, message: &str) {
    refused.has_head(
        status,
        [
            ("retry-after", retry_after),
            ("content-type", "application/json"),
        ],
    );
    let error =
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"{message}"}}}}"#);
    assert_eq!(refused.whole(), error);
}

/// SH-55
#[test]
fn tasks_beyond_a_bound_are_refused_with_a_status() {
    let service = service(Tasks::new().max(3).max_per_owner(2));
    for user in ["ada", "ada", "eve"] {
        assert_eq!(call(&service, user).status, 200);
        if user == "eve" {
            check(call(&service, "eve"), 503, "5", "limit reached: tasks");
        }
    }
}

#[test]
fn tasks_of_one_principal_beyond_a_bound_are_refused_with_a_status() {
    let service = service(Tasks::new().max(3).max_per_owner(1));
    assert_eq!(call(&service, "ada").status, 200);
    let message = "limit reached: tasks of one principal";
    check(call(&service, "ada"), 429, "1", message);
    assert_eq!(call(&service, "eve").status, 200);
}

/// TK-58
#[test]
fn polls_that_are_too_frequent_are_refused_where_that_is_set() {
    for limited in [false, true] {
        let tasks = Tasks::new();
        let service = service(match limited {
            true => tasks.max_polls_per_interval(20),
            false => tasks,
        });
        let created = call(&service, "ada").whole();
        let id = text(&created, &["result", "taskId"]);
        let poll = || {
            let request = request(&format!(r#"1 tasks/get {{"taskId":"{id}"}}"#), "ada");
            send(&service, request.with("mcp-name", &id))
        };
        for _ in 0..3 {
            for _ in 0..20 {
                assert_eq!(poll().status, 200);
            }
            match limited {
                true => check(
                    poll(),
                    429,
                    "1",
                    "limit reached: polls of a task in its interval",
                ),
                false => assert_eq!(poll().status, 200),
            }
            pass(1000);
        }
    }
}
