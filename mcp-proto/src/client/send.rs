//! Calls and notifications of the application.

use super::call::{InFlight, Kind, Stage};
use super::{Call, Client, CloseReason, ConnectError, Failure, Phase, Round, Storage, encode};
use crate::action::{SendError, Transmit};
use crate::payload::Payload;
use crate::revision::{Revision, Tasks};
use crate::rpc::Method;
use crate::sent::{Cancellation, Sent};
use crate::splice::write_notification;
use crate::time::Instant;
use crate::token::SentToken;

impl<S: Storage> Client<'_, S> {
    /// Sends a request; its events carry the token and the call's cookie.
    ///
    /// Nothing is written to `out` for one that joins a [batch](Self::begin_batch).
    ///
    /// # Errors
    /// [`SendError::NotReady`] before [`Event::Connected`](super::Event::Connected), while
    /// the core's `initialized` has not left, while calls are [held](Self::hold), or for a batch that is not open or has no room left;
    /// [`SendError::NotInRevision`] and
    /// [`SendError::MissingCapability`] for what this server does not have (LC-17);
    /// [`SendError::TableFull`], also for a subscription beyond
    /// [`ClientConfig::max_subscriptions`](super::ClientConfig::max_subscriptions); [`SendError::BufferFull`], [`SendError::TooLarge`] for what is
    /// longer than [`Limits::output`](crate::Limits::output), [`SendError::Closed`], and
    /// [`SendError::Encode`] for parameters that are no object, or say in `_meta` what is the
    /// core's to say. Nothing changed then.
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
    /// use core::time::Duration;
    /// use mcp_proto::client::Call;
    /// use mcp_proto::rpc::Method;
    ///
    /// let params = mcp_proto::json::Raw::parse(br#"{"name":"forecast"}"#, 8)?;
    /// let call = Call {
    ///     params: Some(&params),
    ///     timeout: Some(Duration::from_secs(5)),
    ///     ..Call::new(Method::ToolsCall)
    /// };
    /// let (token, sent) = client.call(now, &call, &mut out)?;
    /// assert!(out[..sent.len].ends_with(br#""params":{"name":"forecast"}}"#));
    /// assert_eq!(client.in_flight(), 1);
    /// # let _ = token;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call(
        &mut self,
        now: Instant,
        call: &Call<'_>,
        out: &mut [u8],
    ) -> Result<(SentToken, Transmit), SendError> {
        let revision = self.ready()?;
        self.may_call(call.method, revision)?;
        let restores = call.method.facts().answer().changes_session;
        if self.calls.is_held() && !restores {
            return Err(SendError::NotReady);
        }
        let (kind, result_types) = self.answers_of(call, revision);
        let most = self.config.most_subscriptions(self.calls.sent.table.most());
        if kind == Kind::Listen && self.calls.sent.subscriptions() >= most {
            return Err(SendError::TableFull);
        }
        let id = self.calls.sent.next_id();
        let config = &self.config;
        let round = Round::default();
        let mut pending = None;
        let len = if call.batched {
            if !self.batch.open || self.batch.calls >= config.limits.batch {
                return Err(SendError::NotReady);
            }
            let write = |free: &mut [u8]| encode::request(config, revision, id, call, round, free);
            let put = self.batch.array.put(write).map_err(|error| match error {
                // Another batch is of use only to a call that is not the first of this one.
                SendError::TooLarge { .. } if self.batch.calls > 0 => SendError::NotReady,
                error => error,
            })?;
            pending = Some(put);
            0
        } else {
            self.within_limit(encode::request(config, revision, id, call, round, out))?
        };
        let timeout = call.timeout.unwrap_or(config.timeouts.request);
        let latest = now + call.max_duration.unwrap_or(config.timeouts.max_duration);
        let in_flight = InFlight {
            sent: Sent::new(id, call.cookie, timeout, latest, call.progress),
            kind,
            result_types,
            stage: Stage::Sent,
            rounds: 0,
            pauses: 0,
            renegotiated: false,
            moved: false,
            restores,
        };
        let token = self.calls.sent.insert(now, in_flight)?;
        if let Some(pending) = pending {
            self.batch.array.keep(pending);
            self.batch.calls += 1;
        }
        Ok((self.calls.sent.token(token), Transmit::pipe(len)))
    }

    /// Returns the kind of answer that a call may get, and, as bits, the result types beyond the
    /// core's.
    fn answers_of(&self, call: &Call<'_>, revision: Revision) -> (Kind, u32) {
        let kind = Kind::of(call.method);
        let name = call.method.name();
        if revision.requires_result_type() {
            let types = self.config.texts().result_types_of(name, call.extensions);
            return (kind, types);
        }
        // A client that has tasks by the extension is taken to have them in 2025-11-25, too.
        let may_create_task = call.method == Method::ToolsCall
            && revision.tasks() == Tasks::Core
            && self.config.texts().result_types_of(name, None) != 0;
        match may_create_task {
            true => (Kind::MayCreateTask, 0),
            false => (kind, 0),
        }
    }

    /// Sends a call again under its token and a new id (MR-12), after
    /// [`Event::Input`](super::Event::Input) or [`Event::Again`](super::Event::Again): the
    /// method and the original parameters, and what the round adds (MR-09).
    ///
    /// # Errors
    /// [`SendError::Stale`] for a call that is over, [`SendError::NotReady`] for one that waits
    /// for its answer or for the end of a pause, else as for [`call`](Self::call).
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
    /// use mcp_proto::client::{Call, Round};
    /// use mcp_proto::rpc::Method;
    /// use mcp_proto::{SendError, SentToken};
    ///
    /// /// Encodes a call again when `Event::Again` named it; its parameters are the caller's.
    /// fn again(
    ///     client: &mut Client<'_, Fixed<4, 1>>,
    ///     token: SentToken,
    ///     call: &Call<'_>,
    ///     out: &mut [u8],
    /// ) -> Result<usize, SendError> {
    ///     Ok(client.retry(Instant::ZERO, token, call, Round::default(), out)?.len)
    /// }
    ///
    /// let call = Call::new(Method::ToolsList);
    /// let (token, _) = client.call(now, &call, &mut out)?;
    /// assert_eq!(again(&mut client, token, &call, &mut out), Err(SendError::NotReady));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retry(
        &mut self,
        now: Instant,
        token: SentToken,
        call: &Call<'_>,
        round: Round<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let revision = self.ready()?;
        let token = self.calls.sent.key(token).ok_or(SendError::Stale)?;
        let waiting = self.calls.get(token).filter(|call| !call.sent.is_over());
        match waiting.ok_or(SendError::Stale)?.stage {
            Stage::Input | Stage::Again => {}
            _ => return Err(SendError::NotReady),
        }
        let id = self.calls.sent.next_id();
        let len = encode::request(&self.config, revision, id, call, round, out);
        let len = self.within_limit(len)?;
        let timeout = call.timeout.unwrap_or(self.config.timeouts.request);
        self.calls.sent_again(now, token, timeout, call.progress);
        Ok(Transmit::pipe(len))
    }

    /// Cancels a call: no event of it follows, and the server is notified (CN-09, ST-15) by
    /// [`poll_transmit`](crate::Machine::poll_transmit). A call that is over is left alone.
    ///
    /// It takes no buffer and cannot fail, so that dropping a future can do it.
    pub fn cancel(&mut self, token: SentToken) {
        if let Some(key) = self.calls.sent.key(token) {
            self.calls.sent.give_up(key);
        }
    }

    /// Opens a batch, which gathers the calls that are [to join it](Call::batched) until [`end_batch`](Self::end_batch). Keep it
    /// short: cancellations wait for it.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] outside of 2025-03-26, [`SendError::NotReady`] while one is
    /// being gathered or waits to be written. A call that finds no room in the batch is refused with
    /// [`SendError::NotReady`]: end the batch, and begin another; one that would find none in
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
    /// let call = Call { batched: true, ..Call::new(Method::ToolsList) };
    /// let (_, sent) = client.call(now, &call, &mut out)?;
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
        const { assert!(S::BATCHES, "a client without room for a batch") }
        if !self.ready()?.allows_batches() {
            return Err(SendError::NotInRevision);
        }
        if self.batch.open || self.batch.due {
            return Err(SendError::NotReady);
        }
        self.batch.open = true;
        Ok(())
    }

    /// Ends the batch, and writes its calls as one array. Without calls nothing is written (JR-18).
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

    /// Ends the batch without a buffer: its array, if it has calls, is among the next that
    /// [`poll_transmit`](crate::Machine::poll_transmit) writes. It cannot fail, so that dropping a guard can do it.
    pub fn defer_batch(&mut self) {
        if self.batch.open {
            self.batch.open = false;
            self.batch.due = self.batch.calls > 0;
        }
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
                self.close(CloseReason::NotConnected);
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

    /// Sends a notification of a legacy session: `notifications/roots/list_changed` (RT-02),
    /// `notifications/progress` of a question, `notifications/tasks/status`, or one of a
    /// method that no revision defines.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] for all others, also for those that are the core's to send;
    /// [`SendError::MissingCapability`] if this client did not declare it, else as for
    /// [`call`](Self::call).
    pub fn notify(
        &mut self,
        method: Method<'_>,
        params: Option<&dyn Payload>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let revision = self.ready()?;
        if !matches!(self.phase, Phase::Legacy) {
            return Err(SendError::NotInRevision);
        }
        self.may_notify(method, revision)?;
        let len = write_notification(method, params, revision, out);
        self.within_limit(len).map(Transmit::pipe)
    }

    /// A message that can never fit is reported as such, so that it is not retried forever.
    pub(super) fn within_limit(&self, len: Result<usize, SendError>) -> Result<usize, SendError> {
        len.map_err(|error| error.within(self.questions.max_message()))
    }

    /// The revision to speak, once there is one.
    pub(super) fn ready(&self) -> Result<Revision, SendError> {
        match (&self.phase, self.revision) {
            (Phase::Legacy, Some(_)) if self.initialized_owed => Err(SendError::NotReady),
            (Phase::Legacy | Phase::Modern, Some(revision)) => Ok(revision),
            _ => Err(self.not_now()),
        }
    }

    pub(super) fn not_now(&self) -> SendError {
        match self.phase {
            Phase::Closed => SendError::Closed,
            Phase::Modern => SendError::NotInRevision,
            _ => SendError::NotReady,
        }
    }

    /// Checks that a call of `method` may be sent. A server that declared no capabilities decides
    /// for itself.
    fn may_call(&self, method: Method<'_>, revision: Revision) -> Result<(), SendError> {
        if let Method::Other(_) = method {
            return Ok(());
        }
        let facts = method.facts();
        let refused = facts.is_notification() || facts.own_command.client;
        if refused || !facts.client.contains(revision) {
            return Err(SendError::NotInRevision);
        }
        match self.server {
            Some(features) if !features.allow(method, revision) => {
                let needed = facts.server_declares.known_in(revision);
                Err(SendError::MissingCapability(needed.path()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that this client may send this notification to a legacy server.
    fn may_notify(&self, method: Method<'_>, revision: Revision) -> Result<(), SendError> {
        if let Method::Other(_) = method {
            return Ok(());
        }
        let facts = method.facts();
        let refused = !facts.is_notification() || facts.own_command.client;
        if refused || !facts.client.contains(revision) {
            return Err(SendError::NotInRevision);
        }
        let needed = facts.client_declares;
        match needed.paths(revision).next() {
            Some(path) if !self.config.declared().intersects(needed) => {
                Err(SendError::MissingCapability(path))
            }
            _ => Ok(()),
        }
    }
}
