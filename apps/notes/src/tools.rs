//! The tools.

use std::time::Duration;

use mcp_tokio::model::{Content, LoggingLevel};
use mcp_tokio::server::{Context, Elicited, HandlerError, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resources::{INDEX, updated, uri};
use crate::store::{Draft, Note, Query, Store};
use crate::{Result, with_store};

/// The text of the error is chosen by `visible`, so the model reads it. What `?` converts, such as
/// an error of the database, is for the server's own log.
pub(crate) async fn add(draft: Draft, cx: Context<Store>) -> Result<Json<Note>> {
    if draft.title.trim().is_empty() {
        return Err(HandlerError::visible("A note needs a title."));
    }
    let note = with_store(&cx, move |store, owner| store.add(owner, draft)).await?;
    let text = format!("added note {}", note.id);
    cx.log(LoggingLevel::Info, text).logger("notes").await;
    updated(&cx, INDEX);
    Ok(Json(note))
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Hits {
    notes: Vec<Note>,
}

pub(crate) async fn search(query: Query, cx: Context<Store>) -> Result<Json<Hits>> {
    let notes = with_store(&cx, move |store, owner| store.search(owner, &query)).await?;
    Ok(Json(Hits { notes }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Delete {
    /// The number of the note
    id: i64,
}

/// The form that is shown before a note is deleted.
#[derive(Deserialize, JsonSchema)]
struct Confirm {
    /// Delete it for good
    sure: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Deleted {
    deleted: bool,
}

/// In 2026-07-28 a question ends the call and its answer arrives with another one, so the handler
/// runs from its beginning then. What it does before the question must be harmless when repeated.
pub(crate) async fn delete(Delete { id }: Delete, cx: Context<Store>) -> Result<Json<Deleted>> {
    let Some(note) = with_store(&cx, move |store, owner| store.get(owner, id)).await? else {
        return Err(HandlerError::visible(format!("There is no note {id}.")));
    };
    let question = format!("Really delete “{}”?", note.title);
    let answer = cx.elicit::<Confirm>("sure", &question).await?;
    let sure = matches!(answer, Elicited::Accepted(Confirm { sure: true }));
    let deleted = sure && with_store(&cx, move |store, owner| store.delete(owner, id)).await?;
    if deleted {
        updated(&cx, &uri(id));
        updated(&cx, INDEX);
    }
    Ok(Json(Deleted { deleted }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Reindex {
    /// How many tables there are
    #[schemars(range(max = 1000))]
    steps: u32,
}

/// When the client cancels, the future is dropped where it waits, and so are its values.
pub(crate) async fn reindex(args: Reindex, cx: Context<Store>) -> Result<String> {
    let transaction = Transaction { committed: false };
    for step in 1..=args.steps {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let table = format!("table {step}");
        let progress = cx.progress(f64::from(step)).total(f64::from(args.steps));
        progress.message(&table).await;
    }
    transaction.commit();
    Ok(format!("{} tables", args.steps))
}

/// Stands for work that has to be undone if it is not finished.
struct Transaction {
    committed: bool,
}

impl Transaction {
    fn commit(mut self) {
        self.committed = true;
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.committed {
            eprintln!("reindex: rolled back");
        }
    }
}

pub(crate) async fn picture((): (), _: Context<Store>) -> Result<Vec<Content>> {
    let picture = Content::image(b"\x89PNG\r\n\x1a\n", "image/png");
    Ok(vec![Content::text("A picture:"), picture])
}
