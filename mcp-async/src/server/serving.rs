//! A server on its way to a client: over a pair of byte streams, and for transports of other
//! kinds.

use std::io;
#[cfg(feature = "http")]
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};

#[cfg(feature = "http")]
use super::Keys;
use super::builder::Server;
use super::inner::BoxService;
#[cfg(feature = "http")]
use super::rate::Buckets;
use super::spawned::Spawn;
use super::{Connection, Peer, connect};
use crate::io::stdio::{self, Claim};
use crate::runtime::{Clock, Runtime};

impl<R> Server<R> {
    /// Serves one client on this clock, without a runtime: in tests and simulations.
    pub fn serve_on<I, O, C>(
        &self,
        streams: (I, O),
        clock: C,
    ) -> (Connection<I, O, C, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
        C: Clock,
    {
        self.begin(streams, clock, None)
    }

    /// From now on the client at the other end is told what changes.
    #[cfg(feature = "http")]
    pub(crate) fn connected(&self, peer: &Peer) {
        self.inner.connected(peer);
    }

    /// The client at the other end is gone.
    #[cfg(feature = "http")]
    pub(crate) fn disconnected(&self, peer: &Peer) {
        self.inner.disconnected(peer);
    }

    /// Limits what one exchange may log.
    #[cfg(feature = "http")]
    pub(crate) fn limit_logs(&self, peer: &Peer) {
        if let Some(limit) = self.inner.view().settings.rates.logs {
            peer.limit_logs(limit);
        }
    }

    /// Ready once it was shut down.
    #[cfg(feature = "http")]
    pub(crate) fn poll_closing(&self, cx: &core::task::Context<'_>) -> core::task::Poll<()> {
        self.inner.poll_closing(cx)
    }

    /// Whether it was shut down.
    #[cfg(feature = "http")]
    pub(crate) fn is_closing(&self) -> bool {
        self.inner.is_closing()
    }

    /// What seals the states of its requests, if it was said.
    #[cfg(feature = "http")]
    pub(crate) fn sealed_with(&self) -> Option<Keys> {
        self.inner.view().settings.keys.clone()
    }

    fn begin<I, O, C>(
        &self,
        streams: (I, O),
        clock: C,
        spawn: Option<Spawn>,
    ) -> (Connection<I, O, C, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
        C: Clock,
    {
        let service = self.inner.service(spawn);
        let (mut connection, peer) = connect(streams, clock, self.config(), service);
        if let Some(keys) = self.inner.view().settings.keys.clone() {
            connection = connection.with_keys(keys);
        }
        self.inner.connected(&peer);
        (connection, peer)
    }
}

impl<R: Runtime> Server<R> {
    /// Serves one client over a pair of byte streams: await the connection, or spawn it.
    pub fn serve<I, O>(&self, streams: (I, O)) -> (Connection<I, O, R, BoxService>, Peer)
    where
        I: AsyncRead + Unpin,
        O: AsyncWrite + Unpin,
    {
        self.begin(streams, R::default(), Some(R::spawn))
    }

    /// Serves one client over this process's standard input and output, until either is closed
    /// the server is [shut down](super::Registry::shutdown), or the program is
    /// [interrupted](Runtime::interrupted). Both are the wire's alone from then on
    /// ([`Claim::Exclusive`]). However it ends, what was read is answered and the result is `Ok`:
    /// return from `main`.
    ///
    /// # Errors
    /// What [`check`](Self::check) reports, standard streams that cannot be taken, and errors
    /// of the streams.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.check()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let streams = stdio::open(R::reactor(), Claim::Exclusive)?;
        let (connection, _) = self.serve(streams);
        connection.until(R::interrupted()).await
    }

    /// What serves one exchange that stands for itself; they share their limits.
    #[cfg(feature = "http")]
    pub(crate) fn exchange_service(&self, buckets: &Arc<Buckets>) -> BoxService {
        self.inner
            .service_sharing(Some(R::spawn), Arc::clone(buckets))
    }

    /// What serves one connection, for a transport that is not a pair of byte streams.
    pub fn service(&self) -> BoxService {
        self.inner.service(Some(R::spawn))
    }
}
