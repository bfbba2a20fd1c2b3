//! Links to resources in results, where a server's resources are offered under other URIs.

use std::borrow::Cow;

use mcp_async::json::{EncodeError, Raw, RawBuf};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Returns the result with the URIs of links and embedded resources as they are offered. Texts and structured content stay as they
/// came.
pub(super) fn offered(
    result: Raw<'_>,
    name: &dyn Fn(&str) -> Option<String>,
) -> Result<RawBuf, EncodeError> {
    RawBuf::encode(&Linked {
        value: result,
        name,
    })
}

/// A result, a message, a block of content, or a list of these.
struct Linked<'a> {
    value: Raw<'a>,
    name: &'a dyn Fn(&str) -> Option<String>,
}

impl Linked<'_> {
    /// Returns true if the member holds what may have links, or is the URI of one.
    fn is_linked(&self, member: &str) -> bool {
        let object = self.value.object().unwrap_or_default();
        let kind = object.get("type").and_then(Raw::string);
        let is_kind = |name: &str| kind.is_some_and(|kind| kind == name);
        match member {
            "content" | "messages" | "contents" => true,
            "resource" => is_kind("resource"),
            // A block of embedded content holds an object without a type.
            "uri" => kind.is_none() || is_kind("resource_link"),
            _ => false,
        }
    }
}

impl Serialize for Linked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = self.name;
        if let Some(array) = self.value.array() {
            let mut sequence = serializer.serialize_seq(None)?;
            for value in array.elements() {
                sequence.serialize_element(&Linked { value, name })?;
            }
            return sequence.end();
        }
        if let Some(object) = self.value.object() {
            let mut map = serializer.serialize_map(None)?;
            for (member, value) in object.members() {
                let member: Cow<'_, str> = member.to_cow();
                match self.is_linked(&member) {
                    true => map.serialize_entry(&member, &Linked { value, name })?,
                    false => map.serialize_entry(&member, &value)?,
                }
            }
            return map.end();
        }
        let text = self.value.string().map(|text| text.to_cow());
        match text.and_then(|text| name(&text)) {
            Some(offered) => serializer.serialize_str(&offered),
            None => self.value.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let name = |uri: &str| (uri == "a:1").then(|| "x:a:1".to_owned());
        let result = RawBuf::parse(before).expect("it is JSON");
        let offered = offered(result.as_raw(), &name).expect("it is JSON");
        assert_eq!(offered.as_raw().as_str(), after);
    }

    #[test]
    fn links_and_embedded_resources_are_renamed() {
        check(
            r#"{"content":[{"type":"resource_link","uri":"a:1","name":"a:1"},{"type":"resource","resource":{"uri":"a:1","text":"a:1"}}]}"#,
            r#"{"content":[{"type":"resource_link","uri":"x:a:1","name":"a:1"},{"type":"resource","resource":{"uri":"x:a:1","text":"a:1"}}]}"#,
        );
        check(
            r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"a:1"}}],"z":9007199254740993}"#,
            r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"x:a:1"}}],"z":9007199254740993}"#,
        );
        check(
            r#"{"contents":[{"uri":"a:1"}]}"#,
            r#"{"contents":[{"uri":"x:a:1"}]}"#,
        );
        // A tool's text, its own data, and the resources of others.
        for same in [
            r#"{"content":[{"type":"text","text":"a:1","uri":"a:1"}],"structuredContent":{"uri":"a:1","content":[{"uri":"a:1"}]}}"#,
            r#"{"content":[{"type":"resource_link","uri":"a:2"}],"_meta":{"uri":"a:1"}}"#,
            r#"{"content":"a:2"}"#,
            "[]",
            "{}",
        ] {
            check(same, same);
        }
    }
}
