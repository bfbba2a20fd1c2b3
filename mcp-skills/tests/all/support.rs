//! Skills of which tests are made.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex};

use mcp_async::client::ClientBuilder;
use mcp_async::runtime::Runtime as _;
use mcp_async::runtime::{ManualRuntime, duplex};
use mcp_async::server::{BoxService, ServerBuilder};
use mcp_async::{Client, ErrorReply, Server, Streams, in_memory, server};
use mcp_proto::PreparedConfig;
use mcp_proto::json::{Map, RawBuf};
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;
use mcp_proto::{CustomMethod, Revision, RevisionSet};
use mcp_skills::{Skill, Skills};

/// The revisions that have skills.
pub(super) const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

pub(super) const SKILL_MD: &str = "---
name: pdf-processing
description: Fills in forms
license: MIT
metadata:
  version: 1.50
  tags: [pdf, forms]
---
# Forms

Read references/FORMS.md.
";

pub(super) const URI: &str = "skill://pdf-processing/SKILL.md";

/// Of two folders, one of which has a folder in it, with text and bytes.
pub(super) fn pdf() -> Skill {
    Skill::in_memory("pdf-processing")
        .file("SKILL.md", SKILL_MD)
        .file("references/FORMS.md", "Forms\r\n\0é")
        .file("references/old/a b.txt", "")
        .file("scripts/fill.bin", [0xff, 0x00, 0xfe])
        .build()
        .unwrap()
}

const METHODS: [CustomMethod<'static>; 3] = [
    CustomMethod::new("skills/list"),
    CustomMethod::new("skills/get"),
    CustomMethod::new("resources/directory/read"),
];

/// A skill of this name and nothing else.
pub(super) fn plain(name: &str) -> Skill {
    let text = format!("---\nname: {name}\ndescription: of {name}\n---\n");
    let skill = Skill::in_memory(name).file("SKILL.md", text);
    skill.build().unwrap()
}

pub(super) fn offering(skills: Skills) -> ServerBuilder {
    Server::builder("demo", "1.0").extension(skills)
}

/// The runtime of the thread that a test runs on.
pub(super) fn runtime() -> ManualRuntime {
    RUNTIME.with(ManualRuntime::clone)
}

/// Runs everything until the future is ready, and returns its value.
pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let cx = &mut Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return value;
        }
        runtime().run();
    }
    panic!("the future is never ready");
}

/// A client of the server that speaks this revision and no other.
pub(super) async fn join(server: &ServerBuilder, revision: Revision) -> Client {
    let server = server.clone().build().unwrap();
    let client = only(revision).connect(in_memory(runtime().into(), &server));
    client.await.expect("it connects")
}

fn only(revision: Revision) -> ClientBuilder {
    Client::builder("test", "0").revisions(RevisionSet::of(&[revision]))
}

/// The requests that a server received.
#[derive(Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, request: &str) {
        self.0.lock().unwrap().push(request.into());
    }

    pub(super) fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.0.lock().unwrap())
    }
}

thread_local! {
    static RUNTIME: ManualRuntime = ManualRuntime::default();
}

/// A value of the JSON of an answer.
pub(super) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// Runs a script against a server that answers each method as the test says, and notes what was
/// asked.
pub(super) fn against<F: Future<Output = ()>>(
    answer: impl Fn(&str, &str) -> Result<String, ErrorReply> + Send + 'static,
    settings: &str,
    script: impl FnOnce(Client, Seen) -> F,
) {
    let seen = Seen::default();
    let client = hostile(Box::new(answer), settings, seen.clone());
    run(script(client, seen));
}

/// The answer to a method and what it is about.
type Answer = dyn Fn(&str, &str) -> Result<String, ErrorReply> + Send;

/// A client of that server.
fn hostile(answer: Box<Answer>, settings: &str, asked: Seen) -> Client {
    let settings = RawBuf::parse(settings).unwrap();
    let extensions = [(mcp_skills::EXTENSION, settings.as_raw())];
    let mut config = ServerConfig {
        capabilities: ServerFeatures::RESOURCES.capabilities(),
        ..ServerConfig::new("hostile", "1.0")
    };
    config.methods = &METHODS;
    config.capabilities.extensions = Some(Map::new(&extensions));
    let service = server::service_fn(move |call| {
        let name = call.method.name().to_cow().into_owned();
        let text = |member| {
            let value = call.params.get(member)?.string()?;
            Some(value.to_cow().into_owned())
        };
        let about = text("uri").or_else(|| text("cursor")).unwrap_or_default();
        asked.note(format!("{name} {about}").trim_end());
        let answer = answer(&name, &about);
        call.ready(answer.map(|json| RawBuf::parse(json).unwrap()))
    });
    let service: BoxService = Box::new(service);
    let (left, right) = duplex(1 << 20);
    let (mut served, _peer) = server::connect(
        right.split(),
        runtime(),
        PreparedConfig::from(config).shared(),
        service,
    );
    runtime().spawn(Box::pin(poll_fn(move |cx| {
        Pin::new(&mut served).poll(cx).map(Result::unwrap)
    })));
    run(only(Revision::V2026_07_28).connect(Streams::new(runtime(), left.split()))).unwrap()
}
