//! The capabilities of a server.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tree::{self, Row, Tree};
use super::{
    Declare, DeclaredExtensions, EVERY_REVISION, Settings, TASKS_SETTINGS, capabilities,
    has_tasks_extension, row_revisions,
};
use crate::json::{Map, Object, Writer};
use crate::revision::{Revision, Tasks};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_server_capabilities {
    ($form:ident) => { $form! {
        /// The capabilities of a server, as a set.
        ServerFeatures,
        /// The capabilities of a server: in the answer to `initialize`, and since 2026-07-28 in
        /// that to `server/discover`.
        ServerCapabilities,
        {
            /// `logging`: the server logs to the client.
            LOGGING = 8: / "logging",
            /// `completions`: the server completes arguments; since 2025-03-26.
            COMPLETIONS = 7: / "completions" [SINCE_2025_03],
            /// `prompts`: the server has prompts.
            PROMPTS = 5: / "prompts",
            /// `prompts.listChanged`: the server notifies when their list changes.
            PROMPTS_LIST_CHANGED = 6: "prompts" / "listChanged" flag,
            /// `resources`: the server has resources.
            RESOURCES = 2: / "resources",
            /// `resources.subscribe`: the server notifies when one changes.
            RESOURCES_SUBSCRIBE = 4: "resources" / "subscribe" flag,
            /// `resources.listChanged`: the server notifies when their list changes.
            RESOURCES_LIST_CHANGED = 3: "resources" / "listChanged" flag,
            /// `tools`: the server has tools.
            TOOLS = 0: / "tools",
            /// `tools.listChanged`: the server notifies when their list changes.
            TOOLS_LIST_CHANGED = 1: "tools" / "listChanged" flag,
            /// `tasks`: the server makes tasks of requests; 2025-11-25 only.
            TASKS = 9: / "tasks" [ONLY_2025_11],
            /// `tasks.list`: the tasks can be listed.
            TASKS_LIST = 10: "tasks" / "list",
            /// `tasks.cancel`: the tasks can be cancelled.
            TASKS_CANCEL = 11: "tasks" / "cancel",
            /// `tasks.requests.tools.call`: a call of a tool may become a task.
            TASKS_TOOLS_CALL = 12: "tasks.requests.tools" / "call",
            /// The extension `io.modelcontextprotocol/tasks`.
            TASKS_EXTENSION = 13: "extensions" / "io.modelcontextprotocol/tasks" [SINCE_2026_07],
        }
        around {
            "tasks" / "requests",
            "tasks.requests" / "tools",
            / "extensions",
        }
    } };
}

declare_server_capabilities!(capabilities);

impl ServerFeatures {
    /// The capabilities that promise notifications of changes.
    pub(crate) const CHANGES: Self = Self::PROMPTS_LIST_CHANGED
        .with(Self::RESOURCES_LIST_CHANGED)
        .with(Self::RESOURCES_SUBSCRIBE)
        .with(Self::TOOLS_LIST_CHANGED);

    const CORE_TASKS: Self = Self::TASKS
        .with(Self::TASKS_LIST)
        .with(Self::TASKS_CANCEL)
        .with(Self::TASKS_TOOLS_CALL);

    /// Reads the capabilities of a server. A member that is no object declares nothing, and one
    /// that stands twice invalidates all of them.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        Self(tree::read(capabilities, Self::ROWS))
    }

    fn declared(capabilities: Option<Object<'_>>) -> Self {
        Self::read(capabilities)
    }

    const fn meant(self) -> Self {
        self
    }

    const fn declared_in(self, _: Revision) -> Self {
        self
    }

    /// Returns those of them that a revision has: after a downgrade the others count for nothing
    /// (LC-23).
    pub const fn known_in(self, revision: Revision) -> Self {
        self.without(Self::COMPLETIONS.when(!revision.gates_completions()))
            .without(Self::CORE_TASKS.when(!matches!(revision.tasks(), Tasks::Core)))
            .without(Self::TASKS_EXTENSION.when(!matches!(revision.tasks(), Tasks::Extension)))
    }

    /// Returns where a server declares the first of these, such as `resources.subscribe`.
    pub(crate) fn path(self) -> &'static str {
        let row = Self::ROWS.iter().find(|row| self.0 & row.bit != 0);
        row.map_or("", |row| match row.bit == Self::TASKS_EXTENSION.0 {
            true => row.name,
            false => row.path,
        })
    }
}

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
}
