//! Suggestions for an argument.

#[doc(hidden)]
#[macro_export]
macro_rules! declare_completion {
    ($form:ident) => {
        $form! {
            /// The parameters of `completion/complete`.
            #[derive(Debug)]
            struct CompleteParams<'b> {
                /// The prompt or template that the argument belongs to.
                reference "ref": Reference,
                /// The argument, as far as it is typed.
                argument: CompletionArgument,
                /// The arguments that were filled in before; since 2025-06-18.
                context: Option<CompletionContext> [SINCE_2025_06],
                /// The progress token and further members.
                meta "_meta": Meta,
            }

            /// An argument, as far as it is typed.
            #[derive(Debug, Default)]
            struct CompletionArgument<'b> {
                /// The name.
                name: Text,
                /// The text so far.
                value: Text,
            }

            /// The arguments that were filled in before.
            #[derive(Debug, Default)]
            struct CompletionContext<'b> {
                /// The arguments and their values.
                arguments: Option<Texts>,
            }

            /// The result of `completion/complete`.
            #[derive(Debug, Default)]
            struct CompleteResult {
                /// The suggestions.
                completion: Completion,
                /// Further members.
                meta "_meta": Meta,
            }

            /// Suggestions for an argument.
            #[derive(Debug, Default)]
            struct Completion {
                /// The values: at most 100, the best first.
                values: List<Text>,
                /// The number of all suggestions.
                total: Option<u64>,
                /// True if there are more than these.
                has_more "hasMore": Flag,
            }

            /// A prompt by its name.
            #[derive(Debug, Default)]
            struct PromptReference {
                /// The name.
                name: Text,
                /// The title; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
            }

            /// A resource by its URI, or a template of resources.
            #[derive(Debug, Default)]
            struct ResourceReference {
                /// The URI or the template.
                uri: Text,
            }
            ;
            /// The prompt or template that an argument belongs to.
            enum Reference by "type" {
                /// A prompt.
                Prompt(PromptReference) = "ref/prompt",
                /// A resource or a template of resources.
                Resource(ResourceReference) = "ref/resource",
            }
            ;
        }
    };
}
