//! How a tool is listed where its calls may be tasks of 2025-11-25.

use super::tool::Tool;
use crate::model::{self, TaskSupport, ToolExecution};

/// The tool with its member `execution`, if it has one.
#[derive(Debug, Default)]
pub(super) struct TaskListing {
    support: Option<TaskSupport>,
    listed: Option<Box<model::Tool>>,
}

impl TaskListing {
    /// Takes over what the tool is without tasks.
    pub(super) fn prepare(&mut self, tool: &model::Tool) {
        let execution = self.support.clone().map(|support| ToolExecution {
            task_support: Some(support),
        });
        self.listed = execution.map(|execution| {
            Box::new(model::Tool {
                execution: Some(execution),
                ..tool.clone()
            })
        });
    }
}

impl<S> Tool<S> {
    /// Sets whether calls may be tasks of 2025-11-25, for servers that have them.
    pub(crate) fn task_support(mut self, support: TaskSupport) -> Self {
        self.tasks.support = Some(support);
        self
    }

    /// The tool as a server lists it that has tasks of 2025-11-25, or has none.
    pub(super) fn listed(&self, core_tasks: bool) -> &model::Tool {
        let with_tasks = self.tasks.listed.as_deref().filter(|_| core_tasks);
        with_tasks.unwrap_or(&self.listed)
    }
}
