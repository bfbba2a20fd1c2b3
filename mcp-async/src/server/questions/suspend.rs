//! The end of a round: every open question, and the state to send back.

use core::task::{self, Poll};

use mcp_proto::json::RawBuf;

use crate::error::ErrorReply;
use crate::server::call::context::CallContext;
use crate::server::call::reply::{InputRequired, Settled};
use crate::server::rounds::SuspendedCall;
use crate::server::rounds::keys::{LIMIT, Origin, StateKeys};

impl CallContext {
    /// Ready with the questions that end this round, if the handler has asked something; else the
    /// task is woken when it does, from another task for instance.
    pub(in crate::server) fn poll_suspend(&self, cx: &task::Context<'_>) -> Poll<Settled<()>> {
        if !self.suspends {
            return Poll::Pending;
        }
        let left = self.with_rounds(|rounds, _| rounds.suspend(self.token, cx));
        left.flatten()
            .map_or(Poll::Pending, |left| Poll::Ready(self.settle(left)))
    }

    fn settle(&self, left: SuspendedCall) -> Settled<()> {
        let SuspendedCall {
            keys,
            method,
            params,
            mut round,
        } = left;
        let Some(keys) = keys.or_else(StateKeys::of_process) else {
            return Settled::Error(ErrorReply::internal());
        };
        let mut questions = Vec::with_capacity(round.open.len());
        for open in core::mem::take(&mut round.open) {
            let asked = open.asked;
            let fingerprint = asked.fingerprint;
            round.carried.asked.insert(open.key.clone(), fingerprint);
            questions.push((open.key, asked.method, Box::new(asked.params) as _));
        }
        let Ok(body) = RawBuf::encode(&round.carried) else {
            return Settled::Error(ErrorReply::internal());
        };
        let origin = Origin {
            method,
            params: params.as_raw().object().unwrap_or_default(),
            principal: self.principal_name(),
        };
        let state = keys.seal(&origin, body.as_raw().as_bytes());
        match state {
            Some(state) if state.len() <= LIMIT => Settled::Input(InputRequired {
                questions,
                state: Some(state),
            }),
            Some(_) => Settled::Error(ErrorReply::new(TOO_LARGE.0, TOO_LARGE.1)),
            None => Settled::Error(ErrorReply::internal()),
        }
    }
}

/// Answers and values of this call are more than a client is asked to carry.
const TOO_LARGE: (i64, &str) = (
    mcp_proto::rpc::code::INTERNAL_ERROR,
    "limit reached: bytes of request state",
);
