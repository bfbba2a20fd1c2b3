//! Questions beside other work: in a race, from another task, from a thread.

use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_async::client::CallError;
use mcp_async::server::AskError;
use mcp_proto::SendError;
use mcp_proto::rpc::Method;

use crate::block_on::block_on;
use crate::rounds::support::{Rig, everywhere, say};
use crate::seen::{Guard, Seen};
use crate::sim::{settle, spawn};

/// The output of a future that runs in a task of its own, which nothing ends.
fn spawned<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = T> + Send {
    let slot = Arc::new(Mutex::new((None, None::<Waker>)));
    let done = Arc::clone(&slot);
    spawn(async move {
        let value = future.await;
        let waker = {
            let mut slot = done.lock().unwrap();
            slot.0 = Some(value);
            slot.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    });
    received(slot)
}

async fn received<T>(slot: Arc<Mutex<(Option<T>, Option<Waker>)>>) -> T {
    poll_fn(|cx| {
        let mut slot = slot.lock().unwrap();
        slot.1 = Some(cx.waker().clone());
        slot.0.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

#[test]
fn a_question_from_a_spawned_task() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            let _guard = Guard(notes.clone(), "dropped");
            let asker = cx.clone();
            let task = spawned(async move {
                let _guard = Guard(notes, "dropped");
                // It ends with the call, whatever becomes of its question.
                let mut ended = pin!(asker.cancelled());
                let mut asked = pin!(say(&asker, "key", "one"));
                poll_fn(|cx| match asked.as_mut().poll(cx) {
                    Poll::Ready(answer) => Poll::Ready(Some(answer)),
                    Poll::Pending => ended.as_mut().poll(cx).map(|()| None),
                })
                .await
            });
            task.await.expect("the handler still waits")
        });
        assert_eq!(rig.call().unwrap(), "one!");
        assert_eq!(rig.person.heard.take(), ["one"]);
        // Of the handler and of its task, in each run.
        assert_eq!(rig.notes.take().len(), 2 * rig.runs(1));
    });
}

#[test]
fn a_question_that_nobody_watches_ends_with_the_connection() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            for late in [false, true] {
                let (asker, notes) = (cx.clone(), notes.clone());
                let _detached = spawned(async move {
                    if late {
                        asker.cancelled().await;
                    }
                    let answer = say(&asker, if late { "late" } else { "key" }, "one").await;
                    notes.note(format!("{answer:?}"));
                });
            }
            pending().await
        });
        rig.person.silence();
        rig.call_and_cancel();
        if revision.is_modern() {
            // No error that a handler could take for a no.
            assert_eq!(rig.notes.take(), [] as [&str; 0]);
        } else {
            assert_eq!(rig.notes.take(), ["Err(Cancelled)", "Err(Cancelled)"]);
        }
        rig.client.close();
        settle();
        if revision.is_modern() {
            assert_eq!(rig.notes.take(), ["Err(Closed)", "Err(Closed)"]);
        }
    });
}

#[test]
fn a_question_from_a_thread() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes| async move {
            notes.note("run");
            let slot = Arc::new(Mutex::new((None, None::<Waker>)));
            let done = Arc::clone(&slot);
            thread::spawn(move || {
                let mut asked = pin!(say(&cx, "key", "one"));
                let mut ended = pin!(cx.cancelled());
                let answer = block_on(poll_fn(|cx| match asked.as_mut().poll(cx) {
                    Poll::Ready(answer) => Poll::Ready(Some(answer)),
                    Poll::Pending => ended.as_mut().poll(cx).map(|()| None),
                }));
                let waker = {
                    let mut slot = done.lock().unwrap();
                    slot.0 = answer;
                    slot.1.take()
                };
                waker.into_iter().for_each(Waker::wake);
            });
            received(slot).await
        });
        assert_eq!(rig.call_and_wait().unwrap(), "one!");
        assert_eq!(rig.notes.take().len(), rig.runs(1));
    });
}

/// In a race with something that takes a moment, a legacy question may lose; in 2026-07-28 it
/// ends the round before anything else has a chance.
#[test]
fn a_question_in_a_select() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, notes: Seen| async move {
            notes.note("run");
            let mut asked = pin!(say(&cx, "key", "one"));
            let mut polls = 0;
            let won = poll_fn(|cx| {
                if let Poll::Ready(answer) = asked.as_mut().poll(cx) {
                    return Poll::Ready(Some(answer));
                }
                // The other branch: ready when it is polled the third time.
                polls += 1;
                cx.waker().wake_by_ref();
                if polls == 3 {
                    Poll::Ready(None)
                } else {
                    Poll::Pending
                }
            })
            .await;
            match won {
                Some(answer) => answer,
                None => Ok("the other".into()),
            }
        });
        rig.person.silence_unless(revision.is_modern());
        let expected = if revision.is_modern() {
            "one!"
        } else {
            "the other"
        };
        assert_eq!(rig.call().unwrap(), expected);
        assert_eq!(rig.notes.take().len(), rig.runs(1));
    });
}

#[test]
fn where_none_is_allowed_a_question_is_an_error() {
    everywhere(|revision| {
        let mut rig = Rig::new(revision, |cx, _| async move { say(&cx, "k", "one").await });
        for method in [Method::ToolsCall, Method::PromptsGet] {
            assert_eq!(rig.ask(method).unwrap(), "one!");
        }
        let refused = AskError::Refused(SendError::NotInRevision).to_string();
        for method in [Method::ToolsList, Method::PromptsList] {
            match rig.ask(method) {
                Ok(said) => assert!(revision.is_legacy() && said == "one!"),
                Err(CallError::Server(error)) => {
                    assert!(revision.is_modern() && error.message == refused, "{error}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    });
}
