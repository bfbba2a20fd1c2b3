//! Drives a server through every feature that rmcp knows.
//!
//! Usage: client REVISION COMMAND [ARGUMENT...], or REVISION URL
//!
//! Prints one JSON line per feature: `{"feature": .., "ok": true}`, or false with a `detail`, or `lacks` with a reason. Values are written and read as
//! JSON, through the SDK's types.

// What a revision deprecates is what this program is for.
#![allow(deprecated)]

/// Returns the error that says what was seen, unless the condition holds.
macro_rules! check {
    ($condition:expr, $($detail:tt)*) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format_args!($($detail)*)).into());
        }
    };
}

mod driver;
mod lists;
mod person;
mod prompts;
mod questions;
mod resources;
mod skills;
mod tasks;
mod tools;

use std::error::Error;
use std::time::{Duration, Instant};

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

use driver::Driver;
use person::Person;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let revision = arguments.next().ok_or("no revision")?;
    let command = arguments.next().ok_or("no command")?;
    let person = Person {
        revision: revision.clone(),
        ..Person::default()
    };
    let modern = revision == "2026-07-28";
    let lifecycle = if modern {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = if command.starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(command);
        let serving = person.clone().serve_with_lifecycle(transport, lifecycle);
        serving.await?
    } else {
        let mut program = tokio::process::Command::new(command);
        program.args(arguments);
        let transport = TokioChildProcess::new(program)?;
        let serving = person.clone().serve_with_lifecycle(transport, lifecycle);
        serving.await?
    };
    let mut driver = Driver {
        client,
        person,
        modern,
    };
    for feature in FEATURES {
        if let Some((_, reason)) = LACKS.iter().find(|(lacking, _)| *lacking == feature) {
            report(feature, json!({"lacks": reason}));
            continue;
        }
        match tokio::time::timeout(Duration::from_secs(30), driver.drive(feature)).await {
            Ok(Ok(())) => report(feature, json!({"ok": true})),
            Ok(Err(error)) => report(feature, json!({"ok": false, "detail": error.to_string()})),
            Err(_) => report(feature, json!({"ok": false, "detail": "timed out"})),
        }
    }
    // The SDK waits three seconds for a server to end by itself before it ends it.
    let began = Instant::now();
    driver.client.close().await?;
    let took = began.elapsed().as_secs_f32();
    report(
        "close",
        json!({"ok": took < 2.0, "detail": format!("{took:.1} s")}),
    );
    Ok(())
}

impl Driver {
    async fn drive(&mut self, feature: &str) -> Outcome {
        match feature {
            "negotiate" => self.negotiate(),
            "ping" => self.raw("ping", Value::Null).await.map(drop),
            "list" => self.list().await,
            "call" => self.call().await,
            "content" => self.content().await,
            "structured" => self.structured().await,
            "errors" => self.errors().await,
            "progress" => self.progress().await,
            "cancel" => self.cancel().await,
            "logging" => self.logging().await,
            "elicit" => self.elicit().await,
            "elicit-url" => self.elicit_url().await,
            "sampling" => self.sampling().await,
            "roots" => self.roots().await,
            "rounds" => self.rounds().await,
            "resources" => self.resources().await,
            "templates" => self.templates().await,
            "subscribe" => self.subscribe().await,
            "changes" => self.changes().await,
            "prompts" => self.prompts().await,
            "skills" => self.skills().await,
            "directories" => self.directories().await,
            // Other revisions do not have these tasks; there the slow call would run for a minute.
            "tasks" | "task-input" | "task-errors" | "task-cancel" if !self.modern => Ok(()),
            "tasks" => self.tasks().await,
            "task-input" => self.task_input().await,
            "task-errors" => self.task_errors().await,
            "task-cancel" => self.task_cancel().await,
            _ => self.complete().await,
        }
    }
}

fn report(feature: &str, mut facts: Value) {
    facts["feature"] = json!(feature);
    println!("{facts}");
}

const FEATURES: [&str; 28] = [
    "negotiate",
    "ping",
    "list",
    "call",
    "content",
    "structured",
    "errors",
    "progress",
    "cancel",
    "logging",
    "elicit",
    "elicit-url",
    "sampling",
    "roots",
    "rounds",
    "resources",
    "templates",
    "subscribe",
    "changes",
    "prompts",
    "complete",
    "skills",
    "directories",
    "tasks",
    "task-input",
    "task-errors",
    "task-cancel",
    "task-listen",
];

/// What the SDK cannot do.
const LACKS: [(&str, &str); 1] = [("task-listen", "its filter of subscriptions has no taskIds")];
