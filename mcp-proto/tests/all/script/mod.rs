//! Conversations of one machine with its peer on a pipe, as text.
//!
//! ```text
//! > 1 tools/list              a line that the client writes
//! < 1 = {"tools":[]}          a line that the server writes
//! = request 0 tools/list      an event of the application
//! ~ LateResponse              why a line was ignored
//! ! NotReady                  why a command was refused
//! + 5000                      milliseconds pass; the timer is called when it is due
//! answer 0 {}                 a command of the application; each role has its own
//! changed tools & end 0       several commands, with nothing in between
//! # text                      a comment
//! ```
//!
//! What the peer writes, the clock and the commands are done in this order; everything else is
//! expected. Before the next command, everything that followed from the last one must have been
//! expected.
//!
//! Messages are written in full, or [short](short).
//!
//! Each script is played twice: its lines arrive as a whole, and byte by byte. Each write is first
//! tried with buffers that are too small, which must not change the machine.

pub(crate) mod client;
pub(crate) mod host;
pub(crate) mod messages;
pub(crate) mod server;
pub(crate) mod short;
pub(crate) mod user;

use core::fmt::Debug;
use core::time::Duration;
use std::borrow::Cow;
use std::collections::VecDeque;

use mcp_proto::json::Raw;
use mcp_proto::{
    Action, BufferFull, Channel, IgnoreReason, Inbox, Instant, Limits, Machine, Pipe, SendError,
    Written,
};

use self::short::Short;

/// What is expected of writes into buffers that are too small.
#[derive(Clone, Copy)]
pub(crate) struct Fit {
    /// Whether a channel is named only while there is a message for it.
    pub(crate) names_exactly: bool,
    /// Whether the machine looks the same after it.
    pub(crate) is_unchanged: bool,
    /// How many lengths below the right one are tried, in addition to none.
    pub(crate) tries: usize,
}

/// What a script can say of one role.
pub(crate) trait Role: Sized {
    type Machine: for<'b> Machine<Reply<'b>: Copy> + Debug;

    /// The mark of the lines that the machine writes.
    const WRITES: &'static str;
    /// The mark of the lines that its peer writes.
    const READS: &'static str;
    const START: Instant;
    const FIT: Fit;

    /// An event in words.
    fn tell(&mut self, event: &<Self::Machine as Machine>::Event<'_>) -> String;

    /// Does at once what an application does that waits for no command.
    fn on(
        &mut self,
        _: Instant,
        _: &<Self::Machine as Machine>::Event<'_>,
        _: &mut Writer<'_, Self>,
    ) {
    }

    /// Runs a command that only this role has.
    fn command(player: &mut Player<Self>, verb: &str, rest: &str);
}

/// What followed from a command.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    Written(String),
    Event(String),
    Ignored(IgnoreReason),
    Refused(SendError),
}

/// A machine, its clock, and what it did since the last look.
pub(crate) struct Player<R: Role> {
    pub(crate) machine: R::Machine,
    pub(crate) now: Instant,
    pub(crate) role: R,
    log: VecDeque<Line>,
    inbox: Inbox<[u8; 1 << 16]>,
    /// How many bytes arrive at once.
    chunk: usize,
}

impl<R: Role> Player<R> {
    pub(crate) fn new(machine: R::Machine, role: R, limits: &Limits) -> Self {
        Self {
            machine,
            now: R::START,
            role,
            log: VecDeque::new(),
            inbox: Inbox::new([0; 1 << 16], limits),
            chunk: usize::MAX,
        }
    }

    /// The same, but each byte arrives by itself.
    pub(crate) fn in_bytes(self) -> Self {
        Self { chunk: 1, ..self }
    }

    #[track_caller]
    pub(crate) fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                self.line(line);
            }
        }
        self.silent("the end");
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let line = &*in_full(line);
        let verb = line.split(' ').next().unwrap_or_default();
        if ["=", "~", "!", R::WRITES].contains(&verb) {
            let found = self.log.pop_front().map(|found| text::<R>(&found));
            assert_eq!(found.as_deref(), Some(line), "then: {:?}", self.log);
            return;
        }
        self.silent(line);
        for command in line.split(" & ") {
            self.command(&in_full(command));
        }
        self.drain();
    }

    #[track_caller]
    pub(crate) fn command(&mut self, command: &str) {
        let (verb, rest) = word(command);
        match verb {
            verb if verb == R::READS => self.feed(&[rest.as_bytes(), b"\n"].concat()),
            "+" => self.pass(rest.parse().expect("milliseconds")),
            "hangup" => self.machine.hang_up(),
            verb => R::command(self, verb, rest),
        }
    }

    /// The application, and its way to the machine.
    pub(crate) fn parts(&mut self) -> (&mut R, Instant, Writer<'_, R>) {
        let Self {
            machine,
            now,
            role,
            log,
            ..
        } = self;
        (role, *now, Writer { machine, log })
    }

    /// What followed from the commands so far, with its marks.
    pub(crate) fn lines(&mut self) -> Vec<(&'static str, String)> {
        self.log.drain(..).map(|line| line.marked::<R>()).collect()
    }

    #[track_caller]
    fn silent(&self, before: &str) {
        let log: Vec<String> = self.log.iter().map(text::<R>).collect();
        assert!(log.is_empty(), "unexpected before {before}: {log:#?}");
    }

    /// The peer writes some bytes.
    #[track_caller]
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let spare = self.inbox.spare_mut().expect("everything was read");
            let len = spare.len().min(bytes.len()).min(self.chunk);
            spare[..len].copy_from_slice(&bytes[..len]);
            self.inbox.filled(len);
            bytes = &bytes[len..];
            self.read();
        }
    }

    #[track_caller]
    fn read(&mut self) {
        let Self {
            machine,
            now,
            role,
            log,
            inbox,
            ..
        } = self;
        while let Some(incoming) = inbox.next_message() {
            let reserve = machine.reserve();
            match machine.handle(*now, &Pipe.into(), incoming) {
                Action::Event(event) => {
                    log.push_back(Line::Event(role.tell(&event)));
                    role.on(*now, &event, &mut Writer { machine, log });
                }
                Action::Reply(reply) => {
                    let mut again = |machine: &mut R::Machine, out: &mut [u8]| {
                        machine.reply(*now, reply, out).map_err(SendError::from)
                    };
                    let _ = write::<R, _>(machine, log, reserve, &mut again).unwrap();
                }
                Action::Done => {}
                Action::Ignore(why) => log.push_back(Line::Ignored(why)),
            }
            assert!(machine.poll_timeout().is_none_or(|due| due > *now));
            drain(machine, *now, role, log);
        }
    }

    /// What follows from the commands so far.
    #[track_caller]
    pub(crate) fn drain(&mut self) -> &mut Self {
        drain(&mut self.machine, self.now, &mut self.role, &mut self.log);
        self
    }

    #[track_caller]
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        if self
            .machine
            .poll_timeout()
            .is_some_and(|due| due <= self.now)
        {
            self.machine.handle_timeout(self.now);
        }
        assert!(self.machine.poll_timeout().is_none_or(|due| due > self.now));
        self.drain();
    }

    /// Writes a message of the application.
    #[track_caller]
    pub(crate) fn send<T: Written>(
        &mut self,
        mut message: impl FnMut(&mut R::Machine, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        write::<R, T>(&mut self.machine, &mut self.log, usize::MAX, &mut message)
    }

    /// Notes why a command was refused, if it was.
    pub(crate) fn note<T>(&mut self, done: Result<T, SendError>) -> Option<T> {
        done.map_err(|error| self.log.push_back(Line::Refused(error)))
            .ok()
    }

    /// Takes the lines out of the log of which there is something to pick.
    pub(crate) fn take(&mut self, pick: impl Fn(&Line) -> Option<String>) -> Vec<String> {
        let taken = self.log.iter().filter_map(&pick).collect();
        self.log.retain(|line| pick(line).is_none());
        taken
    }

    /// Why the last message that had no effect had none.
    pub(crate) fn last_ignored(&self) -> Option<IgnoreReason> {
        self.log.iter().rev().find_map(|line| match line {
            Line::Ignored(why) => Some(*why),
            _ => None,
        })
    }
}

impl Line {
    fn marked<R: Role>(self) -> (&'static str, String) {
        match self {
            Self::Written(text) => (R::WRITES, text),
            Self::Event(text) => ("=", text),
            Self::Ignored(why) => ("~", format!("{why:?}")),
            Self::Refused(error) => ("!", format!("{error:?}")),
        }
    }
}

fn text<R: Role>(line: &Line) -> String {
    let (mark, text) = line.clone().marked::<R>();
    format!("{mark} {text}")
}

/// A machine, and the log of what it writes.
pub(crate) struct Writer<'p, R: Role> {
    pub(crate) machine: &'p mut R::Machine,
    log: &'p mut VecDeque<Line>,
}

impl<R: Role> Writer<'_, R> {
    #[track_caller]
    pub(crate) fn put<T: Written>(
        &mut self,
        mut message: impl FnMut(&mut R::Machine, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        write::<R, T>(self.machine, self.log, usize::MAX, &mut message)
    }

    /// Notes why something was refused.
    pub(crate) fn refused(&mut self, error: SendError) {
        self.log.push_back(Line::Refused(error));
    }
}

#[track_caller]
fn drain<R: Role>(machine: &mut R::Machine, now: Instant, role: &mut R, log: &mut VecDeque<Line>) {
    while machine.next_channel().is_some() {
        let mut poll = |machine: &mut R::Machine, out: &mut [u8]| {
            Ok(machine.poll_transmit(now, Channel::PIPE, out)?)
        };
        if write::<R, _>(machine, log, usize::MAX, &mut poll)
            .unwrap()
            .is_none()
        {
            assert!(!R::FIT.names_exactly, "a channel without a message");
            break;
        }
    }
    let nothing = machine.poll_transmit(now, Channel::PIPE, &mut [0; 9]);
    assert_eq!(nothing, Ok::<_, BufferFull>(None));
    while let Some(event) = machine.poll_event() {
        log.push_back(Line::Event(role.tell(&event)));
        role.on(now, &event, &mut Writer { machine, log });
    }
}

#[track_caller]
fn write<R: Role, T: Written>(
    machine: &mut R::Machine,
    log: &mut VecDeque<Line>,
    reserve: usize,
    message: &mut impl FnMut(&mut R::Machine, &mut [u8]) -> Result<T, SendError>,
) -> Result<T, SendError> {
    let (written, text) = fit(machine, R::FIT, message)?;
    if let Some(transmit) = written.transmit() {
        assert_eq!((transmit.channel, transmit.end), (Channel::PIPE, false));
        assert!(text.len() <= reserve, "{} > {reserve}", text.len());
    }
    if !text.is_empty() {
        log.push_back(Line::Written(text));
    }
    Ok(written)
}

/// Writes into buffers that are too small, which must not change the machine, and then into one
/// that is just large enough: it is never refused, and no need is less than the message takes.
#[track_caller]
pub(crate) fn fit<M: Debug, T: Written>(
    machine: &mut M,
    expected: Fit,
    message: &mut impl FnMut(&mut M, &mut [u8]) -> Result<T, SendError>,
) -> Result<(T, String), SendError> {
    let before = format!("{machine:?}");
    let mut size = 0;
    let mut least = usize::MAX;
    loop {
        let mut out = vec![0xAA; size];
        match message(machine, &mut out) {
            Ok(written) => {
                let len = written.transmit().map_or(0, |transmit| transmit.len);
                let skipped = expected.tries < size;
                assert!(
                    len == size || len == 0 || (len < size && skipped),
                    "{len} in {size}"
                );
                assert!(len <= least, "{len} bytes, but {least} were needed");
                out.truncate(len);
                let text = String::from_utf8(out).unwrap();
                assert!(len == 0 || Raw::parse(text.as_bytes(), 128).is_ok());
                assert!(!text.contains('\n'));
                return Ok((written, text));
            }
            Err(SendError::BufferFull { needed }) => {
                assert!(needed > size, "{needed} into {size}");
                least = least.min(needed);
                if size % 16 == 0 && expected.is_unchanged {
                    assert_eq!(format!("{machine:?}"), before, "changed by {size} bytes");
                }
                size = (size + 1).max(needed.saturating_sub(expected.tries));
            }
            Err(error) => {
                assert_eq!(format!("{machine:?}"), before, "changed by {error}");
                return Err(error);
            }
        }
    }
}

/// The line with its message in full, if that is written short.
fn in_full(line: &str) -> Cow<'_, str> {
    let full = line.split_once(' ').and_then(|(mark, message)| {
        let is_message = [">", "<"].contains(&mark);
        let short = is_message.then(|| Short::parse(message)).flatten()?;
        Some(format!("{mark} {}", short.in_full()))
    });
    full.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// Splits off the first word.
fn word(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}
