//! Tasks that servers of 2025-11-25 ask for instead of answers.

use mcp_proto::model::ClientFeatures;

use crate::client::session::handler::{Answer, IncomingQuestion};
use crate::runtime::BoxFuture;
use crate::runtime::RuntimeHandle;

/// Makes tasks of questions, and answers the requests about them.
pub(crate) trait QuestionTasks: Send + Sync {
    /// Returns what the client declares, given the questions that it answers.
    fn declares(&self, answered: ClientFeatures) -> ClientFeatures;

    /// Answers a question of a session of 2025-11-25, or a request about a task.
    fn question(&self, question: IncomingQuestion<'_>, host: &dyn QuestionHost) -> Answer;
}

/// The client that a question came to.
pub(crate) trait QuestionHost {
    /// Asks the callbacks of the client.
    fn answer(&self, question: IncomingQuestion<'_>) -> Answer;

    /// Returns the runtime of the client.
    fn runtime(&self) -> &RuntimeHandle;

    /// Runs a future in the task of the client, until the connection ends.
    fn run(&self, job: BoxFuture<'static, ()>);
}
