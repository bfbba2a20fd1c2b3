//! Messages that belong to a task.

use mcp_proto::Revision;
use mcp_proto::json::{EncodeError, Object, Raw, RawBuf, Str, Writer};
use mcp_proto::{Payload, model};

use crate::error::ErrorReply;
use crate::payload::encode;

/// An object of a message with the task that it belongs to in its `_meta` (TK-13).
pub(in crate::tasks) fn relate(object: Raw<'_>, task: Str<'_>) -> Result<RawBuf, ErrorReply> {
    let members = object.object().ok_or(ErrorReply::internal())?;
    encode(&Related { members, task }, Revision::V2025_11_25).map_err(|_| ErrorReply::internal())
}

struct Related<'a> {
    members: Object<'a>,
    task: Str<'a>,
}

impl Payload for Related<'_> {
    fn write(&self, writer: &mut Writer<'_>, _: Revision) -> Result<(), EncodeError> {
        let meta = self.members.get("_meta").and_then(Raw::object);
        write_members(self.members, "_meta", "{", writer);
        writer.literal(
            match self.members.members().any(|(name, _)| name != "_meta") {
                true => ",\"_meta\":",
                false => "{\"_meta\":",
            },
        );
        let meta = meta.unwrap_or_default();
        let key = model::keys::RELATED_TASK;
        write_members(meta, key, "{", writer);
        writer.literal(match meta.members().any(|(name, _)| name != key) {
            true => ",",
            false => "{",
        });
        writer.string(key);
        writer.literal(":{\"taskId\":");
        writer.text_exact(self.task);
        writer.literal("}}}");
        Ok(())
    }
}

/// Writes the members of an object but one.
fn write_members(object: Object<'_>, without: &str, first: &'static str, writer: &mut Writer<'_>) {
    let mut before = first;
    for (name, value) in object.members().filter(|(name, _)| *name != *without) {
        writer.literal(before);
        writer.text_exact(name);
        writer.literal(":");
        writer.raw(value);
        before = ",";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tk_13_answers_name_their_task() {
        let check = |answer: &str, expected: &str| {
            let answer = RawBuf::parse(answer).unwrap();
            let related = relate(answer.as_raw(), Str::from("t")).unwrap();
            assert_eq!(related.as_raw().as_str(), expected);
        };
        let task = r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#;
        check("{}", &format!(r#"{{"_meta":{{{task}}}}}"#));
        check(
            r#"{"action":"decline"}"#,
            &format!(r#"{{"action":"decline","_meta":{{{task}}}}}"#),
        );
        check(
            r#"{"_meta":{"a":1,"io.modelcontextprotocol/related-task":2},"b":3}"#,
            &format!(r#"{{"b":3,"_meta":{{"a":1,{task}}}}}"#),
        );
    }
}
