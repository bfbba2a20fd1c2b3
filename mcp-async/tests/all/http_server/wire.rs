//! What processes send to each other, and what happens to it on the way.

use core::error::Error;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Empty};
use mcp_async::http::{Forward, ForwardError, ForwardedBody, HttpService, LocalForward};

use crate::sim::Process;

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
    /// The response has the head of the one before.
    Stale,
    /// The body loses its first byte.
    Short,
    /// The body has one byte more.
    Long,
    /// They arrive twice, and the second answer is the one that comes back.
    Twice,
    /// They arrive, and once more at another process, whose answer comes back.
    Detour,
}

/// The ways between processes that have URLs.
#[derive(Clone, Default)]
pub(crate) struct Wire {
    local: LocalForward,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    processes: BTreeMap<String, Process>,
    broken: Break,
    /// What happens to single requests while the ways are not broken.
    script: VecDeque<Break>,
    seen: Vec<Request<Bytes>>,
    /// The head of the last response.
    answered: HeaderMap,
}

impl Wire {
    pub(crate) fn insert(&self, url: &str, service: &HttpService, process: &Process) {
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
    async fn forward(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<ForwardedBody>, ForwardError> {
        let (process, elsewhere, broken) = {
            let mut state = self.state();
            state.seen.push(request.clone());
            let process = state.processes.get(&request.uri().to_string()).cloned();
            let broken = match state.broken {
                Break::None => state.script.pop_front().unwrap_or_default(),
                lasting => lasting,
            };
            let here = request.uri().to_string();
            let elsewhere = state.processes.keys().find(|url| **url != here).cloned();
            (process.unwrap_or_default(), elsewhere, broken)
        };
        if broken == Break::Unsent {
            return Err(ForwardError::unsent("there is no way"));
        }
        let again = match (broken, elsewhere) {
            (Break::Twice, _) => Some(request.clone()),
            (Break::Detour, Some(url)) => {
                let mut again = request.clone();
                *again.uri_mut() = url.parse().unwrap();
                Some(again)
            }
            _ => None,
        };
        let mut answered = pin!(self.local.forward(request));
        if let Some(again) = again {
            answered.as_mut().await?;
            answered.set(self.local.forward(again));
        }
        let answered = poll_fn(|cx| process.poll(cx, |cx| answered.as_mut().poll(cx)));
        let Ok(answered) = answered.await else {
            return Err(ForwardError::broken("the process has ended"));
        };
        let mut response = answered?;
        let headers = response.headers_mut();
        let before = core::mem::replace(&mut self.state().answered, headers.clone());
        match broken {
            Break::Head => return Err(ForwardError::broken("the connection has ended")),
            Break::Foreign => headers.clear(),
            Break::Stale => *headers = before,
            _ => {}
        }
        Ok(response.map(|body| {
            let body = match broken {
                Break::Body => Box::pin(Empty::new().map_err(Into::into)),
                Break::Short => changed(body, |mut data| data.split_off(data.len().min(1))),
                Break::Long => changed(body, |data| [&data[..], b" "].concat().into()),
                _ => body,
            };
            Box::pin(Ends(process, body)) as ForwardedBody
        }))
    }
}

fn changed(body: ForwardedBody, change: fn(Bytes) -> Bytes) -> ForwardedBody {
    Box::pin(body.map_frame(move |frame| frame.map_data(change)))
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
