//! The work of a process for the others that share its sessions.
//!
//! ```text
//! forwarded    answers a request of another process
//! changes      changes of lists and resources, from and to the others
//! renewal      starts the tasks of a process, and renews its lease
//! background   the end of these tasks, and their failures
//! ```

mod background;
mod changes;
mod forwarded;
mod renewal;

pub(super) use self::renewal::start;
