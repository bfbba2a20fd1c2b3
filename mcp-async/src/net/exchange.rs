//! One HTTP request and its response, as a service for hyper that counts its requests.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker, ready};
use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use http::{Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use mcp_proto::Instant;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::RemoteAddr;
use crate::runtime::RuntimeHandle;
use crate::sync::{Lock, Waiter};

/// The exchanges that run on one connection.
pub(crate) struct Activity {
    running: AtomicUsize,
    has_begun: AtomicBool,
    /// The connection is one of HTTP/2. Known from the first request on.
    is_multiplexed: AtomicBool,
    /// Bytes wait for the client to take them.
    is_blocked: AtomicBool,
    /// The time at which the last exchange ended, or the last of its bytes could be written, in milliseconds of the
    /// runtime's clock.
    ended: AtomicU64,
    runtime: RuntimeHandle,
    /// Number of bodies of HTTP/2 with a frame that was handed over and not sent yet.
    waiting: AtomicUsize,
    deliveries: Lock<Deliveries>,
}

/// Frames for which the client of a connection of HTTP/2 has no room. Each stream has its own room,
/// so the socket continues while one of them is blocked.
#[derive(Default)]
struct Deliveries {
    /// Each body that waits, and since when.
    since: BTreeMap<u64, Instant>,
    next: u64,
    connection: Waiter,
}

impl Activity {
    pub(crate) fn new(runtime: &RuntimeHandle) -> Arc<Self> {
        Arc::new(Self {
            running: AtomicUsize::new(0),
            has_begun: AtomicBool::new(false),
            is_multiplexed: AtomicBool::new(false),
            is_blocked: AtomicBool::new(false),
            ended: AtomicU64::new(runtime.now().as_millis()),
            runtime: runtime.clone(),
            waiting: AtomicUsize::new(0),
            deliveries: Lock::default(),
        })
    }

    /// Returns true if there was a request.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Returns true if the connection has had a request of HTTP/2.
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.is_multiplexed.load(Ordering::Relaxed)
    }

    /// Returns the time since which no exchange runs and no byte waits to be written; `None` while one does.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let is_idle =
            self.running.load(Ordering::Acquire) == 0 && !self.is_blocked.load(Ordering::Relaxed);
        is_idle.then(|| Instant::from_millis(self.ended.load(Ordering::Relaxed)))
    }

    /// The client does not take what is written, or takes it again.
    pub(super) fn set_blocked(&self, is_blocked: bool) {
        self.is_blocked.store(is_blocked, Ordering::Relaxed);
        if !is_blocked {
            self.touch();
        }
    }

    /// The time without an exchange begins now.
    fn touch(&self) {
        self.ended
            .store(self.runtime.now().as_millis(), Ordering::Relaxed);
    }

    /// Registers the task to wake when a frame is blocked.
    pub(crate) fn watch(&self, connection: &Context<'_>) {
        self.deliveries().connection.register(connection);
    }

    /// Returns the time since which the oldest frame waits for the client to have room; `None` if none does.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.deliveries().since.values().min().copied()
    }

    fn deliveries(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries.lock()
    }
}

/// Counts one exchange until it is dropped.
struct Running(Arc<Activity>);

impl Running {
    fn new(activity: &Arc<Activity>) -> Self {
        activity.running.fetch_add(1, Ordering::Relaxed);
        activity.has_begun.store(true, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::Release);
    }
}

/// One body of HTTP/2 on its way.
struct Delivery {
    activity: Arc<Activity>,
    number: u64,
    waits: bool,
}

impl Delivery {
    fn new(activity: &Arc<Activity>) -> Self {
        let number = {
            let mut deliveries = activity.deliveries();
            deliveries.next = deliveries.next.wrapping_add(1);
            deliveries.next
        };
        Self {
            activity: Arc::clone(activity),
            number,
            waits: false,
        }
    }

    /// A part of it was handed over.
    fn begin(&mut self) {
        let now = self.activity.runtime.now();
        let connection = {
            let mut deliveries = self.activity.deliveries();
            deliveries.since.insert(self.number, now);
            deliveries.connection.clone()
        };
        self.waits = true;
        let waiting = self.activity.waiting.fetch_add(1, Ordering::AcqRel);
        if waiting == 0 {
            connection.wake();
        }
    }

    /// That part has left.
    fn end(&mut self) {
        if core::mem::take(&mut self.waits) {
            self.activity.waiting.fetch_sub(1, Ordering::AcqRel);
            self.activity.deliveries().since.remove(&self.number);
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.end();
    }
}

/// A service of `tower` for the requests of one connection.
pub(crate) struct Counted<S> {
    pub(crate) service: S,
    pub(crate) remote: RemoteAddr,
    pub(crate) activity: Arc<Activity>,
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Counted<S>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone,
{
    type Response = Response<CountedBody<B>>;
    type Error = S::Error;
    type Future = CountedFuture<S>;

    fn call(&self, mut request: Request<Incoming>) -> CountedFuture<S> {
        let multiplexed = request.version() == Version::HTTP_2;
        if multiplexed {
            self.activity.is_multiplexed.store(true, Ordering::Relaxed);
        }
        self.remote.insert_into(request.extensions_mut());
        let mut service = self.service.clone();
        // Most services are always ready. Another is asked again by the task that it has to wake, and one of a connection with
        // several requests is called in the task of its own request.
        let ready = match multiplexed {
            true => Poll::Pending,
            false => service.poll_ready(&mut Context::from_waker(Waker::noop())),
        };
        let step = match ready {
            Poll::Ready(Ok(())) => Step::Called {
                future: service.call(request),
            },
            Poll::Ready(Err(error)) => Step::Failed { error: Some(error) },
            Poll::Pending => Step::Waiting {
                waiting: Box::new((service, Some(request))),
            },
        };
        CountedFuture {
            delivery: multiplexed.then(|| Delivery::new(&self.activity)),
            step,
            running: Some(Running::new(&self.activity)),
        }
    }
}

pin_project! {
    pub(crate) struct CountedFuture<S: Service<Request<Incoming>>> {
        #[pin]
        step: Step<S, S::Future, S::Error>,
        running: Option<Running>,
        delivery: Option<Delivery>,
    }
}

pin_project! {
    #[project = StepPart]
    enum Step<S, F, E> {
        Waiting { waiting: Box<(S, Option<Request<Incoming>>)> },
        Failed { error: Option<E> },
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
                    let delivery = this.delivery.take();
                    return Poll::Ready(Ok(response.map(|body| CountedBody {
                        body,
                        running,
                        delivery,
                    })));
                }
                StepPart::Failed { error } => {
                    return error
                        .take()
                        .map_or(Poll::Pending, |it| Poll::Ready(Err(it)));
                }
                StepPart::Waiting { waiting } => {
                    let (service, request) = &mut **waiting;
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
        delivery: Option<Delivery>,
    }
}

impl<B: Body> Body for CountedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Some(delivery) = this.delivery else {
            return this.body.poll_frame(cx);
        };
        // A poll for more means that the previous frame was sent.
        delivery.end();
        let frame = this.body.poll_frame(cx);
        if let Poll::Ready(Some(Ok(_))) = frame {
            delivery.begin();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
