//! A whole conversation without one allocation: handshake, list, call, progress, a question,
//! a cancellation, in both eras. A global allocator counts. With the feature `alloc` a configuration that is prepared takes
//! one, which its machines share.

use allocation_counter::measure;
use mcp_proto::client::{self, Call, Client, ClientConfig, Round};
use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{
    CallToolResult, ClientFeatures, Content, ListToolsResult, ServerFeatures, Tool,
};
use mcp_proto::rpc::Method;
use mcp_proto::server::{self, AskOptions, ProgressReport, Server, ServerConfig};
use mcp_proto::{
    InputRequired, Instant, Link, Machine, Outbox, Outcome, PreparedConfig, Question, Revision,
    RevisionSet, SentToken, Token, Verdict,
};

use crate::script::messages::raw;

const SIZE: usize = 4096;
type Buffer = Outbox<[u8; SIZE]>;

#[test]
fn a_conversation_does_not_allocate() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut answers = 0;
        let counted = measure(|| answers = converse(revision));
        assert_eq!(answers, 3, "{revision}");
        let prepared = if cfg!(feature = "alloc") { 2 } else { 0 };
        assert_eq!(counted.count_total, prepared, "{revision}");
    }
}

#[test]
#[cfg(feature = "alloc")]
fn machines_share_a_configuration() {
    let prepared = PreparedConfig::from(ServerConfig::new("server", "1"));
    let counted = measure(|| {
        for in_flight in 1..4 {
            Server::with_in_flight(prepared.clone(), in_flight, server::Fixed::new());
        }
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_counter_counts() {
    assert_eq!(
        measure(|| drop(core::hint::black_box(Box::new(1)))).count_total,
        1
    );
}

/// Lists the tools, calls one that asks, gives one up, and returns how many calls were answered.
fn converse(revision: Revision) -> u32 {
    let now = Instant::from_millis(5);
    let config = ClientConfig {
        revisions: RevisionSet::of(&[revision]),
        capabilities: ClientFeatures::ELICITATION.capabilities(),
        ..ClientConfig::new("client", "1")
    };
    let client = Client::new(config, client::Fixed::new().questions::<2>()).unwrap();
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("server", "1")
    };
    let server = Server::new(config, server::Fixed::new().questions::<2>()).unwrap();
    let (mut near, mut far) = (link(client), link(server));
    let mut user = User::default();
    let mut asked = None;

    near.machine.connect(now).expect("it is new");
    loop {
        let _ = near.turn(now, |client, event, out| user.on(now, client, event, out));
        let _ = far.turn(now, |server, event, out| {
            serve(now, &mut asked, server, event, out)
        });
        let moved = carry(&mut near, &mut far) | carry(&mut far, &mut near);
        if !moved {
            return user.answers;
        }
    }
}

#[derive(Default)]
struct User {
    answers: u32,
}

impl User {
    fn on<S: client::Storage>(
        &mut self,
        now: Instant,
        client: &mut Client<'_, S>,
        event: client::Event<'_>,
        out: &mut Buffer,
    ) -> Verdict {
        match event {
            client::Event::Connected(_) => {
                call(now, client, Method::ToolsList, Raw::EMPTY_OBJECT, out);
            }
            client::Event::Answer { outcome, .. } => {
                assert!(outcome.is_ok());
                self.answers += 1;
                match self.answers {
                    1 => {
                        call(now, client, Method::ToolsCall, raw(ECHO), out);
                    }
                    2 => {
                        let given_up = call(now, client, Method::ToolsCall, raw(SLOW), out);
                        client.cancel(given_up);
                        call(now, client, Method::ToolsList, Raw::EMPTY_OBJECT, out);
                    }
                    _ => {}
                }
            }
            client::Event::Progress { .. } => {}
            client::Event::Question { token, .. } => {
                let answer = raw(ACCEPTED);
                let sent = out.put(|out| client.respond(token, Outcome::Result(&answer), out));
                assert!(sent.is_ok());
            }
            client::Event::Input { token, state, .. } => {
                let responses = raw(RESPONSES);
                let params = raw(ECHO);
                let call = Call {
                    params: Some(&params),
                    ..Call::new(Method::ToolsCall)
                };
                let round = Round {
                    responses: Some(&responses),
                    state,
                };
                assert!(
                    out.put(|out| client.retry(now, token, &call, round, out))
                        .is_ok()
                );
            }
            _ => unreachable!("nothing else happens"),
        }
        Verdict::Done
    }
}

fn serve<S: server::Storage>(
    now: Instant,
    asked: &mut Option<Token>,
    server: &mut Server<'_, S>,
    event: server::Event<'_>,
    out: &mut Buffer,
) -> Verdict {
    let sent = match event {
        server::Event::Request {
            token,
            method: Method::ToolsList,
            ..
        } => {
            let schema = raw(SCHEMA).object().unwrap_or_default();
            let tools = [Tool::new("echo", schema), Tool::new("slow", Object::EMPTY)];
            let result = ListToolsResult {
                tools: (&tools).into(),
                ..ListToolsResult::default()
            };
            out.put(|out| server.respond(token, Outcome::Result(&result), out))
                .is_ok()
        }
        server::Event::Request { context, .. }
            if context.subject.is_some_and(|name| name == "slow") =>
        {
            true
        }
        server::Event::Request { token, context, .. } => {
            let halfway = out.put(|out| server.progress(now, token, ProgressReport::new(0.5), out));
            assert_eq!(halfway.is_ok(), context.progress);
            let params = raw(QUESTION);
            let question = Question {
                method: Method::ElicitationCreate,
                params: &params,
            };
            if context.input_responses.is_some() {
                finish(token, server, out)
            } else if context.revision.has_input_required() {
                let input = InputRequired {
                    requests: &[("who", question)],
                    state: Some("state"),
                };
                out.put(|out| server.respond(token, Outcome::Input(input), out))
                    .is_ok()
            } else {
                *asked = Some(token);
                out.put(|out| server.ask(now, Some(token), question, AskOptions::default(), out))
                    .is_ok()
            }
        }
        server::Event::Answer { .. } => {
            asked.take().is_some_and(|token| finish(token, server, out))
        }
        _ => true,
    };
    assert!(sent);
    Verdict::Done
}

fn finish<S: server::Storage>(token: Token, server: &mut Server<'_, S>, out: &mut Buffer) -> bool {
    let content = [Content::text("caf\u{e9} \"\n")];
    let result = CallToolResult {
        content: (&content).into(),
        ..CallToolResult::default()
    };
    out.put(|out| server.respond(token, Outcome::Result(&result), out))
        .is_ok()
}

fn call<S: client::Storage>(
    now: Instant,
    client: &mut Client<'_, S>,
    method: Method<'_>,
    params: Raw<'_>,
    out: &mut Buffer,
) -> SentToken {
    let call = Call {
        params: Some(&params),
        progress: true,
        ..Call::new(method)
    };
    let Ok((token, _)) = out.put(|out| client.call(now, &call, out)) else {
        unreachable!("there is room for it")
    };
    token
}

fn link<M: Machine>(machine: M) -> Wire<M> {
    Link::new(machine, [0; SIZE], [0; SIZE]).unwrap()
}

type Wire<M> = Link<M, [u8; SIZE], [u8; SIZE]>;

/// Moves what one wrote to the other, in pieces of 7 bytes.
fn carry<M, N>(from: &mut Wire<M>, to: &mut Wire<N>) -> bool {
    let mut moved = false;
    for piece in from.outbox.pending().chunks(7) {
        let spare = to.inbox.spare_mut().expect("the other reads all it gets");
        spare[..piece.len()].copy_from_slice(piece);
        to.inbox.filled(piece.len());
        moved = true;
    }
    from.outbox.consume(from.outbox.pending().len());
    moved
}

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}}}"#;
const ECHO: &str = r#"{"name":"echo","arguments":{"text":"caf\u00e9"}}"#;
const SLOW: &str = r#"{"name":"slow"}"#;
const QUESTION: &str = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}"#;
const ACCEPTED: &str = r#"{"action":"accept","content":{}}"#;
const RESPONSES: &str = r#"{"who":{"action":"accept","content":{}}}"#;
