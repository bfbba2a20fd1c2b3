//! The server of the tests: one tool for each way in which a handler can behave.

use core::future::{pending, poll_fn};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex};

use mcp_async::server::{Call, CallContext, InputRequired, Peer, Service, Settled};
use mcp_async::{ErrorReply, Job};
use mcp_proto::Payload;
use mcp_proto::json::RawBuf;
use mcp_proto::model::LoggingLevel;
use mcp_proto::rpc::Method;
use serde::{Serialize, Serializer};

use crate::seen::Seen;
use crate::sim::yield_now;

#[derive(Clone, Default)]
pub(crate) struct Demo(pub(crate) Arc<Watch>);

/// What a test can see and do from outside.
#[derive(Default)]
pub(crate) struct Watch {
    dropped: AtomicUsize,
    calls: AtomicUsize,
    open: Mutex<(bool, Vec<Waker>)>,
    pub(crate) contexts: Mutex<Vec<CallContext>>,
    pub(crate) log: Seen,
}

impl Watch {
    /// The number of handlers that were dropped or finished.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// The number of calls that arrived.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Lets the handlers that wait for the gate go on.
    pub(crate) fn open(&self) {
        let wakers = {
            let mut open = self.open.lock().unwrap();
            open.0 = true;
            core::mem::take(&mut open.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn gate(&self) {
        poll_fn(|cx| {
            let mut open = self.open.lock().unwrap();
            if open.0 {
                return Poll::Ready(());
            }
            open.1.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Counts when it goes.
struct Guard(Arc<Watch>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

struct PanicsInSerialize;

impl Serialize for PanicsInSerialize {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("secret of serialize");
    }
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("secret of drop");
    }
}

pub(crate) fn json(text: &str) -> RawBuf {
    RawBuf::from(mcp_proto::json::Raw::parse(text.as_bytes(), 64).unwrap())
}

impl Service for Demo {
    fn call(&self, call: Call<'_>) -> Job {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        if !matches!(call.method, Method::ToolsCall) {
            return call.ready(Ok(json(r#"{"tools":[]}"#)));
        }
        let name = call
            .request
            .subject
            .map(|name| name.to_string())
            .unwrap_or_default();
        let arguments = call.params.get("arguments").map(RawBuf::from);
        let cx = call.context().clone();
        let guard = Guard(Arc::clone(&self.0));
        let watch = Arc::clone(&self.0);
        match name.as_str() {
            "echo" => call.ready(Ok(arguments.unwrap_or_else(|| json("{}")))),
            "later" => call.answer(async move {
                let _guard = guard;
                watch.gate().await;
                Ok(json(r#"{"later":true}"#))
            }),
            "never" => call.answer(async move {
                let _guard = guard;
                pending::<()>().await;
                Ok(json("{}"))
            }),
            "yields" => call.answer(async move {
                for _ in 0..1000 {
                    yield_now().await;
                }
                Ok(json(r#"{"yielded":1000}"#))
            }),
            "big" => {
                let text = "x".repeat(50_000);
                call.ready(Ok(json(&format!(r#"{{"big":"{text}"}}"#))))
            }
            "huge" => {
                let text = "x".repeat(200_000);
                call.ready(Ok(json(&format!(r#"{{"huge":"{text}"}}"#))))
            }
            "panics" => panic!("secret of call"),
            "panics_later" => call.answer(async move {
                watch.gate().await;
                if cx.revision().is_legacy() || cx.revision().is_modern() {
                    panic!("secret of poll");
                }
                Ok(json("{}"))
            }),
            "panics_in_answer" => call.ready(Ok(PanicsInSerialize)),
            "panics_in_drop" => call.answer(async move {
                let _guard = PanicsInDrop;
                pending::<()>().await;
                Ok(json("{}"))
            }),
            "no_object" => call.ready(Ok(json("[]"))),
            "fails" => call.refuse(ErrorReply::new(7, "failed")),
            "progress" => call.answer(async move {
                for step in 1..=3 {
                    let step = cx.progress(f64::from(step)).total(3.0);
                    step.message("so far").await;
                }
                Ok::<_, ErrorReply>(json(r#"{"progressed":true}"#))
            }),
            "logs" => call.answer(async move {
                let smoke = cx.log(LoggingLevel::Warning, "smoke");
                smoke.logger("demo").await;
                Ok::<_, ErrorReply>(json(r#"{"logged":true}"#))
            }),
            "asks" if cx.revision().is_modern() => {
                let responses = call
                    .request
                    .input_responses
                    .map(|r| RawBuf::from(r.as_raw()));
                call.ready(match responses {
                    Some(responses) => Settled::Result(responses),
                    None => Settled::Input(InputRequired {
                        questions: vec![
                            ("name".into(), Method::ElicitationCreate, question()),
                            ("again".into(), Method::ElicitationCreate, question()),
                        ],
                        state: Some("opaque".into()),
                    }),
                })
            }
            "asks" => call.answer(async move {
                let _guard = guard;
                let params = question();
                let answer = cx.ask::<RawBuf>(Method::ElicitationCreate, &*params).await;
                match answer {
                    Ok(answer) => Ok(answer),
                    Err(error) => {
                        watch.log.note(error.to_string());
                        Err(ErrorReply::new(8, "no answer"))
                    }
                }
            }),
            "keeps" => {
                watch.contexts.lock().unwrap().push(cx);
                call.answer(async move {
                    let _guard = guard;
                    watch.gate().await;
                    Ok(json("{}"))
                })
            }
            _ => call.refuse(ErrorReply::invalid_params("Unknown tool")),
        }
    }

    fn seals_state(&self) -> bool {
        true
    }

    fn listening(&self, _: &Peer) {
        self.0.log.note("listening");
    }
}

fn question() -> Box<dyn Payload + Send + Sync> {
    Box::new(json(
        r#"{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}"#,
    ))
}
