//! A message of the client on its way to the rules of its era, and refusals.

use super::config::ServerSettings;
use super::context::{Admission, Asked, Members};
use super::in_flight::InFlight;
use super::listen::{Filter, Listen};
use super::reply::ReplyKind;
use super::subscriptions::Owner;
use super::{Event, PeerError, Reply, Server, Storage, headers, modern};
use crate::action::{Action, IgnoreReason};
use crate::batch::Counted;
use crate::http::{Post, is_modern};
use crate::id_buf::{IdStorage, id_len};
use crate::json::{Object, Raw, Writer};
use crate::model::{MetaEvidence, ProtocolMeta};
use crate::revision::Revision;
use crate::rpc::{Id, Invalid, Message, Method, Notification, Request, Shape};
use crate::slots::{Key, Queue};
use crate::source::{Arrival, Place};
use crate::time::Instant;
use crate::token::Token;

impl<'c, S: Storage, C: ServerSettings<'c>> Server<'_, S, C> {
    pub(super) fn message<'b>(
        &mut self,
        now: Instant,
        from: &mut Arrival<'_, S::Place>,
        message: Message<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if self.requests.batch.is_refused() {
            return Action::Ignore(IgnoreReason::Garbage);
        }
        match message {
            Message::Request(request) => match self.count_element() {
                Counted::Served => self.request(from, request),
                Counted::Refused => self.refuse(from, None, PeerError::BatchTooLong),
                Counted::Silent => Action::Ignore(IgnoreReason::Garbage),
            },
            Message::Notification(notification) => self.notification(now, from, notification),
            // SH-48: there is no request to answer.
            Message::Response(_) if from.head().is_some_and(Post::is_modern) => {
                self.refuse(from, None, PeerError::Unasked)
            }
            Message::Response(response) => self.questions.take_response(now, response),
            Message::Invalid(invalid) => self.invalid(now, from, invalid),
        }
    }

    // Not inlined, so that its stack is free before the answer is written.
    #[inline(never)]
    fn request<'b>(
        &mut self,
        from: &mut Arrival<'_, S::Place>,
        request: Request<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        // The admission is borrowed, so it is copied once only, into the event.
        let error = match &self.judge(from, &request) {
            Ok(Admission::Answer(reply)) => return self.answer(from, *reply),
            Ok(Admission::Request(asked)) => match request.method {
                Method::SubscriptionsListen if !S::LISTENS => PeerError::UnknownMethod,
                Method::SubscriptionsListen => match self.listen(from, &request, asked) {
                    Ok(event) => return Action::Event(event),
                    Err(error) => error,
                },
                method => match self.admit(from, &request, asked) {
                    Ok(token) => {
                        return Action::Event(Event::Request {
                            token,
                            method,
                            params: request.params.unwrap_or(Object::EMPTY),
                            context: asked.context,
                        });
                    }
                    Err(error) => error,
                },
            },
            Err(error) => *error,
        };
        self.refuse(from, Some(request.id), error)
    }

    /// Checks a request. Returns the answer of the core, or the request for the application.
    fn judge<'b>(
        &mut self,
        from: &mut Arrival<'_, S::Place>,
        request: &Request<'b>,
    ) -> Result<Admission<'b>, PeerError> {
        let Request {
            id, method, params, ..
        } = *request;
        let head = from.head();
        if id_len(id) > S::IdBuf::CAPACITY {
            return Err(PeerError::IdTooLong);
        }
        if self.requests.find(id).is_some() {
            return Err(PeerError::IdInUse);
        }
        let own = match method {
            Method::Other(name) if head.is_some() => self.config.texts().method(name),
            _ => None,
        };
        let subject = own.and_then(|method| method.subject);
        // Borrowed, too: members are large.
        let read = Members::read(request, subject);
        let members = match &read {
            Ok(members) => members,
            Err(error) => {
                return Err(match head {
                    Some(head) => headers::duplicate(head, method, *error),
                    None => *error,
                });
            }
        };
        let meta = || MetaEvidence {
            version: members.of_meta.version.is_some(),
            other: members.is_modern(),
        };
        let is_reading = self.requests.batch.is_reading();
        if is_modern(self.config.revisions, head, Some(method), meta) {
            from.modern = true;
            if is_reading {
                return Err(PeerError::ModernInBatch);
            }
            modern::admit::<S>(&self.config, head, id, method, members)
        } else {
            if let Some(head) = head {
                let rules = self.head_rules();
                rules.check_request(from, head, method, members)?;
            }
            if method == Method::Initialize && is_reading {
                return Err(PeerError::InitializeInBatch);
            }
            let config = &self.config;
            self.session.admit::<S>(config, id, method, params, members)
        }
    }

    /// Puts a request for the application into the table. Returns its token.
    fn admit(
        &mut self,
        from: &Arrival<'_, S::Place>,
        request: &Request<'_>,
        asked: &Asked<'_>,
    ) -> Result<Token, PeerError> {
        let key = self.insert(from, request.id, request.method, asked)?;
        match (request.method, asked.context.subject) {
            // It counts once the application has agreed.
            (Method::ResourcesSubscribe, Some(uri)) => {
                let max_message = self.requests.max_message();
                let owner = Owner::Request(key);
                if self.subscriptions.add(owner, uri, max_message).is_err() {
                    self.release(key);
                    return Err(PeerError::TooManySubscriptions);
                }
            }
            // It forgets a URI, agreed or still to be (RS-16).
            (Method::ResourcesUnsubscribe, Some(uri)) => {
                let table = &self.requests.table;
                self.subscriptions.remove(uri, |key| {
                    let request = table.get(key);
                    request.is_some_and(|request| request.traits.subscribes)
                });
            }
            _ => {}
        }
        Ok(self.requests.token(key))
    }

    /// Accepts a listen: what it asks for and is served, and nothing else (SB-01, SB-02).
    fn listen<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
        request: &Request<'b>,
        asked: &Asked<'b>,
    ) -> Result<Event<'b>, PeerError> {
        let id = request.id;
        let filter = Filter::read(&self.config, request.params.unwrap_or(Object::EMPTY))?;
        let listen = filter.listen();
        let key = self.insert(from, id, Method::SubscriptionsListen, asked)?;
        if let Some(request) = self.requests.table.get_mut(key) {
            request.listen = Some(listen);
        }
        self.subscriptions.begin_listen();
        let max_message = self.requests.max_message();
        if let Err(error) = filter.subscribe(key, &mut self.subscriptions, max_message) {
            self.release(key);
            return Err(error);
        }
        // An acknowledgement that no outbox could ever hold would block all following messages.
        let mut w = Writer::counting();
        let subscriptions = &self.subscriptions;
        let written = listen.write_acknowledgement(
            key,
            id,
            asked.context.revision,
            subscriptions,
            &[],
            &mut w,
        );
        debug_assert!(written.is_ok(), "no payload was written");
        if w.len() > max_message {
            self.release(key);
            return Err(PeerError::TooManySubscriptions);
        }
        if !listen.is_held() {
            self.requests.table.mark(Queue::Transmit, key);
        }
        Ok(Event::Listening {
            token: self.requests.token(key),
            filter: filter.object(),
            held: listen.is_held(),
            context: asked.context,
        })
    }

    /// Takes a request into the table.
    fn insert(
        &mut self,
        from: &Arrival<'_, S::Place>,
        id: Id<'_>,
        method: Method<'_>,
        asked: &Asked<'_>,
    ) -> Result<Key, PeerError> {
        let entry = InFlight::new(id, method, asked, from.place()).ok_or(PeerError::IdTooLong)?;
        self.requests
            .insert(entry)
            .map_err(|_| PeerError::TooManyRequests)
    }

    fn notification<'b>(
        &mut self,
        now: Instant,
        from: &mut Arrival<'_, S::Place>,
        notification: Notification<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Notification { method, params } = notification;
        if let Some(head) = from.head()
            && let Err(error) = {
                // The elements of an array are of the session that it is for.
                let is_alone = !self.requests.batch.is_reading();
                let params = params.filter(|_| is_alone);
                self.head_rules()
                    .check_notification(from, head, method, params)
            }
        {
            let meta = params.and_then(ProtocolMeta::of);
            let version = meta.and_then(ProtocolMeta::version);
            return self.answer(from, Reply::refusal(None, error, version));
        }
        match method {
            Method::Cancelled => self.cancelled(params, "requestId"),
            Method::CancelRequest if self.config.cancel_alias => self.cancelled(params, "id"),
            // PG-04, PG-09: of a question of ours.
            Method::Progress if self.session.revision().is_some() => {
                let params = params.unwrap_or(Object::EMPTY);
                self.questions.take_progress(now, params)
            }
            method => self.session.notification::<S>(&self.config, method, params),
        }
    }

    /// The client gave up on a request of either era (CN-04); `key` names the member that
    /// holds its id.
    fn cancelled<'b>(
        &mut self,
        params: Option<Object<'b>>,
        key: &'static str,
    ) -> Action<Event<'b>, Reply<'b>> {
        let params = params.unwrap_or(Object::EMPTY);
        let Ok([Some(id), reason]) = params.find([key, "reason"]) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let Some(id) = Id::from_raw(id) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let alias = key == "id";
        let found = self.requests.find(id).and_then(|key| {
            let request = self.requests.running(key).ok()?;
            let is_reachable = !alias || request.revision.allows_cancel_alias();
            is_reachable.then_some((key, request.listen.is_some_and(Listen::is_ending)))
        });
        let Some((key, is_ending)) = found else {
            return Action::Ignore(IgnoreReason::UnknownCancellation);
        };
        if is_ending {
            // The application has forgotten it already.
            self.retire(key);
            return Action::Done;
        }
        if alias {
            // It waits for an answer, which is derived from this.
            self.requests.refuse(key);
            self.questions.end_children(key);
        } else {
            self.retire(key);
        }
        Action::Event(Event::Cancelled {
            token: self.requests.token(key),
            reason: reason.and_then(Raw::string),
        })
    }

    pub(super) fn invalid<'b>(
        &mut self,
        now: Instant,
        from: &Arrival<'_, S::Place>,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !invalid.shape.is_answerable() {
            // SH-08: an exchange ends with a status in any case, so it may say why.
            return match self.questions.take_unusable(now, invalid) {
                Action::Ignore(_) if from.head().is_some() && !self.requests.batch.is_reading() => {
                    self.refuse(from, None, PeerError::Invalid(invalid.reason))
                }
                action => action,
            };
        }
        if invalid.shape == Shape::Unknown
            && let action @ (Action::Event(_) | Action::Done) =
                self.questions.take_unusable(now, invalid)
        {
            return action;
        }
        match self.count_element() {
            Counted::Served => {
                let id = invalid
                    .id
                    .filter(|id| !self.may_be_ours(*id, invalid.shape));
                self.refuse(from, id, PeerError::Invalid(invalid.reason))
            }
            Counted::Refused => self.refuse(from, None, PeerError::BatchTooLong),
            Counted::Silent => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    /// Returns true if this id of a broken message may be that of a request of ours. Without a
    /// method nothing tells a response from a request, and an error with the id of a request of
    /// ours would answer the client's request of the same id.
    fn may_be_ours(&self, id: Id<'_>, shape: Shape) -> bool {
        shape == Shape::Unknown && id.to_u64().is_some_and(|id| self.questions.is_used(id))
    }

    pub(super) fn count_element(&mut self) -> Counted {
        self.requests.count_element(self.config.limits.batch)
    }

    pub(super) fn start_batch<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let allowed = self
            .session
            .revision()
            .is_some_and(Revision::allows_batches)
            && self.requests.batch.has_room();
        self.requests.batch.start(allowed, from.place());
        if allowed {
            Action::Done
        } else {
            self.refuse(from, None, PeerError::Batch)
        }
    }

    pub(super) fn refuse<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        id: Option<Id<'b>>,
        error: PeerError,
    ) -> Action<Event<'b>, Reply<'b>> {
        self.answer(from, Reply::refusal(id, error, None))
    }

    pub(super) fn answer<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        reply: Reply<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let batch = &self.requests.batch;
        let mut reply = Reply {
            machine: Some(self.requests.machine()),
            batched: batch.takes_answers(),
            null_id: self.null_id(),
            ..reply
        };
        if matches!(reply.kind, ReplyKind::Error { .. }) {
            reply.id = reply.id.filter(|id| id_len(*id) <= S::ID_ECHO);
        }
        if from.place().is_exchange() {
            reply.channel = from.channel();
            reply.draft = self.head_rules().is_draft(from);
            reply.end = !batch.is_reading() || batch.is_refused();
            reply.status = reply.kind.status(from.modern);
        }
        Action::Reply(reply)
    }
}
