//! A server of 2026-07-28 that answers as a closure says.

use core::pin::Pin;
use core::time::Duration;
use mcp_async::Streams;
use mcp_async::client::reopened;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use mcp_async::Client;
use mcp_async::client::{CallError, ClientBuilder, ConnectError, RestartPolicy};
use mcp_async::model::{ElicitParams, ElicitResult};
use mcp_async::runtime::{PipeReader, PipeWriter, Runtime};
use mcp_async::tasks::client::{TaskHandle, TaskOptions, ToolOutcome};
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::{Instant, Revision};

use crate::client_typed::support::{advance, only, poll_once};
use crate::scripted::LinePeer;
use crate::sim::{Sim, settle, spawn};

/// A message of the client.
pub(crate) struct Asked {
    pub(crate) at: Instant,
    /// As it is on the wire; `None` for a notification.
    pub(crate) id: Option<String>,
    pub(crate) method: String,
    pub(crate) params: RawBuf,
}

impl Asked {
    pub(crate) fn param(&self, path: &[&str]) -> Option<Raw<'_>> {
        let params = self.params.as_raw();
        path.iter()
            .try_fold(params, |raw, key| raw.object()?.get(key))
    }

    pub(crate) fn text(&self, path: &[&str]) -> String {
        self.param(path).map_or("-", Raw::as_str).to_owned()
    }
}

/// Calls a tool, whose call becomes a task.
pub(crate) async fn begin_task(client: &Client, tool: &str) -> TaskHandle {
    match client.call_tool_task(tool, &()).await.unwrap() {
        ToolOutcome::Task(task) => task,
        ToolOutcome::Result(result) => panic!("{result:?}"),
    }
}

/// What the server says.
pub(crate) enum Say {
    /// The result of the request, without `resultType`.
    Result(String),
    /// An error with this code.
    Error(i64),
    /// These lines, in which `ID` stands for the id of the request.
    Lines(Vec<String>),
    Nothing,
}

/// What the client sent, in its order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    /// The methods so far, without `server/discover`.
    pub(crate) fn methods(&self) -> Vec<String> {
        let log = self.0.lock().unwrap();
        let methods = log.iter().map(|asked| asked.method.clone());
        methods
            .filter(|method| method != "server/discover")
            .collect()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        self.methods()
            .iter()
            .filter(|other| *other == method)
            .count()
    }

    /// Fails unless the task is polled every 50 ms, with the jitter of the client.
    #[track_caller]
    pub(crate) fn check_pace(&self) {
        for pair in self.times("tasks/get").windows(2) {
            let pause = pair[1].saturating_since(pair[0]);
            assert!(Duration::from_millis(50) <= pause && pause <= Duration::from_millis(56));
        }
    }

    pub(crate) fn times(&self, method: &str) -> Vec<Instant> {
        let log = self.0.lock().unwrap();
        let asked = log.iter().filter(|asked| asked.method == method);
        asked.map(|asked| asked.at).collect()
    }

    /// The methods of a legacy session, without those that begin it.
    pub(crate) fn requests(&self) -> Vec<String> {
        let mut methods = self.methods();
        methods.retain(|method| !method.starts_with("init") && !method.ends_with("/initialized"));
        methods
    }

    /// A member of the parameters of each request of this method.
    pub(crate) fn texts(&self, method: &str, path: &[&str]) -> Vec<String> {
        let log = self.0.lock().unwrap();
        let asked = log.iter().filter(|asked| asked.method == method);
        asked.map(|asked| asked.text(path)).collect()
    }
}

/// The answers of a server. Boxed, so that the code that serves is compiled once.
type Answer = Box<dyn FnMut(&Asked) -> Say>;

/// The client of a server with these capabilities that answers like this.
pub(crate) fn connect(
    capabilities: &str,
    builder: ClientBuilder,
    answer: impl FnMut(&Asked) -> Say + 'static,
) -> impl Future<Output = Result<(Client, Log), ConnectError>> {
    connect_over(script(capabilities, Box::new(answer)), builder)
}

async fn connect_over(
    (streams, log): ((PipeReader, PipeWriter), Log),
    builder: ClientBuilder,
) -> Result<(Client, Log), ConnectError> {
    Ok((builder.connect(Streams::new(Sim, streams)).await?, log))
}

/// The same by a client that restarts, and is refused a second connection.
pub(crate) async fn connect_once(
    capabilities: &str,
    builder: ClientBuilder,
    answer: impl FnMut(&Asked) -> Say + 'static,
) -> (Client, Log) {
    let (streams, log) = script(capabilities, Box::new(answer));
    let streams = Mutex::new(Some(streams));
    let open = move || {
        let streams = streams.lock().unwrap().take();
        let opened = streams.ok_or_else(|| ErrorKind::ConnectionRefused.into());
        async move { opened }
    };
    let builder = builder.restart(RestartPolicy::default());
    (
        builder
            .connect(reopened(Sim.into(), open))
            .await
            .expect("it connects"),
        log,
    )
}

/// A connection to a server with these capabilities that answers like this.
fn script(capabilities: &str, mut answer: Answer) -> ((PipeReader, PipeWriter), Log) {
    let (lines, streams) = LinePeer::pair(1 << 20);
    let log = Log::default();
    let discovered = format!(
        r#"{{"supportedVersions":["2026-07-28"],"capabilities":{capabilities},"ttlMs":0,"cacheScope":"private"}}"#
    );
    let initialized = format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"script","version":"1"}}}}"#
    );
    spawn(serve(lines, log.clone(), move |asked| {
        match &*asked.method {
            "server/discover" => Say::Result(discovered.clone()),
            "initialize" => Say::Result(initialized.clone()),
            _ => answer(asked),
        }
    }));
    (streams, log)
}

/// A client with tasks and forms, of a server with tools and tasks.
pub(crate) async fn with_tasks(answer: impl FnMut(&Asked) -> Say + 'static) -> (Client, Log) {
    let connected = connect(TASKS, builder(), answer).await;
    connected.expect("it connects")
}

pub(crate) const TASKS: &str = r#"{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

pub(crate) fn builder() -> ClientBuilder {
    answering(only(Revision::V2026_07_28)).tasks(TaskOptions::default())
}

/// Accepts every form that does not say `refuse`.
pub(crate) fn answering(builder: ClientBuilder) -> ClientBuilder {
    builder.on_elicitation(|asked: ElicitParams, _| async move {
        if asked.message() == Some("refuse") {
            return Err("no".into());
        }
        let answer = HashMap::from([("answer", "yes")]);
        Ok(ElicitResult::accept(&answer)?)
    })
}

/// A client of 2025-11-25 with tasks and forms, of a server with tools that may be tasks: `plain`,
/// which says nothing of them, `never`, `maybe` and `job`, which requires them. It lists its tools,
/// and takes its other answers from the closure.
pub(crate) async fn with_core_tasks(
    options: TaskOptions,
    mut answer: impl FnMut(&Asked) -> Say + 'static,
) -> (Client, Log) {
    let builder = answering(only(Revision::V2025_11_25)).tasks(options);
    let connected = connect(CORE_TASKS, builder, move |asked| match &*asked.method {
        "tools/list" => Say::Result(TOOLS.to_owned()),
        _ => answer(asked),
    });
    connected.await.expect("it connects")
}

pub(crate) const CORE_TASKS: &str =
    r#"{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;

pub(crate) const TOOLS: &str = concat!(
    r#"{"tools":[{"name":"plain","inputSchema":{"type":"object"}},"#,
    r#"{"name":"never","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},"#,
    r#"{"name":"maybe","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},"#,
    r#"{"name":"job","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}"#
);

/// A task `t` of 2025-11-25, as [`task`].
pub(crate) fn core_task(status: &str, more: &str) -> String {
    format!(
        r#"{{"taskId":"t","status":"{status}","createdAt":"c","lastUpdatedAt":"u","ttl":999999,"pollInterval":50{more}}}"#
    )
}

/// A server of 2025-11-25 that creates a task, answers its polls with these statuses, the last one
/// again and again, and requests for its result with `fetched`.
pub(crate) fn core_polled(
    statuses: &'static [&'static str],
    fetched: impl Fn() -> Say,
) -> impl FnMut(&Asked) -> Say {
    let mut polls = 0;
    move |asked| match &*asked.method {
        "tools/call" if asked.param(&["task"]).is_some() => {
            Say::Result(format!(r#"{{"task":{}}}"#, core_task("working", "")))
        }
        "tools/call" => Say::Result(r#"{"content":[{"type":"text","text":"now"}]}"#.to_owned()),
        "tasks/get" => {
            let status = statuses.get(polls).or(statuses.last());
            polls += 1;
            Say::Result(core_task(status.copied().unwrap_or("working"), ""))
        }
        "tasks/result" => fetched(),
        "tasks/cancel" => Say::Result(core_task("cancelled", "")),
        _ => Say::Nothing,
    }
}

/// The result of a task, `done`.
pub(crate) fn done() -> Say {
    let meta = r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
    Say::Result(format!(
        r#"{{"content":[{{"type":"text","text":"done"}}],{meta}}}"#
    ))
}

/// A task `t` with this status and these other members, to be polled every 50 ms.
pub(crate) fn task(status: &str, more: &str) -> String {
    format!(
        r#"{{"resultType":"complete","taskId":"t","status":"{status}","createdAt":"c","lastUpdatedAt":"u","ttlMs":999999,"pollIntervalMs":50{more}}}"#
    )
}

/// The answer to `tools/call` that creates it.
pub(crate) fn created() -> Say {
    Say::Result(task("working", "").replace("complete", "task"))
}

pub(crate) fn completed(text: &str) -> Say {
    let result = format!(r#","result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    Say::Result(task("completed", &result))
}

/// Questions for forms, by keys and messages.
pub(crate) fn asking(questions: &[(&str, &str)]) -> Say {
    let questions = questions.iter().map(|(key, message)| {
        format!(
            r#""{key}":{{"method":"elicitation/create","params":{{"message":"{message}","requestedSchema":{{"type":"object","properties":{{"answer":{{"type":"string"}}}}}}}}}}"#
        )
    });
    let questions: Vec<_> = questions.collect();
    let more = format!(r#","inputRequests":{{{}}}"#, questions.join(","));
    Say::Result(task("input_required", &more))
}

/// A server that creates a task and answers its polls with these, the last one again and again.
pub(crate) fn polled(answers: Vec<Say>) -> impl FnMut(&Asked) -> Say {
    let mut answers = answers.into_iter();
    let mut last = None;
    move |asked| match &*asked.method {
        "tools/call" => created(),
        "tasks/get" => {
            last = answers.next().or(last.take());
            last.as_ref().map_or(Say::Nothing, Say::copy)
        }
        "tasks/update" | "tasks/cancel" => Say::Result(r#"{"resultType":"complete"}"#.to_owned()),
        _ => Say::Nothing,
    }
}

/// How the call of a tool ends.
pub(crate) async fn call(answers: Vec<Say>) -> (Result<String, CallError>, Log) {
    let (client, log) = with_tasks(polled(answers)).await;
    let result = client.call_tool("job", &()).await;
    (result.map(|result| result.text()), log)
}

/// Polls a call whose task does not end, until the task was polled too.
pub(crate) fn poll_a_while<F: Future>(mut call: Pin<&mut F>) {
    for _ in 0..3 {
        assert!(poll_once(call.as_mut()).is_pending());
        settle();
        advance(Duration::from_millis(60));
    }
    assert!(poll_once(call.as_mut()).is_pending());
    settle();
    assert!(poll_once(call).is_pending());
}

impl Say {
    fn copy(&self) -> Self {
        match self {
            Self::Result(result) => Self::Result(result.clone()),
            Self::Error(code) => Self::Error(*code),
            Self::Lines(lines) => Self::Lines(lines.clone()),
            Self::Nothing => Self::Nothing,
        }
    }

    pub(crate) fn lines(self, id: &str) -> Vec<String> {
        match self {
            Self::Result(result) => {
                vec![format!("{id} = {result}")]
            }
            Self::Error(code) => vec![format!("{id} ! {code} no")],
            Self::Lines(lines) => {
                let lines = lines.into_iter();
                lines.map(|line| line.replace("ID", id)).collect()
            }
            Self::Nothing => Vec::new(),
        }
    }
}

async fn serve(mut lines: LinePeer, log: Log, mut answer: impl FnMut(&Asked) -> Say) {
    while let Some(line) = lines.next_line().await {
        let Some(asked) = read(&line) else { continue };
        let said = answer(&asked);
        let id = asked.id.clone().unwrap_or_default();
        log.0.lock().unwrap().push(asked);
        for line in said.lines(&id) {
            lines.write_line(&line).await;
        }
    }
}

/// A request or a notification; answers of the client are noted as `answer`.
fn read(line: &str) -> Option<Asked> {
    let message = RawBuf::parse(line).ok()?;
    let object = message.as_raw().object()?;
    let method = object.get("method").and_then(Raw::string);
    let params = object.get("params").or(object.get("result"));
    let params = params.or(object.get("error"));
    Some(Asked {
        at: Sim.now(),
        id: object.get("id").map(|id| id.as_str().to_owned()),
        method: method.map_or("answer".to_owned(), |method| method.to_cow().into_owned()),
        params: params.unwrap_or(Raw::EMPTY_OBJECT).into(),
    })
}
