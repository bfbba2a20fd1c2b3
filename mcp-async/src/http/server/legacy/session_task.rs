//! The task of a legacy session.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::http::{PostStatus, Refusal};
use mcp_proto::rpc::{Incoming, Message, Method, OwnedMessages};
use mcp_proto::{Channel, Instant, Source};

use super::store_writer::{Leaving, RecordState, StoreWriter};
use super::takeover::MOVING;
use crate::connection::{Core, Text, Work, Worked, poll_work};
use crate::http::server::endpoint::capacity::Place;
use crate::http::server::endpoint::session::Session;
use crate::http::server::endpoint::sessions::Sessions;
use crate::http::server::exchange::conversation::ServedConversation;
use crate::observe;
use crate::runtime::Sleep;
use crate::server::{Machine, ServerStreams};
use crate::sync::Waiters;

/// Holds the machine of a session, and does what there is to do for it.
pub(super) struct SessionTask {
    pub(super) session: Arc<Session>,
    pub(super) conversation: ServedConversation,
    pub(super) sessions: Arc<Sessions>,
    pub(super) idle: Duration,
    /// Its one stream is its connection (HS-10).
    pub(super) ends_with_stream: bool,
    /// Nothing is left to do but to leave the store.
    pub(super) leaving: Option<Leaving>,
    /// The end of its wait for the store.
    pub(super) leave_by: Option<Sleep>,
    /// The store has forgotten it.
    pub(super) forgotten: bool,
    /// Writes it to the store that processes share.
    pub(super) store_writer: Option<StoreWriter>,
    /// POSTs whose messages the machine has had.
    pub(super) handled: Vec<Handled>,
    pub(super) _place: Place,
}

/// A POST whose messages the machine has had.
pub(super) struct Handled {
    channel: Channel,
    status: PostStatus,
    /// Its answer says that the record of the session changes, and the store does not have that yet.
    awaits_record: bool,
}

impl SessionTask {
    /// Takes a few bodies that were posted, and does what there is to do; whether there is more.
    fn turn(&mut self, now: Instant) -> bool {
        let mut more = None;
        for _ in 0..POSTS {
            let Some(posted) = self.session.next_posted() else {
                return more.unwrap_or_else(|| self.conversation.turn(now));
            };
            let channel = posted.channel;
            let may_serve = |writer: &StoreWriter| writer.may_serve(&self.session);
            if !self.store_writer.as_ref().is_none_or(may_serve) {
                // The lease has ended since the request was admitted: nothing of it is done.
                self.session
                    .streams(|streams| streams.refuse(channel, Refusal::Unavailable(MOVING)));
                more.get_or_insert(true);
                continue;
            }
            let post = posted.post.as_post();
            let source = match channel {
                Channel::PIPE => Source::PIPE,
                channel => Source::post(channel, &post),
            };
            let conversation = &mut self.conversation;
            let status = conversation.take_in(now, &source, &posted.head, &posted.body);
            // Answers that are there at once come with the verdict.
            more = Some(conversation.turn(now));
            let has_saved =
                |writer: &StoreWriter| conversation.with(|core| writer.has_saved(&core.machine));
            self.handled.push(Handled {
                channel,
                status,
                awaits_record: !self.store_writer.as_ref().is_none_or(has_saved)
                    && changes_record(&posted.body),
            });
        }
        true
    }

    /// Lets the store know what is new, and then says what was handled.
    fn keep(&mut self, cx: &mut Context<'_>, now: Instant) {
        let (kept, interrupts) = match &mut self.store_writer {
            None => (RecordState::Complete, false),
            Some(writer) => {
                let used = match self.conversation.with(is_idle) {
                    true => self.session.state().used,
                    false => now,
                };
                let kept = writer.poll(cx, now, &self.session, used);
                (kept, writer.interrupts(now))
            }
        };
        if interrupts {
            self.session.streams(ServerStreams::interrupt_readers);
        }
        if self.handled.is_empty() {
            return;
        }
        let is_saving = kept == RecordState::Saving && !interrupts;
        self.session.streams(|streams| {
            self.handled.retain(|post| {
                if post.awaits_record && is_saving {
                    return true;
                }
                match post.awaits_record && kept != RecordState::Complete {
                    true => streams.refuse(post.channel, Refusal::Unavailable(UNSAVED)),
                    false => streams.handled(post.channel, post.status),
                }
                false
            });
        });
    }

    /// Looks at what the turn has left, and wakes the readers of what is new.
    fn status(&self, now: Instant) -> SessionStatus {
        let mut woken = Waiters::new();
        let (running, idle, over) = self.conversation.with(|core| {
            let idle = is_idle(core);
            let over = self.conversation.is_over(now, core);
            let is_read = core.outbound.as_mut().is_some_and(|streams| {
                streams.take_woken(&mut woken);
                streams.has_readers()
            });
            let over = over || (self.ends_with_stream && !is_read);
            (core.machine.in_flight(), idle, over)
        });
        self.session.set_running(running);
        woken.wake();
        let state = self.session.state();
        let expiry = idle.then(|| state.used + self.idle);
        SessionStatus {
            expiry,
            deleted: state.deleted,
            displaced: state.displaced
                || self
                    .store_writer
                    .as_ref()
                    .is_some_and(StoreWriter::is_displaced),
            over: over || expiry.is_some_and(|expiry| expiry <= now),
        }
    }

    /// Waits until the store was left, for a lease at most.
    fn poll_leave(&mut self, cx: &mut Context<'_>, leaving: Leaving) -> Poll<()> {
        let left = match &mut self.store_writer {
            Some(writer) => match writer.poll_leave(cx, leaving) {
                Poll::Ready(left) => left,
                Poll::Pending => {
                    let runtime = &self.conversation.shared().runtime;
                    let lease = writer.lease();
                    let leave_by = self
                        .leave_by
                        .get_or_insert_with(|| Sleep::after(runtime, lease));
                    ready!(leave_by.poll_done(cx));
                    false
                }
            },
            None => true,
        };
        self.forgotten = left && leaving == Leaving::Removed;
        Poll::Ready(())
    }

    /// Ends every request and every stream, behind what is on it.
    fn close(&mut self) {
        // Their POSTs have run, and must not be sent again as those that have not.
        let handled = core::mem::take(&mut self.handled);
        self.session.streams(|streams| {
            for post in handled {
                streams.refuse(post.channel, Refusal::Unavailable(UNSAVED));
            }
        });
        self.conversation.end();
        let woken = self.session.streams(ServerStreams::finish);
        woken.unwrap_or_default().wake();
    }
}

/// Returns whether a message changes what the record says, even if it was changed to that before.
fn changes_record(body: &OwnedMessages<Text>) -> bool {
    body.messages().any(|incoming| {
        let method = match incoming {
            Incoming::Message(Message::Request(request)) => request.method,
            Incoming::Message(Message::Notification(notification)) => notification.method,
            _ => return false,
        };
        matches!(
            method,
            Method::Initialized
                | Method::LoggingSetLevel
                | Method::ResourcesSubscribe
                | Method::ResourcesUnsubscribe
        )
    })
}

/// Returns true if no request runs and no stream is read: a running request or an open stream is
/// use.
fn is_idle(core: &mut Core<Machine>) -> bool {
    core.machine.in_flight() == 0
        && core
            .outbound
            .as_ref()
            .is_none_or(|streams| !streams.has_readers())
}

/// The state of the session after a turn.
struct SessionStatus {
    /// The time at which the session is over if nothing happens; `None` while it is in use.
    expiry: Option<Instant>,
    /// True if the client has ended the session.
    deleted: bool,
    /// True if another process owns the session now, or has ended it.
    displaced: bool,
    /// True if the session has ended.
    over: bool,
}

/// Everything in it is polled through `&mut` only.
impl Unpin for SessionTask {}

impl Future for SessionTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if let Some(leaving) = this.leaving {
            return this.poll_leave(cx, leaving);
        }
        let turns = &mut Turns {
            now: this.conversation.now(),
            task: this,
            expiry: None,
        };
        ready!(poll_work(turns, cx));
        match this.leaving {
            Some(leaving) => this.poll_leave(cx, leaving),
            None => Poll::Ready(()),
        }
    }
}

/// One poll of the task.
struct Turns<'t> {
    task: &'t mut SessionTask,
    /// The time at which the poll began.
    now: Instant,
    /// See [`SessionStatus::expiry`].
    expiry: Option<Instant>,
}

impl Work for Turns<'_> {
    type Output = ();

    fn begin(&mut self, cx: &Context<'_>) {
        self.task.conversation.begin(cx);
    }

    fn rest(&mut self) {
        self.task.conversation.rest();
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<()> {
        let Self { task, now, expiry } = self;
        let more = task.turn(*now);
        task.keep(cx, *now);
        let status = task.status(*now);
        *expiry = status.expiry;
        if status.deleted {
            // Its requests and streams end at once, before the store answers, also in a displaced owner.
            task.leaving = Some(Leaving::Removed);
            task.close();
            return Worked::Over(());
        }
        if status.displaced {
            // Its requests and streams end here; the client finds the session where it is now.
            observe::displaced();
            if let Some(writer) = &task.store_writer {
                writer.count_displaced();
            }
            return Worked::Over(());
        }
        if status.over && task.conversation.with(|core| core.closing) {
            task.leaving = Some(Leaving::Released);
            task.close();
        }
        match (status.over, more) {
            (true, _) => Worked::Over(()),
            (false, true) => Worked::Enough,
            (false, false) => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { task, now, expiry } = self;
        let due = task.store_writer.as_ref();
        let due = due.and_then(|writer| writer.due(*now, expiry.is_none()));
        // A session in use is looked at again after the idle time, because the end of a request wakes no task.
        let look = expiry.unwrap_or(*now + task.idle.max(LOOK));
        let deadline = due.into_iter().chain([look]).min();
        let due = task.conversation.arm(cx, *now, deadline);
        if due.is_ready() {
            *now = task.conversation.now();
        }
        due
    }
}

impl Drop for SessionTask {
    /// However it ends, it can no longer be found, and its streams end after their last event.
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
        self.close();
        self.session.leave(self.forgotten);
    }
}

const UNSAVED: &str = "the store did not take what the request changed: it has run";

/// The least time between two looks at a session that is in use.
const LOOK: Duration = Duration::from_secs(1);

/// Bodies that one turn takes in, before other tasks of the thread get theirs.
const POSTS: u32 = 16;
