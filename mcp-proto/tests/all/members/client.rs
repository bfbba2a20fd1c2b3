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
    use ClientFeatures as C;
    use ServerFeatures as S;

    let client = ClientCapabilities {
        experimental: EMPTY,
        extensions: EMPTY,
        ..C::ROOTS_LIST_CHANGED
            .with(C::SAMPLING_CONTEXT)
            .with(C::SAMPLING_TOOLS)
            .with(C::ELICITATION_FORM)
            .with(C::ELICITATION_URL)
            .with(C::TASKS_LIST)
            .with(C::TASKS_CANCEL)
            .with(C::TASKS_SAMPLING)
            .capabilities()
    };
    check("ClientCapabilities", &client);
    check_member("RootsCapability", "roots", &client);
    check_member("SamplingCapability", "sampling", &client);
    check_member("ElicitationCapability", "elicitation", &client);
    check_member("ClientTasksCapability", "tasks", &client);
    let server = ServerCapabilities {
        experimental: EMPTY,
        extensions: EMPTY,
        ..S::LOGGING
            .with(S::COMPLETIONS)
            .with(S::PROMPTS_LIST_CHANGED)
            .with(S::RESOURCES_SUBSCRIBE)
            .with(S::RESOURCES_LIST_CHANGED)
            .with(S::TOOLS_LIST_CHANGED)
            .with(S::TASKS_LIST)
            .with(S::TASKS_CANCEL)
            .with(S::TASKS_TOOLS_CALL)
            .capabilities()
    };
    check("ServerCapabilities", &server);
    check_member("PromptsCapability", "prompts", &server);
    check_member("ResourcesCapability", "resources", &server);
    check_member("ToolsCapability", "tools", &server);
    check_member("ServerTasksCapability", "tasks", &server);
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
