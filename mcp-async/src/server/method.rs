//! A method of the application.

use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::{Outcome, Payload};

use super::handler_context::Context;
use super::handler_error::{Failure, HandlerError};
use super::host::Host;
use super::reply::Reply;
use super::service::Call;
use crate::connection::Job;

pub(super) struct Method {
    pub(super) name: String,
    begin: Begin,
}

type Begin = Box<dyn for<'b> Fn(Call<'b>, &Host) -> Job + Send + Sync>;

impl Method {
    pub(super) fn new<S, T, F, Fut>(name: String, state: &Arc<S>, handler: F) -> Self
    where
        S: Send + Sync + 'static,
        F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: Payload + Send + 'static,
    {
        let state = Arc::clone(state);
        let begin = move |call: Call<'_>, host: &Host| {
            let params = call.keep(call.params.as_raw());
            let future = handler(params, Context::new(&call, &state, host));
            call.answer(async move { Answer(future.await.map_err(|error| error.settle(None))) })
        };
        Self {
            name,
            begin: Box::new(begin),
        }
    }

    pub(super) fn call(&self, call: Call<'_>, host: &Host) -> Job {
        (self.begin)(call, host)
    }
}

/// The outcome of a handler, which is written as the response.
pub(super) struct Answer<T>(pub(super) Result<T, Failure>);

impl<T: Payload + Send + 'static> Reply for Answer<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match &self.0 {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => error.with_outcome(send),
        }
    }
}
