//! The capabilities of a client as a set of bits.

use core::fmt;

use super::{Member, ROOT, TASKS_EXTENSION, extensions, features, has_tasks_extension, read};
use crate::json::Object;
use crate::model::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, RootsCapability, SamplingCapability, SamplingTasks, Settings,
};
use crate::revision::{Elicitation, Revision, Tasks};
use crate::rpc::Method;

features! {
    /// What a client declared.
    ClientFeatures {
        /// `roots`: it has roots to show.
        ROOTS = 0,
        /// `roots.listChanged`: it tells when they change.
        ROOTS_LIST_CHANGED = 1,
        /// `sampling`: it has a model to ask.
        SAMPLING = 2,
        /// `sampling.context`: it can add context.
        SAMPLING_CONTEXT = 3,
        /// `sampling.tools`: its model can use tools.
        SAMPLING_TOOLS = 4,
        /// `elicitation`, empty or with `form`: it can ask by forms (EL-01).
        ELICITATION_FORM = 5,
        /// `elicitation.url`: it can ask by pages to visit.
        ELICITATION_URL = 6,
        /// `tasks`: it makes tasks of questions.
        TASKS = 7,
        /// `tasks.list`: they can be listed.
        TASKS_LIST = 8,
        /// `tasks.cancel`: they can be cancelled.
        TASKS_CANCEL = 9,
        /// `tasks.requests.sampling.createMessage`: sampling may become a task.
        TASKS_SAMPLING = 10,
        /// `tasks.requests.elicitation.create`: elicitation may become a task.
        TASKS_ELICITATION = 11,
        /// The extension `io.modelcontextprotocol/tasks`.
        TASKS_EXTENSION = 12,
    }
}

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

    /// What these capabilities say. What is no object says nothing, and what stands twice makes
    /// all of it say nothing.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        let declared = Self(read(capabilities, MEMBERS));
        // Empty means by forms (EL-01).
        let forms = declared.contains(ELICITATION) && !declared.contains(Self::ELICITATION_URL);
        declared
            .without(ELICITATION)
            .with(Self::ELICITATION_FORM.when(forms))
    }

    /// Those of them that a revision knows: after a downgrade the others count for nothing
    /// (LC-23).
    pub const fn known_in(self, revision: Revision) -> Self {
        let elicitation = Self::ELICITATION_FORM.with(Self::ELICITATION_URL);
        let modes = match revision.elicitation() {
            Elicitation::Absent => Self::NONE,
            Elicitation::Form => Self::ELICITATION_FORM,
            Elicitation::FormAndTrackedUrl | Elicitation::FormAndUrl => elicitation,
        };
        let tools = Self::SAMPLING_TOOLS.with(Self::SAMPLING_CONTEXT);
        let told = Method::RootsListChanged.facts().client;
        self.without(elicitation.without(modes))
            .without(tools.when(!revision.has_sampling_tools()))
            .without(Self::ROOTS_LIST_CHANGED.when(!told.contains(revision)))
            .without(Self::CORE_TASKS.when(!matches!(revision.tasks(), Tasks::Core)))
            .without(Self::TASKS_EXTENSION.when(!matches!(revision.tasks(), Tasks::Extension)))
    }

    /// Where a client declares these, as paths that this revision has:
    /// `sampling.tools`, for instance.
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
        let found = PATHS
            .iter()
            .filter(move |(feature, _)| self.contains(*feature));
        found.map(move |(_, path)| match *path {
            "elicitation.form" if !has_modes => "elicitation",
            path => path,
        })
    }

    /// Whether a server may ask this of the client (LC-17, VR-06), as request or as question of
    /// an `input_required`. Which mode of elicitation it needs, and whether sampling needs
    /// tools, the parameters say.
    pub fn allow(self, method: Method<'_>, revision: Revision) -> bool {
        let facts = method.facts();
        let one_of = facts.client_declares;
        let asked = facts.server.contains(revision)
            || (facts.answer().is_input && revision.has_input_required());
        one_of.is_empty() || (asked && self.known_in(revision).intersects(one_of))
    }

    /// The same as the type that is written to a peer.
    pub fn capabilities(self) -> ClientCapabilities<'static> {
        let settings = |flag| self.contains(flag).then(Settings::default);
        let sampling = self.contains(Self::TASKS_SAMPLING).then(|| SamplingTasks {
            create_message: settings(Self::TASKS_SAMPLING),
        });
        let elicitation = self
            .contains(Self::TASKS_ELICITATION)
            .then(|| ElicitationTasks {
                create: settings(Self::TASKS_ELICITATION),
            });
        let requests = ClientTaskRequests {
            sampling,
            elicitation,
        };
        ClientCapabilities {
            experimental: None,
            roots: self.contains(Self::ROOTS).then(|| RootsCapability {
                list_changed: self.contains(Self::ROOTS_LIST_CHANGED),
            }),
            sampling: self.contains(Self::SAMPLING).then(|| SamplingCapability {
                context: settings(Self::SAMPLING_CONTEXT),
                tools: settings(Self::SAMPLING_TOOLS),
            }),
            elicitation: self
                .intersects(Self::ELICITATION_FORM.with(Self::ELICITATION_URL))
                .then(|| ElicitationCapability {
                    form: settings(Self::ELICITATION_FORM),
                    url: settings(Self::ELICITATION_URL),
                }),
            tasks: self.contains(Self::TASKS).then(|| ClientTasksCapability {
                list: settings(Self::TASKS_LIST),
                cancel: settings(Self::TASKS_CANCEL),
                requests: Some(requests),
            }),
            extensions: extensions(self.contains(Self::TASKS_EXTENSION)),
        }
    }
}

impl From<&ClientCapabilities<'_>> for ClientFeatures {
    fn from(capabilities: &ClientCapabilities<'_>) -> Self {
        let sampling = capabilities.sampling.unwrap_or_default();
        let elicitation = capabilities.elicitation;
        let modes = elicitation.unwrap_or_default();
        let forms = modes.form.is_some() || elicitation.is_some() && modes.url.is_none();
        let roots = capabilities.roots.unwrap_or_default();
        let tasks = capabilities.tasks.unwrap_or_default();
        let requests = tasks.requests.unwrap_or_default();
        let create_message = requests.sampling.unwrap_or_default().create_message;
        let create = requests.elicitation.unwrap_or_default().create;

        Self::NONE
            .with(Self::ROOTS.when(capabilities.roots.is_some()))
            .with(Self::ROOTS_LIST_CHANGED.when(roots.list_changed))
            .with(Self::SAMPLING.when(capabilities.sampling.is_some()))
            .with(Self::SAMPLING_CONTEXT.when(sampling.context.is_some()))
            .with(Self::SAMPLING_TOOLS.when(sampling.tools.is_some()))
            .with(Self::ELICITATION_FORM.when(forms))
            .with(Self::ELICITATION_URL.when(modes.url.is_some()))
            .with(Self::TASKS.when(capabilities.tasks.is_some()))
            .with(Self::TASKS_LIST.when(tasks.list.is_some()))
            .with(Self::TASKS_CANCEL.when(tasks.cancel.is_some()))
            .with(Self::TASKS_SAMPLING.when(create_message.is_some()))
            .with(Self::TASKS_ELICITATION.when(create.is_some()))
            .with(Self::TASKS_EXTENSION.when(has_tasks_extension(capabilities.extensions)))
    }
}

const PATHS: [(ClientFeatures, &str); 13] = [
    (ClientFeatures::ROOTS, "roots"),
    (ClientFeatures::ROOTS_LIST_CHANGED, "roots.listChanged"),
    (ClientFeatures::SAMPLING, "sampling"),
    (ClientFeatures::SAMPLING_CONTEXT, "sampling.context"),
    (ClientFeatures::SAMPLING_TOOLS, "sampling.tools"),
    (ClientFeatures::ELICITATION_FORM, "elicitation.form"),
    (ClientFeatures::ELICITATION_URL, "elicitation.url"),
    (ClientFeatures::TASKS, "tasks"),
    (ClientFeatures::TASKS_LIST, "tasks.list"),
    (ClientFeatures::TASKS_CANCEL, "tasks.cancel"),
    (
        ClientFeatures::TASKS_SAMPLING,
        "tasks.requests.sampling.createMessage",
    ),
    (
        ClientFeatures::TASKS_ELICITATION,
        "tasks.requests.elicitation.create",
    ),
    (
        ClientFeatures::TASKS_EXTENSION,
        "io.modelcontextprotocol/tasks",
    ),
];

/// The tree of capabilities: a row names the row that it hangs from by its number.
const MEMBERS: &[Member] = &[
    Member::object(ROOT, "roots", ClientFeatures::ROOTS.0), // 0
    Member::flag(0, "listChanged", ClientFeatures::ROOTS_LIST_CHANGED.0), // 1
    Member::object(ROOT, "sampling", ClientFeatures::SAMPLING.0), // 2
    Member::object(2, "context", ClientFeatures::SAMPLING_CONTEXT.0), // 3
    Member::object(2, "tools", ClientFeatures::SAMPLING_TOOLS.0), // 4
    Member::object(ROOT, "elicitation", ELICITATION.0),     // 5
    Member::object(5, "form", ClientFeatures::ELICITATION_FORM.0), // 6
    Member::object(5, "url", ClientFeatures::ELICITATION_URL.0), // 7
    Member::object(ROOT, "tasks", ClientFeatures::TASKS.0), // 8
    Member::object(8, "list", ClientFeatures::TASKS_LIST.0), // 9
    Member::object(8, "cancel", ClientFeatures::TASKS_CANCEL.0), // 10
    Member::object(8, "requests", 0),                       // 11
    Member::object(11, "sampling", 0),                      // 12
    Member::object(12, "createMessage", ClientFeatures::TASKS_SAMPLING.0), // 13
    Member::object(11, "elicitation", 0),                   // 14
    Member::object(14, "create", ClientFeatures::TASKS_ELICITATION.0), // 15
    Member::object(ROOT, "extensions", 0),                  // 16
    Member::object(16, TASKS_EXTENSION, ClientFeatures::TASKS_EXTENSION.0), // 17
];

/// It can ask people, in whatever way.
const ELICITATION: ClientFeatures = ClientFeatures(1 << 15);

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

    #[test]
    fn gates() {
        let check = |features: F, method, revision, expected| {
            assert_eq!(features.allow(method, revision), expected, "{method:?}");
        };
        check(F::NONE, Method::Ping, Revision::V2025_11_25, true);
        check(F::NONE, Method::RootsList, Revision::V2024_11_05, false);
        check(F::ROOTS, Method::RootsList, Revision::V2024_11_05, true);
        check(
            F::SAMPLING,
            Method::SamplingCreateMessage,
            Revision::V2026_07_28,
            true,
        );
        check(
            F::ROOTS,
            Method::ElicitationCreate,
            Revision::V2025_11_25,
            false,
        );
        check(
            F::ELICITATION_URL,
            Method::ElicitationCreate,
            Revision::V2025_11_25,
            true,
        );
        check(
            F::ELICITATION_URL,
            Method::ElicitationCreate,
            Revision::V2025_06_18,
            false,
        );
        check(F::TASKS, Method::TasksGet, Revision::V2025_11_25, true);
        check(F::TASKS, Method::TasksList, Revision::V2025_11_25, false);
    }
}
