//! A server that keeps notes in SQLite, for each principal apart.
//!
//! `main` serves it over standard input and output; the gateway mounts it in a router.

mod resources;
mod store;
mod tools;

use mcp_tokio::server::{
    CallContext, Context, HandlerError, Principal, Prompt, Resource, Template, Tool,
};
use mcp_tokio::{Server, ServerBuilder};

pub use store::{Draft, Note, Priority, Query, Store};

/// Configures the server. Its handlers are functions that receive the store through their context.
pub fn server(store: Store) -> ServerBuilder<Store> {
    Server::builder("notes", env!("CARGO_PKG_VERSION"))
        .title("Notes")
        .instructions("Keeps notes. Search before you add.")
        .logging()
        .change_notifications()
        .with_state(store)
        .with(
            Tool::new("add")
                .title("Add a note")
                .description("Adds a note")
                .destructive(false)
                .open_world(false)
                .handler(tools::add),
        )
        .with(
            Tool::new("search")
                .description("Finds notes")
                .read_only()
                .handler(tools::search),
        )
        .with(
            Tool::new("delete")
                .description("Deletes a note after a confirmation")
                .destructive(true)
                .handler(tools::delete),
        )
        .tool("reindex", "Builds the index again, slowly", tools::reindex)
        .tool("picture", "Returns a picture", tools::picture)
        .with(
            Resource::new(resources::INDEX, "index")
                .description("The numbers of all notes")
                .mime_type("application/json")
                .handler(resources::index),
        )
        .with(
            Template::new("note:///{id}", "note")
                .description("One note")
                .mime_type("text/markdown")
                .list(resources::list)
                .complete("id", resources::complete_id)
                .handler(resources::note),
        )
        .with(
            Prompt::new("summarize")
                .description("Summarizes the notes with a tag")
                .handler(resources::summarize),
        )
}

type Result<T> = std::result::Result<T, HandlerError>;

/// The owner of the notes that a call may see. Standard streams have one user, who has no name.
fn owner(cx: &CallContext) -> &str {
    cx.principal().map_or("local", Principal::name)
}

/// Runs a closure over the store and the caller on the pool for blocking work.
async fn with_store<T: Send + 'static>(
    cx: &Context<Store>,
    work: impl FnOnce(&Store, &str) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T> {
    Ok(cx.blocking(move |cx| work(cx.state(), owner(cx))).await?)
}
