//! The connection and its exchanges as one future.

use core::future::poll_fn;
use core::task::{Context, Poll};
use std::io;
use std::sync::Arc;

use mcp_proto::client::{ClientConfig, Failure};
use mcp_proto::{Channel, Instant, Machine as _, Outgoing as _, Pipe, PreparedConfig};
use url::Url;

use super::authorization::Authorizer;
use super::carrier::Carrier;
use super::exchanges::Exchanges;
use super::link::{Link, Sent};
use super::settings::Settings;
use crate::client::connecting::supervisor::Dialled;
use crate::client::session::connection::{GRACE, Open, begin};
use crate::client::session::role::ClientRole;
use crate::client::state::ClientState;
use crate::client::{ConnectError, Machine, UnsentMessages};
use crate::connection::{Exchanged, Work, Worked, poll_work};
use crate::observe::Transport;

/// The machine of a client with the exchanges of its messages.
///
/// ```text
///          the end was asked for       said, or out of time      the server knows, or out of time
///   Open ------------------> Flushing ----------------> Closing -----------------> Over
/// ```
struct Session {
    connection: Exchanged<ClientRole>,
    exchanges: Exchanges,
    link: Arc<Link>,
    phase: Phase,
    /// The time at which the phase ends at the latest.
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Open,
    Flushing,
    Closing,
    Over,
}

impl Session {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let rounds = ROUNDS;
        let session = self;
        poll_work(&mut Rounds { session, rounds }, cx)
    }

    /// Takes what exchanges have received, as long as there is room for what the machine has to
    /// say to it.
    fn take_in(&mut self, cx: &Context<'_>) -> bool {
        let mut moved = false;
        while self.phase == Phase::Open
            && self.connection.with(|core| {
                core.outbound
                    .as_ref()
                    .is_some_and(|all| all.has_room(Channel::PIPE))
            })
        {
            match self.link.poll_messages(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => self.flush(),
                Poll::Ready(Some(received)) => {
                    let now = self.connection.now();
                    for incoming in received.messages() {
                        let frame = received.text().frame();
                        self.connection
                            .handle(now, &Pipe, incoming, frame, |_| None::<()>);
                    }
                }
            }
            moved = true;
        }
        moved
    }

    /// Begins the exchanges of what there is to send.
    fn send(&mut self, cx: &Context<'_>) -> bool {
        let mut moved = false;
        if self.phase >= Phase::Closing {
            return moved;
        }
        loop {
            let has_seat = self.link.poll_seat(cx).is_ready();
            let message = self.connection.with(|core| {
                let outgoing = core.outbound.as_mut()?;
                outgoing.take_next(has_seat)
            });
            let Some(message) = message else {
                break;
            };
            let sent = self.link.poll_send(cx, &message);
            if matches!(sent, Poll::Ready(Sent::Begun)) {
                moved = true;
                continue;
            }
            self.connection.with(|core| {
                let outgoing = core.outbound.as_mut()?;
                match sent {
                    Poll::Pending => outgoing.put_back(message),
                    // Calls and cancellations do not wait for it.
                    Poll::Ready(_) => outgoing.park(message),
                }
                Some(())
            });
            if sent.is_pending() {
                break;
            }
        }
        if moved {
            self.connection.wake_senders();
            if self.phase == Phase::Flushing {
                // A server that takes messages, however slowly, gets all of them.
                self.enter(Phase::Flushing);
            }
        }
        moved
    }

    /// Enters the next phase when this one has nothing left to do or its time is over.
    fn wind_down(&mut self, cx: &Context<'_>) -> bool {
        let now = self.connection.now();
        let late = self.deadline.is_some_and(|deadline| deadline <= now);
        match self.phase {
            Phase::Open if self.connection.is_given_up() => self.flush(),
            Phase::Open if self.connection.with(|core| core.closing) => self.flush(),
            Phase::Flushing if late || self.has_sent() => {
                self.connection.calls.jobs.cancel_all();
                self.enter(Phase::Closing);
            }
            Phase::Closing if late || self.link.poll_close(cx).is_ready() => {
                self.phase = Phase::Over;
                self.connection.calls.end();
            }
            Phase::Open | Phase::Flushing | Phase::Closing | Phase::Over => return false,
        }
        true
    }

    /// Ends the requests that still run. Messages of the machine about their end are still sent.
    fn flush(&mut self) {
        self.connection.calls.jobs.cancel_all();
        self.connection.with(|core| core.machine.hang_up());
        self.enter(Phase::Flushing);
    }

    fn has_sent(&self) -> bool {
        self.connection.with(|core| {
            core.machine.next_channel().is_none()
                && core.outbound.as_ref().is_none_or(|all| all.is_empty())
        })
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.deadline = Some(self.connection.now() + GRACE);
    }
}

impl Drop for Session {
    /// Ends every request, and wakes all who wait.
    fn drop(&mut self) {
        if self.phase != Phase::Over {
            self.connection.calls.end();
        }
    }
}

/// One poll of the session.
struct Rounds<'s> {
    session: &'s mut Session,
    /// The rest of [`ROUNDS`].
    rounds: u32,
}

impl Work for Rounds<'_> {
    type Output = io::Result<()>;

    fn begin(&mut self, cx: &Context<'_>) {
        self.session.link.driver_waker.begin(cx.waker());
        self.session.connection.begin(cx);
    }

    fn rest(&mut self) {
        self.session.link.driver_waker.rest();
        self.session.connection.rest();
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<io::Result<()>> {
        let Some(rounds) = self.rounds.checked_sub(1) else {
            return Worked::Enough;
        };
        self.rounds = rounds;
        let session = &mut *self.session;
        let mut worked = session.exchanges.work();
        worked |= session.take_in(cx);
        worked |= session.exchanges.renew();
        let now = session.connection.now();
        worked |= session.exchanges.end_answered(now);
        worked |= session.connection.turn(now);
        worked |= session.send(cx);
        worked |= session.wind_down(cx);
        if session.phase == Phase::Over {
            return Worked::Over(Ok(()));
        }
        worked |= session.exchanges.work();
        match worked {
            true => Worked::Some,
            false => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadlines = [self.session.deadline, self.session.exchanges.deadline()];
        let connection = &mut self.session.connection;
        let now = connection.now();
        connection.poll_time(cx, now, deadlines)
    }
}

/// Rounds of one turn, before other tasks of the thread get theirs.
const ROUNDS: u32 = 64;

/// Speaks to the server behind a URL, as soon as it is known who it is.
pub(super) async fn open_connection(
    (carrier, authorizer): (Arc<dyn Carrier>, Option<Arc<Authorizer>>),
    url: &str,
    settings: &Settings,
    config: PreparedConfig<ClientConfig<'static>>,
    client_state: Arc<ClientState>,
) -> Result<Dialled, ConnectError> {
    let url: Url = settings.check(url)?;
    let config = config.with(|config| config.revisions = settings.revisions(config.revisions));
    let limits = config.limits;
    // Each exchange succeeds or fails by itself.
    let opening = (Machine::connect_by_exchanges as Open, Transport::Http);
    let outgoing = Some(UnsentMessages::new(limits.output));
    let (side, peer) = begin(
        opening,
        outgoing,
        client_state.runtime.clone(),
        config.clone(),
        Arc::clone(&client_state),
    );
    let link = Link::new(
        carrier,
        authorizer,
        url,
        settings,
        &config,
        client_state,
        Arc::clone(&peer.shared),
    );
    let mut session = Session {
        connection: Exchanged::new(side, Arc::clone(&peer.shared)),
        exchanges: Exchanges::new(Arc::clone(&link)),
        link,
        phase: Phase::Open,
        deadline: None,
    };
    let met = peer.run_until_ready(|cx| session.poll(cx)).await;
    met.map_err(|error| match (error, session.link.take_cause()) {
        (ConnectError::Failed(Failure::Unreachable | Failure::Broken), Some(cause)) => {
            ConnectError::Unreachable(cause)
        }
        (error, _) => match (&error, session.link.take_denied()) {
            #[cfg(feature = "auth")]
            (ConnectError::Failed(Failure::Status(401)), Some(denied)) => {
                ConnectError::Authorization(denied)
            }
            _ => error,
        },
    })?;
    let run = Box::pin(async move { poll_fn(|cx| session.poll(cx)).await.map(|()| None) });
    Dialled::new(peer, run)
}
