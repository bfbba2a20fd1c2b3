//! Sends HTTP requests to the server. Layers below it do not know MCP.

use core::error::Error;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use super::http_event::{HttpObserver, HttpStep, Observed};
use crate::ErrorChain;
use crate::error::AuthorizationError;
use crate::net::SendFailed;
use crate::runtime::RuntimeHandle;
use crate::sync::Lock;

/// Sends requests; it handles redirects, connections and encryption itself.
pub(super) trait Carrier: Send + Sync + 'static {
    fn send(&self, request: Request<Full<Bytes>>) -> Sending;
}

/// A request on its way, until the head of its reply. Dropping it, or the body, ends it.
pub(super) type Sending = Pin<Box<dyn Future<Output = Result<Response<Reply>, Unsent>> + Send>>;

/// The error of a request that has no reply.
#[derive(Debug)]
pub(super) struct Unsent {
    /// True if the server may have read the request.
    pub(super) begun: bool,
    /// For a person.
    pub(super) cause: String,
}

impl Unsent {
    fn new(begun: bool, error: &(dyn Error + 'static)) -> Self {
        Self {
            begun,
            cause: ErrorChain(error).to_string(),
        }
    }
}

/// The body of a reply.
pub(super) struct Reply {
    body: Pin<Box<dyn http_body::Body<Data = Bytes, Error = Broken> + Send>>,
    /// Number of frames that were read without a pause.
    run: u32,
    observed: Option<Observed>,
}

/// The body broke off.
pub(super) struct Broken;

impl Reply {
    fn new<B>(body: B, observed: Option<Observed>) -> Self
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
    {
        let body = body
            .map_frame(|frame| {
                frame.map_data(|mut data| {
                    use bytes::Buf;
                    data.copy_to_bytes(data.remaining())
                })
            })
            .map_err(|_| Broken);
        let body = Box::pin(body);
        Self {
            body,
            run: 0,
            observed,
        }
    }

    /// The next bytes; `None` at the end. A server that never pauses does not keep the task from
    /// everything else.
    pub(super) fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Broken>>> {
        while self.run < RUN {
            self.run += 1;
            match self.body.as_mut().poll_frame(cx) {
                Poll::Ready(None) => {
                    self.note(HttpStep::End);
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(broken))) => {
                    self.note(HttpStep::Failed("the body of the response broke off"));
                    return Poll::Ready(Some(Err(broken)));
                }
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing here.
                    if let Ok(data) = frame.into_data() {
                        self.note(HttpStep::Data(&data));
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Poll::Pending => {
                    self.run = 0;
                    return Poll::Pending;
                }
            }
        }
        self.run = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) const fn is_observed(&self) -> bool {
        self.observed.is_some()
    }

    fn note(&mut self, step: HttpStep<'_>) {
        if let Some(observed) = &mut self.observed {
            observed.note(step);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        // Such as an empty body, which need not be read.
        if self.body.is_end_stream() {
            self.note(HttpStep::End);
        }
    }
}

/// Frames that are read in one go, as long as there are some.
const RUN: u32 = 32;

/// Any service of `tower` as a carrier.
pub(super) struct Through<S> {
    service: Lock<S>,
    observer: Option<Arc<HttpObserver>>,
    /// The runtime that requests state, for an HTTP client behind layers.
    runtime: Option<RuntimeHandle>,
}

impl<S> Through<S> {
    pub(super) const fn new(service: S) -> Self {
        Self {
            service: Lock::new(service),
            observer: None,
            runtime: None,
        }
    }

    pub(super) fn on(mut self, runtime: RuntimeHandle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    pub(super) fn observed(mut self, observer: Option<Arc<HttpObserver>>) -> Self {
        self.observer = observer;
        self
    }
}

impl<S, B> Carrier for Through<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    fn send(&self, mut request: Request<Full<Bytes>>) -> Sending {
        if let Some(runtime) = &self.runtime {
            request.extensions_mut().insert(runtime.clone());
        }
        let mut service = self.service.lock().clone();
        let observer = self.observer.clone();
        Box::pin(async move {
            let mut observed = observer.map(|observer| Observed::begin(&observer, &request));
            let ready = core::future::poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(|error| Unsent::new(false, &*error.into()));
            let sent = match ready {
                Err(unsent) => Err(unsent),
                Ok(()) => service.call(request).await.map_err(|error| {
                    let error = error.into();
                    let failed = error.downcast_ref::<SendFailed>();
                    let begun = !failed.is_some_and(SendFailed::is_unsent);
                    Unsent::new(begun, &*error)
                }),
            };
            if let Some(observed) = &mut observed {
                match &sent {
                    Ok(response) => observed.note_head(response),
                    Err(unsent) => observed.note(HttpStep::Failed(&unsent.cause)),
                }
            }
            sent.map(|response| response.map(|body| Reply::new(body, observed)))
        })
    }
}

/// Reasons for which a request has no reply.
pub(super) enum NoReply {
    Unsent(Unsent),
    /// The client has no credentials that the server accepts.
    Denied(Arc<AuthorizationError>),
}

impl From<Unsent> for NoReply {
    fn from(unsent: Unsent) -> Self {
        Self::Unsent(unsent)
    }
}

impl From<Arc<AuthorizationError>> for NoReply {
    fn from(error: Arc<AuthorizationError>) -> Self {
        Self::Denied(error)
    }
}

/// A body that was read to its end, or to a limit.
pub(super) enum Whole {
    All(Vec<u8>),
    /// The part of the body that was read.
    TooLong(Vec<u8>),
    Broken,
}

/// Reads a body to its end, or to a limit.
pub(super) async fn whole(mut body: Reply, limit: usize) -> Whole {
    let mut bytes = Vec::new();
    loop {
        match poll_fn(|cx| body.poll_bytes(cx)).await {
            None => return Whole::All(bytes),
            Some(Err(_)) => return Whole::Broken,
            Some(Ok(part)) => {
                if bytes.len().saturating_add(part.len()) > limit {
                    return Whole::TooLong(bytes);
                }
                bytes.extend_from_slice(&part);
            }
        }
    }
}

/// The bytes that are read of a refusal: errors are short.
pub(super) const REFUSAL: usize = 64 << 10;
