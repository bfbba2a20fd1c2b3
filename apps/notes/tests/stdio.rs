//! Drives the program over its standard streams.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use mcp_tokio::client::{CallError, Negotiation, Update};
use mcp_tokio::model::LoggingLevel;
use mcp_tokio::{Client, Command, child};
use rusqlite::Connection;
use serde_json::json;

const ERAS: [Negotiation; 2] = [Negotiation::Probe, Negotiation::Handshake];

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_notes")).arg(":memory:")
}

#[tokio::test]
async fn changes_progress_and_logs_arrive() {
    for era in ERAS {
        let (log, logs) = mpsc::channel();
        let client = Client::builder("test", "1.0")
            .negotiation(era)
            .on_log(move |message| log.send(message.level).unwrap())
            .connect(child(program()))
            .await
            .unwrap();
        if client.info().revision.is_legacy() {
            client.set_log_level(LoggingLevel::Info).await.unwrap();
        }
        let mut changes = client.subscribe("note:///index").await.unwrap();
        let note = json!({ "title": "a", "body": "b" });
        let added = client.call_tool("add", &note);
        added.with_logs(LoggingLevel::Info).await.unwrap();
        assert_eq!(logs.try_recv(), Ok(LoggingLevel::Info));
        let index = Update::Resource("note:///index".into());
        assert_eq!(changes.next().await, Some(index));

        let mut last = None;
        let steps = json!({ "steps": 3 });
        let reindex = client.call_tool("reindex", &steps);
        let result = reindex.on_progress(|step| last = step.fraction()).await;
        assert_eq!(result.unwrap().text(), "3 tables");
        assert_eq!(last, Some(1.0));

        let status = client.close().await.unwrap();
        assert!(status.is_some_and(|status| status.success()), "{status:?}");
    }
}

/// A call that is dropped, or takes too long, is cancelled: the handler's values are dropped.
#[tokio::test]
async fn a_cancelled_call_rolls_back() {
    for era in ERAS {
        let (line, lines) = mpsc::channel();
        let command = program().on_stderr(move |text| line.send(text.to_owned()).unwrap());
        let builder = Client::builder("test", "1.0").negotiation(era);
        let client = builder.connect(child(command)).await.unwrap();
        let steps = json!({ "steps": 1000 });

        let dropped = client.call_tool("reindex", &steps);
        let dropped = tokio::time::timeout(Duration::from_millis(200), dropped).await;
        assert!(dropped.is_err());
        let late = client.call_tool("reindex", &steps);
        let late = late
            .max_duration(Duration::from_millis(200))
            .on_progress(|_| ());
        assert!(matches!(late.await, Err(CallError::Timeout)));

        client.close().await.unwrap();
        let lines: Vec<_> = lines.try_iter().collect();
        assert_eq!(lines, ["reindex: rolled back"; 2]);
    }
}

/// The log has the error of the database, and the client learns only that there was one.
#[tokio::test]
async fn an_error_of_the_database_is_logged() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken.db");
    drop(std::fs::remove_file(&file));
    let (line, lines) = mpsc::channel();
    let command = Command::new(env!("CARGO_BIN_EXE_notes")).arg(&file);
    let command = command.on_stderr(move |text| line.send(text.to_owned()).unwrap());
    let client = Client::connect(child(command)).await.unwrap();
    let database = Connection::open(&file).unwrap();
    database.execute("drop table note", []).unwrap();

    let search = client.call_tool("search", &json!({})).await;
    let Err(CallError::Server(error)) = search else {
        panic!("{search:?}");
    };
    assert!(!error.to_string().contains("note"), "{error}");
    client.close().await.unwrap();
    let lines: Vec<_> = lines.try_iter().collect();
    assert!(lines.concat().contains("no such table: note"), "{lines:?}");
}

#[test]
fn a_mistake_in_the_arguments_is_explained() {
    for (arguments, expected) in [
        (&[][..], "usage: notes DATABASE"),
        (&["/nowhere/notes.db"], "cannot open /nowhere/notes.db"),
    ] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_notes"));
        let output = program.args(arguments).output().unwrap();
        assert!(!output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected), "{text}");
    }
}
