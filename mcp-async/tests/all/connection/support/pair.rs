//! A client, and the server of the demo.

use core::ops::Deref;
use std::sync::Arc;

use mcp_async::server::BoxService;
use mcp_proto::client::ClientConfig;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Limits, Revision, RevisionSet};

use super::{Demo, Watch};
use crate::joined::Joined;

pub(crate) struct Pair {
    pub(crate) joined: Joined,
    pub(crate) watch: Arc<Watch>,
}

/// How a pair is set up.
pub(crate) struct Setup {
    pub(crate) revisions: RevisionSet,
    pub(crate) served: RevisionSet,
    pub(crate) capacity: usize,
    pub(crate) chop: usize,
    pub(crate) limits: Limits,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            revisions: RevisionSet::all(),
            served: RevisionSet::all(),
            capacity: 1 << 16,
            chop: usize::MAX,
            limits: Limits::default(),
        }
    }
}

impl Setup {
    /// A client of this revision.
    pub(crate) fn only(revision: Revision) -> Self {
        Self {
            revisions: RevisionSet::of(&[revision]),
            ..Self::default()
        }
    }

    pub(crate) fn join(self) -> Pair {
        let features = ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .with(ServerFeatures::LOGGING);
        let server = ServerConfig {
            capabilities: features.capabilities(),
            revisions: self.served,
            limits: self.limits,
            ..ServerConfig::new("demo", "1")
        };
        let demo = Demo::default();
        let watch = Arc::clone(&demo.0);
        let demo: BoxService = Box::new(demo);
        let client = ClientConfig {
            revisions: self.revisions,
            capabilities: ClientFeatures::ELICITATION_FORM.capabilities(),
            limits: self.limits,
            ..ClientConfig::new("test", "0")
        };
        Pair {
            joined: Joined::new(client, server, demo, (self.capacity, self.chop)),
            watch,
        }
    }
}

impl Deref for Pair {
    type Target = Joined;

    fn deref(&self) -> &Joined {
        &self.joined
    }
}
