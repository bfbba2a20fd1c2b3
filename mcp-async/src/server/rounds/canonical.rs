//! Canonical JSON.

use mcp_proto::json::{Object, Raw};

/// Hands over everything that the parameters of a call ask for, so that a retry of the same call
/// (MR-09) is recognised although its members may come in another order, with other spaces and
/// other escapes. Members that differ from round to round are left out.
///
/// Every part says what it is and how long, so two different texts never read the same.
pub(super) fn params(params: Object<'_>, feed: &mut dyn FnMut(&[u8])) {
    members(params, &|name| !ROUND.contains(&name), feed);
}

fn members(object: Object<'_>, wanted: &dyn Fn(&str) -> bool, feed: &mut dyn FnMut(&[u8])) {
    let mut members: Vec<_> = object
        .members()
        .map(|(name, value)| (name.to_cow(), value))
        .filter(|(name, _)| wanted(name))
        .collect();
    // A duplicate name keeps its order: the reader decides which of the two counts.
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    head(b'{', members.len(), feed);
    for (name, member) in members {
        head(b':', name.len(), feed);
        feed(name.as_bytes());
        value(member, feed);
    }
}

/// As deep as the parser lets a message be.
fn value(raw: Raw<'_>, feed: &mut dyn FnMut(&[u8])) {
    if let Some(object) = raw.object() {
        members(object, &|_| true, feed);
    } else if let Some(array) = raw.array() {
        head(b'[', array.len(), feed);
        array.elements().for_each(|element| value(element, feed));
    } else if let Some(text) = raw.string() {
        let text = text.to_cow();
        head(b'"', text.len(), feed);
        feed(text.as_bytes());
    } else {
        // A number keeps its text, like `true`, `false` and `null`.
        head(b'=', raw.as_bytes().len(), feed);
        feed(raw.as_bytes());
    }
}

/// Hands over the kind and the length of the part that follows.
pub(super) fn head(kind: u8, len: usize, feed: &mut dyn FnMut(&[u8])) {
    feed(&[kind]);
    feed(&u64::try_from(len).unwrap_or(u64::MAX).to_be_bytes());
}

/// The members that belong to a round, not to the call.
const ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(json: &str) -> Vec<u8> {
        let raw = Raw::parse(json.as_bytes(), 16).unwrap();
        let mut bytes = Vec::new();
        params(raw.object().unwrap(), &mut |part| bytes.extend(part));
        bytes
    }

    #[test]
    fn the_same_call_reads_the_same() {
        let check = |left: &str, right: &str| assert_eq!(bytes(left), bytes(right), "{left}");
        check(
            r#"{"a":1,"b":[true,null]}"#,
            r#"{ "b" : [ true , null ] , "a" : 1 }"#,
        );
        check(
            r#"{"a":{"y":"é","x":2}}"#,
            r#"{"a":{"x":2,"\u0079":"\u00e9"}}"#,
        );
        check(
            r#"{"a":1}"#,
            r#"{"a":1,"_meta":{"progressToken":7},"requestState":"x","inputResponses":{}}"#,
        );
    }

    #[test]
    fn another_call_reads_differently() {
        let check = |left: &str, right: &str| assert_ne!(bytes(left), bytes(right), "{left}");
        check(r#"{"a":1}"#, r#"{"a":2}"#);
        check(r#"{"a":1}"#, r#"{"a":"1"}"#);
        check(r#"{"a":1}"#, r#"{"b":1}"#);
        check(r#"{"a":"b","c":"d"}"#, r#"{"a":"bc","":"d"}"#);
        check(r#"{"a":["x","y"]}"#, r#"{"a":["xy"]}"#);
        check(r#"{"a":[1],"b":[]}"#, r#"{"a":[],"b":[1]}"#);
        check(r#"{"a":[[],[]]}"#, r#"{"a":[[[]]]}"#);
        check(r#"{"a":{"_meta":1}}"#, r#"{"a":{"_meta":2}}"#);
        check(r#"{"a":null}"#, r#"{}"#);
    }
}
