//! Which methods a revision has, and who may send them.

use super::{Revision, RevisionSet};

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

/// Whether a message of this method may be sent by this side in this revision, as request or
/// as notification, whichever the method is.
///
/// The questions of a multi-round request are none: they travel inside of a result. What the
/// peer must have declared besides is the capabilities' affair.
///
/// ```
/// use mcp_proto::revision::{messages::{allowed, Side}, Revision};
///
/// assert!(allowed("ping", Side::Server, Revision::V2025_11_25));
/// assert!(!allowed("ping", Side::Server, Revision::V2026_07_28));
/// assert!(!allowed("roots/list", Side::Client, Revision::V2025_11_25));
/// ```
pub fn allowed(method: &str, sender: Side, revision: Revision) -> bool {
    senders(method, sender).contains(revision)
}

/// Whether any revision lets this side send this method.
pub fn known(method: &str, sender: Side) -> bool {
    !senders(method, sender).is_empty()
}

/// The revisions in which a side may send a method; none for an unknown method.
pub fn senders(method: &str, sender: Side) -> RevisionSet {
    let (client, server) = match method {
        "initialize"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "logging/setLevel"
        | "notifications/initialized"
        | "notifications/roots/list_changed" => (LEGACY, NONE),
        "ping" => (LEGACY, LEGACY),
        "tools/list"
        | "tools/call"
        | "resources/list"
        | "resources/templates/list"
        | "resources/read"
        | "prompts/list"
        | "prompts/get"
        | "completion/complete" => (ALL, NONE),
        "server/discover" | "subscriptions/listen" | "tasks/update" => (MODERN, NONE),
        "roots/list" | "sampling/createMessage" => (NONE, LEGACY),
        "elicitation/create" => (NONE, ELICITATION),
        "tasks/get" | "tasks/cancel" => (TASKS.or(MODERN), TASKS),
        "tasks/result" | "tasks/list" | "notifications/tasks/status" => (TASKS, TASKS),
        "notifications/cancelled" => (ALL, ALL),
        "notifications/progress" => (LEGACY, ALL),
        "notifications/message"
        | "notifications/tools/list_changed"
        | "notifications/prompts/list_changed"
        | "notifications/resources/list_changed"
        | "notifications/resources/updated" => (NONE, ALL),
        "notifications/elicitation/complete" => (NONE, TASKS),
        "notifications/subscriptions/acknowledged" | "notifications/tasks" => (NONE, MODERN),
        _ => (NONE, NONE),
    };
    match sender {
        Side::Client => client,
        Side::Server => server,
    }
}

const NONE: RevisionSet = RevisionSet::EMPTY;
const ALL: RevisionSet = RevisionSet::of(&Revision::ALL);
const LEGACY: RevisionSet = RevisionSet::legacy().with(Revision::DraftV1);
const MODERN: RevisionSet = RevisionSet::modern();
/// Tasks of the core, and what else came and went with 2025-11-25.
const TASKS: RevisionSet = RevisionSet::of(&[Revision::V2025_11_25, Revision::DraftV1]);
const ELICITATION: RevisionSet = TASKS.with(Revision::V2025_06_18);

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::*;

    #[test]
    fn senders_by_revision() {
        fn check(method: &str, client: RevisionSet, server: RevisionSet) {
            assert_eq!(senders(method, Side::Client), client, "{method}");
            assert_eq!(senders(method, Side::Server), server, "{method}");
        }
        check("ping", LEGACY, LEGACY);
        check("tools/call", ALL, NONE);
        check("server/discover", RevisionSet::of(&[V2026_07_28]), NONE);
        check(
            "tasks/get",
            RevisionSet::of(&[V2025_11_25, DraftV1, V2026_07_28]),
            TASKS,
        );
        check("notifications/progress", LEGACY, ALL);
        check("notifications/cancelled", ALL, ALL);
        check(
            "elicitation/create",
            NONE,
            RevisionSet::of(&[V2025_06_18, V2025_11_25, DraftV1]),
        );
        check("$/cancelRequest", NONE, NONE);
        check("Ping", NONE, NONE);
    }

    #[test]
    fn modern_servers_never_request() {
        for method in [
            "ping",
            "roots/list",
            "sampling/createMessage",
            "elicitation/create",
            "tasks/get",
        ] {
            assert!(!allowed(method, Side::Server, V2026_07_28), "{method}");
        }
    }
}
