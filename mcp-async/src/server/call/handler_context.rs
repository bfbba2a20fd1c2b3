//! The context of a typed handler.

use core::fmt;
use core::future::Future;
use core::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::connection::blocking;
use crate::server::CallContext;

/// The context of one call: the state of the server, and everything that [`CallContext`] offers,
/// to which it dereferences (progress, logs, questions, cancellation, the caller).
///
/// `S` is the state that the builder was given by
/// [`with_state`](crate::server::ServerBuilder::with_state). A clone is cheap, and may move to another
/// task or thread.
///
/// ```
/// use std::sync::Mutex;
///
/// use mcp_async::Server;
/// use mcp_async::server::{Context, HandlerError};
///
/// #[derive(Default)]
/// struct Notes {
///     texts: Mutex<Vec<String>>,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     text: String,
/// }
///
/// impl Notes {
///     async fn add(args: Add, cx: Context<Self>) -> Result<&'static str, HandlerError> {
///         let mut texts = cx.state().texts.lock().map_err(|_| "a handler has panicked")?;
///         texts.push(args.text);
///         Ok("added")
///     }
/// }
///
/// let server = Server::builder("notes", "1.0")
///     .with_state(Notes::default())
///     .tool("add", "Adds a note", Notes::add)
///     .tool("count", "Counts the notes", |(): (), cx| async move {
///         let texts = cx.state().texts.lock().map_err(|_| "a handler has panicked")?;
///         Ok(texts.len().to_string())
///     })
///     .build()?;
/// # let _ = server;
/// # Ok::<(), mcp_async::server::BuildError>(())
/// ```
pub struct Context<S = ()> {
    call: CallContext,
    pub(in crate::server) state: Arc<S>,
}

impl<S> Context<S> {
    pub(in crate::server) fn new(call: CallContext, state: &Arc<S>) -> Self {
        Self {
            call,
            state: Arc::clone(state),
        }
    }

    /// Returns the state of the server.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Runs a closure that blocks (a database, files, a long computation) on the runtime's pool
    /// for blocking work, and returns its value. The closure receives the context.
    ///
    /// A closure that has begun is not interrupted when the call is cancelled; one that has not
    /// begun is dropped.
    ///
    /// ```
    /// use std::path::PathBuf;
    ///
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// struct Folder(PathBuf);
    ///
    /// async fn read(name: String, cx: Context<Folder>) -> Result<String, HandlerError> {
    ///     let text = cx.blocking(|cx| std::fs::read_to_string(cx.state().0.join(name))).await?;
    ///     Ok(text)
    /// }
    /// # let _ = read;
    /// ```
    ///
    /// # Panics
    /// The future panics when the closure does.
    pub fn blocking<T, F>(&self, work: F) -> impl Future<Output = T> + Send + use<S, T, F>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
        S: Send + Sync + 'static,
    {
        let cx = self.clone();
        blocking(self.call.runtime(), move || work(&cx))
    }
}

impl<S> Deref for Context<S> {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.call
    }
}

impl<S> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self {
            call: self.call.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for Context<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}

/// The state of handlers that need none, or have theirs already.
pub(in crate::server) fn unit() -> &'static Arc<()> {
    static UNIT: LazyLock<Arc<()>> = LazyLock::new(Arc::default);
    &UNIT
}
