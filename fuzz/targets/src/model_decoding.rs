//! The types of the model from arbitrary text.

use std::collections::BTreeSet;

use mcp_proto::json::{MAX_DEPTH, Raw, Writer};
use mcp_proto::model::*;
use serde::Serialize;
use serde_json::{Number, Value};

/// A payload that is decoded and written again is JSON, decodes to the value that was written, and has no text or number that the
/// first did not have.
///
/// The first byte chooses the type; the rest is the text.
pub fn model_decoding(input: &[u8]) {
    let Some((&kind, text)) = input.split_first() else {
        return;
    };
    let Ok(raw) = Raw::parse(text, MAX_DEPTH) else {
        return;
    };
    let check = TYPES[usize::from(kind) % TYPES.len()];
    check(raw);
}

type Check = for<'b> fn(Raw<'b>);

/// Declares the table of the types.
macro_rules! types {
    ($($name:ident)*) => {
        const TYPES: &[Check] = &[$(|raw| {
            let value = raw.decode::<$name<'_>>(&mut [0; 4096]).ok();
            // The elements of a list are read only when they are written.
            if let Some(written) = value.and_then(|value| write(&value)) {
                agrees(raw, &written);
                let again = Raw::parse(&written, MAX_DEPTH).expect("what is written is JSON");
                let again = again.decode::<$name<'_>>(&mut [0; 4096]);
                let again = write(&again.expect("it was decoded before"));
                assert_eq!(again, Some(written));
            }
        }),*];
    };
}

types! {
    CallToolParams CallToolResult ListToolsResult Tool
    InitializeParams InitializeResult DiscoverResult
    ListResourcesResult ListResourceTemplatesResult ReadResourceResult
    ListPromptsResult GetPromptParams GetPromptResult
    CompleteParams CompleteResult
    CreateMessageParams CreateMessageResult
    ElicitParams ElicitResult ListRootsResult
    Task ListTasksResult ListenParams ProgressParams LoggingMessageParams
    Content
}

fn write(value: &impl Serialize) -> Option<Vec<u8>> {
    let mut out = vec![0; 1 << 14];
    loop {
        let mut writer = Writer::new(&mut out);
        writer.value(value, None).ok()?;
        match writer.finish() {
            Ok(len) => {
                out.truncate(len);
                return Some(out);
            }
            Err(full) => out.resize(full.needed, 0),
        }
    }
}

/// Compares with the trees of another reader, which cannot read halves of surrogate pairs.
fn agrees(raw: Raw<'_>, written: &[u8]) {
    let Ok(before) = serde_json::from_slice::<Value>(raw.as_bytes()) else {
        return;
    };
    let after = serde_json::from_slice::<Value>(written).expect("what is written is JSON");
    let mut leaves = BTreeSet::new();
    collect(&before, &mut leaves);
    let mut kept = BTreeSet::new();
    collect(&after, &mut kept);
    let is_added = |leaf: &&String| !leaves.contains(*leaf) && !OWN.contains(&leaf.as_str());
    let added = kept.iter().find(is_added);
    assert_eq!(added, None, "{}", raw.as_str());
}

/// The kinds that the model names itself, the narrow scope, which stands for one that cannot be read, and the empty text, which stands
/// for the content of a message of sampling without blocks.
const OWN: [&str; 15] = [
    "",
    "private",
    "form",
    "text",
    "image",
    "audio",
    "resource",
    "resource_link",
    "tool_use",
    "tool_result",
    "object",
    "array",
    "string",
    "number",
    "boolean",
];

/// Texts and numbers of a tree.
fn collect(value: &Value, leaves: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => _ = leaves.insert(text.clone()),
        Value::Number(number) => _ = leaves.insert(format!("{:?}", unsigned_zero(number))),
        Value::Array(list) => list.iter().for_each(|value| collect(value, leaves)),
        Value::Object(members) => members.values().for_each(|value| collect(value, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns a number without the sign of `-0`, which serde_json keeps and an integer does not have.
fn unsigned_zero(number: &Number) -> Option<f64> {
    number.as_f64().map(|number| number + 0.0)
}
