//! `read`: a resource.

use std::io::{IsTerminal, stdout};

use crate::content::resource;
use crate::exit::Failure;
use crate::out;
use crate::plain::plain;
use crate::save::Save;
use crate::session::Session;
use mcp_tokio::mcp_async::model::{ReadResourceResult, ResourceContents};

/// Reads a resource and shows what is in it.
pub(crate) async fn run(session: &Session<'_>, uri: &str) -> Result<(), Failure> {
    let result = session.wait_long(session.client.read_resource(uri)).await?;
    let save = session.save();
    if save.is_none()
        && !session.common.json
        && let Some(bytes) = alone(&result)
    {
        // One thing, bare: for a file it is what the server has, byte by byte.
        return match (stdout().is_terminal(), String::from_utf8(bytes)) {
            (true, Ok(text)) => out::text(&plain(&text)),
            (_, bytes) => out::bytes(&bytes.map_or_else(|error| error.into_bytes(), String::into)),
        };
    }
    let mut all = Vec::new();
    for contents in &result.contents {
        all.push(resource(contents, save.as_ref()));
    }
    session.write(&result, &all.join("\n"))?;
    save.map_or(Ok(()), Save::finish)
}

/// The bytes of the only content, unless they are unsuitable for a terminal.
fn alone(result: &ReadResourceResult) -> Option<Vec<u8>> {
    match result.contents.as_slice() {
        [ResourceContents::Text(text)] => Some(text.text.clone().into_bytes()),
        [ResourceContents::Blob(blob)] if !stdout().is_terminal() => blob.blob.decode().ok(),
        _ => None,
    }
}
