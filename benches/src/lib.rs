//! The inputs of every bench, and this library's work on them: its peers are in a package of their own, so that what is counted of
//! this library is compiled without them.

pub mod arguments;
pub mod calls;
pub mod corpus;
pub mod encode;
pub mod events;
pub mod in_flight;
pub mod inputs;
pub mod lines;
pub mod messages;
mod run;

pub use run::Run;
