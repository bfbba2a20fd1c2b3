//! A client and a server between which few things happen, in every order in which they can.
//!
//! A state is reached by the actions that lead to it. Machines are deterministic, so what each has taken in is its state; states
//! that were reached before are known by the hash of that and of the lines that are on the way.

use core::hash::{Hash, Hasher};
use core::time::Duration;
use std::collections::{HashSet, VecDeque};
use std::hash::DefaultHasher;

use mcp_proto::client::{self, Call, Client, Failure, Round};
use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;
use mcp_proto::server::{self, AskOptions, Server};
use mcp_proto::{
    InputRequired, Instant, Link, Machine, Outcome, Question, Revision, SentToken, Step, Token,
};

use super::app::{AnyClient, AnyServer};
use super::{START, client_config, only, raw, server_config};

/// The number of times that each thing may happen.
#[derive(Clone, Copy, Debug, Hash)]
struct Budget {
    calls: usize,
    questions: usize,
    cancellations: usize,
    /// Lines that get lost, in either direction.
    losses: usize,
    /// Both machines are replaced, and what was on the way is lost.
    restarts: usize,
    /// The next deadline passes while something else could happen.
    expiries: usize,
}

/// One thing that happens. Numbers are places in the tables of the world.
#[derive(Clone, Copy, Debug, Hash)]
enum Act {
    Call,
    Cancel(usize),
    /// The server's application answers a request.
    Answer(usize),
    /// It asks the client on behalf of a request, or answers that input is required.
    Ask(usize),
    /// The client's application answers a question.
    Reply(usize),
    /// It makes a call again, with the input that was required.
    Retry(usize),
    Deliver(To),
    Lose(To),
    Restart,
    Expire,
}

#[derive(Clone, Copy, Debug, Hash)]
enum To {
    Server,
    Client,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
enum Fate {
    Open,
    Cancelled,
    Answered,
    Failed,
}

/// A machine with its buffers.
type Joined<M> = Link<M, Vec<u8>, Vec<u8>>;

struct World {
    /// All that has happened.
    path: Vec<Act>,
    revision: Revision,
    left: Budget,
    now: Instant,
    client: Joined<AnyClient>,
    server: Joined<AnyServer>,
    to_server: VecDeque<Vec<u8>>,
    to_client: VecDeque<Vec<u8>>,
    /// A hash of the inputs of each machine.
    taken: (u64, u64),
    calls: Vec<(SentToken, Fate)>,
    /// Requests at the server's application, with the numbers of their calls.
    requests: Vec<(Token, usize)>,
    questions: Vec<Token>,
    inputs: Vec<usize>,
    /// Something was lost, or came too late.
    is_faulty: bool,
}

impl World {
    fn new(revision: Revision, left: Budget) -> Self {
        let (client, server) = pair(revision);
        let mut world = Self {
            path: Vec::new(),
            revision,
            left,
            now: START,
            client,
            server,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            taken: (0, 0),
            calls: Vec::new(),
            requests: Vec::new(),
            questions: Vec::new(),
            inputs: Vec::new(),
            is_faulty: false,
        };
        world.open();
        world
    }

    /// Connects both, which is one step here.
    fn open(&mut self) {
        self.client.machine.connect(self.now).unwrap();
        self.client_works();
        while self.deliver(To::Server) || self.deliver(To::Client) {}
        assert_eq!(self.client.machine.revision(), Some(self.revision));
    }

    /// All that can happen now.
    fn acts(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        if self.left.calls > 0 {
            acts.push(Act::Call);
        }
        for (at, (_, fate)) in self.calls.iter().enumerate() {
            if self.left.cancellations > 0 && *fate == Fate::Open {
                acts.push(Act::Cancel(at));
            }
        }
        for at in 0..self.requests.len() {
            acts.push(Act::Answer(at));
            if self.left.questions > 0 {
                acts.push(Act::Ask(at));
            }
        }
        acts.extend((0..self.questions.len()).map(Act::Reply));
        acts.extend((0..self.inputs.len()).map(Act::Retry));
        for (to, wire) in [(To::Server, &self.to_server), (To::Client, &self.to_client)] {
            if !wire.is_empty() {
                acts.push(Act::Deliver(to));
                if self.left.losses > 0 {
                    acts.push(Act::Lose(to));
                }
            }
        }
        if self.left.restarts > 0 && !self.calls.is_empty() {
            acts.push(Act::Restart);
        }
        // With nothing else to happen, time passes.
        if self.deadline().is_some() && (acts.is_empty() || self.left.expiries > 0) {
            acts.push(Act::Expire);
        }
        acts
    }

    fn deadline(&self) -> Option<Instant> {
        let client = self.client.machine.poll_timeout();
        client
            .into_iter()
            .chain(self.server.machine.poll_timeout())
            .min()
    }

    fn act(&mut self, act: Act) {
        self.path.push(act);
        let now = self.now;
        match act {
            Act::Call => {
                self.left.calls -= 1;
                self.takes(To::Client, &act);
                let number = self.calls.len();
                let params = params(number);
                let params = raw(&params);
                let call = call(number, &params);
                let machine = &mut self.client.machine;
                let made = self.client.outbox.put(|out| machine.call(now, &call, out));
                self.calls
                    .push((made.expect("there is room").0, Fate::Open));
            }
            Act::Cancel(at) => {
                self.left.cancellations -= 1;
                self.takes(To::Client, &act);
                self.client.machine.cancel(self.calls[at].0);
                self.calls[at].1 = Fate::Cancelled;
                self.inputs.retain(|input| *input != at);
            }
            Act::Answer(at) => {
                self.takes(To::Server, &act);
                let (token, number) = self.requests.remove(at);
                let text = format!(r#"{{"content":[],"number":{number}}}"#);
                self.respond(token, Outcome::Result(&raw(&text)));
            }
            Act::Ask(at) => {
                self.left.questions -= 1;
                self.takes(To::Server, &act);
                let params = raw("{}");
                let question = Question {
                    method: Method::RootsList,
                    params: &params,
                };
                if self.revision.is_modern() {
                    let (token, _) = self.requests.remove(at);
                    let input = InputRequired {
                        requests: &[("roots", question)],
                        state: None,
                    };
                    self.respond(token, Outcome::Input(input));
                } else {
                    let parent = Some(self.requests[at].0);
                    let options = AskOptions::default();
                    let machine = &mut self.server.machine;
                    let put = |out: &mut [u8]| machine.ask(now, parent, question, options, out);
                    let _asked = self.server.outbox.put(put).expect("there is room");
                }
            }
            Act::Reply(at) => {
                self.takes(To::Client, &act);
                let token = self.questions.remove(at);
                let roots = raw(r#"{"roots":[]}"#);
                let machine = &mut self.client.machine;
                let put = |out: &mut [u8]| machine.respond(token, Outcome::Result(&roots), out);
                let _sent = self.client.outbox.put(put).expect("it was open");
            }
            Act::Retry(at) => {
                self.takes(To::Client, &act);
                let number = self.inputs.remove(at);
                let params = params(number);
                let (params, roots) = (raw(&params), raw(r#"{"roots":{"roots":[]}}"#));
                let round = Round {
                    responses: Some(&roots),
                    state: None,
                };
                let call = call(number, &params);
                let (machine, token) = (&mut self.client.machine, self.calls[number].0);
                let put = |out: &mut [u8]| machine.retry(now, token, &call, round, out);
                let _sent = self.client.outbox.put(put).expect("it waits for that");
            }
            Act::Deliver(to) => _ = self.deliver(to),
            Act::Lose(to) => {
                self.left.losses -= 1;
                self.is_faulty = true;
                let _lost = match to {
                    To::Server => self.to_server.pop_front(),
                    To::Client => self.to_client.pop_front(),
                };
            }
            Act::Restart => {
                self.left.restarts -= 1;
                self.is_faulty = true;
                self.hang_up();
                (self.client, self.server) = pair(self.revision);
                self.taken = (0, 0);
                self.open();
            }
            Act::Expire => {
                self.left.expiries = self.left.expiries.saturating_sub(1);
                self.is_faulty = true;
                self.now = self.deadline().expect("there is one");
                self.takes(To::Client, &(act, self.now));
                self.takes(To::Server, &(act, self.now));
            }
        }
        self.client_works();
        self.server_works();
    }

    fn takes(&mut self, side: To, input: &impl Hash) {
        let taken = match side {
            To::Client => &mut self.taken.0,
            To::Server => &mut self.taken.1,
        };
        *taken = hash(&(*taken, input));
    }

    fn respond(&mut self, token: Token, outcome: Outcome<'_>) {
        let machine = &mut self.server.machine;
        let put = |out: &mut [u8]| machine.respond(token, outcome, out);
        let _sent = self.server.outbox.put(put).expect("it was open");
    }

    /// Delivers the next line. Returns false if no line is on the way.
    fn deliver(&mut self, to: To) -> bool {
        let (wire, inbox) = match to {
            To::Server => (&mut self.to_server, &mut self.server.inbox),
            To::Client => (&mut self.to_client, &mut self.client.inbox),
        };
        let Some(line) = wire.pop_front() else {
            return false;
        };
        inbox.spare_mut().expect("it is empty")[..line.len()].copy_from_slice(&line);
        inbox.filled(line.len());
        self.takes(to, &line);
        match to {
            To::Server => self.server_works(),
            To::Client => self.client_works(),
        }
        true
    }

    fn client_works(&mut self) {
        loop {
            let event = match self.client.step(self.now) {
                Step::Event { event, .. } => event,
                Step::Done | Step::Ignored(_) => continue,
                Step::Full => panic!("there is room"),
                Step::Empty => break,
            };
            let (number, fate) = match event {
                client::Event::Answer {
                    cookie, outcome, ..
                } => {
                    let result = outcome.expect("no error is answered").object().unwrap();
                    let number = result.get("number").and_then(Raw::number);
                    assert_eq!(number.unwrap().to_u64(), Some(cookie), "another's answer");
                    (cookie, Fate::Answered)
                }
                client::Event::Failed {
                    cookie, failure, ..
                } => {
                    assert!(self.is_faulty, "nothing failed: {failure:?}");
                    assert!(matches!(failure, Failure::Timeout | Failure::Closed));
                    (cookie, Fate::Failed)
                }
                client::Event::Input { cookie, .. } => {
                    self.inputs.push(cookie as usize);
                    (cookie, Fate::Open)
                }
                client::Event::Question { token, .. } => {
                    self.questions.push(token);
                    continue;
                }
                client::Event::QuestionCancelled { token, .. } => {
                    self.questions.retain(|question| *question != token);
                    continue;
                }
                _ => continue,
            };
            let number = number as usize;
            assert_eq!(self.calls[number].1, Fate::Open, "it ends twice");
            self.calls[number].1 = fate;
            if fate == Fate::Failed {
                self.inputs.retain(|input| *input != number);
            }
        }
        flush(&mut self.client, &mut self.to_server);
    }

    fn server_works(&mut self) {
        loop {
            match self.server.step(self.now) {
                Step::Event {
                    event: server::Event::Request { token, params, .. },
                    ..
                } => {
                    let number = params.get("arguments").and_then(Raw::object).unwrap();
                    let number = number.get("number").and_then(Raw::number).unwrap();
                    self.requests
                        .push((token, number.to_u64().unwrap() as usize));
                }
                Step::Event {
                    event: server::Event::Cancelled { token, .. },
                    ..
                } => self.requests.retain(|(request, _)| *request != token),
                Step::Event { .. } | Step::Done | Step::Ignored(_) => {}
                Step::Full => panic!("there is room"),
                Step::Empty => break,
            }
        }
        flush(&mut self.server, &mut self.to_client);
    }

    /// Both connections end, and everything with them.
    fn hang_up(&mut self) {
        self.client.machine.hang_up();
        self.server.machine.hang_up();
        self.client_works();
        self.server_works();
        self.to_server.clear();
        self.to_client.clear();
        self.assert_empty();
    }

    fn assert_empty(&self) {
        assert_eq!(self.client.machine.in_flight(), 0);
        assert_eq!(self.server.machine.in_flight(), 0);
        assert!(
            self.calls.iter().all(|(_, fate)| *fate != Fate::Open),
            "a call never ends"
        );
        assert!(self.requests.is_empty() && self.questions.is_empty() && self.inputs.is_empty());
    }

    /// Nothing more can happen.
    fn assert_ended(&self) {
        self.assert_empty();
        if !self.is_faulty {
            let answered = |fate: Fate| matches!(fate, Fate::Answered | Fate::Cancelled);
            assert!(
                self.calls.iter().all(|(_, fate)| answered(*fate)),
                "an answer is lost"
            );
        }
    }

    fn key(&self) -> u64 {
        let fates: Vec<Fate> = self.calls.iter().map(|(_, fate)| *fate).collect();
        let wires = (&self.to_server, &self.to_client);
        hash(&(
            self.taken,
            wires,
            self.now,
            fates,
            &self.left,
            self.is_faulty,
        ))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, after {:?}", self.revision, self.path);
        }
    }
}

fn pair(revision: Revision) -> (Joined<AnyClient>, Joined<AnyServer>) {
    let client = Client::new(client_config(only(revision)), client::Growing).unwrap();
    let server = Server::new(server_config(only(revision)), server::Growing).unwrap();
    (
        Link::new(client, Vec::new(), Vec::new()).unwrap(),
        Link::new(server, Vec::new(), Vec::new()).unwrap(),
    )
}

fn flush<M: Machine>(link: &mut Joined<M>, wire: &mut VecDeque<Vec<u8>>) {
    let pending = link.outbox.pending();
    let count = pending.len();
    wire.extend(
        pending
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec),
    );
    link.outbox.consume(count);
}

fn params(number: usize) -> String {
    format!(r#"{{"name":"t","arguments":{{"number":{number}}}}}"#)
}

fn call<'a>(number: usize, params: &'a Raw<'a>) -> Call<'a> {
    Call {
        params: Some(params),
        // The second is over sooner.
        timeout: Some(Duration::from_secs(9 - number as u64)),
        cookie: number as u64,
        ..Call::new(Method::ToolsCall)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Goes through every order, and returns the number of states.
fn explore(revision: Revision, budget: Budget) -> usize {
    let mut seen = HashSet::new();
    let mut paths: Vec<Vec<Act>> = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let mut world = World::new(revision, budget);
        path.into_iter().for_each(|act| world.act(act));
        // The first act continues from here; the others follow later.
        while seen.insert(world.key()) {
            let mut acts = world.acts().into_iter();
            let Some(first) = acts.next() else {
                world.assert_ended();
                break;
            };
            paths.extend(acts.map(|act| [&world.path[..], &[act]].concat()));
            world.act(first);
        }
    }
    seen.len()
}

/// With `INTERLEAVINGS=all` all of that at once, in 26,125 states.
#[test]
fn every_interleaving_ends_and_loses_nothing() {
    let few = Budget {
        calls: 2,
        questions: 0,
        cancellations: 0,
        losses: 0,
        restarts: 0,
        expiries: 0,
    };
    let mut budgets = vec![
        Budget {
            questions: 1,
            cancellations: 1,
            ..few
        },
        Budget {
            cancellations: 1,
            losses: 1,
            ..few
        },
        Budget {
            losses: 1,
            restarts: 1,
            ..few
        },
        Budget {
            calls: 1,
            questions: 1,
            cancellations: 1,
            expiries: 1,
            ..few
        },
    ];
    if std::env::var("INTERLEAVINGS").is_ok_and(|size| size == "all") {
        budgets = vec![Budget {
            questions: 1,
            cancellations: 1,
            losses: 1,
            restarts: 1,
            ..few
        }];
    }
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for budget in &budgets {
            let states = explore(revision, *budget);
            assert!(states >= 70, "{revision}, {budget:?}: {states} states");
        }
    }
}
