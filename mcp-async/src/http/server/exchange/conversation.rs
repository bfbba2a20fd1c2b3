//! A connection whose messages come and go in exchanges: what a driver is to a pair of byte
//! streams, without the streams.

use core::convert::Infallible;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use http::request::Parts;
use mcp_proto::http::PostStatus;
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::{Instant, Source};

use super::caller::principal;
use crate::connection::{Core, Exchanged, Shared, Text, Work, Worked, poll_work};
use crate::observe::Transport;
use crate::runtime::RuntimeHandle;
use crate::server::{
    BoxService, Machine, Peer, Principal, ServerRole, ServerStreams, SessionClient, StateKeys,
};

/// A machine with its service, its calls and its time.
///
/// Its owner drives it: [`handle`](Self::handle) a message, take a [`turn`](Self::turn), and
/// [`poll`](Self::poll) while work is pending. Dropping it ends every request.
pub(in crate::http::server) struct ServedConversation {
    connection: Exchanged<ServerRole<BoxService>>,
    /// Since it was asked to end, when it does so at the latest.
    ending: Option<Instant>,
    shutdown_timeout: Duration,
    /// True if calls that still run when the grace is over are answered with an error; an exchange
    /// whose response has not begun is answered with a status.
    refuses: bool,
    /// The waker that is woken when it has ended.
    leave: Option<Leave>,
}

/// Notified of the end of a connection.
pub(in crate::http::server) type Leave = Arc<dyn Fn(&Peer) + Send + Sync>;

/// The parts that a conversation is made of, apart from its machine and its streams.
pub(in crate::http::server) struct Beginning {
    pub(in crate::http::server) service: BoxService,
    pub(in crate::http::server) keys: Option<StateKeys>,
    pub(in crate::http::server) principal: Option<Principal>,
    pub(in crate::http::server) runtime: RuntimeHandle,
    pub(in crate::http::server) shutdown_timeout: Duration,
}

impl ServedConversation {
    pub(in crate::http::server) fn new(
        beginning: Beginning,
        machine: Machine,
        streams: Box<ServerStreams>,
    ) -> Self {
        let Beginning {
            service,
            keys,
            principal,
            runtime,
            shutdown_timeout,
        } = beginning;
        let limits = machine.config().limits;
        let shared = Shared::new(machine, &limits, runtime, Transport::Http, Some(streams));
        if let Some(keys) = keys {
            shared.lock().role_state.rounds.set_keys(keys);
        }
        let side = ServerRole::new(service, Peer::new(Arc::clone(&shared)), principal);
        Self {
            connection: Exchanged::new(side, shared),
            ending: None,
            shutdown_timeout,
            refuses: true,
            leave: None,
        }
    }

    /// The handle that reaches its client.
    pub(in crate::http::server) const fn peer(&self) -> &Peer {
        &self.connection.calls.role.peer
    }

    /// Returns the description that the client sent of itself when it opened its session.
    pub(in crate::http::server) fn session_client(&self) -> SessionClient {
        self.connection.calls.role.session_client()
    }

    /// Continues a session in which the client has said this of itself.
    pub(in crate::http::server) fn resume(&mut self, client: &SessionClient) {
        self.connection.calls.role.resume(client);
    }

    /// Registers a waker for its end.
    pub(in crate::http::server) fn leaves(&mut self, leave: &Leave) {
        self.leave = Some(Arc::clone(leave));
    }

    /// Sets whether calls that still run at the end are answered with an error.
    pub(super) const fn set_refuses(&mut self, refuses: bool) {
        self.refuses = refuses;
    }

    pub(in crate::http::server) const fn shared(&self) -> &Arc<Shared<Machine>> {
        &self.connection.calls.shared
    }

    pub(in crate::http::server) fn now(&self) -> Instant {
        self.connection.now()
    }

    /// Looks at the machine and at what it has to send.
    pub(in crate::http::server) fn with<T>(&self, look: impl FnOnce(&mut Core<Machine>) -> T) -> T {
        self.connection.with(look)
    }

    /// Looks at its streams.
    pub(in crate::http::server) fn streams<T>(
        &self,
        look: impl FnOnce(&mut ServerStreams) -> T,
    ) -> Option<T> {
        self.with(|core| core.outbound.as_deref_mut().map(look))
    }

    /// Takes the messages of one body.
    pub(in crate::http::server) fn take_in(
        &mut self,
        now: Instant,
        from: &Source<'_>,
        head: &Arc<Parts>,
        body: &OwnedMessages<Text>,
    ) -> PostStatus {
        let role = &mut self.connection.calls.role;
        // The name is that of the connection; the claims are those of this request.
        role.identify(principal(head));
        let arrived = &mut role.sender.arrived;
        arrived.head = Some(Arc::clone(head));
        arrived.channel = from.channel();
        let mut status = PostStatus::default();
        let frame = body.text().frame();
        for incoming in body.messages() {
            let connection = &mut self.connection;
            let verdict =
                connection.handle(now, from, incoming, frame, |action| action.http_status());
            status.note(&incoming, verdict);
        }
        // Calls that run keep the head themselves. Its fields share the storage that they were
        // read into, which an idle session must not hold.
        self.connection.calls.role.sender.arrived.head = None;
        status
    }

    /// Does what there is to do now, as far as one turn goes; whether there is more.
    pub(in crate::http::server) fn turn(&mut self, now: Instant) -> bool {
        self.wind_down(now);
        self.connection.turn(now)
    }

    /// Returns true if the conversation has ended by itself, or was asked to end and has nothing
    /// left to do.
    pub(in crate::http::server) fn is_over(&self, now: Instant, core: &Core<Machine>) -> bool {
        let late = self.ending.is_some_and(|ending| ending <= now);
        // An event that the store does not have yet was not read.
        let done = || {
            core.machine.in_flight() == 0
                && (late
                    || !core
                        .outbound
                        .as_ref()
                        .is_some_and(|streams| streams.awaits_store()))
        };
        self.connection.is_given_up() || core.machine.is_closed() || (core.closing && done())
    }

    /// Ends every request.
    pub(in crate::http::server) fn end(&mut self) {
        self.connection.calls.end();
    }

    /// Takes turns until there is nothing to do, and wakes the task when that changes, at
    /// `deadline` at the latest. The caller looks at what there is to send.
    pub(in crate::http::server) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        deadline: Option<Instant>,
    ) {
        let turns = &mut Turns {
            now: self.now(),
            conversation: self,
            deadline,
        };
        let _ = poll_work(turns, cx);
    }

    /// A poll of its task begins.
    pub(in crate::http::server) fn begin(&mut self, cx: &Context<'_>) {
        self.connection.begin(cx);
    }

    /// From now on what leaves work wakes the task.
    pub(in crate::http::server) fn rest(&self) {
        self.connection.rest();
    }

    /// Tells those who wait that there is room again.
    pub(in crate::http::server) fn was_read(&self) {
        self.connection.wake_senders();
    }

    /// Winds down after a handle asked for the end: running calls may finish, and listens end.
    /// Calls that still run when the grace is over are answered with an error.
    fn wind_down(&mut self, now: Instant) {
        if !self.with(|core| core.closing) {
            return;
        }
        let late = *self.ending.get_or_insert(now + self.shutdown_timeout) <= now;
        if late && self.refuses {
            self.connection.calls.refuse_all();
            self.connection.calls.flush_errors();
        }
        let readers = {
            let core = &mut *self.connection.calls.shared.lock();
            if !late && core.machine.in_flight() > 0 {
                return;
            }
            core.machine.cancel_all();
            // The response of an exchange that has not begun is a status.
            let streams = core.outbound.as_deref_mut().filter(|_| !self.refuses);
            streams.map(ServerStreams::finish)
        };
        readers.unwrap_or_default().wake();
    }

    /// Waits for what time brings, `deadline` included.
    pub(in crate::http::server) fn arm(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        deadline: Option<Instant>,
    ) -> Poll<()> {
        let ending = self.ending.filter(|ending| *ending > now);
        self.connection.poll_time(cx, now, [deadline, ending])
    }
}

/// One poll of a conversation.
struct Turns<'c> {
    conversation: &'c mut ServedConversation,
    /// The time at which the poll began.
    now: Instant,
    deadline: Option<Instant>,
}

impl Work for Turns<'_> {
    /// There is always a next turn.
    type Output = Infallible;

    fn begin(&mut self, cx: &Context<'_>) {
        self.conversation.begin(cx);
    }

    fn rest(&mut self) {
        self.conversation.rest();
    }

    fn work(&mut self, _: &mut Context<'_>) -> Worked<Infallible> {
        match self.conversation.turn(self.now) {
            true => Worked::Enough,
            false => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let due = self.conversation.arm(cx, self.now, self.deadline);
        if due.is_ready() {
            // The caller has to look first: what is due may be its own.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for ServedConversation {
    fn drop(&mut self) {
        self.connection.calls.end();
        if let Some(leave) = &self.leave {
            leave(self.peer());
        }
    }
}
