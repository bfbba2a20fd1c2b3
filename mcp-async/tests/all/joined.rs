//! The connections of a client and of a server, joined in memory.

use core::cell::RefCell;
use core::future::Future;
use core::sync::atomic::{AtomicBool, Ordering};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use mcp_async::client::{self, Answer, Handler, IncomingQuestion};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitResult, ListRootsResult, Root,
};
use mcp_async::runtime::duplex;
use mcp_async::server::{BoxService, Peer, StateKeys};
use mcp_async::{ErrorReply, TraceContext, server};
use mcp_proto::client::ClientConfig;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::{Method, Notification};
use mcp_proto::server::ServerConfig;

use crate::chopped::Chopped;
use crate::seen::Seen;
use crate::sim::{Sim, spawn};

pub(crate) struct Joined {
    pub(crate) client: client::Peer,
    pub(crate) peer: Peer,
    pub(crate) person: Arc<Person>,
    /// Connections that have ended.
    pub(crate) ended: Rc<RefCell<Vec<&'static str>>>,
}

impl Joined {
    /// Joins a client of this configuration and the server of this service, by pipes of this
    /// capacity that move so many bytes at once.
    pub(crate) fn new(
        client: ClientConfig<'static>,
        server: ServerConfig<'static>,
        service: BoxService,
        (capacity, chop): (usize, usize),
    ) -> Self {
        let (left, right) = duplex(capacity);
        let chop = |(reader, writer)| (Chopped(reader, chop), Chopped(writer, chop));
        let (served, peer) = server::connect(chop(right.split()), Sim, server, service);
        let served = served.with_state_keys(StateKeys::new([1; 32]));
        let person = Arc::new(Person::default());
        let ears = Ears(Arc::clone(&person));
        let (connection, client) = client::connect(chop(left.split()), Sim, client, ears);
        let ended = Rc::new(RefCell::new(Vec::new()));
        spawn(ending("server", served, Rc::clone(&ended)));
        spawn(ending("client", connection, Rc::clone(&ended)));
        Self {
            client,
            peer,
            person,
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

/// The client: it answers what it is asked.
#[derive(Default)]
pub(crate) struct Person {
    /// The texts of the questions, and the notifications that it got.
    pub(crate) heard: Seen,
    /// The keys of the questions that have one.
    pub(crate) keys: Seen,
    /// It never answers.
    silent: AtomicBool,
    /// It refuses every question with this error.
    refusal: Mutex<Option<ErrorReply>>,
    pub(crate) panics: AtomicBool,
    /// The trace that it is in.
    pub(crate) trace: Mutex<Option<TraceContext>>,
}

impl Person {
    /// From now on it never answers.
    pub(crate) fn silence(&self) {
        self.silence_unless(false);
    }

    /// From now on it refuses whatever it is asked.
    pub(crate) fn refuse(&self, error: ErrorReply) {
        *self.refusal.lock().unwrap() = Some(error);
    }

    pub(crate) fn silence_unless(&self, answers: bool) {
        self.silent.store(!answers, Ordering::SeqCst);
    }
}

/// The handler itself, behind an `Arc` so that a test can look into it.
struct Ears(Arc<Person>);

impl Handler for Ears {
    fn question(&self, question: IncomingQuestion<'_>) -> Answer {
        let params = question.params.as_raw();
        let text = match question.method {
            Method::SamplingCreateMessage => {
                let params: CreateMessageParams = params.decode(&mut []).unwrap();
                params.messages[0].content.text()
            }
            Method::RootsList => "roots".to_owned(),
            _ => question.params.get("message").unwrap().as_str().to_owned(),
        };
        self.0.heard.note(&text);
        if let Some(key) = question.key {
            self.0.keys.note(key.to_string());
        }
        assert!(!self.0.panics.load(Ordering::SeqCst), "a callback panics");
        if self.0.silent.load(Ordering::SeqCst) {
            return Answer::new(core::future::pending::<Result<(), ErrorReply>>());
        }
        if let Some(error) = self.0.refusal.lock().unwrap().clone() {
            return Answer::refuse(error);
        }
        match question.method {
            Method::SamplingCreateMessage => {
                let answer = CreateMessageResult::new("parrot", format!("{text}!"));
                Answer::ready(Ok(answer))
            }
            Method::RootsList => Answer::ready(Ok(ListRootsResult {
                roots: vec![Root::new("file:///tmp")],
                ..ListRootsResult::default()
            })),
            _ if question.params.get("url").is_some() => Answer::ready(Ok(ElicitResult::agree())),
            _ if text.contains("no?") => Answer::ready(Ok(ElicitResult::decline())),
            _ => Answer::ready(Ok(RawBuf::parse(ACCEPT).unwrap())),
        }
    }

    fn trace(&self, _: Method<'_>) -> Option<TraceContext> {
        self.0.trace.lock().unwrap().clone()
    }

    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        let method = notification.method;
        self.0.heard.note(match subscription {
            Some(tag) => format!("{method} of {tag}"),
            None => method.to_string(),
        });
    }
}

const ACCEPT: &str = r#"{"action":"accept","content":{"city":"Kyoto","nights":3}}"#;
