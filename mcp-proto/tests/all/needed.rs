//! The need of a message that does not fit is exact, whatever members its payload has already: so no
//! message is lost for which there is room.

use mcp_proto::client::{self, Call, Client, ClientConfig};
use mcp_proto::http::{Post, Version};
use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::server::{self, AskOptions, OverHttp, Server, ServerConfig, SessionSnapshot};
use mcp_proto::{
    Action, AtOnce, Channel, Conversation, CustomMethod, Instant, Limits, Link, Machine, Outbox,
    Outcome, Payload, Pipe, Question, Revision, RevisionSet, SendError, Source, Store, Transmit,
    TurnEnd, Verdict,
};

const NOW: Instant = Instant::ZERO;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1.0"}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#;

const METHODS: [CustomMethod<'static>; 1] = [CustomMethod::new("notifications/notes")];

type Demo = Server<'static, server::Fixed<4, 2, 0, 64>>;

fn server(limits: Limits) -> Demo {
    let config = ServerConfig {
        limits,
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .capabilities(),
        methods: &METHODS,
        filters: &["notes"],
        ..ServerConfig::new("demo", "1.0")
    };
    Server::new(config, server::Fixed).unwrap()
}

fn hears<'b>(server: &mut Demo, line: &'b str) -> server::Event<'b> {
    let incoming = Incoming::Message(Message::parse(line.as_bytes(), 16));
    match server.handle(NOW, &Pipe, incoming) {
        Action::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

/// Sends into buffers of growing length. All that are too short name the length of the message,
/// which is returned.
#[track_caller]
fn exact(what: &str, mut send: impl FnMut(&mut [u8]) -> Result<Transmit, SendError>) -> Vec<u8> {
    let mut needs = Vec::new();
    for size in 0.. {
        let mut out = vec![0; size];
        match send(&mut out) {
            Ok(sent) => {
                assert_eq!(sent.len, size, "{what}");
                assert_eq!(needs, [size], "{what}");
                return out;
            }
            Err(SendError::BufferFull { needed }) => {
                needs.push(needed);
                needs.dedup();
            }
            Err(other) => panic!("{what}: {other}"),
        }
    }
    unreachable!()
}

/// Objects with and without the members that the core adds.
fn payloads() -> Vec<String> {
    let mut payloads: Vec<_> = [
        "{}",
        r#"{"content":[]}"#,
        r#"{"_meta":{}}"#,
        r#"{"_meta":{"x.y/z":1},"content":[]}"#,
        r#"{"\u005fmeta":{"x.y/z":1},"content":[]}"#,
        r#"{"content":[{"resultType":1,"_meta":{"a":1}}]}"#,
        r#"{"ttlMs":1,"cacheScope":"public","resultType":"complete"}"#,
        r#"{"text":"\"ttlMs\":{ \\","result\u0054ype":"complete"}"#,
    ]
    .map(str::to_owned)
    .into();
    payloads.push(format!(
        r#"{{"content":[],"resultType":"complete","_meta":{{{INFO}}}}}"#
    ));
    payloads
}

#[test]
fn results() {
    for method in ["tools/call", "resources/list"] {
        for payload in payloads() {
            let mut server = server(Limits::default());
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"a",{META}}}}}"#
            );
            let server::Event::Request { token, .. } = hears(&mut server, &line) else {
                panic!("no request");
            };
            let raw = Raw::parse(payload.as_bytes(), 16).unwrap();
            exact(&payload, |out| {
                server.respond(token, Outcome::Result(&raw), out)
            });
        }
    }
}

#[test]
fn notifications_of_subscriptions() {
    let mut server = server(Limits::default());
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{"notifications":{{"notes":true}},{META}}}}}"#
    );
    let server::Event::Listening { token, .. } = hears(&mut server, &line) else {
        panic!("no subscription");
    };
    let _ = server
        .acknowledge(token, &[("notes", &true)], &mut [0; 512])
        .unwrap();
    for payload in payloads() {
        let raw = Raw::parse(payload.as_bytes(), 16).unwrap();
        let method = Method::from("notifications/notes");
        exact(&payload, |out| {
            server.notify_for(token, method, Some(&raw), out)
        });
    }
}

#[test]
fn questions() {
    for own in ["{}", r#"{"_meta":{}}"#, r#"{"a":1,"_meta":{"x.y/z":1}}"#] {
        let snapshot = SessionSnapshot::stateless(Revision::V2025_11_25);
        let config = ServerConfig {
            methods: &[CustomMethod::new("example/ask")],
            ..ServerConfig::new("demo", "1.0")
        };
        let storage = server::Fixed::new().questions::<2>();
        let mut server = Server::new(config, storage).unwrap();
        server.resume(NOW, &snapshot);
        let params = Raw::parse(own.as_bytes(), 16).unwrap();
        let question = Question {
            method: Method::from("example/ask"),
            params: &params,
        };
        let options = AskOptions {
            progress: true,
            ..AskOptions::default()
        };
        exact(own, |out| {
            let asked = server.ask(NOW, None, question, options, out);
            asked.map(|(_, sent)| sent)
        });
    }
}

fn client(limits: Limits) -> Client<'static, client::Fixed<4, 1>> {
    let config = ClientConfig {
        limits,
        revisions: RevisionSet::of(&[Revision::V2026_07_28]),
        ..ClientConfig::new("demo", "1.0")
    };
    let mut client = Client::new(config, client::Fixed::new().questions::<1>()).unwrap();
    client.connect(NOW).unwrap();
    let mut out = [0; 4000];
    let _ = client.poll_transmit(NOW, Channel::PIPE, &mut out).unwrap();
    let discovered = Incoming::Message(Message::parse(DISCOVER.as_bytes(), 16));
    let action = client.handle(NOW, &Pipe, discovered);
    assert!(matches!(action, Action::Event(_)), "{action:?}");
    client
}

#[test]
fn calls() {
    let long = format!(r#"{{"name":"{}","_meta":{{"x.y/z":1}}}}"#, "y".repeat(300));
    for payload in [
        "{}",
        r#"{"name":"a"}"#,
        r#"{"_meta":{}}"#,
        r#"{"name":"a","arguments":{"_meta":{}}}"#,
        &long,
    ] {
        let params = Raw::parse(payload.as_bytes(), 16).unwrap();
        let call = Call {
            params: Some(&params),
            progress: true,
            ..Call::new(Method::ToolsCall)
        };
        let limits = |output| Limits {
            output,
            ..Limits::default()
        };
        let send = |output| {
            let mut client = client(limits(output));
            move |out: &mut [u8]| client.call(NOW, &call, out).map(|(_, sent)| sent)
        };
        let len = exact(payload, send(1000)).len();
        if payload == long {
            // One byte more than the message is its line feed.
            let put = |output| Outbox::new(Vec::new(), &limits(output)).put(send(output));
            assert_eq!(put(len + 1).map(|sent| sent.len), Ok(len));
            assert_eq!(put(len), Err(SendError::TooLarge { needed: len }));
        }
    }
}

/// Parameters and results that are `()` are objects without members, in each kind of message.
#[test]
fn nothing_is_an_object_without_members() {
    let check = |what: &str, write: &mut dyn FnMut(&dyn Payload) -> Vec<u8>| {
        let [unit, empty] = [write(&()), write(&Raw::EMPTY_OBJECT)];
        assert_eq!(unit, empty, "{what}");
        let text = String::from_utf8(unit).unwrap();
        assert!(!text.contains("null"), "{what}: {text}");
    };
    for meta in ["", META] {
        check("a result", &mut |result| {
            let mut server = server(Limits::default());
            if meta.is_empty() {
                server.resume(NOW, &SessionSnapshot::stateless(Revision::V2025_11_25));
            }
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{{{meta}}}}}"#
            );
            let server::Event::Request { token, .. } = hears(&mut server, &line) else {
                panic!("no request");
            };
            exact("a result", |out| {
                server.respond(token, Outcome::Result(result), out)
            })
        });
    }
    check("a question of a session", &mut |params| {
        let config = ServerConfig {
            methods: &[CustomMethod::new("example/ask")],
            ..ServerConfig::new("demo", "1.0")
        };
        let storage = server::Fixed::new().questions::<2>();
        let mut server = Server::new(config, storage).unwrap();
        server.resume(NOW, &SessionSnapshot::stateless(Revision::V2025_11_25));
        let method = Method::from("example/ask");
        exact("a question", |out| {
            let question = Question { method, params };
            let asked = server.ask(NOW, None, question, AskOptions::default(), out);
            asked.map(|(_, sent)| sent)
        })
    });
    check("a notification", &mut |params| {
        let mut server = server(Limits::default());
        server.resume(NOW, &SessionSnapshot::stateless(Revision::V2025_11_25));
        let method = Method::from("notifications/notes");
        exact("a notification", |out| {
            server.notify(method, Some(params), out)
        })
    });
    check("a call", &mut |params| {
        let mut client = client(Limits::default());
        let call = Call {
            params: Some(params),
            ..Call::new(Method::ToolsList)
        };
        exact("a call", |out| {
            client.call(NOW, &call, out).map(|(_, sent)| sent)
        })
    });
}

/// The answers to as many calls as there are results.
fn answers<O: Store<u8>>(store: O, output: usize, results: &[&str]) -> Vec<String> {
    let limits = Limits {
        output,
        ..Limits::default()
    };
    let mut link = Link::new(server(limits), Vec::new(), store).unwrap();
    for id in 0..results.len() {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a",{META}}}}}"#
        );
        for byte in line.bytes().chain([b'\n']) {
            link.inbox.spare_mut().unwrap()[0] = byte;
            link.inbox.filled(1);
        }
    }
    let mut results = results.iter();
    let mut said = String::new();
    loop {
        let end = link.turn(NOW, |server, event, outbox| {
            let server::Event::Request { token, .. } = event else {
                return Verdict::Done;
            };
            let result = Raw::parse(results.as_slice()[0].as_bytes(), 16).unwrap();
            let outcome = Outcome::Result(&result);
            match outbox.put(|out| server.respond(token, outcome, out)) {
                Err(SendError::BufferFull { .. }) => Verdict::Retry,
                sent => {
                    let _ = sent.unwrap();
                    results.next();
                    Verdict::Done
                }
            }
        });
        said.push_str(core::str::from_utf8(link.outbox.pending()).unwrap());
        link.outbox.consume(link.outbox.pending().len());
        if end == TurnEnd::Empty {
            return said.lines().map(str::to_owned).collect();
        }
    }
}

/// An answer as long as the output may be arrives from every outbox, whatever it has to wait for.
#[test]
fn an_answer_that_fits_is_not_replaced() {
    let small = r#"{"content":[]}"#;
    let own = |text: &str| {
        format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}],"resultType":"complete","_meta":{{{INFO}}}}}"#
        )
    };
    let whole =
        |id: usize, result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    let spare = 899 - whole(0, &own("")).len();
    let longest = own(&"x".repeat(spare));
    for results in [[longest.as_str(), small], [small, &longest]] {
        let at = results
            .iter()
            .position(|result| *result == longest)
            .unwrap();
        let answer = whole(at, &longest);
        for said in [
            answers([0; 900], 100_000, &results),
            answers(Vec::new(), 900, &results),
        ] {
            assert_eq!(said.len(), 2, "{said:?}");
            assert_eq!(said[at], answer);
        }
    }
    let longer = own(&"x".repeat(spare + 1));
    for said in [
        answers([0; 900], 100_000, &[&longer]),
        answers(Vec::new(), 900, &[&longer]),
    ] {
        assert!(said[0].contains(r#""code":-32603"#), "{said:?}");
    }
}

/// A conversation whose outbox has no room for the answer of the core opens no session.
#[test]
fn an_answer_that_is_lost_is_followed_by_no_event() {
    for (pending, follows) in [(0, true), (900, false)] {
        let config = ServerConfig::new("demo", "1.0");
        let mut machine =
            Server::new(config, OverHttp::<server::Fixed<4, 2, 0, 64>>::default()).unwrap();
        let mut outbox = Outbox::new([0; 1024], &Limits::default());
        let filled = outbox.put(|_| Ok::<_, SendError>(Transmit::pipe(pending)));
        assert_eq!(filled.unwrap().len, pending);
        let mut conversation = Conversation {
            machine: &mut machine,
            outgoing: &mut AtOnce::default(),
            outbox: &mut outbox,
        };
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let post = Post {
            version: Version::Absent,
            session: None,
            method: None,
            name: None,
        };
        let source = Source::post(AtOnce::CHANNEL, &post);
        let initialize = Incoming::Message(Message::parse(line, 8));
        let event = conversation.handle(NOW, &source, initialize, |_| {});
        assert_eq!(matches!(event, Some(server::Event::Handshake(_))), follows);
        assert_eq!(machine.revision().is_some(), follows);
    }
}

/// A type without a size may write another value than `()`, and is that value then.
#[test]
fn a_type_without_a_size_that_writes_a_value_is_not_nothing() {
    struct Yes;
    impl serde::Serialize for Yes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bool(true)
        }
    }
    let (unit, yes): (&dyn Payload, &dyn Payload) = (&(), &Yes);
    for revision in Revision::ALL {
        assert!(
            unit.is_unit(revision) && !yes.is_unit(revision),
            "{revision}"
        );
    }
}
