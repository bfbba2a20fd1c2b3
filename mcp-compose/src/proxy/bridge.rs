//! The questions and log messages of a legacy server, on their way to the caller that they concern.

use core::future::pending;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::collections::VecDeque;
use std::sync::Arc;

use mcp_async::client::{CallbackContext, CallbackError, ClientBuilder};
use mcp_async::model::{
    ClientFeatures, CreateMessageParams, ElicitParams, ListRootsResult, LoggingMessageParams, Meta,
};
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{CallContext, Peer};
use mcp_async::{ErrorReply, Method, Payload, Revision};
use mcp_proto::json::{EncodeError, RawBuf, Writer};

use crate::watch::Watch;

/// Joins a session with a server to the calls of the one caller that it belongs to.
pub(super) struct Bridge {
    caller: Caller,
    /// The calls that are open, by their numbers.
    calls: Watch<Vec<(u64, CallContext)>>,
    numbers: AtomicU64,
    /// Events for the one call that is open; log messages for a legacy session.
    events: Watch<Events>,
    /// True while the one call of a modern caller runs.
    is_busy: AtomicBool,
}

/// The other side of the bridge.
pub(super) enum Caller {
    /// A legacy session: it can be asked at any time.
    Session { peer: Peer, runtime: RuntimeHandle },
    /// A caller of 2026-07-28, whose one call asks.
    Call,
    /// Many callers, who do not learn of each other: questions are refused, and log messages are dropped.
    Nobody,
}

/// The events that wait, within bounds.
#[derive(Default)]
struct Events {
    /// Each with its bytes.
    waiting: VecDeque<(Event, usize)>,
    bytes: usize,
    /// True while a task tells the caller of them.
    is_told: bool,
}

/// An event of a session that concerns its caller.
pub(super) enum Event {
    Asked(Question),
    Logged(LoggingMessageParams),
}

/// A question of a legacy server, which waits for its answer.
pub(super) struct Question {
    key: String,
    method: Method<'static>,
    params: Params,
    answer: Arc<Watch<Option<Answer>>>,
}

type Answer = Result<RawBuf, ErrorReply>;

/// Parameters that are written for the revision of the caller.
#[derive(Clone)]
pub(super) struct Params(Arc<dyn Payload + Send + Sync>);

impl Payload for Params {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        self.0.write(writer, revision)
    }
}

impl Question {
    /// Returns what the caller is asked.
    pub(super) fn parts(&self) -> (String, Method<'static>, Params) {
        (self.key.clone(), self.method, self.params.clone())
    }

    /// Gives the server its answer.
    pub(super) fn answer(self, answer: Answer) {
        self.answer.change(|place| *place = Some(answer));
    }
}

/// Without an answer the server is refused.
impl Drop for Question {
    fn drop(&mut self) {
        self.answer.change(|place| {
            if place.is_none() {
                *place = Some(Err(ErrorReply::internal()));
            }
        });
    }
}

/// A call that is open on a session. Dropped with the call.
pub(super) struct OpenCall {
    /// `None` on a session that callers share.
    bridge: Option<Arc<Bridge>>,
    number: u64,
}

impl OpenCall {
    /// The call is continued by another request of its caller.
    pub(super) fn continues(&self, context: &CallContext) {
        let Some(bridge) = &self.bridge else { return };
        let context = context.clone();
        let before = bridge.calls.change(|calls| {
            let place = calls.iter_mut().find(|(number, _)| *number == self.number);
            place.map(|(_, place)| core::mem::replace(place, context))
        });
        drop(before);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let Some(bridge) = &self.bridge else { return };
        let removed = bridge.calls.change(|calls| {
            let at = calls.iter().position(|(number, _)| *number == self.number);
            at.map(|at| calls.swap_remove(at))
        });
        // The context of a call is not dropped under the lock.
        drop(removed);
        bridge.tell_events();
    }
}

impl Events {
    /// Adds an event of so many bytes, unless too many wait. One may always wait, whatever its length.
    fn add(&mut self, event: Event, bytes: usize) -> Result<(), Event> {
        let is_full = self.waiting.len() >= EVENTS || self.bytes + bytes > EVENT_BYTES;
        if is_full && !self.is_empty() {
            return Err(event);
        }
        self.bytes += bytes;
        self.waiting.push_back((event, bytes));
        Ok(())
    }

    /// Takes the next one out. Without one the task that tells the caller of them ends.
    fn take(&mut self) -> Option<Event> {
        let next = self.waiting.pop_front();
        self.is_told = next.is_some();
        let (event, bytes) = next?;
        self.bytes -= bytes;
        Some(event)
    }

    /// Returns true if a task is to tell the caller of them, and none does yet.
    fn begin_telling(&mut self) -> bool {
        !self.waiting.is_empty() && !core::mem::replace(&mut self.is_told, true)
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Returns the bytes of parameters as JSON.
fn len(params: &dyn Payload) -> usize {
    let mut writer = Writer::new(&mut []);
    let written = params.write(&mut writer, Revision::V2025_11_25);
    written.map_or(0, |()| writer.finish().unwrap_or_else(|full| full.needed))
}

impl Bridge {
    pub(super) fn new(caller: Caller) -> Arc<Self> {
        Arc::new(Self {
            caller,
            calls: Watch::default(),
            numbers: AtomicU64::new(0),
            events: Watch::default(),
            is_busy: AtomicBool::new(false),
        })
    }

    /// Adds a call that is open.
    pub(super) fn open(self: &Arc<Self>, context: &CallContext) -> OpenCall {
        if let Caller::Nobody = self.caller {
            return OpenCall {
                bridge: None,
                number: 0,
            };
        }
        let number = self.number();
        let context = context.clone();
        self.calls.change(|calls| calls.push((number, context)));
        OpenCall {
            bridge: Some(Arc::clone(self)),
            number,
        }
    }

    /// Returns true if the session belongs to one caller, who receives the log messages of the server.
    pub(super) const fn has_caller(&self) -> bool {
        !matches!(self.caller, Caller::Nobody)
    }

    /// Notes that the one call of a modern caller runs, or that the server has ended it.
    pub(super) fn set_busy(&self, is_busy: bool) {
        self.is_busy.store(is_busy, Ordering::Release);
    }

    /// Returns true while the one call of a modern caller runs. It does for good if the caller gave it up: the server may still ask and
    /// log for it.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::Acquire)
    }

    /// Takes the next event for the call that is open.
    pub(super) fn take_event(&self) -> Option<Event> {
        self.events.change(Events::take)
    }

    /// Waits until there is an event for the call that is open.
    pub(super) async fn has_event(&self) {
        if let Caller::Nobody = self.caller {
            return pending().await;
        }
        self.events
            .find(|events| (!events.is_empty()).then_some(()))
            .await;
    }

    /// Forgets the events that no call has taken: they are not for the next one.
    pub(super) fn forget_events(&self) {
        let forgotten = self.events.change(core::mem::take);
        drop(forgotten);
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks the caller a question of the server.
    async fn ask<P: Payload + Send + Sync + 'static>(
        &self,
        method: Method<'static>,
        params: P,
    ) -> Answer {
        let key = format!("upstream-{}", self.number());
        let Caller::Session { peer, .. } = &self.caller else {
            if let Caller::Nobody = self.caller {
                return Err(ErrorReply::internal());
            }
            if !self.is_busy() {
                return Err(ErrorReply::internal());
            }
            let bytes = len(&params);
            let answer: Arc<Watch<Option<Answer>>> = Arc::default();
            let question = Question {
                key,
                method,
                params: Params(Arc::new(params)),
                answer: Arc::clone(&answer),
            };
            let refused = self
                .events
                .change(|events| events.add(Event::Asked(question), bytes).err());
            drop(refused);
            return answer.find(Clone::clone).await;
        };
        // With several calls it is unknown which of them asks.
        let only = self.calls.read(|calls| match calls.as_slice() {
            [(_, context)] => Some(context.clone()),
            _ => None,
        });
        match only {
            Some(context) => {
                let asked = context.forward_question(&key, method, params).await;
                context.request_state().forget_answer(&key);
                asked.map_err(|error| error.as_reply())
            }
            None => {
                let asked = peer.ask(method, &params).await;
                asked.map_err(|error| error.as_reply())
            }
        }
    }

    /// Passes a log message on: with the call that is open, so that it comes before the result of that call, or beside all of them.
    fn logged(self: &Arc<Self>, mut message: LoggingMessageParams) {
        let is_read = match &self.caller {
            Caller::Session { .. } => true,
            Caller::Nobody => false,
            Caller::Call => self.is_busy(),
        };
        if !is_read {
            return;
        }
        // It is not passed on.
        message.meta = Meta::default();
        let bytes = len(&message);
        // One too many is lost.
        let lost = self
            .events
            .change(|events| events.add(Event::Logged(message), bytes).err());
        drop(lost);
        if self.calls.read(Vec::len) != 1 {
            self.tell_events();
        }
    }

    /// Sends a legacy caller the log messages that wait, outside of its calls.
    fn tell_events(self: &Arc<Self>) {
        let Caller::Session { peer, runtime } = &self.caller else {
            return;
        };
        if self.events.change(Events::begin_telling) {
            let (bridge, peer) = (Arc::clone(self), peer.clone());
            runtime.spawn(Box::pin(async move {
                while let Some(Event::Logged(message)) = bridge.take_event() {
                    let logger = message.logger.as_deref();
                    // The caller may be gone.
                    let _ = peer.log(message.level, logger, message.data).await;
                }
            }));
        }
    }
}

/// Declares these capabilities, whose questions go to the bridge.
pub(super) fn declare(
    client: ClientBuilder,
    features: ClientFeatures,
    bridge: &Arc<Bridge>,
) -> ClientBuilder<Arc<Bridge>> {
    let mut client = client.with_state(Arc::clone(bridge));
    let logs = Arc::clone(bridge);
    client = client.on_log(move |message| logs.logged(message));
    if features.contains(ClientFeatures::ELICITATION_FORM) {
        client = client.on_elicitation(|asked: ElicitParams, cx| async move {
            forward(&cx, Method::ElicitationCreate, asked).await
        });
        if !features.contains(ClientFeatures::ELICITATION_URL) {
            client = client.forms_only();
        }
    }
    if features.contains(ClientFeatures::SAMPLING) {
        client = client.on_sampling(|asked: CreateMessageParams, cx| async move {
            forward(&cx, Method::SamplingCreateMessage, asked).await
        });
        if features.contains(ClientFeatures::SAMPLING_TOOLS) {
            client = client.sampling_tools();
        }
        if features.contains(ClientFeatures::SAMPLING_CONTEXT) {
            client = client.sampling_context();
        }
    }
    if features.contains(ClientFeatures::ROOTS) {
        client = client.on_roots(|cx| async move {
            let none = RawBuf::parse("{}").unwrap_or_default();
            let listed: ListRootsResult = forward(&cx, Method::RootsList, none).await?;
            Ok(listed.roots)
        });
    }
    client
}

async fn forward<P, T>(
    cx: &CallbackContext<Arc<Bridge>>,
    method: Method<'static>,
    params: P,
) -> Result<T, CallbackError>
where
    P: Payload + Send + Sync + 'static,
    T: serde::de::DeserializeOwned,
{
    let answer = cx.state().ask(method, params).await?;
    Ok(answer.decode()?)
}

/// The events that wait for a caller.
const EVENTS: usize = 1000;
/// The bytes of their parameters.
const EVENT_BYTES: usize = 4 << 20;
