//! The tests of the crate, in one program: they link what they share once.

mod adapters_alike;
mod attack;
mod authorization;
mod client_http;
mod client_typed;
mod connection;
mod errors;
mod extensions;
mod golden;
mod http_server;
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
