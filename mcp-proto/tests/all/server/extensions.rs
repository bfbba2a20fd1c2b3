//! Extensions on a server: own methods, filters and notifications (EX-05 to EX-16, TK-44, TK-47).

use mcp_proto::client::{self, Client, ClientConfig};
use mcp_proto::json::{Map, Raw};
use mcp_proto::model::{ClientCapabilities, ServerCapabilities, ServerFeatures};
use mcp_proto::server::{Server, ServerConfig};
use mcp_proto::{ConfigError, CustomMethod, Limits, Revision, RevisionSet};

use super::listens::play;
use crate::script::server::{Small, check, check_opened};

const METHODS: &[CustomMethod<'static>] = &[
    CustomMethod::new("events/list"),
    CustomMethod {
        subject: Some("name"),
        requires: Some("com.example/events"),
        ..CustomMethod::new("events/stream")
    },
    CustomMethod::new("notifications/events/event"),
];

/// A server of an extension with events.
fn events() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .capabilities(),
        methods: METHODS,
        filters: &["events", "eventTypes"],
        ..ServerConfig::new("s", "1")
    }
}

/// A request of 2026-07-28 whose client declares this.
fn declaring(id: u32, method: &str, params: &str, capabilities: &str) -> String {
    format!(
        r#"> {id} {method} {{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}"#
    )
}

/// EX-05, EX-06: only what this very request declares counts, and only as an object that stands
/// there once.
#[test]
fn ex_06_what_a_method_requires() {
    let refused = r#"< {"jsonrpc":"2.0","id":N,"error":{"code":-32021,"message":"the client must declare the extension com.example/events","data":{"requiredCapabilities":{"extensions":{"com.example/events":{}}}}}}"#;
    let mut script = String::new();
    let mut id = 0;
    let mut step = |capabilities: &str, admitted: Option<u32>| {
        id += 1;
        let line = declaring(id, "events/stream", r#""name":"a","#, capabilities);
        let then = match admitted {
            Some(token) => format!("= request {token} events/stream"),
            None => refused.replace('N', &id.to_string()),
        };
        script += &format!("{line}\n{then}\n");
    };
    step("{}", None);
    step(r#"{"extensions":{"com.example/events":{}}}"#, Some(0));
    step(r#"{"extensions":{}}"#, None);
    step(r#"{"extensions":{"com.example/events":true}}"#, None);
    step(r#"{"extensions":{"com.example/Events":{}}}"#, None);
    step(r#"{"extensions":[]}"#, None);
    step(
        r#"{"extensions":{"com.example/events":{},"com.example/events":{}}}"#,
        None,
    );
    step(
        r#"{"extensions":{"com.example\/events":{"unknown":[1]},"x":1}}"#,
        Some(1),
    );
    check(events(), &script);
    // A session has no declaration on each request, and nothing is required in it (EX-02).
    check_opened(
        events(),
        "2025-11-25",
        "{}",
        r#"> 1 events/stream {"name":"a"}
        = request 0 events/stream"#,
    );
}

/// EX-13, SB-02: nothing leaves before the application has judged the filter, and the
/// acknowledgement has what the core and the application accept.
#[test]
fn ex_13_a_judged_filter_is_held() {
    play(
        events(),
        r#"> listen 1 {"events":["a","b"],"toolsListChanged":true,"unknown":1}
        = held 0 {"events":["a","b"],"toolsListChanged":true,"unknown":1}
        changed tools
        in-flight
        = 0
        notify-for 0 notifications/events/event {}
        ! NotReady
        acknowledge 0 {"events":["a"]}
        < acknowledged 1 {"toolsListChanged":true,"events":["a"]}
        < told 1 tools/list_changed
        acknowledge 0 {}
        ! Stale
        # Nothing of it is accepted.
        > listen 2 {"eventTypes":null}
        = held 1 {"eventTypes":null}
        acknowledge 1 {}
        < acknowledged 2 {}
        # Both, and one that the core acknowledges by itself.
        > listen 3 {"eventTypes":{},"events":[]}
        = held 2 {"eventTypes":{},"events":[]}
        > listen 4 {"toolsListChanged":true}
        = listening 3
        < acknowledged 4 {"toolsListChanged":true}
        acknowledge 3 {}
        ! Stale
        acknowledge 2 {"events":[],"eventTypes":{"a":1}}
        < acknowledged 3 {"events":[],"eventTypes":{"a":1}}"#,
    );
}

/// A held listen holds up nothing else, and ends as any other.
#[test]
fn a_held_listen_ends() {
    play(
        events(),
        r#"> listen 1 {"events":1}
        = held 0 {"events":1}
        > 2 events/list {META}
        = request 1 events/list
        answer 1 {}
        < 2 = {"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}
        > - notifications/cancelled {"requestId":1}
        = cancelled 0
        acknowledge 0 {}
        ! Stale
        # The application refuses it.
        > listen 3 {"events":1}
        = held 2 {"events":1}
        fail 2 -32021
        < 3 ! -32021 no
        # It ends it at once.
        > listen 4 {"events":1,"toolsListChanged":true}
        = held 3 {"events":1,"toolsListChanged":true}
        changed tools & end 3
        < acknowledged 4 {"toolsListChanged":true}
        < told 4 tools/list_changed
        < ended 4
        < - notifications/cancelled {"requestId":4}
        > listen 5 {"events":1}
        = held 4 {"events":1}
        cancel-all
        < acknowledged 5 {}
        < ended 5
        < - notifications/cancelled {"requestId":5}
        > listen 6 {"events":1}
        = held 5 {"events":1}
        hangup
        = cancelled 5
        = closed"#,
    );
}

/// JR-52: a key that is judged stands there once; what is acknowledged is a key of the
/// configuration, once.
#[test]
fn keys_of_filters() {
    play(
        events(),
        r#"> listen 1 {"events":1,"ev\u0065nts":2}
        < 1 ! -32602 notifications occurs twice
        > listen 2 {"\u0065vents":1}
        = held 0 {"\u0065vents":1}
        acknowledge 0 {"other":1}
        ! Encode
        acknowledge 0 {"events":1,"events":2}
        ! Encode
        acknowledge 0 {"toolsListChanged":true}
        ! Encode
        acknowledge 0 {"events":1}
        < acknowledged 2 {"events":1}"#,
    );
}

/// An acknowledgement for which there is never room is refused, and the listen stays held.
#[test]
fn acknowledgements_are_bounded() {
    let limits = Limits {
        output: 800,
        ..Limits::default()
    };
    let config = ServerConfig { limits, ..events() };
    let long = "x".repeat(800);
    play(
        config,
        &format!(
            r#"> listen 1 {{"events":1}}
            = held 0 {{"events":1}}
            acknowledge 0 {{"events":"{long}"}}
            ! TooLarge {{ needed: 963 }}
            fail 0 -32603
            < 1 ! -32603 no"#
        ),
    );
}

/// EX-14, SB-03: a notification travels on the listen that it belongs to, which it names, or on
/// the stream of its request.
#[test]
fn ex_14_notifications_of_requests_and_listens() {
    let script = r#"> listen "1" {"events":1}
        = held 0 {"events":1}
        acknowledge 0 {"events":1}
        < acknowledged "1" {"events":1}
        notify-for 0 notifications/events/event {}
        < - notifications/events/event {ABOUT}
        notify-for 0 notifications/events/event
        < - notifications/events/event {ABOUT}
        notify-for 0 notifications/events/event {"a":1,"_meta":{"b":2}}
        < - notifications/events/event {"a":1,"_meta":{"io.modelcontextprotocol/subscriptionId":"1","b":2}}
        notify-for 0 notifications/events/event {"_meta":{"io.modelcontextprotocol/subscriptionId":2}}
        ! Encode
        notify-for 0 notifications/events/event []
        ! Encode
        notify-for 0 notifications/tasks {"taskId":"t"}
        < - notifications/tasks {"taskId":"t",ABOUT}
        notify-for 0 notifications/events/other {}
        ! NotInRevision
        notify-for 0 notifications/tasks/status {}
        ! NotInRevision
        notify-for 0 notifications/tools/list_changed {}
        ! NotInRevision
        > 2 events/list {META}
        = request 1 events/list
        notify-for 1 notifications/events/event {"a":1}
        < - notifications/events/event {"a":1}
        notify-for 1 notifications/events/event
        < - notifications/events/event
        notify-for 1 notifications/events/event 7
        ! Encode
        end 0
        < ended "1"
        < - notifications/cancelled {"requestId":"1"}
        notify-for 0 notifications/events/event {}
        ! Stale
        > - notifications/cancelled {"requestId":2}
        = cancelled 1
        notify-for 1 notifications/events/event {}
        ! Stale"#;
    let about = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"1"}"#;
    play(events(), &script.replace("ABOUT", about));
    // In a session too, in each revision.
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check_opened(
            events(),
            version,
            "{}",
            r#"> 1 events/list
            = request 0 events/list
            notify-for 0 notifications/events/event {"a":1}
            < - notifications/events/event {"a":1}
            notify-for 0 notifications/tasks {}
            ! NotInRevision"#,
        );
    }
}

/// EX-07, TK-47: what is not declared, or not of the revision, is unknown before any look at what
/// it is about.
#[test]
fn ex_07_methods_that_are_not_served() {
    let tasks = ServerConfig {
        capabilities: ServerFeatures::TASKS_EXTENSION.capabilities(),
        ..ServerConfig::new("s", "1")
    };
    let capable = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let mut script = String::new();
    for (id, method) in ["tasks/result", "tasks/list", "events/list", "skills/list"]
        .into_iter()
        .enumerate()
    {
        for params in ["", r#""taskId":7,"#] {
            let line = declaring(id as u32, method, params, capable);
            script += &format!("{line}\n< {id} ! -32601\n");
        }
    }
    script += &declaring(7, "tasks/get", r#""taskId":"t","#, capable);
    script += "\n= request 0 tasks/get t\n";
    // TK-44
    script += &declaring(8, "tasks/get", r#""taskId":"t","#, "{}");
    script += "\n";
    script += r#"< {"jsonrpc":"2.0","id":8,"error":{"code":-32021,"message":"the client must declare the extension io.modelcontextprotocol/tasks","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#;
    check(tasks, &script);
}

/// EX-01, EX-02: an extension is declared in the revisions that it is turned on for.
#[test]
fn ex_02_extensions_are_declared_by_revision() {
    let config = |revisions: &'static [(&'static str, RevisionSet)]| ServerConfig {
        capabilities: ServerCapabilities {
            extensions: Some(Map::new(
                const {
                    &[
                        ("com.example/new", Raw::EMPTY_OBJECT),
                        ("com.example/old", Raw::EMPTY_OBJECT),
                    ]
                },
            )),
            ..ServerCapabilities::default()
        },
        extension_revisions: revisions,
        ..ServerConfig::new("s", "1")
    };
    let session = |version: &str, capabilities: &str| {
        format!(
            r#"> 1 initialize {{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}
            < 1 = {{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}"#
        )
    };
    let discovered = |capabilities: &str| {
        format!(
            r#"> 1 server/discover {{META}}
            < 1 = {{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{capabilities},"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}"#
        )
    };
    let both = r#"{"extensions":{"com.example/new":{},"com.example/old":{}}}"#;
    let old = r#"{"extensions":{"com.example/old":{}}}"#;
    let everywhere = const { &[("com.example/old", RevisionSet::all())] };
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check(config(&[]), &session(version, "{}"));
        check(config(everywhere), &session(version, old));
    }
    check(config(&[]), &discovered(both));
    check(config(everywhere), &discovered(both));
    let nowhere = const {
        &[
            ("com.example/new", RevisionSet::EMPTY),
            ("com.example/old", RevisionSet::of(&[Revision::V2025_11_25])),
        ]
    };
    check(config(nowhere), &discovered(r#"{"extensions":{}}"#));
    check(config(nowhere), &session("2025-11-25", old));
    check(config(nowhere), &session("2025-06-18", "{}"));
}

/// EX-16: an own method is asked of the client of a session, and of no other.
#[test]
fn ex_16_own_questions() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check_opened(
            events(),
            version,
            "{}",
            r#"ask - events/list {"a":1}
            < 1 events/list {"a":1}
            > 1 = {"b":2}
            = answer 0 0 {"b":2}
            ask - events/other {}
            ! NotInRevision"#,
        );
    }
    check(
        events(),
        r#"> 1 events/list {META}
        = request 0 events/list
        ask 0 events/list {}
        ! NotInRevision
        input 0 state
        ! NotInRevision"#,
    );
}

/// VR-10, EX-03: a machine whose extensions have no prefix in their names is not made.
#[test]
fn vr_10_names_of_extensions() {
    for (name, is_name) in [
        ("com.example/a", true),
        ("a", false),
        ("com.example/", false),
    ] {
        let ours = [
            ("com.example/ok", Raw::EMPTY_OBJECT),
            (name, Raw::EMPTY_OBJECT),
        ];
        let theirs = format!(r#"{{"com.example\/ok":{{}},"{name}":{{}}}}"#);
        let theirs = Raw::parse(theirs.as_bytes(), 4).unwrap().object().unwrap();
        for extensions in [Map::new(&ours), Map::from(theirs)] {
            let expected = match is_name {
                true => Ok(()),
                false => Err(ConfigError::ExtensionName),
            };
            let server = ServerConfig {
                capabilities: ServerCapabilities {
                    extensions: Some(extensions),
                    ..ServerCapabilities::default()
                },
                ..ServerConfig::new("s", "1")
            };
            let made = Server::new(server, Small::default()).map(drop);
            assert_eq!(made, expected, "{name}");
            let client = ClientConfig {
                capabilities: ClientCapabilities {
                    extensions: Some(extensions),
                    ..ClientCapabilities::default()
                },
                ..ClientConfig::new("c", "1")
            };
            let made = Client::new(client, client::Fixed::new().questions::<1>()).map(drop);
            assert_eq!(made, expected, "{name}");
        }
    }
    // Experimental capabilities have any name.
    let experimental = [("a", Raw::EMPTY_OBJECT)];
    let server = ServerConfig {
        capabilities: ServerCapabilities {
            experimental: Some(Map::new(&experimental)),
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("s", "1")
    };
    assert!(Server::new(server, Small::default()).is_ok());
}
