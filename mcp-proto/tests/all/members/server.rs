//! What a server offers, and its results.

use super::content::tool_result;
use super::*;

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
