//! The owned model against its borrowed twin: read from the same JSON, both write the same, for
//! every revision.

use mcp_async::model as owned;
use mcp_proto::Revision;
use mcp_proto::json::{Raw, RawBuf, Writer};
use mcp_proto::model as borrowed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn encode(value: &impl Serialize, revision: Option<Revision>) -> String {
    let mut out = vec![0; 8192];
    let mut writer = Writer::new(&mut out);
    writer.value(value, revision).expect("it serializes");
    let len = writer.finish().expect("it fits");
    String::from_utf8(out[..len].to_vec()).unwrap()
}

/// The twins agree, and the owned one comes back as it was.
#[track_caller]
fn check<'b, B, O>(text: &'b str)
where
    B: Deserialize<'b> + Serialize,
    O: DeserializeOwned + Serialize,
{
    let raw = Raw::parse(text.as_bytes(), 128).expect("it is JSON");
    let theirs: B = raw.decode(&mut []).expect("the borrowed one reads it");
    let ours: O = raw.decode(&mut []).expect("the owned one reads it");
    for revision in Revision::ALL.map(Some).into_iter().chain([None]) {
        let written = encode(&ours, revision);
        assert_eq!(written, encode(&theirs, revision), "{revision:?}");
        Raw::parse(written.as_bytes(), 128).expect("it wrote JSON");
    }
    let again = RawBuf::encode(&ours).unwrap();
    let read: O = again.decode().unwrap();
    assert_eq!(RawBuf::encode(&read).unwrap(), again);
}

/// Read from the first text, the owned type writes the second.
#[track_caller]
fn repaired<O: DeserializeOwned + Serialize>(revision: Revision, text: &str, expected: &str) {
    let value: O = RawBuf::parse(text).unwrap().decode().expect("it is read");
    assert_eq!(encode(&value, Some(revision)), expected);
}

#[track_caller]
fn refused<O: DeserializeOwned>(text: &str) {
    assert!(
        RawBuf::parse(text).unwrap().decode::<O>().is_err(),
        "{text}"
    );
}

macro_rules! table {
    ($($name:ident: $($json:literal)+;)+) => {$(
        $(check::<borrowed::$name<'_>, owned::$name>($json);)+
    )+};
}

#[test]
fn what_servers_offer() {
    table! {
        Implementation:
            r#"{"name":"weather","version":"1.0"}"#
            r#"{"name":"weather","version":"1.0","title":"Weather","description":"d","websiteUrl":"https://example.com","icons":[{"src":"https://example.com/a.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"}]}"#;
        Icon: r#"{"src":"data:image/png;base64,AA==","theme":"sepia"}"#;
        Annotations:
            r#"{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}"#
            "{}";
        Tool:
            r#"{"name":"a","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}}"#
            r#"{"name":"a","title":"A","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"icons":[{"src":"https://e"}],"execution":{"taskSupport":"optional"},"_meta":{"a/b":[1e400,"\ud83d"]}}"#
            r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#
            r#"{"name":"a","inputSchema":{},"outputSchema":{"anyOf":[]},"execution":{"taskSupport":"new"}}"#;
        ListToolsResult:
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"","ttlMs":1500,"cacheScope":"public","_meta":{"x":1}}"#
            r#"{"tools":[],"nextCursor":"a\u0062\ud83d\"","ttlMs":-1,"cacheScope":"everyone"}"#;
        Resource:
            r#"{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":3,"annotations":{"audience":["user"]},"icons":[{"src":"https://e"}],"_meta":{"a/b":null}}"#;
        ListResourcesResult:
            r#"{"resources":[{"uri":"file:///a","name":"a"}],"nextCursor":"2"}"#;
        ResourceTemplate:
            r#"{"uriTemplate":"file:///{path}","name":"files","title":"F","description":"d","mimeType":"text/plain","annotations":{"priority":1},"icons":[{"src":"https://e"}],"_meta":{"x":{}}}"#;
        ListResourceTemplatesResult:
            r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"}],"cacheScope":"private"}"#;
        Prompt:
            r#"{"name":"p","title":"P","description":"d","arguments":[{"name":"a","title":"A","description":"d","required":true},{"name":"b"}],"icons":[{"src":"https://e"}],"_meta":{"x":1}}"#;
        ListPromptsResult: r#"{"prompts":[{"name":"p"}],"ttlMs":0}"#;
    }
}

#[test]
fn what_servers_answer() {
    table! {
        CallToolResult:
            r#"{"content":[{"type":"text","text":"a\u0001\n","annotations":{"priority":1},"_meta":{"x":1}}]}"#
            r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png","_meta":{"x":1}},{"type":"new","x":1}],"structuredContent":{"a":1},"isError":true,"_meta":{"y":[]}}"#
            r#"{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav","annotations":{"audience":["assistant"]},"_meta":{"x":1}}],"structuredContent":[1]}"#
            r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"m","size":1,"annotations":{"priority":0.25},"icons":[{"src":"https://e"}],"_meta":{"x":1}}],"structuredContent":null}"#
            r#"{"content":[{"type":"resource","resource":{"uri":"u","mimeType":"m","text":"t","_meta":{"x":1}},"annotations":{},"_meta":{"x":1}}]}"#
            r#"{"structuredContent":{"a":1}}"#;
        ReadResourceResult:
            r#"{"contents":[{"uri":"file:///a","text":"t"},{"uri":"file:///b","mimeType":"image/png","blob":"AA==","_meta":{"x":1}},{"uri":"file:///c"}],"ttlMs":5,"cacheScope":"public"}"#;
        GetPromptResult:
            r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}},{"role":"assistant","content":{"type":"audio","data":"AA","mimeType":"audio/wav"}}],"_meta":{"x":1}}"#;
        CompleteResult:
            r#"{"completion":{"values":["a","b"],"total":10,"hasMore":true},"_meta":{"x":1}}"#
            r#"{"completion":{"values":[]}}"#;
        LoggingMessageParams:
            r#"{"level":"warning","logger":"db","data":{"a":[1,2.50]},"_meta":{"x":1}}"#
            r#"{"level":"debug","data":null}"#;
        SubscriptionFilter:
            r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a"]}"#
            "{}";
    }
}

#[test]
fn tasks() {
    table! {
        DetailedTask:
            r#"{"taskId":"a","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}"#
            r#"{"taskId":"a","status":"input_required","statusMessage":"m","createdAt":"t","lastUpdatedAt":"t","ttlMs":9007199254740991,"pollIntervalMs":50,"inputRequests":{"k":{"method":"roots/list","params":{}}},"_meta":{"x":1}}"#
            r#"{"taskId":"a","status":"completed","createdAt":"t","lastUpdatedAt":"t","ttlMs":1,"result":{"content":[]}}"#
            r#"{"taskId":"a","status":"failed","createdAt":"t","lastUpdatedAt":"t","ttlMs":-1,"error":{"code":-32603,"message":"m"}}"#;
        Task:
            r#"{"taskId":"a","status":"cancelled","statusMessage":"m","createdAt":"t","lastUpdatedAt":"t","ttl":60000,"pollInterval":50,"_meta":{"x":1}}"#;
        CreateTaskResult:
            r#"{"task":{"taskId":"a","status":"working","createdAt":"t","lastUpdatedAt":"t","ttl":null},"_meta":{"x":1}}"#;
        ListTasksResult:
            r#"{"tasks":[{"taskId":"a","status":"working","createdAt":"t","lastUpdatedAt":"t","ttl":null}],"nextCursor":"2"}"#;
    }
}

/// TK-36, TK-43.
#[test]
fn members_of_a_task_follow_its_status() {
    let check = |members: &str, expected: bool| {
        let text = format!(
            r#"{{"taskId":"a","createdAt":"t","lastUpdatedAt":"t","ttlMs":null,{members}}}"#
        );
        let task: owned::DetailedTask = RawBuf::parse(text).unwrap().decode().unwrap();
        assert_eq!(task.check().is_ok(), expected, "{members}");
    };
    check(r#""status":"working""#, true);
    check(r#""status":"cancelled""#, true);
    check(r#""status":"input_required","inputRequests":{}"#, true);
    check(r#""status":"completed","result":{}"#, true);
    check(r#""status":"failed","error":{}"#, true);
    check(r#""status":"input_required""#, false);
    check(r#""status":"completed""#, false);
    check(r#""status":"failed""#, false);
    check(r#""status":"working","result":{}"#, false);
    check(r#""status":"cancelled","error":{}"#, false);
    check(r#""status":"failed","error":{},"result":{}"#, false);
    check(r#""status":"completed","result":{},"error":{}"#, false);
}

#[test]
fn what_clients_are_asked_and_answer() {
    table! {
        ListRootsResult:
            r#"{"roots":[{"uri":"file:///a","name":"a","_meta":{"x":1}},{"uri":"file:///b"}],"_meta":{"y":1}}"#;
        CreateMessageParams:
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"},"_meta":{"x":1}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{"a":1},"_meta":{"x":1}},{"type":"image","data":"AA==","mimeType":"image/png"}]},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"t"}],"structuredContent":[1],"isError":true,"_meta":{"x":1}}]},{"role":"user","content":[]}],"maxTokens":100,"modelPreferences":{"hints":[{"name":"claude"},{}],"costPriority":0,"speedPriority":1,"intelligencePriority":0.5},"systemPrompt":"s","includeContext":"thisServer","temperature":0.7,"stopSequences":["x"],"metadata":{"a":1},"tools":[{"name":"n","inputSchema":{}}],"toolChoice":{"mode":"required"},"_meta":{"x":1}}"#
            r#"{"messages":[],"maxTokens":1}"#;
        CreateMessageResult:
            r#"{"role":"assistant","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"},"model":"m","stopReason":"endTurn","_meta":{"x":1}}"#
            r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m","stopReason":"end_turn"}"#
            r#"{"role":"assistant","content":[{"type":"tool_result","toolUseId":"1","content":[],"structuredContent":{}},{"type":"odd"}],"model":"m"}"#;
        ElicitParams:
            r#"{"mode":"form","message":"m","requestedSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"s":{"type":"string","minLength":1,"format":"email","default":"d"},"n":{"type":"integer","minimum":0},"b":{"type":"boolean","default":true},"e":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"t":{"type":"string","oneOf":[{"const":"a","title":"A"}]},"m":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"maxItems":2}},"required":["s"]},"_meta":{"x":1}}"#
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#
            r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e","_meta":{"x":1}}"#
            r#"{"mode":"voice","message":1}"#;
        ElicitResult:
            r#"{"action":"accept","content":{"a":1,"b":"x","c":["y"]},"_meta":{"x":1}}"#
            r#"{"action":"decline"}"#
            r#"{"action":"cancel","content":null}"#;
    }
}

/// `TL-17`: what a revision does not have becomes a note, or is left out.
#[test]
fn notes_take_the_place_of_what_a_revision_lacks() {
    let note =
        r#"{"type":"text","text":"(audio, which this revision of the protocol cannot carry)"}"#;
    // Whatever holds bytes will do.
    for same in [
        owned::Content::audio(b"RIFF", "audio/wav"),
        owned::Content::audio(*b"RIFF", "audio/wav"),
        owned::Content::audio("RIFF", "audio/wav"),
        owned::Content::audio(&b"RIFF"[..], "audio/wav"),
        owned::Content::audio(std::borrow::Cow::Borrowed(&b"RIFF"[..]), "audio/wav"),
    ] {
        assert_eq!(same, owned::Content::audio(b"RIFF", "audio/wav"));
    }
    let audio = owned::Content::audio(b"RIFF", "audio/wav");
    assert_eq!(encode(&audio, Some(Revision::V2024_11_05)), note);
    assert!(encode(&audio, Some(Revision::V2025_03_26)).contains("UklGRg=="));

    let link = owned::Content::resource_link("file:///a", "a");
    assert_eq!(
        encode(&link, Some(Revision::V2025_03_26)),
        r#"{"type":"text","text":"file:///a"}"#
    );
    assert_eq!(
        encode(&link, Some(Revision::V2025_06_18)),
        r#"{"type":"resource_link","uri":"file:///a","name":"a"}"#
    );

    let tool = owned::Tool {
        output_schema: Some(r#"{"type":"array"}"#.parse().unwrap()),
        ..owned::Tool::new("a", RawBuf::parse("{}").unwrap())
    };
    let has_schema = |revision| encode(&tool, Some(revision)).contains("outputSchema");
    assert!(!has_schema(Revision::V2025_11_25) && has_schema(Revision::V2026_07_28));

    let result = owned::CallToolResult::from_structured(&[1, 2]).unwrap();
    let text = r#"{"content":[{"type":"text","text":"[1,2]"}]}"#;
    assert_eq!(encode(&result, Some(Revision::V2025_11_25)), text);
    assert!(encode(&result, Some(Revision::V2026_07_28)).contains(r#""structuredContent":[1,2]"#));

    // SP-13
    let blocks = vec![
        owned::SamplingBlock::text("a"),
        owned::SamplingBlock::text("b"),
    ];
    let sampled = owned::CreateMessageResult::new("m", blocks);
    assert_eq!(
        encode(&sampled, Some(Revision::V2025_06_18)),
        r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}"#
    );
}

#[test]
fn what_is_nearly_right_is_read() {
    // TL-18
    repaired::<owned::CallToolResult>(
        Revision::V2025_06_18,
        r#"{"structuredContent":{"a":1},"isError":null,"future":[{}]}"#,
        r#"{"content":[],"structuredContent":{"a":1}}"#,
    );
    repaired::<owned::CallToolResult>(
        Revision::V2026_07_28,
        r#"{"content":null,"_meta":null}"#,
        r#"{"content":[]}"#,
    );
    // Hints that nobody understands are no reason to lose what they are about.
    repaired::<owned::Content>(
        Revision::V2025_11_25,
        r#"{"type":"text","text":"t","annotations":{"audience":["user","robot",1]}}"#,
        r#"{"type":"text","text":"t","annotations":{"audience":["user"]}}"#,
    );
    repaired::<owned::Prompt>(
        Revision::V2025_11_25,
        r#"{"name":"p","icons":[{"url":"no source"},{"src":"https://e","sizes":"48x48"}],"arguments":null}"#,
        r#"{"name":"p","icons":[{"src":"https://e"}]}"#,
    );
    repaired::<owned::Content>(
        Revision::V2025_11_25,
        r#"{"type":"text","text":"\ud83d!"}"#,
        "{\"type\":\"text\",\"text\":\"\u{FFFD}!\"}",
    );
}

#[test]
fn what_is_wrong_is_refused() {
    refused::<owned::Content>(r#"{"text":"without a type"}"#);
    refused::<owned::Content>(r#"{"type":"image","data":""}"#);
    refused::<owned::PromptMessage>(r#"{"role":"system","content":{"type":"text","text":""}}"#);
    refused::<owned::Tool>(r#"{"name":"a","inputSchema":true}"#);
    refused::<owned::Tool>(r#"{"name":"a","inputSchema":{},"outputSchema":[]}"#);
    refused::<owned::Tool>(r#"{"name":"a"}"#);
    refused::<owned::ListToolsResult>("{}");
    refused::<owned::ListToolsResult>(r#"{"tools":[],"nextCursor":2}"#);
    refused::<owned::ElicitResult>(r#"{"action":"later"}"#);
    refused::<owned::ElicitResult>(r#"{"action":"accept","content":[]}"#);
    let task = |members: &str| {
        format!(
            r#"{{"taskId":"a","createdAt":"t","lastUpdatedAt":"t","status":"working",{members}}}"#
        )
    };
    // TK-65
    refused::<owned::DetailedTask>(&task(r#""ttlMs":1.5"#));
    refused::<owned::DetailedTask>(&task(r#""ttlMs":9007199254740992"#));
    refused::<owned::DetailedTask>(&task(r#""ttlMs":1,"pollIntervalMs":-1"#));
    refused::<owned::DetailedTask>(&task(r#""ttlMs":1,"pollIntervalMs":0.5"#));
    refused::<owned::DetailedTask>(&task(r#""ttlMs":1,"result":[]"#));
    refused::<owned::Task>(&task(r#""ttl":1,"pollInterval":9007199254740992"#));
    refused::<owned::DetailedTask>(
        r#"{"taskId":"a","createdAt":"t","lastUpdatedAt":"t","status":"paused","ttlMs":1}"#,
    );
    refused::<owned::ToolUseContent>(r#"{"id":"1","name":"n","input":[]}"#);
}

/// JR-48.
#[test]
fn acceptable_icons() {
    let check = |src: &str, expected| {
        assert_eq!(owned::Icon::new(src).is_acceptable(), expected, "{src}");
    };
    check("https://example.com/a.png", true);
    check("HTTPS://example.com/a.png", true);
    check("data:image/png;base64,AA==", true);
    for src in [
        "http://e",
        "javascript:0",
        "file:///a",
        "ftp://e",
        "ws://e",
        "app:a",
        "a.png",
        "",
    ] {
        check(src, false);
    }
    check(" https://e", false);
}

#[test]
fn bytes_in_base64() {
    let check = |text: &str, expected: Option<&[u8]>| {
        let decoded = owned::Base64::from(text).decode();
        assert_eq!(decoded.ok().as_deref(), expected, "{text}");
    };
    check("", Some(b""));
    check("AA==", Some(b"\0"));
    check("AA", Some(b"\0"));
    check("AA=", Some(b"\0"));
    check("+/8=", Some(b"\xFB\xFF"));
    check("-_8=", None);
    check("A", None);
    check("AA==AA", None);
    for len in 0..50 {
        let bytes: Vec<u8> = (0..len).map(|index: u8| index.wrapping_mul(37)).collect();
        assert_eq!(owned::Base64::encode(&bytes).decode(), Ok(bytes));
    }
}

/// SP-09.
#[test]
fn hints_in_their_order() {
    let check = |hints: &[&str], models: &[&'static str], expected| {
        let preferences = owned::ModelPreferences {
            hints: hints.iter().copied().map(owned::ModelHint::new).collect(),
            ..owned::ModelPreferences::default()
        };
        assert_eq!(preferences.select(models), expected, "{hints:?}");
    };
    check(&["b", "a"], &["xa", "xb", "yb"], Some("xb"));
    check(&["c", "a"], &["xa", "xb"], Some("xa"));
    check(&["", "b"], &["xa", "xb"], Some("xb"));
    check(&[], &["xa"], None);
    check(&["a"], &[], None);
}

#[test]
fn what_people_wrote_stays_out_of_debug() {
    let answer = owned::ElicitResult::accept(&["secret"]).unwrap();
    let mut meta = owned::Meta::new();
    meta.insert("key", "secret").unwrap();
    let bytes = owned::Base64::from("secret");
    assert!(!format!("{answer:?} {meta:?} {bytes:?}").contains("secret"));
}
