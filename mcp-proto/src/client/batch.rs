//! Calls that are sent as one array, in 2025-03-26 (JR-16).

use core::fmt;

use super::{Client, Storage};
use crate::action::{SendError, Transmit};
use crate::json::Writer;
use crate::store::Store;
use crate::time::Instant;

/// Calls, gathered: `[{..},{..}` without the end, or nothing.
pub(super) struct Gathered<B> {
    store: B,
    /// Bytes gathered, at most the store's length.
    len: usize,
    calls: usize,
    pub(super) open: bool,
}

impl<B: Store<u8>> Gathered<B> {
    pub(super) const fn new(store: B) -> Self {
        Self {
            store,
            len: 0,
            calls: 0,
            open: false,
        }
    }

    /// Appends what `write` writes, or nothing.
    pub(super) fn put(
        &mut self,
        calls: usize,
        bytes: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, SendError>,
    ) -> Result<Pending, SendError> {
        if self.calls >= calls {
            return Err(SendError::TableFull);
        }
        loop {
            let end = self.store.as_ref().len().min(bytes);
            let mut nowhere = [];
            let free = match self.store.as_mut().get_mut(self.len..end) {
                Some(free) => free,
                None => &mut nowhere,
            };
            let needed = match free.split_first_mut() {
                Some((separator, free)) => {
                    *separator = if self.calls == 0 { b'[' } else { b',' };
                    match write(free) {
                        Ok(len) => return Ok(Pending(len + 1)),
                        Err(SendError::BufferFull { needed }) => needed + 1,
                        Err(other) => return Err(other),
                    }
                }
                None => match write(&mut []) {
                    Err(SendError::BufferFull { needed }) => needed + 1,
                    Err(other) => return Err(other),
                    Ok(_) => return Err(SendError::Encode),
                },
            };
            let wanted = self.len.saturating_add(needed);
            if wanted > bytes || wanted <= end || !self.store.grow(wanted) {
                // Another batch is of use only to a call that is not the first of this one.
                return Err(match self.calls {
                    0 => SendError::TooLarge { needed: wanted },
                    _ => SendError::TableFull,
                });
            }
        }
    }

    /// Keeps what was put.
    pub(super) fn commit(&mut self, pending: Pending) {
        self.len += pending.0;
        self.calls += 1;
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.calls = 0;
        self.open = false;
    }
}

/// Without the bytes: arguments are not for logs.
impl<B> fmt::Debug for Gathered<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathered")
            .field("len", &self.len)
            .field("calls", &self.calls)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

/// Bytes put and not yet kept.
#[must_use]
#[derive(Debug)]
pub(super) struct Pending(usize);

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
    /// # use mcp_proto::{Channel, Instant, Machine, RevisionSet, Source, rpc};
    /// # let config = ClientConfig { revisions: RevisionSet::legacy(), ..ClientConfig::new("demo", "1.0") };
    /// # let (mut client, mut out, now) = (Client::new(config, Growing).unwrap(), [0; 512], Instant::ZERO);
    /// # client.connect(now)?;
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// # let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26",
    /// #     "capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1.0"}}}"#;
    /// # let answer = rpc::Incoming::Message(rpc::Message::parse(answer, 16));
    /// # let _ = client.handle(now, &Source::PIPE, answer);
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// use mcp_proto::client::Call;
    /// use mcp_proto::rpc::Method;
    ///
    /// client.begin_batch()?;
    /// let (_, sent) = client.call(now, &Call::new(Method::ToolsList), &mut out)?;
    /// assert_eq!(sent.len, 0, "it leaves with the array");
    /// let sent = client.end_batch(now, &mut out)?;
    /// assert!(out[..sent.len].starts_with(b"[{"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_batch(&mut self) -> Result<(), SendError> {
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
    pub fn end_batch(&mut self, _now: Instant, out: &mut [u8]) -> Result<Transmit, SendError> {
        self.ready()?;
        if !self.batch.open {
            return Err(SendError::NotReady);
        }
        let mut writer = Writer::new(out);
        let gathered = self.batch.store.as_ref().get(..self.batch.len);
        if let Some(text) = gathered.and_then(|bytes| core::str::from_utf8(bytes).ok()) {
            writer.literal(text);
        }
        if self.batch.calls > 0 {
            writer.literal("]");
        }
        let len = writer.finish()?;
        self.batch.clear();
        Ok(Transmit::pipe(len))
    }
}
