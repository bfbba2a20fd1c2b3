//! Every kind of content. A kind that a revision lacks is replaced by a note in text.

use super::media;
use mcp_async::model::{Annotations, Content, ResourceContents, Role};
use mcp_async::server::{Context, ServerBuilder};

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "test_simple_text",
            "Answers with text",
            |(): (), _: Context| async { Ok("This is a simple text response for testing.") },
        )
        .tool(
            "test_image_content",
            "Answers with an image",
            |(): (), _: Context| async { Ok(Content::image(media::PNG, "image/png")) },
        )
        .tool(
            "test_audio_content",
            "Answers with sound",
            |(): (), _: Context| async { Ok(Content::audio(media::WAV, "audio/wav")) },
        )
        .tool(
            "test_embedded_resource",
            "Answers with a resource and what it holds",
            |(): (), _: Context| async {
                let contents = ResourceContents::text(
                    "test://embedded-resource",
                    "This is an embedded resource content.",
                );
                Ok(Content::resource(contents.with_mime_type("text/plain")))
            },
        )
        .tool(
            "test_resource_link",
            "Answers with the address of a resource",
            |(): (), _: Context| async {
                Ok(Content::resource_link("test://static-text", "static-text"))
            },
        )
        .tool(
            "test_annotated_content",
            "Answers with text for people and text for the model",
            |(): (), _: Context| async {
                let told = |text, role, priority| {
                    Content::text(text).with_annotations(Annotations {
                        audience: vec![role],
                        priority: Some(priority),
                        last_modified: Some("2026-07-28T00:00:00Z".into()),
                    })
                };
                Ok(vec![
                    told("The task is done.", Role::User, 1.0),
                    told("It took three steps.", Role::Assistant, 0.25),
                ])
            },
        )
        .tool(
            "test_multiple_content_types",
            "Answers with text, an image and a resource",
            |(): (), _: Context| async {
                let contents = ResourceContents::text(
                    "test://mixed-content-resource",
                    r#"{"test":"data","value":123}"#,
                );
                Ok(vec![
                    Content::text("Multiple content types test:"),
                    Content::image(media::PNG, "image/png"),
                    Content::resource(contents.with_mime_type("application/json")),
                ])
            },
        )
}
