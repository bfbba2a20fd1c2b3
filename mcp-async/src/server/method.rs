//! A method of the application, with its handler.

use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::{Outcome, Payload, RevisionSet};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handler_context::{Context, Host, unit};
use super::handler_error::{Failure, HandlerError};
use super::item_scopes::ItemScopes;
use super::reply::Reply;
use super::service::Call;
use super::tool::decode_typed;
use crate::connection::Job;

/// A method whose handler has its state.
pub(super) struct Method {
    pub(super) name: String,
    /// The member of the parameters that `Mcp-Name` repeats (EX-15).
    pub(super) subject: Option<String>,
    /// The extension that a client must have declared (EX-06).
    pub(super) requires: Option<String>,
    /// The revisions that have the method (EX-07).
    pub(super) revisions: RevisionSet,
    #[cfg_attr(
        not(all(feature = "auth", feature = "http-server")),
        expect(dead_code, reason = "no request has a token")
    )]
    pub(super) scopes: ItemScopes,
    /// A call lasts until the client ends it.
    pub(super) long_running: bool,
    pub(super) begin: BeginMethod<()>,
}

/// Decodes the parameters and starts the handler.
pub(super) type BeginMethod<S> = Box<dyn for<'b> Fn(Call<'b>, &Arc<S>, &Host) -> Job + Send + Sync>;

impl Method {
    /// A method of every revision, which needs no extension.
    pub(super) fn new(name: String, begin: BeginMethod<()>) -> Self {
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

    pub(super) fn call(&self, call: Call<'_>, host: &Host) -> Job {
        (self.begin)(call, unit(), host)
    }
}

/// Gives the handler its state.
pub(super) fn bind<S: Send + Sync + 'static>(
    begin: BeginMethod<S>,
    state: &Arc<S>,
) -> BeginMethod<()> {
    let state = Arc::clone(state);
    Box::new(move |call, _, host| begin(call, &state, host))
}

/// A handler of raw parameters.
pub(super) fn raw<S, T, F, Fut>(handler: F) -> BeginMethod<S>
where
    S: Send + Sync + 'static,
    F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    T: Payload + Send + 'static,
{
    Box::new(move |call, state, host| {
        let params = call.keep(call.params.as_raw());
        let future = handler(params, Context::new(&call, state, host));
        run(call, future)
    })
}

/// A handler of typed parameters; those that do not decode are refused with their path.
pub(super) fn typed<S, A, T, F, Fut>(handler: F) -> BeginMethod<S>
where
    S: Send + Sync + 'static,
    F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    A: DeserializeOwned + Send + 'static,
    T: Serialize + Send + 'static,
{
    Box::new(move |call, state, host| {
        let params = match decode(call.params.as_raw(), "params") {
            Ok(params) => params,
            Err(error) => return call.ready(Answer::<()>(Err(error.settle(None)))),
        };
        let future = handler(params, Context::new(&call, state, host));
        run(call, future)
    })
}

/// Decodes what a client sent; the error names the place of the mistake.
pub(super) fn decode<A: DeserializeOwned>(raw: Raw<'_>, what: &str) -> Result<A, HandlerError> {
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
pub(super) struct Answer<T>(pub(super) Result<T, Failure>);

impl<T: Payload + Send + 'static> Reply for Answer<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match &self.0 {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => error.with_outcome(send),
        }
    }
}
