//! The support of listed tools for tasks of 2025-11-25.

use mcp_proto::json::{Object, Raw};

use super::listed_tools::{ListedTools, tools};
use crate::model::TaskSupport;

/// The task support that the listed tools state.
#[derive(Default)]
pub(super) struct TaskSupports(ListedTools<TaskSupport>);

impl TaskSupports {
    /// Notes the tools of one page.
    pub(super) fn learn(&mut self, page: Raw<'_>) {
        for (name, tool) in tools(page) {
            let support = stated(tool).unwrap_or(TaskSupport::Forbidden);
            self.0.set(&name, Some(support));
        }
    }

    /// Returns the task support that a tool states; `None` for a tool that was not listed.
    pub(super) fn of(&self, tool: &str) -> Option<TaskSupport> {
        self.0.get(tool).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn stated(tool: Object<'_>) -> Option<TaskSupport> {
    let execution = tool.get("execution")?.object()?;
    execution.get("taskSupport")?.decode(&mut []).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tk_05_a_tool_that_says_nothing_forbids_tasks() {
        let page = concat!(
            r#"{"tools":[{"name":"a"},{"name":"b","execution":{}},"#,
            r#"{"name":"c","execution":{"taskSupport":"optional"}},"#,
            r#"{"name":"d","execution":{"taskSupport":"required"}},"#,
            r#"{"name":"e","execution":{"taskSupport":7}},{"name":7}]}"#
        );
        let mut supports = TaskSupports::default();
        supports.learn(Raw::parse(page.as_bytes(), 8).unwrap());
        for (tool, expected) in [
            ("a", Some(TaskSupport::Forbidden)),
            ("b", Some(TaskSupport::Forbidden)),
            ("c", Some(TaskSupport::Optional)),
            ("d", Some(TaskSupport::Required)),
            ("e", Some(TaskSupport::Forbidden)),
            ("f", None),
        ] {
            assert_eq!(supports.of(tool), expected, "{tool}");
        }
    }
}
