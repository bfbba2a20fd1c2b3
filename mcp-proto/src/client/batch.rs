//! Calls that are sent as one array, in 2025-03-26 (JR-16).

use super::{Client, Storage};
use crate::action::{SendError, Transmit};
use crate::array_buf::ArrayBuf;
use crate::store::Table;

/// The array of calls that the application makes.
#[derive(Debug)]
pub(super) struct Gathered<B> {
    pub(super) array: ArrayBuf<B>,
    pub(super) calls: usize,
    pub(super) open: bool,
}

impl<B: Table<u8>> Gathered<B> {
    pub(super) const fn new(store: B, limit: usize) -> Self {
        Self {
            array: ArrayBuf::new(store, limit),
            calls: 0,
            open: false,
        }
    }

    pub(super) fn clear(&mut self) {
        self.array.clear();
        self.calls = 0;
        self.open = false;
    }
}

impl<S: Storage> Client<'_, S> {
    /// Begins to gather calls: until [`end_batch`](Self::end_batch) they leave nothing in their
    /// buffers. Keep it short: cancellations wait for it.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] outside of 2025-03-26, [`SendError::NotReady`] while one is
    /// being gathered. A call that finds no room in the batch is refused with
    /// [`SendError::TableFull`]: end the batch, and begin another; one that would find none in
    /// any, with [`SendError::TooLarge`].
    ///
    /// ```
    /// # use mcp_proto::client::{Client, ClientConfig, Growing};
    /// # use mcp_proto::{Channel, Instant, Machine, Pipe, RevisionSet, rpc};
    /// # let config = ClientConfig { revisions: RevisionSet::legacy(), ..ClientConfig::new("demo", "1.0") };
    /// # let (mut client, mut out, now) = (Client::new(config, Growing).unwrap(), [0; 512], Instant::ZERO);
    /// # client.connect(now)?;
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// # let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26",
    /// #     "capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1.0"}}}"#;
    /// # let answer = rpc::Incoming::Message(rpc::Message::parse(answer, 16));
    /// # let _ = client.handle(now, &Pipe, answer);
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// use mcp_proto::client::Call;
    /// use mcp_proto::rpc::Method;
    ///
    /// client.begin_batch()?;
    /// let (_, sent) = client.call(now, &Call::new(Method::ToolsList), &mut out)?;
    /// assert_eq!(sent.len, 0, "it leaves with the array");
    /// let sent = client.end_batch(&mut out)?;
    /// assert!(out[..sent.len].starts_with(b"[{"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// With a storage that has no room for a batch it does not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::client::{Client, ClientConfig, Fixed};
    ///
    /// let mut client = Client::new(ClientConfig::new("demo", "1.0"), Fixed::new()).unwrap();
    /// let _ = client.begin_batch();
    /// ```
    pub fn begin_batch(&mut self) -> Result<(), SendError> {
        const { assert!(S::Batch::HOLDS, "a client without room for a batch") }
        if !self.ready()?.allows_batches() {
            return Err(SendError::NotInRevision);
        }
        if self.batch.open {
            return Err(SendError::NotReady);
        }
        self.batch.open = true;
        Ok(())
    }

    /// Writes the collected calls as one array; writes nothing if there are none (JR-18).
    ///
    /// # Errors
    /// [`SendError::BufferFull`], [`SendError::NotReady`] without a
    /// [`begin_batch`](Self::begin_batch), and [`SendError::Closed`].
    pub fn end_batch(&mut self, out: &mut [u8]) -> Result<Transmit, SendError> {
        self.ready()?;
        if !self.batch.open {
            return Err(SendError::NotReady);
        }
        let len = self.batch.array.write(out)?;
        self.batch.clear();
        Ok(Transmit::pipe(len))
    }
}
