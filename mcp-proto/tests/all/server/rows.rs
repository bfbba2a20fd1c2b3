//! Rules that no other script shows: habits of other programs, and gaps of the specification.

use mcp_proto::model::{ClientFeatures, ServerCapabilities, ServerFeatures};
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::{Event, ReplyKind, Server, ServerConfig};
use mcp_proto::{Action, Inbox, Instant, Limits, Machine, Outbox, Pipe, Revision, Step, link};

use super::Talk;
use crate::script::server::{
    METHOD_NOT_FOUND, Small, config, error, initialize, modern, notification, request,
};

fn serving(features: ServerFeatures) -> ServerConfig<'static> {
    ServerConfig {
        capabilities: features.capabilities(),
        ..config()
    }
}

/// A simple client of 2025-03-26, from its first line to its last: JR-56, TL-07.
#[test]
fn a_simple_conversation() {
    let mut talk = Talk::with(config());
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test-client","version":"1.0.0"}}}"#);
    assert!(talk.heard()[0].contains(r#""protocolVersion":"2025-03-26""#));
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#)
        .say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#)
        .say(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}}"#)
        .say(r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"server://info"}}"#)
        .say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nonexistent_tool","arguments":{}}}"#)
        .sees(&[
            "initialized",
            "request 0 tools/list",
            "request 1 tools/call calculate",
            "request 2 resources/read server://info",
            "request 3 tools/call nonexistent_tool",
        ]);
    talk.answer(0, r#"{"tools":[]}"#)
        .answer(1, r#"{"content":[]}"#)
        .answer(2, r#"{"contents":[]}"#)
        .fail(3, -32602);
    talk.hears(&[
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"contents":[]}}"#,
        &error("5", -32602, "no"),
    ]);
}

/// JR-56: empty parameters, and none.
#[test]
fn params_may_be_missing() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#)
        .say(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#)
        .sees(&["request 0 tools/list", "request 1 tools/list"]);
    let mut talk = Talk::with(config());
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
    assert!(talk.heard()[0].contains("protocolVersion is missing"));
}

/// PN-06: a cursor is read wherever there are pages.
#[test]
fn pn_06_cursors() {
    let config = serving(
        ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::PROMPTS)
            .with(ServerFeatures::TASKS)
            .with(ServerFeatures::TASKS_LIST),
    );
    let mut talk = Talk::open(config, "2025-11-25", "{}");
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "tasks/list",
    ] {
        talk.say(&request("1", method, r#""cursor":7"#))
            .hears(&[&error("1", -32602, "cursor is missing or malformed")]);
    }
}

/// LC-17, JR-43, CP-08: gates hold from the first revision on, and completions
/// have none there but whether they are served.
#[test]
fn gates_hold_in_every_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut talk = Talk::open(serving(ServerFeatures::COMPLETIONS), version, "{}");
        talk.say(&request("1", "tools/list", ""))
            .hears(&[&error("1", -32601, METHOD_NOT_FOUND)]);
        talk.say(&request("2", "completion/complete", ""))
            .sees(&["request 0 completion/complete"]);
    }
}

/// TK-44, TK-48: tasks of each kind where they are. VR-11.
#[test]
fn tasks_by_era() {
    let both = ServerFeatures::TASKS
        .with(ServerFeatures::TASKS_CANCEL)
        .with(ServerFeatures::TASKS_EXTENSION);
    let task = r#""taskId":"t""#;
    let mut talk = Talk::with(serving(both));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        // Before the id is looked at.
        talk.say(&modern("1", method, "", "{}")).hears(&[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"the client must declare the extension io.modelcontextprotocol/tasks","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#,
        ]);
    }
    let able = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    talk.say(&modern("2", "tasks/get", task, able))
        .sees(&["request 0 tasks/get t"]);
    talk.say(&modern("3", "tasks/get", "", able))
        .hears(&[&error("3", -32602, "taskId is missing or malformed")]);
    let mut talk = Talk::open(serving(ServerFeatures::TASKS_EXTENSION), "2025-11-25", able);
    talk.say(&request("1", "tasks/get", task))
        .hears(&[&error("1", -32601, METHOD_NOT_FOUND)]);
    let mut talk = Talk::open(serving(both), "2025-11-25", "{}");
    talk.say(&request("1", "tasks/cancel", task))
        .say(&notification("notifications/tasks/status", ""))
        .sees(&[
            "request 0 tasks/cancel t",
            "notification notifications/tasks/status",
        ]);
}

/// EX-02, VR-09: what the client said of itself can be looked at before it is answered.
#[test]
fn the_handshake_can_be_inspected() {
    let mut talk = Talk::with(config());
    let line = initialize("2024-11-05", r#"{"extensions":{"a.b/c":{}}}"#);
    let incoming = Incoming::Message(Message::parse(line.as_bytes(), 64));
    let action = talk.machine.handle(Instant::ZERO, &Pipe, incoming);
    let Action::Reply(reply) = action else {
        panic!("{action:?}");
    };
    let ReplyKind::Initialize(opened) = reply.kind() else {
        panic!("{reply:?}");
    };
    assert_eq!(opened.offered, "2024-11-05");
    assert_eq!(
        opened.capabilities.get("extensions").unwrap().as_str(),
        r#"{"a.b/c":{}}"#
    );
    assert_eq!(
        opened.client_info.as_raw().as_str(),
        r#"{"name":"c","version":"1"}"#
    );
    assert_eq!(reply.error(), None);
    // Nothing happens until it is written.
    assert_eq!(talk.machine.revision(), None);
}

/// VR-09: who opened a session is told once the answer is written, and not before.
#[test]
fn the_handshake_is_told() {
    #[track_caller]
    fn check<const ROOM: usize>(chunk: usize, expected: Option<&str>) {
        let limits = Limits::default();
        let mut server = Server::new(config(), Small::default()).unwrap();
        // No link, which would make sure of the room.
        let mut inbox = Inbox::new([0; 512], &limits);
        let mut outbox = Outbox::new([0; ROOM], &limits);
        let line = initialize("2024-11-05", r#"{"roots":{}}"#) + "\n";
        let mut told = None;
        for bytes in line.as_bytes().chunks(chunk) {
            inbox.spare_mut().unwrap()[..bytes.len()].copy_from_slice(bytes);
            inbox.filled(bytes.len());
            while let Step::Event { event, outbox, .. } =
                link::step(&mut server, &mut inbox, &mut outbox, Instant::ZERO)
            {
                let Event::Handshake(opened) = event else {
                    panic!("{event:?}");
                };
                assert!(!outbox.is_empty(), "the answer goes first");
                assert_eq!(opened.revision, Revision::V2024_11_05);
                assert_eq!(opened.features, ClientFeatures::ROOTS);
                assert_eq!(opened.capabilities.as_raw().as_str(), r#"{"roots":{}}"#);
                told = Some(opened.client_info.as_raw().as_str().to_owned());
            }
        }
        assert_eq!(told.as_deref(), expected, "{chunk} {ROOM}");
        assert_eq!(server.revision().is_some(), expected.is_some());
    }
    let info = r#"{"name":"c","version":"1"}"#;
    for chunk in [1, 7, 512] {
        check::<1024>(chunk, Some(info));
        // An output that could never hold the answer opens no session.
        check::<16>(chunk, None);
    }
}

/// JR-31, MR-09: what surrounds a request is there for the application.
#[test]
fn the_context_of_a_request() {
    let mut talk = Talk::with(config());
    let line = modern(
        "1",
        "tools/call",
        r#""name":"n","inputResponses":{"k":{"action":"accept"}},"requestState":"s\u0031""#,
        r#"{"sampling":{}}"#,
    )
    .replace(
        r#""_meta":{"#,
        r#""_meta":{"traceparent":"00-a","baggage":"b=c","io.modelcontextprotocol/clientInfo":{"name":"c"},"#,
    );
    let incoming = Incoming::Message(Message::parse(line.as_bytes(), 64));
    let action = talk.machine.handle(Instant::ZERO, &Pipe, incoming);
    let Action::Event(Event::Request {
        context, params, ..
    }) = action
    else {
        panic!("{action:?}");
    };
    assert!(params.get("inputResponses").is_some());
    assert_eq!(context.subject.unwrap(), "n");
    assert_eq!(context.request_state.unwrap(), "s1");
    assert_eq!(
        context.input_responses.unwrap().get("k").unwrap().as_str(),
        r#"{"action":"accept"}"#
    );
    let [parent, state, baggage] = context.trace();
    assert_eq!(parent.unwrap(), "00-a");
    assert_eq!(state, None);
    assert_eq!(baggage.unwrap(), "b=c");
    assert_eq!(context.client_info().unwrap().as_str(), r#"{"name":"c"}"#);
    assert_eq!(
        context.client_capabilities().unwrap().as_raw().as_str(),
        r#"{"sampling":{}}"#
    );
    assert_eq!(
        format!("{:?}", context.request_state.map(|_| ())),
        "Some(())"
    );
}

/// What the session knows comes with every request of it; rounds do not exist there.
#[test]
fn the_context_of_a_legacy_request() {
    let mut talk = Talk::open(config(), "2025-06-18", r#"{"roots":{}}"#);
    let line = request(
        "1",
        "tools/call",
        r#""name":"n","requestState":7,"inputResponses":7,"_meta":{"progressToken":1}"#,
    );
    let incoming = Incoming::Message(Message::parse(line.as_bytes(), 64));
    let action = talk.machine.handle(Instant::ZERO, &Pipe, incoming);
    let Action::Event(Event::Request { context, .. }) = action else {
        panic!("{action:?}");
    };
    assert!(context.progress);
    assert!(
        context
            .features
            .contains(mcp_proto::model::ClientFeatures::ROOTS)
    );
    assert!(context.request_state.is_none() && context.input_responses.is_none());
}

/// The smallest server of all: no questions, no arrays, no subscriptions.
#[test]
fn a_server_without_room_for_anything() {
    use mcp_proto::ConfigError;
    use mcp_proto::server::{Fixed, Server};

    // Subscriptions that could never be made must not be declared.
    let server = Server::new(config(), Fixed::new().requests::<1>().ids::<16>());
    assert_eq!(server.err(), Some(ConfigError::NoRoomForSubscriptions));
    let config = ServerConfig {
        capabilities: ServerCapabilities {
            features: config().capabilities.features.without(
                ServerFeatures::RESOURCES_SUBSCRIBE.with(ServerFeatures::RESOURCES_LIST_CHANGED),
            ),
            ..config().capabilities
        },
        ..config()
    };
    let mut server = Server::new(config, Fixed::new().requests::<1>().ids::<16>()).unwrap();
    let mut out = [0; 1024];
    let mut lines = Vec::new();
    let mut say = |line: &str| {
        let incoming = Incoming::Message(Message::parse(line.as_bytes(), 64));
        match server.handle(Instant::ZERO, &Pipe, incoming) {
            Action::Reply(reply) => {
                let transmit = server.reply(Instant::ZERO, reply, &mut out).unwrap();
                lines.push(String::from_utf8(out[..transmit.len].to_vec()).unwrap());
            }
            other => lines.push(format!("{other:?}").chars().take(14).collect()),
        }
        assert_eq!(server.poll_timeout(), None);
    };
    say(&initialize("2025-03-26", "{}"));
    say(&request("1", "resources/subscribe", r#""uri":"a:b""#));
    say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    say(&request("1", "tools/list", ""));
    say(&request("2", "tools/list", ""));
    assert_eq!(
        lines[1..],
        [
            error("1", -32601, METHOD_NOT_FOUND),
            "Ignore(LateRes".into(),
            "Event(Request ".into(),
            error("2", -32603, "limit reached: requests in flight"),
        ]
    );
    let action = server.handle(Instant::ZERO, &Pipe, Incoming::BatchStart);
    assert!(matches!(action, Action::Reply(reply) if reply.error().is_some()));
}
