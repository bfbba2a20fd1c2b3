//! Which tools run as tasks of 2025-11-25.

use std::collections::HashMap;

use mcp_proto::json::Raw;

use crate::model::TaskSupport;

/// What the listed tools say of tasks, by their names.
#[derive(Default)]
pub(super) struct TaskSupports(HashMap<String, TaskSupport>);

impl TaskSupports {
    /// Notes the tools of one page.
    pub(super) fn learn(&mut self, page: Raw<'_>) {
        let tools = page.object().and_then(|page| page.get("tools")?.array());
        let tools = tools.into_iter().flat_map(|tools| tools.elements());
        for tool in tools.filter_map(Raw::object) {
            let Some(name) = tool.get("name").and_then(Raw::string) else {
                continue;
            };
            let execution = tool.get("execution").and_then(Raw::object);
            let stated = execution.and_then(|execution| execution.get("taskSupport"));
            let support = stated.and_then(|stated| stated.decode(&mut []).ok());
            // A list that never ends would fill it.
            if self.0.len() < TOOLS || self.0.contains_key(&*name.to_cow()) {
                let support = support.unwrap_or(TaskSupport::Forbidden);
                self.0.insert(name.to_cow().into_owned(), support);
            }
        }
    }

    /// What a tool says; `None` for one that was not listed.
    pub(super) fn of(&self, tool: &str) -> Option<TaskSupport> {
        self.0.get(tool).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// More tools than any model is shown.
const TOOLS: usize = 10_000;

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
