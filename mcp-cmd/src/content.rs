//! Content of results, to read.

use super::bytes::bytes;
use super::json::pretty;
use super::plain::{escaped, line, plain};
use super::save::Save;
use super::style::{CYAN, DIM, paint};
use mcp_tokio::json::RawBuf;
use mcp_tokio::mcp_async::model::{Base64, Content, ResourceContents};

/// A block of content as text; bytes are described, and saved if there is a place for them.
pub(crate) fn content(block: &Content, save: Option<&Save>) -> String {
    match block {
        Content::Text(block) => plain(&block.text).into_owned(),
        Content::Image(block) => binary("image", "image", &block.mime_type, &block.data, save),
        Content::Audio(block) => binary("audio", "audio", &block.mime_type, &block.data, save),
        Content::ResourceLink(link) => {
            let mut facts = vec![line(&link.name).into_owned()];
            facts.extend(
                link.mime_type
                    .as_deref()
                    .map(|kind| line(kind).into_owned()),
            );
            facts.extend(link.size.map(bytes));
            let mut text = format!("{} {}", note("link", &facts.join(", ")), line(&link.uri));
            if let Some(description) = &link.description {
                text.push_str(&format!("\n{}", plain(description)));
            }
            text
        }
        Content::Resource(block) => resource(&block.resource, save),
        Content::Other(block) => escaped(&pretty(block.as_raw())).into_owned(),
    }
}

/// The contents of a resource as text, below a line that says what they are.
pub(crate) fn resource(contents: &ResourceContents, save: Option<&Save>) -> String {
    match contents {
        ResourceContents::Text(text) => {
            let kind = text.mime_type.as_deref().unwrap_or("text");
            let about = format!("{}, {}", line(&text.uri), line(kind));
            format!("{}\n{}", note("resource", &about), plain(&text.text))
        }
        ResourceContents::Blob(blob) => {
            let kind = blob
                .mime_type
                .as_deref()
                .unwrap_or("application/octet-stream");
            let what = format!("resource {}", line(&blob.uri));
            binary(&what, &blob.uri, kind, &blob.blob, save)
        }
        ResourceContents::Other(other) => escaped(&pretty(other.as_raw())).into_owned(),
    }
}

/// Describes bytes: their kind and number.
pub(crate) fn described(what: &str, mime_type: &str, data: &Base64) -> String {
    let size = match data.decode() {
        Ok(data) => bytes(data.len() as u64),
        Err(error) => error.to_string(),
    };
    note(what, &format!("{}, {size}", line(mime_type)))
}

/// A value, over several lines.
pub(crate) fn value(value: &RawBuf) -> String {
    escaped(&pretty(value.as_raw())).into_owned()
}

fn binary(what: &str, hint: &str, mime_type: &str, data: &Base64, save: Option<&Save>) -> String {
    let described = described(what, mime_type, data);
    let path = match (save, data.decode()) {
        (Some(save), Ok(data)) => save.write(hint, mime_type, &data),
        _ => None,
    };
    match path {
        Some(path) => format!("{described} {}", path.display()),
        None => described,
    }
}

fn note(what: &str, about: &str) -> String {
    format!(
        "{} {}",
        paint(CYAN, format_args!("[{what}]")),
        paint(DIM, about)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let check = |block: Content, expected: &str| {
            let text = content(&block, None);
            assert_eq!(plain(&text), expected);
        };
        check(Content::text("a\x1b[31mb\n"), "ab\n");
        check(
            Content::image([0; 70], "image/png"),
            "[image] image/png, 70 B",
        );
        check(
            Content::audio([0; 4_200], "audio/wav"),
            "[audio] audio/wav, 4.2 kB",
        );
        check(
            Content::resource_link("file:///a", "A"),
            "[link] A file:///a",
        );
        check(
            Content::resource(ResourceContents::text("test://a", "hi")),
            "[resource] test://a, text\nhi",
        );
        check(
            Content::resource(ResourceContents::blob("test://a", [1, 2])),
            "[resource test://a] application/octet-stream, 2 B",
        );
        let other = RawBuf::parse(r#"{"type":"hologram","x":1}"#).unwrap();
        check(
            Content::Other(other),
            "{\n  \"type\": \"hologram\",\n  \"x\": 1\n}",
        );
    }

    #[test]
    fn bytes_are_saved() {
        let directory = std::env::temp_dir().join(format!("mcp-content-{}", std::process::id()));
        let save = Save::to(directory.clone());
        let text = content(&Content::image(b"png", "image/png"), Some(&save));
        assert!(plain(&text).ends_with("image.png"), "{text}");
        assert_eq!(std::fs::read(directory.join("image.png")).unwrap(), b"png");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
