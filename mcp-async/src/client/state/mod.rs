//! State of a client that outlives its connections: callbacks, streams and caches.

pub(super) mod ask;
mod async_lock;
pub(super) mod background;
pub(super) mod cache;
pub(super) mod child_end;
pub(super) mod connection_state;
pub(super) mod extensions;
pub(crate) mod inner;
pub(super) mod inputs;
pub(super) mod listed_tools;
pub(super) mod listen_filter;
pub(super) mod owed_requests;
pub(super) mod queue;
#[cfg(feature = "schema")]
pub(super) mod schemas;
#[cfg(not(feature = "schema"))]
#[path = "no_schemas.rs"]
pub(super) mod schemas;
pub(super) mod subscriptions;
pub(super) mod task_support;
pub(crate) mod transport_data;

use core::task::{Context, Poll};
use std::sync::{Arc, Weak};

use mcp_proto::Instant;
use mcp_proto::json::{Object, Raw, RawBuf, Str};
use mcp_proto::model::LoggingLevel;
use mcp_proto::revision::Tasks;
use mcp_proto::rpc::{Method, Notification};

use self::ask::Ask;
use self::async_lock::AsyncLock;
use self::background::Background;
use self::cache::{Cache, CacheBounds, Kind, Ticket};
use self::extensions::result_type;
use self::owed_requests::OwedRequests;
use self::queue::Queue;
use self::schemas::Schemas;
use self::subscriptions::{SubscriptionEvent, Subscriptions, Update};
use self::task_support::TaskSupports;
use self::transport_data::TransportData;
use super::callbacks::Callbacks;
use crate::client::callbacks::question_tasks::QuestionHost;
use crate::client::session::handler::{Answer, Handler, IncomingQuestion};
use crate::client::session::info::ServerInfo;
use crate::error::CallError;
use crate::model::{LoggingMessageParams, Root, TaskSupport};
use crate::runtime::BoxFuture;
use crate::runtime::RuntimeHandle;
use crate::sync::{Lock, Waiter};
use crate::trace_context::TraceContext;

pub(crate) struct ClientState {
    pub(super) callbacks: Callbacks,
    late_results: Vec<LateResult>,
    /// The rounds that are granted to a call.
    pub(super) rounds: u8,
    pub(crate) runtime: RuntimeHandle,
    cache: Option<Lock<Cache>>,
    schemas: Lock<Schemas>,
    task_supports: Lock<TaskSupports>,
    pub(super) subscriptions: Lock<Subscriptions>,
    logs: Lock<Vec<Weak<LogQueue>>>,
    level: Lock<Option<LoggingLevel>>,
    /// Held while `set_log_level` runs, so that the server and the client have the level of the same call.
    pub(super) level_lock: AsyncLock,
    pub(super) owed: OwedRequests,
    pub(super) background: Background,
    renewed: Lock<Renewed>,
    /// The earliest time at which the server accepts requests that no caller waits for.
    not_before: Lock<Instant>,
    /// State of the transport.
    pub(crate) transport_data: TransportData,
}

/// The request to send after a result that no caller waits for.
pub(in crate::client) struct LateResult {
    /// The type of the result.
    pub(in crate::client) name: &'static str,
    /// The method and the parameters of a request, if there is one to send.
    pub(in crate::client) request: Box<RequestOf>,
}

type RequestOf = dyn Fn(Raw<'_>) -> Option<(&'static str, RawBuf)> + Send + Sync;

/// A session that took the place of one that was lost, until the supervisor has handled it.
#[derive(Default)]
struct Renewed {
    server: Option<ServerInfo>,
    waker: Waiter,
}

pub(super) type LogQueue = Queue<LoggingMessageParams>;

impl ClientState {
    pub(super) fn new(
        callbacks: Callbacks,
        late_results: Vec<LateResult>,
        rounds: u8,
        cache: Option<CacheBounds>,
        runtime: RuntimeHandle,
    ) -> Self {
        Self {
            callbacks,
            late_results,
            rounds,
            runtime,
            cache: cache.map(|bounds| Lock::new(Cache::new(bounds))),
            schemas: Lock::default(),
            task_supports: Lock::default(),
            subscriptions: Lock::default(),
            logs: Lock::default(),
            level: Lock::default(),
            level_lock: AsyncLock::default(),
            owed: OwedRequests::default(),
            background: Background::default(),
            renewed: Lock::default(),
            not_before: Lock::default(),
            transport_data: TransportData::default(),
        }
    }

    /// Returns the earliest time at which a request may leave that this client makes by itself at `at`.
    pub(super) fn earliest(&self, at: Instant) -> Instant {
        at.max(*self.not_before.lock())
    }

    /// The server asked for a pause until this time: it concerns requests that no caller waits for.
    pub(crate) fn hold_until(&self, at: Instant) {
        *self.not_before.lock() = at;
    }

    /// A result that is still fresh.
    pub(super) fn cached(&self, ask: &Ask<'_>) -> Option<Arc<RawBuf>> {
        let cache = self.cache.as_ref()?;
        let kind = Kind::of(ask)?;
        let now = self.runtime.now();
        cache.lock().fresh(kind, &kind.key(ask), now)
    }

    /// Taken when a request leaves whose result may be kept.
    pub(super) fn ticket(&self, ask: &Ask<'_>) -> Option<Ticket> {
        let (cache, kind) = (self.cache.as_ref()?, Kind::of(ask)?);
        Some(cache.lock().ticket(kind))
    }

    pub(super) fn keep(&self, ticket: Ticket, ask: &Ask<'_>, result: Raw<'_>) {
        if let Some(cache) = &self.cache {
            let now = self.runtime.now();
            cache.lock().keep(ticket, ask, result, now);
        }
    }

    /// Forgets the results of one kind, or those that a change of a resource concerns.
    pub(super) fn stale(&self, kind: Kind, uri: Option<&str>) {
        if let Some(cache) = &self.cache {
            cache.lock().stale(kind, uri);
        }
    }

    /// SB-13: changes that were reported while no subscription was open are unknown.
    pub(crate) fn forget(&self) {
        if let Some(cache) = &self.cache {
            cache.lock().clear();
        }
        self.forget_tools();
    }

    /// Forgets what the listed tools promise.
    fn forget_tools(&self) {
        self.schemas.lock().clear();
        self.task_supports.lock().clear();
    }

    /// Notes what a listed tool promises of its results.
    pub(super) fn learn(&self, ask: &Ask<'_>, result: Raw<'_>) {
        if let Ask::List {
            method: Method::ToolsList,
            ..
        } = ask
        {
            self.schemas.lock().learn(result);
            if self.callbacks.tasks.is_some() {
                self.task_supports.lock().learn(result);
            }
        }
    }

    /// Returns the task support that a listed tool states; `None` for a tool that was not listed.
    pub(super) fn task_support(&self, tool: &str) -> Option<TaskSupport> {
        self.task_supports.lock().of(tool)
    }

    pub(super) fn check(&self, ask: &Ask<'_>, result: Raw<'_>) -> Result<(), CallError> {
        match ask {
            Ask::CallTool { name, .. } => self.check_tool(name, result),
            _ => Ok(()),
        }
    }

    /// TL-10
    pub(super) fn check_tool(&self, name: &str, result: Raw<'_>) -> Result<(), CallError> {
        let schema = self.schemas.lock().of(name);
        schema.map_or(Ok(()), |schema| schema.check(result))
    }

    /// The log level that each request of 2026-07-28 asks for.
    pub(super) fn log_level(&self) -> Option<&'static str> {
        self.level.lock().map(LoggingLevel::as_str)
    }

    pub(super) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock()
    }

    pub(super) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock() = Some(level);
    }

    pub(super) fn add_logs(&self, queue: &Arc<LogQueue>) {
        let mut logs = self.logs.lock();
        logs.retain(|queue| queue.strong_count() > 0);
        logs.push(Arc::downgrade(queue));
    }

    pub(super) fn set_roots(&self, roots: Vec<Root>) {
        self.callbacks.roots.set(roots);
    }

    pub(super) fn poll_owed(&self, cx: &Context<'_>) -> Poll<String> {
        self.subscriptions.lock().poll_owed(cx)
    }

    /// Ready when a new session has taken the place of a lost one.
    pub(super) fn poll_renewed(&self, cx: &Context<'_>) -> Poll<ServerInfo> {
        let mut renewed = self.renewed.lock();
        match renewed.server.take() {
            Some(server) => Poll::Ready(server),
            None => {
                renewed.waker.register(cx);
                Poll::Pending
            }
        }
    }

    /// Returns true if a new session waits to be handled by the supervisor.
    pub(super) fn is_renewed(&self) -> bool {
        self.renewed.lock().server.is_some()
    }

    /// No connection comes any more.
    pub(super) fn end(&self) {
        self.owed.end();
        self.background.clear();
        for queue in self.subscriptions.lock().queues() {
            queue.end();
        }
        for queue in self.readers() {
            queue.end();
        }
    }

    /// A new connection took the place of one that ended.
    pub(super) fn reconnected(&self) {
        let queues = self.subscriptions.lock().queues();
        for queue in queues {
            queue.push(Update::Reconnected.into());
        }
    }

    fn readers(&self) -> Vec<Arc<LogQueue>> {
        let mut logs = self.logs.lock();
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

    fn question(&self, question: IncomingQuestion<'_>) -> Answer {
        match &self.callbacks.tasks {
            // TK-03
            Some(tasks) if question.revision.tasks() == Tasks::Core => {
                tasks.question(question, self)
            }
            _ => self.callbacks.answer(question, &self.runtime),
        }
    }

    fn renewed(&self, server: &ServerInfo) {
        let waker = {
            let mut renewed = self.renewed.lock();
            renewed.server = Some(server.clone());
            renewed.waker.take()
        };
        waker.wake();
    }

    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        if let Method::Message = notification.method {
            self.logged(&notification);
        } else if let Some(update) = Update::read(&notification, subscription.is_some()) {
            self.invalidate(&update);
            let queues = self.subscriptions.lock().interested(&update, subscription);
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
        let queue = self.subscriptions.lock().queue(tag);
        if let Some(queue) = queue {
            let accepted = RawBuf::from(honoured.as_raw());
            queue.push(SubscriptionEvent::Honoured(filter, accepted));
        }
    }
}

impl QuestionHost for ClientState {
    fn answer(&self, question: IncomingQuestion<'_>) -> Answer {
        self.callbacks.answer(question, &self.runtime)
    }

    fn runtime(&self) -> &RuntimeHandle {
        &self.runtime
    }

    fn run(&self, job: BoxFuture<'static, ()>) {
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
