//! The connection and its exchanges as one future.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use std::io;
use std::sync::Arc;

use mcp_proto::client::{ClientConfig, Failure};
use url::Url;

use super::carrier::Carrier;
use super::ends::{Sink, Source};
use super::exchanges::Exchanges;
use super::link::Link;
use super::settings::Settings;
use crate::client::connection::{Connection, connect_with};
use crate::client::hub::Hub;
use crate::client::keeper::Dialled;
use crate::client::{ConnectError, Machine};
use crate::connection::{Alarm, Work, Worked, poll_work};
use crate::io::MessageWriter;
use crate::observe::Transport;
use crate::runtime::Clock;

struct Session<C: Clock> {
    connection: Connection<Source, MessageWriter<Sink>, Arc<C>>,
    exchanges: Exchanges<C>,
    link: Arc<Link>,
}

impl<C: Clock> Session<C> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let rounds = ROUNDS;
        let session = self;
        poll_work(&mut Rounds { session, rounds }, cx)
    }
}

/// One poll of the session.
struct Rounds<'s, C: Clock> {
    session: &'s mut Session<C>,
    /// What is left of [`ROUNDS`].
    rounds: u32,
}

impl<C: Clock> Work for Rounds<'_, C> {
    type Output = io::Result<()>;

    fn alarm(&self) -> &Alarm {
        &self.session.link.alarm
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<io::Result<()>> {
        let Some(rounds) = self.rounds.checked_sub(1) else {
            return Worked::Enough;
        };
        self.rounds = rounds;
        let Session {
            connection,
            exchanges,
            ..
        } = self.session;
        let mut worked = exchanges.work();
        if let Poll::Ready(ended) = Pin::new(connection).poll(cx) {
            return Worked::Over(ended);
        }
        worked |= exchanges.work();
        match worked {
            true => Worked::Some,
            false => Worked::None,
        }
    }

    /// The connection and the exchanges have timers of their own.
    fn poll_rest(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

/// Rounds of one turn, before other tasks of the thread get theirs.
const ROUNDS: u32 = 64;

/// Speaks to the server behind a URL, as soon as it is known who it is.
pub(super) async fn meet<C: Clock>(
    carrier: Box<dyn Carrier>,
    url: &str,
    settings: &Settings,
    clock: C,
    mut config: ClientConfig<'static>,
    hub: Arc<Hub>,
) -> Result<Dialled, ConnectError> {
    let url: Url = settings.check(url)?;
    config.revisions = settings.revisions(config.revisions);
    let clock = Arc::new(clock);
    let link = Link::new(carrier, url, settings, &config.limits, Arc::clone(&hub));
    let ends = (
        Source::new(Arc::clone(&link)),
        MessageWriter::new(Sink(Arc::clone(&link))),
    );
    // Each exchange succeeds or fails by itself.
    let (connection, peer) = connect_with(
        (Machine::connect_by_exchanges, Transport::Http),
        ends,
        Arc::clone(&clock),
        config,
        hub,
    );
    link.join(Arc::clone(&peer.shared));
    let mut session = Session {
        connection,
        exchanges: Exchanges::new(Arc::clone(&link), clock),
        link,
    };
    let met = {
        let mut ready = pin!(peer.ready());
        poll_fn(|cx| {
            let ended = session.poll(cx);
            match ready.as_mut().poll(cx) {
                Poll::Pending if ended.is_ready() => Poll::Ready(Err(ConnectError::Closed)),
                other => other.map_ok(|_| ()),
            }
        })
        .await
    };
    met.map_err(|error| match (error, session.link.take_cause()) {
        (ConnectError::Failed(Failure::Unreachable | Failure::Broken), Some(cause)) => {
            ConnectError::Unreachable(cause)
        }
        (error, _) => error,
    })?;
    let run = Box::pin(async move { poll_fn(|cx| session.poll(cx)).await.map(|()| None) });
    Dialled::new(peer, run)
}
