//! Tasks that a server offers.
//!
//! [`ServerBuilder::tasks`](crate::server::ServerBuilder::tasks) takes a [`Tasks`], and a tool says by
//! [`Tool::task`](crate::server::Tool::task) that its calls may become tasks.

mod asked;
mod builder;
mod calls;
mod create;
mod end;
mod engine;
mod kept;
mod legacy;
mod listen;
mod methods;
mod policy;
mod polls;
mod run;
mod runs;
mod settings;
mod shown;
mod sweep;

pub use self::policy::TaskPolicy;
pub use self::settings::Tasks;
use super::time;
