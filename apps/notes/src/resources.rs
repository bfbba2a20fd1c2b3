//! Resources, the completion of their URIs, and the prompt.

use mcp_tokio::model::{Content, PromptMessage, Resource, ResourceContents};
use mcp_tokio::server::{CompletionRequest, Context, HandlerError, Json, Principal};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::store::{Query, Store};
use crate::{Result, with_store};

pub(crate) const INDEX: &str = "note:///index";

pub(crate) fn uri(id: i64) -> String {
    format!("note:///{id}")
}

pub(crate) async fn index(cx: Context<Store>) -> Result<Json<Vec<i64>>> {
    Ok(Json(with_store(&cx, Store::ids).await?))
}

/// The variables of the template.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Variables {
    /// The number of the note
    id: i64,
}

pub(crate) async fn note(Variables { id }: Variables, cx: Context<Store>) -> Result<String> {
    let note = with_store(&cx, move |store, owner| store.get(owner, id)).await?;
    let note = note.ok_or_else(HandlerError::not_found)?;
    Ok(format!("# {}\n\n{}", note.title, note.body))
}

/// Lists the oldest notes of the caller. Clients find the others with the tool.
pub(crate) async fn list(cx: Context<Store>) -> Result<Vec<Resource>> {
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let notes = with_store(&cx, move |store, owner| store.search(owner, &query)).await?;
    let notes = notes.into_iter();
    Ok(notes
        .map(|note| Resource::new(uri(note.id), note.title))
        .collect())
}

/// Reports that a resource has changed, to the clients of the caller and to no other user.
pub(crate) fn updated(cx: &Context<Store>, uri: &str) {
    let registry = cx.registry();
    match cx.principal().map(Principal::name) {
        Some(caller) => registry.for_principal(caller).resource_updated(uri),
        None => registry.resource_updated(uri),
    }
}

pub(crate) async fn complete_id(
    typed: CompletionRequest,
    cx: Context<Store>,
) -> Result<Vec<String>> {
    let ids = with_store(&cx, Store::ids).await?;
    let ids = ids.iter().map(i64::to_string);
    Ok(ids.filter(|id| id.starts_with(&typed.value)).collect())
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Summarize {
    /// The tag to summarize
    tag: String,
    /// How long the summary may be
    words: Option<u32>,
}

pub(crate) async fn summarize(args: Summarize, cx: Context<Store>) -> Result<Vec<PromptMessage>> {
    let Summarize { tag, words } = args;
    let words = words.unwrap_or(50);
    let task = format!("Summarize my notes on {tag} in {words} words.");
    let query = Query {
        tag: Some(tag),
        limit: 100,
        ..Query::default()
    };
    let notes = with_store(&cx, move |store, owner| store.search(owner, &query)).await?;
    let notes = notes.into_iter().map(|note| {
        let contents = ResourceContents::text(uri(note.id), note.body);
        PromptMessage::user(Content::resource(contents))
    });
    Ok(core::iter::once(PromptMessage::user(task))
        .chain(notes)
        .collect())
}
