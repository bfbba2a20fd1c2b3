//! Values that the lists of tools state, by the names of the tools.

use std::borrow::Cow;
use std::collections::HashMap;

use mcp_proto::json::{Object, Raw};

/// One value for each listed tool that has one.
pub(super) struct ListedTools<T>(HashMap<String, T>);

impl<T> ListedTools<T> {
    pub(super) fn get(&self, tool: &str) -> Option<&T> {
        self.0.get(tool)
    }

    /// Keeps the value of a tool, or removes it. A list that never ends would fill the table: the
    /// values of further tools are not kept.
    pub(super) fn set(&mut self, tool: &str, value: Option<T>) {
        let Some(value) = value else {
            self.0.remove(tool);
            return;
        };
        if let Some(known) = self.0.get_mut(tool) {
            *known = value;
        } else if self.0.len() < TOOLS {
            self.0.insert(tool.to_owned(), value);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T> Default for ListedTools<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

/// Returns the tools of one page with their names.
pub(in crate::client) fn tools(page: Raw<'_>) -> impl Iterator<Item = (Cow<'_, str>, Object<'_>)> {
    let tools = page.object().and_then(|page| page.get("tools")?.array());
    let tools = tools.into_iter().flat_map(|tools| tools.elements());
    tools.filter_map(|tool| {
        let tool = tool.object()?;
        Some((tool.get("name")?.string()?.to_cow(), tool))
    })
}

/// More tools than any model is shown.
const TOOLS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_end_does_not_fill_the_table() {
        let mut table = ListedTools::default();
        for tool in 0..TOOLS + 10 {
            table.set(&tool.to_string(), Some(1));
        }
        assert_eq!(table.0.len(), TOOLS);
        table.set("7", Some(2));
        assert_eq!(table.get("7"), Some(&2));
        table.set("7", None);
        table.set("one more", Some(3));
        assert_eq!(table.get("one more"), Some(&3));
    }
}
