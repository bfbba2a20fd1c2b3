//! A server on a pipe.

use mcp_proto::server::{Event, Growing, Server, ServerConfig};
use mcp_proto::{Instant, Revision};

use super::peer::Peer;
use super::pipe::{FIT, Scripted};
use super::script::member;
use super::server::{answer, config, configure};
use crate::script::host::Host;
use crate::script::{Fit, Player, Role, Writer};

/// The application of a server, and its client.
pub(crate) struct RecordedServer {
    host: Host,
    peer: Peer,
}

impl Role for RecordedServer {
    type Machine = Server<'static, Growing>;

    const WRITES: &'static str = "<";
    const READS: &'static str = ">";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = FIT;

    fn tell(&mut self, event: &Event<'_>) -> String {
        self.host.tell_in_full(event)
    }

    fn on(&mut self, now: Instant, event: &Event<'_>, out: &mut Writer<'_, Self>) {
        if let Err(error) = answer(&mut self.host, now, event, out) {
            out.refused(error);
        }
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (role, now, mut out) = player.parts();
        let done = role.host.command(now, verb, rest, &mut out);
        if let Err(error) = done.unwrap_or_else(|| panic!("no such command: {verb}")) {
            out.refused(error);
        }
    }
}

impl Scripted for RecordedServer {
    type Config = ServerConfig<'static>;

    fn config(_: Revision) -> Self::Config {
        config()
    }

    fn configure(config: &mut Self::Config, options: &str) {
        configure(config, options);
    }

    fn player(config: Self::Config, revision: Revision) -> Player<Self> {
        let role = Self {
            host: Host::default(),
            peer: Peer::new(revision),
        };
        Player::new(Server::new(config, Growing).unwrap(), role, &config.limits)
    }

    fn messages(&mut self, verb: &str, rest: &str) -> Option<Vec<String>> {
        self.peer.say(verb, rest)
    }

    fn greeting(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn heard(&mut self, message: &str) {
        if member(message, "method").is_some() {
            let question = &mut self.peer.question;
            *question = member(message, "id").or(question.take());
        }
    }
}
