//! Notifications, log messages and subscriptions.

use super::open::closed_enum;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_notifications {
    ($form:ident) => {
        $form! {
            /// The parameters of `notifications/cancelled`.
            #[derive(Debug)]
            struct CancelledParams<'b> {
                /// The id of the request, which its sender gave it. A notification without it is
                /// malformed.
                request_id "requestId": Id,
                /// The reason, for people.
                reason: Option<Text>,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `notifications/progress`.
            #[derive(Debug)]
            struct ProgressParams<'b> {
                /// The token of the request; `1` and `"1"` are two tokens.
                progress_token "progressToken": Id,
                /// The progress so far; it increases with each notification.
                progress: f64,
                /// The progress at the end, if known.
                total: Option<f64>,
                /// The current activity, for people; since 2025-03-26.
                message: Option<Text> [SINCE_2025_03],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of a request or notification without specific ones, such as
            /// `server/discover`, `roots/list` and the notifications that a list changed; an empty
            /// result.
            #[derive(Debug, Default)]
            struct EmptyParams<'b> {
                /// Members of any kind.
                meta "_meta": Meta,
            }

            /// The parameters of `logging/setLevel`; until 2025-11-25.
            #[derive(Debug)]
            struct SetLevelParams<'b> {
                /// The least severe message to send.
                level: LoggingLevel,
                /// The progress token and further members.
                meta "_meta": Meta,
            }

            /// The parameters of `notifications/message`.
            #[derive(Debug)]
            struct LoggingMessageParams {
                /// The severity.
                level: LoggingLevel,
                /// The name of the logger.
                logger: Option<Text>,
                /// The message: text, or any JSON value. It must not contain secrets.
                data: Json,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `subscriptions/listen`.
            #[derive(Debug, Default)]
            struct ListenParams<'b> {
                /// The notifications that the client requests.
                notifications: SubscriptionFilter,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `notifications/subscriptions/acknowledged`.
            #[derive(Debug, Default)]
            struct AcknowledgedParams<'b> {
                /// The notifications that the server will send.
                notifications: SubscriptionFilter,
                /// The id of the listen, and further members.
                meta "_meta": Meta,
            }

            /// The kinds of notifications of a subscription; since 2026-07-28.
            #[derive(Debug, Default)]
            struct SubscriptionFilter {
                /// Changes of the list of tools.
                tools_list_changed "toolsListChanged": Flag,
                /// Changes of the list of prompts.
                prompts_list_changed "promptsListChanged": Flag,
                /// Changes of the list of resources.
                resources_list_changed "resourcesListChanged": Flag,
                /// Changes of these resources, or of parts of them.
                resource_subscriptions "resourceSubscriptions": Items<Text>,
            } core {
                /// Changes of these tasks; with the extension for tasks.
                task_ids "taskIds": Items<Text>,
            }
            ;
            ;
        }
    };
}

closed_enum! {
    /// The severity of a log message, in ascending order (RFC 5424).
    #[derive(PartialOrd, Ord)]
    pub enum LoggingLevel {
        /// Details for who looks for a fault.
        Debug = "debug",
        /// An informational message.
        Info = "info",
        /// A normal but significant condition.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part has failed.
        Critical = "critical",
        /// Action must be taken immediately.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}
