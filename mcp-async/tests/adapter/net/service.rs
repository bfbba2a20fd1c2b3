//! What is served: a service that does as its path says, and gates to hold it at.

use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use mcp_async::net::RemoteAddr;
use tower_service::Service;

/// Something to wait for until a test opens it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    pub(crate) fn open(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        state.1.drain(..).for_each(Waker::wake);
    }

    pub(crate) async fn passed(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// `/hello`, `/address` (of the client), `/echo`, `/held` (answers once the gate is open), `/flood` (has no end),
/// `/silent` (an event, and then nothing), `/long` ([`LONG`] bytes).
#[derive(Clone, Default)]
pub(crate) struct Tested {
    pub(crate) gate: Gate,
    /// How many requests are held and how many bodies are open.
    pub(crate) open: Arc<AtomicUsize>,
}

pub(crate) struct Open(Arc<AtomicUsize>);

impl Tested {
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// Waits until so many requests and bodies are open.
    pub(crate) fn has_open(&self, count: usize) {
        let started = std::time::Instant::now();
        while self.open() != count {
            assert!(
                started.elapsed() < super::PATIENCE,
                "{} are open",
                self.open()
            );
            std::thread::sleep(core::time::Duration::from_millis(2));
        }
    }

    pub(crate) fn count(&self) -> Open {
        self.open.fetch_add(1, Ordering::SeqCst);
        Open(Arc::clone(&self.open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<B> Service<Request<B>> for Tested
where
    B: Body<Data = Bytes, Error: core::fmt::Debug> + Send + 'static,
{
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let open = this.count();
            let answer = match request.uri().path() {
                "/hello" => Answer::of("hello"),
                "/address" => {
                    let remote = request.extensions().get::<RemoteAddr>().unwrap();
                    Answer::of(remote.0.to_string())
                }
                "/held" => {
                    this.gate.passed().await;
                    Answer::of("held")
                }
                "/echo" => match request.into_body().collect().await {
                    Ok(body) => Answer::of(body.to_bytes()),
                    Err(error) => Answer::of(format!("{error:?}")),
                },
                "/flood" => Answer::Flood { _open: open },
                "/long" => Answer::of(vec![b'x'; LONG]),
                "/silent" => Answer::Silent {
                    first: Some("data: 1\n\n".into()),
                    _open: open,
                },
                _ => Answer::of("what?"),
            };
            Ok(Response::new(answer))
        })
    }
}

/// More than the operating system holds of one connection.
pub(crate) const LONG: usize = 32 << 20;

pub(crate) enum Answer {
    Whole(Option<Bytes>),
    Flood { _open: Open },
    Silent { first: Option<Bytes>, _open: Open },
}

impl Answer {
    pub(crate) fn of(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Flood { .. } => {
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])))))
            }
            Self::Silent { first, .. } => match first.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            _ => SizeHint::default(),
        }
    }
}
