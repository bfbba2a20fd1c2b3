//! Messages are decoded into the model and written again: the same, with or without members
//! that nobody knows.

use core::fmt::Debug;

use mcp_proto::json::{List, Map, Raw, Str, Writer};
use mcp_proto::model::*;
use mcp_proto::{Payload, Revision};
use serde::{Deserialize, Serialize};

const OLDEST: Revision = Revision::V2024_11_05;
const FORMS: Revision = Revision::V2025_06_18;
const TASKS: Revision = Revision::V2025_11_25;
const NEWEST: Revision = Revision::V2026_07_28;

fn decode<'b, T: Deserialize<'b>>(text: &'b str) -> T {
    let raw = Raw::parse(text.as_bytes(), 128).expect("it is JSON");
    raw.decode(&mut [])
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn encode(value: &impl Serialize, revision: Option<Revision>) -> String {
    let mut out = vec![0; 8192];
    let mut writer = Writer::new(&mut out);
    writer.value(value, revision).expect("it serializes");
    let len = writer.finish().expect("it fits");
    String::from_utf8(out[..len].to_vec()).unwrap()
}

/// Every too small buffer is refused, and the exact one is enough.
fn check_sizes(value: &impl Serialize, revision: Revision, expected: &str) {
    let mut out = vec![0; expected.len()];
    for len in 0..expected.len() {
        let mut writer = Writer::new(&mut out[..len]);
        writer.value(value, Some(revision)).unwrap();
        assert_eq!(writer.finish().unwrap_err().needed, expected.len());
    }
    let mut writer = Writer::new(&mut out);
    writer.value(value, Some(revision)).unwrap();
    assert_eq!(writer.finish().unwrap(), expected.len());
    assert_eq!(out, expected.as_bytes());
}

/// Text in the order of the type's members comes back as it was, by every way.
#[track_caller]
fn check<'b, T: Deserialize<'b> + Serialize + Debug>(revision: Revision, text: &'b str) {
    let value: T = decode(text);
    assert_eq!(encode(&value, Some(revision)), text);
    check_sizes(&value, revision, text);
    let value: T = decode(text);
    #[cfg(feature = "alloc")]
    check_twin(&value, text);

    let more = text.replacen('{', r#"{"future":[null,{"a":"\n"}],"#, 1);
    let more = more.replacen(r#"],}"#, "]}", 1);
    let more: &'static str = String::leak(more);
    let value: T = Deserialize::deserialize(&mut mcp_proto::json::Deserializer::new(
        Raw::parse(more.as_bytes(), 128).unwrap(),
        &mut [],
    ))
    .expect("unknown members are tolerated");
    assert_eq!(
        encode(&value, Some(revision)),
        text,
        "with an unknown member"
    );
}

/// Another serializer writes the same values; halves of surrogate pairs it cannot read.
#[cfg(feature = "alloc")]
#[track_caller]
fn check_twin(value: &impl Serialize, text: &str) {
    fn plain(value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::Number(number) => number.as_f64().into(),
            Value::Array(list) => list.into_iter().map(plain).collect(),
            Value::Object(map) => map.into_iter().map(|(k, v)| (k, plain(v))).collect(),
            other => other,
        }
    }
    if let Ok(expected) = serde_json::from_str(text) {
        assert_eq!(plain(serde_json::to_value(value).unwrap()), plain(expected));
    }
}

/// What is read leniently is written strictly.
#[track_caller]
fn check_repaired<'b, T: Deserialize<'b> + Serialize>(
    revision: Revision,
    text: &'b str,
    expected: &str,
) {
    assert_eq!(encode(&decode::<T>(text), Some(revision)), expected);
}

#[track_caller]
fn check_refused<'b, T: Deserialize<'b>>(text: &'b str) {
    let raw = Raw::parse(text.as_bytes(), 128).expect("it is JSON");
    assert!(raw.decode::<T>(&mut []).is_err(), "{text}");
}

#[test]
fn opening() {
    check::<InitializeParams<'_>>(
        TASKS,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"elicitation":{"form":{}}},"clientInfo":{"name":"demo","version":"0.1"}}"#,
    );
    check::<InitializeResult<'_>>(
        TASKS,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"completions":{},"tools":{"listChanged":true}},"serverInfo":{"name":"srv","version":"2.0"},"instructions":"Units are metric."}"#,
    );
    check::<DiscoverResult<'_>>(
        NEWEST,
        r#"{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":60000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"srv","version":"2.0"}}}"#,
    );
    check::<RequestMeta<'_>>(
        NEWEST,
        r#"{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"demo","version":"0.1"},"io.modelcontextprotocol/logLevel":"info"}"#,
    );
    check::<UnsupportedVersionData<'_>>(
        NEWEST,
        r#"{"supported":["2026-07-28"],"requested":"2027-01-01"}"#,
    );
    check::<MissingCapabilitiesData<'_>>(
        NEWEST,
        r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#,
    );
}

#[test]
fn tools() {
    check::<ListToolsResult<'_>>(
        NEWEST,
        r#"{"tools":[{"name":"move","title":"Move","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":false},"icons":[{"src":"data:image/png;base64,AA==","sizes":["16x16"],"theme":"sepia"}]}],"nextCursor":"","ttlMs":0,"cacheScope":"private"}"#,
    );
    check::<CallToolParams<'_>>(
        TASKS,
        r#"{"name":"x","arguments":{"zone":"\u043e\u043a"},"task":{"ttl":60000}}"#,
    );
    check::<CallToolParams<'_>>(
        NEWEST,
        r#"{"name":"move","arguments":{},"inputResponses":{"ok":{"action":"accept","content":{"go":true,"n":3,"x":0.5,"s":"t","c":["a"]}}},"requestState":"v1.9a"}"#,
    );
    check::<CallToolResult<'_>>(
        NEWEST,
        r#"{"content":[{"type":"text","text":"a"},{"type":"new","x":1}],"structuredContent":null,"isError":true}"#,
    );
    let decoded: CallToolResult<'_> = decode(r#"{"content":[]}"#);
    assert_eq!(decoded.structured_content, None, "absent is not null");
    // TL-18
    check_repaired::<CallToolResult<'_>>(
        FORMS,
        r#"{"structuredContent":{"a":1},"isError":null}"#,
        r#"{"content":[],"structuredContent":{"a":1}}"#,
    );
    check_refused::<CallToolParams<'_>>(r#"{"arguments":{}}"#);
    check_refused::<CallToolParams<'_>>(r#"{"name":"x","arguments":[]}"#);
    check_refused::<CallToolParams<'_>>(r#"{"name":"x","name":"y"}"#);
}

#[test]
fn a_result_of_one_text_is_like_the_whole_one() {
    let peers = [r#""a\u0062\n""#, r#""half \ud83d""#].map(decode::<Str<'_>>);
    for text in [Str::from("x"), Str::from("\"\n"), peers[0], peers[1]] {
        let content = [Content::Text(TextContent {
            text,
            ..TextContent::default()
        })];
        let cases = Revision::ALL.map(|revision| [(revision, false), (revision, true)]);
        for (revision, is_error) in cases.into_iter().flatten() {
            let whole = CallToolResult {
                content: (&content).into(),
                is_error,
                ..CallToolResult::default()
            };
            let mut out = [0; 128];
            let mut writer = Writer::new(&mut out);
            let result = TextResult { text, is_error };
            result.write(&mut writer, revision).unwrap();
            let len = writer.finish().unwrap();
            let written = core::str::from_utf8(&out[..len]).unwrap();
            assert_eq!(written, encode(&whole, Some(revision)));
        }
    }
    assert!(!TextResult::from("x").is_error);
}

#[test]
fn pages() {
    check::<PageParams<'_>>(OLDEST, r#"{"cursor":""}"#);
    check::<PageParams<'_>>(OLDEST, r#"{"cursor":"a\u0062\ud83d"}"#);
    check::<PageParams<'_>>(OLDEST, "{}");
    // PN-07, PN-04
    let page: ListPromptsResult<'_> = decode(r#"{"prompts":[],"nextCursor":null}"#);
    assert!(page.next_cursor.is_none());
    let page: ListPromptsResult<'_> = decode(r#"{"prompts":[],"nextCursor":""}"#);
    assert!(page.next_cursor.is_some_and(Str::is_empty));
    // CH-13, CH-03
    let page: ListPromptsResult<'_> =
        decode(r#"{"prompts":[],"ttlMs":-5,"cacheScope":"everyone"}"#);
    assert_eq!(page.cache_scope, Some(CacheScope::Private));
    assert!(freshness(page.ttl_ms).is_zero());
}

#[test]
fn resources() {
    check::<ListResourcesResult<'_>>(
        TASKS,
        r#"{"resources":[{"uri":"file:///a","name":"a","size":3,"annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"},"_meta":{"a/b":[1]}}]}"#,
    );
    check::<ListResourceTemplatesResult<'_>>(
        OLDEST,
        r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"}]}"#,
    );
    check::<ReadResourceResult<'_>>(
        OLDEST,
        r#"{"contents":[{"uri":"file:///a","text":"t"},{"uri":"file:///b","mimeType":"image/png","blob":"AA=="},{"uri":"file:///c"}]}"#,
    );
    check::<ResourceParams<'_>>(OLDEST, r#"{"uri":"file:///a"}"#);
    check::<ReadResourceParams<'_>>(NEWEST, r#"{"uri":"file:///a","requestState":"\ud83d"}"#);
}

#[test]
fn the_priority_of_annotations_keeps_its_digits() {
    for digits in [
        "0",
        "1",
        "1.0",
        "-0",
        "5e-1",
        "1E+2",
        "1e400",
        "0.10000000000000000000000000000000001",
    ] {
        check::<Annotations<'_>>(OLDEST, &format!(r#"{{"priority":{digits}}}"#));
    }
}

#[test]
fn prompts_and_completion() {
    check::<ListPromptsResult<'_>>(
        FORMS,
        r#"{"prompts":[{"name":"p","title":"P","arguments":[{"name":"a","required":true}]}]}"#,
    );
    check::<GetPromptParams<'_>>(OLDEST, r#"{"name":"p","arguments":{"a":"1"}}"#);
    check::<GetPromptResult<'_>>(
        FORMS,
        r#"{"messages":[{"role":"assistant","content":{"type":"resource","resource":{"uri":"u","text":"t"}}},{"role":"user","content":{"type":"resource_link","uri":"u","name":"n"}}]}"#,
    );
    check::<CompleteParams<'_>>(
        FORMS,
        r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"k"},"context":{"arguments":{"b":"c"}}}"#,
    );
    check::<CompleteParams<'_>>(
        OLDEST,
        r#"{"ref":{"type":"ref/resource","uri":"file:///{a}"},"argument":{"name":"a","value":""}}"#,
    );
    check::<CompleteResult<'_>>(
        OLDEST,
        r#"{"completion":{"values":["a","b"],"total":10,"hasMore":true}}"#,
    );
    check_refused::<PromptMessage<'_>>(r#"{"role":"system","content":{"type":"text","text":""}}"#);
    check_refused::<Content<'_>>(r#"{"text":"without a type"}"#);
    check_refused::<Content<'_>>(r#"{"type":"image","data":""}"#);
}

#[test]
fn notifications() {
    check::<CancelledParams<'_>>(OLDEST, r#"{"requestId":4,"reason":"user"}"#);
    check::<CancelledParams<'_>>(OLDEST, r#"{"requestId":9007199254740993}"#);
    check::<CancelledParams<'_>>(OLDEST, r#"{"requestId":"\u0034"}"#);
    check::<ProgressParams<'_>>(
        NEWEST,
        r#"{"progressToken":"p","progress":0.5,"total":2,"message":"half"}"#,
    );
    check::<LoggingMessageParams<'_>>(
        OLDEST,
        r#"{"level":"warning","logger":"db","data":{"a":[1,2.50]}}"#,
    );
    check::<SetLevelParams<'_>>(OLDEST, r#"{"level":"emergency"}"#);
    check::<ListenParams<'_>>(
        NEWEST,
        r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}"#,
    );
    check::<AcknowledgedParams<'_>>(
        NEWEST,
        r#"{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":9}}"#,
    );
    check::<EmptyParams<'_>>(OLDEST, "{}");
    check_refused::<CancelledParams<'_>>(r#"{"reason":"no id"}"#);
    check_refused::<CancelledParams<'_>>(r#"{"requestId":1.0}"#);
    check_refused::<SetLevelParams<'_>>(r#"{"level":"loud"}"#);
}

#[test]
fn sampling() {
    check::<CreateMessageParams<'_>>(
        TASKS,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}],"maxTokens":100,"modelPreferences":{"hints":[{"name":"claude"}],"speedPriority":1},"includeContext":"thisServer","temperature":0.7,"tools":[],"toolChoice":{"mode":"auto"}}"#,
    );
    check::<CreateMessageResult<'_>>(
        OLDEST,
        r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"end_turn"}"#,
    );
    check::<ListRootsResult<'_>>(OLDEST, r#"{"roots":[{"uri":"file:///a","name":"a"}]}"#);
}

#[test]
fn elicitation() {
    let form = r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"s":{"type":"string","minLength":1,"format":"email"},"n":{"type":"integer","minimum":0},"b":{"type":"boolean","default":true},"e":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"u":{"type":"string","enum":["a"]},"m":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"maxItems":2},"p":{"type":"array","items":{"type":"string","enum":["a"]}}},"required":["s"]}}"#;
    check::<ElicitParams<'_>>(TASKS, form);
    // EL-04
    check_repaired::<ElicitParams<'_>>(
        NEWEST,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
    );
    check_repaired::<ElicitParams<'_>>(
        FORMS,
        r#"{"mode":null,"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
    );
    check::<ElicitParams<'_>>(
        TASKS,
        r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#,
    );
    check::<ElicitResult<'_>>(FORMS, r#"{"action":"accept","content":{"a":1,"b":"x"}}"#);
    check::<ElicitResult<'_>>(FORMS, r#"{"action":"cancel"}"#);
    check::<UrlElicitationData<'_>>(
        TASKS,
        r#"{"elicitations":[{"mode":"url","message":"m","url":"u","elicitationId":"e"}]}"#,
    );
    check_refused::<ElicitResult<'_>>(r#"{"action":"later"}"#);
    let other: ElicitParams<'_> = decode(r#"{"mode":"voice"}"#);
    assert!(matches!(other, ElicitParams::Other(_)));
}

#[test]
fn titles_of_choices_go_where_a_revision_has_them() {
    let choices = [
        Choice {
            value: "a".into(),
            title: "A".into(),
        },
        Choice {
            value: "b".into(),
            title: "B".into(),
        },
    ];
    let schema = PrimitiveSchema::Enum(EnumSchema {
        choices: Choices::Titled(List::new(&choices)),
        title: None,
        description: None,
        default: None,
    });
    let named = r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#;
    let titled =
        r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#;
    assert_eq!(encode(&schema, Some(FORMS)), named);
    assert_eq!(encode(&schema, Some(TASKS)), titled);
    let read: PrimitiveSchema<'_> = decode(titled);
    assert_eq!(encode(&read, Some(FORMS)), named);
}

#[test]
fn rounds() {
    check::<InputRequiredResult<'_>>(
        NEWEST,
        r#"{"resultType":"input_required","inputRequests":{"ok":{"method":"elicitation/create","params":{"mode":"form","message":"Move?","requestedSchema":{"type":"object","properties":{"go":{"type":"boolean"}},"required":["go"]}}},"r":{"method":"roots/list","params":{}},"x":{"method":"ping"}},"requestState":"v1.9a"}"#,
    );
    let request: InputRequest<'_> = decode(r#"{"method":"roots/list","id":3}"#);
    assert!(matches!(request, InputRequest::ListRoots(_)));
    let response = |text: &'static str| decode::<InputResponse<'_>>(text);
    assert!(matches!(
        response(r#"{"action":"decline"}"#),
        InputResponse::Elicit(_)
    ));
    assert!(matches!(
        response(r#"{"roots":[]}"#),
        InputResponse::ListRoots(_)
    ));
    assert!(matches!(
        response(r#"{"answer":42}"#),
        InputResponse::Other(_)
    ));
    check_refused::<InputRequest<'_>>(r#"{"params":{}}"#);
    check_refused::<InputRequest<'_>>(r#"{"method":"sampling/createMessage"}"#);
}

#[test]
fn tasks() {
    check::<CreateTaskResult<'_>>(
        TASKS,
        r#"{"task":{"taskId":"t1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1000}}"#,
    );
    check::<DetailedTask<'_>>(
        NEWEST,
        r#"{"taskId":"t1","status":"failed","createdAt":"c","lastUpdatedAt":"u","ttlMs":60000,"pollIntervalMs":1000,"error":{"code":-32603,"message":"m"}}"#,
    );
    check::<UpdateTaskParams<'_>>(
        NEWEST,
        r#"{"taskId":"t1","inputResponses":{"a":{"action":"decline"}}}"#,
    );
    check::<ListTasksResult<'_>>(TASKS, r#"{"tasks":[],"nextCursor":"c"}"#);
    assert!(TaskStatus::Cancelled.is_terminal() && !TaskStatus::InputRequired.is_terminal());
}

/// What one peer sent in a new revision may go on to another that speaks an old one.
#[test]
fn a_newer_list_is_passed_on_to_an_older_peer() {
    let tools = r#"{"tools":[{"name":"a","title":"A","inputSchema":{},"icons":[],"annotations":{"title":"A"}}],"ttlMs":1}"#;
    check_repaired::<ListToolsResult<'_>>(
        OLDEST,
        tools,
        r#"{"tools":[{"name":"a","inputSchema":{}}]}"#,
    );
    let result = r#"{"content":[{"type":"resource_link","uri":"u","name":"n","icons":[]},{"type":"odd"}],"structuredContent":{}}"#;
    check_repaired::<CallToolResult<'_>>(
        OLDEST,
        result,
        r#"{"content":[{"type":"text","text":"u"},{"type":"odd"}]}"#,
    );
}

#[test]
fn secrets_stay_out_of_debug() {
    let params: CallToolParams<'_> =
        decode(r#"{"name":"n","arguments":{"a":"secret"},"requestState":"secret"}"#);
    assert!(!format!("{params:?}").contains("secret"));
    let answer = [("a", FormValue::Text("secret".into()))];
    let answer = ElicitResult::accept(Map::from(&answer));
    assert!(!format!("{answer:?} {:?}", FormValue::Text("secret".into())).contains("secret"));
}
