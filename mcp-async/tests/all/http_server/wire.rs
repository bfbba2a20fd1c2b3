//! What processes send to each other, and what happens to it on the way.

use core::error::Error;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Empty};
use mcp_async::http::{
    Forward, ForwardError, ForwardFuture, ForwardedBody, HttpService, LocalForward,
};

use crate::sim::{Process, Sim};

/// What happens to forwarded requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Break {
    #[default]
    None,
    /// They are not sent.
    Unsent,
    /// They arrive, and the connection ends before the head of the response.
    Head,
    /// The connection ends after the head of the response.
    Body,
    /// The response comes from something else.
    Foreign,
}

/// The ways between processes that have URLs.
#[derive(Default)]
pub(crate) struct Wire {
    local: LocalForward,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    processes: BTreeMap<String, Process>,
    broken: Break,
    /// What happens to single requests while the ways are not broken.
    script: VecDeque<Break>,
    seen: Vec<Request<Bytes>>,
}

impl Wire {
    pub(crate) fn insert(&self, url: &str, service: &HttpService<Sim>, process: &Process) {
        self.local.insert(url, service);
        let processes = &mut self.state().processes;
        processes.insert(url.to_owned(), process.clone());
    }

    pub(crate) fn remove(&self, url: &str) {
        self.local.remove(url);
    }

    pub(crate) fn set(&self, broken: Break) {
        self.state().broken = broken;
    }

    /// The next request finds this.
    pub(crate) fn push(&self, next: Break) {
        self.state().script.push_back(next);
    }

    pub(crate) fn clear(&self) {
        self.state().script.clear();
    }

    /// The requests that were forwarded since this was last asked.
    pub(crate) fn take(&self) -> Vec<Request<Bytes>> {
        core::mem::take(&mut self.state().seen)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Forward for Wire {
    fn forward(&self, request: Request<Bytes>) -> ForwardFuture {
        let (process, broken) = {
            let mut state = self.state();
            state.seen.push(request.clone());
            let process = state.processes.get(&request.uri().to_string()).cloned();
            let broken = match state.broken {
                Break::None => state.script.pop_front().unwrap_or_default(),
                lasting => lasting,
            };
            (process.unwrap_or_default(), broken)
        };
        if broken == Break::Unsent {
            return Box::pin(async { Err(ForwardError::unsent("there is no way")) });
        }
        let mut answered = self.local.forward(request);
        Box::pin(async move {
            let answered = poll_fn(|cx| process.poll(cx, |cx| answered.as_mut().poll(cx)));
            let Ok(answered) = answered.await else {
                return Err(ForwardError::broken("the process has ended"));
            };
            let mut response = answered?;
            let broken = match broken {
                Break::Head => return Err(ForwardError::broken("the connection has ended")),
                Break::Foreign => {
                    response.headers_mut().clear();
                    false
                }
                _ => broken == Break::Body,
            };
            Ok(response.map(|body| match broken {
                true => Box::pin(Empty::new().map_err(Into::into)) as ForwardedBody,
                false => Box::pin(Ends(process, body)),
            }))
        })
    }
}

/// A body that ends with its process.
struct Ends(Process, ForwardedBody);

impl Body for Ends {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Self(process, body) = self.get_mut();
        match process.poll(cx, |cx| body.as_mut().poll_frame(cx)) {
            Poll::Ready(Ok(frame)) => Poll::Ready(frame),
            Poll::Ready(Err(())) => Poll::Ready(Some(Err("the process has ended".into()))),
            Poll::Pending => Poll::Pending,
        }
    }
}
