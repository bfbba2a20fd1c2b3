//! A typed client and a typed server, joined without sockets.

use core::fmt::Display;
use core::future::Future;
use core::time::Duration;
use mcp_async::Streams;
use mcp_async::http::HttpConnector;
use std::collections::BTreeMap;

use mcp_async::client::{CallError, ClientBuilder, Subscription, Update};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, LoggingLevel, Root,
};
use mcp_async::runtime::duplex;
use mcp_async::server::Registry;
use mcp_async::{Client, ErrorReply, Tap};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};

use super::served;
use super::tape::{Recorder, Tape};
use super::transcript::Transcript;
use crate::sim::{self, Sim, settle};

#[derive(Clone, Copy)]
pub(crate) enum Transport {
    Pipe,
    Http,
}

/// A client and its server.
struct Joined {
    client: Client,
    registry: Registry,
    tape: Tape,
}

/// Runs every scenario in one revision.
pub(crate) fn play(transport: Transport, revision: Revision, transcript: &mut Transcript) {
    let mut opens = true;
    let mut scenario = |name: &str, script: fn(Stage) -> Scenario| {
        transcript.step();
        transcript.line("#", name);
        let tape = Tape::default();
        let stage = Stage {
            transport,
            revision,
            tape: tape.clone(),
            opens: core::mem::take(&mut opens),
        };
        sim::drive(script(stage).as_mut(), &mut || {
            transcript.step();
            tape.write_down(transcript);
        });
        sim::end();
        tape.write_down(transcript);
    };
    scenario("Lists, in pages", |stage| Box::pin(lists(stage)));
    scenario("Tools", |stage| Box::pin(tools(stage)));
    scenario("Progress, logs and time", |stage| Box::pin(waiting(stage)));
    scenario("Resources, prompts and completion", |stage| {
        Box::pin(resources(stage))
    });
    scenario("Questions", |stage| Box::pin(questions(stage)));
    scenario("Questions that are refused", |stage| {
        Box::pin(refusals(stage))
    });
    scenario("Changes", |stage| Box::pin(changes(stage)));
}

type Scenario = core::pin::Pin<Box<dyn Future<Output = ()>>>;

/// Where a scenario takes place.
struct Stage {
    transport: Transport,
    revision: Revision,
    tape: Tape,
    /// The opening is written down.
    opens: bool,
}

impl Stage {
    fn builder(&self) -> ClientBuilder {
        Client::builder("client", "2.0").revisions(RevisionSet::of(&[self.revision]))
    }

    async fn join(self, builder: ClientBuilder) -> Joined {
        let tape = self.tape;
        let (client, registry) = match self.transport {
            Transport::Pipe => {
                let (ours, theirs) = duplex(1 << 20);
                let registry = served::on_pipe(theirs.split());
                let (reader, writer) = ours.split();
                let (heard, said) = (tape.clone(), tape.clone());
                let streams = (
                    Tap::new(reader, move |line: &str| heard.line("<", line)),
                    Tap::new(writer, move |line: &str| said.line(">", line)),
                );
                (builder.connect(Streams::new(Sim, streams)).await, registry)
            }
            Transport::Http => {
                let (service, registry) = served::over_http();
                let path = match self.revision {
                    Revision::V2024_11_05 => "sse",
                    _ => "mcp",
                };
                let recorder = Recorder {
                    tape: tape.clone(),
                    service,
                };
                let url = format!("http://localhost/{path}");
                (
                    builder
                        .connect(HttpConnector::new(Sim, &url).through(recorder))
                        .await,
                    registry,
                )
            }
        };
        let client = client.expect("it connects");
        settle();
        if !self.opens {
            tape.erase();
        }
        tape.line("=", "connected");
        Joined {
            client,
            registry,
            tape,
        }
    }
}

impl Joined {
    fn does(&self, what: &str) {
        self.tape.line(".", what);
    }

    fn told(&self, what: impl Display) {
        self.tape.line("=", &what.to_string());
    }

    /// Writes down how a call ended, in words that are the transcript's own.
    fn ended<T>(&self, outcome: Result<T, CallError>, tell: impl FnOnce(T) -> String) {
        self.told(match outcome {
            Ok(value) => tell(value),
            Err(CallError::Server(error)) => format!("error {}", error.code),
            Err(_) => "failed".to_owned(),
        });
    }

    async fn call(&self, tool: &str, arguments: &BTreeMap<&str, i64>) {
        self.does(&format!("call {tool}"));
        let outcome = self.client.call_tool(tool, arguments).await;
        self.ended(outcome, |result| result.text());
    }

    async fn close(self) {
        self.does("close");
        let _ = self.client.close().await;
        settle();
        self.told("closed");
    }
}

async fn lists(stage: Stage) {
    let builder = stage.builder();
    let joined = stage.join(builder).await;
    joined.does("tools");
    let tools = joined.client.tools().all().await;
    joined.ended(tools, |tools| format!("{} tools", tools.len()));
    joined.does("tools again");
    let tools = joined.client.tools().all().await;
    joined.ended(tools, |tools| format!("{} tools", tools.len()));
    joined.does("resources, templates and prompts");
    let found = joined.client.resources().all().await;
    joined.ended(found, |found| format!("{} resources", found.len()));
    let found = joined.client.resource_templates().all().await;
    joined.ended(found, |found| format!("{} templates", found.len()));
    let found = joined.client.prompts().all().await;
    joined.ended(found, |found| format!("{} prompts", found.len()));
    joined.does("ping");
    joined.ended(joined.client.ping().await, |()| "there".to_owned());
    joined.close().await;
}

async fn tools(stage: Stage) {
    let builder = stage.builder();
    let joined = stage.join(builder).await;
    joined.call("add", &[("a", 1), ("b", 2)].into()).await;
    joined.call("add", &[("a", 1)].into()).await;
    joined.call("fails", &BTreeMap::new()).await;
    joined.call("breaks", &BTreeMap::new()).await;
    joined.call("unknown", &BTreeMap::new()).await;
    joined.close().await;
}

async fn waiting(stage: Stage) {
    let builder = stage.builder();
    let joined = stage.join(builder).await;
    joined.does("call steps");
    let tape = joined.tape.clone();
    let call = joined.client.call_tool("steps", &());
    let outcome = call
        .on_progress(move |step| tape.line("=", &format!("progress {}", step.progress)))
        .await;
    joined.ended(outcome, |result| result.text());
    joined.does("call logs");
    let call = joined.client.call_tool("logs", &());
    let outcome = call.with_logs(LoggingLevel::Error).await;
    joined.ended(outcome, |result| result.text());
    joined.does("set the level");
    let set = joined.client.set_log_level(LoggingLevel::Debug).await;
    joined.ended(set, |()| "set".to_owned());
    joined.call("logs", &BTreeMap::new()).await;
    joined.does("call never, for a second");
    let call = joined.client.call_tool("never", &());
    let outcome = call.timeout(Duration::from_secs(1)).await;
    joined.ended(outcome, |result| result.text());
    joined.close().await;
}

async fn resources(stage: Stage) {
    let builder = stage.builder();
    let joined = stage.join(builder).await;
    for uri in ["demo://text", "demo://text", "note://7", "note://10"] {
        joined.does(&format!("read {uri}"));
        let outcome = joined.client.read_resource(uri).await;
        joined.ended(outcome, |read| format!("{} contents", read.contents.len()));
    }
    joined.does("get greet");
    let arguments: BTreeMap<&str, &str> = [("name", "Ada")].into();
    let outcome = joined.client.get_prompt("greet", &arguments).await;
    joined.ended(outcome, |got| format!("{} messages", got.messages.len()));
    joined.does("get unknown");
    let outcome = joined.client.get_prompt("unknown", &arguments).await;
    joined.ended(outcome, |got| format!("{} messages", got.messages.len()));
    joined.close().await;
}

async fn questions(stage: Stage) {
    let builder = stage
        .builder()
        .on_elicitation(|asked: ElicitParams, _| async move {
            Ok(match asked {
                ElicitParams::Form(_) => {
                    let name = RawBuf::parse(r#"{"name":"Ada"}"#).expect("JSON");
                    ElicitResult::accept(&name).expect("an object")
                }
                _ => ElicitResult::agree(),
            })
        })
        .on_sampling(|_: CreateMessageParams, _| async { Ok(CreateMessageResult::new("m", "42")) })
        .on_roots(|_| async { Ok(Vec::<Root>::new()) });
    let joined = stage.join(builder).await;
    for tool in ["form", "page", "model", "roots"] {
        joined.call(tool, &BTreeMap::new()).await;
    }
    joined.does("roots changed");
    let told = joined.client.notify_roots_changed().await;
    joined.ended(told, |()| "told".to_owned());
    joined.close().await;
}

async fn refusals(stage: Stage) {
    let builder = stage
        .builder()
        .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) })
        .on_sampling(|_: CreateMessageParams, _| async { Err(ErrorReply::new(-1, "no").into()) });
    let joined = stage.join(builder).await;
    for tool in ["form", "model", "roots"] {
        joined.call(tool, &BTreeMap::new()).await;
    }
    joined.close().await;
}

async fn changes(stage: Stage) {
    let tape = stage.tape.clone();
    let builder = stage
        .builder()
        .on_notification(move |told| tape.line("=", &told.method.to_string()));
    let joined = stage.join(builder).await;
    joined.does("subscribe");
    let note = joined.client.subscribe("note://7").await;
    let mut note: Option<Subscription> = note.ok();
    joined.does("changes");
    let mut changes = joined.client.changes().await.ok();
    served::change(&joined.registry, "updated", "note://7");
    served::change(&joined.registry, "add-tool", "later");
    settle();
    if let Some(note) = &mut note {
        joined.told(update(note.next().await));
    }
    if let Some(changes) = &mut changes {
        joined.told(update(changes.next().await));
    }
    joined.does("unsubscribe");
    drop(note);
    settle();
    served::change(&joined.registry, "updated", "note://7");
    drop(changes);
    settle();
    joined.call("later", &BTreeMap::new()).await;
    joined.close().await;
}

fn update(update: Option<Update>) -> String {
    match update {
        Some(Update::Tools) => "tools changed".to_owned(),
        Some(Update::Resource(uri)) => format!("{uri} changed"),
        Some(_) => "something changed".to_owned(),
        None => "the end".to_owned(),
    }
}
