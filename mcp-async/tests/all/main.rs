//! The tests of the crate, in one program: they link what they share once. They need all features.
//!
//! A test plays one side by script, with the peers of `scripted`, or joins both sides in memory, by
//! `joined` and `client_typed::support`. Everything runs in `sim`: on one thread and a virtual
//! clock, with choices that a seed repeats.

mod adapters_alike;
mod attack;
mod authorization;
mod block_on;
mod chopped;
mod client_http;
mod client_typed;
mod connection;
mod delegated_login;
mod errors;
mod extensions;
mod golden;
mod http_server;
mod joined;
mod model;
mod protection;
mod rounds;
mod running;
mod schema;
mod scripted;
mod seen;
mod server_typed;
mod settings;
mod sim;
mod task_stores;
mod tasks;
mod tasks_client;
mod test_file;
mod texts;
mod uri_template;
