//! Questions of servers, on their way to the caller that they concern.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::client::{CallError, ClientBuilder};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, LoggingLevel, Root,
    SamplingMessage,
};
use mcp_async::server::{Context, ServerBuilder, StateKeys};
use mcp_async::{Revision, RevisionSet, Server, in_memory};
use mcp_compose::{Proxy, ProxyLimits, ServerEntry};
use mcp_proto::revision::Elicitation;

use super::{before, both, caller, front, in_each_pair};
use crate::support::{modern_lines, only, pause, run, runtime};

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// A server that asks its caller for everything.
fn curious() -> ServerBuilder {
    Server::builder("back", "1.0")
        .tool(
            "greet",
            "Asks for two names",
            |(): (), cx: Context| async move {
                let first = cx.elicit::<Name>("first", "First name?").await?.accepted();
                let last = cx.elicit::<Name>("last", "Last name?").await?.accepted();
                let [first, last] =
                    [first, last].map(|name| name.map_or("nobody".to_owned(), |name| name.name));
                Ok(format!("{first} {last}"))
            },
        )
        .tool("sum", "Asks the model", |(): (), cx: Context| async move {
            let asked = SamplingMessage::user("one and one?");
            Ok(cx
                .sample("sum", CreateMessageParams::new(vec![asked], 10))
                .await?
                .content
                .text())
        })
        .tool(
            "roots",
            "Asks for roots",
            |(): (), cx: Context| async move {
                let roots = cx.roots().await?;
                Ok(roots
                    .iter()
                    .map(|(root, _)| root.uri.clone())
                    .collect::<Vec<_>>()
                    .join(" "))
            },
        )
}

/// A person who answers everything, and notes the questions.
fn person(revision: Revision, heard: &Arc<Mutex<Vec<String>>>) -> ClientBuilder {
    let heard = Arc::clone(heard);
    only(revision)
        .on_elicitation(move |asked: ElicitParams, _| {
            let message = asked.message().unwrap_or_default().to_owned();
            heard.lock().expect("no panic").push(message.clone());
            async move {
                let name = message.replace(" name?", "");
                Ok(ElicitResult::accept(&Name { name })?)
            }
        })
        .on_sampling(|_: CreateMessageParams, _| async {
            Ok(CreateMessageResult::new("model", "two"))
        })
        .roots([Root::new("file:///home/ada")])
}

#[test]
fn a_caller_answers_the_questions_of_a_server_in_all_pairs_of_revisions() {
    in_each_pair(|upstream, revision| async move {
        let pair = format!("{upstream} {revision}");
        let heard = Arc::default();
        let proxy = before(&curious(), upstream).start(runtime()).await;
        let client = caller(&front(&proxy), person(revision, &heard)).await;
        let has_forms = |revision: Revision| revision.elicitation() != Elicitation::Absent;
        if has_forms(upstream) && has_forms(revision) {
            let greeted = client.call_tool("greet", &()).await.expect(&pair);
            assert_eq!(greeted.text(), "First Last", "{pair}");
            assert_eq!(
                *heard.lock().expect("no panic"),
                ["First name?", "Last name?"],
                "{pair}"
            );
        }
        let sum = client.call_tool("sum", &()).await.expect(&pair);
        assert_eq!(sum.text(), "two", "{pair}");
        let roots = client.call_tool("roots", &()).await.expect(&pair);
        assert_eq!(roots.text(), "file:///home/ada", "{pair}");
        assert_eq!(proxy.in_use().1, 0, "{pair}: no call is held");
    });
}

/// MR-05
#[test]
fn nothing_is_asked_that_the_caller_did_not_declare() {
    in_each_pair(|upstream, revision| async move {
        let proxy = before(&curious(), upstream).start(runtime()).await;
        let front = front(&proxy);
        // Somebody else can be asked.
        let heard = Arc::default();
        let other = caller(&front, person(revision, &heard)).await;
        let _ = other.call_tool("sum", &()).await.expect("a result");
        let silent = caller(&front, only(revision)).await;
        for tool in ["greet", "sum", "roots"] {
            let refused = silent.call_tool(tool, &()).await;
            let is_refused = match &refused {
                Ok(result) => result.is_error,
                Err(CallError::Server(_)) => true,
                Err(_) => false,
            };
            assert!(is_refused, "{upstream} {revision} {tool}: {refused:?}");
        }
        assert!(heard.lock().expect("no panic").is_empty());
    });
}

#[test]
fn two_calls_of_one_caller_are_not_mixed_up() {
    let server =
        Server::builder("back", "1.0").tool("ask", "Asks", |args: Name, cx: Context| async move {
            let answer = cx.elicit::<Name>("it", &args.name).await?.accepted();
            Ok(format!(
                "{} {}",
                args.name,
                answer.map_or("nothing".to_owned(), |it| it.name)
            ))
        });
    in_each_pair(|upstream, revision| {
        let server = server.clone();
        async move {
            let has_forms = |revision: Revision| revision.elicitation() != Elicitation::Absent;
            if !has_forms(upstream) || !has_forms(revision) {
                return;
            }
            let proxy = before(&server, upstream).start(runtime()).await;
            let client = caller(&front(&proxy), person(revision, &Arc::default())).await;
            let call = |name: &'static str| {
                let client = client.clone();
                async move {
                    let name = Name {
                        name: name.to_owned(),
                    };
                    client
                        .call_tool("ask", &name)
                        .await
                        .expect("a result")
                        .text()
                }
            };
            let (left, right) = both(call("left"), call("right")).await;
            assert_eq!(
                (&*left, &*right),
                ("left left", "right right"),
                "{upstream} {revision}"
            );
        }
    });
}

#[test]
fn a_call_that_its_caller_forgets_is_cancelled_after_a_time() {
    run(async {
        let mut limits = ProxyLimits::default();
        limits.held_time = Duration::from_secs(10);
        let proxy = before(&curious(), Revision::V2025_11_25)
            .limits(limits)
            .start(runtime())
            .await;
        // It is asked, and answers never.
        let silent = only(Revision::V2026_07_28).on_elicitation(|_, _| core::future::pending());
        let client = caller(&front(&proxy), silent).await;
        let call = client.call_tool("greet", &());
        let late = mcp_async::runtime::within(&runtime(), Duration::from_secs(2), call).await;
        assert!(late.is_none(), "{late:?}");
        assert_eq!(proxy.in_use().1, 1);
        pause(11).await;
        assert_eq!(proxy.in_use().1, 0);
    });
}

/// A wrong PIN, say, is asked for in the same words again.
#[test]
fn a_question_that_a_server_asks_again_is_asked_again() {
    let form = r#"{"type":"object","properties":{}}"#;
    let question = format!(
        r#"{{"method":"elicitation/create","params":{{"message":"PIN?","requestedSchema":{form}}}}}"#
    );
    let asks = move |state: &str| -> Vec<Arc<str>> {
        let asked = format!(
            r#"{{"resultType":"input_required","requestState":"{state}","inputRequests":{{"pin":{question}}}}}"#
        );
        vec![asked.into()]
    };
    let asks = Arc::new(asks);
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let asks = Arc::clone(&asks);
        let entry = modern_lines("back", move |method, line| match method {
            "tools/call" if line.contains("once") => asks("twice"),
            "tools/call" if line.contains("twice") => Vec::new(),
            "tools/call" => asks("once"),
            _ => Vec::new(),
        });
        run(async {
            let proxy = Proxy::builder().entry(entry).start(runtime()).await;
            let heard = Arc::default();
            let client = caller(&front(&proxy), person(revision, &heard)).await;
            client.call_tool("back__x", &()).await.expect("a result");
            assert_eq!(
                *heard.lock().expect("no panic"),
                ["PIN?", "PIN?"],
                "{revision}"
            );
        });
    }
}

/// A caller of 2026-07-28 carries 64 KiB; a legacy one carries nothing.
#[test]
fn a_state_that_is_too_large_for_the_caller_is_an_error_that_says_so() {
    let question = r#"{"k":{"method":"elicitation/create","params":{"message":"PIN?","requestedSchema":{"type":"object","properties":{}}}}}"#;
    let asks = format!(
        r#"{{"resultType":"input_required","requestState":"{}","inputRequests":{question}}}"#,
        "x".repeat(100_000)
    );
    let asks = Arc::<str>::from(asks);
    let entry = || {
        let asks = Arc::clone(&asks);
        modern_lines("back", move |method, line| match method {
            "tools/call" if !line.contains("inputResponses") => vec![Arc::clone(&asks)],
            _ => Vec::new(),
        })
    };
    run(async {
        let proxy = Proxy::builder().entry(entry()).start(runtime()).await;
        let front = front(&proxy);
        let legacy = person(Revision::V2025_06_18, &Arc::default());
        let legacy = caller(&front, legacy).await;
        legacy.call_tool("back__x", &()).await.expect("a result");
        let modern = person(Revision::V2026_07_28, &Arc::default());
        let modern = caller(&front, modern).await;
        let error = modern.call_tool("back__x", &()).await;
        let error = error.expect_err("it is too large").to_string();
        assert!(
            error.contains("what the server `back` asks cannot be carried"),
            "{error}"
        );
    });
}

/// What a server was told need not travel with its call.
#[test]
fn many_large_answers_fit_into_one_call() {
    let server = Server::builder("back", "1.0").tool(
        "agent",
        "Asks the model often",
        |(): (), cx: Context| async move {
            let mut read = 0;
            for round in 0..8 {
                let asked = CreateMessageParams::new(vec![SamplingMessage::user("more")], 10);
                let answer = cx.sample(&format!("round {round}"), asked).await?;
                read += answer.content.text().len();
            }
            Ok(read.to_string())
        },
    );
    // One of the second size is more than a caller is asked to carry.
    for len in [10_000, 60_000] {
        run(async {
            let proxy = before(&server, Revision::V2025_11_25)
                .start(runtime())
                .await;
            let model = only(Revision::V2026_07_28).on_sampling(
                move |_: CreateMessageParams, _| async move {
                    Ok(CreateMessageResult::new("model", "x".repeat(len)))
                },
            );
            let client = caller(&front(&proxy), model).await;
            let read = client.call_tool("agent", &()).await;
            assert_eq!(proxy.in_use().1, 0, "{len}");
            assert_eq!(read.expect("a result").text(), (8 * len).to_string());
        });
    }
}

/// A client takes context of servers for a hint; a server asks nothing that its client did not declare.
#[test]
fn a_question_that_cannot_be_passed_on_holds_nothing() {
    let features = r#"{"tools":{},"logging":{}}"#;
    let discovered: Arc<str> = format!(
        r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{features},"ttlMs":0,"cacheScope":"private"}}"#
    )
    .into();
    let params = r#"{"messages":[],"maxTokens":1,"includeContext":"allServers"}"#;
    let asks: Arc<str> = format!(
        r#"{{"resultType":"input_required","requestState":"s","inputRequests":{{"k":{{"method":"sampling/createMessage","params":{params}}}}}}}"#
    )
    .into();
    let entry = modern_lines("back", move |method, _| match method {
        "server/discover" => vec![Arc::clone(&discovered)],
        "tools/call" => vec![Arc::clone(&asks)],
        _ => Vec::new(),
    });
    run(async {
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = person(Revision::V2026_07_28, &Arc::default());
        let client = caller(&front(&proxy), client).await;
        // It has a session of its own, because it wants logs.
        let call = client.call_tool("back__x", &());
        let error = call.with_logs(LoggingLevel::Debug).await;
        let error = error.expect_err("it is not asked").to_string();
        assert!(error.contains("sampling.context"), "{error}");
        assert_eq!(proxy.in_use().1, 0);
    });
}

/// The most bytes that are allocated at once while a caller answers one question in each of so many calls.
fn most_allocated(count: usize) -> u64 {
    let script = async {
        let proxy = before(&curious(), Revision::V2025_11_25);
        let proxy = proxy.start(runtime()).await;
        let client = person(Revision::V2026_07_28, &Arc::default());
        let client = caller(&front(&proxy), client).await;
        for _ in 0..count {
            client.call_tool("sum", &()).await.expect("a result");
        }
        assert_eq!(proxy.in_use(), (2, 0));
    };
    allocation_counter::measure(|| run(script)).bytes_max
}

#[test]
fn what_was_answered_leaves_nothing() {
    let [few, many] = [100, 1_600].map(most_allocated);
    assert!(many < few * 2, "{few} {many}");
}

/// A server of 2026-07-28 that is a program knows the states of its own process only. A caller that wants logs has a session for one
/// call at a time.
#[test]
fn a_call_continues_in_the_process_that_asked() {
    let program = || {
        let server = Server::builder("back", "1.0")
            .revisions(RevisionSet::of(&[Revision::V2026_07_28]))
            .logging()
            .state_keys(StateKeys::random().expect("randomness"))
            .tool("ask", "Asks", |(): (), cx: Context| async move {
                // Several run at the same time.
                pause(5).await;
                let name = cx.elicit::<Name>("name", "Your name?").await?.accepted();
                Ok(name.map_or("nobody".to_owned(), |name| name.name))
            });
        in_memory(runtime(), &server.build().expect("it is well formed"))
    };
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        run(async {
            let proxy = Proxy::builder().entry(ServerEntry::connector("back", program));
            let proxy = proxy.start(runtime()).await;
            // The second answer comes first.
            let asked = AtomicUsize::new(0);
            let client = only(revision).on_elicitation(move |_, _| {
                let seconds = [20, 10][asked.fetch_add(1, Ordering::SeqCst) % 2];
                async move {
                    pause(seconds).await;
                    let name = "Ada".to_owned();
                    Ok(ElicitResult::accept(&Name { name })?)
                }
            });
            let client = caller(&front(&proxy), client).await;
            if revision.is_legacy() {
                let set = client.set_log_level(LoggingLevel::Debug).await;
                set.expect("it logs");
            }
            let call = |delay: u64| {
                let client = client.clone();
                async move {
                    pause(delay).await;
                    let call = client.call_tool("back__ask", &());
                    let result = match revision.is_legacy() {
                        true => call.await,
                        false => call.with_logs(LoggingLevel::Debug).await,
                    };
                    result.expect("a result").text()
                }
            };
            let (first, second) = both(call(0), both(call(1), call(2))).await;
            assert_eq!(
                (&*first, &*second.0, &*second.1),
                ("Ada", "Ada", "Ada"),
                "{revision}"
            );
            assert_eq!(proxy.in_use().1, 0, "{revision}");
        });
    }
}
