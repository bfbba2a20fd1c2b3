//! Tasks whose clients wait for them.

use core::future::poll_fn;
use std::sync::Arc;

use mcp_proto::rpc::Method;

use super::super::super::store::TaskRecord;
use super::super::engine::{Engine, owner};
use super::super::methods::{id, unknown};
use super::questions::{Client, Questions};
use crate::connection::Job;
use crate::runtime::race;
use crate::server::{Call, CallContext};
use crate::tasks::legacy::{outcome, shown, status};

/// A task, and a client that is asked what the task asks.
struct Accompanied {
    engine: Arc<Engine>,
    record: TaskRecord,
    questions: Questions,
}

impl Engine {
    /// Waits for the end of a task, and answers with what its call would have returned. Until then
    /// the client is asked what the task asks (TK-11).
    pub(in super::super) fn result(self: &Arc<Self>, call: Call<'_>) -> Job {
        let (id, owner) = (id(&call), owner(call.context()));
        let (engine, context) = (Arc::clone(self), call.context().clone());
        call.answer(async move {
            let record = engine.find(&id, owner, true).await?;
            let mut task = Accompanied::new(engine, record, Client::Call(context));
            while !task.record.status.is_terminal() {
                if !task.has_changed().await {
                    return Err(unknown());
                }
            }
            outcome(task.record)
        })
    }

    /// Accompanies a task until it has ended, or its session has: notifies the session of its status
    /// (TK-16), and asks it what no request for the result asks.
    pub(super) async fn accompany(self: Arc<Self>, record: TaskRecord, origin: CallContext) {
        let peer = origin.peer().downgrade();
        // The client learns the id of the task from the answer to its call.
        origin.cancelled().await;
        drop(origin);
        let stopped = self.runs.stopped();
        let engine = Arc::clone(&self);
        let stopped = async move {
            stopped.await;
            // The store has its time for the end of the task.
            self.sleep(self.tasks.store_timeout).await;
        };
        let accompanied = async {
            let seen = |record: &TaskRecord| (status(record), record.message.clone());
            let mut notified = seen(&record);
            let mut task = Accompanied::new(engine, record, Client::Session(peer.clone()));
            while !task.record.status.is_terminal() && task.has_changed().await {
                let newest = seen(&task.record);
                if notified == newest {
                    continue;
                }
                notified = newest;
                let Some(peer) = peer.upgrade() else { return };
                let task = shown(&task.record);
                if peer.notify(Method::TasksStatus, Some(&task)).await.is_err() {
                    return;
                }
            }
        };
        race(stopped, accompanied).await;
    }
}

impl Accompanied {
    const fn new(engine: Arc<Engine>, record: TaskRecord, client: Client) -> Self {
        Self {
            engine,
            record,
            questions: Questions::new(client),
        }
    }

    /// Asks what the task asks until its record is a newer one; `false` if there is no task any
    /// more.
    async fn has_changed(&mut self) -> bool {
        self.questions.ask(&self.engine, &self.record);
        let mut newer = self.engine.newer(&self.record);
        let newest = poll_fn(|cx| {
            let newest = newer.as_mut().poll(cx);
            if newest.is_pending() {
                self.questions.poll(cx);
            }
            newest
        });
        let Some(newest) = newest.await else {
            return false;
        };
        self.record = newest;
        true
    }
}
