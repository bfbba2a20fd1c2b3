//! Whole conversations of typed servers and clients, compared with recorded transcripts byte by
//! byte.
//!
//! The form of scripts and transcripts is that of the core's (`mcp-proto/tests/all/golden`). A
//! typed client cannot be driven by lines of text: what it does is written in Rust, against our
//! own server, and what passes between the two is written down.
//!
//! What is random is named instead: session ids, the tokens of two endpoints, the ids of pages.
//!
//! After an intended change, `GOLDEN=write cargo test -p mcp-async --all-features golden` records
//! the transcripts anew.

#[path = "../../../../mcp-proto/tests/all/http/head.rs"]
mod head;
#[path = "../../../../mcp-proto/tests/all/golden/heads.rs"]
mod heads;
mod joined;
mod names;
#[path = "../../../../mcp-proto/tests/all/golden/peer.rs"]
mod peer;
#[path = "../../../../mcp-proto/tests/all/golden/script.rs"]
mod script;
mod served;
mod server_http;
mod server_pipe;
mod tape;
#[path = "../../../../mcp-proto/tests/all/golden/transcript.rs"]
mod transcript;

use mcp_proto::Revision;

use crate::scripted::short;

use self::head::Sent;
use self::joined::Transport;
use self::script::Driver;
use self::transcript::Transcript;

const ALL: [(char, Revision); 6] = [
    ('1', Revision::V2024_11_05),
    ('2', Revision::V2025_03_26),
    ('3', Revision::V2025_06_18),
    ('4', Revision::V2025_11_25),
    ('D', Revision::DraftV1),
    ('5', Revision::V2026_07_28),
];

/// Compares what is written down in each revision.
fn check(name: &str, write: impl Fn(Revision, &mut Transcript)) {
    let all = ALL.map(|(letter, revision)| {
        let mut transcript = Transcript::default();
        write(revision, &mut transcript);
        crate::sim::end();
        (letter, revision.as_str(), transcript)
    });
    transcript::check(name, &transcript::merge(&all));
}

fn play<P: Driver>(transport: &str, script: &str) {
    check(
        &format!("server-{transport}.txt"),
        |revision, transcript| {
            script::play::<P>(script, transport, revision, transcript);
        },
    );
}

#[test]
fn typed_servers_on_pipes() {
    play::<server_pipe::Pipe>("pipe", include_str!("../../golden/server-pipe.script"));
}

#[test]
fn typed_servers_over_http() {
    play::<server_http::Site>("http", include_str!("../../golden/server-http.script"));
}

#[test]
fn typed_clients_on_pipes() {
    check("client-pipe.txt", |revision, transcript| {
        joined::play(Transport::Pipe, revision, transcript);
    });
}

#[test]
fn typed_clients_over_http() {
    check("client-http.txt", |revision, transcript| {
        joined::play(Transport::Http, revision, transcript);
    });
}
