//! Resources: text, bytes, and a template with completion.

use serde::Deserialize;

use super::media;
use mcp_async::json::RawBuf;
use mcp_async::server::{CompletionRequest, Context, Resource, ServerBuilder, Template};

#[derive(Deserialize)]
struct Variables {
    id: String,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    id: &'a str,
    template_test: bool,
    data: String,
}

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .with(
            Resource::new("test://static-text", "static-text")
                .title("Static Text Resource")
                .description("Text that stays the same")
                .mime_type("text/plain")
                .size(STATIC.len() as u64)
                .handler(|_: Context| async { Ok(STATIC) }),
        )
        .with(
            Resource::new("test://static-binary", "static-binary")
                .title("Static Binary Resource")
                .description("An image that stays the same")
                .mime_type("image/png")
                .size(media::PNG.len() as u64)
                .handler(|_: Context| async { Ok(media::PNG.to_vec()) }),
        )
        .with(
            Resource::new("test://watched-resource", "watched-resource")
                .title("Watched Resource")
                .description("Changes when touch_resource says so")
                .mime_type("text/plain")
                .handler(|_: Context| async { Ok("Subscribe, and touch it.") }),
        )
        .with(
            Template::new("test://template/{id}/data", "template")
                .title("Resource Template")
                .description("Data by their id")
                .mime_type("application/json")
                .complete("id", |typed: CompletionRequest, _: Context| async move {
                    let ids = (1..=150).map(|id: u8| id.to_string());
                    Ok(Vec::from_iter(
                        ids.filter(|id| id.starts_with(&typed.value)),
                    ))
                })
                .handler(|variables: Variables, _: Context| async move {
                    let data = RawBuf::encode(&Data {
                        id: &variables.id,
                        template_test: true,
                        data: format!("Data for ID: {}", variables.id),
                    })?;
                    Ok(data.as_raw().as_str().to_owned())
                }),
        )
}

const STATIC: &str = "This is the content of the static text resource.";
