//! Tasks that a client makes of the questions of a server of 2025-11-25.

use core::fmt::Debug;
use core::future::pending;
use core::task::Poll;
use core::time::Duration;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Mutex;

use mcp_async::client::{ClientBuilder, RestartPolicy, reopened};
use mcp_async::model::{CreateMessageResult, ElicitParams, ElicitResult};
use mcp_async::runtime::{PipeReader, PipeWriter};
use mcp_async::tasks::client::TaskOptions;
use mcp_async::{Client, ErrorReply, Streams};
use mcp_proto::Revision;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::LoggingLevel;

use crate::client_typed::support::{advance, only, poll_once, run};
use crate::running::Running;
use crate::scripted::{LinePeer, line_server, message};
use crate::sim::{Sim, begin, settle, sleep};
use crate::texts::INTERNAL_ERROR;

/// A server by hand, and its client.
struct Hand {
    lines: LinePeer,
    /// What the client declared.
    capabilities: RawBuf,
    /// Callbacks that run.
    running: Running,
    number: u32,
    client: Client,
}

impl Hand {
    fn new(options: TaskOptions) -> Self {
        Self::new_in(Revision::V2025_11_25, options)
    }

    fn new_in(revision: Revision, options: TaskOptions) -> Self {
        let (builder, running) = answering(revision, options);
        Self::connect_in(revision, builder, running)
    }

    fn connect(builder: ClientBuilder, running: Running) -> Self {
        Self::connect_in(Revision::V2025_11_25, builder, running)
    }

    fn connect_in(revision: Revision, builder: ClientBuilder, running: Running) -> Self {
        let (lines, streams) = LinePeer::pair(1 << 14);
        let connecting = builder.connect(Streams::new(Sim, streams));
        Self::meet(revision, connecting, lines, running)
    }

    /// Answers the handshake of a client that connects.
    fn meet<E: Debug>(
        revision: Revision,
        connecting: impl Future<Output = Result<Client, E>>,
        mut lines: LinePeer,
        running: Running,
    ) -> Self {
        let (client, asked) = line_server::open(connecting, &mut lines, revision, LOGGING);
        let initialize = RawBuf::parse(asked.trim()).unwrap();
        let capabilities = member(initialize.as_raw(), &["params", "capabilities"]);
        let capabilities = capabilities.unwrap().into();
        Self {
            lines,
            capabilities,
            running,
            number: 0,
            client,
        }
    }

    /// The same by a client that connects again.
    fn restarting(connections: [(PipeReader, PipeWriter); 2], lines: LinePeer) -> Self {
        let (builder, running) = answering(Revision::V2025_11_25, options());
        let connections = Mutex::new(connections.into_iter());
        let open = move || {
            let opened = connections.lock().unwrap().next();
            let opened = opened.ok_or_else(|| ErrorKind::ConnectionRefused.into());
            async move { opened }
        };
        let builder = builder.restart(RestartPolicy::default());
        let connecting = builder.connect(reopened(Sim.into(), open));
        Self::meet(Revision::V2025_11_25, connecting, lines, running)
    }

    fn running(&self) -> usize {
        self.running.get()
    }

    /// Sends a request, and returns what the client said until it has nothing more to do.
    fn send(&mut self, method: &str, params: &str) -> String {
        self.number += 1;
        let number = self.number;
        let request = format!("{number} {method} {params}");
        self.lines.send(&request);
        self.lines.read()
    }

    /// The result of a request, or its error.
    fn ask(&mut self, method: &str, params: &str) -> RawBuf {
        outcome(&self.send(method, params))
    }

    /// Asks a form as a task, and returns the task.
    fn begin(&mut self, message: &str, task: &str) -> RawBuf {
        let created = self.ask("elicitation/create", &form(message, task));
        member(created.as_raw(), &["task"]).unwrap().into()
    }

    fn about(&mut self, method: &str, task: &RawBuf) -> RawBuf {
        let id = member(task.as_raw(), &["taskId"]).unwrap().as_str();
        self.ask(method, &format!(r#"{{"taskId":{id}}}"#))
    }

    fn status(&mut self, task: &RawBuf) -> String {
        text(&self.about("tasks/get", task), &["status"])
    }
}

/// A client that answers forms as their messages say, and the number of its callbacks that run.
fn answering(revision: Revision, options: TaskOptions) -> (ClientBuilder, Running) {
    let running = Running::default();
    let counted = running.clone();
    let builder = only(revision)
        .tasks(options)
        .on_elicitation(move |asked: ElicitParams, _| {
            let entered = counted.enter();
            async move {
                let _entered = entered;
                match asked.message() {
                    Some("soon") => Ok(ElicitResult::decline()),
                    Some("fail") => Err(ErrorReply::new(-1, "no").into()),
                    Some("panic") => panic!("a callback"),
                    Some("later") => {
                        sleep(Duration::from_secs(5)).await;
                        Ok(ElicitResult::accept(&HashMap::from([("answer", "yes")]))?)
                    }
                    _ => pending().await,
                }
            }
        });
    (builder, running)
}

const LOGGING: &str = r#"{"logging":{}}"#;

/// Two connections, and the ends of the server.
fn two_connections() -> ([(PipeReader, PipeWriter); 2], [LinePeer; 2]) {
    let ((lines, streams), (next, next_streams)) =
        (LinePeer::pair(1 << 14), LinePeer::pair(1 << 14));
    ([streams, next_streams], [lines, next])
}

fn form(message: &str, task: &str) -> String {
    format!(
        r#"{{"message":"{message}","requestedSchema":{{"type":"object","properties":{{"answer":{{"type":"string"}}}}}},"task":{task}}}"#
    )
}

fn member<'b>(raw: Raw<'b>, path: &[&str]) -> Option<Raw<'b>> {
    path.iter().try_fold(raw, |raw, key| raw.object()?.get(key))
}

fn text(raw: &RawBuf, path: &[&str]) -> String {
    member(raw.as_raw(), path)
        .map_or("-", Raw::as_str)
        .to_owned()
}

fn outcome(line: &str) -> RawBuf {
    let message = RawBuf::parse(line.trim()).expect(line);
    let object = message.as_raw().object().unwrap();
    let outcome = object.get("result").or(object.get("error"));
    outcome.unwrap().into()
}

fn options() -> TaskOptions {
    TaskOptions::default().questions(2)
}

#[test]
fn tk_01_tasks_are_declared_for_the_questions_that_have_callbacks() {
    run(async {
        let declared = |hand: &Hand| text(&hand.capabilities, &["tasks"]);
        let forms = Hand::new(options());
        assert_eq!(
            declared(&forms),
            r#"{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}"#
        );
        let sampling = only(Revision::V2025_11_25)
            .tasks(options())
            .on_sampling(|_, _| async { Ok(CreateMessageResult::new("model", "hello")) });
        let mut sampling = Hand::connect(sampling, Running::default());
        assert_eq!(
            declared(&sampling),
            r#"{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}}}}"#
        );
        let created = sampling.ask(
            "sampling/createMessage",
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":9,"task":{}}"#,
        );
        let task = RawBuf::from(member(created.as_raw(), &["task"]).unwrap());
        let result = sampling.about("tasks/result", &task);
        assert_eq!(text(&result, &["content", "text"]), r#""hello""#);
        let none = Hand::connect(
            only(Revision::V2025_11_25).tasks(options()),
            Running::default(),
        );
        assert_eq!(declared(&none), "-");
        // TK-03: without the declaration the question is answered as ever.
        let mut off = Hand::new(TaskOptions::default());
        assert_eq!(declared(&off), "-");
        let answer = off.ask("elicitation/create", &form("soon", "{}"));
        assert_eq!(answer.as_raw().as_str(), r#"{"action":"decline"}"#);
        let unknown = off.ask("tasks/get", r#"{"taskId":"t"}"#);
        assert_eq!(text(&unknown, &["code"]), "-32601");
    });
}

#[test]
fn tk_03_a_session_without_tasks_makes_none() {
    run(async {
        let mut hand = Hand::new_in(Revision::V2025_06_18, options());
        assert_eq!(text(&hand.capabilities, &["tasks"]), "-");
        for task in ["{}", "7"] {
            let answer = hand.ask("elicitation/create", &form("soon", task));
            assert_eq!(answer.as_raw().as_str(), r#"{"action":"decline"}"#);
        }
        let related = r#"{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
        let params = form("soon", "{}").replace(r#""task":{}"#, &format!(r#""_meta":{related}"#));
        let answer = hand.ask("elicitation/create", &params);
        assert_eq!(answer.as_raw().as_str(), r#"{"action":"decline"}"#);
    });
}

#[test]
fn tk_07_a_question_becomes_a_task_at_once() {
    run(async {
        let mut hand = Hand::new(options());
        let task = hand.begin("later", r#"{"ttl":60000}"#);
        // TK-09
        assert_eq!(text(&task, &["status"]), r#""working""#);
        assert_eq!(text(&task, &["ttl"]), "60000");
        assert_eq!(text(&task, &["pollInterval"]), "1000");
        assert_eq!(text(&task, &["createdAt"]), text(&task, &["lastUpdatedAt"]));
        assert_eq!(text(&task, &["createdAt"]).len(), 26);
        // TK-19: 128 bits.
        assert_eq!(text(&task, &["taskId"]).len(), 34);
        assert_eq!(hand.running(), 1);
        let got = hand.about("tasks/get", &task);
        assert_eq!(got.as_raw().as_str(), task.as_raw().as_str());
        // TK-12: the result is not there yet.
        let id = text(&task, &["taskId"]);
        let params = format!(r#"{{"taskId":{id}}}"#);
        assert_eq!(hand.send("tasks/result", &params), "");
        advance(Duration::from_secs(5));
        let result = outcome(&hand.lines.read());
        assert_eq!(text(&result, &["content", "answer"]), r#""yes""#);
        // TK-13
        let related = ["_meta", "io.modelcontextprotocol/related-task", "taskId"];
        assert_eq!(text(&result, &related), id);
        assert_eq!(hand.running(), 0);
        let done = hand.about("tasks/get", &task);
        // TK-08
        assert_eq!(text(&done, &["status"]), r#""completed""#);
        assert_ne!(text(&done, &["createdAt"]), text(&done, &["lastUpdatedAt"]));
        assert_eq!(text(&done, &["_meta"]), "-");
        // The result stays.
        let again = hand.about("tasks/result", &task);
        assert_eq!(again.as_raw().as_str(), result.as_raw().as_str());
        // A question that is no task is answered in its exchange.
        let params = form("soon", "{}").replace(r#","task":{}"#, "");
        let answer = hand.ask("elicitation/create", &params);
        assert_eq!(answer.as_raw().as_str(), r#"{"action":"decline"}"#);
    });
}

/// TK-12
#[test]
fn a_question_that_fails_is_a_failed_task() {
    run(async {
        let mut hand = Hand::new(options());
        for (message, expected) in [("fail", "no"), ("panic", INTERNAL_ERROR)] {
            let task = hand.begin(message, "{}");
            assert_eq!(hand.status(&task), r#""failed""#, "{message}");
            let error = hand.about("tasks/result", &task);
            assert_eq!(text(&error, &["message"]), format!("{expected:?}"));
        }
        let error = hand.ask("elicitation/create", &form("soon", "7"));
        assert_eq!(text(&error, &["code"]), "-32602");
    });
}

#[test]
fn tk_15_a_cancelled_task_stays_cancelled() {
    run(async {
        let mut hand = Hand::new(options());
        let task = hand.begin("later", "{}");
        let id = text(&task, &["taskId"]);
        let params = format!(r#"{{"taskId":{id}}}"#);
        assert_eq!(hand.send("tasks/result", &params), "");
        // The request that waits for the result ends, too.
        let said = hand.send("tasks/cancel", &params);
        let mut lines: Vec<_> = said.lines().collect();
        lines.sort_by_key(|line| line.contains("error"));
        let [cancelled, waiting] = lines[..] else {
            panic!("{said}");
        };
        assert_eq!(text(&outcome(cancelled), &["status"]), r#""cancelled""#);
        assert_eq!(text(&outcome(waiting), &["code"]), "-32602");
        assert_eq!(hand.running(), 0);
        advance(Duration::from_secs(9));
        assert_eq!(hand.status(&task), r#""cancelled""#);
        // TK-14
        let again = hand.about("tasks/cancel", &task);
        assert_eq!(text(&again, &["code"]), "-32602");
    });
}

#[test]
fn tk_14_what_is_not_known_is_refused() {
    run(async {
        let mut hand = Hand::new(options());
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            for params in [r#"{"taskId":"t"}"#, r#"{"taskId":7}"#, "{}"] {
                let error = hand.ask(method, params);
                assert_eq!(text(&error, &["code"]), "-32602", "{method} {params}");
            }
        }
        let error = hand.ask("tasks/list", r#"{"cursor":"c"}"#);
        assert_eq!(text(&error, &["code"]), "-32602");
    });
}

#[test]
fn tk_17_every_task_is_listed() {
    run(async {
        let mut hand = Hand::new(options());
        assert_eq!(
            hand.ask("tasks/list", "{}").as_raw().as_str(),
            r#"{"tasks":[]}"#
        );
        let (first, second) = (hand.begin("later", "{}"), hand.begin("never", "{}"));
        let (first, second) = (first.as_raw().as_str(), second.as_raw().as_str());
        assert_eq!(
            hand.ask("tasks/list", "{}").as_raw().as_str(),
            format!(r#"{{"tasks":[{first},{second}]}}"#)
        );
    });
}

/// TK-01: the connection ends with the question, before the callback was polled.
#[test]
fn a_task_ends_with_its_connection() {
    run(async {
        let question = |hand: Hand| {
            let Hand {
                mut lines,
                running,
                client,
                ..
            } = hand;
            let params = form("never", "{}");
            let line = message(&format!("1 elicitation/create {params}")) + "\n";
            assert_eq!(lines.write_some(line.as_bytes()), line.len());
            drop(lines);
            settle();
            assert_eq!(running.get(), 0);
            client
        };
        let client = question(Hand::new(options()));
        assert!(client.is_closed());
        // Nor does it run in the next one.
        let (ours, [theirs, _next]) = two_connections();
        let hand = Hand::restarting(ours, theirs);
        assert!(!question(hand).is_closed());
    });
}

/// ST-17: the server asks before it answers what restores its session.
#[test]
fn a_task_runs_while_its_session_is_restored() {
    run(async {
        let (ours, [theirs, next]) = two_connections();
        let mut hand = Hand::restarting(ours, theirs);
        {
            let mut setting = begin(hand.client.set_log_level(LoggingLevel::Info));
            assert!(hand.lines.read().contains(r#""id":2"#));
            hand.lines.answer(2, "{}");
            assert!(matches!(poll_once(setting.as_mut()), Poll::Ready(Ok(()))));
        }
        hand.lines = next;
        settle();
        advance(Duration::from_secs(60));
        assert!(hand.lines.read().contains("initialize"));
        let opening = line_server::opening(Revision::V2025_11_25, LOGGING);
        hand.lines.answer(1, &opening);
        assert!(hand.lines.read().contains("logging/setLevel"));
        let task = hand.begin("later", "{}");
        advance(Duration::from_secs(5));
        assert_eq!(hand.status(&task), r#""completed""#);
    });
}

#[test]
fn tk_65_the_time_of_a_task_has_53_bits() {
    run(async {
        let mut hand = Hand::new(options().longest_question(Duration::MAX));
        for task in ["{}", r#"{"ttl":18446744073709551615}"#] {
            let task = hand.begin("soon", task);
            assert_eq!(text(&task, &["ttl"]), "9007199254740991");
        }
    });
}

#[test]
fn tk_20_tasks_are_bounded_in_number_and_time() {
    run(async {
        let mut hand = Hand::new(options().longest_question(Duration::from_secs(20)));
        let first = hand.begin("never", r#"{"ttl":10000}"#);
        let second = hand.begin("never", r#"{"ttl":99000}"#);
        assert_eq!(text(&second, &["ttl"]), "20000");
        assert_ne!(text(&first, &["taskId"]), text(&second, &["taskId"]));
        let error = hand.ask("elicitation/create", &form("never", "{}"));
        assert_eq!(text(&error, &["code"]), "-32603");
        let id = text(&first, &["taskId"]);
        let params = format!(r#"{{"taskId":{id}}}"#);
        assert_eq!(hand.send("tasks/result", &params), "");
        assert_eq!(hand.running(), 2);
        advance(Duration::from_secs(10));
        assert_eq!(text(&outcome(&hand.lines.read()), &["code"]), "-32602");
        assert_eq!(hand.running(), 1);
        let gone = hand.about("tasks/get", &first);
        assert_eq!(text(&gone, &["code"]), "-32602");
        // One whose result the server has received makes room before its time.
        let third = hand.begin("soon", "{}");
        assert_eq!(hand.status(&third), r#""completed""#);
        let error = hand.ask("elicitation/create", &form("never", "{}"));
        assert_eq!(text(&error, &["code"]), "-32603");
        hand.about("tasks/result", &third);
        hand.begin("never", "{}");
        let gone = hand.about("tasks/get", &third);
        assert_eq!(text(&gone, &["code"]), "-32602");
        assert_eq!(hand.status(&second), r#""working""#);
    });
}
