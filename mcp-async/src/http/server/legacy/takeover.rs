//! Takes over sessions and events of other processes.

use core::time::Duration;
use std::sync::Arc;

use http::request::Parts;
use http::{Method, StatusCode};
use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::StreamReader;

use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::endpoint::capacity::Place;
use crate::http::server::endpoint::session::Session;
use crate::http::server::exchange::caller::{self, owner};
use crate::http::server::exchange::conversation::ServedConversation;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::processes::sharing::{FIRST, Saved};
use crate::http::server::processes::{Forwarded, Forwarding, NotOwner, Processes};
use crate::http::{Claim, StoreError};
use crate::observe;
use crate::runtime::{Sleep, within};
use crate::server::{Decision, ServerStreams};

impl HttpEndpoint {
    /// Saves a session for the first time, where there is a store: what it has then, the lease in which this
    /// process owns it, and its place. The future does not hold the conversation.
    pub(super) fn save_first(
        &self,
        id: &Arc<str>,
        conversation: &ServedConversation,
        principal: Option<Arc<str>>,
        place: Place,
    ) -> impl Future<Output = Result<(Option<Saved>, u64, Place), Answer>> + Send + use<> {
        let processes = self.processes.clone();
        let saved = processes.as_ref().and_then(|_| {
            let client = conversation.session_client();
            conversation.with(|core| Saved::of(&core.machine, &client, principal.as_deref()))
        });
        let (id, keep) = (Arc::clone(id), self.options.limits.session_idle);
        async move {
            let (Some(processes), Some(saved)) = (processes, saved) else {
                return Ok((None, 0, place));
            };
            processes.ensure_lease().await.map_err(broken)?;
            let owner = processes.owner();
            let mut unsaved = UnsavedSession {
                processes,
                id,
                place: Some(place),
            };
            let store = unsaved.processes.store();
            let created = store
                .create(&unsaved.id, &owner, &saved.write(), keep)
                .await;
            created.map_err(broken)?;
            let place = unsaved.place.take().ok_or_else(answer::no_session)?;
            Ok((Some(saved), owner.lease, place))
        }
    }

    /// Returns true if this process may serve a session that it has; if not, the session ends here.
    /// While the lease is good and the session was confirmed in it, the store is not asked.
    pub(in crate::http::server) async fn is_owned(
        &self,
        session: &Arc<Session>,
    ) -> Result<bool, Answer> {
        let Some(processes) = &self.processes else {
            return Ok(true);
        };
        for _ in 0..ATTEMPTS {
            match processes.decide(session.confirmed()) {
                Decision::Serve => return Ok(true),
                Decision::Renew => processes.ensure_lease().await.map_err(broken)?,
                Decision::Confirm => {
                    let owner = processes.owner();
                    let claim = processes.store().claim(session.id(), &owner, false).await;
                    match claim.map_err(broken)? {
                        Claim::Own(epoch) if epoch == session.epoch() => {
                            session.confirm(owner.lease);
                        }
                        Claim::Unannounced => {
                            let renewed = processes.replace_lease(owner.lease).await;
                            renewed.map_err(broken)?;
                        }
                        Claim::Own(_) | Claim::Other(_) | Claim::Dead | Claim::Unknown => {
                            self.sessions.remove(session);
                            session.displace();
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Err(answer::busy(MOVING))
    }

    /// Lets the owner of a session answer the request, if that is another process; then the answer is the
    /// error. Otherwise this process may take the session over.
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
        let not_owner = || {
            let mut answer = answer::busy(MOVING);
            answer.extensions_mut().insert(NotOwner);
            answer
        };
        if self.is_closing() {
            // The session is for another process.
            return Err(match is_forwarded {
                true => not_owner(),
                false => answer::closing(),
            });
        }
        // The owner that this process knows may have changed.
        for attempt in 0..2 {
            let known = (attempt == 0 && !is_forwarded).then(|| processes.owners.find(id));
            let owner = match known.flatten() {
                Some(owner) => owner,
                None => match self.find_owner(processes, parts, id).await? {
                    Some(owner) => owner,
                    None => return Ok(()),
                },
            };
            if is_forwarded {
                return Err(not_owner());
            }
            let keep_alive = self.options.keep_alive;
            let forwarded = processes.forward(&owner, parts, body, keep_alive);
            match forwarded.await {
                Forwarding::Answered(answer) => {
                    let ended =
                        parts.method == Method::DELETE || answer.status() == StatusCode::NOT_FOUND;
                    match ended {
                        true => processes.owners.remove(id),
                        false => processes.owners.insert(id, &owner),
                    }
                    return Err(*answer);
                }
                Forwarding::NotOwner | Forwarding::Unreachable => processes.owners.remove(id),
            }
        }
        Err(answer::busy(MOVING))
    }

    /// The process that owns a session and lives, if that is another one. Otherwise this process owns it now, or
    /// there is no such session that the request may use.
    async fn find_owner(
        &self,
        processes: &Processes,
        parts: &Parts,
        id: &str,
    ) -> Result<Option<Arc<str>>, Answer> {
        let mut displaces = false;
        for _ in 0..ATTEMPTS {
            processes.ensure_lease().await.map_err(broken)?;
            let owner = processes.owner();
            let claim = processes.store().claim(id, &owner, displaces).await;
            match claim.map_err(broken)? {
                Claim::Own(_) | Claim::Unknown => return Ok(None),
                Claim::Other(other) => {
                    if !processes.knows(&other) {
                        // It was announced since this process has last asked.
                        processes.meet_others().await.map_err(broken)?;
                    }
                    return Ok(Some(other.process));
                }
                Claim::Dead if !processes.may_displace() => return Err(answer::busy(MOVING)),
                Claim::Dead => {
                    // A request that may not use the session displaces no owner.
                    let record = processes.store().load(id).await.map_err(broken)?;
                    let saved = record.map(|record| read(&record)).transpose();
                    let saved = saved.map_err(broken)?;
                    let sender = caller::owner(parts);
                    if !saved.is_some_and(|saved| self.may_take(&saved, sender.as_deref())) {
                        return Err(answer::no_session());
                    }
                    displaces = true;
                }
                Claim::Unannounced => {
                    let renewed = processes.replace_lease(owner.lease).await;
                    renewed.map_err(broken)?;
                }
            }
        }
        Err(answer::busy(MOVING))
    }

    /// Carries a session on that another process began; `None` if the store does not know it
    /// either, or if it belongs to another principal.
    pub(in crate::http::server) async fn take_over(
        &self,
        parts: &Arc<Parts>,
        id: &str,
    ) -> Result<Option<Arc<Session>>, Answer> {
        let Some(processes) = &self.processes else {
            return Ok(None);
        };
        let store = processes.store();
        let _turn = self.turns.wait(id).await;
        if let Some(found) = self.sessions.find(id.as_bytes()) {
            return Ok(Some(found));
        }
        let owner = owner(parts);
        // A request that may not use the session displaces no owner.
        let Some(record) = store.load(id).await.map_err(broken)? else {
            return Ok(None);
        };
        let process = processes.owner();
        let saved = match read(&record) {
            Ok(saved) => saved,
            Err(error) => {
                // It was without an owner, and is for a process that can read it.
                store.release(id, &process).await.map_err(broken)?;
                return Err(broken(error));
            }
        };
        if !self.may_take(&saved, owner.as_deref()) {
            return Ok(None);
        }
        let Some(place) = self.place(parts) else {
            // Another process may have one.
            store.release(id, &process).await.map_err(broken)?;
            let text = "there are as many sessions as there may be";
            return Err(answer::busy(text));
        };
        let taken = match store.take_over(id, &process).await {
            Ok(Some(taken)) => taken,
            Ok(None) => return Ok(None),
            Err(StoreError::Conflict) => return Err(answer::busy(MOVING)),
            Err(error) => return Err(broken(error)),
        };
        let saved = read(&taken.record).map_err(broken)?;
        if !self.may_take(&saved, owner.as_deref()) {
            return Ok(None);
        }
        if taken.epoch > ServerStreams::LAST_EPOCH {
            // There are no numbers left for its streams: its client opens a new one.
            store.remove(id, taken.epoch).await.map_err(broken)?;
            return Ok(None);
        }
        observe::taken_over(taken.epoch);
        processes.counters.takeovers.add();
        let mut streams = self.new_streams(parts);
        streams.carry_on(taken.epoch, taken.last_event);
        let mut conversation =
            self.session_connection(parts, streams, self.resumed(parts, &saved.session));
        conversation.resume(&saved.client);
        conversation.with(|core| {
            for uri in &saved.subscriptions {
                core.machine.subscribe(uri);
            }
        });
        let shared = Arc::clone(conversation.shared());
        let session = Session::new(id.into(), owner, taken.epoch, process.lease, shared);
        Ok(Some(self.begin(session, conversation, place, Some(saved))))
    }

    /// Returns true if this principal may use a session, and this endpoint serves its revision.
    fn may_take(&self, saved: &Saved, owner: Option<&str>) -> bool {
        saved.principal.as_deref() == owner
            && self.endpoint().revisions.contains(saved.session.revision)
    }

    /// A reader of the session's own stream, or of the one that this event belongs to, wherever
    /// its events are; `None` if the session is over.
    pub(in crate::http::server) async fn attach(
        &self,
        session: &Session,
        last_event_id: Option<&[u8]>,
    ) -> Option<Result<StreamReader, Refusal>> {
        let refusal = match session.streams(|streams| streams.attach(last_event_id))? {
            Ok(reader) => return Some(Ok(reader)),
            Err(refusal) => refusal,
        };
        let (Some(processes), Some(id)) = (&self.processes, last_event_id) else {
            return Some(Err(refusal));
        };
        let Ok((channel, after)) = session.streams(|streams| streams.named(id))? else {
            return Some(Err(refusal));
        };
        let store = processes.store();
        let found = store.replay(session.id(), channel.number(), after).await;
        let replay = match found {
            Ok(Some(replay)) => replay,
            Ok(None) => return Some(Err(refusal)),
            Err(error) => {
                observe::store_failed(&error);
                return Some(Err(Refusal::Unavailable(EVENTS)));
            }
        };
        if replay.has_ended() && replay.messages().next().is_none() {
            return Some(Err(Refusal::StreamEnded));
        }
        session.streams(|streams| {
            streams.restore(channel, after.saturating_add(1), replay.messages());
            streams.attach(last_event_id)
        })
    }
}

/// A session that is being stored. If its client leaves before that is done, the store forgets it; its place is taken until the store
/// has answered.
struct UnsavedSession {
    processes: Arc<Processes>,
    id: Arc<str>,
    /// `None` once the session is stored.
    place: Option<Place>,
}

/// The time limit for the removal of a session that nothing else knows.
const REMOVAL: Duration = Duration::from_secs(2);

impl Drop for UnsavedSession {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else {
            return;
        };
        let (processes, id) = (Arc::clone(&self.processes), Arc::clone(&self.id));
        let runtime = processes.runtime.clone();
        runtime.spawn(Box::pin(async move {
            let mut place = Some(place);
            // The attempt that was given up may still create the record, some time later.
            for pause in [0, 1, 10] {
                Sleep::after(&processes.runtime, Duration::from_secs(pause)).await;
                let removed = processes.store().remove(&id, FIRST);
                let _ = within(&processes.runtime, REMOVAL, removed).await;
                drop(place.take());
            }
        }));
    }
}

/// A record of this version; one of another is left alone.
fn read(record: &[u8]) -> Result<Saved, StoreError> {
    Saved::read(record).ok_or_else(|| StoreError::new("the record has another version"))
}

/// The client may retry: the store may be available then.
fn broken(error: StoreError) -> Answer {
    observe::store_failed(&error);
    answer::busy("sessions cannot be looked up")
}

const EVENTS: &str = "events cannot be looked up";

pub(super) const MOVING: &str = "the session is moving to another process";

/// Further attempts would see a store that contradicts itself.
const ATTEMPTS: u32 = 4;
