//! The messages that the session of a task receives apart from its requests.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use mcp_proto::rpc::Method;

use super::super::super::store::TaskRecord;
use super::super::runs::Ending;
use super::CoreTasks;
use super::questions::{Client, Questions};
use super::shown::{shown, status};
use super::watched::Watched;
use crate::runtime::Sleep;
use crate::server::{CallContext, WeakPeer};

/// Notifies the session of a task of its status (TK-16), and asks it what no request for the result
/// asks.
struct Report {
    watched: Watched,
    peer: WeakPeer,
    questions: Questions,
    /// The newest record that the session was notified of.
    notified: TaskRecord,
    telling: Option<Telling>,
    ending: Ending,
    /// The end of the time that the store has for the end of the task, after tasks were stopped.
    stopped: Option<Sleep>,
}

/// Ready with whether the session is still there.
type Telling = Pin<Box<dyn Future<Output = bool> + Send>>;

impl CoreTasks {
    /// Accompanies a task until it has ended, or its session has.
    pub(super) async fn report(self, record: TaskRecord, origin: CallContext) {
        let peer = origin.peer().downgrade();
        // The client learns the id of the task from the answer to its call.
        origin.cancelled().await;
        drop(origin);
        let mut report = Report {
            notified: record.clone(),
            ending: self.0.runs.ending(),
            stopped: None,
            watched: Watched::new(self.0, record),
            questions: Questions::new(Client::Session(peer.clone())),
            peer,
            telling: None,
        };
        poll_fn(|cx| report.poll(cx)).await;
    }
}

impl Report {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.poll_stopped(cx).is_ready() {
            return Poll::Ready(());
        }
        loop {
            if let Some(telling) = &mut self.telling {
                match telling.as_mut().poll(cx) {
                    Poll::Ready(true) => self.telling = None,
                    Poll::Ready(false) => return Poll::Ready(()),
                    Poll::Pending => {}
                }
            }
            if self.telling.is_none() && self.is_news() {
                let Some(telling) = self.tell() else {
                    return Poll::Ready(());
                };
                self.telling = Some(telling);
                continue;
            }
            if self.watched.record.status.is_terminal() {
                return match self.telling {
                    Some(_) => Poll::Pending,
                    None => Poll::Ready(()),
                };
            }
            match self.watched.poll_newer(cx) {
                Poll::Ready(true) => continue,
                Poll::Ready(false) => return Poll::Ready(()),
                Poll::Pending => {}
            }
            self.questions.ask(&self.watched);
            match self.questions.poll(cx) {
                Poll::Ready(Some(newest)) => self.watched.take(newest),
                Poll::Ready(None) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Ready when the tasks have been stopped, and the store has had its time.
    fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.stopped.is_none() {
            ready!(self.ending.poll_stopped(cx));
            let engine = &self.watched.engine;
            self.stopped = Some(engine.sleep(engine.tasks.store_timeout));
        }
        match &mut self.stopped {
            Some(stopped) => stopped.poll_done(cx),
            None => Poll::Pending,
        }
    }

    /// Returns true if the session was not notified of the status and its message.
    fn is_news(&self) -> bool {
        let (notified, newest) = (&self.notified, &self.watched.record);
        (status(notified), &notified.message) != (status(newest), &newest.message)
    }

    fn tell(&mut self) -> Option<Telling> {
        let peer = self.peer.upgrade()?;
        let task = shown(&self.watched.record).ok()?;
        self.notified = self.watched.record.clone();
        Some(Box::pin(async move {
            let sent = peer.notify(Method::TasksStatus, Some(&task)).await;
            sent.is_ok()
        }))
    }
}
