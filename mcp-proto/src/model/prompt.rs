//! Prompts, and pages of them.

use super::Prompt;
use crate::json::Str;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_prompts {
    ($form:ident) => {
        $form! {
            /// A text with arguments that a server offers to people.
            #[derive(Debug, Default)]
            struct Prompt {
                /// The name for requests.
                name: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The description.
                description: Option<Text>,
                /// The arguments.
                arguments: Items<PromptArgument>,
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// An argument of a prompt.
            #[derive(Debug, Default)]
            struct PromptArgument {
                /// The name for requests.
                name: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The description.
                description: Option<Text>,
                /// True if a request must have the argument.
                required: Flag,
            }

            /// The result of `prompts/list`.
            #[derive(Debug, Default)]
            struct ListPromptsResult {
                /// A page of prompts.
                prompts: List<Prompt>,
                /// The position of the next page; even an empty text is one.
                next_cursor "nextCursor": Cursor,
                /// The time for which the result stays fresh, in milliseconds; since 2026-07-28.
                /// See `freshness`.
                ttl_ms "ttlMs": Hint<i64> [SINCE_2026_07],
                /// The clients that may share it; since 2026-07-28.
                cache_scope "cacheScope": Hint<CacheScope> [SINCE_2026_07],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `prompts/get`.
            #[derive(Debug, Default)]
            struct GetPromptParams<'b> {
                /// The name of the prompt.
                name: Text,
                /// The arguments: text only.
                arguments: Option<Texts>,
                /// The answers to an `input_required`; since 2026-07-28.
                input_responses "inputResponses": Option<InputResponses> [SINCE_2026_07],
                /// The state that came with the questions, unchanged; since 2026-07-28.
                request_state "requestState": Option<RequestState> [SINCE_2026_07],
                /// The progress token and further members.
                meta "_meta": Meta,
            }

            /// The result of `prompts/get`.
            #[derive(Debug, Default)]
            struct GetPromptResult {
                /// The description.
                description: Option<Text>,
                /// The messages for the model.
                messages: List<PromptMessage>,
                /// Further members.
                meta "_meta": Meta,
            }

            /// A message of a prompt.
            #[derive(Debug)]
            struct PromptMessage {
                /// The speaker.
                role: Role,
                /// The content.
                content: Content,
            }
            ;
            ;
        }
    };
}

impl<'b> Prompt<'b> {
    /// Creates a prompt with a name alone.
    pub fn new(name: &'b str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the name to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}
