//! Checks a conversation before the model of the client receives it.

use mcp_proto::model::Role;

use crate::model::{SamplingBlock, SamplingMessage};

/// SP-05 to SP-07: a message with tool results has nothing else, and the results that follow the
/// uses of tools are exactly theirs.
pub(super) fn check(messages: &[SamplingMessage]) -> Result<(), &'static str> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = message.content.blocks();
        let results = blocks.iter().filter_map(|block| match block {
            SamplingBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
            _ => None,
        });
        let results: Vec<&str> = results.collect();
        if !results.is_empty() && (message.role != Role::User || results.len() < blocks.len()) {
            return Err("tool results are mixed with other content");
        }
        let answered = results.len() == open.len() && open.iter().all(|id| results.contains(id));
        if !answered {
            return Err("the tool results are not those of the tool uses before them");
        }
        open = blocks
            .iter()
            .filter_map(|block| match block {
                SamplingBlock::ToolUse(used) => Some(used.id.as_str()),
                _ => None,
            })
            .collect();
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("a tool use is without its result")
    }
}
