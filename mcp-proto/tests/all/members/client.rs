//! How a session opens, what is declared, and the parameters of requests and notifications.

use super::*;

#[test]
fn opening() {
    check(
        "InitializeParams",
        &InitializeParams {
            meta: EMPTY,
            ..InitializeParams::default()
        },
    );
    check(
        "InitializeResult",
        &InitializeResult {
            instructions: Some("i".into()),
            meta: EMPTY,
            ..InitializeResult::default()
        },
    );
    check(
        "DiscoverResult",
        &DiscoverResult {
            supported_versions: List::EMPTY,
            capabilities: ServerCapabilities::default(),
            instructions: Some("i".into()),
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Public),
            meta: EMPTY,
        },
    );
}

#[test]
fn capabilities() {
    check(
        "ClientCapabilities",
        &ClientCapabilities {
            experimental: EMPTY,
            roots: Some(RootsCapability { list_changed: true }),
            sampling: Some(SamplingCapability::default()),
            elicitation: Some(ElicitationCapability::default()),
            tasks: Some(ClientTasksCapability::default()),
            extensions: EMPTY,
        },
    );
    check("RootsCapability", &RootsCapability { list_changed: true });
    check(
        "SamplingCapability",
        &SamplingCapability {
            context: EMPTY,
            tools: EMPTY,
        },
    );
    check(
        "ElicitationCapability",
        &ElicitationCapability {
            form: EMPTY,
            url: EMPTY,
        },
    );
    check(
        "ClientTasksCapability",
        &ClientTasksCapability {
            list: EMPTY,
            cancel: EMPTY,
            requests: Some(ClientTaskRequests::default()),
        },
    );
    check(
        "ServerCapabilities",
        &ServerCapabilities {
            experimental: EMPTY,
            logging: EMPTY,
            completions: EMPTY,
            prompts: Some(PromptsCapability::default()),
            resources: Some(ResourcesCapability::default()),
            tools: Some(ToolsCapability::default()),
            tasks: Some(ServerTasksCapability::default()),
            extensions: EMPTY,
        },
    );
    check(
        "PromptsCapability",
        &PromptsCapability { list_changed: true },
    );
    check("ToolsCapability", &ToolsCapability { list_changed: true });
    check(
        "ResourcesCapability",
        &ResourcesCapability {
            subscribe: true,
            list_changed: true,
        },
    );
    check(
        "ServerTasksCapability",
        &ServerTasksCapability {
            list: EMPTY,
            cancel: EMPTY,
            requests: Some(ServerTaskRequests::default()),
        },
    );
}

#[test]
fn params() {
    let input_responses = Some(Map::EMPTY);
    let request_state = Some(RequestState("s".into()));
    check(
        "PageParams",
        &PageParams {
            cursor: Some("".into()),
            meta: EMPTY,
        },
    );
    check(
        "CallToolParams",
        &CallToolParams {
            name: "n".into(),
            arguments: Some(Object::EMPTY),
            task: Some(TaskMetadata::default()),
            input_responses,
            request_state,
            meta: EMPTY,
        },
    );
    check(
        "ReadResourceParams",
        &ReadResourceParams {
            uri: "u".into(),
            input_responses,
            request_state,
            meta: EMPTY,
        },
    );
    check(
        "GetPromptParams",
        &GetPromptParams {
            name: "n".into(),
            arguments: Some(Map::EMPTY),
            input_responses,
            request_state,
            meta: EMPTY,
        },
    );
    check(
        "ResourceParams",
        &ResourceParams {
            uri: "u".into(),
            meta: EMPTY,
        },
    );
    check(
        "CompleteParams",
        &CompleteParams {
            reference: Reference::Resource(ResourceReference::default()),
            argument: CompletionArgument::default(),
            context: Some(CompletionContext::default()),
            meta: EMPTY,
        },
    );
    check(
        "SetLevelParams",
        &SetLevelParams {
            level: LoggingLevel::Info,
            meta: EMPTY,
        },
    );
    check(
        "TaskParams",
        &TaskParams {
            task_id: "t".into(),
            meta: EMPTY,
        },
    );
    check("TaskMetadata", &TaskMetadata { ttl: Some(1) });
    let notifications = SubscriptionFilter::default();
    check(
        "ListenParams",
        &ListenParams {
            notifications,
            meta: EMPTY,
        },
    );
}

#[test]
fn notifications() {
    let id = Id::parse(b"7").unwrap();
    check(
        "CancelledParams",
        &CancelledParams {
            request_id: id,
            reason: Some("r".into()),
            meta: EMPTY,
        },
    );
    check(
        "ProgressParams",
        &ProgressParams {
            progress_token: id,
            progress: 0.5,
            total: Some(1.0),
            message: Some("m".into()),
            meta: EMPTY,
        },
    );
    check(
        "LoggingMessageParams",
        &LoggingMessageParams {
            level: LoggingLevel::Info,
            logger: Some("l".into()),
            data: Raw::NULL,
            meta: EMPTY,
        },
    );
    check(
        "AcknowledgedParams",
        &AcknowledgedParams {
            notifications: SubscriptionFilter::default(),
            meta: EMPTY,
        },
    );
    check(
        "SubscriptionFilter",
        &SubscriptionFilter {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            resource_subscriptions: NAMES,
            task_ids: None,
        },
    );
}
