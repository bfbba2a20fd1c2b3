//! A client of 2025-11-25, which writes and reads lines.

use mcp_async::server::ServerBuilder;
use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use super::super::support::{self, Running};
use crate::scripted::{LineClient, member, text};
use crate::sim;
use crate::texts::has;

/// A server with tools of every kind, whose tasks are those of 2025-11-25 as well.
pub(super) fn server(tasks: Tasks) -> (ServerBuilder<Running>, Running) {
    support::server(tasks.core_2025_11_25())
}

/// A client of 2025-11-25.
pub(super) fn client(server: &ServerBuilder<Running>) -> LineClient {
    LineClient::declaring(server, Revision::V2025_11_25, r#"{"elicitation":{}}"#)
}

/// Asks for a task, and returns the whole answer.
pub(super) fn call(wire: &mut LineClient, tool: &str, arguments: &str, task: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"task":{task}}}"#);
    wire.ask("tools/call", &params)
}

/// Asks for a task, and returns its id.
pub(super) fn create(wire: &mut LineClient, tool: &str, arguments: &str) -> String {
    let answer = call(wire, tool, arguments, "{}");
    assert_eq!(member(&answer, &["result", "resultType"]), "", "{answer}");
    text(&answer, &["result", "task", "taskId"])
}

/// Asks for the result of a task, which may come later.
pub(super) fn want(wire: &mut LineClient, id: &str) -> u64 {
    let request = wire.send("tasks/result", &format!(r#"{{"taskId":"{id}"}}"#));
    sim::settle();
    wire.settle();
    request
}

/// The answer to a request, once everything has run.
pub(super) fn answer(wire: &mut LineClient, request: u64) -> Option<String> {
    sim::settle();
    wire.answer(request)
}

/// What the server asks or says now.
pub(super) fn hear(wire: &mut LineClient, method: &str) -> Vec<String> {
    sim::settle();
    let name = format!(r#""method":"{method}""#);
    let heard = wire.hear().into_iter();
    let (heard, rest) = heard.partition(|line| line.contains(&name));
    wire.heard = rest;
    heard
}

/// Fails if the request has no answer, once everything has run, that contains this.
#[track_caller]
pub(super) fn says(wire: &mut LineClient, request: u64, part: &str) {
    let answer = answer(wire, request).expect("an answer");
    has(&answer, [part]);
}

/// Returns the one question that the server asks now.
#[track_caller]
pub(super) fn hear_question(wire: &mut LineClient) -> String {
    let asked = hear(wire, "elicitation/create");
    assert_eq!(asked.len(), 1, "{asked:?}");
    asked[0].clone()
}

/// Answers a request of the server.
pub(super) fn reply(wire: &mut LineClient, request: &str, outcome: &str) {
    let id = member(request, &["id"]);
    wire.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    sim::settle();
    wire.settle();
}

/// The outcome of a form that was filled in.
pub(super) fn filled(answer: &str) -> String {
    format!(r#""result":{{"action":"accept","content":{{"answer":"{answer}"}}}}"#)
}

/// The value that relates a message to a task.
pub(super) fn related(id: &str) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}}}"#)
}
