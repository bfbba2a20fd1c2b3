//! Layers of `tower` around the handlers of calls.

use core::convert::Infallible;
use core::error::Error;
use core::fmt;
use core::future::{poll_fn, ready};
use core::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service as TowerService;

use super::{Around, Layered, runs_a_handler};
use crate::connection::{Answered, Job};
use crate::runtime::BoxFuture;
use crate::server::call::answering::Answering;
use crate::server::call::handler_error::HandlerError;
use crate::server::{Call, CallContext, Service};

/// Makes a layer of one of `tower`, for all services that it is put around: their calls share its limits.
///
/// The inner service of that layer is [`Handlers`], whose requests are owned: the parameters of a
/// [`DecodedCall`] are decoded, and its handler has not run yet. Calls wait until the service is ready. An
/// error of the layer is an error of the handler: the client learns that there was one, unless it is an
/// [`ErrorReply`](crate::ErrorReply).
///
/// As for a [`ConcurrencyLimit`](super::ConcurrencyLimit), lists and
/// [long-running](Call::is_long_running) calls do not reach the layer. A call that becomes a
/// [task](crate::tasks) stays in the layer until its handler ends. Layers with a clock use that of their own
/// runtime.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::layers;
/// use tower::limit::ConcurrencyLimitLayer;
/// use tower::load_shed::LoadShedLayer;
///
/// // Calls that find 16 others are refused.
/// let limit = layers::tower((LoadShedLayer::new(), ConcurrencyLimitLayer::new(16)));
/// let server = Server::builder("demo", "1.0").layer(limit);
/// # let _ = server;
/// ```
pub fn tower<L: Layer<Handlers>>(layer: L) -> TowerLayer<L::Service> {
    TowerLayer(layer.layer(Handlers))
}

/// The layer that [`tower`] makes.
#[derive(Clone)]
pub struct TowerLayer<S>(S);

/// A call whose handler runs when [`Handlers`] is called with it. Dropping it cancels the handler.
#[derive(Debug)]
pub struct DecodedCall {
    method: String,
    tool: Option<String>,
    context: CallContext,
    job: Job,
}

impl DecodedCall {
    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the name of the tool, as [`Call::tool_name`] does.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns the handle of the call.
    pub const fn context(&self) -> &CallContext {
        &self.context
    }
}

/// The service of `tower` that runs the handlers of calls. It is always ready, and has no errors: a call whose handler
/// fails is answered.
#[derive(Clone, Copy, Debug)]
pub struct Handlers;

impl TowerService<DecodedCall> for Handlers {
    type Response = Answered;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answered, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: DecodedCall) -> Self::Future {
        Box::pin(async { Ok(call.job.await) })
    }
}

impl<S> Around for TowerLayer<S>
where
    S: TowerService<DecodedCall, Response = Answered> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        if !runs_a_handler(call.method) || call.is_long_running() {
            return service.call(call);
        }
        let (tower, context) = (self.0.clone(), call.context().clone());
        let method = call.method.name().to_cow().into_owned();
        let tool = call.tool_name().map(|tool| tool.into_owned());
        service.call(call).wrap(|job| async move {
            let started = DecodedCall {
                method,
                tool,
                context: context.clone(),
                job,
            };
            match run(tower, started).await {
                Ok(answered) => answered,
                Err(error) => {
                    let refused = Err::<(), _>(error.settle(None).into_reply());
                    Answering::new(context, ready(refused)).await
                }
            }
        })
    }
}

async fn run<S>(mut tower: S, call: DecodedCall) -> Result<Answered, HandlerError>
where
    S: TowerService<DecodedCall, Response = Answered>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
{
    poll_fn(|cx| tower.poll_ready(cx)).await?;
    Ok(tower.call(call).await?)
}

impl<S: Clone, I> Layer<I> for TowerLayer<S> {
    type Service = Layered<Self, I>;

    fn layer(&self, inner: I) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

impl<S> fmt::Debug for TowerLayer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TowerLayer")
    }
}
