//! The work on one request while many others are in flight.

use std::hint::black_box;
use std::io::Write;

use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::server::{Event, Growing, Server, ServerConfig, SessionSnapshot};
use mcp_proto::{Action, Instant, Limits, Machine, Outcome, Revision, Source, Token};

/// A server that always has the same number of requests in flight.
pub struct Busy {
    server: Server<'static, Growing>,
    tokens: Vec<Token>,
    next_id: u64,
    random: u64,
    message: Vec<u8>,
    out: Vec<u8>,
}

impl Busy {
    /// Makes a server and the requests.
    ///
    /// # Panics
    ///
    /// Panics if the server refuses one.
    pub fn new(in_flight: usize) -> Self {
        let config = ServerConfig {
            capabilities: ServerFeatures::TOOLS.capabilities(),
            limits: Limits {
                in_flight,
                ..Limits::default()
            },
            ..ServerConfig::new("busy", "1.0")
        };
        let mut server = Server::new(config, Growing).expect("a configuration");
        server.resume(
            Instant::ZERO,
            &SessionSnapshot::stateless(Revision::V2025_11_25),
        );
        let mut busy = Self {
            server,
            tokens: Vec::with_capacity(in_flight),
            next_id: 0,
            random: 1,
            message: Vec::new(),
            out: vec![0; 4096],
        };
        for _ in 0..in_flight {
            let token = busy.request();
            busy.tokens.push(token);
        }
        // Until they lie in the table as they do in the long run.
        for _ in 0..2 * in_flight {
            busy.step();
        }
        busy
    }

    /// Answers any one of the requests, and takes in another.
    ///
    /// # Panics
    ///
    /// Panics if the server refuses either.
    pub fn step(&mut self) {
        // Xorshift: each request has the same chance.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let any = (self.random % self.tokens.len() as u64) as usize;
        let result = Raw::parse(br#"{"content":[]}"#, 8).expect("JSON");
        let outcome = Outcome::Result(&result);
        let answer = self
            .server
            .respond(self.tokens[any], outcome, &mut self.out)
            .expect("an answer");
        black_box(&self.out[..answer.len]);
        self.tokens[any] = self.request();
    }

    fn request(&mut self) -> Token {
        self.next_id += 1;
        self.message.clear();
        write!(
            self.message,
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"wait"}}}}"#,
            self.next_id
        )
        .expect("memory");
        let message = Incoming::Message(Message::parse(&self.message, 8));
        match self.server.handle(Instant::ZERO, &Source::PIPE, message) {
            Action::Event(Event::Request { token, .. }) => token,
            other => panic!("{other:?}"),
        }
    }
}
