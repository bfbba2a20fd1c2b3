//! A wire that moves few bytes at once.

use core::pin::Pin;
use core::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

/// Moves at most so many bytes at once.
pub(crate) struct Chopped<T>(pub(crate) T, pub(crate) usize);

impl<T: AsyncRead + Unpin> AsyncRead for Chopped<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<std::io::Result<usize>> {
        let len = buf.len().min(self.1);
        Pin::new(&mut self.0).poll_read(cx, &mut buf[..len])
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Chopped<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let len = buf.len().min(self.1);
        Pin::new(&mut self.0).poll_write(cx, &buf[..len])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}
