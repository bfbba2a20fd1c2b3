//! The listing of a tool whose calls may be tasks of 2025-11-25.

use crate::model::{TaskSupport, Tool, ToolExecution};

/// The tool with its member `execution`, if it has one.
#[derive(Debug, Default)]
pub(in crate::server) struct TaskListing {
    support: Option<TaskSupport>,
    listed: Option<Box<Tool>>,
}

impl TaskListing {
    pub(in crate::server) fn set_support(&mut self, support: TaskSupport) {
        self.support = Some(support);
    }

    /// Takes over what the tool is without tasks.
    pub(in crate::server) fn prepare(&mut self, tool: &Tool) {
        let execution = self.support.clone().map(|support| ToolExecution {
            task_support: Some(support),
        });
        self.listed = execution.map(|execution| {
            Box::new(Tool {
                execution: Some(execution),
                ..tool.clone()
            })
        });
    }

    pub(in crate::server) fn listed(&self) -> Option<&Tool> {
        self.listed.as_deref()
    }
}
