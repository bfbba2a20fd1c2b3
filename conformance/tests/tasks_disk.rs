//! The task server of the fixture with its tasks in a folder, over a kill.

use core::time::Duration;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;
use std::{env, fs, process, thread};

#[test]
fn tasks_survive_a_kill_or_fail_with_a_message() {
    let folder = Folder::new();
    let mut server = Server::start(&folder);
    let finished = server.create(r#"{"steps":1,"ms":1}"#);
    let working = server.create(r#"{"steps":1000,"ms":1000}"#);
    let waiting = server.create(r#"{"steps":1,"ms":1,"ask":1}"#);
    server.wait_for(&finished, r#""status":"completed""#);
    server.wait_for(&waiting, r#""status":"input_required""#);
    server.child.kill().unwrap();
    server.child.wait().unwrap();

    let mut server = Server::start(&folder);
    let answer = server.wait_for(&finished, r#""status":"completed""#);
    assert!(answer.contains("done 1"), "{answer}");
    for task in [working, waiting] {
        let answer = server.wait_for(&task, r#""status":"failed""#);
        assert!(answer.contains(r#""statusMessage":""#), "{answer}");
    }
}

struct Server {
    child: Child,
    answers: Lines<BufReader<ChildStdout>>,
    id: u32,
}

impl Server {
    fn start(folder: &Folder) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fixture"))
            .args(["tasks", "stdio"])
            .env("MCP_TASK_STORE", &folder.0)
            .env("MCP_TASK_LEASE_MS", "2000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            child,
            answers: BufReader::new(stdout).lines(),
            id: 0,
        }
    }

    fn create(&mut self, arguments: &str) -> String {
        let answer = self.ask(
            "tools/call",
            &format!(r#""name":"job","arguments":{arguments}"#),
        );
        let (_, id) = answer.split_once(r#""taskId":""#).expect(&answer);
        id.split_once('"').unwrap().0.to_owned()
    }

    /// Polls until the answer contains this.
    fn wait_for(&mut self, task: &str, expected: &str) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = self.ask("tasks/get", &format!(r#""taskId":"{task}""#));
            if answer.contains(expected) {
                return answer;
            }
            assert!(Instant::now() < end, "{answer}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn ask(&mut self, method: &str, params: &str) -> String {
        self.id += 1;
        let id = self.id;
        let stdin = self.child.stdin.as_mut().unwrap();
        let extension = r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#;
        let capabilities = format!(r#"{{"elicitation":{{"form":{{}}}},{extension}}}"#);
        writeln!(
            stdin,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        )
        .unwrap();
        self.answers.next().expect("an answer").unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = env::temp_dir().join(format!("mcp-fixture-tasks-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
