//! Configurations that the types allow and that leave little room: what cannot be said is
//! replaced by an error that can, and the conversation continues.

use core::time::Duration;

use mcp_proto::client::{self, Client, ClientConfig, ConnectError};
use mcp_proto::json::Raw;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::{Incoming, Message, Method, Reason};
use mcp_proto::server::{self, Answer, AskOptions, Server, ServerConfig};
use mcp_proto::{
    Action, ConfigError, IgnoreReason, Inbox, Instant, Limits, Link, Machine, Outbox, Outcome,
    PingPolicy, PreparedConfig, Question, RevisionSet, SendError, Step, Store, TurnEnd, Verdict,
    link,
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;

type Pipe<M, O> = Link<M, Vec<u8>, O>;
type SmallServer = Server<'static, server::Fixed<4, 1, 256, 512, 256>>;

fn pipe<M: Machine, O: Store<u8>>(machine: M, outbox: O) -> Pipe<M, O> {
    Link::new(machine, Vec::new(), outbox).unwrap()
}

fn server(config: ServerConfig<'static>) -> SmallServer {
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::RESOURCES_SUBSCRIBE)
            .capabilities(),
        ..config
    };
    Server::new(config, server::Fixed).unwrap()
}

fn demo() -> ServerConfig<'static> {
    ServerConfig::new("demo", "1.0")
}

fn feed<M, O: Store<u8>>(pipe: &mut Pipe<M, O>, line: &str) {
    for byte in line.bytes().chain([b'\n']) {
        pipe.inbox.spare_mut().unwrap()[0] = byte;
        pipe.inbox.filled(1);
    }
}

/// Everything that waits for the peer, which takes it.
fn taken<M, O: Store<u8>>(pipe: &mut Pipe<M, O>) -> Vec<String> {
    let text = String::from_utf8(pipe.outbox.pending().to_vec()).unwrap();
    pipe.outbox.consume(text.len());
    text.lines().map(str::to_owned).collect()
}

/// Feeds one line and answers each request with `result`, until the machine is at rest and the
/// peer has read everything.
fn say<O: Store<u8>>(pipe: &mut Pipe<SmallServer, O>, line: &str, result: &str) -> Vec<String> {
    feed(pipe, line);
    let mut said = Vec::new();
    for _ in 0..8 {
        let rest = pipe.turn(Instant::ZERO, |server, event, outbox| {
            let server::Event::Request { token, .. } = event else {
                return Verdict::Done;
            };
            let result = Raw::parse(result.as_bytes(), 8).unwrap();
            let outcome = Outcome::Result(&result);
            match outbox.put(|out| server.respond(token, outcome, out)) {
                Err(SendError::BufferFull { .. }) => Verdict::Retry,
                other => {
                    assert!(other.is_ok(), "{other:?}");
                    Verdict::Done
                }
            }
        });
        let idle = pipe.outbox.is_empty();
        said.extend(taken(pipe));
        if rest == TurnEnd::Empty && idle {
            return said;
        }
    }
    panic!("no rest after {said:?}");
}

/// A result of about `len` bytes.
fn large(len: usize) -> String {
    format!(r#"{{"tools":[],"note":"{}"}}"#, "x".repeat(len))
}

#[test]
fn an_answer_that_a_fixed_outbox_can_never_hold_is_replaced_by_an_error() {
    let mut pipe = pipe(server(demo()), [0; 1100]);
    say(&mut pipe, INITIALIZE, "{}");
    let said = say(&mut pipe, LIST, &large(4000));
    assert_eq!(
        said,
        [
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"limit reached: bytes of output"}}"#
        ]
    );
    assert_eq!(say(&mut pipe, PING, "{}"), [PONG]);
    let small = say(&mut pipe, LIST, r#"{"tools":[]}"#);
    assert_eq!(small, [r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#]);
}

#[test]
fn an_answer_of_exactly_the_room_leaves_and_one_byte_more_is_an_error() {
    let around = r#"{"jsonrpc":"2.0","id":2,"result":}"#.len() + large(0).len() + 1;
    for (len, whole) in [(1100 - around, true), (1101 - around, false)] {
        let mut pipe = pipe(server(demo()), [0; 1100]);
        say(&mut pipe, INITIALIZE, "{}");
        let said = say(&mut pipe, LIST, &large(len));
        assert_eq!(said[0].contains("result"), whole, "{len}");
    }
}

/// A driver of its own may have less room than a link makes sure of.
#[test]
fn a_long_id_is_left_out_of_an_error_that_would_not_fit_with_it() {
    let mut pipe = pipe(server(demo()), Vec::new());
    say(&mut pipe, INITIALIZE, "{}");
    let list = LIST.replace("\"id\":2", &format!("\"id\":\"{}\"", "i".repeat(250)));
    feed(&mut pipe, &list);
    let mut token = None;
    let _ = pipe.turn(Instant::ZERO, |_, event, _| {
        token = token.or(SmallServer::request_of(&event));
        Verdict::Done
    });
    let mut server = pipe.machine;
    server.set_max_message(299);
    let result = large(4000);
    let result = Raw::parse(result.as_bytes(), 8).unwrap();
    let (outcome, mut out) = (Outcome::Result(&result), [0; 299]);
    let sent = server.respond(token.unwrap(), outcome, &mut out);
    assert_eq!(
        core::str::from_utf8(&out[..sent.unwrap().len]).unwrap(),
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"limit reached: bytes of output"}}"#
    );
}

#[test]
fn an_outbox_that_cannot_hold_every_answer_of_the_core_makes_no_link() {
    let verbose = ServerConfig {
        instructions: Some(Box::leak("long ".repeat(200).into_boxed_str())),
        ..demo()
    };
    for config in [demo(), verbose] {
        let mut server = server(config);
        let needed = server.reserve() + 1;
        let short = Err(ConfigError::OutputTooSmall { needed });
        for size in [0, 1, 40, 300, needed - 1] {
            let mut room = vec![0; size];
            let made = Link::new(&mut server, Vec::new(), room.as_mut_slice());
            assert_eq!(made.map(drop), short);
        }
        let mut room = vec![0; needed];
        let mut pipe = pipe(server, room.as_mut_slice());
        let said = say(&mut pipe, INITIALIZE, "{}");
        assert!(said[0].contains("serverInfo"), "{said:?}");
        let said = say(&mut pipe, LIST, &large(4000));
        assert!(said[0].contains("-32603"), "{said:?}");
        assert_eq!(say(&mut pipe, PING, "{}"), [PONG]);
    }
}

#[test]
fn an_outbox_without_check_that_holds_no_error_either_says_what_was_lost() {
    let limits = Limits::default();
    let mut server = server(demo());
    let mut inbox = Inbox::new([0; 512], &limits);
    let mut outbox = Outbox::new([0; 40], &limits);
    assert!(link::check(&server, &outbox).is_err());
    for line in [INITIALIZE, PING] {
        let line = format!("{line}\n");
        inbox.spare_mut().unwrap()[..line.len()].copy_from_slice(line.as_bytes());
        inbox.filled(line.len());
    }
    let step = link::step(&mut server, &mut inbox, &mut outbox, Instant::ZERO);
    assert!(
        matches!(step, Step::Ignored(IgnoreReason::NoRoom)),
        "{step:?}"
    );
    let step = link::step(&mut server, &mut inbox, &mut outbox, Instant::ZERO);
    assert!(matches!(step, Step::Done), "{step:?}");
    assert_eq!(outbox.pending().trim_ascii_end(), PONG.as_bytes());
}

#[test]
fn a_machine_with_less_output_than_one_answer_of_the_core_is_not_made() {
    let of = |output| {
        let limits = Limits {
            output,
            ..Limits::default()
        };
        let config = ServerConfig { limits, ..demo() };
        Server::new(
            config,
            server::Fixed::new()
                .questions::<1>()
                .batch::<256>()
                .uris::<512>()
                .ids::<256>(),
        )
    };
    let Err(ConfigError::OutputTooSmall { needed }) = of(0) else {
        panic!("an output of no bytes is too small");
    };
    let expected = ConfigError::OutputTooSmall { needed };
    assert_eq!(of(needed - 1).unwrap_err(), expected);
    let server = of(needed).unwrap();
    assert_eq!(server.reserve() + 1, needed);
    let mut pipe = pipe(server, Vec::new());
    let said = say(&mut pipe, INITIALIZE, "{}");
    assert!(said[0].contains("serverInfo"), "{said:?}");

    let mut config = ClientConfig::new("demo", "1.0");
    config.limits.output = 0;
    let failed = Client::new(config, client::Fixed::new().questions::<1>()).map(drop);
    let Err(ConfigError::OutputTooSmall { needed }) = failed else {
        panic!("an output of no bytes is too small");
    };
    assert_eq!(needed, Client::<client::Fixed<4, 1>>::MIN_OUTPUT);
    config.limits.output = needed;
    assert!(Client::new(config, client::Fixed::new().questions::<1>()).is_ok());
}

#[test]
fn a_blueprint_is_checked_once_or_makes_room() {
    let config = ServerConfig {
        limits: Limits {
            output: 1,
            ..Limits::default()
        },
        ..demo()
    };
    let prepared = PreparedConfig::from(config);
    let failed = prepared.check::<server::Growing>();
    let Err(ConfigError::OutputTooSmall { needed }) = failed else {
        panic!("an output of one byte is too small");
    };
    let server = Server::with_room(prepared, server::Growing);
    assert_eq!(server.config().limits.output, needed);
    assert_eq!(server.reserve() + 1, needed);
}

/// What an error repeats depends on the storage, and on no feature of the crate.
#[test]
fn the_storage_decides_how_long_an_id_an_error_repeats() {
    fn check<S: server::Storage>(storage: S, longest: usize) {
        let mut server = Server::new(demo(), storage).unwrap();
        for (len, repeated) in [(longest, true), (longest + 1, false)] {
            let id = "i".repeat(len);
            let line = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"x","method":"y"}}"#);
            let message = Incoming::Message(Message::parse(line.as_bytes(), 8));
            let Action::Reply(reply) =
                server.handle(Instant::ZERO, &mcp_proto::Pipe.into(), message)
            else {
                panic!("it is answered");
            };
            let mut out = vec![0; server.reserve()];
            let sent = server.reply(Instant::ZERO, reply, &mut out).unwrap();
            let said = String::from_utf8(out[..sent.len].to_vec()).unwrap();
            assert_eq!(said.contains(&id), repeated, "{said}");
        }
    }
    check(server::Fixed::new().questions::<1>(), 128);
    check(server::Fixed::new().questions::<1>().ids::<200>(), 200);
    check(server::Growing, 1024);
}

#[test]
fn a_subscription_whose_updates_would_never_fit_is_refused() {
    let mut pipe = pipe(server(demo()), [0; 2600]);
    say(&mut pipe, INITIALIZE, "{}");
    say(&mut pipe, INITIALIZED, "{}");
    let subscribe = |len| {
        let uri = "u".repeat(len);
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{{"uri":"x:{uri}"}}}}"#
        )
    };
    let said = say(&mut pipe, &subscribe(200), "{}");
    assert!(said[0].contains("limit reached: subscriptions"), "{said:?}");
    let said = say(&mut pipe, &subscribe(20), "{}");
    assert!(said[0].contains("result"), "{said:?}");
}

fn roots_client(name: &'static str) -> Client<'static, client::Fixed<4, 1>> {
    let config = ClientConfig {
        revisions: RevisionSet::legacy(),
        capabilities: ClientFeatures::ROOTS.capabilities(),
        ..ClientConfig::new(name, "1.0")
    };
    Client::new(config, client::Fixed::new().questions::<1>()).unwrap()
}

#[test]
fn a_client_replaces_an_answer_that_never_fits() {
    let mut pipe = pipe(roots_client("demo"), [0; 400]);
    pipe.machine.connect(Instant::ZERO).unwrap();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    ];
    let mut said = Vec::new();
    for line in lines {
        // What is due leaves first: the handshake is written before it is answered.
        for _ in 0..2 {
            let rest = pipe.turn(Instant::ZERO, |client, event, outbox| {
                let client::Event::Question { token, .. } = event else {
                    return Verdict::Done;
                };
                let roots = format!(r#"{{"roots":[{{"uri":"file:///{}"}}]}}"#, "r".repeat(4000));
                let roots = Raw::parse(roots.as_bytes(), 8).unwrap();
                let outcome = Outcome::Result(&roots);
                outbox.put(|out| client.respond(token, outcome, out)).into()
            });
            let (TurnEnd::Full | TurnEnd::Empty) = rest;
            said = taken(&mut pipe);
            if pipe.inbox.is_empty() {
                feed(&mut pipe, line);
            }
        }
    }
    assert_eq!(
        said,
        [r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the answer is too long"}}"#]
    );
}

#[test]
fn a_client_whose_first_message_never_fits_fails_at_once() {
    let name = "demo ".repeat(100).leak();
    let mut pipe = pipe(roots_client(name), [0; 400]);
    pipe.machine.connect(Instant::ZERO).unwrap();
    let step = pipe.step(Instant::ZERO);
    let Step::Event { event, .. } = step else {
        panic!("{step:?}");
    };
    assert!(matches!(
        event,
        client::Event::ConnectFailed(ConnectError::TooLarge)
    ));
    assert!(pipe.machine.is_closed());
}

#[test]
fn no_deadline_at_the_end_of_the_clock_is_due_for_ever() {
    let ping = Some(PingPolicy::default());
    let mut pipe = pipe(server(ServerConfig { ping, ..demo() }), Vec::new());
    let end = Instant::from_millis(u64::MAX);
    for line in [INITIALIZE, INITIALIZED] {
        feed(&mut pipe, line);
        for _ in 0..3 {
            let _ = pipe.step(end);
        }
    }
    let params = Raw::parse(b"{}", 1).unwrap();
    let question = Question {
        method: Method::RootsList,
        params: &params,
    };
    let options = AskOptions::default();
    let asked = pipe
        .outbox
        .put(|out| pipe.machine.ask(end, None, question, options, out));
    assert!(asked.is_ok());
    let mut server = pipe.machine;
    server.handle_timeout(end);
    assert_eq!(server.poll_timeout(), None);
    assert!(server.poll_event().is_none(), "the question waits");

    let mut client = Client::new(
        ClientConfig {
            ping,
            ..ClientConfig::new("demo", "1.0")
        },
        client::Fixed::new().questions::<1>(),
    )
    .unwrap();
    client.connect(end).unwrap();
    client.handle_timeout(end);
    assert_eq!(client.poll_timeout(), None);
    assert!(client.poll_event().is_none() && !client.is_closed());
}

#[test]
fn a_duration_without_end_is_no_deadline() {
    let mut client = Client::new(
        ClientConfig {
            revisions: RevisionSet::legacy(),
            timeouts: client::Timeouts {
                connect: Duration::MAX,
                ..client::Timeouts::default()
            },
            ..ClientConfig::new("demo", "1.0")
        },
        client::Fixed::new().questions::<1>(),
    )
    .unwrap();
    client.connect(Instant::ZERO).unwrap();
    assert_eq!(client.poll_timeout(), None);
}

/// A server that has asked for roots under the id 1.
fn asking() -> Pipe<SmallServer, Vec<u8>> {
    let mut pipe = pipe(server(demo()), Vec::new());
    say(&mut pipe, INITIALIZE, "{}");
    say(&mut pipe, INITIALIZED, "{}");
    let params = Raw::parse(b"{}", 1).unwrap();
    let question = Question {
        method: Method::RootsList,
        params: &params,
    };
    let options = AskOptions::default();
    let asked = pipe.outbox.put(|out| {
        pipe.machine
            .ask(Instant::ZERO, None, question, options, out)
    });
    assert!(asked.is_ok());
    assert!(taken(&mut pipe)[0].contains("\"id\":1"));
    pipe
}

#[test]
fn a_response_that_breaks_off_early_ends_its_question_and_is_not_answered() {
    for broken in [
        r#"{"jsonrpc":"2.0","id":1,"resu"#,
        r#"{"jsonrpc":"2.0","id":1"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"reslt":{}}"#,
    ] {
        let mut pipe = asking();
        feed(&mut pipe, broken);
        match pipe.step(Instant::ZERO) {
            Step::Event {
                event: server::Event::Answer { answer, .. },
                ..
            } => assert!(
                matches!(answer, Answer::Unusable(Reason::Json(_) | Reason::Members)),
                "{broken}"
            ),
            other => panic!("{broken}: {other:?}"),
        }
        assert!(pipe.outbox.is_empty(), "{broken}");
    }
}

#[test]
fn an_error_names_no_id_that_a_question_of_ours_had() {
    let mut pipe = asking();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    say(&mut pipe, answer, "{}");
    // The question is over, so nothing tells this response from a broken request.
    let said = say(&mut pipe, r#"{"jsonrpc":"2.0","id":1,"resu"#, "{}");
    assert_eq!(
        said,
        [r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"message is not valid JSON"}}"#]
    );
    // These ids were never ours.
    for id in ["2", "\"1\"", "\"a\""] {
        let broken = format!(r#"{{"jsonrpc":"2.0","id":{id},"meth"#);
        let said = say(&mut pipe, &broken, "{}");
        assert!(said[0].contains(&format!("\"id\":{id}")), "{said:?}");
    }
    // A method makes a request of it, whatever else is wrong.
    let said = say(&mut pipe, r#"{"id":1,"method":"ping"}"#, "{}");
    assert!(said[0].contains("\"id\":1"), "{said:?}");
}
