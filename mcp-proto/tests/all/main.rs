//! The tests of the crate, in one program: they link what they share once.

mod absent_tables;
mod allocations;
mod bounds;
mod client;
mod event_stream;
mod first_server;
mod foreign_tokens;
mod framing;
mod golden;
mod http;
mod http_client;
mod http_driver;
mod http_heads;
mod http_server;
mod joined;
mod json_decoders;
mod json_grammar;
mod json_serde;
mod json_twins;
mod members;
mod messages;
mod mistakes;
mod model;
mod needed;
mod one_era;
mod raw_peers;
mod script;
mod server;
mod shared_texts;
#[cfg(feature = "alloc")]
mod states;
mod streams;
