//! Every type of the model, with all of its members set, as each revision gets to see it:
//! nothing that the revision's schema lacks, and everything that it requires.

use mcp_proto::Revision;
use mcp_proto::json::{List, Map, Object, Raw, Writer};
use mcp_proto::model::*;
use mcp_proto::rpc::Id;
use serde::Serialize;

/// The revisions in the order of their numbers in the table, the draft in place of the one that
/// it is like.
const REVISIONS: [(char, Revision); 6] = [
    ('1', Revision::V2024_11_05),
    ('2', Revision::V2025_03_26),
    ('3', Revision::V2025_06_18),
    ('4', Revision::V2025_11_25),
    ('4', Revision::DraftV1),
    ('5', Revision::V2026_07_28),
];

const TABLE: &str = include_str!("members.txt");

/// Encodes for every revision that has the type, and compares the names with the table's.
/// Every optional member has to be seen in each revision that has it.
#[track_caller]
fn check(name: &str, value: &impl Serialize) {
    for (number, revision) in REVISIONS {
        if row(name).revisions.contains(number) {
            check_as(name, value, number, revision);
        }
    }
}

#[track_caller]
fn check_as(name: &str, value: &impl Serialize, number: char, revision: Revision) {
    let mut buffer = vec![0; 4096];
    let written = encode(value, Some(revision), &mut buffer);
    let object = written.object().expect("an object");
    let mut seen: Vec<String> = object.members().map(|(name, _)| name.to_string()).collect();
    let mut expected: Vec<String> = row(name)
        .members
        .iter()
        .filter(|member| member.1.contains(number))
        .map(|member| member.0.to_owned())
        .collect();
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected, "{name} in {revision}: {}", written.as_str());
}

/// A value without its optional members has those that the revision requires.
#[track_caller]
fn check_least(name: &str, value: &impl Serialize) {
    for (number, revision) in REVISIONS {
        let row = row(name);
        if !row.revisions.contains(number) {
            continue;
        }
        let mut buffer = vec![0; 4096];
        let written = encode(value, Some(revision), &mut buffer);
        let object = written.object().expect("an object");
        for (member, having, requiring) in &row.members {
            let there = object.get(member).is_some();
            assert!(
                !there || having.contains(number),
                "{name}.{member} in {revision}"
            );
            assert!(
                there || !requiring.contains(number),
                "{name}.{member} in {revision}"
            );
        }
    }
}

struct Row {
    revisions: &'static str,
    members: Vec<(&'static str, &'static str, &'static str)>,
}

#[track_caller]
fn row(name: &str) -> Row {
    let mut words = TABLE
        .lines()
        .map(|line| line.split(' '))
        .find(|words| words.clone().next() == Some(name))
        .unwrap_or_else(|| panic!("{name} is not in the table"));
    words.next();
    let revisions = words.next().unwrap();
    let members = words
        .map(|word| {
            let (member, revisions) = word.rsplit_once(':').unwrap();
            let (having, requiring) = revisions.split_once('/').unwrap_or((revisions, ""));
            (member, having, requiring)
        })
        .collect();
    Row { revisions, members }
}

fn encode<'o>(value: &impl Serialize, revision: Option<Revision>, out: &'o mut [u8]) -> Raw<'o> {
    let mut writer = Writer::new(out);
    writer.value(value, revision).expect("it serializes");
    let len = writer.finish().expect("it fits");
    Raw::parse(&out[..len], 128).expect("it is JSON")
}

fn object(text: &str) -> Object<'_> {
    Raw::parse(text.as_bytes(), 128).unwrap().object().unwrap()
}

const EMPTY: Option<Meta<'static>> = Some(Map::EMPTY);
const NAMES: Option<List<'static, mcp_proto::json::Str<'static>>> = Some(List::EMPTY);

fn icons<'b>() -> Option<List<'b, Icon<'b>>> {
    Some(List::EMPTY)
}

fn text() -> ContentBlock<'static> {
    ContentBlock::text("t")
}

fn annotations() -> Annotations<'static> {
    Annotations {
        audience: Some(List::new(&[Role::User])),
        priority: Some(0.5),
        last_modified: Some("2026-01-01T00:00:00Z".into()),
    }
}

fn task() -> Task<'static> {
    Task {
        task_id: "t".into(),
        status: TaskStatus::Working,
        status_message: Some("m".into()),
        created_at: "c".into(),
        last_updated_at: "u".into(),
        ttl: None,
        poll_interval: Some(1),
        meta: EMPTY,
    }
}

#[test]
fn shared_types() {
    check(
        "Implementation",
        &Implementation {
            name: "n".into(),
            version: "1".into(),
            title: Some("t".into()),
            description: Some("d".into()),
            website_url: Some("https://example.com".into()),
            icons: icons(),
        },
    );
    check_least("Implementation", &Implementation::new("n", "1"));
    check(
        "Icon",
        &Icon {
            src: "https://example.com/i.png".into(),
            mime_type: Some("image/png".into()),
            sizes: NAMES,
            theme: Some(Theme::Dark),
        },
    );
    check("Annotations", &annotations());
    check_least("Annotations", &Annotations::default());
    check(
        "Root",
        &Root {
            uri: "file:///".into(),
            name: Some("n".into()),
            meta: EMPTY,
        },
    );
    let request = RequestMeta {
        progress_token: Id::parse(b"1"),
        protocol_version: Some("2026-07-28".into()),
        client_capabilities: Some(ClientCapabilities::default()),
        client_info: Some(Implementation::new("n", "1")),
        log_level: Some(LoggingLevel::Info),
    };
    check("RequestMeta", &request);
    check(
        "ResultMeta",
        &ResultMeta {
            server_info: Some(Implementation::new("n", "1")),
            subscription_id: Id::parse(b"1"),
        },
    );
}

fn tool() -> Tool<'static> {
    Tool {
        title: Some("t".into()),
        description: Some("d".into()),
        output_schema: Some(object(r#"{"type":"object"}"#)),
        annotations: Some(ToolAnnotations::default()),
        icons: icons(),
        execution: Some(ToolExecution::default()),
        meta: EMPTY,
        ..Tool::new("n", object(r#"{"type":"object"}"#))
    }
}

#[test]
fn tools() {
    check("Tool", &tool());
    check_least("Tool", &Tool::new("n", object(r#"{"type":"object"}"#)));
    check(
        "ToolAnnotations",
        &ToolAnnotations {
            title: Some("t".into()),
            read_only_hint: Some(true),
            destructive_hint: Some(true),
            idempotent_hint: Some(true),
            open_world_hint: Some(true),
        },
    );
    check(
        "ToolExecution",
        &ToolExecution {
            task_support: Some(TaskSupport::Optional),
        },
    );
    check(
        "CallToolResult",
        &CallToolResult {
            content: List::new(&[text()]),
            structured_content: Some(Raw::EMPTY_OBJECT),
            is_error: true,
            meta: EMPTY,
        },
    );
    check_least("CallToolResult", &CallToolResult::default());
}

#[test]
fn content() {
    check(
        "TextContent",
        &ContentBlock::Text(TextContent {
            text: "t".into(),
            annotations: Some(annotations()),
            meta: EMPTY,
        }),
    );
    check_least("TextContent", &text());
    check(
        "ImageContent",
        &ContentBlock::Image(ImageContent {
            data: "AA==".into(),
            mime_type: "image/png".into(),
            annotations: Some(annotations()),
            meta: EMPTY,
        }),
    );
    check("AudioContent", &audio());
    check("ResourceLink", &link());
    for contents in [text_contents(), blob_contents()] {
        check(
            "EmbeddedResource",
            &ContentBlock::Resource(EmbeddedResource {
                resource: contents,
                annotations: Some(annotations()),
                meta: EMPTY,
            }),
        );
    }
    check("TextResourceContents", &text_contents());
    check("BlobResourceContents", &blob_contents());
}

#[test]
fn a_block_that_a_revision_lacks_is_a_text_there() {
    let first = [('1', Revision::V2024_11_05)];
    let until_2025_06 = [
        ('1', Revision::V2024_11_05),
        ('2', Revision::V2025_03_26),
        ('3', Revision::V2025_06_18),
    ];
    let check = |value: &dyn Fn(Revision, &mut [u8]) -> String, revisions: &[(char, Revision)]| {
        for (number, revision) in revisions {
            let text = value(*revision, &mut [0; 2048]);
            let object = object(&text);
            assert!(
                object.get("type").unwrap().string().unwrap() == "text",
                "{text}"
            );
            assert!(object.get("text").unwrap().string().is_some(), "{text}");
            for (name, _) in object.members() {
                let known = row("TextContent").members;
                let known = known
                    .iter()
                    .any(|(member, having, _)| name == **member && having.contains(*number));
                assert!(known, "{name} in {revision}");
            }
        }
    };
    check(
        &|revision, out| encode(&audio(), Some(revision), out).as_str().to_owned(),
        &first,
    );
    check(
        &|revision, out| encode(&link(), Some(revision), out).as_str().to_owned(),
        &until_2025_06[..2],
    );
    for block in [tool_use(), tool_result(Raw::EMPTY_OBJECT)] {
        check(
            &|revision, out| encode(&block, Some(revision), out).as_str().to_owned(),
            &until_2025_06,
        );
    }
}

fn audio() -> ContentBlock<'static> {
    ContentBlock::Audio(AudioContent {
        data: "AA==".into(),
        mime_type: "audio/wav".into(),
        annotations: Some(annotations()),
        meta: EMPTY,
    })
}

fn link() -> ContentBlock<'static> {
    ContentBlock::ResourceLink(ResourceLink {
        uri: "file:///a".into(),
        name: "a".into(),
        title: Some("t".into()),
        description: Some("d".into()),
        mime_type: Some("text/plain".into()),
        size: Some(1),
        annotations: Some(annotations()),
        icons: icons(),
        meta: EMPTY,
    })
}

fn text_contents() -> ResourceContents<'static> {
    ResourceContents::Text(TextResourceContents {
        uri: "file:///a".into(),
        mime_type: Some("text/plain".into()),
        text: "t".into(),
        meta: EMPTY,
    })
}

fn blob_contents() -> ResourceContents<'static> {
    ResourceContents::Blob(BlobResourceContents {
        uri: "file:///a".into(),
        mime_type: Some("image/png".into()),
        blob: "AA==".into(),
        meta: EMPTY,
    })
}

fn tool_use() -> SamplingBlock<'static> {
    SamplingBlock::ToolUse(ToolUseContent {
        id: "1".into(),
        name: "n".into(),
        input: Object::EMPTY,
        meta: EMPTY,
    })
}

fn tool_result(structured: Raw<'static>) -> SamplingBlock<'static> {
    SamplingBlock::ToolResult(ToolResultContent {
        tool_use_id: "1".into(),
        content: List::EMPTY,
        structured_content: Some(structured),
        is_error: true,
        meta: EMPTY,
    })
}

#[test]
fn resources() {
    check(
        "Resource",
        &Resource {
            title: Some("t".into()),
            description: Some("d".into()),
            mime_type: Some("text/plain".into()),
            size: Some(1),
            annotations: Some(annotations()),
            icons: icons(),
            meta: EMPTY,
            ..Resource::new("file:///a", "a")
        },
    );
    check_least("Resource", &Resource::new("file:///a", "a"));
    check(
        "ResourceTemplate",
        &ResourceTemplate {
            title: Some("t".into()),
            description: Some("d".into()),
            mime_type: Some("text/plain".into()),
            annotations: Some(annotations()),
            icons: icons(),
            meta: EMPTY,
            ..ResourceTemplate::new("file:///{a}", "a")
        },
    );
    check_least(
        "ResourceTemplate",
        &ResourceTemplate::new("file:///{a}", "a"),
    );
}

#[test]
fn prompts_and_completion() {
    check(
        "Prompt",
        &Prompt {
            title: Some("t".into()),
            description: Some("d".into()),
            arguments: Some(List::EMPTY),
            icons: icons(),
            meta: EMPTY,
            ..Prompt::new("n")
        },
    );
    check_least("Prompt", &Prompt::new("n"));
    check(
        "PromptArgument",
        &PromptArgument {
            name: "n".into(),
            title: Some("t".into()),
            description: Some("d".into()),
            required: true,
        },
    );
    let message = PromptMessage {
        role: Role::User,
        content: text(),
    };
    check("PromptMessage", &message);
    check(
        "GetPromptResult",
        &GetPromptResult {
            description: Some("d".into()),
            messages: List::new(&[message]),
            meta: EMPTY,
        },
    );
    let prompt = PromptReference {
        name: "n".into(),
        title: Some("t".into()),
    };
    check("PromptReference", &Reference::Prompt(prompt));
    let resource = ResourceReference { uri: "u".into() };
    check("ResourceReference", &Reference::Resource(resource));
    check("CompletionArgument", &CompletionArgument::default());
    check(
        "CompletionContext",
        &CompletionContext {
            arguments: Some(Map::EMPTY),
        },
    );
    check(
        "Completion",
        &Completion {
            values: List::EMPTY,
            total: Some(1),
            has_more: true,
        },
    );
    check(
        "CompleteResult",
        &CompleteResult {
            completion: Completion::default(),
            meta: EMPTY,
        },
    );
}

#[test]
fn pages() {
    let (next_cursor, ttl_ms) = (Some("".into()), Some(0));
    let (cache_scope, meta) = (Some(CacheScope::Private), EMPTY);
    check(
        "ListToolsResult",
        &ListToolsResult {
            tools: List::EMPTY,
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
        },
    );
    check(
        "ListResourcesResult",
        &ListResourcesResult {
            resources: List::EMPTY,
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
        },
    );
    check(
        "ListResourceTemplatesResult",
        &ListResourceTemplatesResult {
            resource_templates: List::EMPTY,
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
        },
    );
    check(
        "ListPromptsResult",
        &ListPromptsResult {
            prompts: List::EMPTY,
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
        },
    );
    check(
        "ReadResourceResult",
        &ReadResourceResult {
            contents: List::EMPTY,
            ttl_ms,
            cache_scope,
            meta,
        },
    );
    check(
        "ListTasksResult",
        &ListTasksResult {
            tasks: List::EMPTY,
            next_cursor,
            meta,
        },
    );
}

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

#[test]
fn roots_and_sampling() {
    check(
        "ListRootsResult",
        &ListRootsResult {
            roots: List::EMPTY,
            meta: EMPTY,
        },
    );
    check(
        "CreateMessageParams",
        &CreateMessageParams {
            messages: List::EMPTY,
            max_tokens: 1,
            model_preferences: Some(ModelPreferences::default()),
            system_prompt: Some("s".into()),
            include_context: Some(IncludeContext::None),
            temperature: Some(0.5),
            stop_sequences: NAMES,
            metadata: Some(Object::EMPTY),
            tools: Some(List::EMPTY),
            tool_choice: Some(ToolChoice::default()),
            task: Some(TaskMetadata::default()),
            meta: EMPTY,
        },
    );
    check(
        "SamplingMessage",
        &SamplingMessage {
            role: Role::User,
            content: SamplingContent::text("t"),
            meta: EMPTY,
        },
    );
    check(
        "ModelPreferences",
        &ModelPreferences {
            hints: Some(List::EMPTY),
            cost_priority: Some(0.0),
            speed_priority: Some(0.5),
            intelligence_priority: Some(1.0),
        },
    );
    check(
        "ModelHint",
        &ModelHint {
            name: Some("n".into()),
        },
    );
    check(
        "ToolChoice",
        &ToolChoice {
            mode: Some(ToolChoiceMode::Auto),
        },
    );
    check(
        "CreateMessageResult",
        &CreateMessageResult {
            role: Role::Assistant,
            content: SamplingContent::text("t"),
            model: "m".into(),
            stop_reason: Some(StopReason::EndTurn),
            meta: EMPTY,
        },
    );
    check("ToolUseContent", &tool_use());
    check("ToolResultContent", &tool_result(Raw::EMPTY_OBJECT));
}

#[test]
fn elicitation() {
    let form = ElicitFormParams {
        message: "m".into(),
        requested_schema: ElicitationSchema::default(),
        task: Some(TaskMetadata::default()),
        meta: EMPTY,
    };
    check("ElicitFormParams", &ElicitParams::Form(form));
    let url = ElicitUrlParams {
        message: "m".into(),
        url: "https://example.com".into(),
        elicitation_id: Some("e".into()),
        task: Some(TaskMetadata::default()),
        meta: EMPTY,
    };
    check("ElicitUrlParams", &ElicitParams::Url(url));
    check(
        "ElicitResult",
        &ElicitResult {
            meta: EMPTY,
            ..ElicitResult::accept(Map::EMPTY)
        },
    );
    check_least("ElicitResult", &ElicitResult::decline());
    check(
        "ElicitationSchema",
        &ElicitationSchema {
            schema: Some("s".into()),
            required: NAMES,
            ..ElicitationSchema::default()
        },
    );
    let (title, description) = (Some("t".into()), Some("d".into()));
    check(
        "StringSchema",
        &PrimitiveSchema::String(StringSchema {
            title,
            description,
            min_length: Some(1),
            max_length: Some(2),
            format: Some(StringFormat::Email),
            default: Some("d".into()),
        }),
    );
    check(
        "NumberSchema",
        &PrimitiveSchema::Number(NumberSchema {
            kind: NumberType::Integer,
            title,
            description,
            minimum: Some(0.0),
            maximum: Some(1.0),
            default: Some(0.5),
        }),
    );
    check(
        "BooleanSchema",
        &PrimitiveSchema::Boolean(BooleanSchema {
            title,
            description,
            default: Some(true),
        }),
    );
    let named = Choices::Named {
        values: List::EMPTY,
        names: List::EMPTY,
    };
    let single = |choices| {
        PrimitiveSchema::Enum(EnumSchema {
            choices,
            title,
            description,
            default: Some("d".into()),
        })
    };
    check("EnumSchema", &single(named));
    check("TitledEnumSchema", &single(Choices::Titled(List::EMPTY)));
    for choices in [Choices::Titled(List::EMPTY), Choices::Untitled(List::EMPTY)] {
        check(
            "MultiEnumSchema",
            &PrimitiveSchema::MultiEnum(MultiEnumSchema {
                choices,
                title,
                description,
                min_items: Some(1),
                max_items: Some(2),
                default: NAMES,
            }),
        );
    }
}

#[test]
fn tasks_and_rounds() {
    check("Task", &task());
    check(
        "CreateTaskResult",
        &CreateTaskResult {
            task: task(),
            meta: EMPTY,
        },
    );
    check(
        "InputRequiredResult",
        &InputRequiredResult {
            result_type: InputRequired::InputRequired,
            input_requests: Some(Map::EMPTY),
            request_state: Some(RequestState("s".into())),
            meta: EMPTY,
        },
    );
}

#[test]
fn the_value_decides_where_structured_content_goes() {
    fn check(structured: Raw<'static>, expected: &str) {
        let result = CallToolResult {
            structured_content: Some(structured),
            ..CallToolResult::default()
        };
        let block = tool_result(structured);
        let mut having = String::new();
        for (number, revision) in REVISIONS {
            let mut out = [0; 2048];
            let written = encode(&result, Some(revision), &mut out).object().unwrap();
            if let Some(content) = written.get("structuredContent") {
                assert_eq!(content, structured);
                having.push(number);
            }
            let mut out = [0; 2048];
            let written = encode(&block, Some(revision), &mut out).object().unwrap();
            let expected = expected.contains(number) && number >= '4';
            assert_eq!(
                written.get("structuredContent").is_some(),
                expected,
                "{revision}"
            );
        }
        assert_eq!(having, expected);
    }
    check(Raw::EMPTY_OBJECT, "3445");
    check(Raw::EMPTY_ARRAY, "5");
    check(Raw::NULL, "5");
    check(Raw::TRUE, "5");
}

#[test]
fn the_root_decides_where_an_output_schema_goes() {
    fn check(schema: &'static str, expected: &str) {
        let tool = Tool {
            output_schema: Some(object(schema)),
            ..Tool::new("n", Object::EMPTY)
        };
        let having: String = REVISIONS
            .into_iter()
            .filter(|(_, revision)| {
                let mut out = [0; 2048];
                let written = encode(&tool, Some(*revision), &mut out).object().unwrap();
                written.get("outputSchema").is_some()
            })
            .map(|(number, _)| number)
            .collect();
        assert_eq!(having, expected, "{schema}");
    }
    check(r#"{"type":"object"}"#, "3445");
    check(r#"{"type":"array"}"#, "5");
    check("{}", "5");
}

#[test]
fn an_older_peer_gets_one_block() {
    let text = SamplingBlock::text("a");
    let check = |content: SamplingContent<'_>, older: &str, newer: &str| {
        for (number, revision) in REVISIONS {
            let mut out = [0; 2048];
            let expected = if number < '4' { older } else { newer };
            assert_eq!(
                encode(&content, Some(revision), &mut out).as_str(),
                expected
            );
        }
    };
    let one = r#"{"type":"text","text":"a"}"#;
    check(SamplingContent::One(text), one, one);
    let two = r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#;
    let blocks = [text, SamplingBlock::text("b")];
    check(SamplingContent::Many(List::new(&blocks)), one, two);
    let none = r#"{"type":"text","text":""}"#;
    check(SamplingContent::Many(List::EMPTY), none, none);
}
