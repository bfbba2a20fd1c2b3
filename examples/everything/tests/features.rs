//! Every feature in every revision that has it: the library's own client, in one process.

use core::future::Future;
use std::sync::{Arc, Mutex};

use everything::server;
use mcp_async::client::{CallError, ClientBuilder, Update};
use mcp_async::code;
use mcp_async::json::{Raw, RawBuf};
use mcp_async::model::{
    CallToolResult, Content, CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult,
    LoggingLevel, Meta, Reference, ResourceContents, Root,
};
use mcp_async::{Revision, RevisionSet};
use mcp_skills::SkillsClient;
use mcp_tokio::{Client, in_memory};

#[test]
fn tools() {
    check(
        OLDEST,
        "echo",
        r#"{"text":"hé \"there\"\n"}"#,
        "hé \"there\"\n",
    );
    check(OLDEST, "add", r#"{"a":1,"b":2.5}"#, r#"{"sum":3.5}"#);
    check(OLDEST, "sleep", r#"{"ms":1}"#, "slept");
    check(OLDEST, "big", r#"{"n":3}"#, "xxx");
    check(
        OLDEST,
        "test_simple_text",
        "{}",
        "This is a simple text response for testing.",
    );
    check(OLDEST, "test_custom_header", r#"{"value":"v"}"#, "v");
    check(OLDEST, "test_missing_capability", "{}", "Success");
    check(
        OLDEST,
        "json_schema_2020_12_tool",
        r#"{"name":"n","email":"e"}"#,
        r#"JSON Schema 2020-12 tool called with: {"name":"n","email":"e"}"#,
    );
}

// Its roots are paths of Unix.
#[cfg(unix)]
#[test]
fn questions() {
    check(
        OLDEST,
        "test_sampling",
        r#"{"prompt":"a poem"}"#,
        "LLM response: heard a poem",
    );
    check(OLDEST, "list_roots", "{}", ROOT);
    check(
        FORMS,
        "test_elicitation",
        r#"{"message":"Who?"}"#,
        r#"User response: action=accept, content={"username":"ada","email":"ada@example.com"}"#,
    );
    check(PAGES, "elicit_url", "{}", "accept");
}

/// What the person left out is filled in by the client, where the form says with what (EL-18).
#[test]
fn defaults() {
    each(PAGES, async |client, revision| {
        let answer = call(&client, "test_elicitation_sep1034_defaults", "{}")
            .await
            .unwrap();
        for part in [
            r#""name":"Ada""#,
            r#""age":30"#,
            r#""score":95.5"#,
            r#""verified":true"#,
        ] {
            assert!(
                answer.text().contains(part),
                "{revision}: {}",
                answer.text()
            );
        }
        let answer = call(&client, "test_elicitation_sep1330_enums", "{}")
            .await
            .unwrap();
        assert!(
            answer.text().contains("action=accept"),
            "{revision}: {}",
            answer.text()
        );
    });
}

/// The same handlers, as nested requests and as rounds.
// Its roots are paths of Unix.
#[cfg(unix)]
#[test]
fn rounds() {
    let name = |tool: &str| format!("test_input_required_result_{tool}");
    check(FORMS, &name("elicitation"), "{}", "Hello, Ada!");
    check(
        OLDEST,
        &name("sampling"),
        "{}",
        "Sampling result: heard What is the capital of France?",
    );
    check(OLDEST, &name("list_roots"), "{}", "Found 1 root(s)");
    check(
        FORMS,
        &name("request_state"),
        "{}",
        "state-ok: requestState validated",
    );
    check(
        FORMS,
        &name("tampered_state"),
        "{}",
        "integrity-ok: state verified",
    );
    check(
        FORMS,
        &name("multiple_inputs"),
        "{}",
        "Name: Ada; Greeting: heard Generate a greeting; Roots: 1",
    );
    check(
        FORMS,
        &name("multi_round"),
        "{}",
        "Multi-round complete for Ada who likes blue",
    );
    check(
        FORMS,
        &name("capabilities"),
        "{}",
        "capabilities-ok: received v, heard Sample request",
    );
}

#[test]
fn content() {
    each(OLDEST, async |client, revision| {
        let blocks = async |tool: &str| call(&client, tool, "{}").await.unwrap().content;
        let image = blocks("test_image_content").await;
        let [Content::Image(image)] = image.as_slice() else {
            panic!("{revision}")
        };
        assert!(image.data.decode().unwrap().starts_with(b"\x89PNG"));
        let sound = blocks("test_audio_content").await;
        match sound.as_slice() {
            [Content::Audio(sound)] => {
                assert!(sound.data.decode().unwrap().starts_with(b"RIFF"));
            }
            [Content::Text(note)] => assert!(note.text.contains("audio"), "{revision}"),
            _ => panic!("{revision}"),
        }
        let embedded = blocks("test_embedded_resource").await;
        let [Content::Resource(embedded)] = embedded.as_slice() else {
            panic!("{revision}")
        };
        assert_eq!(embedded.resource.uri(), Some("test://embedded-resource"));
        let several = blocks("test_multiple_content_types").await;
        let [Content::Text(_), Content::Image(_), Content::Resource(_)] = several.as_slice() else {
            panic!("{revision}")
        };
    });
}

#[test]
fn failures() {
    each(OLDEST, async |client, revision| {
        let told = call(&client, "test_error_handling", "{}").await.unwrap();
        assert!(
            told.is_error && told.text().contains("intentionally"),
            "{revision}"
        );
        for tool in ["fail", "panic"] {
            let Err(CallError::Server(error)) = call(&client, tool, "{}").await else {
                panic!("{revision}")
            };
            assert_eq!(error.code, code::INTERNAL_ERROR, "{revision}");
            assert!(!error.message.contains("inside") && !error.message.contains("purpose"));
        }
        let unknown = call(&client, "no_such_tool", "{}").await;
        assert!(matches!(unknown, Err(CallError::Server(_))), "{revision}");
        let missing = client.read_resource("test://nothing").await;
        assert!(matches!(missing, Err(CallError::Server(_))), "{revision}");
    });
}

/// Nobody is asked what they did not declare to answer.
#[test]
fn undeclared() {
    for revision in RevisionSet::at_least(FORMS).iter() {
        block_on(async {
            let client = meet(Client::builder("mute", "1"), revision).await;
            for (tool, arguments) in [
                ("test_sampling", r#"{"prompt":"p"}"#),
                ("test_elicitation", r#"{"message":"m"}"#),
                ("list_roots", "{}"),
                ("test_missing_capability", "{}"),
            ] {
                let Err(CallError::Server(error)) = call(&client, tool, arguments).await else {
                    panic!("{revision}: {tool}")
                };
                // LC-12: the code of its own is of 2026-07-28; the text says it everywhere.
                let expected = if revision.is_modern() {
                    code::MISSING_CLIENT_CAPABILITY
                } else {
                    code::INTERNAL_ERROR
                };
                assert_eq!(error.code, expected, "{revision}: {tool}");
                let text = "Missing required client capability: ";
                assert!(error.message.starts_with(text), "{revision}: {error}");
            }
        });
    }
}

#[test]
fn progress() {
    each(OLDEST, async |client, revision| {
        let mut told = Vec::new();
        let call = client.call_tool("test_tool_with_progress", &());
        call.on_progress(|step| told.push((step.progress, step.total)))
            .await
            .unwrap();
        let expected = [0.0, 50.0, 100.0].map(|step| (step, Some(100.0)));
        assert_eq!(told, expected, "{revision}");
    });
}

#[test]
fn logs() {
    for revision in RevisionSet::all().iter() {
        block_on(async {
            let heard = Arc::new(Mutex::new(Vec::new()));
            let hears = Arc::clone(&heard);
            let builder = Client::builder("listener", "1")
                .on_log(move |log| hears.lock().unwrap().push(log.data));
            let client = meet(builder, revision).await;
            for (level, expected) in [(LoggingLevel::Error, 0), (LoggingLevel::Info, 3)] {
                client.set_log_level(level).await.unwrap();
                call(&client, "test_tool_with_logging", "{}").await.unwrap();
                assert_eq!(heard.lock().unwrap().len(), expected, "{revision}: {level}");
            }
        });
    }
}

#[test]
fn lists() {
    each(OLDEST, async |client, revision| {
        let tools = client.tools().all().await.unwrap();
        assert!(tools.len() > 30, "{revision}");
        assert!(
            client.tools().page(None).await.unwrap().next.is_some(),
            "{revision}"
        );
        assert_eq!(
            client.resources().all().await.unwrap().len(),
            5,
            "{revision}"
        );
        assert_eq!(
            client.resource_templates().all().await.unwrap().len(),
            1,
            "{revision}"
        );
        assert_eq!(client.prompts().all().await.unwrap().len(), 5, "{revision}");
    });
}

#[test]
fn skills() {
    each(Revision::V2025_11_25, async |client, revision| {
        let skills = SkillsClient::new(&client);
        let all = skills.all().await.unwrap();
        assert_eq!(all.len(), 2, "{revision}");
        let letters = skills.get("skill://letters/SKILL.md").await.unwrap();
        let letters = skills.load(letters).await.unwrap();
        let forms = letters.read("references/forms.md").await.unwrap();
        assert!(forms.text().unwrap().starts_with("# Forms"));
        let folder = skills.read_directory("skill://letters").await.unwrap();
        assert_eq!(folder.len(), 3);
    });
}

#[test]
fn resources() {
    each(OLDEST, async |client, revision| {
        let text = client
            .read_resource("test://static-text")
            .await
            .unwrap()
            .text();
        let expected = "This is the content of the static text resource.";
        assert_eq!(text.as_deref(), Some(expected), "{revision}");
        let binary = client.read_resource("test://static-binary").await.unwrap();
        let [ResourceContents::Blob(binary)] = binary.contents.as_slice() else {
            panic!("{revision}")
        };
        assert!(
            binary.blob.decode().unwrap().starts_with(b"\x89PNG"),
            "{revision}"
        );
        let data = client
            .read_resource("test://template/123/data")
            .await
            .unwrap()
            .text();
        let expected = r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#;
        assert_eq!(data.as_deref(), Some(expected), "{revision}");
    });
}

#[test]
fn prompts() {
    each(OLDEST, async |client, revision| {
        let arguments = json(r#"{"arg1":"hello","arg2":"world"}"#);
        let prompt = client
            .get_prompt("test_prompt_with_arguments", &arguments)
            .await
            .unwrap();
        let text = prompt.messages[0].content.as_text();
        let expected = "Prompt with arguments: arg1='hello', arg2='world'";
        assert_eq!(text, Some(expected), "{revision}");
        let arguments = json(r#"{"resourceUri":"test://a"}"#);
        let name = "test_prompt_with_embedded_resource";
        let prompt = client.get_prompt(name, &arguments).await.unwrap();
        assert_eq!(prompt.messages.len(), 2, "{revision}");
    });
    each(FORMS, async |client, revision| {
        let asking = client.get_prompt("test_input_required_result_prompt", &());
        let prompt = asking.await.unwrap();
        let text = prompt.messages[0].content.as_text();
        assert_eq!(text, Some("Prompt with context: tests"), "{revision}");
    });
}

#[test]
fn completion() {
    each(OLDEST, async |client, revision| {
        let template = Reference::resource("test://template/{id}/data");
        let ids = client.complete(&template, "id", "").await.unwrap();
        assert_eq!(
            (ids.values.len(), ids.total, ids.has_more),
            (100, Some(150), true)
        );
        let prompt = Reference::prompt("test_prompt_with_arguments");
        let words = client.complete(&prompt, "arg1", "par").await.unwrap();
        assert_eq!(words.values, ["paris", "park", "party"], "{revision}");
    });
    each(FORMS, async |client, revision| {
        let prompt = Reference::prompt("test_prompt_with_arguments");
        let context = [("arg2", "x")];
        let words = client
            .complete(&prompt, "arg1", "pari")
            .context(&context)
            .await
            .unwrap();
        assert_eq!(words.values, ["paris-x"], "{revision}");
    });
}

#[test]
fn changes() {
    each(OLDEST, async |client, revision| {
        let watched = "test://watched-resource";
        let mut updates = client.subscribe(watched).await.unwrap();
        call(
            &client,
            "touch_resource",
            &format!(r#"{{"uri":"{watched}"}}"#),
        )
        .await
        .unwrap();
        assert_eq!(
            updates.next().await,
            Some(Update::Resource(watched.into())),
            "{revision}"
        );

        let mut changes = client.changes().await.unwrap();
        for (kind, expected) in [("tool", Update::Tools), ("prompt", Update::Prompts)] {
            call(&client, &format!("test_trigger_{kind}_change"), "{}")
                .await
                .unwrap();
            assert_eq!(changes.next().await, Some(expected), "{revision}");
        }
        let tools = client.tools().all().await.unwrap();
        assert!(
            tools.iter().any(|tool| tool.name == "transient"),
            "{revision}"
        );
    });
}

/// A tool, its arguments, and the text of its result in each revision since one.
#[track_caller]
fn check(since: Revision, tool: &str, arguments: &str, expected: &str) {
    each(since, async |client, revision| {
        let answer = call(&client, tool, arguments).await.unwrap();
        assert_eq!(answer.text(), expected, "{revision}: {tool}");
        assert!(!answer.is_error, "{revision}: {tool}");
    });
}

/// A new server and a client that can answer all questions, in each revision since one.
fn each<F: Future<Output = ()>>(since: Revision, test: impl Fn(Client, Revision) -> F) {
    for revision in RevisionSet::at_least(since).iter() {
        block_on(async {
            let builder = Client::builder("test", "1")
                .roots([Root::new(ROOT)])
                .on_elicitation(async |question, _| Ok(fill(&question)))
                .on_sampling(async |question, _| Ok(sample(&question)));
            test(meet(builder, revision).await, revision).await;
        });
    }
}

async fn meet(builder: ClientBuilder, revision: Revision) -> Client {
    let builder = builder.revisions(RevisionSet::of(&[revision]));
    let server = server(&[]).build().unwrap();
    builder.connect(in_memory(&server)).await.unwrap()
}

async fn call(client: &Client, tool: &str, arguments: &str) -> Result<CallToolResult, CallError> {
    client.call_tool(tool, &json(arguments)).await
}

fn json(text: &str) -> RawBuf {
    text.parse().unwrap()
}

/// The person: fills in what it knows, and visits every page.
fn fill(question: &ElicitParams) -> ElicitResult {
    let ElicitParams::Form(form) = question else {
        return ElicitResult::agree();
    };
    let fields = form
        .requested_schema
        .as_raw()
        .object()
        .unwrap()
        .get("properties");
    let mut content = Meta::new();
    for (field, _) in fields.and_then(Raw::object).unwrap().members() {
        if let Some((name, value)) = KNOWN.iter().find(|(name, _)| field == *name) {
            content.insert(*name, &json(value)).unwrap();
        }
    }
    ElicitResult::accept(&content).unwrap()
}

/// The model: repeats what it hears.
fn sample(question: &CreateMessageParams) -> CreateMessageResult {
    let heard = question.messages[0].content.text();
    CreateMessageResult::new("parrot", format!("heard {heard}"))
}

const KNOWN: &[(&str, &str)] = &[
    ("username", r#""ada""#),
    ("email", r#""ada@example.com""#),
    ("name", r#""Ada""#),
    ("color", r#""blue""#),
    ("ok", "true"),
    ("value", r#""v""#),
    ("context", r#""tests""#),
];
const ROOT: &str = "file:///srv";

const OLDEST: Revision = Revision::V2024_11_05;
const FORMS: Revision = Revision::V2025_06_18;
const PAGES: Revision = Revision::V2025_11_25;

fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test)
}
