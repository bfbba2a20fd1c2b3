use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use mcp_async::runtime::{BoxStream, Listener};
use smol::Async;

/// A socket that connections arrive at.
struct Socket(Async<std::net::TcpListener>);

impl Listener for Socket {
    fn poll_accept(&self, task: &mut Context<'_>) -> Poll<io::Result<(BoxStream, SocketAddr)>> {
        loop {
            match self.0.get_ref().accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                accepted => {
                    let (stream, from) = accepted?;
                    let stream = Stream::new(Async::new(stream)?, true)?;
                    return Poll::Ready(Ok((Box::new(stream), from)));
                }
            }
            ready!(self.0.poll_readable(task))?;
        }
    }
}

pub(crate) fn listen(socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
    Ok(Box::new(Socket(Async::new(socket)?)))
}

pub(crate) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    smol::net::resolve((host, port)).await
}

pub(crate) async fn dial(address: SocketAddr) -> io::Result<BoxStream> {
    let stream = Async::<TcpStream>::connect(address).await?;
    Ok(Box::new(Stream::new(stream, false)?))
}

/// The socket and its read state.
#[derive(Debug)]
struct Stream {
    socket: Async<TcpStream>,
    /// True if no system call is made to learn that nothing has come. The client must notice
    /// immediately that a pooled connection was closed, before it is used again.
    patient: bool,
    /// The last read had all there was, so the next waits until the reactor says that there is more.
    drained: bool,
}

impl Stream {
    fn new(socket: Async<TcpStream>, patient: bool) -> io::Result<Self> {
        socket.get_ref().set_nodelay(true)?;
        Ok(Self {
            socket,
            patient,
            drained: false,
        })
    }

    fn poll_written(
        &self,
        task: &mut Context<'_>,
        mut write: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match write(self.socket.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
            ready!(self.socket.poll_writable(task))?;
        }
    }
}

impl futures_io::AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.drained {
            ready!(self.socket.poll_readable(task))?;
        }
        loop {
            let read = self.socket.get_ref().read(buffer);
            let blocked = matches!(&read, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            let short = read.as_ref().is_ok_and(|read| *read < buffer.len());
            self.drained = self.patient && (blocked || short);
            if !blocked {
                return Poll::Ready(read);
            }
            ready!(self.socket.poll_readable(task))?;
        }
    }
}

impl futures_io::AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(task, |mut stream| stream.write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_written(task, |mut stream| stream.write_vectored(slices))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.socket.get_ref().shutdown(Shutdown::Write))
    }
}
