//! A server with a bit of everything, clients of it in every revision, and a clock that moves when
//! nothing else does.

use core::future::Future;
use mcp_async::in_memory;
use std::collections::HashMap;

use mcp_async::client::ClientBuilder;
use mcp_async::model::LoggingLevel;
use mcp_async::runtime::duplex;
use mcp_async::server::{
    self, BoxService, CompletionRequest, Context, HandlerError, Json, Prompt, ServerBuilder,
    Service,
};
use mcp_async::{Client, Server, Streams};
use mcp_proto::{Revision, RevisionSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server_typed::support::Offer;
use crate::settings::with_tools;
use crate::sim::{Sim, end, settle, spawn};

pub(crate) use crate::seen::{Guard, Seen};
pub(crate) use crate::sim::{advance, poll_once, run};

/// A client of the server that speaks this revision and no other.
pub(crate) async fn join(server: &impl Offer, revision: Revision) -> Client {
    let client = only(revision)
        .connect(in_memory(Sim.into(), &server.server()))
        .await;
    client.expect("it connects")
}

/// The client of a server with tools, all of whose calls this service answers.
pub(crate) async fn join_service(service: impl Service, revision: Revision) -> Client {
    let config = with_tools();
    let (ours, theirs) = duplex(1 << 20);
    let service: BoxService = Box::new(service);
    let (served, _peer) = server::connect(theirs.split(), Sim, config, service);
    spawn(async { served.await.unwrap() });
    let client = only(revision).connect(Streams::new(Sim, ours.split()));
    client.await.expect("it connects")
}

pub(crate) fn only(revision: Revision) -> ClientBuilder {
    Client::builder("test", "0").revisions(RevisionSet::of(&[revision]))
}

/// Runs a script against a new server of every revision.
pub(crate) fn each<F: Future<Output = ()>>(script: impl Fn(Demo, Revision) -> F) {
    for revision in Revision::ALL {
        run(script(Demo::new(), revision));
        settle();
        end();
    }
}

/// A server, and what happened in it.
pub(crate) struct Demo {
    pub(crate) server: ServerBuilder,
    pub(crate) seen: Seen,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Text {
    text: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Add {
    pub(crate) a: i64,
    pub(crate) b: i64,
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Sum {
    pub(crate) sum: i64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Greet {
    pub(crate) name: String,
}

#[derive(Deserialize)]
pub(crate) struct Note {
    pub(crate) id: u32,
}

/// Adds tools that say a text again, add two numbers, and fail.
pub(crate) fn with_basics(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "echo",
            "Says it again",
            |args: Text, _: Context| async move { Ok(args.text) },
        )
        .tool("add", "Adds", |args: Add, _: Context| async move {
            Ok(Json(Sum {
                sum: args.a + args.b,
            }))
        })
        .tool("fails", "Fails", |(): (), _: Context| async {
            Err::<String, _>(HandlerError::visible("no luck"))
        })
}

impl Demo {
    pub(crate) fn new() -> Self {
        let seen = Seen::default();
        let (reads, dropped) = (seen.clone(), seen.clone());
        let server = Server::builder("demo", "1.0")
            .revisions(RevisionSet::of(&Revision::ALL))
            .logging()
            .page_size(2);
        let server = with_basics(server)
            .tool("steps", "Tells how far it is", |(): (), cx| async move {
                cx.progress(1.0).total(4.0).await;
                cx.progress(2.0).total(4.0).message("almost").await;
                Ok("done")
            })
            .tool("never", "Does not end", move |(): (), _: Context| {
                let guard = Guard(dropped.clone(), "dropped");
                async move {
                    let _guard = guard;
                    core::future::pending::<()>().await;
                    Ok(())
                }
            })
            .tool("logs", "Logs", |(): (), cx| async move {
                cx.log(LoggingLevel::Debug, "quiet").logger("demo").await;
                cx.log(LoggingLevel::Error, "loud").logger("demo").await;
                Ok(())
            })
            .template("note://{id}", "note", move |note: Note, _: Context| {
                reads.note(format!("read {}", note.id));
                async move {
                    if note.id > 9 {
                        return Err(HandlerError::not_found());
                    }
                    Ok(format!("note {}", note.id))
                }
            })
            .with(
                Prompt::new("greet")
                    .complete("name", |typing: CompletionRequest, _: Context| async move {
                        let names = ["Ada", "Adele", "Bob"].into_iter();
                        let mut names: Vec<String> = names
                            .filter(|name| name.starts_with(&typing.value))
                            .map(String::from)
                            .collect();
                        names.extend(typing.arguments.get("title").cloned());
                        Ok(names)
                    })
                    .handler(|greet: Greet, _: Context| async move {
                        Ok(format!("Greet {}.", greet.name))
                    }),
            );
        Self { server, seen }
    }
}

/// `{"text": text}`
pub(crate) fn text(text: &str) -> HashMap<&str, &str> {
    [("text", text)].into()
}

/// `{"name": name}`
pub(crate) fn name(name: &str) -> HashMap<&str, &str> {
    [("name", name)].into()
}
