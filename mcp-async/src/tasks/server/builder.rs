//! Offers tasks on a server.

use std::sync::Arc;

use super::super::EXTENSION;
use super::engine::Engine;
use super::settings::Tasks;
use crate::server::layers::around;
use crate::server::{Extension, ServerBuilder};

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Declares the extension `io.modelcontextprotocol/tasks`, and lets calls of tools become tasks
    /// where their [policy](crate::server::Tool::task) says so. Sessions of 2025-11-25 have tasks
    /// with [`Tasks::core_2025_11_25`].
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Tool;
    /// use mcp_async::tasks::server::{TaskPolicy, Tasks};
    ///
    /// let render = Tool::new("render")
    ///     .task(TaskPolicy::Optional)
    ///     .handler(|(): (), _| async { Ok("rendered") });
    /// let server = Server::builder("studio", "1.0")
    ///     .with(render)
    ///     .tasks(Tasks::new())
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), mcp_async::server::BuildError>(())
    /// ```
    pub fn tasks(self, tasks: Tasks) -> Self {
        let core = tasks.core;
        let engine = Engine::new(tasks);
        let (serving, listening) = (Arc::clone(&engine), Arc::clone(&engine));
        let layer = around(move |call, service| serving.serve(call, service));
        let judge = move |ids, listener| Arc::clone(&listening).listen(ids, listener);
        let server = match core {
            true => self.declare_core_tasks(),
            false => self,
        };
        server.extension(
            Extension::new(EXTENSION)
                .requires_client()
                .layer(layer)
                .filter("taskIds", judge)
                .background(engine),
        )
    }
}
