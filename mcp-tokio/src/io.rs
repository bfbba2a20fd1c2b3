use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io::{self, IoSlice};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Takes a stream that goes both ways apart into the pair that a connection wants: a socket, a
/// TLS stream, a duplex.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// let stream = tokio::net::TcpStream::connect("127.0.0.1:7000").await?;
/// let streams = mcp_tokio::split(stream);
/// # drop(streams);
/// # Ok(())
/// # }
/// ```
pub fn split<T>(
    stream: T,
) -> (
    impl futures_io::AsyncRead + Send + Unpin,
    impl futures_io::AsyncWrite + Send + Unpin,
)
where
    T: AsyncRead + AsyncWrite + Send + Unpin,
{
    mcp_async::runtime::split(Stream(stream))
}

/// Makes a reader and a writer of this runtime the pair that a connection wants.
///
/// ```
/// use tokio::io::{empty, sink};
///
/// // Anything that reads, and anything that writes.
/// let streams = mcp_tokio::pair(empty(), sink());
/// # drop(streams);
/// ```
pub fn pair<R, W>(
    reader: R,
    writer: W,
) -> (
    impl futures_io::AsyncRead + Send + Unpin,
    impl futures_io::AsyncWrite + Send + Unpin,
)
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    (Stream(reader), Stream(writer))
}

/// A stream of this runtime, with the traits of all.
pub(crate) struct Stream<T>(pub(crate) T);

impl<T: AsyncRead + Unpin> futures_io::AsyncRead for Stream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(&mut self.0).poll_read(task, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<T: AsyncWrite + Unpin> futures_io::AsyncWrite for Stream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(task, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(task)
    }

    fn poll_close(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(task)
    }
}
