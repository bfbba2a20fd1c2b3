//! A client of all servers that a configuration file names: `host CONFIG`, then one command in each
//! line of its input.
//!
//! | command | does |
//! |---|---|
//! | `tools` | lists the tools of all servers |
//! | `call SERVER TOOL [ARGUMENTS]` | calls a tool |
//! | `every TOOL [ARGUMENTS]` | calls the tool of all servers at once |
//! | `read SERVER URI` | reads a resource |
//! | `watch SERVER URI` | reports changes of a resource from now on |
//!
//! Ctrl-C cancels the command that runs; the end of the input ends the program.

mod person;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::join_all;
use mcp_tokio::client::{RestartPolicy, Update};
use mcp_tokio::compose::{Config, Host, ServerState};
use mcp_tokio::{Client, ErrorChain, Runtime};
use serde_json::{Value, json};

use person::Person;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).context("usage: host CONFIG")?;
    let person = Arc::new(Person::new());
    let asked = Arc::clone(&person);
    let config = Config::read(path)?;
    let host = Host::builder("host", env!("CARGO_PKG_VERSION"))
        .config(&config)
        .restart(RestartPolicy::default().attempts(3))
        .on_elicitation(move |question, cx| {
            let person = Arc::clone(&asked);
            async move { person.answer(question, cx).await }
        })
        .on_stderr(|server, line| eprintln!("[{server}] {line}"))
        .start(Runtime);
    host.ready().await;
    config.errors().iter().for_each(|error| println!("{error}"));
    for server in host.servers() {
        if let ServerState::Failed(error) = server.state {
            println!("{}", ErrorChain(&*error));
        }
    }
    while let Some(line) = person.line().await? {
        tokio::select! {
            result = run(&host, &line) => {
                if let Err(error) = result {
                    println!("{error:#}");
                }
            }
            // What is not awaited any more is cancelled.
            _ = tokio::signal::ctrl_c() => println!("cancelled"),
        }
    }
    host.close().await;
    Ok(())
}

async fn run(host: &Host, line: &str) -> anyhow::Result<()> {
    let (command, rest) = word(line);
    match command {
        "" => {}
        "tools" => tools(host),
        "call" => {
            let (server, rest) = word(rest);
            let (tool, arguments) = word(rest);
            call(server, &client(host, server)?, tool, &parse(arguments)?).await;
        }
        "every" => {
            let (tool, arguments) = word(rest);
            let arguments = parse(arguments)?;
            let all = host.servers();
            let calls = all.iter().filter_map(|server| {
                let client = host.client(&server.name).ok()?;
                Some((&*server.name, client))
            });
            let calls =
                calls.map(async |(server, client)| call(server, &client, tool, &arguments).await);
            join_all(calls).await;
        }
        "read" => {
            let (server, uri) = word(rest);
            let contents = client(host, server)?.read_resource(uri).await?;
            println!("{server}: {}", contents.text().unwrap_or_default());
        }
        "watch" => {
            let (server, uri) = word(rest);
            watch(server, &client(host, server)?, uri).await?;
        }
        _ => anyhow::bail!("unknown command {command}"),
    }
    Ok(())
}

/// The commands name a server: items of several may have one name or one URI.
fn client(host: &Host, server: &str) -> anyhow::Result<Client> {
    host.client(server)
        .with_context(|| format!("unknown server {server}"))
}

fn tools(host: &Host) {
    let view = host.view();
    for server in host.servers() {
        let Ok(client) = host.client(&server.name) else {
            continue;
        };
        let tools = view
            .tools()
            .iter()
            .filter(|tool| tool.server == server.name);
        let names: Vec<_> = tools.map(|tool| tool.item.display_name()).collect();
        let revision = client.info().revision;
        println!(
            "{} ({}): {}",
            server.name,
            revision.as_str(),
            names.join(", ")
        );
    }
}

/// The subscription is renewed when the server is started again.
async fn watch(server: &str, client: &Client, uri: &str) -> anyhow::Result<()> {
    let mut changes = client.subscribe(uri).await?;
    println!("{server}: watching {uri}");
    let server = server.to_owned();
    tokio::spawn(async move {
        while let Some(update) = changes.next().await {
            match update {
                Update::Resource(uri) => println!("{server}: {uri} changed"),
                Update::Reconnected => println!("{server}: changes may have been missed"),
                _ => {}
            }
        }
    });
    Ok(())
}

/// Calls a tool and prints its progress and its result. Each progress message extends the timeout.
async fn call(server: &str, client: &Client, tool: &str, arguments: &Value) {
    let result = client
        .call_tool(tool, arguments)
        .timeout(Duration::from_secs(10))
        .on_progress(|step| {
            let total = step
                .total
                .map_or_else(String::new, |total| format!(" of {total}"));
            println!("{server}: {}{total}", step.progress);
        })
        .await;
    match result {
        Ok(result) if result.is_error => println!("{server}: {tool} failed: {}", result.text()),
        Ok(result) => println!("{server}: {}", result.text()),
        Err(error) => println!("{server}: {}", ErrorChain(&error)),
    }
}

/// Parses the arguments of a tool; none are an empty object.
fn parse(arguments: &str) -> anyhow::Result<Value> {
    if arguments.is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_str(arguments).context("the arguments are not JSON")
}

/// Splits the first word off.
fn word(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(' ').unwrap_or((line, ""))
}
