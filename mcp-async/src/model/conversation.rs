//! Checks the messages of a conversation with a model.

use crate::model::{Role, SamplingBlock, SamplingMessage};

/// Checks that uses of tools and their results belong together (SP-05 to SP-07).
///
/// # Errors
/// The rule that the conversation breaks.
pub(crate) fn check_conversation(messages: &[SamplingMessage]) -> Result<(), &'static str> {
    let mut uses: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = message.content.blocks();
        let results = blocks.iter().filter_map(|block| match block {
            SamplingBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
            _ => None,
        });
        let mut results: Vec<&str> = results.collect();
        if !results.is_empty() && (message.role != Role::User || results.len() < blocks.len()) {
            return Err("tool results are mixed with other content");
        }
        // Sorted, because a peer chooses how many there are.
        results.sort_unstable();
        uses.sort_unstable();
        let is_doubled = results
            .windows(2)
            .any(|pair| matches!(pair, [one, next] if one == next));
        if is_doubled || results != uses {
            return Err("the tool results are not those of the tool uses before them");
        }
        uses.clear();
        uses.extend(blocks.iter().filter_map(|block| match block {
            SamplingBlock::ToolUse(wish) => Some(wish.id.as_str()),
            _ => None,
        }));
    }
    if uses.is_empty() {
        Ok(())
    } else {
        Err("a tool use is without its result")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ToolResultContent, ToolUseContent};

    fn wish(id: &str) -> SamplingBlock {
        SamplingBlock::ToolUse(ToolUseContent {
            id: id.into(),
            ..ToolUseContent::default()
        })
    }

    fn result(id: &str) -> SamplingBlock {
        SamplingBlock::ToolResult(ToolResultContent {
            tool_use_id: id.into(),
            ..ToolResultContent::default()
        })
    }

    /// SP-05, SP-06.
    #[test]
    fn uses_and_results_belong_together() {
        let user = |blocks: &[SamplingBlock]| SamplingMessage::user(blocks.to_vec());
        let model = |blocks: &[SamplingBlock]| SamplingMessage::assistant(blocks.to_vec());
        let text = SamplingBlock::text("x");
        let (a, b) = (wish("a"), wish("b"));
        let (ra, rb) = (result("a"), result("b"));
        let asked = user(core::slice::from_ref(&text));
        let both = model(&[text.clone(), a.clone(), b.clone()]);
        let check = |messages: &[SamplingMessage], sound: bool| {
            assert_eq!(check_conversation(messages).is_ok(), sound, "{messages:?}");
        };
        check(&[], true);
        check(&[asked.clone(), model(core::slice::from_ref(&text))], true);
        check(
            &[asked.clone(), both.clone(), user(&[rb.clone(), ra.clone()])],
            true,
        );
        check(
            &[both.clone(), user(&[ra.clone(), rb.clone()]), asked.clone()],
            true,
        );
        check(core::slice::from_ref(&both), false);
        check(&[both.clone(), user(core::slice::from_ref(&ra))], false);
        check(&[both.clone(), user(&[ra.clone(), ra.clone()])], false);
        check(
            &[both.clone(), user(&[ra.clone(), rb.clone(), text])],
            false,
        );
        check(
            &[both.clone(), asked.clone(), user(&[ra.clone(), rb.clone()])],
            false,
        );
        check(&[both.clone(), model(&[ra.clone(), rb])], false);
        check(&[asked, user(&[ra])], false);
    }
}
