//! Notifications that belong to calls.

use super::abandoned::Abandoned;
use super::call::{Failure, InFlight, Kind, Stage};
use super::calls::Calls;
use super::{Event, Reply};
use crate::action::{Action, IgnoreReason};
use crate::json::{Object, Raw};
use crate::model::ProtocolMeta;
use crate::rpc::{Id, Notification};
use crate::slots::{Key, SlotStore};
use crate::store::Store;
use crate::time::Instant;
use crate::token::SentToken;

impl<S: SlotStore<InFlight>, A: Store<Abandoned>> Calls<S, A> {
    /// ST-14: a modern notification belongs to the listen call that it names.
    pub(super) fn of_subscription<'b>(
        &self,
        notification: Notification<'b>,
        params: Object<'b>,
        valid: bool,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Some(token) = subscription_id(params).and_then(|id| self.listen_of(id)) else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        let cookie = self.get(token).map_or(0, |call| call.sent.cookie);
        let token = self.sent.token(token);
        deliver(notification, Some((token, cookie)), valid)
    }

    /// SB-02, SB-12: from here on nothing limits the subscription.
    pub(super) fn acknowledged<'b>(&mut self, params: Object<'b>) -> Action<Event<'b>, Reply<'b>> {
        let Some(token) = subscription_id(params).and_then(|id| self.listen_of(id)) else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        let Some(honoured) = params.get("notifications").and_then(Raw::object) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let Some(call) = self.get_mut(token).filter(|call| call.stage == Stage::Sent) else {
            return Action::Ignore(IgnoreReason::Misplaced);
        };
        call.stage = Stage::Listening;
        let cookie = call.sent.cookie;
        self.sent.table.arm(token, None);
        Action::Event(Event::Listening {
            token: self.sent.token(token),
            cookie,
            honoured,
        })
    }

    /// CN-11, CN-17: the server ends a subscription; the result that may follow is late.
    pub(super) fn listen_cancelled<'b>(&mut self, id: Id<'b>) -> Action<Event<'b>, Reply<'b>> {
        match id.to_u64().and_then(|id| self.listen_of(id)) {
            Some(token) => self.fail(token, Failure::Ended),
            None => Action::Ignore(IgnoreReason::UnknownCancellation),
        }
    }

    fn listen_of(&self, id: u64) -> Option<Key> {
        self.sent.find(id).filter(|token| {
            self.get(*token)
                .is_some_and(|call| call.kind == Kind::Listen)
        })
    }

    /// Takes a progress notification for a call, which starts its timeout anew if that `extends` it (LC-19).
    pub(super) fn take_progress<'b>(
        &mut self,
        now: Instant,
        params: Object<'b>,
        extends: bool,
    ) -> Action<Event<'b>, Reply<'b>> {
        let (key, cookie, progress) = match self.sent.progressed(params) {
            Ok(taken) => taken,
            Err(reason) => return Action::Ignore(reason),
        };
        // LC-19. An acknowledged subscription has no deadline to extend.
        if extends && self.sent.table.deadline(key).is_some() {
            self.sent.extend(now, key);
        }
        Action::Event(Event::Progress {
            token: self.sent.token(key),
            cookie,
            progress: progress.value,
            total: progress.total,
            message: progress.message,
        })
    }
}

/// Gives a notification to the application.
pub(super) fn deliver<'b>(
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

/// The listen call that a notification names.
fn subscription_id(params: Object<'_>) -> Option<u64> {
    let [meta] = params.find(["_meta"]).ok()?;
    let meta = ProtocolMeta::new(meta?.object()?);
    meta.subscription()?.to_u64()
}
