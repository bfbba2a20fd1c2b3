//! A client and a server, joined in memory.

use core::cell::RefCell;
use core::future::Future;
use core::sync::atomic::{AtomicBool, Ordering};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use mcp_async::client::{self, Answer, Handler, IncomingQuestion};
use mcp_async::runtime::duplex;
use mcp_async::server::{BoxService, Peer};
use mcp_async::{ErrorReply, TraceContext, server};
use mcp_proto::client::ClientConfig;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::{Method, Notification};
use mcp_proto::server::ServerConfig;
use mcp_proto::{Limits, RevisionSet};

use super::demo::json;
use super::{Chopped, Demo, Watch};
use crate::sim::{Sim, spawn};

pub(crate) struct Pair {
    pub(crate) client: client::Peer,
    pub(crate) peer: Peer,
    pub(crate) watch: Arc<Watch>,
    pub(crate) ears: Arc<Ears>,
    /// Connections that have ended.
    pub(crate) ended: Rc<RefCell<Vec<&'static str>>>,
}

/// What the client heard.
#[derive(Default)]
pub(crate) struct Ears {
    pub(crate) heard: Mutex<Vec<String>>,
    /// Refuse the next question.
    pub(crate) refuses: AtomicBool,
    /// Never answer a question.
    pub(crate) hesitates: AtomicBool,
    pub(crate) panics: AtomicBool,
    /// The trace that the client is in.
    pub(crate) trace: Mutex<Option<TraceContext>>,
}

impl Ears {
    fn note(&self, line: String) {
        self.heard.lock().unwrap().push(line);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.heard.lock().unwrap())
    }
}

/// The handler itself, behind an `Arc` so that a test can look into it.
struct Listener(Arc<Ears>);

impl Handler for Listener {
    fn question(&self, question: IncomingQuestion<'_>) -> Answer {
        let ears = &self.0;
        assert_eq!(question.method, Method::ElicitationCreate);
        let key = question.key.map(|key| key.to_string()).unwrap_or_default();
        let message = question
            .params
            .get("message")
            .map(|m| m.as_str().to_owned());
        ears.note(format!("question {key} {}", message.unwrap_or_default()));
        assert!(!ears.panics.load(Ordering::SeqCst), "a callback panics");
        if ears.refuses.load(Ordering::SeqCst) {
            return Answer::refuse(ErrorReply::new(-1, "no"));
        }
        let hesitates = ears.hesitates.load(Ordering::SeqCst);
        Answer::new(async move {
            if hesitates {
                core::future::pending::<()>().await;
            }
            Ok(json(r#"{"action":"accept","content":{"name":"Ada"}}"#))
        })
    }

    fn trace(&self, _: Method<'_>) -> Option<TraceContext> {
        self.0.trace.lock().unwrap().clone()
    }

    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        self.0.note(match subscription {
            Some(tag) => format!("{} of {tag}", notification.method),
            None => notification.method.to_string(),
        });
    }
}

/// How a pair is set up.
pub(crate) struct Setup {
    pub(crate) revisions: RevisionSet,
    pub(crate) served: RevisionSet,
    pub(crate) capacity: usize,
    pub(crate) chop: usize,
    pub(crate) limits: Limits,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            revisions: RevisionSet::all(),
            served: RevisionSet::all(),
            capacity: 1 << 16,
            chop: usize::MAX,
            limits: Limits::default(),
        }
    }
}

impl Setup {
    pub(crate) fn join(self) -> Pair {
        let (left, right) = duplex(self.capacity);
        let chop = |(reader, writer)| (Chopped(reader, self.chop), Chopped(writer, self.chop));

        let features = ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .with(ServerFeatures::LOGGING);
        let config = ServerConfig {
            capabilities: features.capabilities(),
            revisions: self.served,
            limits: self.limits,
            ..ServerConfig::new("demo", "1")
        };
        let demo = Demo::default();
        let watch = Arc::clone(&demo.0);
        let demo: BoxService = Box::new(demo);
        let (served, peer) = server::connect(chop(right.split()), Sim, config, demo);

        let config = ClientConfig {
            revisions: self.revisions,
            capabilities: ClientFeatures::ELICITATION_FORM.capabilities(),
            limits: self.limits,
            ..ClientConfig::new("test", "0")
        };
        let ears = Arc::new(Ears::default());
        let listener = Listener(Arc::clone(&ears));
        let (connection, client) = client::connect(chop(left.split()), Sim, config, listener);

        let ended = Rc::new(RefCell::new(Vec::new()));
        spawn(ending("server", served, Rc::clone(&ended)));
        spawn(ending("client", connection, Rc::clone(&ended)));
        Pair {
            client,
            peer,
            watch,
            ears,
            ended,
        }
    }
}

async fn ending(
    name: &'static str,
    connection: impl Future<Output = std::io::Result<()>>,
    ended: Rc<RefCell<Vec<&'static str>>>,
) {
    connection.await.expect("no error of the transport");
    ended.borrow_mut().push(name);
}
