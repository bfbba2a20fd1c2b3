use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io::{self, IoSlice};

use mcp_async::net::Network;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::Runtime;

/// A connected socket of this runtime, with the traits of all.
///
/// ```
/// use mcp_tokio::net::Network;
/// use mcp_tokio::{Runtime, Socket};
///
/// async fn dial() -> std::io::Result<Socket> {
///     Runtime::dial(([127, 0, 0, 1], 8000).into()).await
/// }
/// ```
#[derive(Debug)]
pub struct Socket(TcpStream);

/// A socket that connections arrive at.
///
/// ```
/// use mcp_tokio::net::Network;
/// use mcp_tokio::{Listener, Runtime};
///
/// fn listen() -> std::io::Result<Listener> {
///     Runtime::listen(std::net::TcpListener::bind("127.0.0.1:0")?)
/// }
/// ```
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Network for Runtime {
    type Stream = Socket;
    type Listener = Listener;

    fn listen(socket: std::net::TcpListener) -> io::Result<Listener> {
        // `from_std` would panic.
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket).map(Listener)
    }

    async fn accept(listener: &Listener) -> io::Result<(Socket, SocketAddr)> {
        let (stream, from) = listener.0.accept().await?;
        stream.set_nodelay(true)?;
        Ok((Socket(stream), from))
    }

    async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }

    async fn dial(address: SocketAddr) -> io::Result<Socket> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Socket(stream))
    }
}

impl futures_io::AsyncRead for Socket {
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

impl futures_io::AsyncWrite for Socket {
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
