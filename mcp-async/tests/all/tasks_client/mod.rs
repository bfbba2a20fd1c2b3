//! Extensions and tasks of a client, against a server by script.

mod endings;
mod extensions;
mod following;
mod handles;
mod listening;
mod support;
