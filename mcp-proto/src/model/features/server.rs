//! The capabilities of a server as a set of bits.

use core::fmt;

use super::{Member, ROOT, TASKS_EXTENSION, extensions, features, has_tasks_extension, read};
use crate::json::Object;
use crate::model::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ServerTaskRequests,
    ServerTasksCapability, Settings, ToolTasks, ToolsCapability,
};
use crate::revision::{Revision, Tasks};
use crate::rpc::Method;

features! {
    /// What a server declared.
    ServerFeatures {
        /// `tools`: it has tools.
        TOOLS = 0,
        /// `tools.listChanged`: it tells when their list changes.
        TOOLS_LIST_CHANGED = 1,
        /// `resources`: it has resources.
        RESOURCES = 2,
        /// `resources.listChanged`: it tells when their list changes.
        RESOURCES_LIST_CHANGED = 3,
        /// `resources.subscribe`: it tells when one changes.
        RESOURCES_SUBSCRIBE = 4,
        /// `prompts`: it has prompts.
        PROMPTS = 5,
        /// `prompts.listChanged`: it tells when their list changes.
        PROMPTS_LIST_CHANGED = 6,
        /// `completions`: it completes arguments.
        COMPLETIONS = 7,
        /// `logging`: it logs to the client.
        LOGGING = 8,
        /// `tasks`: it makes tasks of requests.
        TASKS = 9,
        /// `tasks.list`: they can be listed.
        TASKS_LIST = 10,
        /// `tasks.cancel`: they can be cancelled.
        TASKS_CANCEL = 11,
        /// `tasks.requests.tools.call`: a call of a tool may become a task.
        TASKS_TOOLS_CALL = 12,
        /// The extension `io.modelcontextprotocol/tasks`.
        TASKS_EXTENSION = 13,
    }
}

impl ServerFeatures {
    const CORE_TASKS: Self = Self::TASKS
        .with(Self::TASKS_LIST)
        .with(Self::TASKS_CANCEL)
        .with(Self::TASKS_TOOLS_CALL);

    /// What these capabilities say. What is no object says nothing, and what stands twice makes
    /// all of it say nothing.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        Self(read(capabilities, MEMBERS))
    }

    /// Those of them that a revision knows: after a downgrade the others count for nothing
    /// (LC-23).
    pub const fn known_in(self, revision: Revision) -> Self {
        self.without(Self::COMPLETIONS.when(!revision.gates_completions()))
            .without(Self::CORE_TASKS.when(!matches!(revision.tasks(), Tasks::Core)))
            .without(Self::TASKS_EXTENSION.when(!matches!(revision.tasks(), Tasks::Extension)))
    }

    /// Whether a client may ask this of the server (LC-17, JR-28). What needs no capability,
    /// such as completion in 2024-11-05 (CP-08), it always may.
    pub fn allow(self, method: Method<'_>, revision: Revision) -> bool {
        let facts = method.facts();
        let one_of = facts.server_declares.known_in(revision);
        if one_of.is_empty() {
            // The revision has no capability for it, or does not have the method.
            return facts.server_declares.is_empty() || facts.client.contains(revision);
        }
        self.intersects(one_of)
    }

    /// Where a server declares the first of these: `resources.subscribe`, for instance.
    pub(crate) fn path(self) -> &'static str {
        PATHS
            .iter()
            .find(|(feature, _)| self.contains(*feature))
            .map_or("", |(_, path)| path)
    }

    /// The same as the type that is written to a peer.
    pub fn capabilities(self) -> ServerCapabilities<'static> {
        let settings = |flag| self.contains(flag).then(Settings::default);
        let tools = self.contains(Self::TASKS_TOOLS_CALL).then(|| ToolTasks {
            call: settings(Self::TASKS_TOOLS_CALL),
        });
        ServerCapabilities {
            experimental: None,
            logging: settings(Self::LOGGING),
            completions: settings(Self::COMPLETIONS),
            prompts: self.contains(Self::PROMPTS).then(|| PromptsCapability {
                list_changed: self.contains(Self::PROMPTS_LIST_CHANGED),
            }),
            resources: self.contains(Self::RESOURCES).then(|| ResourcesCapability {
                subscribe: self.contains(Self::RESOURCES_SUBSCRIBE),
                list_changed: self.contains(Self::RESOURCES_LIST_CHANGED),
            }),
            tools: self.contains(Self::TOOLS).then(|| ToolsCapability {
                list_changed: self.contains(Self::TOOLS_LIST_CHANGED),
            }),
            tasks: self.contains(Self::TASKS).then(|| ServerTasksCapability {
                list: settings(Self::TASKS_LIST),
                cancel: settings(Self::TASKS_CANCEL),
                requests: Some(ServerTaskRequests { tools }),
            }),
            extensions: extensions(self.contains(Self::TASKS_EXTENSION)),
        }
    }
}

impl From<&ServerCapabilities<'_>> for ServerFeatures {
    fn from(capabilities: &ServerCapabilities<'_>) -> Self {
        let tools = capabilities.tools.unwrap_or_default();
        let resources = capabilities.resources.unwrap_or_default();
        let prompts = capabilities.prompts.unwrap_or_default();
        let tasks = capabilities.tasks.unwrap_or_default();
        let requests = tasks.requests.unwrap_or_default();
        let call = requests.tools.unwrap_or_default().call;

        Self::NONE
            .with(Self::TOOLS.when(capabilities.tools.is_some()))
            .with(Self::TOOLS_LIST_CHANGED.when(tools.list_changed))
            .with(Self::RESOURCES.when(capabilities.resources.is_some()))
            .with(Self::RESOURCES_LIST_CHANGED.when(resources.list_changed))
            .with(Self::RESOURCES_SUBSCRIBE.when(resources.subscribe))
            .with(Self::PROMPTS.when(capabilities.prompts.is_some()))
            .with(Self::PROMPTS_LIST_CHANGED.when(prompts.list_changed))
            .with(Self::COMPLETIONS.when(capabilities.completions.is_some()))
            .with(Self::LOGGING.when(capabilities.logging.is_some()))
            .with(Self::TASKS.when(capabilities.tasks.is_some()))
            .with(Self::TASKS_LIST.when(tasks.list.is_some()))
            .with(Self::TASKS_CANCEL.when(tasks.cancel.is_some()))
            .with(Self::TASKS_TOOLS_CALL.when(call.is_some()))
            .with(Self::TASKS_EXTENSION.when(has_tasks_extension(capabilities.extensions)))
    }
}

const PATHS: [(ServerFeatures, &str); 14] = [
    (ServerFeatures::TOOLS, "tools"),
    (ServerFeatures::TOOLS_LIST_CHANGED, "tools.listChanged"),
    (ServerFeatures::RESOURCES, "resources"),
    (
        ServerFeatures::RESOURCES_LIST_CHANGED,
        "resources.listChanged",
    ),
    (ServerFeatures::RESOURCES_SUBSCRIBE, "resources.subscribe"),
    (ServerFeatures::PROMPTS, "prompts"),
    (ServerFeatures::PROMPTS_LIST_CHANGED, "prompts.listChanged"),
    (ServerFeatures::COMPLETIONS, "completions"),
    (ServerFeatures::LOGGING, "logging"),
    (ServerFeatures::TASKS, "tasks"),
    (ServerFeatures::TASKS_LIST, "tasks.list"),
    (ServerFeatures::TASKS_CANCEL, "tasks.cancel"),
    (
        ServerFeatures::TASKS_TOOLS_CALL,
        "tasks.requests.tools.call",
    ),
    (
        ServerFeatures::TASKS_EXTENSION,
        "io.modelcontextprotocol/tasks",
    ),
];

/// The tree of capabilities: a row names the row that it hangs from by its number.
const MEMBERS: &[Member] = &[
    Member::object(ROOT, "tools", ServerFeatures::TOOLS.0), // 0
    Member::flag(0, "listChanged", ServerFeatures::TOOLS_LIST_CHANGED.0), // 1
    Member::object(ROOT, "resources", ServerFeatures::RESOURCES.0), // 2
    Member::flag(2, "listChanged", ServerFeatures::RESOURCES_LIST_CHANGED.0), // 3
    Member::flag(2, "subscribe", ServerFeatures::RESOURCES_SUBSCRIBE.0), // 4
    Member::object(ROOT, "prompts", ServerFeatures::PROMPTS.0), // 5
    Member::flag(5, "listChanged", ServerFeatures::PROMPTS_LIST_CHANGED.0), // 6
    Member::object(ROOT, "completions", ServerFeatures::COMPLETIONS.0), // 7
    Member::object(ROOT, "logging", ServerFeatures::LOGGING.0), // 8
    Member::object(ROOT, "tasks", ServerFeatures::TASKS.0), // 9
    Member::object(9, "list", ServerFeatures::TASKS_LIST.0), // 10
    Member::object(9, "cancel", ServerFeatures::TASKS_CANCEL.0), // 11
    Member::object(9, "requests", 0),                       // 12
    Member::object(12, "tools", 0),                         // 13
    Member::object(13, "call", ServerFeatures::TASKS_TOOLS_CALL.0), // 14
    Member::object(ROOT, "extensions", 0),                  // 15
    Member::object(15, TASKS_EXTENSION, ServerFeatures::TASKS_EXTENSION.0), // 16
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    use super::ServerFeatures as F;

    #[test]
    fn features_are_read() {
        fn check(text: &str, expected: F) {
            let raw = Raw::parse(text.as_bytes(), 16).unwrap();
            assert_eq!(F::read(raw.object()), expected, "{text}");
            let capabilities: ServerCapabilities<'_> = raw.decode(&mut []).unwrap();
            assert_eq!(F::from(&capabilities), expected, "{text}");
        }
        check("{}", F::NONE);
        check(
            r#"{"tools":{"listChanged":true},"logging":{}}"#,
            F::TOOLS.with(F::TOOLS_LIST_CHANGED).with(F::LOGGING),
        );
        check(
            r#"{"resources":{"subscribe":true},"prompts":{},"completions":{}}"#,
            F::RESOURCES
                .with(F::RESOURCES_SUBSCRIBE)
                .with(F::PROMPTS)
                .with(F::COMPLETIONS),
        );
        check(
            r#"{"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}"#,
            F::TASKS.with(F::TASKS_LIST).with(F::TASKS_TOOLS_CALL),
        );
    }

    #[test]
    fn bits_become_capabilities_and_bits_again() {
        let all = F((1 << 14) - 1);
        assert_eq!(F::from(&all.capabilities()), all);
        for bit in 0..14 {
            let with_parents = F::from(&F(1 << bit).capabilities());
            assert_eq!(F::from(&with_parents.capabilities()), with_parents);
        }
    }

    #[test]
    fn a_revision_masks_what_it_does_not_know() {
        let all = F((1 << 14) - 1);
        let check = |revision, missing: F| {
            assert_eq!(all.without(all.known_in(revision)), missing, "{revision}");
        };
        let tasks = F::CORE_TASKS.with(F::TASKS_EXTENSION);
        check(Revision::V2024_11_05, tasks.with(F::COMPLETIONS));
        check(Revision::V2025_03_26, tasks);
        check(Revision::V2025_06_18, tasks);
        check(Revision::V2025_11_25, F::TASKS_EXTENSION);
        check(Revision::V2026_07_28, F::CORE_TASKS);
    }

    #[test]
    fn gates() {
        let check = |features: F, method, revision, expected| {
            assert_eq!(features.allow(method, revision), expected, "{method:?}");
        };
        check(F::NONE, Method::Ping, Revision::V2025_11_25, true);
        check(F::NONE, Method::ToolsCall, Revision::V2025_11_25, false);
        check(F::TOOLS, Method::ToolsCall, Revision::V2025_11_25, true);
        check(
            F::RESOURCES,
            Method::ResourcesSubscribe,
            Revision::V2025_11_25,
            false,
        );
        check(
            F::RESOURCES_SUBSCRIBE,
            Method::ResourcesSubscribe,
            Revision::V2025_11_25,
            true,
        );
        check(
            F::NONE,
            Method::CompletionComplete,
            Revision::V2024_11_05,
            true,
        );
        check(
            F::NONE,
            Method::CompletionComplete,
            Revision::V2025_03_26,
            false,
        );
        check(F::TASKS, Method::TasksGet, Revision::V2025_11_25, true);
        check(F::TASKS, Method::TasksGet, Revision::V2026_07_28, false);
        check(
            F::TASKS_EXTENSION,
            Method::TasksGet,
            Revision::V2026_07_28,
            true,
        );
        check(
            F::TASKS_EXTENSION,
            Method::TasksUpdate,
            Revision::V2026_07_28,
            true,
        );
    }
}
