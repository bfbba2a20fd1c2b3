//! A server with tasks, and a hand that writes and reads its lines, on a virtual clock.

use core::future::{Future, poll_fn};
use core::task::Poll;
use core::time::Duration;
use std::time::SystemTime;

use mcp_async::Server;
use mcp_async::runtime::Runtime;
use mcp_async::server::{Context, Elicited, HandlerError, Principal, ServerBuilder, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_proto::Revision;
use serde::{Deserialize, Serialize};

pub(crate) use crate::running::Running;
use crate::scripted::{LineClient, member, text};
use crate::sim::{self, Sim, join_all};

pub(crate) const BOTH: &str =
    r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
pub(crate) const TASKS: &str = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(crate = "mcp_async::schemars")]
pub(crate) struct Job {
    #[serde(default)]
    steps: u32,
    #[serde(default)]
    ask: u32,
    #[serde(default)]
    fail: String,
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[schemars(crate = "mcp_async::schemars")]
struct Filled {
    answer: String,
}

/// A step takes 100 ms.
async fn job(job: Job, cx: Context<Running>) -> Result<String, HandlerError> {
    let _inside = cx.state().enter();
    for step in 1..=job.steps {
        sleep(100).await;
        let message = format!("{step}/{}", job.steps);
        cx.progress(f64::from(step)).message(&message).await;
    }
    let keys: Vec<String> = (1..=job.ask).map(|n| format!("q{n}")).collect();
    let asked = keys
        .iter()
        .map(|key| Box::pin(cx.elicit::<Filled>(key, "which?")))
        .collect();
    let mut words = vec!["done".to_owned()];
    for elicited in join_all(asked).await {
        let elicited = elicited.map_err(|error| HandlerError::visible(error.to_string()))?;
        words.push(answered(elicited));
    }
    match &*job.fail {
        "tool" => Err(HandlerError::visible("failed")),
        "protocol" => Err(HandlerError::reply(mcp_async::ErrorReply::new(
            -32603,
            "job failed",
        ))),
        "panic" => panic!("secret"),
        _ => Ok(words.join(" ")),
    }
}

async fn deferred(job: Job, cx: Context<Running>) -> Result<String, HandlerError> {
    let _inside = cx.state().enter();
    let mut name = String::new();
    if job.ask > 0 {
        let filled = cx.elicit::<Filled>("name", "who?").await?;
        if let Elicited::Accepted(filled) = filled {
            name = filled.answer;
        }
    }
    if job.steps == 0 {
        return Ok(format!("at once {name}"));
    }
    let begun = cx.begin_task().await;
    sleep(100).await;
    Ok(format!("{name} {begun}"))
}

/// Asks for one second, stops asking for one second, and asks again.
async fn withdraws((): (), cx: Context<Running>) -> Result<String, HandlerError> {
    let mut first = Box::pin(cx.elicit::<Filled>("name", "who?"));
    let mut second = Box::pin(sleep(1000));
    let was_late = poll_fn(|task| match first.as_mut().poll(task) {
        Poll::Ready(_) => Poll::Ready(false),
        Poll::Pending => second.as_mut().poll(task).map(|()| true),
    });
    if !was_late.await {
        return Ok("in time".to_owned());
    }
    drop(first);
    cx.progress(1.0).message("asks later").await;
    sleep(1000).await;
    Ok(answered(cx.elicit::<Filled>("name", "who?").await?))
}

/// Returns the answer to a question, or `no` without one.
fn answered(elicited: Elicited<Filled>) -> String {
    match elicited {
        Elicited::Accepted(filled) => filled.answer,
        _ => "no".to_owned(),
    }
}

pub(crate) async fn sleep(millis: u64) {
    sim::sleep(Duration::from_millis(millis)).await;
}

/// A server with tools of every kind.
pub(crate) fn server(tasks: Tasks) -> (ServerBuilder<Running>, Running) {
    server_with(tasks, |server| server)
}

/// The same, with settings that are made before those of tasks.
pub(crate) fn server_with(
    tasks: Tasks,
    set: impl FnOnce(ServerBuilder<Running>) -> ServerBuilder<Running>,
) -> (ServerBuilder<Running>, Running) {
    server_at(Duration::default, tasks, set)
}

/// The same, whose time of day is so much later than the virtual clock says.
pub(crate) fn server_at(
    later: impl Fn() -> Duration + Send + Sync + 'static,
    tasks: Tasks,
    set: impl FnOnce(ServerBuilder<Running>) -> ServerBuilder<Running>,
) -> (ServerBuilder<Running>, Running) {
    let running = Running::default();
    let tool = |name: &str| Tool::new(name).description("Works");
    let tasks = tasks.time_of_day(move || {
        let passed = Duration::from_millis(Sim.now().as_millis()) + later();
        SystemTime::UNIX_EPOCH + Duration::from_secs(86_400) + passed
    });
    let server = Server::builder("demo", "1")
        .with_state(running.clone())
        .with(tool("job").task(TaskPolicy::Optional).handler(job))
        .with(tool("job_only").task(TaskPolicy::Required).handler(job))
        .with(
            tool("deferred")
                .deferred_task(TaskPolicy::Optional)
                .handler(deferred),
        )
        .with(
            tool("withdraws")
                .task(TaskPolicy::Required)
                .handler(withdraws),
        )
        .with(tool("plain").handler(job));
    (set(server).tasks(tasks), running)
}

/// A client of 2026-07-28 that follows tasks.
pub(crate) fn client(server: &ServerBuilder<Running>) -> LineClient {
    LineClient::declaring(server, Revision::V2026_07_28, BOTH)
}

/// A client that was verified as this user.
pub(crate) fn client_of(server: &ServerBuilder<Running>, name: &str) -> LineClient {
    let server = server.clone().build().unwrap();
    let begin = |streams| {
        let (connection, peer) = server.connect(streams, Sim);
        (connection.with_principal(Principal::new(name)), peer)
    };
    LineClient::of(begin, Revision::V2026_07_28, BOTH)
}

/// Lets everything run, and then time pass.
pub(crate) fn pass(millis: u64) {
    sim::settle();
    sim::advance(Duration::from_millis(millis));
}

pub(crate) fn call(wire: &mut LineClient, tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    wire.ask("tools/call", &params)
}

/// Calls a tool, and returns the id of the task that it became.
pub(crate) fn create(wire: &mut LineClient, tool: &str, arguments: &str) -> String {
    let answer = call(wire, tool, arguments);
    let id = text(&answer, &["result", "taskId"]);
    assert!(!id.is_empty(), "{answer}");
    id
}

/// The whole answer to a request about a task.
pub(crate) fn about(wire: &mut LineClient, method: &str, id: &str) -> String {
    wire.ask(method, &format!(r#"{{"taskId":"{id}"}}"#))
}

/// The status of a task.
pub(crate) fn status(wire: &mut LineClient, id: &str) -> String {
    sim::settle();
    let answer = about(wire, "tasks/get", id);
    match member(&answer, &["result"]).is_empty() {
        true => text(&answer, &["error", "message"]),
        false => text(&answer, &["result", "status"]),
    }
}

/// Answers questions of a task: the members of `inputResponses`.
pub(crate) fn update(wire: &mut LineClient, id: &str, responses: &str) -> String {
    let answer = wire.ask(
        "tasks/update",
        &format!(r#"{{"taskId":"{id}","inputResponses":{{{responses}}}}}"#),
    );
    sim::settle();
    answer
}

/// An answer to a question.
pub(crate) fn accept(key: &str, answer: &str) -> String {
    format!(r#""{key}":{{"action":"accept","content":{{"answer":"{answer}"}}}}"#)
}
