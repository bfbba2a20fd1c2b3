//! Configurations that the types allow and that leave little room: what cannot be said is
//! replaced by an error that can, and the conversation continues.

use core::time::Duration;

use mcp_proto::client::{self, Client, ClientConfig, ConnectError};
use mcp_proto::json::Raw;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::{Method, Reason};
use mcp_proto::server::{self, Answer, AskOptions, Server, ServerConfig};
use mcp_proto::{
    Inbox, Instant, Limits, Link, Machine, Outbox, Outcome, PingPolicy, Question, Rest,
    RevisionSet, SendError, Step, Store, Verdict, Why,
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;

type Pipe<O> = Link<Vec<u8>, O>;
type SmallServer = Server<'static, server::Fixed<256, 4, 1, 256, 512>>;

fn pipe<O: Store<u8>>(outbox: O, limits: &Limits) -> Pipe<O> {
    Link::new(Inbox::new(Vec::new(), limits), Outbox::new(outbox, limits))
}

fn server(config: ServerConfig<'static>) -> SmallServer {
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::RESOURCES_SUBSCRIBE)
            .capabilities(),
        ..config
    };
    Server::new(config, server::Fixed::new())
}

fn demo() -> ServerConfig<'static> {
    ServerConfig::new("demo", "1.0")
}

fn feed<O: Store<u8>>(pipe: &mut Pipe<O>, line: &str) {
    for byte in line.bytes().chain([b'\n']) {
        pipe.inbox.spare_mut().unwrap()[0] = byte;
        pipe.inbox.filled(1);
    }
}

/// Everything that waits for the peer, which takes it.
fn taken<O: Store<u8>>(pipe: &mut Pipe<O>) -> Vec<String> {
    let text = String::from_utf8(pipe.outbox.pending().to_vec()).unwrap();
    pipe.outbox.consume(text.len());
    text.lines().map(str::to_owned).collect()
}

/// Feeds one line and answers each request with `result`, until the machine is at rest and the
/// peer has read everything.
fn say<O: Store<u8>>(
    pipe: &mut Pipe<O>,
    server: &mut SmallServer,
    line: &str,
    result: &str,
) -> Vec<String> {
    feed(pipe, line);
    let mut said = Vec::new();
    for _ in 0..8 {
        let rest = pipe.turn(server, Instant::ZERO, |server, event, outbox| {
            let server::Event::Request { token, .. } = event else {
                return Verdict::Done;
            };
            let result = Raw::parse(result.as_bytes(), 8).unwrap();
            let outcome = Outcome::Result(&result);
            match outbox.put(|out| server.respond(Instant::ZERO, token, outcome, out)) {
                Err(SendError::BufferFull { .. }) => Verdict::Again,
                other => {
                    assert!(other.is_ok(), "{other:?}");
                    Verdict::Done
                }
            }
        });
        let idle = pipe.outbox.is_empty();
        said.extend(taken(pipe));
        if rest == Rest::Empty && idle {
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
    let limits = Limits::default();
    let mut pipe = pipe([0; 1100], &limits);
    let mut server = server(demo());
    say(&mut pipe, &mut server, INITIALIZE, "{}");
    let said = say(&mut pipe, &mut server, LIST, &large(4000));
    assert_eq!(
        said,
        [
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"limit reached: bytes of output"}}"#
        ]
    );
    assert_eq!(say(&mut pipe, &mut server, PING, "{}"), [PONG]);
    let small = say(&mut pipe, &mut server, LIST, r#"{"tools":[]}"#);
    assert_eq!(small, [r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#]);
}

#[test]
fn an_answer_of_exactly_the_room_leaves_and_one_byte_more_is_an_error() {
    let limits = Limits::default();
    let around = r#"{"jsonrpc":"2.0","id":2,"result":}"#.len() + large(0).len() + 1;
    for (len, whole) in [(1100 - around, true), (1101 - around, false)] {
        let mut pipe = pipe([0; 1100], &limits);
        let mut server = server(demo());
        say(&mut pipe, &mut server, INITIALIZE, "{}");
        let said = say(&mut pipe, &mut server, LIST, &large(len));
        assert_eq!(said[0].contains("result"), whole, "{len}");
    }
}

#[test]
fn a_long_id_is_left_out_of_an_error_that_would_not_fit_with_it() {
    let limits = Limits::default();
    let mut pipe = pipe([0; 300], &limits);
    let mut server = server(ServerConfig {
        instructions: None,
        ..demo()
    });
    say(&mut pipe, &mut server, INITIALIZE, "{}");
    let list = LIST.replace("\"id\":2", &format!("\"id\":\"{}\"", "i".repeat(250)));
    let said = say(&mut pipe, &mut server, &list, &large(4000));
    assert_eq!(
        said,
        [r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"limit reached: bytes of output"}}"#]
    );
    assert_eq!(say(&mut pipe, &mut server, PING, "{}"), [PONG]);
}

#[test]
fn a_session_whose_description_never_fits_is_refused_and_can_be_opened_no_further() {
    let limits = Limits::default();
    let mut pipe = pipe([0; 400], &limits);
    let mut server = server(ServerConfig {
        instructions: Some(Box::leak("long ".repeat(200).into_boxed_str())),
        ..demo()
    });
    feed(&mut pipe, INITIALIZE);
    let step = pipe.step(&mut server, Instant::ZERO);
    assert!(matches!(step, Step::Handled), "no handshake took place");
    assert_eq!(
        taken(&mut pipe),
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"limit reached: bytes of output"}}"#
        ]
    );
    assert_eq!(server.revision(), None);
    assert_eq!(say(&mut pipe, &mut server, PING, "{}"), [PONG]);
}

#[test]
fn an_outbox_that_holds_no_error_either_says_what_was_lost() {
    let limits = Limits::default();
    let mut pipe = pipe([0; 40], &limits);
    let mut server = server(demo());
    feed(&mut pipe, INITIALIZE);
    let step = pipe.step(&mut server, Instant::ZERO);
    assert!(matches!(step, Step::Ignored(Why::NoRoom)), "{step:?}");
    assert_eq!(say(&mut pipe, &mut server, PING, "{}"), [PONG]);
}

#[test]
fn less_output_than_one_answer_of_the_core_counts_as_that_much() {
    for output in [0, 1, 40, 200] {
        let limits = Limits {
            output,
            ..Limits::default()
        };
        let mut pipe = pipe(Vec::new(), &limits);
        let mut server = server(ServerConfig {
            limits,
            instructions: Some(Box::leak("long ".repeat(200).into_boxed_str())),
            ..demo()
        });
        let said = say(&mut pipe, &mut server, INITIALIZE, "{}");
        assert!(
            said.len() == 1 && said[0].contains("serverInfo"),
            "{said:?}"
        );
        assert_eq!(say(&mut pipe, &mut server, PING, "{}"), [PONG]);
        let said = say(&mut pipe, &mut server, LIST, &large(500));
        assert!(said[0].contains("result"), "{said:?}");
        let said = say(&mut pipe, &mut server, LIST, &large(9000));
        assert!(said[0].contains("-32603"), "{said:?}");
    }
}

#[test]
fn a_subscription_whose_updates_would_never_fit_is_refused() {
    let limits = Limits::default();
    let mut pipe = pipe([0; 2600], &limits);
    let mut server = server(demo());
    say(&mut pipe, &mut server, INITIALIZE, "{}");
    say(&mut pipe, &mut server, INITIALIZED, "{}");
    let subscribe = |len| {
        let uri = "u".repeat(len);
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{{"uri":"x:{uri}"}}}}"#
        )
    };
    let said = say(&mut pipe, &mut server, &subscribe(200), "{}");
    assert!(said[0].contains("limit reached: subscriptions"), "{said:?}");
    let said = say(&mut pipe, &mut server, &subscribe(20), "{}");
    assert!(said[0].contains("result"), "{said:?}");
}

fn roots_client() -> Client<'static, client::Fixed<4, 1>> {
    let config = ClientConfig {
        revisions: RevisionSet::legacy(),
        capabilities: ClientFeatures::ROOTS.capabilities(),
        ..ClientConfig::new("demo", "1.0")
    };
    Client::new(config, client::Fixed::<4, 1>)
}

#[test]
fn a_client_replaces_an_answer_that_never_fits() {
    let mut pipe = pipe([0; 400], &Limits::default());
    let mut client = roots_client();
    client.connect(Instant::ZERO).unwrap();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    ];
    let mut said = Vec::new();
    for line in lines {
        // What is due leaves first: the handshake is written before it is answered.
        for _ in 0..2 {
            let rest = pipe.turn(&mut client, Instant::ZERO, |client, event, outbox| {
                let client::Event::Question { token, .. } = event else {
                    return Verdict::Done;
                };
                let roots = format!(r#"{{"roots":[{{"uri":"file:///{}"}}]}}"#, "r".repeat(4000));
                let roots = Raw::parse(roots.as_bytes(), 8).unwrap();
                let outcome = Outcome::Result(&roots);
                match outbox.put(|out| client.respond(Instant::ZERO, token, outcome, out)) {
                    Err(SendError::BufferFull { .. }) => Verdict::Again,
                    _ => Verdict::Done,
                }
            });
            let (Rest::Full | Rest::Empty) = rest;
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
    let mut pipe = pipe([0; 64], &Limits::default());
    let mut client = roots_client();
    client.connect(Instant::ZERO).unwrap();
    let step = pipe.step(&mut client, Instant::ZERO);
    let Step::Event { event, .. } = step else {
        panic!("{step:?}");
    };
    assert!(matches!(
        event,
        client::Event::ConnectFailed(ConnectError::TooLarge)
    ));
    assert!(client.is_closed());
}

#[test]
fn no_deadline_at_the_end_of_the_clock_is_due_for_ever() {
    let ping = Some(PingPolicy::default());
    let limits = Limits::default();
    let mut pipe = pipe(Vec::new(), &limits);
    let mut server = server(ServerConfig { ping, ..demo() });
    let end = Instant::from_millis(u64::MAX);
    for line in [INITIALIZE, INITIALIZED] {
        feed(&mut pipe, line);
        for _ in 0..3 {
            let _ = pipe.step(&mut server, end);
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
        .put(|out| server.ask(end, None, question, options, out));
    assert!(asked.is_ok());
    server.handle_timeout(end);
    assert_eq!(server.poll_timeout(), None);
    assert!(server.poll_event().is_none(), "the question waits");

    let mut client = Client::new(
        ClientConfig {
            ping,
            ..ClientConfig::new("demo", "1.0")
        },
        client::Fixed::<4, 1>,
    );
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
                request: Duration::MAX,
                ..client::Timeouts::default()
            },
            ..ClientConfig::new("demo", "1.0")
        },
        client::Fixed::<4, 1>,
    );
    client.connect(Instant::ZERO).unwrap();
    assert_eq!(client.poll_timeout(), None);
}

/// A server that has asked for roots under the id 1.
fn asking() -> (Pipe<Vec<u8>>, SmallServer) {
    let mut pipe = pipe(Vec::new(), &Limits::default());
    let mut server = server(demo());
    say(&mut pipe, &mut server, INITIALIZE, "{}");
    say(&mut pipe, &mut server, INITIALIZED, "{}");
    let params = Raw::parse(b"{}", 1).unwrap();
    let question = Question {
        method: Method::RootsList,
        params: &params,
    };
    let options = AskOptions::default();
    let asked = pipe
        .outbox
        .put(|out| server.ask(Instant::ZERO, None, question, options, out));
    assert!(asked.is_ok());
    assert!(taken(&mut pipe)[0].contains("\"id\":1"));
    (pipe, server)
}

#[test]
fn a_response_that_breaks_off_early_ends_its_question_and_is_not_answered() {
    for broken in [
        r#"{"jsonrpc":"2.0","id":1,"resu"#,
        r#"{"jsonrpc":"2.0","id":1"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"reslt":{}}"#,
    ] {
        let (mut pipe, mut server) = asking();
        feed(&mut pipe, broken);
        match pipe.step(&mut server, Instant::ZERO) {
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
    let (mut pipe, mut server) = asking();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    say(&mut pipe, &mut server, answer, "{}");
    // The question is over, so nothing tells this response from a broken request.
    let said = say(
        &mut pipe,
        &mut server,
        r#"{"jsonrpc":"2.0","id":1,"resu"#,
        "{}",
    );
    assert_eq!(
        said,
        [r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"message is not valid JSON"}}"#]
    );
    // These ids were never ours.
    for id in ["2", "\"1\"", "\"a\""] {
        let broken = format!(r#"{{"jsonrpc":"2.0","id":{id},"meth"#);
        let said = say(&mut pipe, &mut server, &broken, "{}");
        assert!(said[0].contains(&format!("\"id\":{id}")), "{said:?}");
    }
    // A method makes a request of it, whatever else is wrong.
    let said = say(&mut pipe, &mut server, r#"{"id":1,"method":"ping"}"#, "{}");
    assert!(said[0].contains("\"id\":1"), "{said:?}");
}
