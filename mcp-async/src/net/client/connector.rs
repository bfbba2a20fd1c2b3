use core::future::poll_fn;
use core::net::IpAddr;
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use http::Uri;
use hyper::client::conn::http1;
#[cfg(feature = "http2")]
use hyper::client::conn::http2;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::SendFailed;
use super::origin::Origin;
use super::pool::PooledConnection;
use crate::net::guard::is_loopback;
use crate::net::io::{Io, write_all};
use crate::net::maybe_tls_stream::MaybeTlsStream;
#[cfg(feature = "http2")]
use crate::net::time::Hyper;
use crate::net::tls::Trust;
use crate::net::{AddressClass, AddressGuard};
use crate::runtime::{BoxFuture, BoxStream, RuntimeHandle, Sleep, within};

/// Makes connections.
pub(super) struct Connector {
    /// `None` if every server is reached directly.
    pub(super) proxies: Option<Matcher>,
    pub(super) connect_timeout: Duration,
    pub(super) stall_timeout: Duration,
    pub(super) tls: Trust,
    /// Judges the addresses of servers.
    pub(super) guard: Option<AddressGuard>,
    /// Stores the address of the first connection that uses no proxy.
    pub(super) first_address: Option<Arc<OnceLock<IpAddr>>>,
}

impl Connector {
    /// The proxy that a request goes through, if it does.
    pub(super) fn proxy(&self, uri: &Uri, origin: &Origin) -> Option<Intercept> {
        let proxies = self.proxies.as_ref()?;
        // A proxy cannot reach this machine (RFC 6761, section 6.3).
        if is_loopback(origin.host()) {
            return None;
        }
        proxies.intercept(uri)
    }

    /// A new connection to a server, its task running.
    pub(super) async fn dial(
        &self,
        runtime: &RuntimeHandle,
        origin: &Origin,
        proxy: Option<&Intercept>,
    ) -> Result<PooledConnection, SendFailed> {
        let dialled = within(
            runtime,
            self.connect_timeout,
            self.wire(runtime, origin, proxy),
        )
        .await;
        let server = origin.authority();
        let wire = match dialled {
            Some(Ok(wire)) => wire,
            Some(Err(cause)) => return Err(SendFailed::Unreachable { server, cause }),
            None => return Err(SendFailed::TimedOut { server }),
        };
        let kept = self.speak(runtime, wire).await;
        kept.map_err(|error| origin.failed(error))
    }

    /// A socket to the server, or to its proxy; with TLS through either.
    async fn wire(
        &self,
        runtime: &RuntimeHandle,
        origin: &Origin,
        proxy: Option<&Intercept>,
    ) -> io::Result<MaybeTlsStream<BoxStream>> {
        let (stream, address) = match proxy {
            None => {
                let reached = reach(runtime, origin.host(), origin.port(), self.guard).await?;
                (reached.0, Some(reached.1))
            }
            Some(proxy) => {
                // The proxy resolves names itself.
                if let Some(guard) = self.guard {
                    guard.judge_host(origin.host()).map_err(io::Error::other)?;
                }
                let uri = proxy.uri();
                let unusable = |_| io::Error::other(format!("not a proxy of HTTP: {uri}"));
                let at = Origin::of(uri).map_err(unusable)?;
                if at.is_tls() {
                    return Err(io::Error::other("a proxy behind TLS is not supported"));
                }
                let stream = reach(runtime, at.host(), at.port(), None).await;
                let (mut stream, _) = stream
                    .map_err(|error| io::Error::new(error.kind(), format!("the proxy: {error}")))?;
                if origin.is_tls() {
                    tunnel(&mut stream, origin, proxy).await?;
                }
                (stream, None)
            }
        };
        let stream = match origin.is_tls() {
            true => self.tls.connect(origin.host(), stream).await?,
            false => MaybeTlsStream::Plain(stream),
        };
        // Only now is it the server that has this address.
        if let (Some(first), Some(address)) = (&self.first_address, address) {
            let _ = first.set(address);
        }
        Ok(stream)
    }

    /// Begins HTTP, in the version that both sides know.
    async fn speak(
        &self,
        runtime: &RuntimeHandle,
        wire: MaybeTlsStream<BoxStream>,
    ) -> hyper::Result<PooledConnection> {
        #[cfg(feature = "http2")]
        let is_http2 = wire.is_http2();
        let vectored = wire.is_vectored();
        let io = Io::new(runtime, wire, vectored, self.stall_timeout);
        #[cfg(feature = "http2")]
        if is_http2 {
            let mut builder = http2::Builder::new(Hyper(runtime.clone()));
            // A server that disappeared is noticed while a request waits for it.
            builder
                .timer(Hyper(runtime.clone()))
                .keep_alive_interval(self.stall_timeout)
                .keep_alive_timeout(self.stall_timeout);
            let (sender, connection) = builder.handshake(io).await?;
            runtime.spawn(Box::pin(async move {
                let _ended = connection.await;
            }));
            return Ok(PooledConnection::Http2(sender, Arc::default()));
        }
        let (sender, connection) = http1::Builder::new().handshake(io).await?;
        runtime.spawn(Box::pin(async move {
            let _ended = connection.await;
        }));
        Ok(PooledConnection::Http1(sender))
    }
}

/// The time after which the next address is tried as well if one does not answer (RFC 8305 5).
const STAGGER: Duration = Duration::from_millis(250);

/// A connection to whichever address of a host answers first, and that address. Addresses that
/// the guard refuses are left out.
async fn reach(
    runtime: &RuntimeHandle,
    host: &str,
    port: u16,
    guard: Option<AddressGuard>,
) -> io::Result<(BoxStream, IpAddr)> {
    type Attempt = BoxFuture<'static, io::Result<(BoxStream, IpAddr)>>;

    let mut addresses = runtime.resolve(host, port).await?;
    if is_loopback(host) {
        // `localhost` is this machine, whatever resolves it (RFC 6761, section 6.3).
        addresses.retain(|address| AddressClass::of(address.ip()) == AddressClass::Loopback);
    }
    let mut addresses = addresses.into_iter();
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut next = Sleep::after(runtime, Duration::ZERO);
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    poll_fn(|cx| {
        loop {
            let mut index = 0;
            while let Some(attempt) = attempts.get_mut(index) {
                match attempt.as_mut().poll(cx) {
                    Poll::Pending => index += 1,
                    Poll::Ready(Ok(stream)) => return Poll::Ready(Ok(stream)),
                    Poll::Ready(Err(error)) => {
                        failed = error;
                        drop(attempts.swap_remove(index));
                        next.reset(runtime.now());
                    }
                }
            }
            if !attempts.is_empty() && next.poll_done(cx).is_pending() {
                return Poll::Pending;
            }
            match addresses.next() {
                Some(address) => {
                    let ip = address.ip();
                    match guard.map_or(Ok(()), |guard| guard.judge(ip)) {
                        Ok(()) => {
                            let dialled = runtime.dial(address);
                            attempts.push(Box::pin(async move { Ok((dialled.await?, ip)) }));
                            next.reset(runtime.now() + STAGGER);
                        }
                        Err(refused) => failed = io::Error::other(refused),
                    }
                }
                None if attempts.is_empty() => {
                    let nothing = io::Error::from(io::ErrorKind::NotFound);
                    return Poll::Ready(Err(core::mem::replace(&mut failed, nothing)));
                }
                None => return Poll::Pending,
            }
        }
    })
    .await
}

/// The most that a proxy may say before it lets us through.
const MAX_ANSWER: usize = 16 * 1024;

/// Asks a proxy for a way through to the server (RFC 9110 9.3.6).
async fn tunnel<S>(stream: &mut S, origin: &Origin, proxy: &Intercept) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let server = origin.authority();
    let mut asked = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n").into_bytes();
    if let Some(authorization) = proxy.basic_auth() {
        asked.extend_from_slice(b"Proxy-Authorization: ");
        asked.extend_from_slice(authorization.as_bytes());
        asked.extend_from_slice(b"\r\n");
    }
    asked.extend_from_slice(b"\r\n");
    write_all(stream, &asked).await?;
    poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await?;
    let mut answer = Vec::new();
    // TLS begins with us, so whatever the proxy says is its answer.
    while !answer.ends_with(b"\r\n\r\n") {
        let mut bytes = [0; 1024];
        let read = poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut bytes)).await?;
        answer.extend_from_slice(bytes.get(..read).unwrap_or_default());
        if read == 0 || answer.len() > MAX_ANSWER {
            return Err(io::Error::other("the proxy broke off"));
        }
        if refused(&answer) {
            break;
        }
    }
    let status = answer
        .split(|byte| *byte == b' ')
        .nth(1)
        .unwrap_or_default();
    if answer.starts_with(b"HTTP/1.") && status.first() == Some(&b'2') {
        return Ok(());
    }
    let line = answer
        .split(|byte| *byte == b'\r')
        .next()
        .unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    Err(io::Error::other(format!("the proxy refused: {line}")))
}

/// Returns true if the head is complete and its status is no success: its body is of no interest.
fn refused(answer: &[u8]) -> bool {
    let whole = answer.windows(4).any(|end| end == b"\r\n\r\n");
    whole && answer.get(9) != Some(&b'2')
}
