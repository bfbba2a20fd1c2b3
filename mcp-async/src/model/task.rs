//! Tasks: work that outlives its request.

use super::{DetailedTask, TaskStatus};

/// ```
/// use mcp_async::model::{DetailedTask, TaskStatus};
/// use mcp_async::json::RawBuf;
///
/// let answer = RawBuf::parse(
///     r#"{"taskId":"7c1","status":"completed","createdAt":"2026-07-28T10:00:00Z",
///         "lastUpdatedAt":"2026-07-28T10:00:09Z","ttlMs":60000,"result":{"content":[]}}"#,
/// )?;
/// let task: DetailedTask = answer.decode()?;
/// assert_eq!(task.status, TaskStatus::Completed);
/// assert!(task.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl DetailedTask {
    /// Checks that the members are those of the status. The answer that creates
    /// a task has none of them, whatever its status.
    ///
    /// # Errors
    ///
    /// A sentence that names the member that is missing or must not be there.
    pub const fn check(&self) -> Result<(), &'static str> {
        let completed = matches!(self.status, TaskStatus::Completed);
        let failed = matches!(self.status, TaskStatus::Failed);
        let asks = matches!(self.status, TaskStatus::InputRequired);
        match (self.result.is_some(), self.error.is_some()) {
            (false, _) if completed => Err("it is completed and has no result"),
            (true, _) if !completed => Err("it is not completed and has a result"),
            (_, false) if failed => Err("it failed and has no error"),
            (_, true) if !failed => Err("it did not fail and has an error"),
            _ if asks && self.input_requests.is_none() => {
                Err("it needs input and has no inputRequests")
            }
            _ if !asks && self.input_requests.is_some() => {
                Err("it needs no input and has inputRequests")
            }
            _ => Ok(()),
        }
    }
}
