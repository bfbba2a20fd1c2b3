//! The interface of a runtime, and substitutes for its parts: a manual clock and in-memory streams.
//! The module does not depend on the protocol.

mod clock;
mod duplex;
pub mod monotonic;
mod reactor;
mod split;

use core::future::Future;
use core::pin::Pin;

pub(crate) use self::clock::Now;
pub use self::clock::{Clock, ManualClock, ManualTimer, Timer};
pub use self::duplex::{Duplex, PipeReader, PipeWriter, duplex, pipe};
#[cfg(unix)]
pub use self::reactor::{Interest, Readiness};
pub use self::reactor::{Reactor, Sleep};
pub use self::split::{ReadHalf, WriteHalf, split};

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
    /// If no runtime is running: dropping the future instead would leave tasks that wait for it
    /// pending.
    fn spawn(task: Task);

    /// Runs the closure on a thread where it may block: the runtime's pool for such work.
    ///
    /// # Panics
    /// May panic where no runtime is running.
    fn spawn_blocking(work: Work);

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

/// A closure that a [`Runtime`] runs where it may block.
pub type Work = Box<dyn FnOnce() + Send>;
