//! What a server asks its client for, and the rounds in which it does.

use super::content::{tool_result, tool_use};
use super::*;

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
            result_type: InputRequiredTag::InputRequired,
            input_requests: Some(Map::EMPTY),
            request_state: Some(RequestState("s".into())),
            meta: EMPTY,
        },
    );
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
