use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, IoSlice};

use mcp_async::net::Network;
use smol::Async;
use smol::net::TcpStream;

use crate::Runtime;

/// A connected socket of this runtime, with the traits of all.
#[derive(Debug)]
pub struct Socket(TcpStream);

/// A socket that connections arrive at.
#[derive(Debug)]
pub struct Listener(Async<std::net::TcpListener>);

impl Network for Runtime {
    type Stream = Socket;
    type Listener = Listener;

    fn listen(socket: std::net::TcpListener) -> io::Result<Listener> {
        Async::new(socket).map(Listener)
    }

    async fn accept(listener: &Listener) -> io::Result<(Socket, SocketAddr)> {
        let (stream, from) = listener.0.accept().await?;
        let stream = TcpStream::from(stream);
        stream.set_nodelay(true)?;
        Ok((Socket(stream), from))
    }

    async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        smol::net::resolve((host, port)).await
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
        Pin::new(&mut self.0).poll_read(task, buffer)
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
        Pin::new(&mut self.0).poll_close(task)
    }
}
