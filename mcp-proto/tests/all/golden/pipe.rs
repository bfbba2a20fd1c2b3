//! A machine on a pipe, whose peer is the script.

use mcp_proto::Revision;

use super::script::{Driver, word};
use super::transcript::Transcript;
use crate::script::{Fit, Player, Role};

/// Writes of recorded scripts are tried without room, and with too little by one byte.
pub(crate) const FIT: Fit = Fit {
    names_exactly: false,
    is_unchanged: true,
    tries: 1,
};

/// A role whose peer can be written in a script.
pub(crate) trait Scripted: Role {
    type Config: Copy;

    fn config(revision: Revision) -> Self::Config;

    /// Changes the configuration as the command `config` says.
    fn configure(config: &mut Self::Config, options: &str);

    fn player(config: Self::Config, revision: Revision) -> Player<Self>;

    /// The messages of the peer that a line stands for.
    fn messages(&mut self, verb: &str, rest: &str) -> Option<Vec<String>>;

    /// Returns the message that the peer writes after this command of the application.
    fn greeting(&self, verb: &str, rest: &str) -> Option<String>;

    /// Takes note of a message of the machine.
    fn heard(&mut self, message: &str);
}

pub(crate) struct Pipe<R: Scripted> {
    revision: Revision,
    config: R::Config,
    /// Made when the configuration is known.
    player: Option<Player<R>>,
}

impl<R: Scripted> Driver for Pipe<R> {
    fn new(revision: Revision) -> Self {
        Self {
            revision,
            config: R::config(revision),
            player: None,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if verb == "config" {
            return R::configure(&mut self.config, rest);
        }
        let (config, revision) = (self.config, self.revision);
        let player = self
            .player
            .get_or_insert_with(|| R::player(config, revision));
        // Whose stream a message is on makes no difference here.
        let (verb, rest) = match verb {
            "on" => word(word(rest).1),
            _ => (verb, rest),
        };
        if let Some(messages) = player.role.messages(verb, rest) {
            for message in messages {
                feed(player, &message, transcript);
            }
            return;
        }
        let command = format!("{verb} {rest}");
        transcript.line(".", command.trim_end());
        match verb {
            // `LONG` stands for so many bytes.
            "send-long" => {
                let (len, message) = word(rest);
                let long = "x".repeat(len.parse().expect("a length"));
                for message in player.role.messages(R::READS, message).expect("a message") {
                    player.feed(message.replace("LONG", &long).as_bytes());
                    player.feed(b"\n");
                }
            }
            _ => player.command(command.trim_end()),
        }
        player.drain();
        write_down(player, transcript);
        if let Some(message) = player.role.greeting(verb, rest) {
            feed(player, &message, transcript);
        }
    }
}

fn feed<R: Scripted>(player: &mut Player<R>, message: &str, transcript: &mut Transcript) {
    transcript.line(R::READS, message);
    player.feed(message.as_bytes());
    player.feed(b"\n");
    write_down(player, transcript);
}

fn write_down<R: Scripted>(player: &mut Player<R>, transcript: &mut Transcript) {
    for (mark, line) in player.lines() {
        transcript.line(mark, &line);
        if mark == R::WRITES {
            player.role.heard(&line);
        }
    }
}
