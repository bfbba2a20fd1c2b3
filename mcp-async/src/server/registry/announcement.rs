//! Changes of a server that its clients are notified of, for the other processes of the server.

use mcp_proto::server::ListKind;
use serde::{Deserialize, Serialize};

/// A change that was reported in one process. With `principal` it concerns the clients of that name
/// only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Announcement {
    List {
        list: List,
        principal: Option<String>,
    },
    Resource {
        uri: String,
        principal: Option<String>,
    },
}

/// A list that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
}

/// Called with each change that is reported in this process.
pub(crate) type OnAnnouncement = Box<dyn Fn(&Announcement) + Send + Sync>;

impl Announcement {
    pub(in crate::server) fn list(kind: ListKind, principal: Option<&str>) -> Self {
        Self::List {
            list: match kind {
                ListKind::Tools => List::Tools,
                ListKind::Prompts => List::Prompts,
                ListKind::Resources => List::Resources,
            },
            principal: principal.map(str::to_owned),
        }
    }
}

impl List {
    pub(in crate::server) const fn kind(self) -> ListKind {
        match self {
            Self::Tools => ListKind::Tools,
            Self::Prompts => ListKind::Prompts,
            Self::Resources => ListKind::Resources,
        }
    }
}
