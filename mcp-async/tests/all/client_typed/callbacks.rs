//! What a server asks a client for: the same callbacks in both eras.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use mcp_async::in_memory;

#[cfg(unix)]
use mcp_async::client::ConnectError;
use mcp_async::client::{CallError, ClientBuilder};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root, SamplingMessage,
};
use mcp_async::server;
use mcp_async::{Client, ErrorReply, Server};
use mcp_proto::client::Failure;
use mcp_proto::json::RawBuf;
use mcp_proto::model::ElicitAction;
use mcp_proto::revision::Elicitation;
use mcp_proto::{Revision, RevisionSet};

use crate::client_typed::support::{Seen, advance, only, poll_once, run};
use crate::connection::spans::Notes;
use crate::scripted::line_server;
use crate::sim::{Sim, settle};
use crate::texts::{INTERNAL_ERROR, internal, rows};

fn server() -> Server {
    Server::builder("curious", "1.0")
        .revisions(RevisionSet::of(&Revision::ALL))
        .tool("form", "", |(): (), cx: server::Context| async move {
            let schema = r#"{"type":"object","properties":{"name":{"type":"string"},
                "keen":{"type":"boolean","default":true}}}"#;
            let answer = cx.elicit_form("who", "Who?", schema.parse()?).await?;
            let content = answer.content.unwrap_or_default();
            Ok(format!("{} {}", answer.action, content.as_raw().as_str()))
        })
        .tool("page", "", |(): (), cx: server::Context| async move {
            let action = cx
                .elicit_url("page", "Look!", "https://example.com/")
                .await?;
            Ok(action.to_string())
        })
        .tool("model", "", |(): (), cx: server::Context| async move {
            let asked = vec![SamplingMessage::user("Well?")];
            let answer = cx.sample("model", CreateMessageParams::new(asked, 10));
            Ok(answer.await?.content.text())
        })
        .tool("roots", "", |(): (), cx: server::Context| async move {
            let roots = cx.roots().await?;
            let roots: Vec<_> = roots.iter().map(|(root, _)| root.uri.clone()).collect();
            Ok(roots.join(" "))
        })
        .tool("thrice", "", |(): (), cx: server::Context| async move {
            for key in ["a", "b", "c"] {
                let schema = r#"{"type":"object","properties":{}}"#;
                cx.elicit_form(key, key, schema.parse()?).await?;
            }
            Ok("enough")
        })
        .build()
        .unwrap()
}

/// What a call of the tool comes to, in every revision that can ask for this.
fn check(
    tool: &str,
    can: impl Fn(Revision) -> bool,
    build: impl Fn(ClientBuilder) -> ClientBuilder,
    expected: Result<&str, &dyn Fn(CallError, Revision)>,
) {
    for revision in Revision::ALL.into_iter().filter(|it| can(*it)) {
        run(async {
            let client = build(only(revision))
                .connect(in_memory(Sim.into(), &server()))
                .await
                .unwrap();
            let result = client.call_tool(tool, &()).await;
            match (expected, result) {
                (Ok(text), Ok(result)) => {
                    assert_eq!(result.text(), text, "{revision}");
                }
                (Err(check), Err(error)) => check(error, revision),
                (_, other) => panic!("{revision}: {other:?}"),
            }
        });
    }
}

fn has_forms(revision: Revision) -> bool {
    !matches!(revision.elicitation(), Elicitation::Absent)
}

fn has_pages(revision: Revision) -> bool {
    has_forms(revision) && !matches!(revision.elicitation(), Elicitation::Form)
}

/// EL-08, EL-16.
#[test]
fn forms_are_filled_in() {
    let name = |builder: ClientBuilder| {
        builder.on_elicitation(|asked: ElicitParams, _| async move {
            assert_eq!(asked.message(), Some("Who?"));
            let ElicitParams::Form(form) = asked else {
                return Ok(ElicitResult::cancel());
            };
            assert!(form.requested_schema.as_raw().as_str().contains("name"));
            let name = RawBuf::parse(r#"{"name":"Ada"}"#).unwrap();
            Ok(ElicitResult::accept(&name).unwrap())
        })
    };
    // EL-18: what was left out has its default.
    check(
        "form",
        has_forms,
        name,
        Ok(r#"accept {"name":"Ada","keen":true}"#),
    );
    let decline = |builder: ClientBuilder| {
        // EL-08: nothing goes with a no.
        builder.on_elicitation(|_, _| async {
            Ok(ElicitResult {
                action: ElicitAction::Decline,
                ..ElicitResult::accept("left over").unwrap()
            })
        })
    };
    check("form", has_forms, decline, Ok("decline null"));
}

/// EL-10, EL-16.
#[test]
fn pages_are_agreed_to() {
    let agree = |builder: ClientBuilder| {
        builder.on_elicitation(|asked, _| async move {
            match asked {
                ElicitParams::Url(page) if page.url == "https://example.com/" => {
                    Ok(ElicitResult::agree())
                }
                _ => Ok(ElicitResult::decline()),
            }
        })
    };
    check("page", has_pages, agree, Ok("accept"));
}

#[test]
fn a_model_answers() {
    let answer = |builder: ClientBuilder| {
        builder.on_sampling(|asked: CreateMessageParams, _| async move {
            assert_eq!((asked.messages.len(), asked.max_tokens), (1, 10));
            Ok(CreateMessageResult::new("deep", "42"))
        })
    };
    check("model", |_| true, answer, Ok("42"));
}

/// SP-07.
#[test]
fn a_refusal_ends_the_call() {
    let refuse = |builder: ClientBuilder| {
        builder.on_sampling(|_, _| async { Err(ErrorReply::new(-1, "the person said no").into()) })
    };
    // MR-15: there is no further round.
    let refused = |error: CallError, revision: Revision| match error {
        CallError::Input(error) if revision.is_modern() => assert_eq!(error.code, -1),
        CallError::Server(_) if revision.is_legacy() => {}
        other => panic!("{revision}: {other:?}"),
    };
    check("model", |_| true, refuse, Err(&refused));
    let panic = |builder: ClientBuilder| builder.on_sampling(|_, _| async { panic!("a bug") });
    check(
        "model",
        |_| true,
        panic,
        Err(&|error: CallError, revision| {
            assert!(!error.to_string().contains("a bug"), "{revision}");
        }),
    );
}

#[test]
fn callbacks_share_a_state() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let client = only(revision)
                .with_state(AtomicU32::new(40))
                .on_elicitation(|_, cx| async move {
                    cx.state().fetch_add(1, Ordering::Relaxed);
                    Ok(ElicitResult::decline())
                })
                .on_sampling(|_, cx| async move {
                    let count = cx.state().load(Ordering::Relaxed);
                    Ok(CreateMessageResult::new("deep", count.to_string()))
                })
                // Callbacks keep the state that they were set with.
                .with_state("/c:/state")
                .on_roots(|cx| async move { Ok(vec![Root::new(format!("file://{}", cx.state()))]) })
                .connect(in_memory(Sim.into(), &server()))
                .await
                .unwrap();
            client.call_tool("form", &()).await.unwrap();
            client.call_tool("form", &()).await.unwrap();
            let count = client.call_tool("model", &()).await.unwrap();
            assert_eq!(count.text(), "42", "{revision}");
            let roots = client.call_tool("roots", &()).await.unwrap();
            assert_eq!(roots.text(), "file:///c:/state", "{revision}");
        });
    }
}

#[test]
fn the_text_of_an_error_stays_with_the_client() {
    let fail = |builder: ClientBuilder| {
        builder.on_sampling(|_, _| async { Err(std::io::Error::other("a secret"))? })
    };
    let log = Notes::default();
    log.watch(|| {
        let hidden = |error: CallError, revision: Revision| match error {
            CallError::Input(error) => {
                let expected = format!("{INTERNAL_ERROR} (code -32603)");
                assert_eq!(error.to_string(), expected);
            }
            CallError::Server(_) if revision.is_legacy() => {}
            other => panic!("{revision}: {other:?}"),
        };
        check("model", |_| true, fail, Err(&hidden));
    });
    let lines = log.take().concat();
    let logged = lines.matches("exception.message=a secret").count();
    assert_eq!(logged, Revision::ALL.len(), "{lines}");
    let question = r#"sampling/createMessage {"messages":[],"maxTokens":1}"#;
    let answer = answer(fail, question);
    let error = internal(INTERNAL_ERROR);
    assert!(answer.contains(&error), "{answer}");
}

// Its roots are paths of Unix.
/// RT-01.
#[cfg(unix)]
#[test]
fn roots_are_shown_and_change() {
    let two = |builder: ClientBuilder| {
        builder.roots([Root::new("file:///a"), Root::new("file:///b%20c")])
    };
    check("roots", |_| true, two, Ok("file:///a file:///b%20c"));
    let asked = |builder: ClientBuilder| {
        builder.on_roots(|_| async { Ok(vec![Root::new("file:///asked")]) })
    };
    check("roots", |_| true, asked, Ok("file:///asked"));
    // RT-03: a callback's mistake is not shown.
    let wrong = |builder: ClientBuilder| {
        builder.on_roots(|_| async { Ok(vec![Root::new("https://example.com/")]) })
    };
    check("roots", |_| true, wrong, Err(&|_, _| {}));

    for revision in Revision::ALL {
        run(async {
            let refused = only(revision).roots([Root::new("https://example.com/")]);
            let refused = refused.connect(in_memory(Sim.into(), &server())).await;
            assert!(
                matches!(refused, Err(ConnectError::Root(uri)) if uri == "https://example.com/")
            );

            let client = only(revision)
                .roots([])
                .connect(in_memory(Sim.into(), &server()))
                .await
                .unwrap();
            let roots = async || client.call_tool("roots", &()).await.unwrap().text();
            assert_eq!(roots().await, "");
            client.set_roots([Root::new("file:///new")]).await.unwrap();
            assert_eq!(roots().await, "file:///new", "{revision}");
            let wrong = client.set_roots([Root::new("file:///a/../b")]).await;
            assert!(matches!(wrong, Err(ConnectError::Root(uri)) if uri == "file:///a/../b"));
            assert_eq!(roots().await, "file:///new", "{revision}");
        });
    }
}

#[test]
fn rounds_are_limited() {
    let agree = |limit: u8| {
        move |builder: ClientBuilder| {
            builder
                .rounds(limit)
                .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
        }
    };
    check("thrice", has_forms, agree(3), Ok("enough"));
    let too_many = |error: CallError, _| {
        assert!(
            matches!(error, CallError::Failed(Failure::Rounds)),
            "{error:?}"
        );
    };
    let in_rounds = Revision::has_input_required;
    check("thrice", in_rounds, agree(2), Err(&too_many));
}

#[test]
fn callbacks_run_inside_the_call_and_end_with_it() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        run(async {
            let seen = Seen::default();
            let dropped = seen.clone();
            let client = only(revision)
                .on_sampling(move |_, _| {
                    let guard = crate::client_typed::support::Guard(dropped.clone(), "gone");
                    async move {
                        let _guard = guard;
                        core::future::pending().await
                    }
                })
                .connect(in_memory(Sim.into(), &server()))
                .await
                .unwrap();
            let mut call = Box::pin(client.call_tool("model", &()));
            for _ in 0..3 {
                assert!(poll_once(call.as_mut()).is_pending());
                settle();
            }
            assert!(seen.take().is_empty(), "{revision}");
            drop(call);
            settle();
            advance(Duration::from_secs(1));
            assert_eq!(seen.take(), ["gone"], "{revision}");
        });
    }
}

type Builds = fn(ClientBuilder) -> ClientBuilder;

/// What a client answers a legacy server's question.
fn answer(build: Builds, question: &str) -> String {
    let builder = build(Client::builder("test", "0"));
    let (_client, mut lines) = line_server::connect(builder, Revision::V2025_11_25, "{}");
    lines.send(&format!("7 {question}"));
    lines.read()
}

/// EL-12: the end of a page that the server has not asked for, or that has ended, is ignored.
#[test]
fn the_end_of_an_unknown_page_is_ignored() {
    let seen = Seen::default();
    let heard = seen.clone();
    let builder = Client::builder("test", "0")
        .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
        .on_notification(move |told| {
            heard.note(told.params.map_or("", |params| params.as_raw().as_str()));
        });
    let (_client, mut lines) = line_server::connect(builder, Revision::V2025_11_25, "{}");
    let end = r#"- notifications/elicitation/complete {"elicitationId":"e"}"#;
    lines.send(end);
    assert_eq!(seen.take(), [] as [&str; 0], "nobody asked for it");
    lines.send(
        r#"7 elicitation/create {"mode":"url","message":"","url":"https://a/","elicitationId":"e"}"#,
    );
    lines.send(end);
    lines.send(end);
    assert_eq!(seen.take(), [r#"{"elicitationId":"e"}"#], "once");
}

#[test]
fn questions_that_break_the_rules_are_refused() {
    let check = |builder: Builds, question: &str, part: &str| {
        let answer = answer(builder, question);
        assert!(answer.contains(part), "{question}: {answer}");
    };
    let forms = |builder: ClientBuilder| {
        builder
            .forms_only()
            .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
    };
    let model = |builder: ClientBuilder| {
        builder.on_sampling(|_, _| async { Ok(CreateMessageResult::new("deep", "42")) })
    };
    let tools = |builder: ClientBuilder| {
        builder
            .on_sampling(|_, _| async { Ok(CreateMessageResult::new("deep", "42")) })
            .sampling_tools()
    };
    let all = |builds: Builds, table: &str| {
        for [question, part] in rows(table) {
            check(builds, question, part);
        }
    };
    // EL-03, EL-04; RT-04, SP-01: what is not declared is not there.
    all(
        forms,
        r#"
        elicitation/create {"mode":"url","message":"","url":"https://a/","elicitationId":"e"} | -32602
        elicitation/create {"message":"","requestedSchema":{"type":"object","properties":{}}} | "action":"accept"
        elicitation/create {}   | -32602
        roots/list              | -32601
        sampling/createMessage  | -32601
        "#,
    );
    // SP-02
    let with_tools = r#"sampling/createMessage {"messages":[],"maxTokens":1,"tools":[]}"#;
    check(model, with_tools, "-32602");
    check(tools, with_tools, r#""text":"42""#);
    // SP-07
    let used =
        r#"{"role":"assistant","content":{"type":"tool_use","id":"u","name":"n","input":{}}}"#;
    let told = r#"{"role":"user","content":{"type":"tool_result","toolUseId":"u","content":[]}}"#;
    let other = r#"{"role":"user","content":{"type":"tool_result","toolUseId":"v","content":[]}}"#;
    let mixed = concat!(
        r#"{"role":"user","content":[{"type":"text","text":""},"#,
        r#"{"type":"tool_result","toolUseId":"u","content":[]}]}"#
    );
    let sampled = |messages: &[&str], part: &str| {
        let question = format!(
            r#"sampling/createMessage {{"messages":[{}],"maxTokens":1}}"#,
            messages.join(",")
        );
        check(tools, &question, part);
    };
    sampled(&[used, told], "42");
    sampled(&[used, other], "-32602");
    sampled(&[used, mixed], "-32602");
    sampled(&[used], "-32602");
    sampled(&[told], "-32602");
}

/// The handle is used from any thread.
const _: fn() = || {
    fn is<T: Send + Sync>() {}
    is::<Client>();
};
