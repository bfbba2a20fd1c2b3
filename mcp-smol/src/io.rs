use futures_io::{AsyncRead, AsyncWrite};

/// Takes a stream that goes both ways apart into the pair that a connection wants: a socket, a
/// TLS stream, a duplex.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// let stream = smol::net::TcpStream::connect("127.0.0.1:7000").await?;
/// let streams = mcp_smol::split(stream);
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
    mcp_async::runtime::split(stream)
}

/// Makes a reader and a writer of this runtime the pair that a connection wants: they are it.
///
/// ```
/// use smol::io::{empty, sink};
///
/// // Anything that reads, and anything that writes.
/// let streams = mcp_smol::pair(empty(), sink());
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
    (reader, writer)
}
