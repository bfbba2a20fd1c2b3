//! A server on a pipe.

use mcp_proto::server::{Event, Growing, Reply, Server, ServerConfig};
use mcp_proto::{
    BufferFull, Instant, Machine, Outcome, Revision, SendError, Token, Transmit, Written,
};

use super::peer::Peer;
use super::pipe::{FIT, Scripted};
use super::script::member;
use super::server::{App, Host, Reach, config, configure, tell};
use crate::script::{Fit, Player, Role, Writer};

/// The application of a server, and its client.
pub(crate) struct Served {
    app: App,
    peer: Peer,
}

impl Reach for Writer<'_, Served> {
    fn put<T: Written>(
        &mut self,
        _: Option<Token>,
        write: impl FnMut(&mut Host, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        Writer::put(self, write)
    }

    fn respond(&mut self, _: Instant, to: Token, with: Outcome<'_>) -> Result<(), SendError> {
        Writer::put(self, |host, out| host.respond(to, with, out)).map(drop)
    }

    fn host(&mut self, mut change: impl FnMut(&mut Host)) {
        change(self.machine);
    }
}

impl Role for Served {
    type Machine = Host;

    const WRITES: &'static str = "<";
    const READS: &'static str = ">";
    const START: Instant = Instant::from_millis(1_000);
    const FIT: Fit = FIT;

    fn reply(
        machine: &mut Host,
        now: Instant,
        reply: &Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        machine.reply(now, *reply, out)
    }

    fn tell(&mut self, event: &Event<'_>) -> String {
        tell(event)
    }

    fn on(&mut self, now: Instant, event: &Event<'_>, out: &mut Writer<'_, Self>) {
        self.app.on(now, event, out);
        for error in self.app.refused() {
            out.refused(error);
        }
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (role, now, mut out) = player.parts();
        let known = role.app.command(now, (verb, rest), &mut out);
        assert!(known, "no such command: {verb}");
        for error in role.app.refused() {
            out.refused(error);
        }
    }
}

impl Scripted for Served {
    type Config = ServerConfig<'static>;

    fn config(_: Revision) -> Self::Config {
        config()
    }

    fn configure(config: &mut Self::Config, options: &str) {
        configure(config, options);
    }

    fn player(config: Self::Config, revision: Revision) -> Player<Self> {
        let role = Self {
            app: App::default(),
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
