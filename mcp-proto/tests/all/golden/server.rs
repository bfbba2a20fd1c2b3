//! The declarations of a recorded server, and the answers that it gives at once.

use core::time::Duration;

use mcp_proto::json::Raw;
use mcp_proto::model::{
    CacheScope, CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListTasksResult, ListToolsResult,
    LoggingLevel, ReadResourceResult, ServerCapabilities, ServerFeatures,
};
use mcp_proto::rpc::Method;
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{CustomMethod, Instant, Limits, Outcome, PingPolicy, SendError, Token};
use serde::Deserialize;

use super::every_revision;
use super::text::raw;
use crate::script::host::{Host, Reach};

/// Everything that a server can declare.
pub(crate) fn config() -> ServerConfig<'static> {
    let features = ServerFeatures::TOOLS
        .with(ServerFeatures::TOOLS_LIST_CHANGED)
        .with(ServerFeatures::RESOURCES)
        .with(ServerFeatures::RESOURCES_LIST_CHANGED)
        .with(ServerFeatures::RESOURCES_SUBSCRIBE)
        .with(ServerFeatures::PROMPTS)
        .with(ServerFeatures::PROMPTS_LIST_CHANGED)
        .with(ServerFeatures::COMPLETIONS)
        .with(ServerFeatures::LOGGING)
        .with(ServerFeatures::TASKS)
        .with(ServerFeatures::TASKS_LIST)
        .with(ServerFeatures::TASKS_CANCEL)
        .with(ServerFeatures::TASKS_TOOLS_CALL)
        .with(ServerFeatures::TASKS_EXTENSION);
    ServerConfig {
        instructions: Some("Ask for the echo."),
        capabilities: features.capabilities(),
        revisions: every_revision(),
        methods: const {
            &[
                CustomMethod::new("example/own"),
                CustomMethod::new("notifications/example/own"),
            ]
        },
        ..ServerConfig::new("server", "1.0")
    }
}

/// Changes the configuration as the command `config` says.
pub(crate) fn configure(config: &mut ServerConfig<'static>, options: &str) {
    for option in options.split(' ') {
        match option {
            "nothing" => config.capabilities = ServerCapabilities::default(),
            "legacy" => config.revisions = config.revisions.and(mcp_proto::RevisionSet::legacy()),
            "modern" => config.revisions = config.revisions.and(mcp_proto::RevisionSet::modern()),
            "pings" => config.ping = Some(PingPolicy::default()),
            "pace" => config.progress_interval = Duration::from_secs(1),
            "anonymous" => config.identify = false,
            "cached" => {
                config.discover_ttl = 60_000;
                config.discover_scope = CacheScope::Public;
            }
            "quiet" => config.log_level = LoggingLevel::Error,
            "no-alias" => config.cancel_alias = false,
            "null-ids" => config.null_ids = true,
            "draft" => config.draft_profile = true,
            "small" => {
                config.limits = Limits {
                    message: 600,
                    depth: 8,
                    in_flight: 2,
                    batch: 3,
                    subscriptions: 1,
                    subscription_bytes: 32,
                    ..Limits::default()
                };
            }
            other => panic!("no such option: {other}"),
        }
    }
}

/// Answers a request at once, but for one about `slow`.
pub(crate) fn answer<R: Reach>(
    host: &mut Host,
    now: Instant,
    event: &Event<'_>,
    out: &mut R,
) -> Result<(), SendError> {
    match event {
        Event::Request {
            token,
            method,
            context,
            ..
        } if context
            .subject
            .is_none_or(|it| !it.to_string().contains("slow")) =>
        {
            host.is_answered(*token);
            respond(now, *token, *method, result(*method), out)
        }
        _ => Ok(()),
    }
}

fn respond(
    now: Instant,
    token: Token,
    method: Method<'_>,
    result: &str,
    out: &mut impl Reach,
) -> Result<(), SendError> {
    match method {
        Method::ToolsList => typed::<ListToolsResult<'_>>(now, token, result, out),
        Method::ToolsCall => typed::<CallToolResult<'_>>(now, token, result, out),
        Method::ResourcesList => typed::<ListResourcesResult<'_>>(now, token, result, out),
        Method::ResourcesTemplatesList => {
            typed::<ListResourceTemplatesResult<'_>>(now, token, result, out)
        }
        Method::ResourcesRead => typed::<ReadResourceResult<'_>>(now, token, result, out),
        Method::PromptsList => typed::<ListPromptsResult<'_>>(now, token, result, out),
        Method::PromptsGet => typed::<GetPromptResult<'_>>(now, token, result, out),
        Method::CompletionComplete => typed::<CompleteResult<'_>>(now, token, result, out),
        Method::TasksList => typed::<ListTasksResult<'_>>(now, token, result, out),
        _ => typed::<Raw<'_>>(now, token, result, out),
    }
}

/// Answers with a value of the model, so that each revision gets the members that it has.
fn typed<'r, T: Deserialize<'r> + serde::Serialize>(
    now: Instant,
    token: Token,
    result: &'r str,
    out: &mut impl Reach,
) -> Result<(), SendError> {
    let value: T = raw(result).decode(&mut []).expect("a result of its method");
    out.respond(now, token, Outcome::Result(&value))
}

/// What each method is answered with at once: members of every revision.
fn result(method: Method<'_>) -> &'static str {
    match method {
        Method::ToolsList => {
            r#"{"tools":[{"name":"echo","title":"Echo","description":"Says it again.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"https://a.example/i.png","mimeType":"image/png"}],"execution":{"taskSupport":"optional"},"_meta":{"a.example/b":1}}],"nextCursor":"2","ttlMs":1000,"cacheScope":"public"}"#
        }
        Method::ToolsCall => {
            r#"{"content":[{"type":"text","text":"hello","annotations":{"priority":0.5}}],"structuredContent":{"said":"hello"},"isError":false,"_meta":{"a.example/b":1}}"#
        }
        Method::ResourcesList => {
            r#"{"resources":[{"uri":"file:///a","name":"a","title":"A","mimeType":"text/plain","size":3,"annotations":{"lastModified":"2026-01-01T00:00:00Z"}}]}"#
        }
        Method::ResourcesTemplatesList => {
            r#"{"resourceTemplates":[{"uriTemplate":"file:///{name}","name":"any","title":"Any"}]}"#
        }
        Method::ResourcesRead => {
            r#"{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"abc"},{"uri":"file:///b","blob":"AA=="}],"ttlMs":5}"#
        }
        Method::PromptsList => {
            r#"{"prompts":[{"name":"greet","title":"Greet","arguments":[{"name":"whom","title":"Whom","required":true}]}]}"#
        }
        Method::PromptsGet => {
            r#"{"description":"A greeting.","messages":[{"role":"user","content":{"type":"text","text":"Hello!"}}]}"#
        }
        Method::CompletionComplete => {
            r#"{"completion":{"values":["ab","ac"],"total":2,"hasMore":false}}"#
        }
        Method::TasksList => {
            r#"{"tasks":[{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}]}"#
        }
        Method::TasksGet | Method::TasksCancel => {
            r#"{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}"#
        }
        _ => "{}",
    }
}
