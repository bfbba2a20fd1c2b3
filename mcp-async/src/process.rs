//! Servers as child processes, which never outlive this program.
//!
//! [`Command`] describes the program. [`Command::spawn`] starts it in a new process group (on Windows
//! in a new job) and returns a [`Process`]: the two halves of the stream and the [`Child`].
//! [`Command::connect`] returns a [`Peer`](crate::client::Peer) and a [`Session`], which ends the
//! child when the client is done.
//!
//! # What happens to the processes
//!
//! | when | Unix | Windows |
//! |---|---|---|
//! | [`Child::shutdown`] | its input closed, [`Grace::close`], `SIGTERM` to the group, [`Grace::terminate`], `SIGKILL` to the group | its input closed, [`Grace::close`], the job is terminated: there is no `SIGTERM` |
//! | [`Child`] dropped, also by a panic | `SIGKILL` to the group | the job is terminated |
//! | this program ends without that: `SIGKILL`, Ctrl-C without a handler, abort, `exit` | the [watchdog](Command::watchdog) sees it and goes through the order of a shutdown | the operating system terminates the job |
//!
//! A group or job includes what the child started: the server behind `npx`, `uvx` or a shell.
//! Out of reach is a descendant that left the group on purpose (`setsid`, `setpgid`; on Windows
//! a job that allows breaking away, which ours does not).
//!
//! The terminal's Ctrl-C reaches this program only, never the child, so that a shutdown can be
//! orderly.

#[cfg(feature = "client")]
pub use crate::client::session::child_session::{Ending, Session};
pub use crate::io::process::{Child, Command, ExitedEarly, Grace, Process, inherited};
