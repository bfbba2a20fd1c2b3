//! The client that the official conformance suite tests: `conformance-client [--runtime tokio|smol] URL`.
//!
//! The suite says in the environment what to do: `MCP_CONFORMANCE_SCENARIO` names one of the
//! [`scenarios`], `MCP_CONFORMANCE_PROTOCOL_VERSION` the revision, `MCP_CONFORMANCE_CONTEXT` more
//! as JSON. The status counts.
#![forbid(unsafe_code)]

mod authorization;
mod scenarios;

use core::error::Error;
use core::future::Future;
use std::process::ExitCode;

use mcp_async::ErrorChain;
use mcp_async::http::HttpConnector;
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (runtime, url) = match words.as_slice() {
        ["--runtime", runtime, url] => (*runtime, *url),
        [url] => ("tokio", *url),
        _ => ("", ""),
    };
    let done = match runtime {
        "tokio" => on_tokio(run(mcp_tokio::http(url))),
        "smol" => smol::block_on(run(mcp_smol::http(url))),
        _ => Err("usage: conformance-client [--runtime tokio|smol] URL".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-client: {}", ErrorChain(&*error));
            ExitCode::FAILURE
        }
    }
}

/// What the suite asks for, done or not.
type Outcome = Result<(), Box<dyn Error>>;

async fn run(server: HttpConnector) -> Outcome {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => RawBuf::parse(text)?,
        Err(_) => RawBuf::default(),
    };
    let mut builder = scenarios::builder().revisions(revisions()?);
    if let Some(name) = scenario.strip_prefix("auth/") {
        builder = builder.authorize(authorization::authorization(name, &context)?);
    }
    scenarios::play(&scenario, builder, server, &context).await
}

/// The suite of old says nothing and means the handshake.
fn revisions() -> Result<RevisionSet, Box<dyn Error>> {
    let Ok(name) = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") else {
        return Ok(RevisionSet::legacy());
    };
    let newest: Revision = name.parse()?;
    Ok(if RevisionSet::legacy().contains(newest) {
        // A server may settle for an older one.
        RevisionSet::legacy()
    } else {
        RevisionSet::of(&[newest])
    })
}

fn on_tokio(program: impl Future<Output = Outcome>) -> Outcome {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(program)
}
