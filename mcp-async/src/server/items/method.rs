//! A method of the application, with its handler.

use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::{Outcome, Payload, RevisionSet};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checks::decode_typed;
use super::item_scopes::ItemScopes;
use crate::connection::Job;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::{Failure, HandlerError};
use crate::server::call::reply::Reply;
use crate::server::call::service::Call;

/// A method whose handler has its state.
pub(in crate::server) struct Method {
    pub(in crate::server) name: String,
    /// The member of the parameters that `Mcp-Name` repeats (EX-15).
    pub(in crate::server) subject: Option<String>,
    /// The extension that a client must have declared (EX-06).
    pub(in crate::server) requires: Option<String>,
    /// The revisions that have the method (EX-07).
    pub(in crate::server) revisions: RevisionSet,
    pub(in crate::server) scopes: ItemScopes,
    /// A call lasts until the client ends it.
    pub(in crate::server) long_running: bool,
    pub(in crate::server) begin: BeginMethod<()>,
}

/// Decodes the parameters and starts the handler.
pub(in crate::server) type BeginMethod<S> =
    Arc<dyn for<'b> Fn(Call<'b>, &Arc<S>) -> Job + Send + Sync>;

impl Method {
    /// A method of every revision, which needs no extension.
    pub(in crate::server) fn new(name: String, begin: BeginMethod<()>) -> Self {
        Self {
            name,
            subject: None,
            requires: None,
            revisions: RevisionSet::all(),
            scopes: ItemScopes::default(),
            long_running: false,
            begin,
        }
    }

    pub(in crate::server) fn call(&self, call: Call<'_>) -> Job {
        (self.begin)(call, unit())
    }
}

/// Gives the handler its state.
pub(in crate::server) fn bind<S: Send + Sync + 'static>(
    begin: BeginMethod<S>,
    state: &Arc<S>,
) -> BeginMethod<()> {
    let state = Arc::clone(state);
    Arc::new(move |call, _| begin(call, &state))
}

/// A handler of raw parameters.
pub(in crate::server) fn raw<S, T, F, Fut>(handler: F) -> BeginMethod<S>
where
    S: Send + Sync + 'static,
    F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    T: Payload + Send + 'static,
{
    Arc::new(move |call, state| {
        let params = call.keep(call.params.as_raw());
        let future = handler(params, Context::new(call.context.for_handler(), state));
        run(call, future)
    })
}

/// A handler of typed parameters; those that do not decode are refused with their path.
pub(in crate::server) fn typed<S, A, T, F, Fut>(handler: F) -> BeginMethod<S>
where
    S: Send + Sync + 'static,
    F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    A: DeserializeOwned + Send + 'static,
    T: Serialize + Send + 'static,
{
    Arc::new(move |call, state| {
        let params = match decode(call.params.as_raw(), "params") {
            Ok(params) => params,
            Err(error) => return call.ready(Answer::<()>(Err(error.settle(None)))),
        };
        let future = handler(params, Context::new(call.context.for_handler(), state));
        run(call, future)
    })
}

/// Decodes what a client sent; the error names the place of the mistake.
pub(in crate::server) fn decode<A: DeserializeOwned + 'static>(
    raw: Raw<'_>,
    what: &str,
) -> Result<A, HandlerError> {
    decode_typed(raw)
        .map_err(|error| HandlerError::invalid_params(format!("Invalid {what}: {error}")))
}

fn run<T: Payload + Send + 'static>(
    call: Call<'_>,
    future: impl Future<Output = Result<T, HandlerError>> + Send + 'static,
) -> Job {
    call.answer(async move { Answer(future.await.map_err(|error| error.settle(None))) })
}

/// The outcome of a handler, which is written as the response.
pub(in crate::server) struct Answer<T>(pub(in crate::server) Result<T, Failure>);

impl<T: Payload + Send + 'static> Reply for Answer<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match &self.0 {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => error.with_outcome(send),
        }
    }
}
