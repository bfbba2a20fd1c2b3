//! What a person approves.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_async::client::reopened;
use mcp_async::model::ToolAnnotations;
use mcp_async::runtime::duplex;
use mcp_async::server::Tool;
use mcp_async::{Revision, Server, Streams};
use mcp_compose::{
    Config, Host, HostBuilder, HostError, ServerEntry, ServerState, ToolConsent, Variables,
};

use super::{Notes, builder, start};
use crate::support::{entry, in_each_revision, legacy_lines, pause, run, runtime, serving};

fn tool(description: &str) -> Tool {
    Tool::new("x")
        .description(description)
        .handler(|_: HashMap<String, u8>, _| async { Ok("done") })
}

#[test]
fn a_consent_is_to_a_tool_as_it_is() {
    in_each_revision(|revision| async move {
        let server = Server::builder("a", "1.0")
            .with(tool("Reads"))
            .change_notifications()
            .build()
            .unwrap();
        let registry = server.registry();
        let notes = Notes::default();
        let noted = notes.clone();
        let host = builder(revision)
            .entry(serving("a", server))
            .approve_tool(move |asked| {
                let description = asked.tool.description.clone().unwrap_or_default();
                noted.note(format!(
                    "{} {} {} {description} {}",
                    asked.server, asked.exposed_name, asked.arguments, asked.is_changed
                ));
                async move {
                    match &*description {
                        "Reads" | "Deletes" => ToolConsent::WhileUnchanged,
                        "Asks" => ToolConsent::Once,
                        _ => ToolConsent::Refused,
                    }
                }
            });
        let host = start(host).await;
        let arguments = HashMap::from([("n", 1)]);
        let call = async || {
            host.call_tool("a__x", &arguments)
                .await
                .map(|result| result.text())
        };
        assert_eq!(call().await.unwrap(), "done");
        assert_eq!(call().await.unwrap(), "done");
        assert_eq!(notes.take(), ["a a__x {\"n\":1} Reads false"]);

        let mut changes = host.changes();
        let mut change = async |tool: Tool| {
            registry.remove_tool("x");
            registry.add(tool).unwrap();
            // Removing and adding may be told as two changes.
            while host
                .view()
                .tools()
                .get("a__x")
                .is_none_or(|it| it.item.description.as_deref() == Some("Reads"))
            {
                changes.next().await;
            }
        };
        change(tool("Deletes")).await;
        assert_eq!(call().await.unwrap(), "done");
        assert_eq!(call().await.unwrap(), "done");
        assert_eq!(notes.take(), ["a a__x {\"n\":1} Deletes true"]);
    });
}

#[test]
fn consents_once_and_refusals_are_asked_again() {
    run(async {
        for (description, is_made) in [("once", true), ("never", false)] {
            let notes = Notes::default();
            let noted = notes.clone();
            let server = Server::builder("a", "1.0").with(tool(description));
            let host = builder(Revision::V2026_07_28)
                .entry(entry("a", &server))
                .approve_tool(move |asked| {
                    noted.note(asked.digest.to_string());
                    let is_once = asked.tool.description.as_deref() == Some("once");
                    async move {
                        if is_once {
                            ToolConsent::Once
                        } else {
                            ToolConsent::Refused
                        }
                    }
                });
            let host = start(host).await;
            for _ in 0..2 {
                match host.call_tool("a__x", &()).await {
                    Ok(_) => assert!(is_made),
                    Err(error) => assert!(
                        matches!(error, HostError::ToolNotApproved { .. }) && !is_made,
                        "{error}"
                    ),
                }
            }
            let asked = notes.take();
            assert_eq!((asked.len(), &asked[0]), (2, &asked[1]));
        }
    });
}

#[test]
fn each_part_of_a_tool_is_in_its_digest() {
    run(async {
        let notes = Notes::default();
        let tools = [
            tool("a"),
            tool("b"),
            tool("a").title("a"),
            tool("a").annotations(ToolAnnotations::default()),
            tool("a").destructive(false),
            Tool::new("x")
                .description("a")
                .handler(|(): (), _| async { Ok("done") }),
        ];
        for tool in tools {
            let noted = notes.clone();
            let host = builder(Revision::V2025_11_25)
                .entry(entry("a", &Server::builder("a", "1.0").with(tool)))
                .approve_tool(move |asked| {
                    noted.note(asked.digest.to_string());
                    async { ToolConsent::Refused }
                });
            start(host).await.call_tool("a__x", &()).await.unwrap_err();
        }
        let mut digests = notes.take();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 6);
    });
}

const PROJECT: &str = r#"{"servers":{
    "tool":{"command":"${TOOL}","args":["${env:ARGUMENT}"],"env":{"KEY":"${input:key}"}},
    "page":{"url":"https://${HOST}/mcp"}
},"inputs":[{"type":"promptString","id":"key","password":true}]}"#;

/// A host that notes which variables are read, and what a person is asked.
fn noting(notes: &Notes) -> HostBuilder {
    let (read, asked) = (notes.clone(), notes.clone());
    Host::builder("desk", "1.0")
        .variables(Variables::new(move |name| {
            read.note(format!("read {name}"));
            Some("value".to_owned())
        }))
        .on_input(move |input| {
            asked.note(format!("asked for {}", input.id));
            async { Some("s3cret".to_owned()) }
        })
}

fn failure(host: &Host, server: &str) -> String {
    let servers = host.servers();
    let server = servers.iter().find(|it| &*it.name == server).unwrap();
    match &server.state {
        ServerState::Failed(error) => error.to_string(),
        state => panic!("{state:?}"),
    }
}

#[test]
fn nothing_of_a_project_happens_before_it_is_approved() {
    run(async {
        let project = Config::parse(PROJECT.as_bytes()).unwrap();
        let notes = Notes::default();
        let host = start(noting(&notes).project_config(&project)).await;
        assert_eq!(notes.take(), [""; 0]);
        assert_eq!(failure(&host, "tool"), "tool: the server is not approved");

        let noted = notes.clone();
        let host = noting(&notes)
            .project_config(&project)
            .approve_server(move |entry| {
                noted.note(format!(
                    "approve {} {:?} {:?} {:?} {:?}",
                    entry.name(),
                    entry.program().or(entry.url()),
                    entry.arguments(),
                    entry.variables(),
                    entry.set_names().collect::<Vec<_>>(),
                ));
                let is_approved = entry.name() == "tool";
                async move { is_approved }
            });
        let host = start(host).await;
        let mut noted = notes.take();
        noted.sort();
        let expected = [
            r#"approve page Some("https://${HOST}/mcp") [] {"HOST"} []"#,
            r#"approve tool Some("${TOOL}") ["${env:ARGUMENT}"] {"ARGUMENT", "TOOL"} ["KEY"]"#,
            "asked for key",
            "read ARGUMENT",
            "read TOOL",
        ];
        assert_eq!(noted, expected);
        assert_eq!(failure(&host, "page"), "page: the server is not approved");
        // It is started, which this runtime cannot do.
        let error = failure(&host, "tool");
        assert!(
            error.starts_with("tool: cannot connect to ${TOOL}: "),
            "{error}"
        );
        assert!(!format!("{host:?}").contains("s3cret"));

        // What was approved is not asked again; what has changed is.
        host.reconnect("tool").unwrap();
        host.ready().await;
        host.reload(&project, true);
        host.ready().await;
        assert_eq!(notes.take(), ["read TOOL", "read ARGUMENT"]);
        let changed = PROJECT
            .replace("\"page\"", "\"other\"")
            .replace("${env:ARGUMENT}", "--all");
        host.reload(&Config::parse(changed.as_bytes()).unwrap(), true);
        host.ready().await;
        let asked: Vec<_> = notes
            .take()
            .into_iter()
            .filter(|note| note.starts_with("approve"))
            .collect();
        assert!(
            asked
                .iter()
                .any(|note| note.starts_with("approve tool Some(\"${TOOL}\") [\"--all\"]")),
            "{asked:?}"
        );
        assert!(
            asked.iter().any(|note| note.starts_with("approve other")),
            "{asked:?}"
        );
        assert_eq!(host.servers().len(), 2, "{:?}", host.servers());
    });
}

#[test]
fn an_input_is_asked_once_for_each_file() {
    run(async {
        let file = |name: &str| {
            let text = format!(
                r#"{{"servers":{{"{name}1":{{"url":"https://127.0.0.1:1/${{input:key}}","headers":{{"A":"${{input:key}}"}}}},"{name}2":{{"url":"${{input:key}}"}}}},
                    "inputs":[{{"type":"promptString","id":"key"}}]}}"#
            );
            Config::parse(text.as_bytes()).unwrap()
        };
        let notes = Notes::default();
        let host = start(noting(&notes).config(&file("a")).config(&file("b"))).await;
        assert_eq!(notes.take(), ["asked for key", "asked for key"]);
        for server in ["a1", "a2"] {
            let error = failure(&host, server);
            assert!(!error.contains("s3cret"), "{error}");
        }
        assert!(
            failure(&host, "a1")
                .starts_with("a1: cannot connect to https://127.0.0.1:1/${input:key}: ")
        );
        assert_eq!(
            failure(&host, "a2"),
            "servers.a2.url: it is no http:// or https:// URL"
        );
        assert!(!format!("{:?}", host.servers()).contains("s3cret"));
    });
}

/// What a person agreed to is what a default of the file puts there, too.
#[test]
fn an_input_of_a_file_is_in_the_digest_of_those_who_refer_to_it() {
    let digests = |input: &str| {
        let text = format!(
            r#"{{"servers":{{"a":{{"command":"run","args":["${{input:x}}"]}},"b":{{"command":"run"}}}},"inputs":[{input}]}}"#
        );
        let config = Config::parse(text.as_bytes()).unwrap();
        assert!(config.errors().is_empty(), "{:?}", config.errors());
        let digests = config.entries().iter().map(|entry| entry.digest());
        let [of_a, of_b] = digests.collect::<Vec<_>>()[..] else {
            panic!("two entries")
        };
        (of_a, of_b)
    };
    let inputs = [
        r#"{"type":"promptString","id":"x"}"#,
        r#"{"type":"promptString","id":"x","default":"--safe"}"#,
        r#"{"type":"promptString","id":"x","default":"--all"}"#,
        r#"{"type":"promptString","id":"x","description":"Your password"}"#,
        r#"{"type":"promptString","id":"x","password":true}"#,
        r#"{"type":"pickString","id":"x"}"#,
        r#"{"type":"pickString","id":"x","options":["a"]}"#,
        r#"{"type":"pickString","id":"x","options":["a","b"]}"#,
    ];
    let (of_a, of_b): (Vec<_>, Vec<_>) = inputs.into_iter().map(digests).unzip();
    let different: std::collections::HashSet<_> = of_a.into_iter().collect();
    assert_eq!(different.len(), inputs.len());
    assert!(of_b.iter().all(|digest| *digest == of_b[0]));
}

/// A file of a project takes no names from the user.
#[test]
fn a_file_replaces_no_servers_of_others() {
    run(async {
        let file = br#"{"mcpServers":{"notes":{"command":"/no/such/program"},"more":{"command":"/no/such/program"}}}"#;
        let file = Config::parse(file).unwrap();
        for of_project in [false, true] {
            let mine = Server::builder("notes", "1.0").with(tool("Mine"));
            let host = start(Host::builder("desk", "1.0").entry(entry("notes", &mine))).await;
            for _ in 0..2 {
                host.reload(&file, of_project);
                host.ready().await;
                let names: Vec<_> = host.servers().into_iter().map(|it| it.name).collect();
                assert_eq!(
                    names.iter().map(|name| &**name).collect::<Vec<_>>(),
                    ["notes", "more"]
                );
                let done = host.call_tool("notes__x", &HashMap::from([("n", 1)])).await;
                assert_eq!(done.unwrap().text(), "done");
            }
        }
    });
}

/// A server that is started again may be another one.
#[test]
fn a_consent_holds_after_a_restart_if_the_tool_is_the_same() {
    in_each_revision(|revision| async move {
        let make = |description: &str| {
            let server = Server::builder("a", "1.0").with(tool(description));
            server.change_notifications().build().unwrap()
        };
        let current = Arc::new(Mutex::new(make("Reads")));
        let connected = Arc::clone(&current);
        let notes = Notes::default();
        let noted = notes.clone();
        let host = builder(revision)
            .entry(ServerEntry::connector("a", move || {
                let connected = Arc::clone(&connected);
                reopened(runtime(), move || {
                    let (ours, theirs) = duplex(1 << 16);
                    let server = connected.lock().unwrap().clone();
                    runtime().spawn(Box::pin(async move {
                        let _ = server.serve(Streams::new(runtime(), theirs.split())).await;
                    }));
                    async { Ok(ours.split()) }
                })
            }))
            .approve_tool(move |asked| {
                noted.note(asked.tool.description.clone().unwrap_or_default());
                async { ToolConsent::WhileUnchanged }
            });
        let host = start(host).await;
        let call = async || {
            host.call_tool("a__x", &())
                .await
                .map(|result| result.text())
        };
        call().await.unwrap();
        assert_eq!(notes.take(), ["Reads"]);
        for description in ["Reads", "Deletes"] {
            pause(1).await;
            let mut states = host.state_changes();
            {
                let mut current = current.lock().unwrap();
                let before = core::mem::replace(&mut *current, make(description));
                before.registry().shutdown();
            }
            while !matches!(states.next().await.state, ServerState::Restarting) {}
            // It is sent as soon as there is a connection.
            call().await.unwrap();
            let asked = notes.take();
            match description {
                "Reads" => assert!(asked.is_empty(), "{revision} {asked:?}"),
                _ => assert_eq!(asked, ["Deletes"], "{revision}"),
            }
        }
    });
}

#[test]
fn a_tool_that_changes_while_another_list_is_read_is_asked_about_again() {
    run(async {
        let (prompts, tools) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let changed = |list: &str| -> Arc<str> {
            let method = format!("notifications/{list}/list_changed");
            format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#).into()
        };
        let entry = legacy_lines("a", move |method, _| match method {
            "initialize" => {
                let lists = r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true}}"#;
                let info = r#"{"name":"a","version":"1"}"#;
                let result = format!(
                    r#"{{"protocolVersion":"2025-11-25","capabilities":{lists},"serverInfo":{info}}}"#
                );
                vec![result.into()]
            }
            "tools/list" => {
                let description = match tools.fetch_add(1, Ordering::Relaxed) {
                    0 => "Reads",
                    _ => "Deletes",
                };
                let schema = r#"{"type":"object"}"#;
                let tool = format!(
                    r#"{{"name":"x","description":"{description}","inputSchema":{schema}}}"#
                );
                vec![format!(r#"{{"tools":[{tool}]}}"#).into()]
            }
            "prompts/list" => match prompts.fetch_add(1, Ordering::Relaxed) {
                0 => vec![r#"{"prompts":[]}"#.into()],
                // The list does not come, and the tools change meanwhile.
                _ => vec![changed("tools")],
            },
            "tools/call" => vec![r#"{"content":[]}"#.into(), changed("prompts")],
            _ => Vec::new(),
        });
        let notes = Notes::default();
        let noted = notes.clone();
        let host = builder(Revision::V2025_11_25)
            .entry(entry)
            .approve_tool(move |asked| {
                noted.note(asked.tool.description.clone().unwrap_or_default());
                async { ToolConsent::WhileUnchanged }
            });
        let host = start(host).await;
        for description in ["Reads", "Deletes"] {
            host.call_tool("a__x", &()).await.unwrap();
            assert_eq!(notes.take(), [description]);
            pause(1).await;
        }
    });
}
