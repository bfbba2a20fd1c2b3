//! Questions that clients of 2025-11-25 make tasks of.

use core::time::Duration;

use mcp_async::Server;
use mcp_async::server::{AskError, Context, ServerBuilder};
use mcp_proto::Revision;

use crate::scripted::{LineClient, member, text};

const TASKS: &str =
    r#"{"elicitation":{},"tasks":{"cancel":{},"requests":{"elicitation":{"create":{}}}}}"#;

/// A server whose tool asks a form that may be a task, and says how that ended.
fn server() -> ServerBuilder {
    Server::builder("asking", "1").tool("ask", "", |(): (), cx: Context| async move {
        let form = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
        let question = cx.elicit_form("who", "Who?", form.parse()?).as_task();
        Ok(match question.timeout(Duration::from_secs(60)).await {
            Ok(answer) => answer.content.unwrap_or_default().as_raw().to_string(),
            Err(AskError::Timeout) => "nobody".to_owned(),
            Err(error) => return Err(error.into()),
        })
    })
}

fn begin(declared: &str) -> (LineClient, u64, String) {
    let mut wire = LineClient::declaring(&server(), Revision::V2025_11_25, declared);
    let call = wire.send("tools/call", r#"{"name":"ask"}"#);
    let question = only(&mut wire);
    assert_eq!(text(&question, &["method"]), "elicitation/create");
    (wire, call, question)
}

/// The only message that came.
fn only(wire: &mut LineClient) -> String {
    let heard = wire.hear();
    let [message] = &heard[..] else {
        panic!("{heard:?}");
    };
    message.clone()
}

fn reply(wire: &mut LineClient, question: &str, result: &str) {
    let id = member(question, &["id"]);
    wire.line(&format!("{id} = {result}"));
}

const ADA: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

fn task(status: &str) -> String {
    format!(
        r#"{{"taskId":"t","status":"{status}","createdAt":"c","lastUpdatedAt":"u","ttl":60000,"pollInterval":500}}"#
    )
}

/// Answers a question with a task.
fn create(wire: &mut LineClient, question: &str, status: &str) {
    reply(wire, question, &format!(r#"{{"task":{}}}"#, task(status)));
}

/// The next request about the task, which comes after the interval.
fn polled(wire: &mut LineClient) -> String {
    wire.advance(Duration::from_millis(499));
    assert_eq!(wire.hear(), [""; 0]);
    wire.advance(Duration::from_millis(1));
    let get = only(wire);
    assert_eq!(text(&get, &["method"]), "tasks/get");
    assert_eq!(member(&get, &["params"]), r#"{"taskId":"t"}"#);
    get
}

#[test]
fn tk_10_the_task_of_a_question_is_polled_to_its_end() {
    let (mut wire, call, question) = begin(TASKS);
    assert_eq!(member(&question, &["params", "task"]), r#"{"ttl":60000}"#);
    create(&mut wire, &question, "working");
    let get = polled(&mut wire);
    reply(&mut wire, &get, &task("working"));
    let get = polled(&mut wire);
    reply(&mut wire, &get, &task("completed"));
    let fetch = only(&mut wire);
    assert_eq!(text(&fetch, &["method"]), "tasks/result");
    assert_eq!(member(&fetch, &["params"]), r#"{"taskId":"t"}"#);
    let related = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
    let answer = format!(r#"{{"action":"accept","content":{{"name":"Ada"}},{related}}}"#);
    reply(&mut wire, &fetch, &answer);
    let answer = wire.answer(call).unwrap();
    let said = text(&answer, &["result", "content", "0", "text"]);
    assert_eq!(said, r#"{"name":"Ada"}"#);
    assert_eq!(wire.hear(), [""; 0]);
}

/// TK-02
#[test]
fn a_client_that_makes_no_tasks_is_not_asked_for_one() {
    let declared = [
        r#"{"elicitation":{}}"#,
        r#"{"elicitation":{},"tasks":{"requests":{"sampling":{"createMessage":{}}}}}"#,
    ];
    for declared in declared {
        let (mut wire, call, question) = begin(declared);
        assert_eq!(member(&question, &["params", "task"]), "");
        reply(&mut wire, &question, ADA);
        assert!(wire.answer(call).unwrap().contains("Ada"));
    }
    // One that declares them may answer at once.
    let (mut wire, call, question) = begin(TASKS);
    reply(&mut wire, &question, ADA);
    assert!(wire.answer(call).unwrap().contains("Ada"));
}

/// TK-12
#[test]
fn a_task_that_fails_is_a_question_that_failed() {
    let (mut wire, call, question) = begin(TASKS);
    create(&mut wire, &question, "failed");
    let fetch = only(&mut wire);
    let id = member(&fetch, &["id"]);
    wire.line(&format!("{id} ! -1 rejected"));
    assert!(wire.answer(call).is_some());
    assert_eq!(wire.hear(), [""; 0]);
}

/// CN-03: the only message is `tasks/cancel`.
#[test]
fn a_question_that_is_given_up_cancels_its_task() {
    // By its time.
    let (mut wire, call, question) = begin(TASKS);
    create(&mut wire, &question, "working");
    for _ in 0..119 {
        let get = polled(&mut wire);
        reply(&mut wire, &get, &task("working"));
    }
    wire.advance(Duration::from_millis(500));
    assert!(wire.answer(call).unwrap().contains("nobody"));
    let cancel = only(&mut wire);
    assert_eq!(text(&cancel, &["method"]), "tasks/cancel");
    assert_eq!(member(&cancel, &["params"]), r#"{"taskId":"t"}"#);
    reply(&mut wire, &cancel, &task("cancelled"));
    // By the client of the call.
    let (mut wire, call, question) = begin(TASKS);
    create(&mut wire, &question, "working");
    wire.cancel(call);
    let cancel = only(&mut wire);
    assert_eq!(text(&cancel, &["method"]), "tasks/cancel");
}

#[test]
fn the_time_of_a_question_is_that_of_its_task() {
    let (mut wire, call, question) = begin(TASKS);
    wire.advance(Duration::from_secs(40));
    create(&mut wire, &question, "working");
    for _ in 0..39 {
        let get = polled(&mut wire);
        reply(&mut wire, &get, &task("working"));
    }
    wire.advance(Duration::from_millis(500));
    assert!(wire.answer(call).unwrap().contains("nobody"));
}

#[test]
fn a_poll_that_fails_cancels_the_task_unless_it_is_unknown() {
    for (code, is_cancelled) in [(-32603, true), (-32602, false)] {
        let (mut wire, call, question) = begin(TASKS);
        create(&mut wire, &question, "working");
        let id = member(&polled(&mut wire), &["id"]);
        let error = format!(r#"{{"code":{code},"message":"no"}}"#);
        wire.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
        assert!(wire.answer(call).is_some());
        let methods = wire.hear();
        let methods: Vec<_> = methods.iter().map(|line| text(line, &["method"])).collect();
        assert_eq!(methods, vec!["tasks/cancel"; usize::from(is_cancelled)]);
    }
}
