//! A method of one's own.

use core::future::Future;

use mcp_proto::json::RawBuf;
use mcp_proto::{Outcome, Payload};

use super::super::Context;
use super::super::handler_error::HandlerError;
use super::super::reply::Reply;
use super::super::service::Call;
use crate::connection::Job;

pub(in crate::server) struct Method {
    pub(in crate::server) name: String,
    begin: Begin,
}

type Begin = Box<dyn for<'b> Fn(Call<'b>) -> Job + Send + Sync>;

impl Method {
    pub(in crate::server) fn new<T, F, Fut>(name: String, handler: F) -> Self
    where
        F: Fn(RawBuf, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: Payload + Send + 'static,
    {
        let begin = move |call: Call<'_>| {
            let params = call.keep(call.params.as_raw());
            let future = handler(params, call.context().clone());
            call.answer(async move { Answer(future.await) })
        };
        Self {
            name,
            begin: Box::new(begin),
        }
    }

    pub(super) fn call(&self, call: Call<'_>) -> Job {
        (self.begin)(call)
    }
}

/// What a handler came to, on its way to the wire.
struct Answer<T>(Result<T, HandlerError>);

impl<T: Payload + Send + 'static> Reply for Answer<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match &self.0 {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => send(Outcome::Error(error.to_reply(None).as_object())),
        }
    }
}
