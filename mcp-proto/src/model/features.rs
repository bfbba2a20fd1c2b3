//! Capabilities in one word, for machines that cannot keep a borrow.

use core::fmt;

use super::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, PromptsCapability, ResourcesCapability, RootsCapability, SamplingCapability,
    SamplingTasks, ServerCapabilities, ServerTaskRequests, ServerTasksCapability, Settings,
    ToolTasks, ToolsCapability,
};
use crate::json::{Map, Object, Raw};
use crate::revision::{Elicitation, Revision, Tasks};
use crate::rpc::Method;

macro_rules! features {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $flag:ident = $bit:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(u16);

        impl $name {
            /// Nothing.
            pub const NONE: Self = Self(0);
            $($(#[$inner])* pub const $flag: Self = Self(1 << $bit);)*

            /// Whether all of these are there.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether one of these is there.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// These and those.
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// These without those.
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Whether there is none.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            const fn when(self, condition: bool) -> Self {
                if condition { self } else { Self::NONE }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut set = f.debug_set();
                $(if self.contains(Self::$flag) {
                    set.entry(&format_args!(stringify!($flag)));
                })*
                set.finish()
            }
        }
    };
}

features! {
    /// What a client declared.
    ///
    /// ```
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::model::ClientFeatures;
    ///
    /// let declared = Raw::parse(br#"{"elicitation":{},"roots":{"listChanged":true}}"#, 8).unwrap();
    /// let features = ClientFeatures::read(declared.object());
    /// assert!(features.contains(ClientFeatures::ELICITATION_FORM));
    /// assert!(!features.contains(ClientFeatures::ELICITATION_URL));
    /// ```
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

features! {
    /// What a server declared.
    ///
    /// ```
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::model::ServerFeatures;
    ///
    /// let declared = Raw::parse(br#"{"tools":{"listChanged":true},"logging":{}}"#, 8).unwrap();
    /// let features = ServerFeatures::read(declared.object());
    /// assert!(features.contains(ServerFeatures::TOOLS.with(ServerFeatures::LOGGING)));
    /// assert!(!features.contains(ServerFeatures::PROMPTS));
    /// ```
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

/// The name of the extension for tasks.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl ClientFeatures {
    const CORE_TASKS: Self = Self::TASKS
        .with(Self::TASKS_LIST)
        .with(Self::TASKS_CANCEL)
        .with(Self::TASKS_SAMPLING)
        .with(Self::TASKS_ELICITATION);

    /// What these capabilities say. What is no object, or stands twice, says nothing.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        let [roots, sampling, elicitation, tasks, extensions] = objects(
            capabilities,
            ["roots", "sampling", "elicitation", "tasks", "extensions"],
        );
        let [context, tools] = objects(sampling, ["context", "tools"]);
        let [form, url] = objects(elicitation, ["form", "url"]);
        let [list, cancel, requests] = objects(tasks, ["list", "cancel", "requests"]);
        let [by_sampling, by_elicitation] = objects(requests, ["sampling", "elicitation"]);
        let [create_message] = objects(by_sampling, ["createMessage"]);
        let [create] = objects(by_elicitation, ["create"]);
        let [tasks_extension] = objects(extensions, [TASKS_EXTENSION]);
        // Empty means by forms (EL-01).
        let forms = form.is_some() || elicitation.is_some() && url.is_none();

        Self::NONE
            .with(Self::ROOTS.when(roots.is_some()))
            .with(Self::ROOTS_LIST_CHANGED.when(flag(roots, "listChanged")))
            .with(Self::SAMPLING.when(sampling.is_some()))
            .with(Self::SAMPLING_CONTEXT.when(context.is_some()))
            .with(Self::SAMPLING_TOOLS.when(tools.is_some()))
            .with(Self::ELICITATION_FORM.when(forms))
            .with(Self::ELICITATION_URL.when(url.is_some()))
            .with(Self::TASKS.when(tasks.is_some()))
            .with(Self::TASKS_LIST.when(list.is_some()))
            .with(Self::TASKS_CANCEL.when(cancel.is_some()))
            .with(Self::TASKS_SAMPLING.when(create_message.is_some()))
            .with(Self::TASKS_ELICITATION.when(create.is_some()))
            .with(Self::TASKS_EXTENSION.when(tasks_extension.is_some()))
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
        self.without(elicitation.without(modes))
            .without(tools.when(!revision.has_sampling_tools()))
            .without(Self::ROOTS_LIST_CHANGED.when(revision.is_modern()))
            .without(Self::CORE_TASKS.when(!matches!(revision.tasks(), Tasks::Core)))
            .without(Self::TASKS_EXTENSION.when(!matches!(revision.tasks(), Tasks::Extension)))
    }

    /// Whether a server may ask this of the client (LC-17, VR-06), as request or as question of
    /// an `input_required`. Which mode of elicitation it needs, and whether sampling needs
    /// tools, the parameters say.
    pub fn allow(self, method: Method<'_>, revision: Revision) -> bool {
        let one_of = match method {
            Method::RootsList => Self::ROOTS,
            Method::SamplingCreateMessage => Self::SAMPLING,
            Method::ElicitationCreate => Self::ELICITATION_FORM.with(Self::ELICITATION_URL),
            Method::TasksGet | Method::TasksResult => Self::TASKS,
            Method::TasksList => Self::TASKS_LIST,
            Method::TasksCancel => Self::TASKS_CANCEL,
            _ => return true,
        };
        self.known_in(revision).intersects(one_of)
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

impl ServerFeatures {
    const CORE_TASKS: Self = Self::TASKS
        .with(Self::TASKS_LIST)
        .with(Self::TASKS_CANCEL)
        .with(Self::TASKS_TOOLS_CALL);

    /// What these capabilities say. What is no object, or stands twice, says nothing.
    pub fn read(capabilities: Option<Object<'_>>) -> Self {
        let [
            tools,
            resources,
            prompts,
            completions,
            logging,
            tasks,
            extensions,
        ] = objects(
            capabilities,
            [
                "tools",
                "resources",
                "prompts",
                "completions",
                "logging",
                "tasks",
                "extensions",
            ],
        );
        let [list, cancel, requests] = objects(tasks, ["list", "cancel", "requests"]);
        let [by_tools] = objects(requests, ["tools"]);
        let [call] = objects(by_tools, ["call"]);
        let [tasks_extension] = objects(extensions, [TASKS_EXTENSION]);

        Self::NONE
            .with(Self::TOOLS.when(tools.is_some()))
            .with(Self::TOOLS_LIST_CHANGED.when(flag(tools, "listChanged")))
            .with(Self::RESOURCES.when(resources.is_some()))
            .with(Self::RESOURCES_LIST_CHANGED.when(flag(resources, "listChanged")))
            .with(Self::RESOURCES_SUBSCRIBE.when(flag(resources, "subscribe")))
            .with(Self::PROMPTS.when(prompts.is_some()))
            .with(Self::PROMPTS_LIST_CHANGED.when(flag(prompts, "listChanged")))
            .with(Self::COMPLETIONS.when(completions.is_some()))
            .with(Self::LOGGING.when(logging.is_some()))
            .with(Self::TASKS.when(tasks.is_some()))
            .with(Self::TASKS_LIST.when(list.is_some()))
            .with(Self::TASKS_CANCEL.when(cancel.is_some()))
            .with(Self::TASKS_TOOLS_CALL.when(call.is_some()))
            .with(Self::TASKS_EXTENSION.when(tasks_extension.is_some()))
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
        let by_extension = matches!(revision.tasks(), Tasks::Extension);
        let one_of = match method {
            Method::ToolsList | Method::ToolsCall => Self::TOOLS,
            Method::ResourcesList | Method::ResourcesTemplatesList | Method::ResourcesRead => {
                Self::RESOURCES
            }
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => Self::RESOURCES_SUBSCRIBE,
            Method::PromptsList | Method::PromptsGet => Self::PROMPTS,
            Method::CompletionComplete if revision.gates_completions() => Self::COMPLETIONS,
            Method::LoggingSetLevel => Self::LOGGING,
            Method::TasksUpdate => Self::TASKS_EXTENSION,
            Method::TasksGet | Method::TasksCancel if by_extension => Self::TASKS_EXTENSION,
            Method::TasksGet | Method::TasksResult => Self::TASKS,
            Method::TasksList => Self::TASKS_LIST,
            Method::TasksCancel => Self::TASKS_CANCEL,
            _ => return true,
        };
        self.known_in(revision).intersects(one_of)
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

fn has_tasks_extension(extensions: Option<Settings<'_>>) -> bool {
    extensions.is_some_and(|extensions| {
        matches!(extensions.get(TASKS_EXTENSION), Some(Ok(settings)) if settings.object().is_some())
    })
}

fn objects<'b, const N: usize>(
    parent: Option<Object<'b>>,
    keys: [&str; N],
) -> [Option<Object<'b>>; N] {
    parent
        .and_then(|object| object.find(keys).ok())
        .map_or([None; N], |members| members.map(|member| member?.object()))
}

fn flag(parent: Option<Object<'_>>, key: &str) -> bool {
    parent
        .and_then(|object| object.find([key]).ok())
        .and_then(|[member]| member?.boolean())
        .unwrap_or_default()
}

fn extensions(tasks: bool) -> Option<Settings<'static>> {
    tasks.then(|| Map::from(TASKS_SETTINGS))
}

const TASKS_SETTINGS: &[(&str, Raw<'static>)] = &[(TASKS_EXTENSION, Raw::EMPTY_OBJECT)];

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Option<Object<'_>> {
        Raw::parse(text.as_bytes(), 16).ok()?.object()
    }

    #[test]
    fn client_features_are_read() {
        use ClientFeatures as F;
        fn check(text: &str, expected: F) {
            assert_eq!(F::read(object(text)), expected, "{text}");
        }
        check("{}", F::NONE);
        check(r#"{"roots":{}}"#, F::ROOTS);
        check(
            r#"{"roots":{"listChanged":true}}"#,
            F::ROOTS.with(F::ROOTS_LIST_CHANGED),
        );
        check(r#"{"roots":{"listChanged":false}}"#, F::ROOTS);
        check(r#"{"roots":null,"sampling":true}"#, F::NONE);
        check(
            r#"{"sampling":{"tools":{}}}"#,
            F::SAMPLING.with(F::SAMPLING_TOOLS),
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
            r#"{"tasks":{"requests":{"elicitation":{"create":{}}}}}"#,
            F::TASKS.with(F::TASKS_ELICITATION),
        );
        check(r#"{"roots":{},"roots":{}}"#, F::NONE);
        assert_eq!(F::read(None), F::NONE);
    }

    #[test]
    fn bits_become_capabilities_and_bits_again() {
        for bit in 0..16 {
            let client = ClientFeatures(1 << bit);
            let parents = ClientFeatures::from(&client.capabilities());
            assert_eq!(ClientFeatures::from(&parents.capabilities()), parents);
            let server = ServerFeatures(1 << bit);
            let parents = ServerFeatures::from(&server.capabilities());
            assert_eq!(ServerFeatures::from(&parents.capabilities()), parents);
        }
        let all = ClientFeatures((1 << 13) - 1);
        assert_eq!(ClientFeatures::from(&all.capabilities()), all);
        let all = ServerFeatures((1 << 14) - 1);
        assert_eq!(ServerFeatures::from(&all.capabilities()), all);
    }

    #[test]
    fn a_revision_masks_what_it_does_not_know() {
        use ClientFeatures as F;
        let all = F(u16::MAX >> 3);
        let masked = |revision| all.without(all.known_in(revision));
        let new = F::SAMPLING_CONTEXT
            .with(F::SAMPLING_TOOLS)
            .with(F::ELICITATION_URL);
        let tasks = F::CORE_TASKS.with(F::TASKS_EXTENSION);
        assert_eq!(
            masked(Revision::V2025_03_26),
            new.with(tasks).with(F::ELICITATION_FORM)
        );
        assert_eq!(masked(Revision::V2025_06_18), new.with(tasks));
        assert_eq!(masked(Revision::V2025_11_25), F::TASKS_EXTENSION);
        assert_eq!(
            masked(Revision::V2026_07_28),
            F::CORE_TASKS.with(F::ROOTS_LIST_CHANGED)
        );
    }

    #[test]
    fn gates() {
        use Method::*;
        use ServerFeatures as F;
        let check = |features: F, method, revision, expected| {
            assert_eq!(
                features.allow(method, revision),
                expected,
                "{method:?} {revision}"
            );
        };
        check(F::NONE, Ping, Revision::V2025_11_25, true);
        check(F::NONE, ToolsCall, Revision::V2025_11_25, false);
        check(F::TOOLS, ToolsCall, Revision::V2025_11_25, true);
        check(
            F::RESOURCES,
            ResourcesSubscribe,
            Revision::V2025_11_25,
            false,
        );
        check(F::NONE, CompletionComplete, Revision::V2024_11_05, true);
        check(F::NONE, CompletionComplete, Revision::V2025_03_26, false);
        check(F::TASKS, TasksGet, Revision::V2025_11_25, true);
        check(F::TASKS, TasksGet, Revision::V2026_07_28, false);
        check(F::TASKS_EXTENSION, TasksGet, Revision::V2026_07_28, true);
        let roots = ClientFeatures::ROOTS;
        assert!(roots.allow(RootsList, Revision::V2024_11_05));
        assert!(!roots.allow(ElicitationCreate, Revision::V2025_11_25));
    }
}
