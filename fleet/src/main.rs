//! One process of a server: `fleet ADDRESS [STORE]`. With the URL of a Redis it shares its sessions.

use core::error::Error;
use core::time::Duration;

use mcp_proto::json::RawBuf;
use mcp_proto::model::LoggingLevel;
use mcp_proto::server::ListKind;
use mcp_tokio::mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_tokio::server::{Context, HandlerError, NoArguments, StateKeys, Tool};
use mcp_tokio::{RedisStore, Server, schemars};

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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("fleet ADDRESS [STORE]")?;
    let store = arguments.next().map(|url| RedisStore::new(&url));
    let store = store
        .transpose()?
        .map(|store| store.timeout(Duration::from_secs(1)));
    // Of tasks and of sessions: a killed process is followed after that time at the latest.
    let lease = Duration::from_secs(6);
    let tasks = Tasks::new()
        .store_timeout(Duration::from_secs(1))
        .lease(lease);
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
        .tool("process", "Says which process runs it", |_: NoArguments, _| async {
            Ok(std::process::id().to_string())
        })
        .with(Tool::new("count").task(TaskPolicy::Optional).handler(count))
        .with(Tool::new("ask").task(TaskPolicy::Optional).handler(ask))
        .tool("change", "Says that the tools have changed", |_: NoArguments, cx: Context| async move {
            cx.registry().list_changed(ListKind::Tools);
            Ok("changed")
        });
    let http = match store {
        Some(store) => server.http().share(store).lease(lease),
        None => server.http(),
    };
    Ok(http.serve(&*address).await?)
}

async fn count(args: Count, cx: Context) -> Result<&'static str, HandlerError> {
    for step in 1..=args.to {
        cx.progress(f64::from(step)).await;
        tokio::time::sleep(Duration::from_millis(args.every)).await;
    }
    Ok("counted")
}

/// Asks the person for a name.
async fn ask(_: NoArguments, cx: Context) -> Result<String, HandlerError> {
    let form = RawBuf::parse(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)
        .map_err(|_| HandlerError::visible("no form"))?;
    let answer = cx.elicit_form("name", "Who are you?", form).await?;
    let content = answer
        .content
        .map(|content| content.as_raw().as_str().to_owned());
    Ok(content.unwrap_or_default())
}
