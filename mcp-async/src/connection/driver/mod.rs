//! The connection's future: reading, writing, the timer and the jobs in one poll, so there is
//! nothing that could be dropped half-way.
//!
//! ```text
//!         end of input               the shutdown_timeout is            all requests             written, or the
//!         or shutdown                over                    are answered             peer takes nothing
//!   Open -------------> Draining -----------------> Refusing --------------> Flushing ---------> Closing --> Done
//!     |                     `------------- no job left -----------------------^                               ^
//!     `------------------- output closed, or an error of the transport ---------------------------------------'
//! ```

mod end;
mod streams;

use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::{IgnoreReason, Inbox, Instant, Large, Limits, Machine, Outbox};

use super::alarm::Alarm;
use super::calls::{Calls, Effect, Event, Role};
use super::frame::{Frame, LARGE};
use super::shared::Shared;
use super::turn::{Work, Worked, poll_work};
use crate::observe;

pub(crate) struct Driver<R, W, X: Role> {
    reader: R,
    writer: W,
    alarm: Alarm,
    inbox: Inbox<Vec<u8>>,
    /// The outbox that is being written, while the other one, under the lock, is being filled.
    writing: Outbox<Vec<u8>>,
    /// The time until which large buffers are kept.
    large_until: Option<Instant>,
    /// Bytes went to the writer and may stick in its buffer.
    unflushed: bool,
    /// The last step found no room for what the core may have to answer.
    full: bool,
    calls: Calls<X>,
    phase: Phase,
    shutdown_timeout: Duration,
    /// The time at which the phase ends at the latest.
    deadline: Option<Instant>,
    /// The time at which the end of the connection began.
    ending_since: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Open,
    /// Nothing is read, and handlers may finish.
    Draining,
    /// The handlers had their time: their requests are answered with an error.
    Refusing,
    Flushing,
    Closing,
    Done,
}

/// The state of one poll.
struct Turn {
    now: Instant,
    /// The rest of [`WORK`].
    budget: u32,
    read_pending: bool,
    write_pending: bool,
    /// Something may have changed since the last step, so that another one is worth its lock.
    changed: bool,
    /// The outbox under the lock may have messages.
    has_output: bool,
    /// The last step found no message.
    empty: bool,
    /// A handle asked for the end.
    closing: bool,
    /// The time at which the machine's next timeout is due.
    timeout: Option<Instant>,
}

/// The outcome of one step.
enum Step {
    /// An event is in [`Found`].
    Event,
    Done,
    Ignored(IgnoreReason),
    Full,
    Empty,
}

impl<R, W, X> Driver<R, W, X>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    X: Role,
{
    pub(crate) fn new(
        (reader, writer): (R, W),
        limits: &Limits,
        shutdown_timeout: Duration,
        role: X,
        shared: Arc<Shared<X::Machine>>,
    ) -> Self {
        Self {
            reader,
            writer,
            alarm: Alarm::default(),
            inbox: Inbox::new(Vec::new(), limits),
            writing: shared.outbox(),
            large_until: None,
            unflushed: false,
            full: false,
            calls: Calls::new(role, shared),
            phase: Phase::Open,
            shutdown_timeout,
            deadline: None,
            ending_since: None,
        }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.poll_turn(cx);
        if polled.is_ready() {
            self.finish();
        }
        polled
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let turn = Turn {
            now: self.calls.shared.now(),
            budget: WORK,
            read_pending: false,
            write_pending: false,
            // A future that a stream or the timer woke has no work from handles: what they leave
            // from now on is found after the rest.
            changed: self.calls.shared.driver_waker.is_awake(),
            has_output: !self.writing.is_empty(),
            empty: false,
            closing: false,
            timeout: None,
        };
        poll_work(&mut Driving { driver: self, turn }, cx)
    }

    /// Polls woken jobs and takes messages, as far as the budget goes. Jobs get half of it at most,
    /// so that one that wakes itself does not keep messages unread.
    fn work(&mut self, turn: &mut Turn) -> bool {
        let before = turn.budget;
        turn.changed |= self.calls.expire(turn.now) || self.phase != Phase::Open;
        let mut jobs = turn.budget.div_ceil(2);
        while turn.budget > 0 {
            if jobs > 0 && self.calls.poll_woken() {
                jobs -= 1;
                turn.budget -= 1;
                (turn.changed, turn.has_output) = (true, true);
                continue;
            }
            if !turn.changed {
                break;
            }
            let blocked = !self.calls.flush_errors();
            (self.full, turn.empty) = (false, false);
            let mut large = None;
            let effect = {
                let mut found = Found::default();
                let memory = (&mut self.inbox, &mut large);
                match step::<X>(&self.calls.shared, memory, blocked, turn, &mut found) {
                    Step::Event => match &found.event {
                        Some(event) => self.calls.dispatch(event, found.frame),
                        None => Effect::Nothing,
                    },
                    Step::Done => Effect::Nothing,
                    Step::Ignored(why) => {
                        observe::ignored(why);
                        Effect::Nothing
                    }
                    Step::Full => {
                        (self.full, turn.changed) = (true, false);
                        break;
                    }
                    Step::Empty => {
                        (turn.empty, turn.changed) = (true, false);
                        break;
                    }
                }
            };
            turn.has_output = true;
            if let Some(large) = large {
                self.inbox.put_back(large);
            }
            turn.budget -= 1;
            if self.calls.carry_out(effect, turn.now).is_break() && self.phase < Phase::Flushing {
                self.flush(turn.now);
            }
        }
        turn.budget < before
    }

    fn arm(&mut self, cx: &mut Context<'_>, turn: &Turn) -> Poll<()> {
        let deadlines = [
            turn.timeout,
            self.deadline,
            self.large_until,
            self.calls.jobs.deadline(),
        ];
        let runtime = &self.calls.shared.runtime;
        self.alarm.poll_first(cx, runtime, turn.now, deadlines)
    }
}

/// One poll of the connection.
struct Driving<'d, R, W, X: Role> {
    driver: &'d mut Driver<R, W, X>,
    turn: Turn,
}

impl<R, W, X> Work for Driving<'_, R, W, X>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    X: Role,
{
    type Output = io::Result<()>;

    fn begin(&mut self, cx: &Context<'_>) {
        if self.driver.calls.shared.driver_waker.begin(cx.waker()) {
            self.driver.alarm.forget_task();
        }
    }

    fn rest(&mut self) {
        self.driver.calls.shared.driver_waker.rest();
        self.turn.changed = true;
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<io::Result<()>> {
        let Self { driver, turn } = self;
        if driver.phase == Phase::Done {
            return Worked::Over(Ok(()));
        }
        driver.give_back(turn.now);
        let mut moved = driver.work(turn);
        match driver.write(cx, turn) {
            Ok(wrote) => {
                turn.changed |= wrote && driver.full;
                moved |= wrote;
            }
            Err(error) if is_closed(&error) => return Worked::Over(Ok(())),
            Err(error) => return Worked::Over(Err(error)),
        }
        match driver.read(cx, turn) {
            Ok(read) => {
                turn.changed |= read;
                moved |= read;
            }
            Err(error) => return Worked::Over(Err(error)),
        }
        moved |= driver.wind_down(cx, turn);
        if turn.budget == 0 {
            return Worked::Enough;
        }
        if !moved {
            return Worked::None;
        }
        turn.now = driver.calls.shared.now();
        Worked::Some
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let due = self.driver.arm(cx, &self.turn);
        if due.is_ready() {
            self.turn.now = self.driver.calls.shared.now();
            self.turn.changed = true;
        }
        due
    }
}

impl<R, W, X: Role> Driver<R, W, X> {
    pub(crate) const fn set_shutdown_timeout(&mut self, shutdown_timeout: Duration) {
        self.shutdown_timeout = shutdown_timeout;
    }

    /// Returns when the end of the connection began, if it has begun in good order.
    pub(crate) const fn ending_since(&self) -> Option<Instant> {
        self.ending_since
    }

    pub(crate) const fn role_mut(&mut self) -> &mut X {
        &mut self.calls.role
    }
}

/// The event of a step, and the frame that it borrows from. The step writes it in place, because moving it is costly.
struct Found<'b, E> {
    event: Option<E>,
    frame: Frame<'b>,
}

impl<E> Default for Found<'_, E> {
    fn default() -> Self {
        Self {
            event: None,
            frame: None,
        }
    }
}

/// One step under the lock: an effect of time, or of the next message.
fn step<'b, X: Role>(
    shared: &Shared<X::Machine>,
    (inbox, large): (&'b mut Inbox<Vec<u8>>, &'b mut Option<Large>),
    blocked: bool,
    turn: &mut Turn,
    found: &mut Found<'b, Event<'b, X>>,
) -> Step {
    let core = &mut *shared.lock();
    turn.closing = core.closing;
    core.now = turn.now;
    if blocked || (X::WAITS_FOR_READER && core.is_waited_for()) {
        // Time passes all the same.
        if core
            .machine
            .poll_timeout()
            .is_some_and(|due| due <= turn.now)
        {
            core.machine.handle_timeout(turn.now);
        }
        turn.timeout = core.machine.poll_timeout();
        turn.has_output = !core.outbox.is_empty();
        return Step::Full;
    }
    let Found { event, frame } = found;
    let step = mcp_proto::link::step_with(
        &mut core.machine,
        move || {
            let Some(taken) = inbox.take_large(LARGE) else {
                return inbox.next_message();
            };
            let large: &'b Large = large.insert(taken);
            *frame = Some(large.bytes());
            Some(large.message())
        },
        &mut core.outbox,
        turn.now,
    );
    let step = match step {
        mcp_proto::Step::Event { event: next, .. } => {
            *event = Some(next);
            Step::Event
        }
        mcp_proto::Step::Done => Step::Done,
        mcp_proto::Step::Ignored(why) => Step::Ignored(why),
        mcp_proto::Step::Full => Step::Full,
        mcp_proto::Step::Empty => Step::Empty,
    };
    turn.timeout = core.machine.poll_timeout();
    turn.has_output = !core.outbox.is_empty();
    step
}

/// Returns true if the error means only that the peer has closed its side.
fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::WriteZero
    )
}

/// Messages and polls of handlers in one turn, before other tasks of the thread get theirs. At
/// half a microsecond to a microsecond each that is about 100 µs, what runtimes call a fair
/// share (tokio's own budget for one poll is 128 operations), and much more than what arrives
/// at once on an ordinary connection, so it costs nothing there.
const WORK: u32 = 128;
