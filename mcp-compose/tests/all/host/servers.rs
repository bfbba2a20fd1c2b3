//! Servers that come, go, change and answer.

use core::future::poll_fn;
use core::pin::Pin;
use core::time::Duration;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use mcp_async::client::{CallError, RestartPolicy, Update, reopened};
use mcp_async::model::{LoggingLevel, PromptArgument, Reference};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};
use mcp_async::server::{Prompt, Tool};
use mcp_async::{Revision, Server, Streams};
use mcp_compose::{CatalogLimits, Host, HostError, HostOutcome, Naming, ServerEntry, ServerState};

use super::{Notes, builder, start};
use crate::support::{entry, in_each_revision, names, run, runtime, serving, tools};

#[test]
fn each_call_reaches_the_server_of_its_item() {
    in_each_revision(|revision| async move {
        let files = |root: &'static str| {
            Server::builder("files", "1.0")
                .template(
                    format!("{root}{{name}}"),
                    "One",
                    move |_: BTreeMap<String, String>, _| async move { Ok(root) },
                )
                .with(
                    Prompt::new("greet")
                        .argument(PromptArgument::optional("who"))
                        .complete("who", move |_, _| async move { Ok(vec![root.to_owned()]) })
                        .handler(move |(): (), _| async move { Ok(root) }),
                )
        };
        let host = builder(revision)
            .entry(entry("a", &files("a://")))
            .entry(entry("b", &files("b://")))
            .entry(entry("tools", &tools(&["x", "y"])))
            .start(runtime());
        host.ready().await;
        assert_eq!(names(&host.view()), ["tools__x", "tools__y"]);
        assert_eq!(host.call_tool("tools__y", &()).await.unwrap().text(), "y");
        for (prompt, uri, root) in [("a__greet", "a://1", "a://"), ("b__greet", "b://1", "b://")] {
            let read = host.read_resource(uri).await.unwrap();
            assert_eq!(read.text().as_deref(), Some(root));
            let filled = host.get_prompt(prompt, &()).await.unwrap();
            assert_eq!(filled.messages[0].content.as_text(), Some(root));
            let reference = Reference::prompt(prompt);
            let suggested = host.complete(&reference, "who", "", &[]).await.unwrap();
            assert_eq!(suggested.values, [root]);
        }
        for unknown in ["x", "tools__z", "a__greet"] {
            let error = host.call_tool(unknown, &()).await.unwrap_err();
            assert!(matches!(error, HostError::UnknownItem(_)), "{error}");
        }
        let error = host.read_resource("c://1").await.unwrap_err();
        assert_eq!(error.to_string(), "no server has \"c://1\"");
        host.close().await;
    });
}

#[test]
fn a_list_beyond_its_limit_is_an_error_and_the_other_lists_stay() {
    in_each_revision(|revision| async move {
        let mut limits = CatalogLimits::default();
        limits.items_per_list = 2;
        let errors = Notes::default();
        let noted = errors.clone();
        let host = builder(revision)
            .catalog_limits(limits)
            .on_list_error(move |error| noted.note(error.to_string()))
            .entry(entry("many", &tools(&["x", "y", "z"])))
            .entry(entry("few", &tools(&["x", "y"])));
        let host = start(host).await;
        assert_eq!(names(&host.view()), ["few__x", "few__y"]);
        let expected = r#"tools/list of the server "many": there are more than 2 items"#;
        assert_eq!(errors.take(), [expected]);
        host.close().await;
    });
}

#[test]
fn servers_that_fail_do_not_hold_the_others_up() {
    run(async {
        let (silent, kept) = duplex(1 << 16);
        let silent = std::sync::Mutex::new(Some(silent));
        let silent = ServerEntry::connector("silent", move || {
            Streams::new(runtime(), silent.lock().unwrap().take().unwrap().split())
        });
        let host = Host::builder("desk", "1.0")
            .entry(silent.deadline(Duration::from_secs(5)))
            .entry(ServerEntry::url(
                "remote",
                "http://me:s3cret@127.0.0.1:1/mcp?key=s3cret",
            ))
            .entry(entry("good", &tools(&["x"])))
            .entry(entry("off", &tools(&["x"])).disabled(true))
            .start(runtime());
        let mut changes = host.state_changes();
        let mut order = Vec::new();
        while order.len() < 3 {
            let server = changes.next().await;
            match server.state {
                ServerState::Ready => order.push(format!("{}: ready", server.name)),
                ServerState::Failed(error) => order.push(error.to_string()),
                state => panic!("{state:?}"),
            }
        }
        order.sort();
        assert_eq!(order[0], "good: ready");
        assert!(
            order[1].starts_with("remote: cannot connect to http://127.0.0.1:1/mcp: "),
            "{order:?}"
        );
        assert_eq!(
            order[2],
            "silent: cannot connect to a connector: the server did not answer in time"
        );
        let servers: Vec<_> = host
            .servers()
            .iter()
            .map(|server| server.name.to_string())
            .collect();
        assert_eq!(servers, ["silent", "remote", "good"]);
        assert_eq!(host.call_tool("good__x", &()).await.unwrap().text(), "x");
        let error = host.client("silent").unwrap_err();
        assert_eq!(error.to_string(), "silent: the server is not connected");
        assert!(matches!(
            host.client("off"),
            Err(HostError::UnknownServer(_))
        ));
        drop(kept);
    });
}

#[test]
fn servers_are_added_replaced_and_removed() {
    in_each_revision(|revision| async move {
        let host = start(builder(revision).entry(entry("a", &tools(&["x"])))).await;
        host.add(entry("b", &tools(&["y"])));
        host.ready().await;
        assert_eq!(names(&host.view()), ["a__x", "b__y"]);
        host.add(entry("a", &tools(&["z"])));
        host.ready().await;
        assert_eq!(names(&host.view()), ["a__z", "b__y"], "it keeps its place");
        assert!(host.remove("a") && !host.remove("a"));
        assert_eq!(names(&host.view()), ["b__y"]);
        host.add(entry("a", &tools(&["x"])));
        host.ready().await;
        assert_eq!(names(&host.view()), ["b__y", "a__x"]);
        host.remove("a");
        host.client("b").unwrap().close().await.unwrap();
        let mut changes = host.changes();
        while !names(&host.view()).is_empty() {
            changes.next().await;
        }
        host.reconnect("b").unwrap();
        host.ready().await;
        assert_eq!(host.call_tool("b__y", &()).await.unwrap().text(), "y");
        assert!(matches!(
            host.reconnect("a"),
            Err(HostError::UnknownServer(_))
        ));
        host.close().await;
        assert!(matches!(host.servers()[0].state, ServerState::Gone));
    });
}

#[test]
fn lists_follow_their_servers() {
    in_each_revision(|revision| async move {
        let server = tools(&["x"]).change_notifications().build().unwrap();
        let registry = server.registry();
        let entry = serving("a", server);
        let host = start(builder(revision).naming(Naming::bare()).entry(entry)).await;
        let mut changes = host.changes();
        for name in ["y", "z"] {
            let tool = Tool::new(name).handler(|(): (), _| async { Ok("") });
            registry.add(tool).unwrap();
            assert!(changes.next().await.tools);
        }
        assert_eq!(names(&host.view()), ["x", "y", "z"]);
    });
}

#[test]
fn a_connection_that_ends_is_followed_by_another() {
    in_each_revision(|revision| async move {
        let server = tools(&["x"]).build().unwrap();
        let registry = server.registry();
        let entry = ServerEntry::connector("a", move || {
            let server = server.clone();
            reopened(runtime(), move || {
                let (ours, theirs) = duplex(1 << 16);
                let (mut served, _peer) = server.connect(theirs.split(), runtime());
                let served = poll_fn(move |cx| Pin::new(&mut served).poll(cx).map(drop));
                runtime().spawn(Box::pin(served));
                core::future::ready(Ok(ours.split()))
            })
        });
        let host = start(
            builder(revision)
                .entry(entry)
                .restart(RestartPolicy::default().seed(7)),
        )
        .await;
        let mut changes = host.state_changes();
        registry.peers().iter().for_each(|peer| peer.shutdown());
        let state = changes.next().await.state;
        assert!(matches!(state, ServerState::Restarting), "{state:?}");
        let state = changes.next().await.state;
        assert!(matches!(state, ServerState::Ready), "{state:?}");
        assert_eq!(host.call_tool("a__x", &()).await.unwrap().text(), "x");
    });
}

#[test]
fn progress_cancellation_and_records_of_calls() {
    in_each_revision(|revision| async move {
        let server = Server::builder("demo", "1.0")
            .tool("fast", "Works", |_: HashMap<String, u8>, _| async {
                Ok("done")
            })
            .tool("slow", "Works", |(): (), cx| async move {
                cx.progress(1.0).await;
                cx.cancelled().await;
                Ok("never")
            })
            .tool("fails", "Fails", |(): (), _| async move {
                Err::<&str, _>(mcp_async::server::HandlerError::visible("no"))
            });
        let notes = Notes::default();
        let noted = notes.clone();
        let host = builder(revision)
            .entry(entry("a", &server))
            .audit(move |record| {
                let arguments = record
                    .arguments
                    .map(|it| it.to_string())
                    .unwrap_or_default();
                let outcome = match record.outcome {
                    HostOutcome::Error(_) => "error".to_owned(),
                    outcome => format!("{outcome:?}"),
                };
                noted.note(format!(
                    "{} {} {arguments} {outcome}",
                    record.server, record.name
                ));
            })
            .start(runtime());
        host.ready().await;
        let arguments = HashMap::from([("a", 1)]);
        host.call_tool("a__fast", &arguments).await.unwrap();
        let failed = host.call_tool("a__fails", &()).await.unwrap();
        assert!(failed.is_error);
        host.read_resource("none://").await.unwrap_err();
        let mut steps = Vec::new();
        let slow = host
            .call_tool("a__slow", &())
            .timeout(Duration::from_secs(3))
            .on_progress(|step| steps.push(step.progress));
        let error = slow.await.unwrap_err();
        assert!(
            matches!(&error, HostError::Call { error, .. } if matches!(**error, CallError::Timeout)),
            "{error}"
        );
        assert_eq!(steps, [1.0]);
        let mut dropped = host.call_tool("a__slow", &()).into_future();
        poll_fn(|cx| {
            assert!(dropped.as_mut().poll(cx).is_pending());
            core::task::Poll::Ready(())
        })
        .await;
        drop(dropped);
        let expected = [
            "a fast {\"a\":1} Result",
            "a fails null ToolError",
            "a slow null error",
            "a slow null Cancelled",
        ];
        assert_eq!(notes.take(), expected);
    });
}

#[test]
fn logs_updates_and_instructions_carry_their_server() {
    in_each_revision(|revision| async move {
        let server = |text: &'static str| {
            Server::builder("demo", "1.0")
                .logging()
                .change_notifications()
                .instructions(format!("Use {text}.\nThe server \"b\" says of its use:"))
                .resource(
                    format!("{text}://it"),
                    "It",
                    move |_| async move { Ok(text) },
                )
                .tool("talk", "Logs", move |(): (), cx| async move {
                    cx.log(LoggingLevel::Warning, text).await;
                    Ok("done")
                })
        };
        let notes = Notes::default();
        let noted = notes.clone();
        let a = server("a").build().unwrap();
        let registry = a.registry();
        let host = builder(revision)
            .entry(serving("a", a))
            .entry(entry("b", &server("b")))
            .on_log(move |server, message| noted.note(format!("{server}: {}", message.data)))
            .start(runtime());
        host.ready().await;
        let said = "> Use a.\n> The server \"b\" says of its use:\n";
        assert!(host.instructions().starts_with(&format!(
            "The server \"a\" says of its use:\n{said}The server \"b\""
        )));
        for name in ["b__talk", "a__talk"] {
            let call = host.call_tool(name, &());
            call.with(|request| request.with_logs(LoggingLevel::Info))
                .await
                .unwrap();
            let server = &name[..1];
            assert_eq!(notes.take(), [format!("{server}: \"{server}\"")]);
        }
        let mut updates = host.subscribe("a://it").await.unwrap();
        registry.resource_updated("a://it");
        assert_eq!(
            updates.next().await,
            Some(Update::Resource("a://it".into()))
        );
    });
}

#[test]
fn the_last_handle_ends_the_servers() {
    let notes = Notes::default();
    let ended = notes.clone();
    run(async move {
        let host = start(Host::builder("desk", "1.0").entry(entry("a", &tools(&["x"])))).await;
        let client = host.client("a").unwrap();
        let other = host.clone();
        drop(host);
        assert_eq!(other.call_tool("a__x", &()).await.unwrap().text(), "x");
        drop(other);
        client.closed().await.unwrap();
        ended.note("ended");
    });
    assert_eq!(notes.take(), ["ended"]);
}

#[test]
fn an_entry_that_is_disabled_is_not_connected_to() {
    run(async {
        let off = || entry("a", &tools(&["x"])).disabled(true);
        let host = start(Host::builder("desk", "1.0").entry(off())).await;
        host.add(off());
        host.ready().await;
        assert!(host.servers().is_empty(), "{:?}", host.servers());
        host.add(entry("a", &tools(&["x"])));
        host.ready().await;
        assert_eq!(names(&host.view()), ["a__x"]);
        host.add(off());
        host.ready().await;
        assert!(host.servers().is_empty(), "{:?}", host.servers());
    });
}

#[test]
fn a_server_that_failed_is_forgotten_when_another_takes_its_place() {
    run(async {
        let refuses = || {
            // No stream is opened, so any type of streams will do.
            reopened(runtime(), || async {
                Err::<(PipeReader, PipeWriter), _>(io::ErrorKind::NotFound.into())
            })
        };
        let host = builder(Revision::V2025_11_25).entry(ServerEntry::connector("a", refuses));
        let host = start(host).await;
        let error = || match host.servers().remove(0).state {
            ServerState::Failed(error) => Arc::downgrade(&error),
            state => panic!("{state:?}"),
        };
        let first = error();
        host.reconnect("a").unwrap();
        host.ready().await;
        assert!(first.upgrade().is_none());
        assert!(error().upgrade().is_some());
    });
}
