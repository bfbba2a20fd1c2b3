//! State of a client that outlives its connections: callbacks, streams and caches.

use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, Weak};

use mcp_proto::Instant;
use mcp_proto::json::{Object, Raw, RawBuf, Str};
use mcp_proto::model::LoggingLevel;
use mcp_proto::revision::Tasks;
use mcp_proto::rpc::{Method, Notification};

use super::ask::Ask;
use super::background::Background;
use super::boxed::Boxed;
use super::cache::{Cache, Kind, Ticket};
use super::callbacks::Callbacks;
use super::extensions::result_type;
use super::handler::{Handler, IncomingQuestion, Reply};
use super::info::ServerInfo;
use super::owed_requests::OwedRequests;
use super::question_tasks::QuestionHost;
use super::queue::{self, Queue};
use super::schemas::Schemas;
use super::subscriptions::{SubscriptionEvent, Subscriptions, Update};
use super::task_support::TaskSupports;
#[cfg(feature = "http-client")]
use super::transport_data::TransportData;
use crate::error::CallError;
use crate::lock::lock;
use crate::model::{LoggingMessageParams, Root, TaskSupport};
use crate::runtime::RuntimeHandle;
use crate::trace_context::TraceContext;

pub(crate) struct ClientState {
    pub(super) callbacks: Callbacks,
    late_results: Vec<LateResult>,
    /// The rounds that are granted to a call.
    pub(super) rounds: u8,
    pub(crate) runtime: RuntimeHandle,
    cache: Option<Mutex<Cache>>,
    schemas: Mutex<Schemas>,
    task_supports: Mutex<TaskSupports>,
    pub(super) subscriptions: Mutex<Subscriptions>,
    logs: Mutex<Vec<Weak<LogQueue>>>,
    level: Mutex<Option<LoggingLevel>>,
    pub(super) owed: OwedRequests,
    pub(super) background: Background,
    renewed: Mutex<Renewed>,
    /// The earliest time at which the server accepts requests that no caller waits for.
    not_before: Mutex<Instant>,
    /// State of the transport.
    #[cfg(feature = "http-client")]
    pub(crate) transport_data: TransportData,
}

/// The request to send after a result that no caller waits for.
pub(super) struct LateResult {
    /// The type of the result.
    pub(super) name: &'static str,
    /// The method and the parameters of a request, if there is one to send.
    pub(super) request: Box<RequestOf>,
}

type RequestOf = dyn Fn(Raw<'_>) -> Option<(&'static str, RawBuf)> + Send + Sync;

/// A session that took the place of one that was lost, until the supervisor has handled it.
#[derive(Default)]
struct Renewed {
    server: Option<ServerInfo>,
    waker: Option<Waker>,
}

pub(super) type LogQueue = Queue<LoggingMessageParams>;

impl ClientState {
    pub(super) fn new(
        callbacks: Callbacks,
        late_results: Vec<LateResult>,
        rounds: u8,
        cache: bool,
        runtime: RuntimeHandle,
    ) -> Self {
        Self {
            callbacks,
            late_results,
            rounds,
            runtime,
            cache: cache.then(Mutex::default),
            schemas: Mutex::default(),
            task_supports: Mutex::default(),
            subscriptions: Mutex::default(),
            logs: Mutex::default(),
            level: Mutex::default(),
            owed: OwedRequests::default(),
            background: Background::default(),
            renewed: Mutex::default(),
            not_before: Mutex::default(),
            #[cfg(feature = "http-client")]
            transport_data: TransportData::default(),
        }
    }

    /// Returns the earliest time at which a request may leave that this client makes by itself at `at`.
    pub(super) fn earliest(&self, at: Instant) -> Instant {
        at.max(*lock(&self.not_before))
    }

    /// The server asked for a pause until this time: it concerns requests that no caller waits for.
    #[cfg(feature = "http-client")]
    pub(crate) fn hold_until(&self, at: Instant) {
        *lock(&self.not_before) = at;
    }

    /// A result that is still fresh.
    pub(super) fn cached(&self, ask: &Ask<'_>) -> Option<Arc<RawBuf>> {
        let cache = self.cache.as_ref()?;
        let kind = Kind::of(ask)?;
        let now = self.runtime.now();
        lock(cache).fresh(kind, &kind.key(ask), now)
    }

    /// Taken when a request leaves whose result may be kept.
    pub(super) fn ticket(&self, ask: &Ask<'_>) -> Option<Ticket> {
        let cache = self.cache.as_ref()?;
        Some(lock(cache).ticket(Kind::of(ask)?))
    }

    pub(super) fn keep(&self, ticket: Ticket, ask: &Ask<'_>, result: Raw<'_>) {
        if let Some(cache) = &self.cache {
            let now = self.runtime.now();
            lock(cache).keep(ticket, ask, result, now);
        }
    }

    /// Forgets the results of one kind, or those that a change of a resource concerns.
    pub(super) fn stale(&self, kind: Kind, uri: Option<&str>) {
        if let Some(cache) = &self.cache {
            lock(cache).stale(kind, uri);
        }
    }

    /// SB-13: changes that were reported while no subscription was open are unknown.
    pub(crate) fn forget(&self) {
        if let Some(cache) = &self.cache {
            lock(cache).clear();
        }
        self.forget_tools();
    }

    /// Forgets what the listed tools promise.
    fn forget_tools(&self) {
        lock(&self.schemas).clear();
        lock(&self.task_supports).clear();
    }

    /// Notes what a listed tool promises of its results.
    pub(super) fn learn(&self, ask: &Ask<'_>, result: Raw<'_>) {
        if let Ask::List {
            method: Method::ToolsList,
            ..
        } = ask
        {
            lock(&self.schemas).learn(result);
            if self.callbacks.tasks.is_some() {
                lock(&self.task_supports).learn(result);
            }
        }
    }

    /// Returns the task support that a listed tool states; `None` for a tool that was not listed.
    pub(super) fn task_support(&self, tool: &str) -> Option<TaskSupport> {
        lock(&self.task_supports).of(tool)
    }

    pub(super) fn check(&self, ask: &Ask<'_>, result: Raw<'_>) -> Result<(), CallError> {
        match ask {
            Ask::CallTool { name, .. } => self.check_tool(name, result),
            _ => Ok(()),
        }
    }

    /// TL-10
    pub(super) fn check_tool(&self, name: &str, result: Raw<'_>) -> Result<(), CallError> {
        let schema = lock(&self.schemas).of(name);
        schema.map_or(Ok(()), |schema| schema.check(result))
    }

    /// The log level that each request of 2026-07-28 asks for.
    pub(super) fn log_level(&self) -> Option<&'static str> {
        lock(&self.level).map(LoggingLevel::as_str)
    }

    pub(super) fn level(&self) -> Option<LoggingLevel> {
        *lock(&self.level)
    }

    pub(super) fn set_level(&self, level: LoggingLevel) {
        *lock(&self.level) = Some(level);
    }

    pub(super) fn add_logs(&self, queue: &Arc<LogQueue>) {
        lock(&self.logs).push(Arc::downgrade(queue));
    }

    pub(super) fn set_roots(&self, roots: Vec<Root>) {
        self.callbacks.roots.set(roots);
    }

    pub(super) fn poll_owed(&self, cx: &Context<'_>) -> Poll<String> {
        lock(&self.subscriptions).poll_owed(cx)
    }

    /// Ready when a new session has taken the place of a lost one.
    pub(super) fn poll_renewed(&self, cx: &Context<'_>) -> Poll<ServerInfo> {
        let mut renewed = lock(&self.renewed);
        match renewed.server.take() {
            Some(server) => Poll::Ready(server),
            None => {
                renewed.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Returns true if a new session waits to be handled by the supervisor.
    pub(super) fn is_renewed(&self) -> bool {
        lock(&self.renewed).server.is_some()
    }

    /// No connection comes any more.
    pub(super) fn end(&self) {
        self.owed.end();
        self.background.clear();
        for queue in lock(&self.subscriptions).queues() {
            queue.end();
        }
        for queue in self.readers() {
            queue.end();
        }
    }

    /// A new connection took the place of one that ended.
    pub(super) fn reconnected(&self) {
        let queues = lock(&self.subscriptions).queues();
        for queue in queues {
            queue.push(Update::Reconnected.into());
        }
    }

    fn readers(&self) -> Vec<Arc<LogQueue>> {
        let mut logs = lock(&self.logs);
        logs.retain(|queue| queue.strong_count() > 0);
        logs.iter().filter_map(Weak::upgrade).collect()
    }

    fn logged(&self, notification: &Notification<'_>) {
        let readers = self.readers();
        if readers.is_empty() && self.callbacks.log.is_none() {
            return;
        }
        let params = notification.params.unwrap_or_default().as_raw();
        let Ok(message) = params.decode::<LoggingMessageParams>(&mut []) else {
            return;
        };
        for queue in readers {
            queue.push(message.clone());
        }
        if let Some(log) = &self.callbacks.log {
            log(message);
        }
    }

    /// CH-07
    fn invalidate(&self, update: &Update) {
        match update {
            Update::Tools => {
                self.stale(Kind::Tools, None);
                self.forget_tools();
            }
            Update::Prompts => self.stale(Kind::Prompts, None),
            Update::Resources => {
                self.stale(Kind::Resources, None);
                self.stale(Kind::Templates, None);
            }
            Update::Resource(uri) => self.stale(Kind::Read, Some(uri)),
            Update::Reconnected | Update::Notification { .. } => {}
        }
    }
}

impl Handler for ClientState {
    fn trace(&self, _: Method<'_>) -> Option<TraceContext> {
        self.callbacks.trace.as_ref()?()
    }

    fn question(&self, question: IncomingQuestion<'_>) -> Reply {
        match &self.callbacks.tasks {
            // TK-03
            Some(tasks) if question.revision.tasks() == Tasks::Core => {
                tasks.question(question, self)
            }
            _ => self.callbacks.answer(question),
        }
    }

    fn renewed(&self, server: &ServerInfo) {
        let waker = {
            let mut renewed = lock(&self.renewed);
            renewed.server = Some(server.clone());
            renewed.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        if let Method::Message = notification.method {
            self.logged(&notification);
        } else if let Some(update) = Update::read(&notification, subscription.is_some()) {
            self.invalidate(&update);
            let queues = lock(&self.subscriptions).interested(&update, subscription);
            for queue in queues {
                queue.push(update.clone().into());
            }
        }
        if let Some(callback) = &self.callbacks.notification {
            callback(notification);
        }
    }

    fn late_result(&self, result: Object<'_>) {
        let Some(kind) = result_type(result.as_raw()) else {
            return;
        };
        let late = self.late_results.iter();
        let concerned = late.filter(|late| kind == *late.name);
        let mut requests = concerned.filter_map(|late| (late.request)(result.as_raw()));
        if let Some((method, params)) = requests.next() {
            let method = Method::from(Str::from(method));
            self.owed.push(None, Ask::Own { method, params });
        }
    }

    fn listening(&self, tag: u64, honoured: Object<'_>) {
        let filter = honoured.as_raw().decode(&mut []).unwrap_or_default();
        let queue = lock(&self.subscriptions).queue(tag);
        if let Some(queue) = queue {
            let accepted = RawBuf::from(honoured.as_raw());
            queue.push(SubscriptionEvent::Honoured(filter, accepted));
        }
    }
}

impl QuestionHost for ClientState {
    fn answer(&self, question: IncomingQuestion<'_>) -> Reply {
        self.callbacks.answer(question)
    }

    fn runtime(&self) -> &RuntimeHandle {
        &self.runtime
    }

    fn run(&self, job: Boxed<()>) {
        self.background.push(job);
    }
}

impl queue::Entry for LoggingMessageParams {
    fn bytes(&self) -> usize {
        let logger = self.logger.as_ref().map_or(0, String::len);
        let meta = self.meta.iter();
        let meta = meta.map(|(name, value)| name.len() + value.as_bytes().len());
        self.data.as_raw().as_bytes().len() + logger + meta.sum::<usize>()
    }
}
