//! The capabilities of a client.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tree::{self, Row, Tree};
use super::{
    Declare, DeclaredExtensions, EVERY_REVISION, Settings, TASKS_SETTINGS, capabilities,
    has_tasks_extension, row_revisions,
};
use crate::json::{Map, Object, Writer};
use crate::revision::fields::LEGACY;
use crate::revision::{Elicitation, Revision, Tasks};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_client_capabilities {
    ($form:ident) => { $form! {
        /// The capabilities of a client, as a set.
        ClientFeatures,
        /// The capabilities of a client: in `initialize`, and since 2026-07-28 on each request.
        ClientCapabilities,
        {
            /// `roots`: the client has roots to show.
            ROOTS = 0: / "roots",
            /// `roots.listChanged`: the client notifies when they change; until 2025-11-25.
            ROOTS_LIST_CHANGED = 1: "roots" / "listChanged" flag [LEGACY],
            /// `sampling`: the client has a model.
            SAMPLING = 2: / "sampling",
            /// `sampling.context`: the client can add context; since 2025-11-25.
            SAMPLING_CONTEXT = 3: "sampling" / "context" [SINCE_2025_11],
            /// `sampling.tools`: the model can use tools; since 2025-11-25.
            SAMPLING_TOOLS = 4: "sampling" / "tools" [SINCE_2025_11],
            /// `elicitation` without a mode, which means forms: what [`read`](Self::read) returns
            /// has [`ELICITATION_FORM`](Self::ELICITATION_FORM) in its place. Since 2025-06-18.
            ELICITATION = 15: / "elicitation" [SINCE_2025_06],
            /// `elicitation.form`: the client can ask people by forms; since 2025-06-18, where it
            /// is an empty `elicitation`.
            ELICITATION_FORM = 5: "elicitation" / "form" [SINCE_2025_11],
            /// `elicitation.url`: the client can ask people by pages to visit; since 2025-11-25.
            ELICITATION_URL = 6: "elicitation" / "url" [SINCE_2025_11],
            /// `tasks`: the client makes tasks of questions; 2025-11-25 only.
            TASKS = 7: / "tasks" [ONLY_2025_11],
            /// `tasks.list`: the tasks can be listed.
            TASKS_LIST = 8: "tasks" / "list",
            /// `tasks.cancel`: the tasks can be cancelled.
            TASKS_CANCEL = 9: "tasks" / "cancel",
            /// `tasks.requests.sampling.createMessage`: sampling may become a task.
            TASKS_SAMPLING = 10: "tasks.requests.sampling" / "createMessage",
            /// `tasks.requests.elicitation.create`: elicitation may become a task.
            TASKS_ELICITATION = 11: "tasks.requests.elicitation" / "create",
            /// The extension `io.modelcontextprotocol/tasks`.
            TASKS_EXTENSION = 12: "extensions" / "io.modelcontextprotocol/tasks" [SINCE_2026_07],
        }
        around {
            "tasks" / "requests",
            "tasks.requests" / "sampling",
            "tasks.requests" / "elicitation",
            / "extensions",
        }
    } };
}

declare_client_capabilities!(capabilities);

/// The modes of elicitation.
const MODES: ClientFeatures =
    ClientFeatures::ELICITATION_FORM.with(ClientFeatures::ELICITATION_URL);

impl ClientFeatures {
    const CORE_TASKS: Self = Self::TASKS
        .with(Self::TASKS_LIST)
        .with(Self::TASKS_CANCEL)
        .with(Self::TASKS_SAMPLING)
        .with(Self::TASKS_ELICITATION);

    /// All of them as a number, the same in every version of this crate.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The features of such a number; what this version does not know is left out.
    pub(crate) const fn from_bits(bits: u16) -> Self {
        let highest = Self::TASKS_EXTENSION.0;
        Self(bits & (highest | (highest - 1)))
    }

    /// Reads the capabilities of a client. A member that is no object declares nothing, and one
    /// that stands twice invalidates all of them.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        Self::declared(capabilities).meant()
    }

    fn declared(capabilities: Option<Object<'_>>) -> Self {
        let declared = Self(tree::read(capabilities, Self::ROWS));
        declared.without(Self::ELICITATION.when(declared.intersects(MODES)))
    }

    /// Elicitation without a mode is by forms (EL-01).
    const fn meant(self) -> Self {
        let forms = self.contains(Self::ELICITATION) && !self.intersects(MODES);
        self.without(Self::ELICITATION)
            .with(Self::ELICITATION_FORM.when(forms))
    }

    /// The capabilities to declare in a revision. Elicitation is not among them if a revision with
    /// a handshake knows none of the modes: an empty declaration would mean the other mode.
    fn declared_in(self, revision: Revision) -> Self {
        let hidden = revision.is_legacy() && !self.meant().known_in(revision).intersects(MODES);
        self.without(MODES.with(Self::ELICITATION).when(hidden))
    }

    /// Returns those of them that a revision has: after a downgrade the others count for nothing
    /// (LC-23).
    pub const fn known_in(self, revision: Revision) -> Self {
        let modes = match revision.elicitation() {
            Elicitation::Absent => Self::NONE,
            Elicitation::Form => Self::ELICITATION_FORM,
            Elicitation::FormAndTrackedUrl | Elicitation::FormAndUrl => MODES,
        };
        let tools = Self::SAMPLING_TOOLS.with(Self::SAMPLING_CONTEXT);
        self.without(MODES.without(modes))
            .without(tools.when(!revision.has_sampling_tools()))
            .without(Self::ROOTS_LIST_CHANGED.when(!LEGACY.contains(revision)))
            .without(Self::CORE_TASKS.when(!matches!(revision.tasks(), Tasks::Core)))
            .without(Self::TASKS_EXTENSION.when(!matches!(revision.tasks(), Tasks::Extension)))
    }

    /// Returns where a client declares these, as paths that this revision has, such as
    /// `sampling.tools`.
    ///
    /// ```
    /// use mcp_proto::Revision;
    /// use mcp_proto::model::ClientFeatures;
    ///
    /// let form = ClientFeatures::ELICITATION_FORM;
    /// assert!(form.paths(Revision::V2025_06_18).eq(["elicitation"]));
    /// assert!(form.paths(Revision::V2026_07_28).eq(["elicitation.form"]));
    /// ```
    pub fn paths(self, revision: Revision) -> impl Iterator<Item = &'static str> {
        let has_modes = !matches!(revision.elicitation(), Elicitation::Form);
        let found = Self::ROWS.iter().filter(move |row| self.0 & row.bit != 0);
        found.map(move |row| match row.path {
            "elicitation.form" if !has_modes => "elicitation",
            _ if row.bit == Self::TASKS_EXTENSION.0 => row.name,
            path => path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    use super::ClientFeatures as F;

    fn read(text: &str) -> F {
        let raw = Raw::parse(text.as_bytes(), 16).unwrap();
        let features = F::read(raw.object());
        let capabilities: ClientCapabilities<'_> = raw.decode(&mut []).unwrap();
        assert_eq!(F::from(&capabilities), features, "{text}");
        features
    }

    #[test]
    fn features_are_read() {
        fn check(text: &str, expected: F) {
            assert_eq!(read(text), expected, "{text}");
        }
        check("{}", F::NONE);
        check(r#"{"roots":{}}"#, F::ROOTS);
        check(
            r#"{"roots":{"listChanged":true}}"#,
            F::ROOTS.with(F::ROOTS_LIST_CHANGED),
        );
        check(r#"{"roots":{"listChanged":false}}"#, F::ROOTS);
        check(
            r#"{"sampling":{"tools":{},"context":{}}}"#,
            F::SAMPLING
                .with(F::SAMPLING_TOOLS)
                .with(F::SAMPLING_CONTEXT),
        );
        check(r#"{"elicitation":{}}"#, F::ELICITATION_FORM);
        check(r#"{"elicitation":{"url":{}}}"#, F::ELICITATION_URL);
        check(
            r#"{"elicitation":{"form":{},"url":{}}}"#,
            F::ELICITATION_FORM.with(F::ELICITATION_URL),
        );
        check(
            r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
            F::TASKS_EXTENSION,
        );
        check(
            r#"{"extensions":{"io.modelcontextprotocol/tasks":1}}"#,
            F::NONE,
        );
        check(
            r#"{"tasks":{"requests":{"elicitation":{"create":{}}}}}"#,
            F::TASKS.with(F::TASKS_ELICITATION),
        );
    }

    #[test]
    fn what_makes_no_sense_declares_nothing() {
        for text in [
            "[]",
            r#"{"roots":null,"sampling":true}"#,
            r#"{"roots":{},"roots":{}}"#,
        ] {
            let raw = Raw::parse(text.as_bytes(), 16).unwrap();
            assert_eq!(F::read(raw.object()), F::NONE, "{text}");
        }
    }

    #[test]
    fn bits_become_capabilities_and_bits_again() {
        let all = F((1 << 13) - 1);
        assert_eq!(F::from(&all.capabilities()), all);
        for bit in 0..13 {
            let with_parents = F::from(&F(1 << bit).capabilities());
            assert_eq!(F::from(&with_parents.capabilities()), with_parents);
        }
    }

    #[test]
    fn a_revision_masks_what_it_does_not_know() {
        let all = F((1 << 13) - 1);
        let check = |revision, missing: F| {
            assert_eq!(all.without(all.known_in(revision)), missing, "{revision}");
        };
        let new = F::SAMPLING_CONTEXT
            .with(F::SAMPLING_TOOLS)
            .with(F::ELICITATION_URL)
            .with(F::CORE_TASKS)
            .with(F::TASKS_EXTENSION);
        check(Revision::V2024_11_05, new.with(F::ELICITATION_FORM));
        check(Revision::V2025_03_26, new.with(F::ELICITATION_FORM));
        check(Revision::V2025_06_18, new);
        check(Revision::V2025_11_25, F::TASKS_EXTENSION);
        check(Revision::DraftV1, F::TASKS_EXTENSION);
        check(
            Revision::V2026_07_28,
            F::CORE_TASKS.with(F::ROOTS_LIST_CHANGED),
        );
    }
}
