//! The table of methods: one row holds all facts of a method.
//!
//! A method is added by its row, which the enum [`Method`](super::Method) and its names come from
//! as well. A row has no defaults, so the compiler names each fact that a new one leaves out.

use crate::features::{ClientFeatures, ServerFeatures};
use crate::revision::{Revision, RevisionSet};

/// Passes the rows to the macro that is named: the variant of [`Method`](super::Method) with its
/// documentation, the name on the wire, and the facts.
macro_rules! for_each_method {
    ($then:ident) => {
        $then! {
            /// `initialize`: opens a legacy session.
            Initialize = "initialize" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: CLIENT, answer: PLAIN,
            },
            /// `ping`: is the peer alive? Until 2025-11-25.
            Ping = "ping" => MethodFacts {
                client: LEGACY, server: LEGACY,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `server/discover`: what a server is and speaks; 2026-07-28.
            ServerDiscover = "server/discover" => MethodFacts {
                client: MODERN, server: NEVER,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `tools/list`: a page of tools.
            ToolsList = "tools/list" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::TOOLS, client_declares: NONE,
                params: Params::Cursor, name_header: NEVER,
                own_command: NEITHER, answer: CACHEABLE,
            },
            /// `tools/call`: runs a tool.
            ToolsCall = "tools/call" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::TOOLS, client_declares: NONE,
                params: Params::Name, name_header: SINCE_DRAFT,
                own_command: NEITHER, answer: ASKING,
            },
            /// `resources/list`: a page of resources.
            ResourcesList = "resources/list" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::RESOURCES, client_declares: NONE,
                params: Params::Cursor, name_header: NEVER,
                own_command: NEITHER, answer: CACHEABLE,
            },
            /// `resources/templates/list`: a page of resource templates.
            ResourcesTemplatesList = "resources/templates/list" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::RESOURCES, client_declares: NONE,
                params: Params::Cursor, name_header: NEVER,
                own_command: NEITHER, answer: CACHEABLE,
            },
            /// `resources/read`: the contents of a resource.
            ResourcesRead = "resources/read" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::RESOURCES, client_declares: NONE,
                params: Params::Uri, name_header: SINCE_DRAFT,
                own_command: NEITHER, answer: CACHEABLE_ASKING,
            },
            /// `resources/subscribe`: asks for updates of a resource; until 2025-11-25.
            ResourcesSubscribe = "resources/subscribe" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: ServerFeatures::RESOURCES_SUBSCRIBE, client_declares: NONE,
                params: Params::Uri, name_header: NEVER,
                own_command: NEITHER, answer: SUBSCRIBING,
            },
            /// `resources/unsubscribe`: ends such a subscription; until 2025-11-25.
            ResourcesUnsubscribe = "resources/unsubscribe" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: ServerFeatures::RESOURCES_SUBSCRIBE, client_declares: NONE,
                params: Params::Uri, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `prompts/list`: a page of prompts.
            PromptsList = "prompts/list" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::PROMPTS, client_declares: NONE,
                params: Params::Cursor, name_header: NEVER,
                own_command: NEITHER, answer: CACHEABLE,
            },
            /// `prompts/get`: a prompt with its arguments filled in.
            PromptsGet = "prompts/get" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::PROMPTS, client_declares: NONE,
                params: Params::Name, name_header: SINCE_DRAFT,
                own_command: NEITHER, answer: ASKING,
            },
            /// `completion/complete`: suggestions for an argument.
            CompletionComplete = "completion/complete" => MethodFacts {
                client: ALL, server: NEVER,
                server_declares: ServerFeatures::COMPLETIONS, client_declares: NONE,
                params: Params::Reference, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `logging/setLevel`: the least severe log message to send; until 2025-11-25.
            LoggingSetLevel = "logging/setLevel" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: ServerFeatures::LOGGING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: SETTING,
            },
            /// `subscriptions/listen`: a standing request for notifications; 2026-07-28.
            SubscriptionsListen = "subscriptions/listen" => MethodFacts {
                client: MODERN, server: NEVER,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: LAST,
            },
            /// `roots/list`: the server asks for the client's roots.
            RootsList = "roots/list" => MethodFacts {
                client: NEVER, server: LEGACY,
                server_declares: NOTHING, client_declares: ClientFeatures::ROOTS,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: INPUT,
            },
            /// `sampling/createMessage`: the server asks for a completion of the client's model.
            SamplingCreateMessage = "sampling/createMessage" => MethodFacts {
                client: NEVER, server: LEGACY,
                server_declares: NOTHING, client_declares: ClientFeatures::SAMPLING,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: INPUT,
            },
            /// `elicitation/create`: the server asks the user; since 2025-06-18.
            ElicitationCreate = "elicitation/create" => MethodFacts {
                client: NEVER, server: ELICITATION,
                server_declares: NOTHING, client_declares: ANY_ELICITATION,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: INPUT,
            },
            /// `tasks/get`: the state of a task; 2025-11-25 and the extension.
            TasksGet = "tasks/get" => MethodFacts {
                client: TASKS.or(MODERN), server: TASKS,
                server_declares: ServerFeatures::TASKS.with(ServerFeatures::TASKS_EXTENSION),
                client_declares: ClientFeatures::TASKS.with(ClientFeatures::TASKS_EXTENSION),
                params: Params::TaskId, name_header: MODERN,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `tasks/result`: what the request behind a task returned; 2025-11-25.
            TasksResult = "tasks/result" => MethodFacts {
                client: TASKS, server: TASKS,
                server_declares: ServerFeatures::TASKS, client_declares: ClientFeatures::TASKS,
                params: Params::TaskId, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `tasks/list`: a page of tasks; 2025-11-25.
            TasksList = "tasks/list" => MethodFacts {
                client: TASKS, server: TASKS,
                server_declares: ServerFeatures::TASKS_LIST,
                client_declares: ClientFeatures::TASKS_LIST,
                params: Params::Cursor, name_header: NEVER,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `tasks/cancel`: ends a task; 2025-11-25 and the extension.
            TasksCancel = "tasks/cancel" => MethodFacts {
                client: TASKS.or(MODERN), server: TASKS,
                server_declares: ServerFeatures::TASKS_CANCEL
                    .with(ServerFeatures::TASKS_EXTENSION),
                client_declares: ClientFeatures::TASKS_CANCEL
                    .with(ClientFeatures::TASKS_EXTENSION),
                params: Params::TaskId, name_header: MODERN,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `tasks/update`: answers for a task that waits for input; the extension.
            TasksUpdate = "tasks/update" => MethodFacts {
                client: MODERN, server: NEVER,
                server_declares: ServerFeatures::TASKS_EXTENSION,
                client_declares: ClientFeatures::TASKS_EXTENSION,
                params: Params::TaskId, name_header: MODERN,
                own_command: NEITHER, answer: PLAIN,
            },
            /// `notifications/initialized`: the client is ready; until 2025-11-25.
            Initialized = "notifications/initialized" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: CLIENT, answer: None,
            },
            /// `notifications/cancelled`: the sender gave up on a request.
            Cancelled = "notifications/cancelled" => MethodFacts {
                client: ALL, server: ALL,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: BOTH, answer: None,
            },
            /// `notifications/progress`: how far a request is.
            Progress = "notifications/progress" => MethodFacts {
                client: LEGACY, server: ALL,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/message`: a log message.
            Message = "notifications/message" => MethodFacts {
                client: NEVER, server: ALL,
                server_declares: ServerFeatures::LOGGING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/tools/list_changed`.
            ToolsListChanged = "notifications/tools/list_changed" => MethodFacts {
                client: NEVER, server: ALL,
                server_declares: ServerFeatures::TOOLS_LIST_CHANGED, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/prompts/list_changed`.
            PromptsListChanged = "notifications/prompts/list_changed" => MethodFacts {
                client: NEVER, server: ALL,
                server_declares: ServerFeatures::PROMPTS_LIST_CHANGED, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/resources/list_changed`.
            ResourcesListChanged = "notifications/resources/list_changed" => MethodFacts {
                client: NEVER, server: ALL,
                server_declares: ServerFeatures::RESOURCES_LIST_CHANGED, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/resources/updated`: a resource, or one below it, changed.
            ResourcesUpdated = "notifications/resources/updated" => MethodFacts {
                client: NEVER, server: ALL,
                server_declares: ServerFeatures::RESOURCES_SUBSCRIBE, client_declares: NONE,
                params: Params::Uri, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `notifications/roots/list_changed`; until 2025-11-25.
            RootsListChanged = "notifications/roots/list_changed" => MethodFacts {
                client: LEGACY, server: NEVER,
                server_declares: NOTHING, client_declares: ClientFeatures::ROOTS_LIST_CHANGED,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: None,
            },
            /// `notifications/elicitation/complete`: a form behind a URL was filled in; 2025-11-25.
            ElicitationComplete = "notifications/elicitation/complete" => MethodFacts {
                client: NEVER, server: TASKS,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::ElicitationId, name_header: NEVER,
                own_command: NEITHER, answer: None,
            },
            /// `notifications/tasks/status`: a task changed its state; 2025-11-25.
            TasksStatus = "notifications/tasks/status" => MethodFacts {
                client: TASKS, server: TASKS,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: None,
            },
            /// `notifications/tasks`: a task changed its state; the extension.
            Tasks = "notifications/tasks" => MethodFacts {
                client: NEVER, server: MODERN,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: None,
            },
            /// `notifications/subscriptions/acknowledged`: a listen began; 2026-07-28.
            SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged" => MethodFacts {
                client: NEVER, server: MODERN,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: SERVER, answer: None,
            },
            /// `$/cancelRequest`: not of MCP; some peers took it over from the Language Server Protocol.
            CancelRequest = "$/cancelRequest" => MethodFacts {
                client: NEVER, server: NEVER,
                server_declares: NOTHING, client_declares: NONE,
                params: Params::Other, name_header: NEVER,
                own_command: NEITHER, answer: None,
            },
        }
    };
}

pub(super) use for_each_method;

macro_rules! rows {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $facts:expr,)*) => {
        &[$($facts,)*]
    };
}

/// The rows, in the order of the variants of [`Method`](super::Method).
pub(super) static ROWS: &[MethodFacts] = for_each_method!(rows);

/// The facts of a method.
#[derive(Debug)]
pub(crate) struct MethodFacts {
    /// The revisions in which a client may send it.
    pub(crate) client: RevisionSet,
    /// The revisions in which a server may send it.
    pub(crate) server: RevisionSet,
    /// The server must have declared one of these that the revision knows, to receive the request
    /// or to send the notification.
    pub(crate) server_declares: ServerFeatures,
    /// The client must have declared one of these that the revision knows, to receive the request
    /// or to send the notification. Of the extension for tasks it must have declared it to send
    /// the request as well (TK-44).
    pub(crate) client_declares: ClientFeatures,
    /// The parameters that the protocol layer reads.
    pub(crate) params: Params,
    /// The revisions in which the header `Mcp-Name` repeats what the method is about.
    pub(crate) name_header: RevisionSet,
    /// The sides whose machine sends it by itself or by a command of its own, so that `call` and
    /// `notify` refuse it.
    pub(crate) own_command: Sides,
    /// The properties of its answer; `None` for a notification.
    pub(crate) answer: Option<Answer>,
}

/// The parameters of a method that the protocol layer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Params {
    /// It is about the thing of a `name`.
    Name,
    /// It is about the resource of a `uri`.
    Uri,
    /// It is about the task of a `taskId`.
    TaskId,
    /// It continues a list at a `cursor`, which the first page does not have.
    Cursor,
    /// It is about the elicitation of an `elicitationId`.
    ElicitationId,
    /// It completes an argument of a `ref`, which the handler reads.
    Reference,
    /// None that all revisions read alike.
    Other,
}

/// Sides of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) client: bool,
    pub(crate) server: bool,
}

/// The properties of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The result carries cache hints (CH-01).
    pub(crate) is_cacheable: bool,
    /// It may be `input_required` instead (MR-01).
    pub(crate) may_require_input: bool,
    /// It is an input: the request may stand inside an `input_required` (MR-04).
    pub(crate) is_input: bool,
    /// Notifications precede it for as long as the request stands (SB-01).
    pub(crate) ends_subscription: bool,
    /// A result changes the session, so that a new session needs the request again.
    pub(crate) changes_session: bool,
    /// A result subscribes to a resource (RS-10).
    pub(crate) subscribes: bool,
}

impl MethodFacts {
    /// Returns true if the method is that of a notification.
    pub(crate) const fn is_notification(&self) -> bool {
        self.answer.is_none()
    }

    /// The properties of its answer; of a notification, those of an answer without any.
    pub(crate) const fn answer(&self) -> Answer {
        match self.answer {
            Some(answer) => answer,
            None => Answer::PLAIN,
        }
    }
}

impl Params {
    /// The parameter that names what the method is about.
    pub(crate) const fn subject(self) -> Option<&'static str> {
        match self {
            Self::Name => Some("name"),
            Self::Uri => Some("uri"),
            Self::TaskId => Some("taskId"),
            Self::Cursor => Some("cursor"),
            Self::ElicitationId => Some("elicitationId"),
            Self::Reference | Self::Other => None,
        }
    }

    /// The parameters of a request that must not occur twice: those that every request may have,
    /// what the method is about, and what its handler is given to read.
    pub(crate) const fn unique(self) -> &'static [&'static str] {
        const META: &str = "_meta";
        const RESPONSES: &str = "inputResponses";
        const STATE: &str = "requestState";
        match self {
            Self::Name => &[META, RESPONSES, STATE, "name", "arguments"],
            Self::Uri => &[META, RESPONSES, STATE, "uri"],
            Self::TaskId => &[META, RESPONSES, STATE, "taskId"],
            Self::Reference => &[META, RESPONSES, STATE, "ref", "argument", "context"],
            Self::Cursor | Self::ElicitationId | Self::Other => &[META, RESPONSES, STATE, "cursor"],
        }
    }
}

impl Answer {
    const PLAIN: Self = Self {
        is_cacheable: false,
        may_require_input: false,
        is_input: false,
        ends_subscription: false,
        changes_session: false,
        subscribes: false,
    };
}

/// The facts of a method that no revision defines: those of a request without requirements.
pub(super) static OTHER: MethodFacts = MethodFacts {
    client: NEVER,
    server: NEVER,
    server_declares: NOTHING,
    client_declares: NONE,
    params: Params::Other,
    name_header: NEVER,
    own_command: NEITHER,
    answer: PLAIN,
};

const NEVER: RevisionSet = RevisionSet::EMPTY;
const ALL: RevisionSet = RevisionSet::of(&Revision::ALL);
const LEGACY: RevisionSet = RevisionSet::legacy().with(Revision::DraftV1);
const MODERN: RevisionSet = RevisionSet::modern();
const SINCE_DRAFT: RevisionSet = MODERN.with(Revision::DraftV1);
/// Tasks of the core, and what else came and went with 2025-11-25.
const TASKS: RevisionSet = RevisionSet::of(&[Revision::V2025_11_25, Revision::DraftV1]);
const ELICITATION: RevisionSet = TASKS.with(Revision::V2025_06_18);

/// The server need not have declared anything.
const NOTHING: ServerFeatures = ServerFeatures::NONE;
/// The client need not have declared anything.
const NONE: ClientFeatures = ClientFeatures::NONE;
const ANY_ELICITATION: ClientFeatures =
    ClientFeatures::ELICITATION_FORM.with(ClientFeatures::ELICITATION_URL);

const NEITHER: Sides = Sides {
    client: false,
    server: false,
};
const CLIENT: Sides = Sides {
    client: true,
    ..NEITHER
};
const SERVER: Sides = Sides {
    server: true,
    ..NEITHER
};
const BOTH: Sides = Sides {
    client: true,
    server: true,
};

/// A result or an error, without further properties.
const PLAIN: Option<Answer> = Some(Answer::PLAIN);
const CACHEABLE: Option<Answer> = Some(Answer {
    is_cacheable: true,
    ..Answer::PLAIN
});
const ASKING: Option<Answer> = Some(Answer {
    may_require_input: true,
    ..Answer::PLAIN
});
const CACHEABLE_ASKING: Option<Answer> = Some(Answer {
    is_cacheable: true,
    may_require_input: true,
    ..Answer::PLAIN
});
const INPUT: Option<Answer> = Some(Answer {
    is_input: true,
    ..Answer::PLAIN
});
/// The last message of a subscription.
const LAST: Option<Answer> = Some(Answer {
    ends_subscription: true,
    ..Answer::PLAIN
});
const SETTING: Option<Answer> = Some(Answer {
    changes_session: true,
    ..Answer::PLAIN
});
const SUBSCRIBING: Option<Answer> = Some(Answer {
    changes_session: true,
    subscribes: true,
    ..Answer::PLAIN
});

#[cfg(test)]
mod tests {
    use super::super::Method;
    use super::*;
    use Revision::*;

    const NONE: RevisionSet = RevisionSet::EMPTY;
    const ALL: RevisionSet = RevisionSet::of(&Revision::ALL);
    const LEGACY: RevisionSet = RevisionSet::legacy().with(DraftV1);

    #[test]
    fn senders_by_revision() {
        fn check(method: Method<'_>, client: RevisionSet, server: RevisionSet) {
            let facts = method.facts();
            assert_eq!(facts.client, client, "{method:?}");
            assert_eq!(facts.server, server, "{method:?}");
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
            assert!(!method.facts().server.contains(V2026_07_28), "{method:?}");
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
            assert!(Method::from(name).facts().is_notification(), "{name}");
        }
        for name in ["ping", "tools/call", "tasks/get", "notifications/of/others"] {
            assert!(!Method::from(name).facts().is_notification(), "{name}");
        }
    }
}
