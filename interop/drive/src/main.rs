//! Drives the server on its command line through every feature, written on the typed client.
//!
//! Usage: drive [--runtime tokio|smol] [--revisions REVISION,...] [--expect REVISION] [--without FEATURE,...] -- COMMAND [ARGUMENT...] | URL
//!
//! Prints one JSON line per feature: `{"feature":..,"ok":true}`, or false with a `detail`.

mod check;
mod features;
mod person;
mod skills;
mod tasks;

use core::error::Error;
use core::time::Duration;

use serde::Serialize;

use check::within;
use mcp_async::client::{ClientBuilder, ConnectError, child};
use mcp_async::http::HttpConnector;
use mcp_async::process::{Command, Grace};
use mcp_async::runtime::RuntimeHandle;
use mcp_async::tasks::client::TaskOptions;
use mcp_async::{Client, ErrorChain};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};
use person::Person;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    match arguments.runtime.as_str() {
        "tokio" => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(drive(mcp_tokio::Runtime.into(), arguments)),
        "smol" => smol::block_on(drive(mcp_smol::Runtime.into(), arguments)),
        _ => Err(USAGE.into()),
    }
}

async fn drive(runtime: RuntimeHandle, arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        revisions,
        expected,
        without,
        server,
        ..
    } = arguments;
    let person = Person::default();
    let builder = person.speak(revisions);
    let client = server
        .connect(&runtime, builder.tasks(TaskOptions::default()))
        .await?;
    let driver = Driver {
        runtime,
        client,
        person,
        revisions,
        expected,
        server,
    };
    for feature in features::ALL {
        if without.iter().any(|it| it == feature) {
            continue;
        }
        let outcome = within(&driver.runtime, LIMIT, driver.drive(feature)).await;
        report(
            feature,
            outcome.map_err(|error| ErrorChain(&*error).to_string()),
        );
    }
    let close = async { Ok(driver.client.close().await?) };
    let ended = match within(&driver.runtime, LIMIT * 2, close).await {
        // Nobody ends a server at a URL.
        Ok(None) if matches!(driver.server, Reached::At(_)) => Ok(()),
        // It was not terminated.
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status:?}")),
        Err(error) => Err(ErrorChain(&*error).to_string()),
    };
    report("close", ended);
    Ok(())
}

/// A connection, and the person who answers what the server asks.
pub(crate) struct Driver {
    runtime: RuntimeHandle,
    client: Client,
    person: Person,
    revisions: RevisionSet,
    /// What both sides must agree on.
    expected: Option<Revision>,
    server: Reached,
}

impl Driver {
    fn revision(&self) -> Revision {
        self.client.info().revision
    }
}

struct Arguments {
    runtime: String,
    revisions: RevisionSet,
    expected: Option<Revision>,
    /// The features that are not tried.
    without: Vec<String>,
    server: Reached,
}

enum Reached {
    By(Command),
    At(String),
}

impl Reached {
    async fn connect(
        &self,
        runtime: &RuntimeHandle,
        builder: ClientBuilder,
    ) -> Result<Client, ConnectError> {
        match self {
            Self::By(command) => {
                builder
                    .connect(child(runtime.clone(), command.clone()))
                    .await
            }
            Self::At(url) => builder.connect(HttpConnector::new(runtime, url)).await,
        }
    }
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut revisions = RevisionSet::all();
    let mut expected = None;
    let mut without = Vec::new();
    let mut runtime = "tokio".to_owned();
    let program = loop {
        match arguments.next().ok_or(USAGE)?.as_str() {
            "--revisions" => {
                let names = arguments.next().ok_or(USAGE)?;
                let listed: Result<Vec<Revision>, _> = names.split(',').map(str::parse).collect();
                revisions = RevisionSet::of(&listed?);
            }
            "--runtime" => runtime = arguments.next().ok_or(USAGE)?,
            "--expect" => expected = Some(arguments.next().ok_or(USAGE)?.parse()?),
            "--without" => {
                let names = arguments.next().ok_or(USAGE)?;
                without = names.split(',').map(str::to_owned).collect();
            }
            "--" => {}
            program => break program.to_owned(),
        }
    };
    let server = if program.starts_with("http") {
        Reached::At(program)
    } else {
        // An interpreter on a busy machine needs more than the default.
        let grace = Grace {
            close: LIMIT,
            ..Grace::default()
        };
        let command = Command::new(program).args(arguments).grace(grace);
        Reached::By(command.on_stderr(|line| eprintln!("{line}")))
    };
    Ok(Arguments {
        runtime,
        revisions,
        expected,
        without,
        server,
    })
}

fn report(feature: &str, outcome: Result<(), String>) {
    let line = Line {
        feature,
        ok: outcome.is_ok(),
        detail: outcome.err(),
    };
    match RawBuf::encode(&line) {
        Ok(line) => println!("{}", line.as_raw().as_str()),
        Err(error) => eprintln!("{feature}: {error}"),
    }
}

#[derive(Serialize)]
struct Line<'f> {
    feature: &'f str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

const USAGE: &str = "usage: drive [--runtime tokio|smol] [--revisions REVISION,...] [--expect REVISION] [--without FEATURE,...] -- COMMAND [ARGUMENT...] | URL";

/// More than any feature takes.
const LIMIT: Duration = Duration::from_secs(30);
