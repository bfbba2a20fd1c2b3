//! What holds in both eras alike.

use core::future::{pending, poll_fn};
use core::pin::pin;
use core::task::Poll;

use mcp_async::client::CallError;
use mcp_async::model::{CreateMessageParams, IncludeContext, SamplingMessage, ToolChoice};
use mcp_async::server::{AskError, CallContext};
use mcp_async::{ErrorChain, ErrorReply};
use mcp_proto::client::Failure;
use mcp_proto::model::{ClientFeatures, LoggingLevel};
use mcp_proto::revision::Elicitation;
use mcp_proto::{Revision, SendError};

use crate::rounds::support::{Rig, everywhere, say, say_both};
use crate::seen::{Guard, Seen};
use crate::texts::INTERNAL_ERROR;

/// MR-20. SP-12.
#[test]
fn questions_in_sequence() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let _guard = Guard(notes, "dropped");
            let first = say(&cx, "first", "one").await?;
            let second = say(&cx, "second", &format!("{first} two")).await?;
            Ok(second)
        });
        assert_eq!(rig.call().unwrap(), "one! two!");
        assert_eq!(rig.person.heard.take(), ["one", "one! two"]);
        // Whatever the handler holds is let go in each run.
        assert_eq!(rig.notes.take(), vec!["dropped"; rig.runs(2)]);
    });
}

#[test]
fn joined_questions_are_one_round() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let _guard = Guard(notes, "dropped");
            let [one, two] = say_both(&cx, [("a", "one"), ("b", "two")]).await;
            Ok(format!("{} {}", one?, two?))
        });
        assert_eq!(rig.call().unwrap(), "one! two!");
        assert_eq!(rig.person.heard.take(), ["one", "two"]);
        assert_eq!(rig.notes.take().len(), rig.runs(1));
    });
}

#[test]
fn a_handler_that_wakes_itself_first() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let _guard = Guard(notes, "dropped");
            let mut turns = 0;
            poll_fn(|cx| {
                turns += 1;
                cx.waker().wake_by_ref();
                if turns < 3 {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            })
            .await;
            say(&cx, "key", "one").await
        });
        assert_eq!(rig.call().unwrap(), "one!");
        assert_eq!(rig.person.heard.take(), ["one"]);
        assert_eq!(rig.notes.take().len(), rig.runs(1));
    });
}

#[test]
fn a_value_is_computed_once() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let compute = async {
                notes.note("computed");
                String::from("seven")
            };
            let value = cx.once("value", compute).await.unwrap();
            let state = cx.request_state();
            let runs = state.value::<u32>("runs").unwrap().unwrap_or(0) + 1;
            state.set("runs", &runs).unwrap();
            let answer = say(&cx, "key", &value).await?;
            let again = say(&cx, "more", "eight").await?;
            Ok(format!("{answer} {again} {runs}"))
        });
        let runs = rig.runs(2);
        assert_eq!(rig.call().unwrap(), format!("seven! eight! {runs}"));
        assert_eq!(rig.notes.take(), ["computed"]);
    });
}

#[test]
fn progress_is_told_in_each_run() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            cx.progress(0.25).await;
            // Neither is sent: the progress does not grow, and the client wants logs of a higher level.
            cx.progress(0.25).total(1.0).message("still").await;
            cx.log(LoggingLevel::Debug, "quiet").logger("test").await;
            let answer = say(&cx, "key", "one").await?;
            cx.progress(0.5).await;
            Ok(answer)
        });
        assert_eq!(rig.call().unwrap(), "one!");
        let mut heard = rig.person.heard.take();
        heard.retain(|line| line.starts_with("progress"));
        let expected: &[&str] = if revision.is_modern() {
            &["progress 0.25", "progress 0.25", "progress 0.5"]
        } else {
            &["progress 0.25", "progress 0.5"]
        };
        assert_eq!(heard, expected);
    });
}

#[test]
fn the_same_question_has_the_same_answer() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            let [a, b] = say_both(&cx, [("key", "one"), ("key", "one")]).await;
            let c = say(&cx, "key", "one").await?;
            let other = say(&cx, "key", "two").await;
            assert!(matches!(other, Err(AskError::Key)), "{other:?}");
            Ok(format!("{} {} {c}", a?, b?))
        });
        assert_eq!(rig.call().unwrap(), "one! one! one!");
        assert_eq!(rig.person.heard.take(), ["one"]);
    });
}

#[test]
fn another_question_beside_it_needs_another_key() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            let [a, b] = say_both(&cx, [("key", "one"), ("key", "two")]).await;
            assert!(matches!(b, Err(AskError::Key)), "{b:?}");
            a
        });
        assert_eq!(rig.call().unwrap(), "one!");
    });
}

#[test]
fn a_question_that_lost_a_race_is_not_asked() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            {
                let mut lost = pin!(say(&cx, "lost", "never mind"));
                let mut polls = 0;
                // Ready in the very poll in which the question would have been asked.
                poll_fn(|cx| {
                    polls += 1;
                    if polls == 1 && lost.as_mut().poll(cx).is_pending() {
                        return Poll::Ready(());
                    }
                    Poll::Pending
                })
                .await;
            }
            say(&cx, "key", "one").await
        });
        assert_eq!(rig.call().unwrap(), "one!");
        // A legacy session has sent it already, and takes it back.
        let asked: &[&str] = if revision.is_modern() {
            &["one"]
        } else {
            &["never mind", "one"]
        };
        assert_eq!(rig.person.heard.take(), asked);
    });
}

/// VR-07.
#[test]
fn what_the_client_did_not_declare_is_refused_by_name() {
    everywhere(|revision| {
        let features = ClientFeatures::ROOTS;
        let mut rig = Rig::with(revision, features, |cx, _| async move {
            let refused = say(&cx, "key", "one").await.unwrap_err();
            assert!(
                matches!(
                    refused,
                    AskError::Refused(SendError::MissingCapability("sampling"))
                ),
                "{refused:?}"
            );
            Err(refused)
        });
        let error = rig.call().unwrap_err();
        let CallError::Server(error) = error else {
            panic!("{error:?}");
        };
        // LC-12: the code of its own is of 2026-07-28.
        let code = if revision.is_modern() { -32021 } else { -32603 };
        assert_eq!(error.code, code, "{revision}");
        assert_eq!(
            error.message,
            "Missing required client capability: sampling"
        );
        assert_eq!(
            error.data.unwrap().as_raw().as_str(),
            r#"{"requiredCapabilities":{"sampling":{}}}"#
        );
        assert_eq!(rig.person.heard.take(), [] as [&str; 0]);
    });
}

/// What a question needs and the client's revision does not have is named, with the revision.
#[test]
fn what_the_revision_does_not_have_is_named() {
    let tools = |cx: CallContext, _| async move {
        let params = CreateMessageParams {
            tool_choice: Some(ToolChoice::default()),
            ..CreateMessageParams::new(vec![SamplingMessage::user("?")], 10)
        };
        let refused = cx.sample("key", params).await.unwrap_err();
        Err(refused)
    };
    everywhere(|revision| {
        let CallError::Server(error) = Rig::new(revision, tools).call().unwrap_err() else {
            panic!("the tool refuses");
        };
        let expected = if revision.has_sampling_tools() {
            "Missing required client capability: sampling.tools".to_owned()
        } else {
            format!(
                "not asked: a server cannot send sampling/createMessage with tools in revision {revision}"
            )
        };
        assert_eq!(error.message, expected, "{revision}");
    });
}

/// SP-07: the handler and its caller can distinguish a rejection by the user from a fault.
#[test]
fn a_rejection_is_told_apart() {
    let ask = |cx: CallContext, notes: Seen| async move {
        let refused = say(&cx, "key", "one").await.unwrap_err();
        let rejected = matches!(&refused, AskError::Rejected(_));
        notes.note(format!("rejected: {rejected}"));
        Err(refused)
    };
    for (code, message, rejected) in [
        (-1, "no", true),
        (-32603, "Sampling request rejected by user.", true),
        (-32603, "User rejected sampling request", true),
        (-32603, INTERNAL_ERROR, false),
        (-32603, "request rejected: rate limit", false),
        (-32601, "rejected", false),
    ] {
        let mut rig = Rig::new(Revision::V2025_11_25, ask);
        rig.person.refuse(ErrorReply::new(code, message));
        let CallError::Server(error) = rig.call().unwrap_err() else {
            panic!("the tool refuses");
        };
        assert_eq!(rig.notes.take(), [format!("rejected: {rejected}")]);
        if rejected {
            assert_eq!(error.code, -1);
            assert_eq!(error.message, format!("Rejected by the user: {message}"));
        } else {
            assert_eq!(error.code, 1, "the test's own: {error}");
        }
    }
}

/// EL-09: what no answer is checked against does not stand in a form.
#[test]
fn a_form_that_is_not_enforced_is_not_asked() {
    everywhere(|revision| {
        if revision.elicitation() == Elicitation::Absent {
            return;
        }
        let mut rig = Rig::new(revision, |cx, _| async move {
            for (field, expected) in [
                (
                    r#"{"type":"string","pattern":"^a$"}"#,
                    "forms have no `pattern`",
                ),
                (
                    r#"{"type":"string","format":"hostname"}"#,
                    "forms have no format `hostname`",
                ),
                (
                    r#"{"type":"object","properties":{}}"#,
                    "forms are flat, and it has fields of its own",
                ),
                (r#"{"minimum":1}"#, "it may be of several types"),
            ] {
                let form = format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#);
                let asked = cx.elicit_form("raw", "What?", form.parse().unwrap());
                match asked.await.unwrap_err() {
                    AskError::Form(error) => {
                        assert_eq!(error.field(), Some("a"));
                        assert_eq!(error.fault().to_string(), expected);
                    }
                    error => panic!("{error:?}"),
                }
            }
            Ok("not asked".into())
        });
        assert_eq!(rig.call().unwrap(), "not asked");
        assert!(rig.person.heard.take().is_empty());
    });
}

/// EL-09: an answer that does not fit the form does not reach the handler. In 2026-07-28 it is
/// asked for again.
#[test]
fn a_form_is_filled_in_as_it_asks() {
    everywhere(|revision| {
        if revision.elicitation() == Elicitation::Absent {
            return;
        }
        let mut rig = Rig::new(revision, |cx, _| async move {
            // The person always says three nights in Kyoto.
            let form =
                r#"{"type":"object","properties":{"nights":{"type":"integer","maximum":2}}}"#;
            let form = form.parse().unwrap();
            let answer = cx.elicit_form("raw", "How long?", form).await?;
            panic!("{answer:?}");
        });
        match rig.call().unwrap_err() {
            CallError::Server(error) if revision.is_legacy() => assert_eq!(
                error.message,
                "the answer does not fit the form: nights: the number is out of range"
            ),
            CallError::Failed(Failure::Rounds) => assert!(revision.is_modern()),
            other => panic!("{other:?}"),
        }
    });
}

// Its roots are paths of Unix.
/// EL-14, RT-06.
#[cfg(unix)]
#[test]
fn roots_and_forms_and_pages() {
    use mcp_async::server::Elicited;
    use mcp_proto::model::ElicitAction;

    #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
    struct Trip {
        city: String,
        nights: Option<u8>,
    }
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            let roots = cx.roots().await?;
            assert_eq!(roots.len(), 1);
            assert!(roots.contains("/tmp/x".as_ref()));
            let elicitation = cx.revision().elicitation();
            let trip = cx.elicit::<Trip>("trip", "Where to?").await;
            let page = cx
                .elicit_url("page", "Look.", "https://example.com/x")
                .await;
            if elicitation == Elicitation::Absent {
                let text = trip.unwrap_err().to_string();
                let revision = cx.revision();
                assert_eq!(
                    text,
                    format!(
                        "not asked: a server cannot send elicitation/create in revision {revision}"
                    )
                );
                return Ok("too old".into());
            }
            let Elicited::Accepted(trip) = trip? else {
                panic!("the person said yes");
            };
            assert_eq!((trip.city.as_str(), trip.nights), ("Kyoto", Some(3)));
            let no = cx.elicit::<Trip>("no", "Or no?").await?;
            assert_eq!(no, Elicited::Declined);
            let form = r#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
            let raw = cx
                .elicit_form("raw", "Again?", form.parse().unwrap())
                .await?;
            assert_eq!(raw.content::<Trip>().unwrap(), trip);
            if elicitation == Elicitation::Form {
                assert!(
                    matches!(
                        page,
                        Err(AskError::NotInRevision {
                            question: "elicitation/create with a URL",
                            ..
                        })
                    ),
                    "{page:?}"
                );
                return Ok("no pages".into());
            }
            assert_eq!(page?, ElicitAction::Accept);
            Ok("all".into())
        });
        let expected = match revision.elicitation() {
            Elicitation::Absent => "too old",
            Elicitation::Form => "no pages",
            _ => "all",
        };
        assert_eq!(rig.call().unwrap(), expected);
    });
}

#[test]
fn a_cancelled_call_drops_the_handler_and_its_question() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let _guard = Guard(notes, "dropped");
            let answer = say(&cx, "key", "one").await?;
            pending::<()>().await;
            Ok(answer)
        });
        rig.person.silence();
        rig.call_and_cancel();
        assert_eq!(rig.person.heard.take(), ["one"]);
        assert_eq!(rig.notes.take(), ["dropped"]);
    });
}

#[test]
fn tools_and_context_of_others_need_capabilities_of_their_own() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            let mut params = CreateMessageParams::new(vec![SamplingMessage::user("one")], 10);
            params.tool_choice = Some(ToolChoice::default());
            let refused = cx.sample("tools", params.clone()).await.unwrap_err();
            let refused = ErrorChain(&refused).to_string();
            assert!(refused.contains("tools"), "{refused}");
            params.tool_choice = None;
            params.include_context = Some(IncludeContext::AllServers);
            // Before 2025-11-25 the context had no capability of its own.
            if cx.revision().has_sampling_tools() {
                let refused = cx.sample("context", params).await.unwrap_err();
                assert!(
                    ErrorChain(&refused)
                        .to_string()
                        .contains("sampling.context"),
                    "{refused}"
                );
                return Ok("refused".into());
            }
            cx.sample("context", params).await?;
            Ok("asked".into())
        });
        let expected = if revision.has_sampling_tools() {
            "refused"
        } else {
            "asked"
        };
        assert_eq!(rig.call().unwrap(), expected);
    });
}

/// EL-06.
#[test]
fn what_breaks_the_protocol_is_not_asked() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move {
            for url in [
                "",
                "file:///etc/passwd",
                "https://a b",
                "javascript:alert(1)",
            ] {
                let page = cx.elicit_url("page", "Look.", url).await;
                assert!(matches!(page, Err(AskError::Invalid(_))), "{page:?}");
            }
            let nested = cx.elicit::<Vec<String>>("list", "All of them.").await;
            assert!(matches!(nested, Err(AskError::Form(_))), "{nested:?}");
            Ok("nothing asked".into())
        });
        assert_eq!(rig.call().unwrap(), "nothing asked");
        assert_eq!(rig.person.heard.take(), [] as [&str; 0]);
    });
}
