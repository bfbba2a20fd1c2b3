//! The tables of `docs/states.md`, made by machines in each state.

mod client;

use core::fmt::Debug;

use mcp_proto::http::Endpoint;
use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{ExchangeId, HttpOptions, HttpServer, HttpStep, ServerId};
use mcp_proto::server::{
    AskOptions, Event, Growing, ProgressReport, Server, ServerConfig, SessionSnapshot,
};
use mcp_proto::{
    Action, Instant, Machine, Outcome, Pipe, Question, Revision, SendError, Source, Token, Transmit,
};

use crate::http::Sent;

const PAGE: &str = include_str!("../../../docs/states.md");
const NOW: Instant = Instant::ZERO;

/// Compares a table with that of the page: `cell` names the effect of the row in the state of the column.
#[track_caller]
fn check(corner: &str, columns: &[&str], rows: &[&str], cell: impl Fn(&str, &str) -> String) {
    let mut table = format!("| {corner} | {} |\n", columns.join(" | "));
    table += &format!("|---|{}\n", "---|".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> = columns.iter().map(|column| cell(column, row)).collect();
        table += &format!("| {row} | {} |\n", cells.join(" | "));
    }
    let page = format!("{PAGE}\n");
    assert!(
        page.contains(&format!("\n\n{table}\n")),
        "docs/states.md lacks\n\n{table}"
    );
}

fn config() -> ServerConfig<'static> {
    let capabilities = ServerFeatures::TOOLS.capabilities();
    ServerConfig {
        capabilities,
        ..ServerConfig::new("s", "1")
    }
}

/// Lets a machine handle a message.
fn handle<M: Machine>(machine: &mut M, text: &str) -> String
where
    for<'b> M::Event<'b>: Debug,
{
    let message = Incoming::Message(Message::parse(text.as_bytes(), 8));
    match machine.handle(NOW, &Pipe.into(), message) {
        Action::Event(event) => format!("event `{}`", name(&event)),
        Action::Reply(reply) => {
            let out = &mut [0; 1024];
            let sent = machine.reply(NOW, reply, out).unwrap();
            written(&out[..sent.len])
        }
        Action::Done => "taken".into(),
        Action::Ignore(why) => format!("ignored, `{why:?}`"),
    }
}

/// Takes all messages and events that are due.
fn polled<M: Machine>(machine: &mut M) -> String
where
    for<'b> M::Event<'b>: Debug,
{
    let mut due = Vec::new();
    while let Some(channel) = machine.next_channel() {
        let out = &mut [0; 1024];
        let Some(sent) = machine.poll_transmit(NOW, channel, out).unwrap() else {
            break;
        };
        due.push(written(&out[..sent.len]));
    }
    while let Some(event) = machine.poll_event() {
        due.push(format!("event `{}`", name(&event)));
    }
    match due.is_empty() {
        true => "nothing".into(),
        false => due.join(", "),
    }
}

/// The name of a variant.
fn name(event: &impl Debug) -> String {
    let text = format!("{event:?}");
    let end = text.find(|c: char| !c.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

/// A message of the core.
fn written(bytes: &[u8]) -> String {
    match Message::parse(bytes.trim_ascii(), 8) {
        Message::Response(response) => match response.outcome {
            Ok(_) => "result".into(),
            Err(error) => format!("error {}", error.code),
        },
        Message::Request(request) => format!("`{}`", request.method.name()),
        Message::Notification(notification) => format!("`{}`", notification.method.name()),
        Message::Invalid(invalid) => panic!("{invalid:?}"),
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;

fn session(state: &str) -> Server<'static, Growing> {
    let mut server = Server::new(config(), Growing).unwrap();
    let before: &[&str] = match state {
        "Fresh" => &[],
        "Answered" => &[INITIALIZE],
        _ => &[INITIALIZE, INITIALIZED],
    };
    for text in before {
        handle(&mut server, text);
    }
    server
}

/// The state of a session as the application sees it: its revision, and whether it may ask.
fn state_of(server: &mut Server<'static, Growing>) -> &'static str {
    if server.revision().is_none() {
        return "Fresh";
    }
    let question = Question {
        method: Method::RootsList,
        params: &Raw::EMPTY_OBJECT,
    };
    match server.ask(NOW, None, question, AskOptions::default(), &mut [0; 256]) {
        Ok(_) => "Ready",
        Err(SendError::NotReady) => "Answered",
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_legacy_session() {
    let rows = [
        "`initialize`",
        "`notifications/initialized`",
        "`ping`",
        "`tools/list`",
        "`prompts/list`, not declared",
        "`tools/list` of 2026-07-28",
        "an unknown method",
        "an unknown notification",
        "an answer to no question",
        "text that is no JSON",
    ];
    check(
        "A message",
        &["Fresh", "Answered", "Ready"],
        &rows,
        |state, row| {
            let modern =
                format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{META}}}}}"#);
            let text = match row {
                "`initialize`" => INITIALIZE,
                "`notifications/initialized`" => INITIALIZED,
                "`ping`" => r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
                "`tools/list`" => r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
                "`tools/list` of 2026-07-28" => &modern,
                "an unknown method" => r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#,
                "an unknown notification" => r#"{"jsonrpc":"2.0","method":"x"}"#,
                "an answer to no question" => r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
                "text that is no JSON" => "{",
                _ => r#"{"jsonrpc":"2.0","id":2,"method":"prompts/list"}"#,
            };
            let mut server = session(state);
            let effect = handle(&mut server, text);
            let after = state_of(&mut server);
            moved(effect, after != state, after)
        },
    );
}

fn moved(effect: String, has_moved: bool, state: &str) -> String {
    match has_moved {
        true => format!("{effect} → {state}"),
        false => effect,
    }
}

/// A request in a state, on a pipe of 2025-11-25.
struct Request {
    server: Server<'static, Growing>,
    token: Token,
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":1}}}"#;

impl Request {
    fn in_state(state: &str) -> Self {
        let snapshot = SessionSnapshot::stateless(Revision::V2025_11_25);
        let mut server = Server::new(config(), Growing).unwrap();
        server.resume(NOW, &snapshot);
        let call = Incoming::Message(Message::parse(CALL.as_bytes(), 8));
        let Action::Event(Event::Request { token, .. }) = server.handle(NOW, &Source::PIPE, call)
        else {
            panic!("it is a request");
        };
        let mut request = Self { server, token };
        match state {
            "Running" => {}
            "Refused" => drop(request.take("`$/cancelRequest`")),
            "Ended" => drop(request.take("the peer hangs up")),
            _ => drop(request.take("the handler answers")),
        }
        request
    }

    fn take(&mut self, row: &str) -> String {
        let out = &mut [0; 256];
        match row {
            "the handler answers" => {
                let outcome = Outcome::Result(&Raw::EMPTY_OBJECT);
                sent(&self.server.respond(self.token, outcome, out))
            }
            "the handler reports progress" => {
                let progress = ProgressReport::new(0.5);
                sent(&self.server.progress(NOW, self.token, progress, out))
            }
            "`notifications/cancelled`" => handle(
                &mut self.server,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            ),
            "`$/cancelRequest`" => handle(
                &mut self.server,
                r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
            ),
            "a request with its id" => handle(&mut self.server, CALL),
            "the application polls what is due" => polled(&mut self.server),
            _ => {
                self.server.hang_up();
                "taken".into()
            }
        }
    }

    fn state(&mut self) -> &'static str {
        if self.server.is_live(self.token) {
            "Running"
        } else if self.server.next_channel().is_some() {
            "Refused"
        } else if self.server.in_flight() > 0 {
            "Ended"
        } else {
            "over"
        }
    }
}

fn sent(result: &Result<Transmit, SendError>) -> String {
    match result {
        Ok(_) => "sent".into(),
        Err(error) => format!("`{}`", name(error)),
    }
}

#[test]
fn a_request() {
    let rows = [
        "the handler reports progress",
        "the handler answers",
        "`notifications/cancelled`",
        "`$/cancelRequest`",
        "a request with its id",
        "the peer hangs up",
        "the application polls what is due",
    ];
    check(
        "An input",
        &["Running", "Refused", "Ended", "over"],
        &rows,
        |state, row| {
            let mut request = Request::in_state(state);
            assert_eq!(request.state(), state);
            let effect = request.take(row);
            // A request with the id of one that is over is another one.
            let after = request.state();
            moved(
                effect,
                after != state && (row, state) != ("a request with its id", "over"),
                after,
            )
        },
    );
}

/// An exchange of the core's HTTP server, with a call of 2026-07-28.
struct Exchange {
    server: HttpServer<'static>,
    id: ExchangeId,
    now: Instant,
    /// The value of the last progress.
    progress: f64,
    call: Option<(ServerId, Token)>,
    /// The status and the form of the response, once it is decided.
    response: Option<String>,
}

impl Exchange {
    fn in_state(state: &str) -> Self {
        let options = HttpOptions::default();
        let mut server = HttpServer::new(Endpoint::default(), config(), options).unwrap();
        let head = Sent::post(&[
            "content-length: 500",
            "mcp-protocol-version: 2026-07-28",
            "mcp-method: tools/call",
            "mcp-name: t",
        ]);
        let id = server.open(NOW, &head, None);
        let mut exchange = Self {
            server,
            id,
            now: NOW,
            progress: 0.0,
            call: None,
            response: None,
        };
        let before: &[&str] = match state {
            "Receiving" => &[],
            "Posted" => &["the body ends"],
            "Events" => &["the body ends", "the handler reports progress"],
            _ => &["the body ends", "the handler answers"],
        };
        for row in before {
            exchange.take(row);
        }
        exchange
    }

    fn take(&mut self, row: &str) -> String {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{{}},{META}}}}}"#
        );
        match row {
            "the body ends" => self.end_body(&call),
            "the body ends, and is no JSON" => self.end_body("{"),
            "the client hangs up" => self.server.hang_up(self.now, self.id),
            "the body timeout, and the shorter time of keep-alive, pass" => {
                self.now = NOW + HttpOptions::default().body_timeout;
            }
            row => {
                let Some((machine, token)) = self.call else {
                    return "–".into();
                };
                let Some(mut commands) = self.server.commands(machine) else {
                    return "–".into();
                };
                self.progress += 0.5;
                let result = match row {
                    "the handler answers" => {
                        let outcome = Outcome::Result(&Raw::EMPTY_OBJECT);
                        commands.respond(self.now, token, outcome).err()
                    }
                    _ => {
                        let now = self.now;
                        let half = ProgressReport::new(self.progress);
                        let put = commands.put(
                            &mut |server: &mut Server<'_, Growing>, out: &mut [u8]| {
                                server.progress(now, token, half, out)
                            },
                        );
                        put.err()
                    }
                };
                if let Some(error) = result {
                    return format!("`{}`", name(&error));
                }
            }
        }
        self.seen()
    }

    fn end_body(&mut self, text: &str) {
        self.server.body(self.id, text.as_bytes());
        let Some(body) = self.server.end_body(self.now, self.id, || "s".into()) else {
            return;
        };
        for message in body.messages() {
            if let Action::Event(Event::Request { token, .. }) =
                self.server.receive(self.now, &body, message)
            {
                self.call = Some((body.machine(), token));
            }
        }
        self.server.finish(self.now, body);
    }

    /// What the driver is given to do.
    fn seen(&mut self) -> String {
        let mut seen = Vec::new();
        loop {
            match self.server.step(self.now) {
                HttpStep::Event { event, .. } => seen.push(format!("event `{}`", name(&event))),
                HttpStep::Ready(_) => {
                    if let Some(head) = self.server.response(self.id) {
                        let form = match head.length {
                            Some(_) => "a body",
                            None => "events",
                        };
                        seen.push(format!("{}, {form}", head.status));
                        self.response = seen.last().cloned();
                    } else if self.response.as_deref() == Some("200, events") {
                        let read = self.server.read(self.now, self.id, &mut Vec::new(), 4096);
                        seen.push(match read {
                            StreamRead::End => "the last event".into(),
                            _ => "more to read".into(),
                        });
                    }
                }
                HttpStep::Idle => break,
            }
        }
        match seen.is_empty() {
            true => "nothing".into(),
            false => seen.join(", "),
        }
    }
}

#[test]
fn an_exchange() {
    let rows = [
        "the body ends",
        "the body ends, and is no JSON",
        "the body timeout, and the shorter time of keep-alive, pass",
        "the handler reports progress",
        "the handler answers",
        "the client hangs up",
    ];
    check(
        "An input",
        &["Receiving", "Posted", "Events", "Whole"],
        &rows,
        |state, row| Exchange::in_state(state).take(row),
    );
}
