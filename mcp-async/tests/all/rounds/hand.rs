//! A hand that writes the client's lines of 2026-07-28 and reads the server's.

use core::time::Duration;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_async::server;
use mcp_async::server::{BoxService, CallContext, StateKeys};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

use crate::rounds::support::{Answering, Tool};
use crate::scripted::{ANSWERS, LineClient, member, text};
use crate::seen::Seen;
use crate::sim::Sim;

pub(crate) struct Hand {
    client: LineClient,
    pub(crate) notes: Seen,
}

/// What came of a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Came {
    /// The tool said this.
    Said(String),
    /// Questions under these keys, and the state.
    Input(Vec<String>, String),
    Error(i64, String),
}

impl Came {
    /// The state that goes with questions under these keys.
    #[track_caller]
    pub(crate) fn asks(self, keys: &[&str]) -> String {
        match self {
            Self::Input(asked, state) if asked == keys => state,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) {
        assert_eq!(self, Self::Said(text.into()));
    }

    #[track_caller]
    pub(crate) fn refused(self) {
        assert!(matches!(self, Self::Error(-32602, _)), "{self:?}");
    }
}

/// A wall clock that a test moves.
#[derive(Clone, Default)]
pub(crate) struct Wall(Arc<Mutex<Duration>>);

impl Wall {
    pub(crate) fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }

    /// Keys that go by it.
    pub(crate) fn keys(&self, key: u8) -> StateKeys {
        let clock = self.clone();
        StateKeys::new([key; 32]).clock(move || clock.now())
    }

    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000) + *self.0.lock().unwrap()
    }
}

impl Hand {
    pub(crate) fn new<F: Answering>(
        keys: StateKeys,
        principal: Option<&str>,
        tool: impl Fn(CallContext, Seen) -> F + Send + 'static,
    ) -> Self {
        let notes = Seen::default();
        let service = Tool::boxed(&notes, tool);
        Self::of(keys, principal, service, notes)
    }

    fn of(keys: StateKeys, principal: Option<&str>, service: BoxService, notes: Seen) -> Self {
        let features = ServerFeatures::TOOLS
            .with(ServerFeatures::PROMPTS)
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::LOGGING);
        let config = ServerConfig {
            capabilities: features.capabilities(),
            ..ServerConfig::new("asker", "1")
        };
        let begin = |streams| {
            let (served, peer) = server::connect(streams, Sim, config, service);
            let served = served.with_state_keys(keys);
            match principal {
                Some(principal) => (served.with_principal(principal), peer),
                None => (served, peer),
            }
        };
        Self {
            client: LineClient::of(begin, Revision::V2026_07_28, ANSWERS),
            notes,
        }
    }

    /// Calls the tool, with these members besides its name and `_meta`.
    pub(crate) fn call(&mut self, members: &str) -> Came {
        self.request("tools/call", &format!(r#""name":"tool"{members}"#))
    }

    /// The next round of a call without arguments.
    pub(crate) fn again(&mut self, state: &str, responses: &str) -> Came {
        self.call(&round(state, responses))
    }

    pub(crate) fn request(&mut self, method: &str, members: &str) -> Came {
        let lines = self.send(method, members);
        came(lines.last().expect("an answer"))
    }

    /// All that the server writes upon a request.
    pub(crate) fn send(&mut self, method: &str, members: &str) -> Vec<String> {
        let meta = r#""io.modelcontextprotocol/logLevel":"debug","progressToken":"p""#;
        let params = format!(r#"{{{members},"_meta":{{{meta}}}}}"#);
        self.client.send(method, &params);
        self.client.hear()
    }
}

/// The members of a further round.
pub(crate) fn round(state: &str, responses: &str) -> String {
    format!(r#","requestState":"{state}","inputResponses":{{{responses}}}"#)
}

/// What a model says, as an answer under a key.
pub(crate) fn said(key: &str, text: &str) -> String {
    format!(
        r#""{key}":{{"role":"assistant","model":"m","content":{{"type":"text","text":"{text}"}}}}"#
    )
}

fn came(line: &str) -> Came {
    let code = member(line, &["error", "code"]);
    if !code.is_empty() {
        return Came::Error(code.parse().unwrap(), text(line, &["error", "message"]));
    }
    if !member(line, &["result", "said"]).is_empty() {
        return Came::Said(text(line, &["result", "said"]));
    }
    let requests = RawBuf::parse(member(line, &["result", "inputRequests"])).unwrap();
    let keys = requests.as_raw().object().unwrap().members();
    Came::Input(
        keys.map(|(key, _)| key.to_string()).collect(),
        text(line, &["result", "requestState"]),
    )
}
