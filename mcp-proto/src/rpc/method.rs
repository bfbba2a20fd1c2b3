//! Names of requests and notifications.

use core::fmt;

use crate::json::Str;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The name of a request or notification: an open enum, because peers may know more.
        ///
        /// Names are compared exactly and unescaped, so `"tools\/call"` is [`Method::ToolsCall`].
        /// A known name never hides in [`Method::Other`], as long as the value was made by `From`.
        ///
        /// ```
        /// use mcp_proto::rpc::Method;
        ///
        /// assert_eq!(Method::from("tools/call"), Method::ToolsCall);
        /// assert_eq!(Method::ToolsCall.name(), "tools/call");
        /// assert_eq!(Method::from("acme/refill").name(), "acme/refill");
        /// ```
        #[derive(Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Method<'b> {
            $($(#[$doc])* $variant,)*
            /// A name that no revision of MCP defines.
            Other(Str<'b>),
        }

        impl<'b> Method<'b> {
            /// The name as it stands on the wire.
            pub fn name(self) -> Str<'b> {
                match self {
                    $(Self::$variant => Str::from($name),)*
                    Self::Other(name) => name,
                }
            }

            /// The name of a known method; `None` for [`Method::Other`].
            pub const fn known_name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)*
                    Self::Other(_) => None,
                }
            }

            #[cfg(test)]
            const KNOWN: &'static [(Method<'static>, &'static str)] =
                &[$((Method::$variant, $name),)*];
        }
    };
}

methods! {
    /// `initialize`: opens a legacy session.
    Initialize = "initialize",
    /// `ping`: is the peer alive? Until 2025-11-25.
    Ping = "ping",
    /// `server/discover`: what a server is and speaks; 2026-07-28.
    ServerDiscover = "server/discover",
    /// `tools/list`: a page of tools.
    ToolsList = "tools/list",
    /// `tools/call`: runs a tool.
    ToolsCall = "tools/call",
    /// `resources/list`: a page of resources.
    ResourcesList = "resources/list",
    /// `resources/templates/list`: a page of resource templates.
    ResourcesTemplatesList = "resources/templates/list",
    /// `resources/read`: the contents of a resource.
    ResourcesRead = "resources/read",
    /// `resources/subscribe`: asks for updates of a resource; until 2025-11-25.
    ResourcesSubscribe = "resources/subscribe",
    /// `resources/unsubscribe`: ends such a subscription; until 2025-11-25.
    ResourcesUnsubscribe = "resources/unsubscribe",
    /// `prompts/list`: a page of prompts.
    PromptsList = "prompts/list",
    /// `prompts/get`: a prompt with its arguments filled in.
    PromptsGet = "prompts/get",
    /// `completion/complete`: suggestions for an argument.
    CompletionComplete = "completion/complete",
    /// `logging/setLevel`: the least severe log message to send; until 2025-11-25.
    LoggingSetLevel = "logging/setLevel",
    /// `subscriptions/listen`: a standing request for notifications; 2026-07-28.
    SubscriptionsListen = "subscriptions/listen",
    /// `roots/list`: the server asks for the client's roots.
    RootsList = "roots/list",
    /// `sampling/createMessage`: the server asks for a completion of the client's model.
    SamplingCreateMessage = "sampling/createMessage",
    /// `elicitation/create`: the server asks the user; since 2025-06-18.
    ElicitationCreate = "elicitation/create",
    /// `tasks/get`: the state of a task; 2025-11-25 and the extension.
    TasksGet = "tasks/get",
    /// `tasks/result`: what the request behind a task returned; 2025-11-25.
    TasksResult = "tasks/result",
    /// `tasks/list`: a page of tasks; 2025-11-25.
    TasksList = "tasks/list",
    /// `tasks/cancel`: ends a task; 2025-11-25 and the extension.
    TasksCancel = "tasks/cancel",
    /// `tasks/update`: answers for a task that waits for input; the extension.
    TasksUpdate = "tasks/update",
    /// `notifications/initialized`: the client is ready; until 2025-11-25.
    Initialized = "notifications/initialized",
    /// `notifications/cancelled`: the sender gave up on a request.
    Cancelled = "notifications/cancelled",
    /// `notifications/progress`: how far a request is.
    Progress = "notifications/progress",
    /// `notifications/message`: a log message.
    Message = "notifications/message",
    /// `notifications/tools/list_changed`.
    ToolsListChanged = "notifications/tools/list_changed",
    /// `notifications/prompts/list_changed`.
    PromptsListChanged = "notifications/prompts/list_changed",
    /// `notifications/resources/list_changed`.
    ResourcesListChanged = "notifications/resources/list_changed",
    /// `notifications/resources/updated`: a resource, or one below it, changed.
    ResourcesUpdated = "notifications/resources/updated",
    /// `notifications/roots/list_changed`; until 2025-11-25.
    RootsListChanged = "notifications/roots/list_changed",
    /// `notifications/elicitation/complete`: a form behind a URL was filled in; 2025-11-25.
    ElicitationComplete = "notifications/elicitation/complete",
    /// `notifications/tasks/status`: a task changed its state; 2025-11-25.
    TasksStatus = "notifications/tasks/status",
    /// `notifications/tasks`: a task changed its state; the extension.
    Tasks = "notifications/tasks",
    /// `notifications/subscriptions/acknowledged`: a listen began; 2026-07-28.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged",
    /// `$/cancelRequest`: not of MCP; some peers took it over from the Language Server Protocol.
    CancelRequest = "$/cancelRequest",
}

/// The method of a plain name, or else the `other`. Lengths first: a name is then compared with
/// five others at most.
fn known<'b>(name: &[u8], other: Str<'b>) -> Method<'b> {
    match name.len() {
        4 if name == b"ping" => Method::Ping,
        9 if name == b"tasks/get" => Method::TasksGet,
        10 => match name {
            b"tools/call" => Method::ToolsCall,
            b"initialize" => Method::Initialize,
            b"tools/list" => Method::ToolsList,
            b"roots/list" => Method::RootsList,
            b"tasks/list" => Method::TasksList,
            _ => Method::Other(other),
        },
        11 if name == b"prompts/get" => Method::PromptsGet,
        12 => match name {
            b"prompts/list" => Method::PromptsList,
            b"tasks/result" => Method::TasksResult,
            b"tasks/cancel" => Method::TasksCancel,
            b"tasks/update" => Method::TasksUpdate,
            _ => Method::Other(other),
        },
        14 => match name {
            b"resources/list" => Method::ResourcesList,
            b"resources/read" => Method::ResourcesRead,
            _ => Method::Other(other),
        },
        15 => match name {
            b"server/discover" => Method::ServerDiscover,
            b"$/cancelRequest" => Method::CancelRequest,
            _ => Method::Other(other),
        },
        16 if name == b"logging/setLevel" => Method::LoggingSetLevel,
        18 if name == b"elicitation/create" => Method::ElicitationCreate,
        19 => match name {
            b"resources/subscribe" => Method::ResourcesSubscribe,
            b"completion/complete" => Method::CompletionComplete,
            b"notifications/tasks" => Method::Tasks,
            _ => Method::Other(other),
        },
        20 if name == b"subscriptions/listen" => Method::SubscriptionsListen,
        21 => match name {
            b"resources/unsubscribe" => Method::ResourcesUnsubscribe,
            b"notifications/message" => Method::Message,
            _ => Method::Other(other),
        },
        22 => match name {
            b"sampling/createMessage" => Method::SamplingCreateMessage,
            b"notifications/progress" => Method::Progress,
            _ => Method::Other(other),
        },
        23 if name == b"notifications/cancelled" => Method::Cancelled,
        24 if name == b"resources/templates/list" => Method::ResourcesTemplatesList,
        25 if name == b"notifications/initialized" => Method::Initialized,
        26 if name == b"notifications/tasks/status" => Method::TasksStatus,
        31 if name == b"notifications/resources/updated" => Method::ResourcesUpdated,
        32 => match name {
            b"notifications/tools/list_changed" => Method::ToolsListChanged,
            b"notifications/roots/list_changed" => Method::RootsListChanged,
            _ => Method::Other(other),
        },
        34 => match name {
            b"notifications/prompts/list_changed" => Method::PromptsListChanged,
            b"notifications/elicitation/complete" => Method::ElicitationComplete,
            _ => Method::Other(other),
        },
        36 if name == b"notifications/resources/list_changed" => Method::ResourcesListChanged,
        40 if name == b"notifications/subscriptions/acknowledged" => {
            Method::SubscriptionsAcknowledged
        }
        _ => Method::Other(other),
    }
}

/// The longest known name.
const LONGEST: usize = 40;

impl<'b> From<Str<'b>> for Method<'b> {
    #[inline]
    fn from(name: Str<'b>) -> Self {
        match name.plain_bytes() {
            Some(plain) => known(plain, name),
            // PHP writes `tools\/call`.
            None => match name.decode_exact(&mut [0; LONGEST]) {
                Ok(decoded) => known(decoded.as_bytes(), name),
                Err(_) => Self::Other(name),
            },
        }
    }
}

impl<'b> From<&'b str> for Method<'b> {
    fn from(name: &'b str) -> Self {
        known(name.as_bytes(), Str::from(name))
    }
}

impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name(), f)
    }
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    fn escaped(text: &str) -> Str<'_> {
        Raw::parse(text.as_bytes(), 1).unwrap().string().unwrap()
    }

    #[test]
    fn every_known_name_is_found_and_written_back() {
        for (method, name) in Method::KNOWN {
            assert_eq!(Method::from(*name), *method);
            assert_eq!(method.name(), **name);
            assert_eq!(method.known_name(), Some(*name));
            assert!(name.len() <= LONGEST, "{name}");
        }
    }

    #[test]
    fn unknown_names_stay_as_they_are() {
        for name in [
            "",
            "pong",
            "Tools/call",
            "tools/calls",
            "tools/cal",
            "notifications/x",
        ] {
            assert_eq!(Method::from(name), Method::Other(Str::from(name)));
            assert_eq!(Method::from(name).known_name(), None);
        }
    }

    #[test]
    fn escapes_are_transparent() {
        assert_eq!(Method::from(escaped(r#""tools\/call""#)), Method::ToolsCall);
        assert_eq!(Method::from(escaped(r#""\u0070ing""#)), Method::Ping);
        let cut = Method::from(escaped(r#""ping\ud83d""#));
        assert_eq!(cut.known_name(), None);
        assert_ne!(cut, Method::from(escaped(r#""ping\ud83e""#)));
    }
}
