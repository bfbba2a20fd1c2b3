//! A client on a pipe.

use mcp_proto::client::{Client, ClientConfig, Event, Growing, Reply};
use mcp_proto::{BufferFull, Instant, Machine, Revision, SendError, Transmit, Written};

use super::client::{Caller, Guest, config, configure};
use super::pipe::{FIT, Scripted};
use crate::script::user::Reach;
use crate::script::{Fit, Player, Role, Writer};

/// The application of a client, and the revision of its server.
pub(crate) struct RecordedClient {
    caller: Caller,
    revision: Revision,
}

impl Reach<'static> for Writer<'_, RecordedClient> {
    type Storage = Growing;

    fn put<T: Written>(
        &mut self,
        write: impl FnMut(&mut Guest, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        Writer::put(self, write)
    }

    fn client(&mut self) -> &mut Guest {
        self.machine
    }
}

impl Role for RecordedClient {
    type Machine = Guest;

    const WRITES: &'static str = ">";
    const READS: &'static str = "<";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = FIT;

    fn reply(
        machine: &mut Guest,
        now: Instant,
        reply: &Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        machine.reply(now, *reply, out)
    }

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
