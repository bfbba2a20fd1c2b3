//! Whole conversations, compared with recorded transcripts byte by byte.
//!
//! The scripts and the transcripts are in `tests/golden`. Each script is played once for each
//! revision, and one transcript shows all of them: a line begins with the letters of the
//! revisions that it is for, whose own names are written `REVISION` in it.
//!
//! | 1 | 2 | 3 | 4 | D | 5 |
//! |---|---|---|---|---|---|
//! | 2024-11-05 | 2025-03-26 | 2025-06-18 | 2025-11-25 | DRAFT-2026-v1 | 2026-07-28 |
//!
//! The marks are those of [`crate::script`], with these in addition:
//!
//! ```text
//! # heading          a scenario; each begins with a new connection
//! . answer first {}  a command of the application
//! ```
//!
//! Over HTTP, heads have the same marks; the fields that every request has are left out. A
//! number after the mark names a response that came later or in parts, a label an exchange of a client.
//!
//! After an intended change, `GOLDEN=write cargo test -p mcp-proto --all-features golden` records
//! the transcripts anew.

#![cfg(feature = "alloc")]

mod client;
mod client_http;
mod client_pipe;
mod heads;
mod peer;
mod pipe;
mod script;
mod server;
mod server_http;
mod server_pipe;
mod text;
mod transcript;

use mcp_proto::{Revision, RevisionSet};

use self::script::Driver;
use self::transcript::Transcript;
use crate::http::Sent;
use crate::script::short;

const ALL: [(char, Revision); 6] = [
    ('1', Revision::V2024_11_05),
    ('2', Revision::V2025_03_26),
    ('3', Revision::V2025_06_18),
    ('4', Revision::V2025_11_25),
    ('D', Revision::DraftV1),
    ('5', Revision::V2026_07_28),
];

/// Plays the scripts in each revision.
fn check<P: Driver>(role: &str, transport: &str, scripts: &[&str]) {
    let all = ALL.map(|(letter, revision)| {
        let mut transcript = Transcript::default();
        for script in scripts {
            script::play::<P>(script, transport, revision, &mut transcript);
        }
        (letter, revision.as_str(), transcript)
    });
    transcript::check(&format!("{role}-{transport}.txt"), &transcript::merge(&all));
}

/// What a server accepts when its clients choose the revision.
fn every_revision() -> RevisionSet {
    RevisionSet::all().with(Revision::DraftV1)
}

const SERVER: &str = include_str!("../../golden/server.script");

#[test]
fn servers_on_pipes() {
    let scripts = [SERVER, include_str!("../../golden/server-pipe.script")];
    check::<pipe::Pipe<server_pipe::RecordedServer>>("server", "pipe", &scripts);
}

#[test]
fn servers_over_http() {
    let scripts = [SERVER, include_str!("../../golden/server-http.script")];
    check::<server_http::Site>("server", "http", &scripts);
}

const CLIENT: &str = include_str!("../../golden/client.script");

#[test]
fn clients_on_pipes() {
    let scripts = [CLIENT, include_str!("../../golden/client-pipe.script")];
    check::<pipe::Pipe<client_pipe::RecordedClient>>("client", "pipe", &scripts);
}

#[test]
fn clients_over_http() {
    let scripts = [CLIENT, include_str!("../../golden/client-http.script")];
    check::<client_http::Browser>("client", "http", &scripts);
}
