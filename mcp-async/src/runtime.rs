//! What a runtime is to this crate.

use core::future::Future;
use core::pin::Pin;

use crate::clock::Clock;
use crate::stdio::Reactor;

/// An asynchronous runtime, as servers and clients see it:
/// a clock, a reactor for descriptors and children, and tasks.
///
/// Each adapter implements it on a unit struct, and names the two types with it filled in. To
/// run on another runtime, implement it there.
///
/// ```
/// use mcp_async::{Runtime, Task};
///
/// /// Runs something beside whatever calls this, on any runtime.
/// fn beside<R: Runtime>(work: impl Future<Output = ()> + Send + 'static) {
///     let task: Task = Box::pin(work);
///     R::spawn(task);
/// }
/// ```
pub trait Runtime: Clock + Reactor + Clone + Copy + Default {
    /// The runtime itself: what has no state is the same everywhere.
    fn reactor() -> &'static dyn Reactor;

    /// Runs the future in a task of its own, until it ends. Where no runtime is running the
    /// future is dropped, which ends what it stands for.
    fn spawn(task: Task);
}

/// A future that a [`Runtime`] runs.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
