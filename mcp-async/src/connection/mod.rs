//! One connection: the future that reads, writes and runs the calls, and the state that its handles
//! share with it. The role is a parameter.

mod alarm;
mod calls;
mod driver;
mod driver_waker;
mod exchanged;
mod frame;
mod job;
pub(crate) mod oneshot;
mod outbound;
mod pending_request;
mod pending_responses;
mod progress;
mod runner;
mod shared;
mod signal;
mod turn;

pub(crate) use self::calls::{Effect, Role};
pub(crate) use self::driver::Driver;
pub(crate) use self::driver_waker::{DriverWaker, JobWaker};
pub(crate) use self::exchanged::Exchanged;
pub(crate) use self::frame::Text;
pub(crate) use self::frame::{Frame, keep};
pub use self::job::{Answered, Job};
pub(crate) use self::job::{discard, guarded};
pub(crate) use self::outbound::Outbound;
pub(crate) use self::pending_request::PendingRequest;
pub(crate) use self::pending_responses::{Arrival, Gone, PendingResponses, is_marked};
pub use self::progress::Progress;
pub(crate) use self::runner::{blocking, spawned};
pub(crate) use self::shared::{Core, Nothing, Respond, RoleState, Shared};
pub(crate) use self::signal::{Notified, Notify, Signal, Wait};
pub(crate) use self::turn::{Work, Worked, poll_work};
