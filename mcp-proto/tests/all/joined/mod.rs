//! A client and a server of ours joined in memory on one virtual clock, in every revision: no
//! sockets, no threads, no waiting. The same applications talk over pipes that rest or break at
//! every byte, and over HTTP whose streams break at every byte.

#![cfg(feature = "alloc")]

mod app;
mod browser;
mod interleavings;
mod net;
mod on_pipes;
mod over_http;
mod site;

use core::iter::StepBy;
use core::ops::Range;
use core::time::Duration;

use mcp_proto::client::ClientConfig;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Instant, Revision, RevisionSet};

use crate::script::messages::raw;

const START: Instant = Instant::from_millis(1_000);
const DAY: Duration = Duration::from_secs(86_400);

fn only(revision: Revision) -> RevisionSet {
    RevisionSet::of(&[revision])
}

/// Places of a conversation at which it breaks: every one in the newest revision of each era, every third in the others, which
/// differ little; each of these has its own third.
fn places(revision: Revision, len: usize) -> StepBy<Range<usize>> {
    match revision {
        Revision::V2025_11_25 | Revision::V2026_07_28 => (0..len).step_by(1),
        other => (other as usize % 3..len).step_by(3),
    }
}

fn server_config(revisions: RevisionSet) -> ServerConfig<'static> {
    ServerConfig {
        revisions,
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .capabilities(),
        ..ServerConfig::new("server", "1")
    }
}

fn client_config(revisions: RevisionSet) -> ClientConfig<'static> {
    ClientConfig {
        revisions,
        capabilities: ClientFeatures::ELICITATION
            .with(ClientFeatures::ROOTS)
            .capabilities(),
        ..ClientConfig::new("client", "1")
    }
}
