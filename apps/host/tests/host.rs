//! Drives the program and the servers of its configuration: notes over standard streams, and the
//! gateway over loopback HTTP.
//!
//! The programs of the other packages are there when the whole workspace is tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

const HOST: &str = env!("CARGO_BIN_EXE_host");
const LONGEST: Duration = Duration::from_secs(20);

/// A program while it runs, and the two ends of its terminal.
struct Running {
    process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let program = program.as_ref();
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let input = process.stdin.take();
        Self {
            process,
            input,
            output,
        }
    }

    /// Starts the program with these servers in its configuration.
    fn with(name: &str, servers: &Value) -> Self {
        let config = file(&format!("{name}.json"));
        fs::write(&config, json!({ "mcpServers": servers }).to_string()).unwrap();
        Self::start(HOST, &[config.to_str().unwrap()])
    }

    async fn says(&mut self) -> String {
        let line = timeout(LONGEST, self.output.next_line()).await;
        line.expect("nothing was printed")
            .unwrap()
            .expect("the program ended")
    }

    async fn types(&mut self, line: &str) {
        let line = format!("{line}\n");
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
    }

    /// Types a command and reads lines until all of these were printed, in any order.
    async fn run(&mut self, command: &str, expected: &[&str]) {
        self.types(command).await;
        let mut missing = expected.to_vec();
        while !missing.is_empty() {
            let line = self.says().await;
            missing.retain(|part| !line.contains(part));
        }
    }

    async fn end(mut self) {
        drop(self.input.take());
        let status = timeout(LONGEST, self.process.wait()).await;
        assert!(status.expect("it has ended").unwrap().success());
    }

    fn id(&self) -> String {
        self.process.id().unwrap().to_string()
    }
}

/// A file for this test alone.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The program of another package of the workspace.
fn program(name: &str) -> PathBuf {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Path::new(HOST).with_file_name(name)
}

async fn kill(signal: &str, process: &str) {
    let status = Command::new("kill").args([signal, process]).status();
    assert!(status.await.unwrap().success());
}

#[tokio::test]
async fn commands() {
    let mut gateway = Running::start(program("gateway"), &[":memory:", "127.0.0.1:0"]);
    let url = gateway.says().await;
    let mut host = Running::with(
        "commands",
        &json!({
            "notes": { "command": program("notes"), "args": [":memory:"] },
            "shared": { "url": url, "headers": { "Authorization": "Bearer ada-token" } },
            "broken": { "command": "/nowhere/server" },
        }),
    );

    let broken = host.says().await;
    assert!(broken.starts_with("broken: "), "{broken}");
    let tools = [
        "notes (2026-07-28): Add a note, ",
        "shared (2026-07-28): Add a note, ",
    ];
    host.run("tools", &tools).await;
    for server in ["notes", "shared"] {
        let says = |text: &str| format!("{server}: {text}");
        let watch = format!("watch {server} note:///index");
        host.run(&watch, &[&says("watching note:///index")]).await;
        let add = format!(r#"call {server} add {{"title":"One","body":"b"}}"#);
        let added = [&*says(r#"{"id":1,"#), &says("note:///index changed")];
        host.run(&add, &added).await;
        let read = format!("read {server} note:///1");
        host.run(&read, &[&says("# One")]).await;

        let delete = format!(r#"call {server} delete {{"id":1}}"#);
        let question = format!("{server} asks: Really delete “One”?");
        host.run(&delete, &[&question]).await;
        host.run("", &[&says(r#"{"deleted":false}"#)]).await;
        host.run(&delete, &[&question]).await;
        let answer = r#"{"sure":true}"#;
        host.run(answer, &[&says(r#"{"deleted":true}"#)]).await;
        host.run(&delete, &[&says("delete failed: There is no note 1.")])
            .await;
    }
    let both = [
        "notes: 1 of 2",
        "shared: 1 of 2",
        "notes: 2 tables",
        "shared: 2 tables",
    ];
    host.run(r#"every reindex {"steps":2}"#, &both).await;

    host.run(
        "call notes fly",
        &["notes: the server answered with an error: "],
    )
    .await;
    host.run("call other fly", &["unknown server other"]).await;
    host.run("call notes add [", &["the arguments are not JSON"])
        .await;

    host.run(
        r#"every reindex {"steps":1000}"#,
        &["notes: 1 of", "shared: 1 of"],
    )
    .await;
    kill("-INT", &host.id()).await;
    host.run(
        r#"every reindex {"steps":0}"#,
        &["cancelled", "notes: 0 tables", "shared: 0 tables"],
    )
    .await;
    host.end().await;
    kill("-INT", &gateway.id()).await;
    gateway.end().await;
}

/// The call that ran is lost, and the next one meets the new process. So does the subscription.
#[tokio::test]
async fn a_server_that_crashed_is_started_again() {
    let id = file("notes.pid");
    let script = r#"echo $$ > "$1"; exec "$2" :memory:"#;
    let mut host = Running::with(
        "crash",
        &json!({ "notes": { "command": "sh", "args": ["-c", script, "sh", id, program("notes")] } }),
    );
    host.run("watch notes note:///index", &["notes: watching"])
        .await;
    host.run(
        r#"call notes reindex {"steps":1000}"#,
        &["notes: 1 of 1000"],
    )
    .await;
    let first = fs::read_to_string(&id).unwrap();
    kill("-KILL", first.trim()).await;
    let lost = [
        "the server",
        "notes: changes may have been missed",
        r#"notes: {"notes":[]}"#,
    ];
    host.run("call notes search", &lost).await;
    assert_ne!(first, fs::read_to_string(&id).unwrap());
    let added = [r#"notes: {"id":1,"#, "notes: note:///index changed"];
    host.run(r#"call notes add {"title":"One","body":"b"}"#, &added)
        .await;
    host.end().await;
}

#[tokio::test]
async fn a_mistake_in_the_configuration_is_explained() {
    let config = file("mistake.json");
    fs::write(&config, "{}").unwrap();
    let output = Command::new(HOST).arg(&config).output().await.unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("mistake.json") && text.contains("mcpServers"),
        "{text}"
    );
}
