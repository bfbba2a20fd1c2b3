//! Headers of a request that repeat parts of its body.

use alloc::vec::Vec;

use super::origin::Origin;
use crate::http::mirror::{self, MirrorError};
use crate::json::Raw;
use crate::rpc::{Message, Method};

/// SC-17 to SC-19, SC-24, XH-09 to XH-13: what of the body is repeated in the head.
pub(super) fn mirrored(origin: &Origin, message: &Message<'_>, each: &mut dyn FnMut(&str, &[u8])) {
    let (method, params) = match message {
        Message::Request(request) => (request.method, request.params),
        Message::Notification(notification) => (notification.method, notification.params),
        _ => return,
    };
    let mut text = Vec::new();
    let mut say = |name: &str, write: &dyn Fn(&mut [u8]) -> ValueLen| {
        text.resize(64, 0);
        let mut written = write(&mut text);
        if let Err(MirrorError::BufferFull { needed }) = written {
            text.resize(needed, 0);
            written = write(&mut text);
        }
        // A value without a header is the server's to refuse: its schema says what it may be.
        if let Ok(Some(len)) = written {
            each(name, text.get(..len).unwrap_or_default());
        }
    };
    say("mcp-method", &|out| {
        mirror::write_text(method.name(), out).map(Some)
    });
    let facts = method.facts();
    let member = match method {
        Method::Other(name) => origin.subject_of(name),
        _ if facts.name_header.is_empty() => None,
        _ => facts.params.subject(),
    };
    let Some(name) = params
        .zip(member)
        .and_then(|(params, member)| params.get(member))
    else {
        return;
    };
    say("mcp-name", &|out| mirror::write(name, out));
    if method != Method::ToolsCall {
        return;
    }
    let annotations = name
        .string()
        .and_then(|name| origin.tools.of(&name.to_cow()));
    let arguments = params
        .and_then(|params| params.get("arguments"))
        .and_then(Raw::object);
    for argument in annotations
        .into_iter()
        .flat_map(|annotations| annotations.of(arguments))
    {
        // HTTP/2 takes names in small letters only (RFC 9113, 8.2).
        let header = argument.header.to_ascii_lowercase();
        say(&header, &|out| argument.write(out));
    }
}

type ValueLen = Result<Option<usize>, MirrorError>;
