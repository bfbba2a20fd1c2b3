//! Tasks that a client makes of the questions of a server of 2025-11-25.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{Object, Str};
use mcp_proto::model::keys::RELATED_TASK;
use mcp_proto::model::{ClientFeatures, TaskMetadata};
use mcp_proto::rpc::Method;

use super::question_store::{QuestionStore, Run, encoded};
use crate::client::{Answer, IncomingQuestion, QuestionHost, QuestionTasks};
use crate::connection::guarded;
use crate::error::ErrorReply;
use crate::model::ListTasksResult;
use crate::runtime::{RuntimeHandle, Sleep};
use crate::tasks::legacy::{created, requested, shown};
use crate::tasks::related::relate;
use crate::tasks::time::SAFE;

/// Answers questions, at once or by tasks, and the requests about these.
pub(in super::super) struct Questions {
    /// The most tasks at a time; none are offered if it is 0.
    max: usize,
    longest_ttl: Duration,
    tasks: Arc<QuestionStore>,
}

impl Questions {
    pub(in super::super) fn new(max: usize, longest_ttl: Duration) -> Self {
        Self {
            max,
            // TK-65
            longest_ttl: longest_ttl.min(Duration::from_millis(SAFE)),
            tasks: Arc::default(),
        }
    }

    /// Makes a task of a question (TK-07).
    fn create(
        &self,
        task: TaskMetadata,
        question: IncomingQuestion<'_>,
        host: &dyn QuestionHost,
    ) -> Answer {
        let asked = task.ttl.map_or(self.longest_ttl, Duration::from_millis);
        let ttl = asked.min(self.longest_ttl);
        let runtime = host.runtime();
        let record = self.tasks.create(runtime, ttl, self.max);
        Answer::ready(record.map(|record| {
            let created = created(&record);
            let run = Run::new(Arc::clone(&self.tasks), runtime.clone(), record);
            let reply = guarded(|| host.answer(question));
            let reply = reply.unwrap_or_else(|| Answer::refuse(ErrorReply::internal()));
            host.run(Box::pin(run.run(reply, Sleep::after(runtime, ttl))));
            created
        }))
    }

    /// Answers with the result of a task, when it is over (TK-12).
    fn result(&self, id: String, runtime: &RuntimeHandle) -> Answer {
        let (tasks, runtime) = (Arc::clone(&self.tasks), runtime.clone());
        Answer::new(async move { tasks.outcome(&id, &runtime).await })
    }
}

impl QuestionTasks for Questions {
    fn declares(&self, answered: ClientFeatures) -> ClientFeatures {
        let declares = |question, task| match answered.intersects(question) {
            true => task,
            false => ClientFeatures::NONE,
        };
        let modes = ClientFeatures::ELICITATION_FORM.with(ClientFeatures::ELICITATION_URL);
        let requests = declares(modes, ClientFeatures::TASKS_ELICITATION).with(declares(
            ClientFeatures::SAMPLING,
            ClientFeatures::TASKS_SAMPLING,
        ));
        if self.max == 0 || requests.is_empty() {
            return ClientFeatures::NONE;
        }
        requests
            .with(ClientFeatures::TASKS)
            .with(ClientFeatures::TASKS_LIST)
            .with(ClientFeatures::TASKS_CANCEL)
    }

    fn question(&self, question: IncomingQuestion<'_>, host: &dyn QuestionHost) -> Answer {
        let params = question.params;
        let id = || {
            let id = params.get("taskId").and_then(|id| id.string());
            let id = id.map(|id| id.to_cow().into_owned());
            id.ok_or(ErrorReply::invalid_params("taskId is not a string"))
        };
        let runtime = host.runtime();
        match question.method {
            Method::TasksGet => {
                let record = id().and_then(|id| self.tasks.get(&id, runtime));
                Answer::ready(record.map(|record| shown(&record)))
            }
            Method::TasksCancel => {
                let record = id().and_then(|id| self.tasks.cancel(&id, runtime));
                Answer::ready(record.map(|record| shown(&record)))
            }
            Method::TasksResult => match id() {
                Ok(id) => self.result(id, runtime),
                Err(error) => Answer::refuse(error),
            },
            // All of them are on one page, so no cursor is known (TK-14, TK-17).
            Method::TasksList if params.get("cursor").is_some() => {
                Answer::refuse(ErrorReply::invalid_params("the cursor is unknown"))
            }
            Method::TasksList => Answer::ready(Ok(ListTasksResult {
                tasks: self.tasks.list(runtime).iter().map(shown).collect(),
                ..ListTasksResult::default()
            })),
            Method::ElicitationCreate | Method::SamplingCreateMessage
                if self.max > 0
                    && let Some(task) = params.get("task") =>
            {
                match requested(task) {
                    Ok(task) => self.create(task, question, host),
                    Err(error) => Answer::refuse(error),
                }
            }
            _ => match task_of(params) {
                Some(task) => {
                    let task = task.to_cow().into_owned();
                    let reply = host.answer(question);
                    Answer::new(async move {
                        let answer = encoded(&*reply.await?)?;
                        relate(answer.as_raw(), Str::from(&*task))
                    })
                }
                None => host.answer(question),
            },
        }
    }
}

/// The task that a message belongs to (TK-13).
fn task_of(params: Object<'_>) -> Option<Str<'_>> {
    let meta = params.get("_meta")?.object()?;
    let related = meta.get(RELATED_TASK)?.object()?;
    related.get("taskId")?.string()
}
