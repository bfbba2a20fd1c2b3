//! A subscription that the application judges.

use core::fmt;
use core::future::{Future, poll_fn};
use core::task::Poll;
use std::sync::Arc;

use mcp_proto::json::{Object, Raw, RawBuf};
use mcp_proto::server::RequestContext as Request;
use mcp_proto::{Outcome, Payload, SendError};

use super::context::CallContext;
use super::open_listen::OpenListen;
use super::subscriber::Subscriber;
use crate::call_outcome::CallOutcome;
use crate::connection::{Answered, Frame, Job, keep};
use crate::error::ErrorReply;
use crate::server::caller::Machine;

/// A `subscriptions/listen` whose filter has keys of the application:
/// [`ServerConfig::filters`](mcp_proto::server::ServerConfig::filters). It borrows from the input,
/// as a [`Call`](crate::server::Call) does.
///
/// ```
/// use mcp_async::Job;
/// use mcp_async::server::{Call, Listen, Service};
/// use mcp_async::json::RawBuf;
///
/// struct Clock;
///
/// impl Service for Clock {
///     fn call(&self, call: Call<'_>) -> Job {
///         call.refuse(mcp_async::ErrorReply::method_not_found())
///     }
///
///     fn listen(&self, listen: Listen<'_>) -> Job {
///         let ticks = listen.filter.get("ticks").map(|ticks| listen.keep(ticks));
///         let subscriber = listen.subscriber();
///         listen.answer(async move {
///             let source = subscriber.clone();
///             subscriber.run(async move {
///                 let _ = source.notify("notifications/example/tick", &[("at", 1)]).await;
///             });
///             Ok(ticks.map(|ticks| ("ticks".to_owned(), ticks)).into_iter().collect())
///         })
///     }
/// }
/// ```
pub struct Listen<'b> {
    /// Everything that the client asks for, also what the protocol layer serves.
    pub filter: Object<'b>,
    /// The parts of the request that the protocol layer has read.
    pub request: Request<'b>,
    context: CallContext,
    frame: Frame<'b>,
    open: CloseOnDrop,
}

impl<'b> Listen<'b> {
    pub(in crate::server) fn new(
        filter: Object<'b>,
        request: Request<'b>,
        context: CallContext,
        frame: Frame<'b>,
    ) -> Self {
        Self {
            filter,
            request,
            context,
            frame,
            open: CloseOnDrop::default(),
        }
    }

    /// An own copy of a part of the message: see [`Call::keep`](crate::server::Call::keep).
    pub fn keep(&self, part: Raw<'_>) -> RawBuf {
        keep(part, self.frame)
    }

    /// Returns the handle of the subscription.
    pub fn subscriber(&self) -> Subscriber {
        Subscriber::new(
            self.context.clone(),
            Arc::clone(&self.open.0),
            Arc::default(),
        )
    }

    /// Acknowledges the subscription with the accepted value of each key, in addition to what the
    /// protocol layer serves, or refuses it with the error. Keys that are left out are not
    /// accepted.
    ///
    /// The job ends with the subscription, and polls what [`Subscriber::run`] was given until then.
    pub fn answer(
        self,
        accepted: impl Future<Output = Result<Vec<(String, RawBuf)>, ErrorReply>> + Send + 'static,
    ) -> Job {
        let Self { context, open, .. } = self;
        Job::of_listen(async move {
            let error = match accepted.await {
                Ok(accepted) => match acknowledge(&context, &accepted).await {
                    Ok(()) => {
                        poll_fn(|cx| open.0.poll_sources(cx)).await;
                        return Answered::new(context.call().0, CallOutcome::Result);
                    }
                    Err(SendError::Stale | SendError::Closed) => {
                        return Answered::new(context.call().0, CallOutcome::Cancelled);
                    }
                    Err(_) => ErrorReply::internal(),
                },
                Err(error) => error,
            };
            poll_fn(|cx| context.poll_respond(cx, Outcome::Error(error.as_object()))).await
        })
    }
}

async fn acknowledge(
    context: &CallContext,
    accepted: &[(String, RawBuf)],
) -> Result<(), SendError> {
    let shared = context.peer().shared;
    let (token, channel) = context.call();
    let mut receipt = None;
    poll_fn(|cx| -> Poll<Result<(), SendError>> {
        let write = |machine: &mut Machine, _, out: &mut [u8]| {
            let accepted: Vec<_> = accepted
                .iter()
                .map(|(key, value)| (key.as_str(), value as &dyn Payload))
                .collect();
            machine.acknowledge(token, &accepted, out)
        };
        shared.poll_tell(cx, &mut receipt, channel, write)
    })
    .await
}

/// Closes the subscription with its job.
#[derive(Default)]
struct CloseOnDrop(Arc<OpenListen>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Listen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listen")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}
