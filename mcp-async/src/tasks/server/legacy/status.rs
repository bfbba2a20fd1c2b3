//! Notifications of the status of tasks.

use core::time::Duration;

use mcp_proto::rpc::Method;

use super::super::super::store::TaskRecord;
use super::CoreTasks;
use super::shown::{shown, status};
use crate::server::CallContext;

impl CoreTasks {
    /// Notifies the session of each change of the status and of its message, until the task has
    /// ended (TK-16).
    pub(super) async fn report(self, mut record: TaskRecord, origin: CallContext) {
        let peer = origin.peer().downgrade();
        // The client learns the id of the task from the answer to its call.
        origin.cancelled().await;
        drop(origin);
        let mut pause = Duration::ZERO;
        while !record.status().is_terminal() {
            let newest = self.0.watch(&record, pause).await;
            pause = Duration::ZERO;
            let newest = match newest {
                Ok(Some(newest)) if newest.version() > record.version() => newest,
                Ok(None) => return,
                // The store has failed, or its watch has ended without a reason.
                Ok(Some(_)) | Err(_) => {
                    pause = PAUSE;
                    continue;
                }
            };
            let Some(peer) = peer.upgrade() else { return };
            let is_visible =
                (status(&record), &record.message) != (status(&newest), &newest.message);
            if is_visible {
                let Ok(task) = shown(&newest) else { return };
                if peer.notify(Method::TasksStatus, Some(&task)).await.is_err() {
                    return;
                }
            }
            record = newest;
        }
    }
}

/// How long the store is left alone after a failure.
const PAUSE: Duration = Duration::from_millis(100);
