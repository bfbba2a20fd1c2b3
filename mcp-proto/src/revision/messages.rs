//! The methods of a revision, and who may send them.

use super::{Revision, RevisionSet};
use crate::rpc::Method;

/// A side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that opens the conversation.
    Client,
    /// The side that has tools, resources and prompts.
    Server,
}

impl Side {
    /// The other side.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Returns true if a message of this method may be sent by this side in this revision, as request
/// or as notification, whichever the method is.
///
/// The questions of a multi-round request are not messages: they travel inside of a result. The
/// capabilities that the peer must have declared are not checked here.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::revision::messages::{Side, allowed};
/// use mcp_proto::rpc::Method;
///
/// assert!(allowed(Method::Ping, Side::Server, Revision::V2025_11_25));
/// assert!(!allowed(Method::Ping, Side::Server, Revision::V2026_07_28));
/// assert!(!allowed(Method::RootsList, Side::Client, Revision::V2025_11_25));
/// ```
pub const fn allowed(method: Method<'_>, sender: Side, revision: Revision) -> bool {
    senders(method, sender).contains(revision)
}

/// Returns true if any revision lets this side send this method.
pub const fn known(method: Method<'_>, sender: Side) -> bool {
    !senders(method, sender).is_empty()
}

/// Returns true if the method is that of a notification; `false` for an unknown method.
pub const fn is_notification(method: Method<'_>) -> bool {
    method.facts().is_notification()
}

/// The revisions in which a side may send a method; empty for an unknown method.
pub const fn senders(method: Method<'_>, sender: Side) -> RevisionSet {
    let facts = method.facts();
    match sender {
        Side::Client => facts.client,
        Side::Server => facts.server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::*;

    const NONE: RevisionSet = RevisionSet::EMPTY;
    const ALL: RevisionSet = RevisionSet::of(&Revision::ALL);
    const LEGACY: RevisionSet = RevisionSet::legacy().with(DraftV1);

    #[test]
    fn senders_by_revision() {
        fn check(method: Method<'_>, client: RevisionSet, server: RevisionSet) {
            assert_eq!(senders(method, Side::Client), client, "{method:?}");
            assert_eq!(senders(method, Side::Server), server, "{method:?}");
        }
        let tasks = RevisionSet::of(&[V2025_11_25, DraftV1]);
        check(Method::Ping, LEGACY, LEGACY);
        check(Method::ToolsCall, ALL, NONE);
        check(
            Method::ServerDiscover,
            RevisionSet::of(&[V2026_07_28]),
            NONE,
        );
        check(Method::TasksGet, tasks.with(V2026_07_28), tasks);
        check(Method::Progress, LEGACY, ALL);
        check(Method::Cancelled, ALL, ALL);
        check(Method::ElicitationCreate, NONE, tasks.with(V2025_06_18));
        check(Method::ElicitationComplete, NONE, tasks);
        check(Method::CancelRequest, NONE, NONE);
        check(Method::from("Ping"), NONE, NONE);
    }

    #[test]
    fn modern_servers_never_request() {
        for method in [
            Method::Ping,
            Method::RootsList,
            Method::SamplingCreateMessage,
            Method::ElicitationCreate,
            Method::TasksGet,
        ] {
            assert!(!allowed(method, Side::Server, V2026_07_28), "{method:?}");
        }
    }

    #[test]
    fn notifications_are_called_so() {
        for name in [
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/roots/list_changed",
            "notifications/elicitation/complete",
            "notifications/tasks/status",
            "notifications/tasks",
            "notifications/subscriptions/acknowledged",
            "$/cancelRequest",
        ] {
            assert!(is_notification(Method::from(name)), "{name}");
        }
        for name in ["ping", "tools/call", "tasks/get", "notifications/of/others"] {
            assert!(!is_notification(Method::from(name)), "{name}");
        }
    }
}
