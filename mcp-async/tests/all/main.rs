//! The tests of the crate, in one program: they link what they share once.
//!
//! A test plays one side by script, or joins both. Scripts write and read lines on a pipe
//! (`line_peer`, as a client with `line_client`, as a server with `line_server`), or requests and
//! responses of HTTP (`http_server::support`, `client_http::site`). Both sides are joined in memory
//! by `joined` and `client_typed::support`. Everything runs in `sim`: on one thread and a virtual
//! clock, with choices that a seed repeats.

mod adapters_alike;
mod attack;
mod authorization;
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
mod line_client;
mod line_peer;
mod line_server;
mod model;
mod protection;
mod rounds;
mod schema;
mod seen;
mod server_typed;
mod sim;
mod task_stores;
mod tasks;
mod tasks_client;
mod texts;
mod uri_template;
