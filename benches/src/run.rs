//! One contestant and one input, so many times (of events, a whole stream of them): a run of `benches/instructions`.

use std::env;
use std::hint::black_box;

use crate::arguments::{self, ArgumentPeer};
use crate::calls::{self, CallPeer};
use crate::corpus;
use crate::encode::{self, EncodePeer};
use crate::events::{self, EventPeer};
use crate::in_flight::Busy;
use crate::inputs::{self, Input};
use crate::lines::{self, LinePeer};
use crate::messages::{self, Peer};

/// A run as the arguments of a program name it.
pub struct Run {
    peer: String,
    input: String,
    times: u32,
}

impl Run {
    /// Reads the arguments `PEER INPUT TIMES`.
    ///
    /// # Panics
    ///
    /// Panics if they are others.
    pub fn from_arguments() -> Self {
        let arguments: Vec<String> = env::args().collect();
        let [_, peer, input, times] = arguments.as_slice() else {
            panic!("usage: {} PEER INPUT TIMES", arguments[0])
        };
        Self {
            peer: peer.clone(),
            input: input.clone(),
            times: times.parse().expect("a number"),
        }
    }

    /// Runs this library on whole inputs.
    ///
    /// # Panics
    ///
    /// Panics if the contestant is another, or the input unknown.
    pub fn ours(&self) {
        let known = self.messages::<messages::McpProto>()
            || self.arguments::<arguments::McpProto>()
            || self.calls::<calls::McpProto>()
            || self.values::<encode::McpProto>()
            || self.events::<events::McpProto>();
        assert!(known, "no such contestant or input");
    }

    /// Runs this library, or the splitter, on newline streams, or a server with requests in flight.
    ///
    /// # Panics
    ///
    /// Panics if the contestant is another, or the input unknown.
    pub fn streams(&self) {
        let known =
            self.lines::<lines::McpProto>() || self.lines::<lines::Splitter>() || self.in_flight();
        assert!(known, "no such contestant or input");
    }

    /// Runs this library on an input of a fuzz corpus, which the path below the corpora names.
    ///
    /// # Panics
    ///
    /// Panics if the contestant is another, or the input unknown.
    pub fn corpus(&self) {
        let is_ours = self.peer == messages::McpProto::NAME;
        let known = is_ours && corpus::repeat(&self.input, self.times);
        assert!(known, "no such contestant or input");
    }

    /// Runs if the contestant is `P` and the input a message; returns true then.
    pub fn messages<P: Peer>(&self) -> bool {
        let input = inputs::named(&self.input).filter(|_| self.peer == P::NAME);
        if let Some(input) = &input {
            repeat::<P>(input, self.times);
        }
        input.is_some()
    }

    /// Runs if the contestant is `P` and the input the arguments of a tool; returns true then.
    pub fn arguments<P: ArgumentPeer>(&self) -> bool {
        let text = arguments::named(&self.input).filter(|_| self.peer == P::NAME);
        if let Some(text) = &text {
            arguments::repeat::<P>(text, self.times);
        }
        text.is_some()
    }

    /// Runs if the contestant is `P` and the input a call; returns true then.
    pub fn calls<P: CallPeer>(&self) -> bool {
        let is_known = self.peer == P::NAME && self.input == "typed call";
        if is_known {
            calls::repeat::<P>(self.times);
        }
        is_known
    }

    /// Runs if the contestant is `P` and the input a value of a type; returns true then.
    pub fn values<P: EncodePeer>(&self) -> bool {
        let value = encode::named(&self.input).filter(|_| self.peer == P::NAME);
        let value = value.filter(|_| self.input.ends_with("value"));
        if let Some(value) = &value {
            encode::repeat::<P>(value, self.times);
        }
        value.is_some()
    }

    /// Runs if the contestant is `P` and the input an event stream; returns true then.
    pub fn events<P: EventPeer>(&self) -> bool {
        let (stream, size) = match self.input.as_str() {
            "small events" => (events::small(600), 4096),
            "small events by byte" => (events::small(600), 1),
            "large events" => (events::large(10), 4096),
            _ => return false,
        };
        if self.peer != P::NAME {
            return false;
        }
        let chunks = events::chunks(stream, size);
        for _ in 0..self.times {
            black_box(events::count::<P>(black_box(&chunks)));
        }
        true
    }

    /// Runs if the contestant is this library and the input a number of requests in flight, 20,000 steps each time; returns true then.
    fn in_flight(&self) -> bool {
        let count = match self.input.as_str() {
            "1 in flight" => 1,
            "10,000 in flight" => 10_000,
            "100,000 in flight" => 100_000,
            _ => return false,
        };
        let mut busy = Busy::new(count);
        for _ in 0..self.times * 20_000 {
            busy.step();
        }
        true
    }

    /// Runs if the contestant is `P` and the input a newline stream; returns true then.
    pub fn lines<P: LinePeer>(&self) -> bool {
        let chunk = match self.input.as_str() {
            "lines in 64 kB" => 65_536,
            "lines by byte" => 1,
            _ => return false,
        };
        if self.peer != P::NAME {
            return false;
        }
        let stream = inputs::stream(600);
        let mut peer = P::default();
        for _ in 0..self.times {
            assert_eq!(peer.read(black_box(&stream), chunk), 600);
        }
        true
    }
}

fn repeat<P: Peer>(input: &Input, times: u32) {
    let mut state = P::State::default();
    for _ in 0..times {
        assert!(P::accepts(&mut state, black_box(&input.message), input.to));
    }
}
