//! Takes over sessions and events of other processes.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, StatusCode};
use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::StreamReader;

use super::answer::{self, Answer};
use super::caller::owner;
use super::conversation::Conversation;
use super::endpoint::HttpEndpoint;
use super::processes::{Forwarded, NotOwner};
use super::session::Session;
use super::sharing::{Owned, Saved};
use super::streams::SessionStreams;
use crate::http::StoreError;
use crate::observe;
use crate::runtime::Runtime;

impl<R: Runtime> HttpEndpoint<R> {
    /// Saves a session for the first time, where there is a store: what it has then.
    pub(super) fn save_first(
        &self,
        id: &Arc<str>,
        conversation: &Conversation<R>,
        principal: Option<Arc<str>>,
    ) -> impl Future<Output = Result<Option<Saved>, ()>> + Send + use<R> {
        let store = self.options.sharing.sessions.clone();
        let saved = store.is_some().then(|| {
            let client = conversation.session_client();
            conversation.with(|core| Saved::of(&core.machine, &client, principal.as_deref()))
        });
        let (id, keep) = (Arc::clone(id), self.idle());
        async move {
            let (Some(store), Some(Some(saved))) = (store, saved) else {
                return Ok(None);
            };
            match store.create(&id, &saved.write(), keep).await {
                Ok(()) => Ok(Some(saved)),
                Err(error) => {
                    observe::store_failed(&error);
                    Err(())
                }
            }
        }
    }

    /// Whether this process still owns a session that it has; if not, the session ends here. It is
    /// asked before a request is taken in, so that none runs in two processes.
    pub(super) async fn is_owned(&self, session: &Arc<Session>) -> bool {
        let Some(store) = &self.options.sharing.sessions else {
            return true;
        };
        match store.check(session.id(), session.epoch()).await {
            Ok(()) => true,
            Err(StoreError::Conflict | StoreError::Gone) => {
                self.sessions.remove(session);
                session.displace();
                false
            }
            Err(error) => {
                observe::store_failed(&error);
                true
            }
        }
    }

    /// Claims a session for this process, unless another process that lives owns it: then returns its
    /// name.
    pub(super) async fn owner_elsewhere(&self, id: &str) -> Result<Option<Arc<str>>, Answer> {
        match &self.processes {
            Some(processes) => processes.claim(id).await.map_err(broken),
            None => Ok(None),
        }
    }

    /// Lets the owner of a session answer the request, if that is another process and lives; then the
    /// answer is the error. Otherwise the session may be taken over.
    pub(super) async fn forward_to_owner(
        &self,
        parts: &Parts,
        id: &str,
        body: &[u8],
    ) -> Result<(), Answer> {
        let Some(processes) = &self.processes else {
            return Ok(());
        };
        let is_forwarded = parts.extensions.get::<Forwarded>().is_some();
        // The owner that this process knows may have changed, the next one may die in between, and so may
        // the one after it.
        for attempt in 0..3 {
            let known = (attempt == 0 && !is_forwarded).then(|| processes.known_owner(id));
            let owner = match known.flatten() {
                Some(owner) => owner,
                None => match self.owner_elsewhere(id).await? {
                    Some(owner) => owner,
                    None => return Ok(()),
                },
            };
            if is_forwarded {
                let mut answer = answer::busy(MOVING);
                answer.extensions_mut().insert(NotOwner);
                return Err(answer);
            }
            let keep_alive = self.options.keep_alive;
            let forwarded = processes.forward::<R>(&owner, parts, body, keep_alive);
            match forwarded.await {
                Some(answer) => {
                    if parts.method == Method::DELETE || answer.status() == StatusCode::NOT_FOUND {
                        processes.forget_owner(id);
                    }
                    return Err(answer);
                }
                None => processes.forget_owner(id),
            }
        }
        Err(answer::busy(MOVING))
    }

    /// Carries a session on that another process began; `None` if the store does not know it
    /// either, or if it belongs to another principal.
    pub(super) async fn take_over(
        &self,
        parts: &Arc<Parts>,
        id: &str,
    ) -> Result<Option<Arc<Session>>, Answer> {
        let Some(store) = &self.options.sharing.sessions else {
            return Ok(None);
        };
        let _turn = self.turns.wait(id).await;
        if let Some(found) = self.sessions.find(id) {
            return Ok(Some(found));
        }
        let owner = owner(parts);
        let read = |record: &[u8]| {
            Saved::read(record)
                .filter(|saved| saved.principal.as_deref() == owner.as_deref())
                .filter(|saved| self.endpoint().revisions.contains(saved.session.revision))
        };
        // A request that may not use the session displaces no owner.
        let record = store.load(id).await.map_err(broken)?;
        if record.as_deref().and_then(read).is_none() {
            return Ok(None);
        }
        let Some(place) = self.sessions.place() else {
            let text = "there are as many sessions as there may be";
            return Err(answer::busy(text));
        };
        let Some(taken) = store.take_over(id).await.map_err(broken)? else {
            return Ok(None);
        };
        let Some(saved) = read(taken.record()) else {
            return Ok(None);
        };
        if taken.epoch() > SessionStreams::LAST_EPOCH {
            // There are no numbers left for its streams: its client opens a new one.
            self.options.sharing.clone().forget(id.into()).await;
            return Ok(None);
        }
        let last = match &self.options.sharing.events {
            Some(events) => match events.begin_epoch(id, taken.epoch()).await {
                Ok(last) => Some(last),
                // It has ended since.
                Err(StoreError::Gone) => return Ok(None),
                Err(error) => return Err(broken(error)),
            },
            None => None,
        };
        let mut streams = self.new_streams();
        streams.carry_on(taken.epoch(), last);
        let mut conversation =
            self.session_connection(parts, streams, self.resumed(parts, &saved.session));
        conversation.resume(&saved.client);
        conversation.with(|core| {
            for uri in &saved.subscriptions {
                core.machine.subscribe(uri);
            }
        });
        let shared = Arc::clone(conversation.shared());
        let session = Session::new(id.into(), owner, taken.epoch(), shared);
        let owned = Owned {
            epoch: taken.epoch(),
            saved: Some(saved),
        };
        Ok(Some(self.begin(session, conversation, place, owned)))
    }

    /// A reader of the session's own stream, or of the one that this event belongs to, wherever
    /// its events are; `None` if the session is over.
    pub(super) async fn attach(
        &self,
        session: &Session,
        last_event_id: Option<&[u8]>,
    ) -> Option<Result<StreamReader, Refusal>> {
        let refusal = match session.streams(|streams| streams.attach(last_event_id))? {
            Ok(reader) => return Some(Ok(reader)),
            Err(refusal) => refusal,
        };
        let (Some(store), Some(id)) = (&self.options.sharing.events, last_event_id) else {
            return Some(Err(refusal));
        };
        let Ok((channel, after)) = session.streams(|streams| streams.named(id))? else {
            return Some(Err(refusal));
        };
        let found = store.replay(session.id(), channel.number(), after).await;
        let replay = match found {
            Ok(Some(replay)) => replay,
            Ok(None) => return Some(Err(refusal)),
            Err(error) => {
                observe::store_failed(&error);
                return Some(Err(refusal));
            }
        };
        if replay.has_ended() && replay.messages().next().is_none() {
            return Some(Err(Refusal::StreamEnded));
        }
        session.streams(|streams| {
            streams.restore(channel, after.saturating_add(1), &replay);
            streams.attach(last_event_id)
        })
    }
}

/// The client may retry: the store may be available then.
fn broken(error: StoreError) -> Answer {
    observe::store_failed(&error);
    answer::busy("sessions cannot be looked up")
}

const MOVING: &str = "the session is moving to another process";
