//! The order of work, with a machine that writes down what is asked of it.

use core::time::Duration;
use std::string::{String, ToString as _};
use std::vec::Vec;

use crate::action::{Action, BufferFull, Channel, IgnoreReason, Transmit};
use crate::rpc::{Incoming, Message, Method};
use crate::slots::Key;
use crate::source::Pipe;
use crate::token::{MachineId, Token};
use crate::{Inbox, Instant, Limits, Link, Machine, Outbox, Step, TurnEnd, Verdict};

/// Answers pings, reports other requests, says `due` when told to and has a timer.
#[derive(Default)]
struct Echo {
    limits: Limits,
    due: usize,
    events: Vec<&'static str>,
    deadline: Option<Instant>,
    forgotten: Vec<Token>,
    size: usize,
}

impl Machine for Echo {
    type Origin<'h> = Pipe;
    type Event<'b> = String;
    type Reply<'b> = ();

    fn handle<'b>(&mut self, _: Instant, _: &Pipe, incoming: Incoming<'b>) -> Action<String, ()> {
        match incoming {
            Incoming::Message(Message::Request(request)) => match request.method {
                Method::Ping => Action::Reply(()),
                method => Action::Event(method.to_string()),
            },
            Incoming::Message(Message::Notification(_)) => {
                self.due += 1;
                Action::Event(String::from("told"))
            }
            _ => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    fn reply(&mut self, _: Instant, (): (), out: &mut [u8]) -> Result<Transmit, BufferFull> {
        write(b"pong", out)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn reserve(&self) -> usize {
        self.size.max(4)
    }

    fn set_max_message(&mut self, _: usize) {}

    fn request_of(event: &String) -> Option<Token> {
        (event == "call").then_some(TOKEN)
    }

    fn unhandle(&mut self, request: Token) -> bool {
        self.forgotten.push(request);
        true
    }

    fn next_channel_where(&self, _: impl FnMut(Channel) -> bool) -> Option<Channel> {
        (self.due > 0).then_some(Channel::PIPE)
    }

    fn poll_transmit(
        &mut self,
        _: Instant,
        _: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        let sent = write(b"due", out)?;
        self.due -= 1;
        Ok(Some(sent))
    }

    fn poll_event<'b>(&mut self) -> Option<Self::Event<'b>> {
        self.events.pop().map(String::from)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.events.push("expired");
        self.deadline = Some(now + Duration::from_millis(10));
    }

    fn hang_up(&mut self) {}
}

fn write(text: &[u8], out: &mut [u8]) -> Result<Transmit, BufferFull> {
    let place = out
        .get_mut(..text.len())
        .ok_or(BufferFull { needed: text.len() })?;
    place.copy_from_slice(text);
    Ok(Transmit::pipe(text.len()))
}

type Echoing<const OUT: usize> = Link<Echo, [u8; 256], [u8; OUT]>;

/// With an outbox that may be too small for it.
fn link<const OUT: usize>(machine: Echo, arrived: &str) -> Echoing<OUT> {
    let mut inbox = Inbox::new([0; 256], machine.limits());
    inbox.spare_mut().unwrap()[..arrived.len()].copy_from_slice(arrived.as_bytes());
    inbox.filled(arrived.len());
    let outbox = Outbox::new([0; OUT], machine.limits());
    Link {
        machine,
        inbox,
        outbox,
    }
}

/// One step, in words.
fn told<const OUT: usize>(link: &mut Echoing<OUT>) -> String {
    match link.step(Instant::ZERO) {
        Step::Event { event, .. } => event,
        Step::Done => String::from("handled"),
        Step::Ignored(why) => std::format!("{why:?}"),
        Step::Full => String::from("full"),
        Step::Empty => String::from("empty"),
    }
}

const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"call\"}\n";
const NOTE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n";

#[test]
fn one_thing_a_step() {
    let mut link = link::<64>(Echo::default(), &[PING, "x\n", CALL].concat());
    for expected in ["handled", "Garbage", "call", "empty", "empty"] {
        assert_eq!(told(&mut link), expected);
    }
    assert_eq!(link.outbox.pending(), b"pong\n");
}

#[test]
fn what_is_due_leaves_before_the_next_message_and_before_an_event() {
    let machine = Echo {
        due: 2,
        events: std::vec!["closed"],
        ..Echo::default()
    };
    let mut link = link::<64>(machine, &[PING, NOTE].concat());
    assert_eq!(told(&mut link), "closed");
    assert_eq!(link.outbox.pending(), b"due\ndue\n");
    assert_eq!(told(&mut link), "handled");
    assert_eq!(told(&mut link), "told");
    assert_eq!(link.outbox.pending(), b"due\ndue\npong\ndue\n");
}

#[test]
fn nothing_is_read_while_an_answer_would_not_fit() {
    let mut link = link::<12>(Echo::default(), &[PING, PING, PING].concat());
    for expected in ["handled", "handled", "full", "full"] {
        assert_eq!(told(&mut link), expected);
    }
    link.outbox.consume(5);
    assert_eq!(told(&mut link), "handled");
    assert_eq!(told(&mut link), "full");
    link.outbox.consume(10);
    assert_eq!(told(&mut link), "empty");
}

/// A call that is overdue ends, although the peer reads nothing.
#[test]
fn events_of_the_machine_need_no_room() {
    let machine = Echo {
        events: std::vec!["closed", "expired"],
        ..Echo::default()
    };
    let mut link = link::<8>(machine, NOTE);
    let filled = link.outbox.put(|out| write(b"1234567", out));
    assert!(filled.is_ok());
    link.machine.due = 1;
    for expected in ["expired", "closed", "full"] {
        assert_eq!(told(&mut link), expected);
    }
}

#[test]
fn what_never_fits_stops_nothing() {
    let machine = Echo {
        due: 1,
        size: 100,
        ..Echo::default()
    };
    let mut link = link::<3>(machine, CALL);
    assert_eq!(told(&mut link), "call");
    assert_eq!(told(&mut link), "empty");
}

#[test]
fn time_passes_before_anything_else() {
    let machine = Echo {
        deadline: Some(Instant::ZERO),
        ..Echo::default()
    };
    let mut link = link::<64>(machine, CALL);
    for expected in ["expired", "call", "empty"] {
        assert_eq!(told(&mut link), expected);
    }
    assert_eq!(link.machine.deadline, Some(Instant::from_millis(10)));
}

/// That of every request of these tests.
const TOKEN: Token = Token::new(
    Key {
        slot: 3,
        generation: 1,
    },
    MachineId::FIRST,
);

#[test]
fn an_event_whose_answer_did_not_fit_comes_again() {
    let mut link = link::<64>(Echo::default(), &[CALL, CALL].concat());
    let mut seen = 0;
    let mut turn = |verdict| {
        link.turn(Instant::ZERO, |_, event, outbox| {
            assert_eq!(event, "call");
            assert!(outbox.put(|out| write(b"x", out)).is_ok());
            seen += 1;
            verdict
        })
    };
    assert_eq!(turn(Verdict::Retry), TurnEnd::Full);
    assert_eq!(turn(Verdict::Done), TurnEnd::Empty);
    assert_eq!((seen, link.machine.forgotten), (3, std::vec![TOKEN]));
}

#[test]
fn only_a_request_comes_again() {
    let machine = Echo {
        events: std::vec!["late"],
        ..Echo::default()
    };
    let mut link = link::<64>(machine, CALL);
    let mut seen = Vec::new();
    let rest = link.turn(Instant::ZERO, |_, event, _| {
        let first = event == "late" || seen.len() < 2;
        seen.push(event);
        match first {
            true => Verdict::Retry,
            false => Verdict::Done,
        }
    });
    assert_eq!(rest, TurnEnd::Full);
    assert_eq!(seen, ["late", "call"]);
    assert_eq!(link.machine.forgotten, [TOKEN]);
}

#[test]
fn a_server_without_memory_for_batches_answers_an_array_once() {
    use crate::server::{Fixed, Server, ServerConfig};

    let server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::<4, 0, 0, 0, 64>).unwrap();
    let mut link = Link::new(server, [0; 256], [0; 1024]).unwrap();
    let ping = PING.trim_end();
    for (array, code) in [
        (std::format!("[{ping},{ping}]\n"), "-32600"),
        (String::from("[]\n"), "-32600"),
        (std::format!("[{ping}\n"), "-32700"),
    ] {
        let arrived = std::format!("{array}{PING}");
        link.inbox.spare_mut().unwrap()[..arrived.len()].copy_from_slice(arrived.as_bytes());
        link.inbox.filled(arrived.len());
        assert!(matches!(link.step(Instant::ZERO), Step::Done));
        let answer = String::from_utf8_lossy(link.outbox.pending()).to_string();
        assert!(
            answer.contains(code) && !answer.contains("\"id\""),
            "{answer}"
        );
        link.outbox.consume(answer.len());
        assert!(matches!(link.step(Instant::ZERO), Step::Done));
        assert_eq!(
            link.outbox.pending(),
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
        );
        link.outbox.consume(link.outbox.pending().len());
        assert!(matches!(link.step(Instant::ZERO), Step::Empty));
    }
}
