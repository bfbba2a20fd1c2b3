//! The client of `fixture client tasks` against a server by script, over HTTP.

use core::time::Duration;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use mcp_proto::json::{Raw, RawBuf};

/// A server whose tasks make one step with each poll, or each 10 ms where a subscription tells of
/// them.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    tasks: HashMap<String, Job>,
    /// The bodies and the headers that repeat them, in the order of arrival.
    log: Vec<(String, Option<String>)>,
}

#[derive(Default, Clone)]
struct Job {
    steps: u32,
    done: u32,
    asks: bool,
    fail: Option<String>,
    cancelled: bool,
}

impl Job {
    fn step(&mut self, id: &str) -> (String, bool) {
        let asks = self.asks && self.done >= self.steps / 2;
        if !asks {
            self.done += 1;
        }
        let message = format!(r#","statusMessage":"{}/{}""#, self.done, self.steps);
        let (status, more) = if self.cancelled {
            ("cancelled", String::new())
        } else if asks {
            let question = r#"{"method":"elicitation/create","params":{"message":"q?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string"}}}}}"#;
            let more = format!(r#","inputRequests":{{"q1":{question},"q2":{question}}}"#);
            ("input_required", more)
        } else if self.done <= self.steps {
            ("working", message)
        } else {
            match self.fail.as_deref() {
                Some("protocol") => (
                    "failed",
                    r#","error":{"code":-32603,"message":"job failed"}"#.to_owned(),
                ),
                fail => {
                    let is_error = fail.is_some();
                    let text = if is_error { "failed" } else { "done" };
                    let result = format!(
                        r#","result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":{is_error}}}"#
                    );
                    ("completed", result)
                }
            }
        };
        let is_over = !matches!(status, "working" | "input_required");
        let task = format!(
            r#"{{"resultType":"complete","taskId":"{id}","status":"{status}","createdAt":"c","lastUpdatedAt":"u","ttlMs":60000,"pollIntervalMs":20{more}}}"#
        );
        (task, is_over)
    }
}

impl Script {
    /// Serves connections until the test ends.
    fn start() -> (Self, String) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let script = Self::default();
        let serving = script.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        (script, url)
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        // No event waits for the acknowledgement of the one before.
        stream.set_nodelay(true).ok()?;
        let mut writer = stream.try_clone().ok()?;
        let mut reader = BufReader::new(stream);
        loop {
            let (mut length, mut name, mut line) = (0, None, String::new());
            loop {
                line.clear();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
                let Some((key, value)) = line.trim_end().split_once(": ") else {
                    if line.trim_end().is_empty() {
                        break;
                    }
                    continue;
                };
                match key.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.parse().ok()?,
                    "mcp-name" => name = Some(value.to_owned()),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            let body = RawBuf::parse(body).ok()?;
            self.answer(body.as_raw(), name, &mut writer)?;
        }
    }

    fn answer(&self, body: Raw<'_>, name: Option<String>, writer: &mut TcpStream) -> Option<()> {
        let message = body.object()?;
        let method = message.get("method")?.string()?.to_cow();
        let id = message.get("id")?.as_str();
        let param = |path: &[&str]| {
            let params = message.get("params");
            path.iter()
                .try_fold(params?, |raw, key| raw.object()?.get(key))
        };
        let text = |path: &[&str]| Some(param(path)?.string()?.to_cow().into_owned());
        let number = |path: &[&str]| param(path)?.as_str().parse::<u32>().ok();
        let task = text(&["taskId"]);
        let mut state = self.0.lock().unwrap();
        state.log.push((body.as_str().to_owned(), name));
        let empty = || r#"{"resultType":"complete"}"#.to_owned();
        let result = match &*method {
            "server/discover" => r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}"#.to_owned(),
            "tools/call" if text(&["name"])? == "echo" => {
                r#"{"resultType":"complete","content":[{"type":"text","text":"ping"}]}"#.to_owned()
            }
            "tools/call" => {
                let task = format!("task-{}", state.tasks.len() + 1);
                let job = Job {
                    steps: number(&["arguments", "steps"])?,
                    asks: number(&["arguments", "ask"]).is_some(),
                    fail: text(&["arguments", "fail"]),
                    ..Job::default()
                };
                state.tasks.insert(task.clone(), job);
                format!(r#"{{"resultType":"task","taskId":"{task}","status":"working","createdAt":"c","lastUpdatedAt":"u","ttlMs":60000,"pollIntervalMs":20}}"#)
            }
            "tasks/get" => state.tasks.get_mut(&task.clone()?)?.step(&task?).0,
            "tasks/update" => {
                state.tasks.get_mut(&task?)?.asks = false;
                empty()
            }
            "tasks/cancel" => {
                state.tasks.get_mut(&task?)?.cancelled = true;
                empty()
            }
            "subscriptions/listen" => {
                drop(state);
                let ids = param(&["notifications", "taskIds"])?.array()?;
                let task = ids.elements().next()?.string()?.to_cow().into_owned();
                return self.listen(&task, id, writer);
            }
            _ => return None,
        };
        drop(state);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let length = body.len();
        say(
            writer,
            &format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
        )
    }

    /// Tells of each step; the stream ends with the task.
    fn listen(&self, task: &str, id: &str, writer: &mut TcpStream) -> Option<()> {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        say(
            writer,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        )?;
        say(
            writer,
            &format!(
                "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"notifications\":{{\"taskIds\":[\"{task}\"]}},{meta}}}}}\n\n"
            ),
        )?;
        let mut is_over = false;
        while !is_over {
            std::thread::sleep(Duration::from_millis(10));
            let members;
            (members, is_over) = self.0.lock().unwrap().tasks.get_mut(task)?.step(task);
            let members = members.strip_suffix('}')?;
            say(
                writer,
                &format!(
                    "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{members},{meta}}}}}\n\n"
                ),
            )?;
        }
        // Whatever follows, the connection is over.
        None
    }

    /// The values of `Mcp-Name` of the requests of this method.
    fn names(&self, method: &str) -> Vec<Option<String>> {
        let method = format!(r#""method":"{method}""#);
        let state = self.0.lock().unwrap();
        let asked = state.log.iter().filter(|(body, _)| body.contains(&method));
        asked.map(|(_, name)| name.clone()).collect()
    }
}

/// In one piece, so that no part of it waits for the acknowledgement of another.
fn say(writer: &mut TcpStream, text: &str) -> Option<()> {
    writer.write_all(text.as_bytes()).ok()
}

fn run(runtime: &str, url: &str, mode: &str, resume: Option<&str>) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    command.args(["--runtime", runtime, "client", "tasks", url]);
    command
        .env("MCP_OP_TIMEOUT_MS", "20000")
        .env("MCP_TASK_MODE", mode);
    match resume {
        Some(id) => command.env("MCP_TASK_RESUME", id),
        None => command.env_remove("MCP_TASK_RESUME"),
    };
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

const DONE: &str = r#""ok":true,"status":"completed","text":"done","isError":false}"#;

#[test]
fn tasks_are_followed_to_their_ends() {
    for (runtime, mode) in [("tokio", "poll"), ("smol", "poll"), ("tokio", "listen")] {
        let (script, url) = Script::start();
        let lines = run(runtime, &url, mode, None);
        let text = lines.join("\n");
        let has = |line: &str| assert!(lines.iter().any(|other| other == line), "{line}\n{text}");
        assert_eq!(lines[0], r#"{"op":"connect","ok":true,"tasks":true}"#);
        assert_eq!(
            lines[1],
            r#"{"op":"create","n":1,"ok":true,"task":"task-1"}"#
        );
        assert_eq!(lines[2], r#"{"op":"status","n":1,"status":"working"}"#);
        // Of states that follow closely a subscriber may see the last one only.
        let tells = |line: &String| line.contains(r#""n":1,"status":"working","message":""#);
        assert!(lines.iter().any(tells), "{text}");
        has(r#"{"op":"status","n":1,"status":"completed"}"#);
        has(&format!(r#"{{"op":"result","n":1,{DONE}"#));
        has(r#"{"op":"status","n":2,"status":"input_required"}"#);
        has(r#"{"op":"input","n":2,"keys":["q1","q2"]}"#);
        has(r#"{"op":"update","n":2,"ok":true}"#);
        has(&format!(r#"{{"op":"result","n":2,{DONE}"#));
        has(r#"{"op":"cancel","n":3,"ok":true}"#);
        has(
            r#"{"op":"result","n":3,"ok":false,"status":"cancelled","error":"the task was cancelled"}"#,
        );
        has(
            r#"{"op":"result","n":4,"ok":false,"status":"failed","code":-32603,"error":"job failed"}"#,
        );
        has(
            r#"{"op":"result","n":5,"ok":true,"status":"completed","text":"failed","isError":true}"#,
        );
        has(&format!(r#"{{"op":"result","n":6,{DONE}"#));
        has(r#"{"op":"create","n":7,"ok":true,"task":null}"#);
        has(
            r#"{"op":"result","n":7,"ok":true,"status":"completed","text":"ping","isError":false}"#,
        );
        assert_eq!(lines.last().unwrap(), r#"{"op":"close","ok":true}"#);
        // TK-46: the header repeats the id of the task.
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let names = script.names(method);
            let is_id =
                |name: &Option<String>| name.as_ref().is_some_and(|name| name.starts_with("task-"));
            assert!(!names.is_empty() && names.iter().all(is_id), "{names:?}");
        }
        if mode == "listen" {
            assert!(script.names("tasks/get").len() < 20, "{text}");
        }
    }
}

#[test]
fn a_task_is_resumed() {
    let (script, url) = Script::start();
    let job = Job {
        steps: 3,
        ..Job::default()
    };
    script.0.lock().unwrap().tasks.insert("mine".into(), job);
    let lines = run("tokio", &url, "poll", Some("mine"));
    assert_eq!(
        lines[1],
        r#"{"op":"status","n":8,"status":"working","message":"1/3"}"#
    );
    assert_eq!(
        lines[lines.len() - 2],
        format!(r#"{{"op":"result","n":8,{DONE}"#)
    );
    assert!(script.names("tools/call").is_empty());
    assert!(script.names("tasks/cancel").is_empty());
}
