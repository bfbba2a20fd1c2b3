//! One connection: the future that reads, writes and runs the calls, and the state that its handles
//! share with it. The role is a parameter.

mod alarm;
mod calls;
mod driver;
mod driver_waker;
#[cfg(any(feature = "http-server", feature = "http-client"))]
mod exchanged;
mod frame;
mod job;
#[cfg(feature = "server")]
mod notify;
mod outbound;
mod pending_request;
mod pending_responses;
mod progress;
mod shared;
#[cfg(any(feature = "server", feature = "client"))]
mod signal;
mod turn;

pub(crate) use self::calls::{Effect, Role};
pub(crate) use self::driver::Driver;
#[cfg(feature = "http-client")]
pub(crate) use self::driver_waker::{DriverWaker, JobWaker};
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::exchanged::Exchanged;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::frame::Text;
pub(crate) use self::frame::{Frame, keep};
pub(crate) use self::job::discard;
pub use self::job::{Answered, Job};
#[cfg(feature = "http-server")]
pub(crate) use self::notify::Notified;
#[cfg(feature = "server")]
pub(crate) use self::notify::Notify;
#[cfg(not(all(feature = "http-server", feature = "http-client")))]
pub(crate) use self::outbound::NoOutbound;
pub(crate) use self::outbound::Outbound;
pub(crate) use self::pending_request::PendingRequest;
pub(crate) use self::pending_responses::{Arrival, Gone, PendingResponses, is_marked};
pub use self::progress::Progress;
#[cfg(feature = "http-server")]
pub(crate) use self::shared::Core;
pub(crate) use self::shared::register;
pub(crate) use self::shared::{Nothing, Respond, RoleState, Shared};
#[cfg(any(feature = "server", feature = "client"))]
pub(crate) use self::signal::Signal;
#[cfg(feature = "http-server")]
pub(crate) use self::signal::Wait;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::turn::{Work, Worked, poll_work};
