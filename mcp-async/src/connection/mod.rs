//! One connection: the future that reads, writes and runs the calls, and the state that its
//! handles share with it. A role is a parameter.

mod alarm;
mod calls;
mod driver;
mod job;
mod places;
mod seat;
mod shared;

#[cfg(all(feature = "client", feature = "http"))]
pub(crate) use self::alarm::{Alarm, JobWaker};
#[cfg(all(feature = "server", feature = "http"))]
pub(crate) use self::calls::Calls;
pub(crate) use self::calls::{Effect, Frame, Role};
pub(crate) use self::driver::Driver;
#[cfg(all(feature = "server", feature = "http"))]
pub(crate) use self::driver::LARGE;
pub(crate) use self::job::discard;
pub use self::job::{Answered, Job};
pub(crate) use self::places::{Arrival, Places, keep};
pub(crate) use self::seat::Seat;
pub(crate) use self::shared::{Beside, Nothing, Pipe, Receipt, Respond, Shared, Transport};
#[cfg(all(feature = "server", feature = "http"))]
pub(crate) use self::shared::{Core, Exit};
