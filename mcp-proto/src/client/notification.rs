//! Incoming notifications.

use super::call::{Kind, Stage};
use super::reply::Reply;
use super::{Client, Event, Failure, Phase, Storage};
use crate::action::{Action, IgnoreReason};
use crate::json::{Object, Raw};
use crate::model::keys;
use crate::revision::RevisionSet;
use crate::rpc::{Id, Method, Notification};
use crate::sent::Progress;
use crate::slots::Key;
use crate::time::Instant;
use crate::token::SentToken;

impl<S: Storage> Client<'_, S> {
    /// Delivered in the order of the wire: what a handler says before its answer comes before
    /// the answer.
    pub(super) fn notification<'b>(
        &mut self,
        now: Instant,
        notification: Notification<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let params = notification.params.unwrap_or(Object::EMPTY);
        let modern = match self.phase {
            Phase::Modern => true,
            Phase::Legacy => false,
            // A server may log while it starts (LC-08).
            Phase::Opening(_) if notification.method == Method::Message => false,
            Phase::Opening(_) | Phase::Idle | Phase::Closed => {
                return Action::Ignore(IgnoreReason::Misplaced);
            }
        };
        match notification.method {
            Method::Progress => self.progressed(now, params),
            Method::Cancelled => match params.find(["requestId"]) {
                Ok([Some(id)]) => match Id::from_raw(id) {
                    Some(id) if modern => self.listen_cancelled(id),
                    Some(id) => self.question_cancelled(id, params, false),
                    None => Action::Ignore(IgnoreReason::Malformed),
                },
                _ => Action::Ignore(IgnoreReason::Malformed),
            },
            // Some peers took it over from the Language Server Protocol.
            Method::CancelRequest if !modern && self.config.cancel_alias => {
                match params.find(["id"]).map(|[id]| id.and_then(Id::from_raw)) {
                    Ok(Some(id)) => self.question_cancelled(id, params, true),
                    _ => Action::Ignore(IgnoreReason::Malformed),
                }
            }
            Method::SubscriptionsAcknowledged if modern => self.acknowledged(params),
            Method::Message => self.deliver(notification, None, {
                params.get("level").and_then(Raw::string).is_some() && params.get("data").is_some()
            }),
            Method::Other(name) if self.config.texts().method(name).is_none() => {
                Action::Ignore(IgnoreReason::UnknownNotification)
            }
            // EX-14: on a listen, or on the stream of a request.
            Method::Other(_) if modern && names_subscription(params) => {
                self.of_subscription(notification, params, true)
            }
            Method::Other(_) => self.deliver(notification, None, true),
            method => {
                let facts = method.facts();
                let era = if modern {
                    RevisionSet::modern()
                } else {
                    RevisionSet::legacy()
                };
                if !facts.is_notification() || facts.server.and(era).is_empty() {
                    return Action::Ignore(IgnoreReason::Misplaced);
                }
                let valid = facts.params.subject().is_none_or(
                    |key| matches!(params.find([key]), Ok([Some(text)]) if text.string().is_some()),
                );
                if modern {
                    self.of_subscription(notification, params, valid)
                } else {
                    self.deliver(notification, None, valid)
                }
            }
        }
    }

    fn deliver<'b>(
        &self,
        notification: Notification<'b>,
        subscription: Option<(SentToken, u64)>,
        valid: bool,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !valid {
            return Action::Ignore(IgnoreReason::Malformed);
        }
        Action::Event(Event::Notification {
            subscription,
            notification,
        })
    }

    /// ST-14: a modern notification belongs to the listen call that it names.
    fn of_subscription<'b>(
        &self,
        notification: Notification<'b>,
        params: Object<'b>,
        valid: bool,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Some(token) = subscription_id(params).and_then(|id| self.listen_of(id)) else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        let cookie = self.calls.get(token).map_or(0, |call| call.sent.cookie);
        let token = self.calls.sent.token(token);
        self.deliver(notification, Some((token, cookie)), valid)
    }

    /// SB-02, SB-12: from here on nothing limits the subscription.
    fn acknowledged<'b>(&mut self, params: Object<'b>) -> Action<Event<'b>, Reply<'b>> {
        let Some(token) = subscription_id(params).and_then(|id| self.listen_of(id)) else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        let Some(honoured) = params.get("notifications").and_then(Raw::object) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let Some(call) = self
            .calls
            .get_mut(token)
            .filter(|call| call.stage == Stage::Sent)
        else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        call.stage = Stage::Listening;
        let cookie = call.sent.cookie;
        self.calls.sent.table.arm(token, None);
        Action::Event(Event::Listening {
            token: self.calls.sent.token(token),
            cookie,
            honoured,
        })
    }

    /// CN-11, CN-17: the server ends a subscription; the result that may follow is late.
    fn listen_cancelled<'b>(&mut self, id: Id<'b>) -> Action<Event<'b>, Reply<'b>> {
        match id.to_u64().and_then(|id| self.listen_of(id)) {
            Some(token) => self.failed(token, Failure::Ended),
            None => Action::Ignore(IgnoreReason::UnknownCancellation),
        }
    }

    fn listen_of(&self, id: u64) -> Option<Key> {
        self.calls.sent.find(id).filter(|token| {
            self.calls
                .get(*token)
                .is_some_and(|call| call.kind == Kind::Listen)
        })
    }

    fn progressed<'b>(&mut self, now: Instant, params: Object<'b>) -> Action<Event<'b>, Reply<'b>> {
        let progress = match Progress::read(params) {
            Ok(progress) => progress,
            Err(reason) => return Action::Ignore(reason),
        };
        let Some((key, cookie)) = self.calls.sent.progressed(&progress) else {
            return Action::Ignore(IgnoreReason::StaleProgress);
        };
        // LC-19. An acknowledged subscription has no deadline to extend.
        if self.config.progress_extends && self.calls.sent.table.deadline(key).is_some() {
            self.calls.sent.extend(now, key);
        }
        Action::Event(Event::Progress {
            token: self.calls.sent.token(key),
            cookie,
            progress: progress.value,
            total: progress.total,
            message: progress.message,
        })
    }
}

/// The listen call that a notification names.
fn subscription_id(params: Object<'_>) -> Option<u64> {
    let [meta] = params.find(["_meta"]).ok()?;
    let [id] = meta?.object()?.find([keys::SUBSCRIPTION_ID]).ok()?;
    Id::from_raw(id?)?.to_u64()
}

/// Returns true if a notification has a subscription id, even one that is no id of a listen call.
fn names_subscription(params: Object<'_>) -> bool {
    let meta = params.get("_meta").and_then(Raw::object);
    meta.is_some_and(|meta| meta.get(keys::SUBSCRIPTION_ID).is_some())
}
