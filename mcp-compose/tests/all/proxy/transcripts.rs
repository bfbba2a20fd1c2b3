//! All that passes on both sides of a proxy, in all pairs of eras, compared with a recorded transcript byte by byte.
//!
//! After an intended change, `GOLDEN=write cargo test -p mcp-compose --all-features transcripts` records it anew. `c>` are lines of the
//! caller, `s>` those of the proxy to the server; `<c` and `<s` come back.

use core::fmt::Write as _;
use core::future::poll_fn;
use core::pin::Pin;
use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mcp_async::client::{ClientBuilder, Connector};
use mcp_async::model::{ElicitResult, LoggingLevel};
use mcp_async::runtime::duplex;
use mcp_async::server::{Context, Elicited, HandlerError, ServerBuilder};
use mcp_async::{Client, ErrorReply, Revision, RevisionSet, Server, Streams, Tap};
use mcp_compose::{Naming, Proxy, ServerEntry};

use super::front;
use crate::support::{only, pause, run, runtime};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// The lines that have passed.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<String>>>);

impl Tape {
    fn line(&self, mark: &str, text: &str) {
        let mut lines = self.0.lock().expect("no test panics with it");
        lines.push(format!("{mark} {text}"));
    }

    fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.0.lock().expect("no test panics with it"))
    }
}

/// A connector to the server that writes down what passes.
fn taped(server: &Server, tape: &Tape, [to, from]: [&'static str; 2]) -> impl Connector + use<> {
    let (ours, theirs) = duplex(1 << 20);
    let (mut connection, _peer) = server.connect(theirs.split(), runtime());
    runtime().spawn(Box::pin(poll_fn(move |cx| {
        Pin::new(&mut connection).poll(cx).map(drop)
    })));
    let (reader, writer) = ours.split();
    let (heard, said) = (tape.clone(), tape.clone());
    let wire = (
        Tap::new(reader, move |line: &str| heard.line(from, line)),
        Tap::new(writer, move |line: &str| said.line(to, line)),
    );
    Streams::new(runtime(), wire)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Guest {
    name: String,
}

fn back() -> ServerBuilder {
    Server::builder("back", "1.0")
        .logging()
        .tool("count", "Counts", |(): (), cx: Context| async move {
            cx.progress(1.0).total(2.0).message("half").await;
            cx.log(LoggingLevel::Warning, "slow").await;
            Ok("two")
        })
        .tool("refuse", "Refuses", |(): (), _| async {
            Err::<(), _>(HandlerError::reply(ErrorReply::new(-7, "closed")))
        })
        .tool(
            "greet",
            "Asks for a name",
            |(): (), cx: Context| async move {
                let guest: Elicited<Guest> = cx.elicit("name", "Your name?").await?;
                Ok(guest
                    .accepted()
                    .map_or_else(String::new, |guest| guest.name))
            },
        )
        .tool("wait", "Never ends", |(): (), _| async {
            core::future::pending::<Result<String, HandlerError>>().await
        })
}

/// A caller of each scenario, and its calls.
async fn conversation(upstream: Revision, revision: Revision, tape: &Tape, text: &mut String) {
    let server = back().revisions(RevisionSet::of(&[upstream]));
    let server = server.build().expect("it is well formed");
    let behind = tape.clone();
    let proxy = Proxy::builder()
        .entry(ServerEntry::connector("back", move || {
            taped(&server, &behind, ["  s>", "  <s"])
        }))
        .naming(Naming::bare())
        .start(runtime())
        .await;
    let front = front(&proxy);
    let join = async |client: ClientBuilder| -> Client {
        let joined = client.connect(taped(&front, tape, ["c>", "<c"])).await;
        joined.expect("it connects")
    };
    scene(text, "the proxy connects", tape);
    let client = join(only(revision)).await;
    client.tools().all().await.expect("it lists");
    scene(text, "a caller connects and lists", tape);
    let counted = client
        .call_tool("count", &())
        .on_progress(|_| {})
        .with_logs(LoggingLevel::Info)
        .await;
    assert_eq!(counted.expect("it counts").text(), "two");
    pause(2).await;
    scene(text, "progress and a log message", tape);
    client
        .call_tool("refuse", &())
        .await
        .expect_err("it refuses");
    scene(text, "an error", tape);
    let limit = Duration::from_secs(1);
    let waited = client.call_tool("wait", &()).timeout(limit).await;
    waited.expect_err("it takes too long");
    pause(2).await;
    scene(text, "a call that its caller gives up", tape);
    client.close().await.expect("it closes");
    pause(2).await;
    tape.take();
    let asked = only(revision).on_elicitation(|_, _| async {
        Ok(ElicitResult::accept(&serde_json::json!({"name": "Ada"}))?)
    });
    let client = join(asked).await;
    tape.take();
    let greeted = client.call_tool("greet", &()).await;
    assert_eq!(greeted.expect("it greets").text(), "Ada");
    scene(text, "a question of the server", tape);
    client.close().await.expect("it closes");
    proxy.close().await;
}

/// Writes down what has passed, with names for what is random.
fn scene(text: &mut String, name: &str, tape: &Tape) {
    writeln!(text, "\n-- {name}").expect("a string has room");
    for line in tape.take() {
        let line = named(line, "\"requestState\":\"", "state");
        let line = named(line, "\"mcp-compose/path\":[\"", "proxy");
        writeln!(text, "{line}").expect("a string has room");
    }
}

/// Puts a name in place of the text behind this mark.
fn named(line: String, mark: &str, name: &str) -> String {
    let parts: Vec<&str> = line.split(mark).collect();
    let mut named = parts[0].to_owned();
    for part in &parts[1..] {
        let end = part.find('"').expect("a string ends");
        named.extend([mark, "<", name, ">", &part[end..]]);
    }
    named
}

#[test]
fn transcripts_of_all_pairs_of_eras() {
    let mut text = String::new();
    for upstream in ERAS {
        for revision in ERAS {
            writeln!(text, "\n== a caller of {revision}, a server of {upstream}")
                .expect("a string has room");
            let tape = Tape::default();
            run(conversation(upstream, revision, &tape, &mut text));
        }
    }
    let text = text.trim_start();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/proxy.txt");
    if std::env::var_os("GOLDEN").is_some_and(|it| it == "write") {
        fs::write(&file, text).expect("it can be written");
    }
    let recorded = fs::read_to_string(&file).expect("it was recorded");
    for (at, (now, then)) in text.lines().zip(recorded.lines()).enumerate() {
        assert_eq!(now, then, "line {}", at + 1);
    }
    assert_eq!(text.lines().count(), recorded.lines().count());
}
