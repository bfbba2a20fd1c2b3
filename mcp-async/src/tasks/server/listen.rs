//! Notifications of tasks, for subscriptions whose filter has `taskIds`.

use std::sync::Arc;

use super::super::store::TaskRecord;
use super::engine::Engine;
use super::shown::DetailedTask;
use crate::runtime::within;
use crate::server::{HandlerError, Principal, Subscriber};

impl Engine {
    /// Judges the ids of a subscription: those of tasks that its client may see are accepted
    /// (TK-44, TK-45, TK-59).
    pub(super) async fn listen<S>(
        self: Arc<Self>,
        mut ids: Vec<String>,
        subscriber: Subscriber<S>,
    ) -> Result<Option<Vec<String>>, HandlerError>
    where
        S: Send + Sync + 'static,
    {
        if ids.len() > MOST {
            return Err(HandlerError::invalid_params("limit reached: taskIds"));
        }
        ids.sort_unstable();
        ids.dedup();
        let owner: Option<Arc<str>> = subscriber.principal().map(Principal::name).map(Arc::from);
        let mut accepted = Vec::new();
        let limit = self.tasks.store_timeout;
        let judging = async {
            for id in ids {
                match self.find(&id, owner.clone(), false).await {
                    Ok(record) => {
                        let source = Arc::clone(&self).report(record, subscriber.clone());
                        subscriber.run(source);
                        accepted.push(id);
                    }
                    Err(error) if error.code == mcp_proto::rpc::code::INVALID_PARAMS => {}
                    Err(error) => return Err(HandlerError::reply(error)),
                }
            }
            Ok(())
        };
        // A store that needs long for all of them has the others left out: their clients poll.
        within(self.runtime(), limit, judging)
            .await
            .unwrap_or(Ok(()))?;
        Ok((!accepted.is_empty()).then_some(accepted))
    }

    /// Sends a notification for each change that a client can see, until the task has ended.
    async fn report<S>(self: Arc<Self>, mut record: TaskRecord, subscriber: Subscriber<S>) {
        while !record.status().is_terminal()
            && let Some(newest) = self.newer(&record).await
        {
            let is_shown = shows(&record, &newest);
            let newest = DetailedTask(newest);
            if is_shown && subscriber.notify(METHOD, &newest).await.is_err() {
                return;
            }
            record = newest.0;
        }
    }
}

/// Returns true if a client sees a difference between the records.
fn shows(old: &TaskRecord, new: &TaskRecord) -> bool {
    (old.status, &old.message, &old.questions) != (new.status, &new.message, &new.questions)
}

/// The notification of the extension.
const METHOD: &str = "notifications/tasks";
/// The tasks of one subscription.
const MOST: usize = 1000;
