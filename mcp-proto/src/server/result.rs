//! Members that the protocol adds to what the application wrote.

use crate::action::SendError;
use crate::json::{MAX_DEPTH, Raw, Writer};

/// A member that an object has to have; one that it has already stays as it is.
pub(super) struct Addition<'a> {
    pub(super) key: &'static str,
    /// Whether it belongs into `_meta`.
    pub(super) in_meta: bool,
    pub(super) value: &'a dyn Fn(&mut Writer<'_>),
}

/// Completes the object at `start..end` of a message of `len` bytes, and returns the new length
/// of the message.
///
/// ```text
/// before  {"id":1,"result":{"content":[]}}
/// after   {"id":1,"result":{"content":[],"resultType":"complete","_meta":{..}}}
/// ```
///
/// The need is that of an object that has none of the members: whoever has such a buffer
/// succeeds, whoever has less fails, whatever the payload holds.
pub(super) fn complete(
    out: &mut [u8],
    len: usize,
    (start, end): (usize, usize),
    additions: &[Addition<'_>],
) -> Result<usize, SendError> {
    check_room(out, len, additions)?;
    let in_meta = additions.iter().any(|addition| addition.in_meta);
    let object = Raw::parse(out.get(start..end).unwrap_or_default(), MAX_DEPTH)
        .ok()
        .and_then(Raw::object)
        .ok_or(SendError::Encode)?;
    let [meta] = object.find(["_meta"]).map_err(|_| SendError::Encode)?;
    // Where `_meta` begins, and whether anything is in it.
    let meta = match meta {
        Some(raw) => {
            let members = raw.object().ok_or(SendError::Encode)?;
            let base = object.as_raw().as_bytes().as_ptr() as usize;
            let offset = (raw.as_bytes().as_ptr() as usize).saturating_sub(base);
            Some((start.saturating_add(offset), members.is_empty()))
        }
        None => None,
    };
    let empty = object.is_empty();
    let mut missing = [false; MOST];
    for (missing, addition) in missing.iter_mut().zip(additions) {
        let holder = if addition.in_meta {
            object.get("_meta").and_then(Raw::object)
        } else {
            Some(object)
        };
        *missing = holder.is_none_or(|holder| holder.get(addition.key).is_none());
    }
    let wanted = |in_meta: bool| {
        additions
            .iter()
            .zip(missing)
            .filter(move |(addition, missing)| *missing && addition.in_meta == in_meta)
            .map(|(addition, _)| addition)
    };
    // The end first, so that the place of `_meta` stays where it is.
    let mut len = len;
    let mut separator = if empty { "" } else { "," };
    let mut tail = Writer::counting();
    let write_tail = |w: &mut Writer<'_>, separator: &mut &str| {
        for addition in wanted(false) {
            w.literal(separator);
            addition.write(w);
            *separator = ",";
        }
        if meta.is_none() && in_meta {
            w.literal(separator);
            w.literal(META);
            let mut inner = "";
            for addition in wanted(true) {
                w.literal(inner);
                addition.write(w);
                inner = ",";
            }
            w.literal("}");
        }
    };
    write_tail(&mut tail, &mut { separator });
    len = open_gap(out, end.saturating_sub(1), len, tail.len())?;
    let place = out.get_mut(end.saturating_sub(1)..).unwrap_or_default();
    write_tail(&mut Writer::new(place), &mut separator);
    if let Some((at, empty)) = meta {
        let at = at.saturating_add(1);
        let write_meta = |w: &mut Writer<'_>| {
            let mut any = false;
            for addition in wanted(true) {
                if any {
                    w.literal(",");
                }
                addition.write(w);
                any = true;
            }
            if any && !empty {
                w.literal(",");
            }
        };
        let mut counting = Writer::counting();
        write_meta(&mut counting);
        len = open_gap(out, at, len, counting.len())?;
        write_meta(&mut Writer::new(out.get_mut(at..).unwrap_or_default()));
    }
    Ok(len)
}

/// Whether there is room for a message of `len` bytes and all that may be added to it.
pub(super) fn check_room(
    out: &[u8],
    len: usize,
    additions: &[Addition<'_>],
) -> Result<(), SendError> {
    let needed = additions.iter().fold(len, |needed, addition| {
        needed.saturating_add(addition.len())
    });
    let in_meta = additions.iter().any(|addition| addition.in_meta);
    let needed = needed.saturating_add(if in_meta { META.len() + 2 } else { 0 });
    if needed > out.len() {
        return Err(SendError::BufferFull { needed });
    }
    Ok(())
}

impl Addition<'_> {
    /// With its key and a comma.
    fn len(&self) -> usize {
        let mut w = Writer::counting();
        self.write(&mut w);
        w.len().saturating_add(1)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.string(self.key);
        w.literal(":");
        (self.value)(w);
    }
}

/// Moves what stands from `at` on, to make room for `size` bytes.
fn open_gap(out: &mut [u8], at: usize, len: usize, size: usize) -> Result<usize, SendError> {
    let longer = len.saturating_add(size);
    if at > len || longer > out.len() {
        return Err(SendError::BufferFull { needed: longer });
    }
    // Byte by byte from the end: `copy_within` brings a panic path, and nearly always it is the
    // two braces behind the object that move.
    let moved = out.get_mut(at..longer).unwrap_or_default();
    for from in (0..len.saturating_sub(at)).rev() {
        let byte = moved.get(from).copied().unwrap_or_default();
        if let Some(place) = moved.get_mut(from.saturating_add(size)) {
            *place = byte;
        }
    }
    Ok(longer)
}

const META: &str = "\"_meta\":{";
/// No message gets more additions than that.
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let additions = [
            Addition {
                key: "kind",
                in_meta: false,
                value: &|w| w.unsigned(1),
            },
            Addition {
                key: "who",
                in_meta: true,
                value: &|w| w.string("me"),
            },
        ];
        let message = std::format!("[{payload}]");
        let object = (1, 1 + payload.len());
        let mut fitted = None;
        for size in message.len()..message.len() + 64 {
            let mut out = std::vec![0; size];
            out[..message.len()].copy_from_slice(message.as_bytes());
            match complete(&mut out, message.len(), object, &additions) {
                Ok(len) => {
                    assert_eq!(core::str::from_utf8(&out[..len]).unwrap(), expected);
                    fitted.get_or_insert(size);
                }
                Err(error) => {
                    assert_eq!(fitted, None);
                    assert!(matches!(error, SendError::BufferFull { needed } if needed > size));
                }
            }
        }
        assert!(fitted.is_some());
    }

    #[test]
    fn members_are_added_where_they_are_missing() {
        check("{}", r#"[{"kind":1,"_meta":{"who":"me"}}]"#);
        check(r#"{"a":2}"#, r#"[{"a":2,"kind":1,"_meta":{"who":"me"}}]"#);
        check(r#"{"_meta":{}}"#, r#"[{"_meta":{"who":"me"},"kind":1}]"#);
        check(
            r#"{"_meta":{"x":1},"a":2}"#,
            r#"[{"_meta":{"who":"me","x":1},"a":2,"kind":1}]"#,
        );
        check(
            r#"{"kind":7,"_meta":{"who":"you"}}"#,
            r#"[{"kind":7,"_meta":{"who":"you"}}]"#,
        );
    }

    #[test]
    fn only_objects_are_completed() {
        for payload in ["[]", "1", "{\"_meta\":1}", "{\"_meta\":{},\"_meta\":{}}"] {
            let mut out = [0; 64];
            out[..payload.len()].copy_from_slice(payload.as_bytes());
            let object = (0, payload.len());
            assert_eq!(
                complete(&mut out, payload.len(), object, &[]),
                Err(SendError::Encode),
                "{payload}"
            );
        }
    }
}
