use core::net::SocketAddr;
use core::task::{Context, Poll, ready};
use std::io;

use mcp_async::runtime::{BoxStream, Listener};
use tokio::net::{TcpListener, TcpStream};

use crate::io::Stream;

/// A socket that connections arrive at.
struct Socket(TcpListener);

impl Listener for Socket {
    fn poll_accept(&self, task: &mut Context<'_>) -> Poll<io::Result<(BoxStream, SocketAddr)>> {
        let (stream, from) = ready!(self.0.poll_accept(task))?;
        Poll::Ready(boxed(stream).map(|stream| (stream, from)))
    }
}

pub(crate) fn listen(socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
    socket.set_nonblocking(true)?;
    Ok(Box::new(Socket(TcpListener::from_std(socket)?)))
}

pub(crate) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

pub(crate) async fn dial(address: SocketAddr) -> io::Result<BoxStream> {
    boxed(TcpStream::connect(address).await?)
}

fn boxed(stream: TcpStream) -> io::Result<BoxStream> {
    stream.set_nodelay(true)?;
    Ok(Box::new(Stream(stream)))
}
