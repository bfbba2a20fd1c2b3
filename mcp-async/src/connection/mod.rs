//! One connection: the future that reads, writes and runs the calls, and the state that its handles
//! share with it. The role is a parameter.

mod alarm;
mod calls;
mod driver;
#[cfg(any(feature = "http-server", feature = "http-client"))]
mod exchanged;
mod frame;
mod job;
mod outbound;
mod places;
mod progress;
mod seat;
mod shared;
mod turn;

#[cfg(feature = "http-client")]
pub(crate) use self::alarm::{Alarm, JobWaker};
pub(crate) use self::calls::{Effect, Role};
pub(crate) use self::driver::Driver;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::exchanged::Exchanged;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::frame::Text;
pub(crate) use self::frame::{Frame, keep};
pub(crate) use self::job::discard;
pub use self::job::{Answered, Job};
pub(crate) use self::outbound::Outbound;
pub(crate) use self::outbound::{Pipe, Receipt};
pub(crate) use self::places::{Arrival, Places};
pub use self::progress::Progress;
pub(crate) use self::seat::Seat;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::shared::Core;
#[cfg(feature = "http-server")]
pub(crate) use self::shared::register;
pub(crate) use self::shared::{Beside, Nothing, Respond, Shared};
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub(crate) use self::turn::{Work, Worked, poll_work};
