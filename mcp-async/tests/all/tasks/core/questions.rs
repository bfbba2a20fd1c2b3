//! Questions of tasks of 2025-11-25.

use core::time::Duration;

use mcp_async::model::{CreateMessageParams, SamplingMessage};
use mcp_async::server::{Context, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::MemoryTaskStore;
use mcp_proto::Revision;

use super::support::{
    answer, client, create, filled, hear, hear_question, related, reply, says, server, want,
};
use crate::scripted::{LineClient, member, text};
use crate::sim;
use crate::tasks::stores::{Fault, Hostile};
use crate::tasks::support::{Running, about, pass, status};

/// TK-08, TK-11, TK-13, TK-63
#[test]
fn the_request_for_the_result_asks_the_questions() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":2}"#);
    assert_eq!(status(&mut wire, &id), "input_required");
    assert!(hear(&mut wire, "elicitation/create").is_empty());
    let wanted = want(&mut wire, &id);
    let asked = hear(&mut wire, "elicitation/create");
    assert_eq!(asked.len(), 2, "{asked:?}");
    for question in &asked {
        assert_eq!(text(question, &["params", "message"]), "which?");
        assert!(question.contains(&related(&id)), "{question}");
    }
    reply(&mut wire, &asked[1], &filled("two"));
    assert_eq!(status(&mut wire, &id), "input_required");
    reply(&mut wire, &asked[0], &filled("one"));
    says(&mut wire, wanted, r#""text":"done one two""#);
    assert_eq!(status(&mut wire, &id), "completed");
    assert_eq!(running.get(), 0);
    assert!(hear(&mut wire, "elicitation/create").is_empty());
}

#[test]
fn a_question_is_asked_once_at_a_time() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    let first = want(&mut wire, &id);
    let second = want(&mut wire, &id);
    assert_eq!(hear(&mut wire, "elicitation/create").len(), 1);
    // Without its answer the other request asks again.
    wire.cancel(first);
    assert_eq!(hear(&mut wire, "notifications/cancelled").len(), 1);
    pass(1000);
    let asked = hear_question(&mut wire);
    reply(&mut wire, &asked, &filled("two"));
    says(&mut wire, second, r#""text":"done two""#);
    sim::end();
}

#[test]
fn the_session_is_asked_where_no_request_waits() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    pass(1900);
    assert!(hear(&mut wire, "elicitation/create").is_empty());
    pass(200);
    let asked = hear_question(&mut wire);
    assert!(asked.contains(&related(&id)), "{asked:?}");
    // A request for the result does not ask it again.
    let wanted = want(&mut wire, &id);
    pass(3000);
    assert!(hear(&mut wire, "elicitation/create").is_empty());
    reply(&mut wire, &asked, &filled("late"));
    says(&mut wire, wanted, r#""text":"done late""#);
    // Neither does the session ask what a request asks.
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    want(&mut wire, &id);
    pass(5000);
    assert_eq!(hear(&mut wire, "elicitation/create").len(), 1);
    sim::end();
}

/// TK-11: the user is there where the result is waited for.
#[test]
fn a_question_of_a_session_is_left_to_a_request_of_another_one() {
    let store = MemoryTaskStore::new();
    let (server, _) = server(Tasks::new().store(store));
    let server = server.build().unwrap();
    let wire = || LineClient::declaring(&server, Revision::V2025_11_25, r#"{"elicitation":{}}"#);
    let (mut first, mut second) = (wire(), wire());
    let id = create(&mut first, "job", r#"{"ask":1}"#);
    pass(2100);
    assert_eq!(hear(&mut first, "elicitation/create").len(), 1);
    let wanted = want(&mut second, &id);
    pass(1000);
    assert_eq!(hear(&mut first, "notifications/cancelled").len(), 1);
    let asked = hear_question(&mut second);
    reply(&mut second, &asked, &filled("here"));
    says(&mut second, wanted, r#""text":"done here""#);
    sim::end();
}

#[test]
fn a_request_that_cannot_be_asked_refuses_no_question() {
    let (server, _) = server(Tasks::new());
    let server = server.build().unwrap();
    let wire = |capabilities| LineClient::declaring(&server, Revision::V2025_11_25, capabilities);
    let (mut asked, mut other) = (wire(r#"{"elicitation":{}}"#), wire("{}"));
    let id = create(&mut asked, "job", r#"{"ask":1}"#);
    want(&mut other, &id);
    pass(1000);
    assert_eq!(status(&mut asked, &id), "input_required");
    assert!(hear(&mut other, "elicitation/create").is_empty());
    let wanted = want(&mut asked, &id);
    pass(2000);
    let question = hear_question(&mut asked);
    reply(&mut asked, &question, &filled("yes"));
    says(&mut asked, wanted, r#""text":"done yes""#);
    sim::end();
}

#[test]
fn a_question_lasts_as_long_as_the_request_that_asks_it() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    want(&mut wire, &id);
    let asked = hear(&mut wire, "elicitation/create");
    for _ in 0..60 {
        pass(60_000);
        wire.advance(Duration::from_secs(60));
    }
    assert!(hear(&mut wire, "notifications/cancelled").is_empty());
    assert!(hear(&mut wire, "elicitation/create").is_empty());
    assert_eq!(asked.len(), 1, "{asked:?}");
    sim::end();
}

/// The handler runs in a task of the runtime.
#[test]
fn a_question_from_a_spawned_task_is_asked() {
    let spawned = |(): (), cx: Context<Running>| async move {
        let action = cx
            .elicit_url("page", "Log in", "https://example.com/")
            .await?;
        Ok(format!("{action:?}"))
    };
    let spawned = Tool::new("spawned")
        .task(TaskPolicy::Optional)
        .spawned()
        .handler(spawned);
    let (server, _) = server(Tasks::new());
    let declared = r#"{"elicitation":{"url":{}}}"#;
    let mut wire = LineClient::declaring(&server.with(spawned), Revision::V2025_11_25, declared);
    let id = create(&mut wire, "spawned", "{}");
    let wanted = want(&mut wire, &id);
    let asked = hear_question(&mut wire);
    reply(&mut wire, &asked, r#""result":{"action":"accept"}"#);
    says(&mut wire, wanted, "Accept");
    sim::end();
}

/// An error of the client counts, and may not be nested more than a result.
#[test]
fn a_large_or_deep_error_of_a_client_is_a_short_one() {
    let deep = format!(
        r#"{{"code":1,"message":"no","data":{}{}}}"#,
        "[".repeat(124),
        "]".repeat(124)
    );
    let large = format!(r#"{{"code":1,"message":"{}"}}"#, "x".repeat(5000));
    for error in [deep, large] {
        let (server, _) = server(Tasks::new().max_bytes(4096));
        let mut wire = client(&server);
        let id = create(&mut wire, "job", r#"{"ask":1}"#);
        let wanted = want(&mut wire, &id);
        let asked = hear_question(&mut wire);
        reply(&mut wire, &asked, &format!(r#""error":{error}"#));
        says(&mut wire, wanted, "the client answered with an error");
        sim::end();
    }
}

/// TK-13
#[test]
fn questions_of_every_kind_are_asked() {
    let mixed = |(): (), cx: Context<Running>| async move {
        let roots = cx.roots().await?;
        let page = || cx.elicit_url("page", "Log in", "https://example.com/");
        let action = page().await?;
        // The same question has its answer.
        assert_eq!(page().await?, action);
        let message = SamplingMessage::user("Write");
        let prompt = CreateMessageParams::new(vec![message], 10);
        let said = cx.sample("text", prompt).await?;
        let count = roots.iter().count();
        Ok(format!("{count} {action:?} {}", said.model))
    };
    let mixed = Tool::new("mixed").task(TaskPolicy::Optional).handler(mixed);
    let (server, _) = server(Tasks::new());
    let declared = r#"{"roots":{},"sampling":{},"elicitation":{"url":{}}}"#;
    let mut wire = LineClient::declaring(&server.with(mixed), Revision::V2025_11_25, declared);
    let id = create(&mut wire, "mixed", "{}");
    let wanted = want(&mut wire, &id);
    for (method, result) in [
        ("roots/list", r#"{"roots":[{"uri":"file:///c:/a"}]}"#),
        ("elicitation/create", r#"{"action":"accept"}"#),
        (
            "sampling/createMessage",
            r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"small"}"#,
        ),
    ] {
        let asked = hear(&mut wire, method);
        assert_eq!(asked.len(), 1, "{method}");
        assert!(asked[0].contains(&related(&id)), "{asked:?}");
        if method == "elicitation/create" {
            let page = ["params", "elicitationId"];
            assert!(!text(&asked[0], &page).is_empty(), "{asked:?}");
        }
        reply(&mut wire, &asked[0], &format!(r#""result":{result}"#));
    }
    says(&mut wire, wanted, r#""text":"1 Accept small""#);
}

/// TK-61
#[test]
fn a_question_is_answered_at_any_process() {
    let shared = MemoryTaskStore::new();
    let store = || Hostile::over(shared.clone(), Fault::Fails, usize::MAX / 2);
    let (first, _) = server(Tasks::new().store(store()));
    let (second, _) = server(Tasks::new().store(store()));
    let (mut here, mut there) = (client(&first), client(&second));
    let id = create(&mut here, "job", r#"{"ask":1}"#);
    pass(0);
    let wanted = want(&mut there, &id);
    let asked = hear_question(&mut there);
    reply(&mut there, &asked, &filled("there"));
    (0..4).for_each(|_| pass(500));
    says(&mut there, wanted, r#""text":"done there""#);
    assert_eq!(status(&mut here, &id), "completed");
    sim::end();
}

#[test]
fn an_error_of_the_client_reaches_the_handler() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    for (outcome, text) in [
        (
            r#""error":{"code":-32000,"message":"broken"}"#,
            "the client answered with an error",
        ),
        (
            r#""error":{"code":-1,"message":"no"}"#,
            "the user rejected the question",
        ),
        (
            r#""result":{"action":"accept","content":{"answer":7}}"#,
            "the answer does not fit the form: ",
        ),
        (
            r#""result":{"action":"maybe"}"#,
            "the client's answer is of another type",
        ),
    ] {
        let id = create(&mut wire, "job", r#"{"ask":1}"#);
        let wanted = want(&mut wire, &id);
        let asked = hear_question(&mut wire);
        reply(&mut wire, &asked, outcome);
        let result = answer(&mut wire, wanted).unwrap();
        assert!(result.contains(text), "{result}");
        assert_eq!(member(&result, &["result", "isError"]), "true", "{result}");
        assert_eq!(status(&mut wire, &id), "failed");
    }
}

/// TK-15
#[test]
fn a_cancelled_task_takes_its_questions_back() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    let wanted = want(&mut wire, &id);
    let asked = hear(&mut wire, "elicitation/create");
    about(&mut wire, "tasks/cancel", &id);
    let cancelled = hear(&mut wire, "notifications/cancelled");
    let question = member(&asked[0], &["id"]);
    assert_eq!(member(&cancelled[0], &["params", "requestId"]), question);
    assert!(answer(&mut wire, wanted).unwrap().contains("cancelled"));
    reply(&mut wire, &asked[0], &filled("late"));
    assert_eq!(
        (status(&mut wire, &id), running.get()),
        ("cancelled".to_owned(), 0)
    );
    sim::end();
}

/// TK-11: the store takes the answer later.
#[test]
fn an_answer_outlives_the_request_that_asked_for_it() {
    for fault in [Fault::Fails, Fault::Slow(300)] {
        let store = Hostile::over(MemoryTaskStore::new(), fault, usize::MAX / 2);
        let (server, running) = server(Tasks::new().store(store.clone()));
        let server = server.build().unwrap();
        let wire =
            || LineClient::declaring(&server, Revision::V2025_11_25, r#"{"elicitation":{}}"#);
        let (mut wire, mut other) = (wire(), wire());
        let id = create(&mut wire, "job", r#"{"ask":1}"#);
        pass(0);
        let wanted = want(&mut wire, &id);
        let asked = hear_question(&mut wire);
        store.fail_after(0);
        reply(&mut wire, &asked, &filled("kept"));
        wire.cancel(wanted);
        pass(100);
        store.heal();
        let wanted = want(&mut other, &id);
        (0..10).for_each(|_| pass(500));
        for wire in [&mut wire, &mut other] {
            assert!(hear(wire, "elicitation/create").is_empty(), "{fault:?}");
        }
        says(&mut other, wanted, r#""text":"done kept""#);
        assert_eq!(running.get(), 0);
        sim::end();
    }
}

/// TK-60: what the store does not take ends with the server.
#[test]
fn an_answer_that_the_store_does_not_take_ends_with_the_server() {
    for fault in [Fault::Fails, Fault::Never] {
        let store = Hostile::over(MemoryTaskStore::new(), fault, usize::MAX / 2);
        let (server, running) = server(Tasks::new().store(store.clone()));
        let mut wire = client(&server);
        let id = create(&mut wire, "job", r#"{"ask":1}"#);
        pass(0);
        want(&mut wire, &id);
        let asked = hear_question(&mut wire);
        store.fail_after(0);
        reply(&mut wire, &asked, &filled("lost"));
        drop((wire, server));
        (0..40).for_each(|_| pass(500));
        assert_eq!((sim::settle(), running.get()), (0, 0), "{fault:?}");
    }
}

#[test]
fn what_the_client_did_not_declare_is_not_asked() {
    let (server, _) = server(Tasks::new());
    let mut wire = LineClient::new(&server, Revision::V2025_11_25);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    let wanted = want(&mut wire, &id);
    says(&mut wire, wanted, "the question was not asked");
    assert!(hear(&mut wire, "elicitation/create").is_empty());
}
