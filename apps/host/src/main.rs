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

mod config;
mod person;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::join_all;
use mcp_tokio::client::{ClientBuilder, RestartPolicy, Update};
use mcp_tokio::{Client, Command, ErrorChain, child, http};
use serde_json::{Value, json};

use config::{Config, Entry};
use person::{Person, Questions};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).context("usage: host CONFIG")?;
    let config = Config::read(&path)?;
    let person = Arc::new(Person::new());
    let host = Host::open(&config, &person).await;
    while let Some(line) = person.line().await? {
        tokio::select! {
            result = host.run(&line) => {
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

/// The connections, by the names of the servers.
struct Host(BTreeMap<String, Client>);

impl Host {
    /// Connects to all servers at once. One that cannot be reached is reported and left out.
    async fn open(config: &Config, person: &Arc<Person>) -> Self {
        let servers = &config.mcp_servers;
        let opening = servers.iter().map(async |(name, entry)| {
            let client = connect(name, entry, person).await;
            let client = client.inspect_err(|error| println!("{name}: {error:#}"));
            Some((name.clone(), client.ok()?))
        });
        Self(join_all(opening).await.into_iter().flatten().collect())
    }

    async fn run(&self, line: &str) -> anyhow::Result<()> {
        let (command, rest) = word(line);
        match command {
            "" => Ok(()),
            "tools" => self.tools().await,
            "call" => {
                let (server, rest) = word(rest);
                let (tool, arguments) = word(rest);
                let client = self.client(server)?;
                call(server, client, tool, &parse(arguments)?).await;
                Ok(())
            }
            "every" => {
                let (tool, arguments) = word(rest);
                let arguments = parse(arguments)?;
                let all = self.0.iter();
                join_all(all.map(|(server, client)| call(server, client, tool, &arguments))).await;
                Ok(())
            }
            "read" => {
                let (server, uri) = word(rest);
                let contents = self.client(server)?.read_resource(uri).await?;
                println!("{server}: {}", contents.text().unwrap_or_default());
                Ok(())
            }
            "watch" => {
                let (server, uri) = word(rest);
                self.watch(server, uri).await
            }
            _ => anyhow::bail!("unknown command {command}"),
        }
    }

    fn client(&self, server: &str) -> anyhow::Result<&Client> {
        let client = self.0.get(server);
        client.with_context(|| format!("unknown server {server}"))
    }

    async fn tools(&self) -> anyhow::Result<()> {
        for (server, client) in &self.0 {
            let tools = client.tools().all().await?;
            let names: Vec<_> = tools.iter().map(|tool| tool.display_name()).collect();
            let revision = client.info().revision;
            println!("{server} ({}): {}", revision.as_str(), names.join(", "));
        }
        Ok(())
    }

    /// The subscription is renewed when the server is started again.
    async fn watch(&self, server: &str, uri: &str) -> anyhow::Result<()> {
        let mut changes = self.client(server)?.subscribe(uri).await?;
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

    /// Ends the connections, and the programs that were started.
    async fn close(&self) {
        let closing = self.0.iter().map(async |(server, client)| {
            if let Err(error) = client.close().await {
                println!("{server}: {error}");
            }
        });
        join_all(closing).await;
    }
}

async fn connect(name: &str, entry: &Entry, person: &Arc<Person>) -> anyhow::Result<Client> {
    Ok(match entry {
        Entry::Stdio { command, args, env } => {
            let server = name.to_owned();
            let command = Command::new(command)
                .args(args)
                .envs(env)
                .on_stderr(move |line| eprintln!("[{server}] {line}"));
            builder(name, person).connect(child(command)).await?
        }
        Entry::Http { url, headers } => {
            let builder = headers
                .iter()
                .fold(builder(name, person), |builder, (name, value)| {
                    builder.header(name, value)
                });
            builder.connect(http(url)).await?
        }
    })
}

/// The settings that all clients have in common.
fn builder(name: &str, person: &Arc<Person>) -> ClientBuilder<Questions> {
    Client::builder("host", env!("CARGO_PKG_VERSION"))
        .restart(RestartPolicy::default().attempts(3))
        .with_state(Questions {
            server: name.to_owned(),
            person: Arc::clone(person),
        })
        .on_elicitation(person::answer)
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
