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

    /// Runs the future in a task of its own, until it ends.
    ///
    /// # Panics
    /// Where no runtime is running: a future that is dropped there would be missed by those who
    /// wait for it.
    fn spawn(task: Task);

    /// Done when the program is asked to end: by SIGINT or SIGTERM, by Ctrl-C.
    ///
    /// From the first call on these no longer end the process by themselves. Adapters built
    /// without their feature `signal` leave them alone, and this is never done.
    fn interrupted() -> Task {
        Box::pin(core::future::pending())
    }
}

/// A future that a [`Runtime`] runs.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
