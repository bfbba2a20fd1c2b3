//! Inputs from transports where an exchange can fail without a message.

use super::opening::Opening;
use super::{Client, ConnectError, Failure, Phase, Storage};
use crate::action::SendError;
use crate::sent::Cancellation;
use crate::time::Instant;

/// Over HTTP each request is an exchange of its own, which can fail while the others continue.
impl<S: Storage> Client<'_, S> {
    /// Begins to connect, like [`connect`](Self::connect), over a transport on which every
    /// request is answered or refused by itself: silence says nothing of the server's era there,
    /// so the probe has the time of any request (VR-16).
    ///
    /// # Errors
    /// [`SendError::NotReady`] if that was done before.
    pub fn connect_by_exchanges(&mut self, now: Instant) -> Result<(), SendError> {
        self.connect(now)?;
        if let Phase::Opening(opening) = &mut self.phase {
            opening.disable_probe_timeout();
        }
        Ok(())
    }

    /// Returns true if an answer to the request of this id is awaited. A transport need not send a
    /// request that is no longer awaited.
    pub fn awaits(&self, id: u64) -> bool {
        self.is_awaited(id)
    }

    /// The [cookie](super::Call::cookie) of the call that awaits the answer to this request.
    pub fn cookie_of(&self, id: u64) -> Option<u64> {
        let call = self.calls.get(self.calls.sent.find(id)?)?;
        Some(call.sent.cookie)
    }

    /// A request came to nothing, by no fault of its own: the call ends with this failure, and
    /// so does the opening of the connection, if the request was part of that. A server of a
    /// legacy session that may still work on it receives a cancellation (SC-14). An unknown id
    /// is ignored.
    pub fn fail(&mut self, id: u64, failure: Failure) {
        if let Phase::Opening(opening) = self.phase {
            if opening.awaits(id) {
                self.connect_failed = Some(ConnectError::Failed(failure));
                self.close(super::CloseReason::NotConnected);
            }
            return;
        }
        // A ping that failed is missed when its time is over.
        if let Some(token) = self.calls.sent.find(id) {
            let owed = match (self.phase, failure) {
                (Phase::Legacy, Failure::Broken) => Cancellation::Owed,
                _ => Cancellation::NotOwed,
            };
            self.calls.sent.end(token, owed, failure);
        }
    }

    /// A request was refused by an HTTP status, without an error that names a modern server. For
    /// the probe that tells a legacy one (VR-16), for everything else it is a failure.
    ///
    /// ```
    /// use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// use mcp_proto::{Channel, Instant, Machine};
    ///
    /// let mut client = Client::new(ClientConfig::new("demo", "1.0"), Fixed::new().questions::<1>()).unwrap();
    /// client.connect_by_exchanges(Instant::ZERO)?;
    /// let _probe = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut [0; 512])?;
    /// // A server that knows no `server/discover` is met by a handshake.
    /// client.refuse(Instant::ZERO, 1, 404);
    /// let mut out = [0; 512];
    /// let sent = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut out)?.unwrap();
    /// assert!(String::from_utf8_lossy(&out[..sent.len]).contains("\"initialize\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refuse(&mut self, now: Instant, id: u64, status: u16) {
        if let Phase::Opening(opening) = self.phase
            && self.fall_back(now, opening, id)
        {
            return;
        }
        self.fail(id, Failure::Status(status));
    }

    /// Stops the timeout of a request whose exchange waits for something other than the server,
    /// such as a user who logs in. Until [`restart_timeout`](Self::restart_timeout) only its
    /// maximum duration counts. An unknown id is ignored.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// use mcp_proto::{Channel, Instant, Machine};
    ///
    /// let mut client = Client::new(ClientConfig::new("demo", "1.0"), Fixed::new().questions::<1>()).unwrap();
    /// client.connect_by_exchanges(Instant::ZERO)?;
    /// let _probe = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut [0; 512])?;
    /// client.suspend_timeout(Instant::ZERO, 1);
    /// assert_eq!(client.poll_timeout(), Some(Instant::ZERO + Duration::from_secs(600)));
    /// let later = Instant::ZERO + Duration::from_secs(100);
    /// client.restart_timeout(later, 1);
    /// assert_eq!(client.poll_timeout(), Some(later + Duration::from_secs(60)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn suspend_timeout(&mut self, now: Instant, id: u64) {
        let longest = self.config.timeouts.max_duration;
        if let Phase::Opening(opening) = &mut self.phase {
            if opening.awaits(id) {
                opening.time_out_at(now + longest);
            }
        } else if let Some(key) = self.calls.sent.find(id)
            && self.calls.sent.table.deadline(key).is_some()
        {
            let latest = self.calls.get(key).map(|call| call.sent.latest);
            self.calls.sent.table.arm(key, latest);
        }
    }

    /// Gives a request its timeout again. An unknown id is ignored.
    pub fn restart_timeout(&mut self, now: Instant, id: u64) {
        if let Phase::Opening(opening) = &mut self.phase {
            if opening.awaits(id) {
                opening.time_out_at(now + self.config.timeouts.connect);
            }
        } else if let Some(key) = self.calls.sent.find(id)
            && self.calls.sent.table.deadline(key).is_some()
        {
            self.calls.sent.extend(now, key);
        }
    }

    /// The server does not know the session any more (SC-10): the handshake is made again, in
    /// the revision that ruled, and when `initialized` has left, every call that was in flight
    /// becomes [`Event::Again`](super::Event::Again), to be sent once more in the new session. A
    /// call that this happens to twice ends with [`Failure::Session`].
    ///
    /// Outside of a legacy session it does nothing, and says so.
    ///
    /// ```
    /// # use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// # use mcp_proto::{Channel, Instant, Machine, Pipe, RevisionSet, rpc};
    /// # let config = ClientConfig { revisions: RevisionSet::legacy(), ..ClientConfig::new("demo", "1.0") };
    /// # let (mut client, mut out, now) = (Client::new(config, Fixed::new().questions::<1>()).unwrap(), [0; 512], Instant::ZERO);
    /// # client.connect(now)?;
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// # let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
    /// #     "capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1.0"}}}"#;
    /// # let answer = rpc::Incoming::Message(rpc::Message::parse(answer, 16));
    /// # let _ = client.handle(now, &Pipe, answer);
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// // The server answered with 404: the handshake is made once more.
    /// client.lose_session(now);
    /// let sent = client.poll_transmit(now, Channel::PIPE, &mut out)?.unwrap();
    /// assert!(String::from_utf8_lossy(&out[..sent.len]).contains("\"initialize\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lose_session(&mut self, now: Instant) -> bool {
        let (Phase::Legacy, Some(revision)) = (&self.phase, self.revision) else {
            return false;
        };
        self.calls.sent.pinger.reset();
        self.initialized_owed = false;
        self.batch.clear();
        self.questions.end_all();
        self.calls.move_all();
        let id = self.calls.sent.take_id();
        let timeout = self.config.timeouts.connect;
        self.phase = Phase::Opening(Opening::again(now, timeout, revision, id));
        true
    }

    /// Keeps calls back until they are [released](Self::release): for an application that tells
    /// a new session what the lost one knew before anything else happens in it. Directly behind
    /// [`lose_session`](Self::lose_session).
    ///
    /// Nothing but `logging/setLevel` and `resources/subscribe` is sent meanwhile, or sent again;
    /// [`call`](Self::call) has [`SendError::NotReady`] for everything else.
    pub const fn hold(&mut self) {
        self.calls.set_held(true);
    }

    /// The session is set up: calls continue, and those of the lost session become
    /// [`Event::Again`](super::Event::Again). While a session is still being opened it does
    /// nothing, because that one knows nothing yet.
    pub fn release(&mut self) {
        if self.ready().is_ok() {
            self.calls.set_held(false);
            self.calls.let_go();
        }
    }
}
