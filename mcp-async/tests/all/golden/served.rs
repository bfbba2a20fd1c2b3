//! The server of all golden conversations: the only place that builds one.

use core::time::Duration;
use std::time::UNIX_EPOCH;

use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::model::{CreateMessageParams, LoggingLevel, SamplingMessage};
use mcp_async::runtime::{PipeReader, PipeWriter};
use mcp_async::server::{
    CompletionRequest, Context, Elicited, HandlerError, Prompt, Registry, Resource, StateKeys, Tool,
};
use mcp_proto::{Revision, RevisionSet};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::client_typed::support::{Greet, Note, with_basics};
use crate::scripted::Serve;
use crate::sim::{Sim, sleep, spawn};

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// What people call you
    name: String,
}

fn server() -> Server {
    let server = Server::builder("demo", "1.0")
        .title("Demo")
        .instructions("Ask for the echo.")
        .revisions(RevisionSet::of(&Revision::ALL))
        .state_keys(StateKeys::new([7; 32]).clock(|| UNIX_EPOCH))
        .cache(Duration::from_secs(5), mcp_async::model::CacheScope::Public)
        .logging()
        .page_size(4);
    with_basics(server)
        .tool("breaks", "Hides why", |(): (), _: Context| async {
            Ok("seven".parse::<u8>()?.to_string())
        })
        .tool("steps", "Counts", |(): (), cx: Context| async move {
            cx.progress(1.0).total(4.0).await;
            sleep(Duration::from_secs(1)).await;
            cx.progress(2.0).total(4.0).message("almost").await;
            Ok("done")
        })
        .tool("logs", "Logs", |(): (), cx: Context| async move {
            cx.log(LoggingLevel::Debug, "quiet").logger("demo").await;
            cx.log(LoggingLevel::Error, "loud").logger("demo").await;
            Ok("logged")
        })
        .tool("never", "Does not end", |(): (), _: Context| async {
            core::future::pending::<()>().await;
            Ok(())
        })
        .tool("form", "Asks who", |(): (), cx: Context| async move {
            Ok(match cx.elicit::<Name>("who", "Who are you?").await? {
                Elicited::Accepted(name) => name.name,
                _ => "nobody".to_owned(),
            })
        })
        .tool("page", "Shows a page", |(): (), cx: Context| async move {
            let action = cx.elicit_url("page", "Look!", "https://a.example/").await?;
            Ok(action.to_string())
        })
        .tool("model", "Asks twice", |(): (), cx: Context| async move {
            let mut said = String::new();
            for key in ["first", "second"] {
                let asked = vec![SamplingMessage::user(format!("{key}?{said}"))];
                let answer = cx.sample(key, CreateMessageParams::new(asked, 10)).await?;
                said = answer.content.text();
            }
            Ok(said)
        })
        .tool("roots", "Counts roots", |(): (), cx: Context| async move {
            let roots = cx.roots().await?;
            Ok((roots.len() + roots.refused().len()).to_string())
        })
        .with(
            Resource::new("demo://text", "text")
                .title("A text")
                .mime_type("text/plain")
                .handler(|_| async { Ok("hello") }),
        )
        .resource("demo://bytes", "bytes", |_: Context| async {
            Ok(b"\x89PNG".to_vec())
        })
        .template("note://{id}", "note", |note: Note, _: Context| async move {
            if note.id > 9 {
                return Err(HandlerError::not_found());
            }
            Ok(format!("note {}", note.id))
        })
        .with(
            Prompt::new("greet")
                .description("Greets")
                .complete("name", |typing: CompletionRequest, _: Context| async move {
                    let mut names = vec!["Ada".to_owned(), "Adele".into(), "Bob".into()];
                    names.retain(|name| name.starts_with(&typing.value));
                    Ok(names)
                })
                .handler(
                    |greet: Greet, _: Context| async move { Ok(format!("Greet {}.", greet.name)) },
                ),
        )
        .change_notifications()
        .build()
        .unwrap()
}

/// Serves one pipe in a task of its own.
pub(crate) fn on_pipe(streams: (PipeReader, PipeWriter)) -> Registry {
    let server = server();
    let registry = server.registry();
    let (connection, _peer) = server.connect(streams, Sim);
    spawn(async {
        let _ = connection.await;
    });
    registry
}

/// Serves HTTP, at `/mcp` and at the two endpoints of 2024-11-05.
pub(crate) fn over_http() -> (HttpService, Registry) {
    let server = server();
    let registry = server.registry();
    let http = server.http().legacy_sse("/sse", "/messages");
    (http.served(), registry)
}

/// Changes what is served, as a command of a script says.
pub(crate) fn change(registry: &Registry, verb: &str, rest: &str) {
    match verb {
        "updated" => registry.resource_updated(rest),
        "add-tool" => {
            let tool = Tool::new(rest).description("Came later");
            let tool = tool.handler(|(): (), _: Context| async { Ok("later") });
            registry.add(tool).expect("it is new");
        }
        "remove-tool" => assert!(registry.remove_tool(rest), "no tool {rest}"),
        "remove-prompt" => assert!(registry.remove_prompt(rest), "no prompt {rest}"),
        "shutdown" => registry.shutdown(),
        other => panic!("no such command: {other}"),
    }
}
