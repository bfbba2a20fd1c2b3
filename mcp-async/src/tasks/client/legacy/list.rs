//! The list of tasks.

use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;

use crate::client::{CallError, Client, Listed, Page, Pages};
use crate::model::{ListTasksResult, Task};

impl Listed for Task {
    const METHOD: Method<'static> = Method::TasksList;

    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
        let result: ListTasksResult = result.decode(&mut []).map_err(CallError::Decode)?;
        Ok(Page {
            items: result.tasks,
            next: result.next_cursor,
        })
    }
}

impl Client {
    /// The tasks of this client at a server of 2025-11-25 that lists them. Any other server
    /// is not asked: the error is [`CallError::MissingCapability`], or [`CallError::NotInRevision`]
    /// for one of another revision.
    pub fn tasks(&self) -> Pages<'_, Task> {
        self.pages(&())
    }
}
