//! The rounds of the calls of one connection, under its lock.

use core::task::{Context, Waker};

use mcp_proto::Token;
use mcp_proto::json::{Object, RawBuf};
use mcp_proto::rpc::Method;

use super::keys::StateKeys;
use super::round::{Round, Waiting};
use crate::error::ErrorReply;
use crate::sync::{Waiter, Waiters};

/// Empty until a call asks something, or could: then one place for each call in flight, in the
/// order of the core's own table. A call that runs apart from its connection has a table of its
/// own.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// The first call that has a place.
    first: usize,
    /// A handler waits for answers instead of ending its round.
    waits_live: bool,
    /// The program's keys; without them the process's own.
    pub(in crate::server) keys: Option<StateKeys>,
    places: Vec<Place>,
    /// Tasks that wait for calls that are over; woken at the end of the connection.
    orphans: Waiters,
}

#[derive(Debug, Default)]
struct Place {
    /// The call that the place is for, until it is over.
    token: Option<Token>,
    /// The method that a state will be bound to: of a call of 2026-07-28 that may ask.
    origin: Option<Method<'static>>,
    params: RawBuf,
    /// Looks whether there are questions now.
    runner: Waiter,
    /// Its questions were written; its answer only waits for room.
    suspended: bool,
    round: Option<Box<Round>>,
}

/// The parts of a suspended call from which its answer is made.
#[derive(Debug)]
pub(in crate::server) struct SuspendedCall {
    pub(in crate::server) keys: Option<StateKeys>,
    pub(in crate::server) method: Method<'static>,
    pub(in crate::server) params: RawBuf,
    pub(in crate::server) round: Box<Round>,
}

impl Rounds {
    pub(crate) fn set_keys(&mut self, keys: StateKeys) {
        self.keys = Some(keys);
    }

    /// The table of one call, whose handler waits for its answers.
    pub(in crate::server) fn live(token: Token, round: Option<Box<Round>>) -> Self {
        let mut rounds = Self {
            first: token.index(),
            waits_live: true,
            ..Self::default()
        };
        if round.is_some()
            && let Some(place) = rounds.place(token)
        {
            place.round = round;
        }
        rounds
    }

    /// Returns true if handlers wait for answers instead of ending their round.
    pub(in crate::server) const fn waits_live(&self) -> bool {
        self.waits_live
    }

    /// Moves the memory of a call out.
    pub(in crate::server) fn take(&mut self, token: Token) -> Option<Box<Round>> {
        let index = self.index(token)?;
        let place = self.places.get_mut(index)?;
        place.round.take_if(|_| place.token == Some(token))
    }

    /// The questions that a call asks now.
    pub(in crate::server) fn open(
        &mut self,
        token: Token,
    ) -> impl Iterator<Item = (&str, Method<'static>, &RawBuf)> {
        let open = self.existing(token).map_or(&[][..], |round| &round.open);
        open.iter()
            .map(|open| (&*open.key, open.asked.method, &open.asked.params))
    }

    /// Answers a question that is open or was withdrawn. Returns the tasks to wake; `None` if there
    /// is no such question.
    pub(in crate::server) fn answer(
        &mut self,
        token: Token,
        key: &str,
        result: RawBuf,
    ) -> Option<Waiting> {
        self.existing(token)?.answer(key, result)
    }

    /// Answers an open question with an error of the client. Returns the tasks to wake; `None` if
    /// there is no such question.
    pub(in crate::server) fn refuse(
        &mut self,
        token: Token,
        key: &str,
        error: ErrorReply,
    ) -> Option<Waiting> {
        self.existing(token)?.refuse(key, error)
    }

    /// Begins a call of 2026-07-28 that may ask.
    pub(in crate::server) fn begin(
        &mut self,
        token: Token,
        method: Method<'static>,
        params: Object<'_>,
        round: Option<Box<Round>>,
    ) {
        let Some(place) = self.place(token) else {
            return;
        };
        place.origin = Some(method);
        place.params.copy_from(params.as_raw());
        place.round = round;
    }

    /// The memory of a live call; `None` once its questions were written.
    pub(in crate::server) fn round(&mut self, token: Token) -> Option<&mut Round> {
        let place = self.place(token)?;
        (!place.suspended).then(|| &mut **place.round.get_or_insert_default())
    }

    /// The memory of a live call, if there is any yet; `None` once its questions were written.
    pub(in crate::server) fn existing(&mut self, token: Token) -> Option<&mut Round> {
        let index = self.index(token)?;
        let place = self.places.get_mut(index)?;
        if place.token != Some(token) || place.suspended {
            return None;
        }
        place.round.as_deref_mut()
    }

    /// The task that runs the call.
    pub(in crate::server) fn runner(&self, token: Token) -> Option<&Waiter> {
        let place = self.places.get(self.index(token)?)?;
        (place.token == Some(token)).then_some(&place.runner)
    }

    /// Ends the round if there are questions; else the task is woken when there are.
    pub(in crate::server) fn suspend(
        &mut self,
        token: Token,
        cx: &Context<'_>,
    ) -> Option<SuspendedCall> {
        let waits_live = self.waits_live;
        let place = self.place(token)?;
        let asks = |round: &Round| !round.open.is_empty() && !waits_live;
        if !place.round.as_deref().is_some_and(asks) {
            place.runner.register(cx);
            return None;
        }
        let method = place.origin?;
        let mut round = place.round.take()?;
        place.suspended = true;
        let params = core::mem::take(&mut place.params);
        self.orphans.extend(round.wakers());
        Some(SuspendedCall {
            keys: self.keys.clone(),
            method,
            params,
            round,
        })
    }

    /// Wakes the task when the connection is over.
    pub(in crate::server) fn orphan(&mut self, cx: &Context<'_>) {
        self.orphans.register(cx);
    }

    /// The call is over.
    pub(in crate::server) fn forget(&mut self, token: Token) -> Option<EndedCall> {
        let index = self.index(token)?;
        let place = self.places.get_mut(index)?;
        if place.token != Some(token) {
            return None;
        }
        place.token = None;
        let mut round = place.round.take();
        if let (Some(round), Some(_)) = (&mut round, place.origin) {
            // In 2026-07-28 an open question is never answered, not even by a refusal.
            self.orphans.extend(round.wakers());
        }
        let large = place.params.capacity() > KEPT;
        let params = large.then(|| core::mem::take(&mut place.params));
        Some(EndedCall {
            round,
            _params: params,
        })
    }

    /// The connection is over: moves out the wakers of all who wait.
    pub(in crate::server) fn end(&mut self, waiting: &mut Waiters) {
        waiting.append(&mut self.orphans);
        let rounds = self
            .places
            .iter_mut()
            .filter_map(|place| place.round.as_mut());
        waiting.extend(rounds.flat_map(|round| round.wakers().collect::<Vec<_>>()));
    }

    fn index(&self, token: Token) -> Option<usize> {
        token.index().checked_sub(self.first)
    }

    /// The place of a live call. One that it had before is over.
    fn place(&mut self, token: Token) -> Option<&mut Place> {
        let index = self.index(token)?;
        if self.places.len() <= index {
            self.places.resize_with(index + 1, Place::default);
        }
        let place = self.places.get_mut(index)?;
        if place.token != Some(token) {
            place.token = Some(token);
            place.origin = None;
            place.suspended = false;
            place.round = None;
        }
        Some(place)
    }
}

/// The memory of a call that is over. Futures that wait for something of the call are woken.
#[derive(Debug)]
pub(crate) struct EndedCall {
    round: Option<Box<Round>>,
    _params: Option<RawBuf>,
}

impl Drop for EndedCall {
    fn drop(&mut self) {
        if let Some(round) = &mut self.round {
            round.wakers().for_each(Waker::wake);
        }
    }
}

/// The largest buffer that one place keeps when its call is over.
const KEPT: usize = 4 << 10;
