//! A client on a pipe.

use mcp_proto::client::{Client, ClientConfig, Event, Growing};
use mcp_proto::{Instant, Revision};

use super::client::{Caller, Guest, config, configure};
use super::pipe::{FIT, Scripted};
use crate::script::{Fit, Player, Role};

/// The application of a client, and the revision of its server.
pub(crate) struct RecordedClient {
    caller: Caller,
    revision: Revision,
}

impl Role for RecordedClient {
    type Machine = Guest;

    const WRITES: &'static str = ">";
    const READS: &'static str = "<";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = FIT;

    fn tell(&mut self, event: &Event<'_>) -> String {
        self.caller.tell(event)
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (role, now, mut out) = player.parts();
        let done = match verb {
            "connect" | "open" => out.machine.connect(now),
            _ => role.caller.command(now, verb, rest, &mut out),
        };
        if let Err(error) = done {
            out.refused(error);
        }
    }
}

impl Scripted for RecordedClient {
    type Config = ClientConfig<'static>;

    fn config(revision: Revision) -> Self::Config {
        config(revision)
    }

    fn configure(config: &mut Self::Config, options: &str) {
        configure(config, options);
    }

    fn player(config: Self::Config, revision: Revision) -> Player<Self> {
        let role = Self {
            caller: Caller::default(),
            revision,
        };
        Player::new(Client::new(config, Growing).unwrap(), role, &config.limits)
    }

    fn messages(&mut self, verb: &str, rest: &str) -> Option<Vec<String>> {
        let message = || self.caller.peer.message(rest);
        (verb == Self::READS).then(|| message().into_iter().collect())
    }

    fn greeting(&self, verb: &str, rest: &str) -> Option<String> {
        let capabilities = if rest.is_empty() { "{}" } else { rest };
        let opens = verb == "open";
        opens.then(|| self.caller.peer.opening(self.revision, capabilities))
    }

    fn heard(&mut self, message: &str) {
        self.caller.peer.heard(message);
    }
}
