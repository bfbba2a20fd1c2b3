//! The arguments of the tools of a server that are repeated in headers.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::http::annotation::{Annotations, BadAnnotation};
use crate::json::{Object, Raw, Writer, append};
use crate::rpc::{Id, envelope};

/// The annotated tools by name, as they were listed last (XH-18).
#[derive(Debug, Default)]
pub(super) struct Tools {
    annotated: BTreeMap<String, Annotations>,
    /// Tools that were taken out of a list, for a warning.
    dropped: Vec<(String, BadAnnotation)>,
}

impl Tools {
    pub(super) fn of(&self, name: &str) -> Option<&Annotations> {
        self.annotated.get(name)
    }

    pub(super) fn take_dropped(&mut self) -> Vec<(String, BadAnnotation)> {
        core::mem::take(&mut self.dropped)
    }

    pub(super) fn clear(&mut self) {
        self.annotated.clear();
    }

    /// Learns from a page of tools. If some of them have bad annotations the answer is written
    /// to `instead` without them (XH-07). The `draft` has rules of its own.
    pub(super) fn learn(
        &mut self,
        id: Id<'_>,
        result: Raw<'_>,
        draft: bool,
        instead: &mut Vec<u8>,
    ) {
        let Some(result) = result.object() else {
            return;
        };
        let tools = || {
            let tools = result.get("tools").and_then(Raw::array);
            tools.into_iter().flat_map(|tools| tools.elements())
        };
        let mut bad = Vec::new();
        for (at, tool) in tools().enumerate() {
            if let Err(error) = self.learn_tool(tool, draft) {
                bad.push(at);
                let name = name_of(tool).unwrap_or_default();
                if self.dropped.len() < MOST {
                    self.dropped.push((name, error));
                }
            }
        }
        if bad.is_empty() {
            return;
        }
        let good = || {
            tools()
                .enumerate()
                .filter(|(at, _)| bad.binary_search(at).is_err())
                .map(|(_, tool)| tool)
        };
        append(instead, |writer| write(writer, id, result, good()));
    }

    fn learn_tool(&mut self, tool: Raw<'_>, draft: bool) -> Result<(), BadAnnotation> {
        let schema = tool.object().and_then(|tool| tool.get("inputSchema"));
        let (Some(name), Some(schema)) = (name_of(tool), schema) else {
            return Ok(());
        };
        let annotations = match draft {
            true => Annotations::read_draft(schema),
            false => Annotations::read(schema),
        };
        match annotations {
            Ok(annotations) if annotations.is_empty() => {
                self.annotated.remove(&name);
            }
            Ok(annotations) => {
                if self.annotated.len() < MOST || self.annotated.contains_key(&name) {
                    self.annotated.insert(name, annotations);
                }
            }
            Err(error) => {
                self.annotated.remove(&name);
                return Err(error);
            }
        }
        Ok(())
    }
}

fn name_of(tool: Raw<'_>) -> Option<String> {
    let name = tool.object()?.get("name")?.string()?;
    Some(name.to_cow().into_owned())
}

/// The answer with these tools, and everything else as it came.
fn write<'b>(
    writer: &mut Writer<'_>,
    id: Id<'_>,
    result: Object<'b>,
    tools: impl Iterator<Item = Raw<'b>>,
) {
    let mut tools = Some(tools);
    let Ok(()) = envelope::result(writer, id, |writer| {
        let mut before = "{";
        for (key, value) in result.members() {
            writer.literal(before);
            before = ",";
            writer.text_exact(key);
            writer.literal(":");
            match tools.take_if(|_| key == "tools") {
                Some(tools) => {
                    writer.literal("[");
                    for (at, tool) in tools.enumerate() {
                        writer.literal(if at == 0 { "" } else { "," });
                        writer.raw(tool);
                    }
                    writer.literal("]");
                }
                None => writer.raw(value),
            }
        }
        writer.literal("}");
        Ok::<_, core::convert::Infallible>(())
    });
}

/// Tools with annotations: far more than any model is shown, and a bound for a server that never
/// stops listing.
const MOST: usize = 10_000;
