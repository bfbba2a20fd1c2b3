//! Child processes, which never outlive this program.

mod child;
mod command;
mod environment;
#[cfg(unix)]
mod group;
#[cfg(windows)]
#[path = "job.rs"]
mod group;
mod stderr;
mod waiter;
#[cfg(unix)]
mod watchdog;

pub use child::{Child, ExitedEarly, Grace, Process};
pub use command::Command;
pub use environment::inherited;

use crate::io::stdio::{Input, Output};

/// The parent's ends of the child's standard streams.
struct Pipes {
    stdin: Output,
    stdout: Input,
    stderr: Input,
}
