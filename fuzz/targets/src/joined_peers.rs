//! A client and a server of ours with a hostile middle between them.

use core::time::Duration;
use std::collections::VecDeque;

use arbitrary::{Arbitrary, Unstructured};
use mcp_proto::client::{self, Call, Client, ClientConfig, Failure, Round};
use mcp_proto::json::Raw;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::server::{self, AskOptions, ProgressReport, Server, ServerConfig};
use mcp_proto::{
    InputRequired, Instant, Limits, Link, Machine, Outcome, Payload, Question, Revision,
    RevisionSet, SendError, SentToken, Step, Token,
};

use crate::operations::{clock, take};

/// Between a client and a server lines are lost, doubled, swapped, changed and held up, and clocks move: every call has at most
/// one answer, which is that to its own question, and ends no later than its maximum duration. If the middle only held
/// lines up, every call that was neither cancelled nor too slow has exactly one answer.
///
/// The input is read as a byte, which chooses the revisions, and a list of `Operation`s.
pub fn joined_peers(input: &[u8]) {
    let Ok((setup, operations)) =
        <(u8, Vec<Operation>)>::arbitrary_take_rest(Unstructured::new(input))
    else {
        return;
    };
    let mut world = World::new(setup);
    world.settle();
    for operation in operations {
        world.apply(operation);
        world.work();
        world.check();
    }
    world.end();
}

/// One thing that happens. Small numbers choose among what there is; `to_server` chooses the direction.
#[derive(Debug, Arbitrary)]
enum Operation {
    Call { listen: bool, timeout: u16 },
    Cancel { which: u8 },
    Retry { which: u8 },
    AnswerQuestion { which: u8 },
    Respond { which: u8, how: u8 },
    Progress { which: u8 },
    Ask { which: u8 },
    EndListen { which: u8 },
    Deliver { to_server: bool, count: u8 },
    Settle,
    Lose { to_server: bool },
    Double { to_server: bool },
    Swap { to_server: bool },
    Change { to_server: bool, at: u8, bits: u8 },
    Wait(u16),
    HangUp,
}

/// The worst fault that the middle has made.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Fault {
    None,
    /// Lines were lost, doubled or swapped.
    Lossy,
    /// Bytes were changed.
    Corrupt,
}

/// A call as the client's application knows it; its number is its cookie.
struct CallState {
    token: SentToken,
    /// Before that, its time is not over.
    earliest: Instant,
    /// Then it is over, unless it is a subscription that runs.
    latest: Option<Instant>,
    is_listen: bool,
    is_over: bool,
}

/// A direction: lines that left, of which the first may have arrived in part.
type Wire = VecDeque<Vec<u8>>;

struct World {
    now: Instant,
    /// The latest time that there was.
    furthest: Instant,
    client: Link<Client<'static, client::Growing>, Vec<u8>, Vec<u8>>,
    server: Link<Server<'static, server::Growing>, Vec<u8>, Vec<u8>>,
    to_server: Wire,
    to_client: Wire,
    fault: Fault,
    calls: Vec<CallState>,
    /// Calls whose input is to be made, and the server's questions.
    inputs: Vec<u64>,
    questions: Vec<Token>,
    /// The requests that the server has, with the numbers of their calls.
    requests: Vec<(Token, Option<u64>)>,
    listens: Vec<Token>,
    has_settled: bool,
    is_cut: bool,
}

const IN_FLIGHT: usize = 5;
const BUFFER: usize = 3000;

impl World {
    fn new(setup: u8) -> Self {
        let revisions = [
            RevisionSet::of(&[Revision::V2025_11_25]),
            RevisionSet::of(&[Revision::V2026_07_28]),
            RevisionSet::of(&[Revision::V2025_03_26]),
            RevisionSet::all(),
        ];
        let limits = Limits {
            message: BUFFER,
            output: BUFFER,
            in_flight: IN_FLIGHT,
            ..Limits::default()
        };
        let config = ServerConfig {
            capabilities: ServerFeatures::TOOLS
                .with(ServerFeatures::TOOLS_LIST_CHANGED)
                .capabilities(),
            revisions: revisions[usize::from(setup / 4) % 4],
            limits,
            ..ServerConfig::new("s", "1")
        };
        let server = Server::new(config, server::Growing).expect("the output has room");
        let config = ClientConfig {
            capabilities: ClientFeatures::ROOTS.capabilities(),
            revisions: revisions[usize::from(setup) % 4],
            limits,
            ..ClientConfig::new("c", "1")
        };
        let mut client = Client::new(config, client::Growing).expect("the output has room");
        client.connect(Instant::ZERO).expect("it is the first time");
        let room = "the outbox has room";
        Self {
            now: Instant::ZERO,
            furthest: Instant::ZERO,
            client: Link::new(client, Vec::new(), Vec::new()).expect(room),
            server: Link::new(server, Vec::new(), Vec::new()).expect(room),
            to_server: Wire::new(),
            to_client: Wire::new(),
            fault: Fault::None,
            calls: Vec::new(),
            inputs: Vec::new(),
            questions: Vec::new(),
            requests: Vec::new(),
            listens: Vec::new(),
            has_settled: true,
            is_cut: false,
        }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Call { listen, timeout } => self.call(listen, timeout),
            Operation::Cancel { which } => {
                if let Some(at) = usize::from(which).checked_rem(self.calls.len()) {
                    self.client.machine.cancel(self.calls[at].token);
                    self.calls[at].is_over = true;
                }
            }
            Operation::Retry { which } => self.retry(which),
            Operation::AnswerQuestion { which } => self.answer_question(which),
            Operation::Respond { which, how } => self.respond(which, how),
            Operation::Progress { which } => {
                let Some(at) = usize::from(which).checked_rem(self.requests.len()) else {
                    return;
                };
                let (token, now) = (self.requests[at].0, self.now);
                let report = ProgressReport::new(now.as_millis() as f64 + 1.0);
                let server = &mut self.server.machine;
                let put = |out: &mut [u8]| server.progress(now, token, report, out);
                let _ = self.server.outbox.put(put);
            }
            Operation::Ask { which } => {
                let Some(at) = usize::from(which).checked_rem(self.requests.len()) else {
                    return;
                };
                let (parent, now) = (Some(self.requests[at].0), self.now);
                let question = Question {
                    method: Method::RootsList,
                    params: &Raw::EMPTY_OBJECT,
                };
                let server = &mut self.server.machine;
                let options = AskOptions::default();
                let put = |out: &mut [u8]| server.ask(now, parent, question, options, out);
                let _ = self.server.outbox.put(put);
            }
            Operation::EndListen { which } => {
                if let Some(token) = take(&mut self.listens, which) {
                    self.server.machine.end_listen(token);
                }
            }
            Operation::Deliver { to_server, count } => {
                self.deliver(to_server, count.into());
            }
            Operation::Settle => self.settle(),
            Operation::Lose { to_server } => {
                if self.wire(to_server).pop_front().is_some() {
                    self.note_fault(Fault::Lossy);
                }
            }
            Operation::Double { to_server } => {
                let wire = self.wire(to_server);
                if let Some(line) = wire.back().cloned() {
                    wire.push_back(line);
                    self.note_fault(Fault::Lossy);
                }
            }
            Operation::Swap { to_server } => {
                let wire = self.wire(to_server);
                if wire.len() > 1 {
                    wire.swap(0, 1);
                    self.note_fault(Fault::Lossy);
                }
            }
            Operation::Change {
                to_server,
                at,
                bits,
            } => {
                let line = self.wire(to_server).front_mut();
                let byte = line.and_then(|line| line.get_mut(usize::from(at)));
                if let Some(byte) = byte {
                    *byte ^= bits;
                    self.note_fault(Fault::Corrupt);
                }
            }
            Operation::Wait(by) => {
                self.now = clock(self.now, by);
                self.furthest = self.furthest.max(self.now);
            }
            Operation::HangUp => self.hang_up(),
        }
    }

    fn wire(&mut self, to_server: bool) -> &mut Wire {
        match to_server {
            true => &mut self.to_server,
            false => &mut self.to_client,
        }
    }

    fn note_fault(&mut self, fault: Fault) {
        if self.fault < fault {
            self.fault = fault;
        }
    }

    fn hang_up(&mut self) {
        self.is_cut = true;
        self.client.machine.hang_up();
        self.server.machine.hang_up();
    }

    fn call(&mut self, is_listen: bool, timeout: u16) {
        let number = self.calls.len() as u64;
        let timeout = Duration::from_millis(timeout.into());
        let longest = timeout * 3;
        let now = self.now;
        let text = params(number, is_listen);
        let params = Raw::parse(text.as_bytes(), 8).expect("it is JSON");
        let call = Call {
            params: Some(&params),
            timeout: Some(timeout),
            max_duration: Some(longest),
            progress: !number.is_multiple_of(3),
            cookie: number,
            ..Call::new(method(is_listen))
        };
        let client = &mut self.client.machine;
        match self.client.outbox.put(|out| client.call(now, &call, out)) {
            Ok((token, _)) => self.calls.push(CallState {
                token,
                earliest: now + timeout,
                latest: Some(now + longest),
                is_listen,
                is_over: false,
            }),
            Err(SendError::Encode | SendError::Stale) => panic!("it was a call"),
            Err(_) => {}
        }
    }

    fn retry(&mut self, which: u8) {
        let Some(number) = take(&mut self.inputs, which) else {
            return;
        };
        let known = &mut self.calls[number as usize];
        let text = params(number, known.is_listen);
        let params = Raw::parse(text.as_bytes(), 8).expect("it is JSON");
        let timeout = Duration::from_millis(900);
        let call = Call {
            params: Some(&params),
            timeout: Some(timeout),
            ..Call::new(method(known.is_listen))
        };
        let answers: &dyn Payload = &Raw::EMPTY_OBJECT;
        let round = Round {
            responses: Some(answers),
            state: None,
        };
        let (client, now, token) = (&mut self.client.machine, self.now, known.token);
        let put = |out: &mut [u8]| client.retry(now, token, &call, round, out);
        match self.client.outbox.put(put) {
            Ok(_) => known.earliest = known.earliest.min(now + timeout),
            Err(SendError::BufferFull { .. } | SendError::NotReady) => self.inputs.push(number),
            Err(SendError::Stale | SendError::Closed) => {}
            Err(error) => panic!("{error:?}"),
        }
    }

    fn answer_question(&mut self, which: u8) {
        let Some(token) = take(&mut self.questions, which) else {
            return;
        };
        let client = &mut self.client.machine;
        let result = Outcome::Result(&Raw::EMPTY_OBJECT);
        match self
            .client
            .outbox
            .put(|out| client.respond(token, result, out))
        {
            Ok(_) | Err(SendError::Stale | SendError::Closed) => {}
            Err(SendError::BufferFull { .. }) => self.questions.push(token),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn respond(&mut self, which: u8, how: u8) {
        let Some((token, number)) = take(&mut self.requests, which) else {
            return;
        };
        let text = format!(r#"{{"content":[],"n":{}}}"#, number.unwrap_or(u64::MAX));
        let result = Raw::parse(text.as_bytes(), 8).expect("it is JSON");
        let question = Question {
            method: Method::RootsList,
            params: &Raw::EMPTY_OBJECT,
        };
        let input = InputRequired {
            requests: &[("a", question)],
            state: Some("s"),
        };
        let outcome = match how % 4 {
            0 => Outcome::Error(ErrorObject::new(-32603, "no")),
            1 => Outcome::Input(input),
            _ => Outcome::Result(&result),
        };
        let server = &mut self.server.machine;
        let put = |out: &mut [u8]| server.respond(token, outcome, out);
        match self.server.outbox.put(put) {
            Ok(_) | Err(SendError::Stale | SendError::Closed) => {}
            // Not in its revision, or not of a client with that capability.
            Err(_) => self.requests.push((token, number)),
        }
    }

    /// Moves what was written to the wire, and so many bytes from the wire to the other side.
    fn deliver(&mut self, to_server: bool, count: usize) -> bool {
        let (outbox, wire, inbox) = match to_server {
            true => (
                &mut self.client.outbox,
                &mut self.to_server,
                &mut self.server.inbox,
            ),
            false => (
                &mut self.server.outbox,
                &mut self.to_client,
                &mut self.client.inbox,
            ),
        };
        let pending = outbox.pending();
        let taken = pending.len();
        wire.extend(
            pending
                .split_inclusive(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec),
        );
        outbox.consume(taken);
        if self.is_cut {
            wire.clear();
        }
        let Some(line) = wire.front_mut() else {
            return taken > 0;
        };
        let Some(spare) = inbox.spare_mut() else {
            return taken > 0;
        };
        let count = count.min(line.len()).min(spare.len());
        spare[..count].copy_from_slice(&line[..count]);
        inbox.filled(count);
        line.drain(..count);
        if line.is_empty() {
            wire.pop_front();
        }
        true
    }

    /// Everything arrives.
    fn settle(&mut self) {
        // A conversation that does not settle is a machine that spins.
        for _ in 0..1000 {
            let to_server = self.deliver(true, usize::MAX);
            let to_client = self.deliver(false, usize::MAX);
            self.work();
            if !to_server && !to_client {
                return;
            }
        }
        panic!("the conversation does not settle");
    }

    /// Everything that both can do without reading or waiting.
    fn work(&mut self) {
        let is_empty = self.client_works();
        self.has_settled = self.server_works() && is_empty;
    }

    fn client_works(&mut self) -> bool {
        loop {
            let event = match self.client.step(self.now) {
                Step::Event { event, .. } => event,
                Step::Done | Step::Ignored(_) => continue,
                Step::Full => return false,
                Step::Empty => return true,
            };
            let (cookie, ends) = match event {
                client::Event::Answer {
                    cookie, outcome, ..
                } => {
                    let number = outcome
                        .ok()
                        .and_then(|it| it.object()?.get("n")?.number()?.to_i64());
                    let is_own = number.is_none_or(|number| number == cookie as i64);
                    assert!(is_own || self.fault == Fault::Corrupt, "another's answer");
                    (cookie, true)
                }
                client::Event::Failed {
                    cookie, failure, ..
                } => {
                    if self.fault == Fault::None && !self.is_cut {
                        let is_slow = self.calls[cookie as usize].earliest <= self.furthest;
                        assert!(
                            failure == Failure::Rounds || failure == Failure::Timeout && is_slow,
                            "{failure:?}"
                        );
                    }
                    (cookie, true)
                }
                client::Event::Input { cookie, .. } | client::Event::Again { cookie, .. } => {
                    self.inputs.push(cookie);
                    (cookie, false)
                }
                client::Event::Listening { cookie, .. } => {
                    self.calls[cookie as usize].latest = None;
                    (cookie, false)
                }
                client::Event::Progress { cookie, .. } => (cookie, false),
                client::Event::Question { token, .. } => {
                    self.questions.push(token);
                    continue;
                }
                _ => continue,
            };
            let known = &mut self.calls[cookie as usize];
            assert!(!known.is_over, "an event of a call that is over");
            known.is_over = ends;
        }
    }

    fn server_works(&mut self) -> bool {
        loop {
            match self.server.step(self.now) {
                Step::Event {
                    event: server::Event::Request { token, params, .. },
                    ..
                } => {
                    let number = params.get("arguments").and_then(Raw::object);
                    let number = number.and_then(|given| given.get("n")?.number()?.to_i64());
                    self.requests
                        .push((token, number.map(|number| number as u64)));
                }
                Step::Event {
                    event: server::Event::Listening { token, .. },
                    ..
                } => self.listens.push(token),
                Step::Event {
                    event: server::Event::Cancelled { token, .. },
                    ..
                } => {
                    self.requests.retain(|(request, _)| *request != token);
                    self.listens.retain(|listen| *listen != token);
                }
                Step::Event { .. } | Step::Done | Step::Ignored(_) => {}
                Step::Full => return false,
                Step::Empty => return true,
            }
        }
    }

    fn check(&self) {
        assert!(self.client.machine.in_flight() <= IN_FLIGHT);
        assert!(self.server.machine.in_flight() <= IN_FLIGHT);
        if !self.has_settled {
            return;
        }
        for known in self.calls.iter().filter(|known| !known.is_over) {
            let is_late = known
                .latest
                .is_some_and(|at| at <= self.now && at < Instant::MAX);
            assert!(!is_late, "a call that never ends");
        }
    }

    /// All that waits is answered; if not everything was faithful, time passes.
    fn end(mut self) {
        for _ in 0..100 {
            self.settle();
            let open = self.requests.len() + self.inputs.len() + self.questions.len();
            if open == 0 {
                break;
            }
            self.retry(0);
            self.answer_question(0);
            self.respond(0, 2);
            while let Some(token) = self.listens.pop() {
                self.server.machine.end_listen(token);
            }
        }
        self.settle();
        if self.fault == Fault::None && !self.is_cut {
            let is_open = |known: &CallState| !known.is_over && !known.is_listen;
            assert!(!self.calls.iter().any(is_open), "an answer is missing");
            assert_eq!(self.server.machine.in_flight(), 0);
        }
        // No clock is at its end.
        if self.furthest < Instant::from_millis(1 << 62) {
            self.now = self.furthest + Duration::from_secs(3600);
            self.furthest = self.now;
            self.settle();
            let is_open = |known: &CallState| !known.is_over && known.latest.is_some();
            assert!(!self.calls.iter().any(is_open), "a call that never ends");
        }
        self.hang_up();
        self.settle();
        assert!(self.calls.iter().all(|known| known.is_over));
        assert_eq!(self.client.machine.in_flight(), 0);
        assert_eq!(self.server.machine.in_flight(), 0);
    }
}

fn method(is_listen: bool) -> Method<'static> {
    match is_listen {
        true => Method::SubscriptionsListen,
        false => Method::ToolsCall,
    }
}

fn params(number: u64, is_listen: bool) -> String {
    match is_listen {
        true => r#"{"notifications":{"toolsListChanged":true}}"#.to_owned(),
        false => format!(r#"{{"name":"t","arguments":{{"n":{number}}}}}"#),
    }
}
