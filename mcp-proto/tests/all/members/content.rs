//! Blocks of content, and the types that everything shares.

use super::*;

#[test]
fn shared_types() {
    check(
        "Implementation",
        &Implementation {
            name: "n".into(),
            version: "1".into(),
            title: Some("t".into()),
            description: Some("d".into()),
            website_url: Some("https://example.com".into()),
            icons: icons(),
        },
    );
    check_least("Implementation", &Implementation::new("n", "1"));
    check(
        "Icon",
        &Icon {
            src: "https://example.com/i.png".into(),
            mime_type: Some("image/png".into()),
            sizes: NAMES,
            theme: Some(Theme::Dark),
        },
    );
    check("Annotations", &annotations());
    check_least("Annotations", &Annotations::default());
    check(
        "Root",
        &Root {
            uri: "file:///".into(),
            name: Some("n".into()),
            meta: EMPTY,
        },
    );
    let request = RequestMeta {
        progress_token: Id::parse(b"1"),
        protocol_version: Some("2026-07-28".into()),
        client_capabilities: Some(ClientCapabilities::default()),
        client_info: Some(Implementation::new("n", "1")),
        log_level: Some(LoggingLevel::Info),
    };
    check("RequestMeta", &request);
    check(
        "ResultMeta",
        &ResultMeta {
            server_info: Some(Implementation::new("n", "1")),
            subscription_id: Id::parse(b"1"),
        },
    );
}

/// RS-15.
#[test]
fn content() {
    check(
        "TextContent",
        &Content::Text(TextContent {
            text: "t".into(),
            annotations: Some(annotations()),
            meta: EMPTY,
        }),
    );
    check_least("TextContent", &text());
    check(
        "ImageContent",
        &Content::Image(ImageContent {
            data: "AA==".into(),
            mime_type: "image/png".into(),
            annotations: Some(annotations()),
            meta: EMPTY,
        }),
    );
    check("AudioContent", &audio());
    check("ResourceLink", &link());
    for contents in [text_contents(), blob_contents()] {
        check(
            "EmbeddedResource",
            &Content::Resource(EmbeddedResource {
                resource: contents,
                annotations: Some(annotations()),
                meta: EMPTY,
            }),
        );
    }
    check("TextResourceContents", &text_contents());
    check("BlobResourceContents", &blob_contents());
}

#[test]
fn a_block_that_a_revision_lacks_is_a_text_there() {
    let first = [('1', Revision::V2024_11_05)];
    let until_2025_06 = [
        ('1', Revision::V2024_11_05),
        ('2', Revision::V2025_03_26),
        ('3', Revision::V2025_06_18),
    ];
    let check = |value: &dyn Fn(Revision, &mut [u8]) -> String, revisions: &[(char, Revision)]| {
        for (number, revision) in revisions {
            let text = value(*revision, &mut [0; 2048]);
            let object = object(&text);
            assert!(
                object.get("type").unwrap().string().unwrap() == "text",
                "{text}"
            );
            assert!(object.get("text").unwrap().string().is_some(), "{text}");
            for (name, _) in object.members() {
                let known = row("TextContent").members;
                let known = known
                    .iter()
                    .any(|(member, having, _)| name == **member && having.contains(*number));
                assert!(known, "{name} in {revision}");
            }
        }
    };
    check(
        &|revision, out| encode(&audio(), Some(revision), out).as_str().to_owned(),
        &first,
    );
    check(
        &|revision, out| encode(&link(), Some(revision), out).as_str().to_owned(),
        &until_2025_06[..2],
    );
    for block in [tool_use(), tool_result(Raw::EMPTY_OBJECT)] {
        check(
            &|revision, out| encode(&block, Some(revision), out).as_str().to_owned(),
            &until_2025_06,
        );
    }
}

fn audio() -> Content<'static> {
    Content::Audio(AudioContent {
        data: "AA==".into(),
        mime_type: "audio/wav".into(),
        annotations: Some(annotations()),
        meta: EMPTY,
    })
}

fn link() -> Content<'static> {
    Content::ResourceLink(ResourceLink {
        uri: "file:///a".into(),
        name: "a".into(),
        title: Some("t".into()),
        description: Some("d".into()),
        mime_type: Some("text/plain".into()),
        size: Some(1),
        annotations: Some(annotations()),
        icons: icons(),
        meta: EMPTY,
    })
}

fn text_contents() -> ResourceContents<'static> {
    ResourceContents::Text(TextResourceContents {
        uri: "file:///a".into(),
        mime_type: Some("text/plain".into()),
        text: "t".into(),
        meta: EMPTY,
    })
}

fn blob_contents() -> ResourceContents<'static> {
    ResourceContents::Blob(BlobResourceContents {
        uri: "file:///a".into(),
        mime_type: Some("image/png".into()),
        blob: "AA==".into(),
        meta: EMPTY,
    })
}

pub(crate) fn tool_use() -> SamplingBlock<'static> {
    SamplingBlock::ToolUse(ToolUseContent {
        id: "1".into(),
        name: "n".into(),
        input: Object::EMPTY,
        meta: EMPTY,
    })
}

pub(crate) fn tool_result(structured: Raw<'static>) -> SamplingBlock<'static> {
    SamplingBlock::ToolResult(ToolResultContent {
        tool_use_id: "1".into(),
        content: List::EMPTY,
        structured_content: Some(structured),
        is_error: true,
        meta: EMPTY,
    })
}
