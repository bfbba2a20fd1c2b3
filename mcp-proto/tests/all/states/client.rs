//! A call and a question of a client.

use core::time::Duration;

use mcp_proto::client::{Call, Client, ClientConfig, Event, Growing, Round};
use mcp_proto::json::Raw;
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::{
    Action, Channel, Instant, Machine, Outcome, Pipe, Revision, RevisionSet, SendError, SentToken,
    Token, Transmit,
};

use super::{NOW, check, handle, moved, polled, sent};

/// A client that is connected to a server of this revision.
fn connected(revision: Revision) -> Client<'static, Growing> {
    let config = ClientConfig {
        capabilities: ClientFeatures::ROOTS.capabilities(),
        revisions: RevisionSet::of(&[revision]),
        ..ClientConfig::new("c", "1")
    };
    let mut client = Client::new(config, Growing).unwrap();
    client.connect(NOW).unwrap();
    let out = &mut [0; 1024];
    client.poll_transmit(NOW, Channel::PIPE, out).unwrap();
    let result = match revision.is_modern() {
        true => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#
        }
        false => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#
        }
    };
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    assert_eq!(handle(&mut client, &answer), "event `Connected`");
    polled(&mut client);
    client
}

/// A `tools/call` of 2026-07-28 in a state.
struct Called {
    client: Client<'static, Growing>,
    token: SentToken,
    /// The id of its last message.
    id: u64,
}

/// The timeout of the call, and its maximum duration.
const TIMEOUT: Duration = Duration::from_secs(1);
const MAX_DURATION: Duration = Duration::from_secs(10);

impl Called {
    fn in_state(state: &str) -> Self {
        let mut client = connected(Revision::V2026_07_28);
        let (token, _) = client.call(NOW, &Self::call(), &mut [0; 512]).unwrap();
        let mut called = Self {
            client,
            token,
            id: 2,
        };
        let before: &[&str] = match state {
            "Sent" => &[],
            "Input" => &["a result that asks a question"],
            "Pausing" => &["a result with a state only"],
            "Again" => &["a result with a state only", "the pause ends"],
            "Cancelled" => &["the application cancels it"],
            "Failed" => &["its timeout passes"],
            _ => &["its result"],
        };
        for row in before {
            called.take(row);
        }
        called
    }

    const fn call() -> Call<'static> {
        Call {
            params: Some(&Raw::EMPTY_OBJECT),
            timeout: Some(TIMEOUT),
            max_duration: Some(MAX_DURATION),
            progress: true,
            ..Call::new(Method::ToolsCall)
        }
    }

    fn take(&mut self, row: &str) -> String {
        match row {
            "its result" => self.answer(r#"{"resultType":"complete","content":[]}"#),
            "a result that asks a question" => self.answer(
                r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{}}}}"#,
            ),
            "a result with a state only" => {
                self.answer(r#"{"resultType":"input_required","requestState":"s"}"#)
            }
            "its progress" => {
                let id = self.id;
                handle(
                    &mut self.client,
                    &format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
                    ),
                )
            }
            "the application sends it again" => sent(&self.retry()),
            "the application cancels it" => {
                self.client.cancel(self.token);
                "taken".into()
            }
            "the pause ends" => {
                let pause = self.client.poll_timeout().unwrap();
                self.pass(pause)
            }
            "its timeout passes" => self.pass(NOW + TIMEOUT),
            "its maximum duration passes" => self.pass(NOW + MAX_DURATION),
            "the application polls what is due" => polled(&mut self.client),
            _ => {
                self.client.hang_up();
                "taken".into()
            }
        }
    }

    fn answer(&mut self, result: &str) -> String {
        let id = self.id;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        handle(&mut self.client, &answer)
    }

    fn retry(&mut self) -> Result<Transmit, SendError> {
        let out = &mut [0; 512];
        let round = Round::default();
        let sent = self
            .client
            .retry(NOW, self.token, &Self::call(), round, out);
        self.id += u64::from(sent.is_ok());
        sent
    }

    fn pass(&mut self, now: Instant) -> String {
        self.client.handle_timeout(now);
        "taken".into()
    }

    /// The state, which is found out by what the client does next.
    fn state(&mut self) -> &'static str {
        if self.client.awaits(self.id) {
            return "Sent";
        }
        if self.client.in_flight() == 0 {
            return "over";
        }
        let is_cancelled = self.client.next_channel().is_some();
        match (self.client.poll_event(), is_cancelled) {
            (Some(Event::Failed { .. }), _) => "Failed",
            (None, true) => "Cancelled",
            (Some(Event::Again { .. }), _) => "Again",
            _ if self.retry().is_ok() => "Input",
            _ => "Pausing",
        }
    }
}

#[test]
fn a_call() {
    let rows = [
        "its result",
        "a result that asks a question",
        "a result with a state only",
        "its progress",
        "the application sends it again",
        "the application cancels it",
        "its timeout passes",
        "its maximum duration passes",
        "the peer hangs up",
        "the application polls what is due",
    ];
    check(
        "An input",
        &[
            "Sent",
            "Input",
            "Pausing",
            "Again",
            "Cancelled",
            "Failed",
            "over",
        ],
        &rows,
        |state, row| {
            assert_eq!(Called::in_state(state).state(), state);
            let mut called = Called::in_state(state);
            let effect = called.take(row);
            let after = called.state();
            moved(effect, after != state, after)
        },
    );
}

/// A `roots/list` of a server of 2025-11-25 in a state.
struct Question {
    client: Client<'static, Growing>,
    token: Token,
}

const ROOTS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;

impl Question {
    fn in_state(state: &str) -> Self {
        let mut client = connected(Revision::V2025_11_25);
        let asked = Incoming::Message(Message::parse(ROOTS.as_bytes(), 8));
        let Action::Event(Event::Question { token, .. }) = client.handle(NOW, &Pipe, asked) else {
            panic!("it is a question");
        };
        let mut question = Self { client, token };
        match state {
            "Running" => {}
            "Refused" => drop(question.take("`$/cancelRequest`")),
            "Ended" => drop(question.take("the peer hangs up")),
            _ => drop(question.take("the application answers")),
        }
        question
    }

    fn take(&mut self, row: &str) -> String {
        match row {
            "the application answers" => {
                let outcome = Outcome::Result(&Raw::EMPTY_OBJECT);
                sent(&self.client.respond(self.token, outcome, &mut [0; 256]))
            }
            "`notifications/cancelled`" => handle(
                &mut self.client,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            ),
            "`$/cancelRequest`" => handle(
                &mut self.client,
                r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
            ),
            "a question with its id" => handle(&mut self.client, ROOTS),
            "the application polls what is due" => polled(&mut self.client),
            _ => {
                self.client.hang_up();
                "taken".into()
            }
        }
    }

    /// The state, which is found out by what the client does next.
    fn state(&mut self) -> &'static str {
        if self.client.next_channel().is_some() {
            return "Refused";
        }
        while let Some(event) = self.client.poll_event() {
            if matches!(event, Event::QuestionCancelled { .. }) {
                return "Ended";
            }
        }
        match self.take("the application answers").as_str() {
            "sent" => "Running",
            _ => "over",
        }
    }
}

#[test]
fn a_question() {
    let rows = [
        "the application answers",
        "`notifications/cancelled`",
        "`$/cancelRequest`",
        "a question with its id",
        "the peer hangs up",
        "the application polls what is due",
    ];
    check(
        "An input",
        &["Running", "Refused", "Ended", "over"],
        &rows,
        |state, row| {
            assert_eq!(Question::in_state(state).state(), state);
            let mut question = Question::in_state(state);
            let effect = question.take(row);
            // A question with the id of one that is over is another one.
            let is_other = (row, state) == ("a question with its id", "over");
            let after = question.state();
            moved(effect, after != state && !is_other, after)
        },
    );
}
