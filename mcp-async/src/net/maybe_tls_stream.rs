use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, IoSlice};

use futures_io::{AsyncRead, AsyncWrite};

/// A socket, with TLS on it or without.
pub(crate) enum MaybeTlsStream<S> {
    Plain(S),
    #[cfg(feature = "tls")]
    Tls(Box<futures_rustls::TlsStream<S>>),
}

impl<S> MaybeTlsStream<S> {
    /// Returns true if several slices are worth handing over at once: TLS would make a record of
    /// each.
    pub(crate) const fn is_vectored(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    pub(crate) const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Returns true if both sides agreed on HTTP/2 in the handshake.
    #[cfg(feature = "http2")]
    pub(crate) fn is_http2(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

/// Calls the same method on whichever it is.
macro_rules! on_either {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).$method($($argument),*),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(&mut **stream).$method($($argument),*),
        }
    };
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for MaybeTlsStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        on_either!(self, poll_read(cx, bytes))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MaybeTlsStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        on_either!(self, poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on_either!(self, poll_write_vectored(cx, slices))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_either!(self, poll_flush(cx))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_either!(self, poll_close(cx))
    }
}
