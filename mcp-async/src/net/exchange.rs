//! One request and its answer on a connection: a service as hyper wants it, counted while it runs.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core::task::{Context, Poll, ready};
use std::sync::Arc;

use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use mcp_proto::Instant;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::Runtime;

/// What runs on one connection.
pub(crate) struct Activity {
    running: AtomicUsize,
    /// When the last of them ended, in milliseconds of the runtime's clock.
    ended: AtomicU64,
    now: fn() -> Instant,
}

impl Activity {
    pub(crate) fn new<R: Runtime>() -> Arc<Self> {
        let now = || R::default().now();
        Arc::new(Self {
            running: AtomicUsize::new(0),
            ended: AtomicU64::new(now().as_millis()),
            now,
        })
    }

    /// Since when nothing runs; `None` while something does.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let idle = self.running.load(Ordering::Acquire) == 0;
        idle.then(|| Instant::from_millis(self.ended.load(Ordering::Relaxed)))
    }
}

/// Counts one exchange until it is dropped.
struct Running(Arc<Activity>);

impl Running {
    fn new(activity: &Arc<Activity>) -> Self {
        activity.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let now = (self.0.now)();
        self.0.ended.store(now.as_millis(), Ordering::Relaxed);
        self.0.running.fetch_sub(1, Ordering::Release);
    }
}

/// A service of `tower` for the requests of one connection.
pub(crate) struct Counted<S> {
    pub(crate) service: S,
    pub(crate) activity: Arc<Activity>,
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Counted<S>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone,
{
    type Response = Response<CountedBody<B>>;
    type Error = S::Error;
    type Future = CountedFuture<S>;

    fn call(&self, request: Request<Incoming>) -> CountedFuture<S> {
        CountedFuture {
            step: Step::Waiting {
                service: self.service.clone(),
                request: Some(request),
            },
            running: Some(Running::new(&self.activity)),
        }
    }
}

pin_project! {
    pub(crate) struct CountedFuture<S: Service<Request<Incoming>>> {
        #[pin]
        step: Step<S, S::Future>,
        running: Option<Running>,
    }
}

pin_project! {
    #[project = StepPart]
    enum Step<S, F> {
        Waiting { service: S, request: Option<Request<Incoming>> },
        Called { #[pin] future: F },
    }
}

impl<S, B> Future for CountedFuture<S>
where
    S: Service<Request<Incoming>, Response = Response<B>>,
{
    type Output = Result<Response<CountedBody<B>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let future = match this.step.as_mut().project() {
                StepPart::Called { future } => {
                    let response = ready!(future.poll(cx))?;
                    let running = this.running.take();
                    return Poll::Ready(Ok(response.map(|body| CountedBody { body, running })));
                }
                StepPart::Waiting { service, request } => {
                    ready!(service.poll_ready(cx))?;
                    let Some(request) = request.take() else {
                        return Poll::Pending;
                    };
                    service.call(request)
                }
            };
            this.step.set(Step::Called { future });
        }
    }
}

pin_project! {
    pub(crate) struct CountedBody<B> {
        #[pin]
        body: B,
        running: Option<Running>,
    }
}

impl<B: Body> Body for CountedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
