//! One server made of several builders.

use super::builder::ServerBuilder;

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Adds everything that another server offers: its tools, resources, templates and prompts, its methods and its extensions, with
    /// the states that they have. Two items of one name or URI are a mistake that [`build`](Self::build) reports, and so is another
    /// server with [layers](Self::layer), which would act on the calls of this one. Name, texts, limits and all other settings
    /// stay those of this server.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::{Context, ServerBuilder};
    ///
    /// struct Notes(Vec<String>);
    ///
    /// fn notes() -> ServerBuilder<Notes> {
    ///     Server::builder("notes", "1.0")
    ///         .with_state(Notes(vec!["milk".to_owned()]))
    ///         .tool("first", "Reads the first note", |(): (), cx: Context<Notes>| async move { Ok(cx.state().0[0].clone()) })
    /// }
    ///
    /// let server = Server::builder("desk", "1.0")
    ///     .tool("ping", "Answers", |(): (), _| async { Ok("pong") })
    ///     .merge(notes())
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    pub fn merge<T>(mut self, other: ServerBuilder<T>) -> Self {
        self.parts.merge(other.parts, "");
        self
    }

    /// Adds everything that another server offers, as [`merge`](Self::merge) does, the names of its tools and prompts behind this prefix
    /// and an underscore: `nest("notes", other)` makes `notes_first` of `first`. URIs stay as they are.
    pub fn nest<T>(mut self, prefix: &str, other: ServerBuilder<T>) -> Self {
        self.parts.merge(other.parts, &format!("{prefix}_"));
        self
    }
}
