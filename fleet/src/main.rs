//! One process of a server. With the URL of a Redis it shares its sessions and tasks.

mod options;

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_tokio::http::{HttpService, HttpStatus};
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_tokio::model::LoggingLevel;
use mcp_tokio::server::ListKind;
use mcp_tokio::server::{Context, HandlerError, StateKeys, Tool};
use mcp_tokio::{RedisStore, Server, schemars, tcp};

use options::{Options, USAGE};

/// How far to count, and how fast.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    to: u32,
    /// The time between two steps in milliseconds.
    every: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Effect {
    /// The name of the call in the file of effects.
    key: String,
    /// The time that the call takes in milliseconds.
    millis: u64,
    /// The number of its reports of progress in that time.
    steps: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Options {
        address,
        store,
        lease,
        effects,
        peers,
        peers_url,
    } = Options::parse(std::env::args().skip(1)).ok_or(USAGE)?;
    let store = store.map(|url| RedisStore::new(&url));
    let store = store
        .transpose()?
        .map(|store| store.timeout(Duration::from_secs(1)));
    let tasks = Tasks::new()
        .store_timeout(Duration::from_secs(1))
        .lease(lease);
    let status = Arc::new(OnceLock::new());
    let made = Arc::clone(&status);
    let server = Server::builder("fleet", "1.0")
        // All processes read each other's request states. Outside of a demonstration the key is secret.
        .state_keys(StateKeys::new([7; 32]))
        .tasks(match &store {
            Some(store) => tasks.store(store.clone()),
            None => tasks,
        })
        .progress_interval(Duration::ZERO)
        .change_notifications()
        .logging()
        .tool("echo", "Says the same", |args: Text, _| async move { Ok(args.text) })
        .tool("log", "Writes a log message", |args: Text, cx: Context| async move {
            cx.log(LoggingLevel::Info, args.text).await;
            Ok("written")
        })
        .tool("status", "Says what the process has done and has", move |(): (), _| {
            let status = status.get().map(HttpService::status);
            async move { Ok(status.map(|status| shown(&status)).unwrap_or_default()) }
        })
        .tool("process", "Says which process runs it", |(): (), _| async {
            Ok(std::process::id().to_string())
        })
        .with(Tool::new("count").task(TaskPolicy::Optional).handler(count))
        .with(Tool::new("ask").task(TaskPolicy::Optional).handler(ask))
        .with(Tool::new("effect").task(TaskPolicy::Optional).handler(
            move |args: Effect, cx: Context| {
                let file = effects.clone();
                async move { effect(&args, file.as_deref(), &cx).await }
            },
        ))
        .resource("fleet://status", "status", |_: Context| async { Ok("running") })
        .tool("update", "Says that the resource has changed", |(): (), cx: Context| async move {
            cx.registry().resource_updated("fleet://status");
            Ok("updated")
        })
        .tool("change", "Says that the tools have changed", |(): (), cx: Context| async move {
            cx.registry().list_changed(ListKind::Tools);
            Ok("changed")
        });
    // All clients of the tests have one address.
    let mut http = server.http().rate_limit(None).with_service(move |service| {
        let _ = made.set(service.clone());
    });
    if let Some(store) = store {
        http = http.share(store).lease(lease);
    }
    if let Some(peers) = peers {
        http = http.processes_on(tcp(&*peers));
    }
    if let Some(url) = peers_url {
        http = http.reached_at(url);
    }
    Ok(http.serve(tcp(&*address)).await?)
}

/// The numbers of an endpoint for operators.
fn shown(status: &HttpStatus) -> String {
    let latency = status
        .store_latency
        .map_or_else(|| "-".to_owned(), |it| format!("{it:?}"));
    format!(
        "{} sessions, {} tasks, {} taken over, {} forwarded, {} received, store {latency}",
        status.sessions, status.tasks, status.takeovers, status.forwarded, status.received
    )
}

async fn count(args: Count, cx: Context) -> Result<&'static str, HandlerError> {
    for step in 1..=args.to {
        cx.progress(f64::from(step)).await;
        tokio::time::sleep(Duration::from_millis(args.every)).await;
    }
    Ok("counted")
}

/// Writes one line when it begins and one when it ends.
async fn effect(args: &Effect, file: Option<&Path>, cx: &Context) -> Result<String, HandlerError> {
    let failed = |_: io::Error| HandlerError::visible("the file of effects cannot be written");
    write_effect(file, &args.key, "start").map_err(failed)?;
    let parts = args.steps.max(1);
    for step in 1..=parts {
        tokio::time::sleep(Duration::from_millis(args.millis) / parts).await;
        if args.steps > 0 {
            cx.progress(f64::from(step)).await;
        }
    }
    write_effect(file, &args.key, "end").map_err(failed)?;
    Ok(format!("{} {}", args.key, std::process::id()))
}

/// A line of the key, the process, the moment, and the time of the system's clock in seconds, in one write.
fn write_effect(file: Option<&Path>, key: &str, moment: &str) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    let time = time.unwrap_or_default().as_secs_f64();
    let line = format!("{key} {} {moment} {time:.6}\n", std::process::id());
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(line.as_bytes())
}

/// Asks the person for a name.
async fn ask((): (), cx: Context) -> Result<String, HandlerError> {
    let form = RawBuf::parse(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)
        .map_err(|_| HandlerError::visible("no form"))?;
    let answer = cx.elicit_form("name", "Who are you?", form).await?;
    let content = answer
        .content
        .map(|content| content.as_raw().as_str().to_owned());
    Ok(content.unwrap_or_default())
}
