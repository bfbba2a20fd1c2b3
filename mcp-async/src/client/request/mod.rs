//! A typed request, from the first attempt to send it to its result.

pub(super) mod batch;
pub(super) mod decode;
pub(super) mod input_answers;
mod listing;
pub(super) mod logs;
pub(super) mod one_round;
pub(super) mod page;
pub(super) mod pages;
pub(super) mod pagination;
pub(super) mod subscription;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::client::Failure;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::{LoggingLevel, ServerFeatures};
use mcp_proto::rpc::code;

use self::decode::Decode;
use self::listing::Listing;
use crate::client::session::exchange::{Exchange, Options, Rounds, Terms};
use crate::client::session::role::is_created;
use crate::client::state::ask::{Ask, Extended};
use crate::client::state::cache::{Kind, Ticket};
use crate::client::state::child_end::ChildEnd;
use crate::client::state::extensions::IntermediateResult;
use crate::client::state::inner::{Inner, Link};
use crate::client::state::inputs::{InputAnswers, InputQuestions};
use crate::connection::{Notified, PendingRequest, Progress};
use crate::error::CallError;
use crate::model::{Completion, Meta, TaskSupport};
use crate::runtime::BoxFuture;
use crate::trace_context::TraceContext;

/// A request to the server and its result; what the methods of [`Client`](super::Client) return.
///
/// It borrows what it was given and encodes it when it is polled, in every round of input again, asks the callbacks of the client inside its own poll, and decodes the result in the
/// task that awaits it. Dropping it cancels the request: the server is notified, and the answer
/// is discarded.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::Client;
/// use mcp_async::client::CallError;
///
/// async fn convert(client: &Client) -> Result<String, CallError> {
///     let result = client
///         .call_tool("convert", &())
///         .timeout(Duration::from_secs(10))
///         .on_progress(|step| eprintln!("{:?}", step.fraction()))
///         .await?;
///     Ok(result.text())
/// }
/// ```
#[must_use = "a request is sent when its future is polled"]
pub struct Request<'a, T, H = fn(Progress<'_>)> {
    inner: &'a Arc<Inner>,
    ask: Ask<'a>,
    /// Added to the parameters.
    meta: Meta,
    /// The extension that the server must have declared.
    extension: Option<&'a str>,
    /// The extensions that it declares, if not all.
    declared: Option<&'a [&'a str]>,
    /// True if the server is asked even if a cached result is fresh.
    is_fresh: bool,
    options: Options<'static>,
    trace: Option<TraceContext>,
    on_progress: Option<H>,
    decode: Decode<T>,
    /// Set if the questions of the server are for the caller to answer, with the answers to those of the round before.
    by_hand: Option<InputAnswers>,
    /// The questions of the server, of a request that is answered by hand.
    asked: Option<InputQuestions>,
    /// True if the tools were listed for this request.
    listed: bool,
    /// The time at which the request ends at the latest, if that was set; from its first attempt on.
    deadline: Option<Instant>,
    stage: Stage<'a>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a box would be an allocation in every call"
)]
enum Stage<'a> {
    /// Nothing was done.
    New,
    /// Waits for a connection later than this one, with a place among those who wait.
    Linking(u64, Option<Notified>),
    /// The result was of a type of an extension, which continues from it.
    Following(BoxFuture<'static, Result<RawBuf, CallError>>),
    /// The list of tools says what the client did not know: which headers the server requires, or whether the tool runs as a task.
    Listing {
        listing: Box<Listing<'a>>,
        /// The error that the call had, if only a tool that runs as a task is called again.
        refused: Option<CallError>,
    },
    /// On its way over this connection.
    Sent {
        exchange: Exchange<'a>,
        generation: u64,
        child: Option<Arc<ChildEnd>>,
        ticket: Option<Ticket>,
    },
    /// The connection is over, and how the server ended is about to be known.
    Ending(Arc<ChildEnd>),
    Done,
}

impl<'a, T> Request<'a, T> {
    pub(super) fn new(
        inner: &'a Arc<Inner>,
        ask: Ask<'a>,
        decode: fn(Raw<'_>) -> Result<T, CallError>,
    ) -> Self {
        Self::decoded(inner, ask, Decode::Result(decode))
    }

    /// A request whose result is decoded in this way.
    pub(super) fn decoded(inner: &'a Arc<Inner>, ask: Ask<'a>, decode: Decode<T>) -> Self {
        Self {
            inner,
            ask,
            meta: Meta::new(),
            extension: None,
            declared: None,
            is_fresh: false,
            options: Options::default(),
            trace: None,
            on_progress: None,
            decode,
            by_hand: None,
            asked: None,
            listed: false,
            deadline: None,
            stage: Stage::New,
        }
    }

    /// Asks for progress, and hands it to the closure: in the order of the wire, before
    /// the result, and inside the poll of this future, so it may borrow. If the future is not
    /// polled for long, what came before the newest step is forgotten.
    pub fn on_progress<H: FnMut(Progress<'_>)>(self, on_progress: H) -> Request<'a, T, H> {
        Request {
            inner: self.inner,
            ask: self.ask,
            meta: self.meta,
            extension: self.extension,
            declared: self.declared,
            is_fresh: self.is_fresh,
            options: self.options,
            trace: self.trace,
            on_progress: Some(on_progress),
            decode: self.decode,
            by_hand: self.by_hand,
            asked: self.asked,
            listed: self.listed,
            deadline: self.deadline,
            stage: self.stage,
        }
    }
}

impl<'a, T, H> Request<'a, T, H> {
    /// Waits so long for the result, instead of the configured time. Before that it waits at most so long until the request is
    /// sent, while the server does not read or the handshake of a new session is not over. The wait for a new connection
    /// ([`ConnectionState::Reconnecting`](crate::client::ConnectionState::Reconnecting)) has no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits so long at most, however often progress begins the timeout anew. A request
    /// that the server makes a task of is bounded as a whole then, its task included, and not at all
    /// otherwise; a task that is returned as a handle is not bounded.
    pub fn max_duration(mut self, max_duration: Duration) -> Self {
        self.options.max_duration = Some(max_duration);
        self
    }

    /// Asks for log messages from this severity on, which the client's
    /// [logs](super::Client::logs) bring. Each request of 2026-07-28 says it for itself; a legacy session has one [level](super::Client::set_log_level) for all, and
    /// takes no notice of this one.
    pub fn with_logs(mut self, level: LoggingLevel) -> Self {
        self.options.log_level = Some(level.as_str());
        self
    }

    /// Declares only these of the client's extensions on the request, and has only their
    /// types of results: a call that does not declare `io.modelcontextprotocol/tasks` becomes no
    /// task. Its result is neither kept nor taken from what is kept. A legacy session declares the
    /// extensions once, and takes no notice of this.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::CallError;
    ///
    /// async fn convert(client: &Client) -> Result<String, CallError> {
    ///     let result = client.call_tool("convert", &()).with_extensions(&[]).await?;
    ///     Ok(result.text())
    /// }
    /// # let _ = convert;
    /// ```
    pub fn with_extensions(mut self, extensions: &'a [&'a str]) -> Self {
        self.declared = Some(extensions);
        self
    }

    /// Asks the server even if the client keeps a result that is [fresh](super::ClientBuilder::cache).
    /// The new result takes its place.
    pub fn refreshed(mut self) -> Self {
        self.is_fresh = true;
        self
    }

    /// Tells the server which trace the request belongs to, in place of what the client
    /// [tells of every one](super::ClientBuilder::on_trace).
    pub fn trace(mut self, trace: TraceContext) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Adds these members to `_meta` of the parameters. Parameters of
    /// [`Client::request`](super::Client::request) that have `_meta` themselves are sent as they
    /// are.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// Returns the request, which is refused here unless the server declares this extension.
    pub(super) const fn of_extension(mut self, extension: &'a str) -> Self {
        self.extension = Some(extension);
        self
    }

    /// Returns true if the request has left, or has not to.
    fn was_sent(&self) -> bool {
        match &self.stage {
            Stage::New | Stage::Linking(..) => false,
            Stage::Sent { exchange, .. } => exchange.was_sent(),
            _ => true,
        }
    }

    pub(super) fn poll_raw(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, CallError>>
    where
        H: FnMut(Progress<'_>),
    {
        loop {
            match &mut self.stage {
                Stage::New => {
                    if let Some(extension) = self.extension
                        && self.inner.server().extension(extension).is_none()
                    {
                        self.stage = Stage::Done;
                        let error = CallError::MissingExtension(extension.to_owned());
                        return Poll::Ready(Err(error));
                    }
                    let is_kept =
                        !self.is_fresh && self.declared.is_none() && self.by_hand.is_none();
                    if is_kept && let Some(kept) = self.inner.client_state.cached(&self.ask) {
                        self.stage = Stage::Done;
                        return Poll::Ready(self.finish(kept.as_raw()));
                    }
                    self.stage = Stage::Linking(0, None);
                }
                Stage::Linking(after, wait) => {
                    let link = match ready!(self.inner.poll_link(cx, *after, wait)) {
                        Ok(link) => link,
                        Err(CallError::Closed) if let Some(child) = self.inner.child() => {
                            self.stage = Stage::Ending(child);
                            continue;
                        }
                        Err(error) => return Poll::Ready(Err(error)),
                    };
                    let Link {
                        shared,
                        generation,
                        child,
                    } = link;
                    if self.adapt(&shared) {
                        self.list_tools(None);
                        continue;
                    }
                    if let (None, Some(duration)) = (self.deadline, self.options.max_duration) {
                        self.deadline = Some(self.inner.client_state.runtime.now() + duration);
                    }
                    let ticket = match (self.declared, &self.by_hand) {
                        (None, None) => self.inner.client_state.ticket(&self.ask),
                        _ => None,
                    };
                    self.stage = Stage::Sent {
                        exchange: Exchange::new(PendingRequest::shared(shared)),
                        ticket,
                        generation,
                        child,
                    };
                }
                Stage::Sent {
                    exchange,
                    generation,
                    child,
                    ticket,
                } => {
                    let mut options: Options<'_> = self.options;
                    options.max_duration = remaining(self.inner, self.deadline);
                    // A request that has no time left for its answer is not sent.
                    if options.max_duration == Some(Duration::ZERO) && !exchange.was_sent() {
                        self.stage = Stage::Done;
                        return Poll::Ready(Err(CallError::Timeout));
                    }
                    options.trace = self.trace.as_ref();
                    options.extensions = self.declared;
                    if options.log_level.is_none() {
                        options.log_level = self.inner.client_state.log_level();
                    }
                    let answers = self.by_hand.as_ref();
                    let is_extended =
                        !self.meta.is_empty() || answers.is_some_and(InputAnswers::continues);
                    let extended = Extended {
                        ask: &self.ask,
                        meta: &self.meta,
                        answers,
                    };
                    let terms = Terms {
                        method: self.ask.method(),
                        params: match is_extended {
                            false => self.ask.params(),
                            true => Some(&extended),
                        },
                        options,
                        progress: self.on_progress.is_some(),
                        subject: self.ask.subject(),
                        tag: 0,
                        handler: &*self.inner.client_state,
                        rounds: match answers {
                            None => Rounds::Asked(self.inner.client_state.rounds),
                            Some(_) => Rounds::Returned,
                        },
                    };
                    let on_progress = &mut |progress: Progress<'_>| {
                        if let Some(on_progress) = &mut self.on_progress {
                            on_progress(progress);
                        }
                    };
                    let buffer = match ready!(exchange.poll(cx, &terms, on_progress)) {
                        Ok(buffer) => buffer,
                        // It ended before it received this request: the next connection sends it.
                        Err(CallError::Closed) if !exchange.was_sent() && self.inner.restarts() => {
                            self.stage = Stage::Linking(*generation, None);
                            continue;
                        }
                        // XH-17
                        Err(CallError::Server(_))
                            if exchange.is_mismatched()
                                && !self.listed
                                && matches!(self.ask, Ask::CallTool { .. }) =>
                        {
                            self.list_tools(None);
                            continue;
                        }
                        // TK-06
                        Err(CallError::Server(error))
                            if error.code == code::METHOD_NOT_FOUND
                                && !self.listed
                                && may_need_task(self.inner, &self.ask) =>
                        {
                            self.list_tools(Some(CallError::Server(error)));
                            continue;
                        }
                        Err(error) => {
                            let child = child.take().filter(|_| self.inner.child().is_some());
                            if let (CallError::Closed, Some(child)) = (&error, child) {
                                self.stage = Stage::Ending(child);
                                continue;
                            }
                            self.stage = Stage::Done;
                            return Poll::Ready(Err(error));
                        }
                    };
                    if let Some(state) = exchange.take_returned() {
                        let requests = buffer.clone();
                        exchange.leave(buffer);
                        self.asked = Some(InputQuestions { requests, state });
                        self.stage = Stage::Done;
                        return Poll::Ready(Err(CallError::Failed(Failure::Rounds)));
                    }
                    // CH-06
                    if let Some(ticket) = ticket.take().filter(|_| !exchange.was_retried()) {
                        self.inner
                            .client_state
                            .keep(ticket, &self.ask, buffer.as_raw());
                    }
                    let Stage::Sent { mut exchange, .. } =
                        core::mem::replace(&mut self.stage, Stage::Done)
                    else {
                        return Poll::Pending;
                    };
                    if let Some(following) = self.follow(buffer.as_raw()) {
                        exchange.leave(buffer);
                        self.stage = Stage::Following(following);
                        continue;
                    }
                    let result = self.finish(buffer.as_raw());
                    exchange.leave(buffer);
                    return Poll::Ready(result);
                }
                Stage::Following(following) => {
                    let result = ready!(following.as_mut().poll(cx));
                    self.stage = Stage::Done;
                    return Poll::Ready(result.and_then(|result| self.finish(result.as_raw())));
                }
                Stage::Ending(child) => {
                    let died = ready!(child.poll(cx));
                    self.stage = Stage::Done;
                    return Poll::Ready(
                        Err(died.map_or(CallError::Closed, CallError::ExitedEarly)),
                    );
                }
                Stage::Listing { listing, refused } => {
                    // Without a list the call is made as before, and the server says why not.
                    ready!(listing.poll(cx));
                    let refused = refused.take();
                    let refused = refused.filter(|_| !requires_task(self.inner, &self.ask));
                    if let Some(error) = refused {
                        self.stage = Stage::Done;
                        return Poll::Ready(Err(error));
                    }
                    self.stage = Stage::Linking(0, None);
                }
                // The result was handed over.
                Stage::Done => return Poll::Pending,
            }
        }
    }

    /// Adapts the request to the revision. Returns whether the list of tools decides how it is sent,
    /// and is not known.
    fn adapt(&mut self, shared: &crate::client::state::inner::ClientShared) -> bool {
        match &mut self.ask {
            Ask::Ping { modern } => {
                let revision = shared.lock().machine.revision();
                *modern = revision.is_some_and(mcp_proto::Revision::is_modern);
                false
            }
            Ask::CallTool { name, task, .. } => {
                let client_state = &self.inner.client_state;
                let Some(tasks) = &self.inner.extensions.core_tasks else {
                    return false;
                };
                // TK-05
                if !makes_tasks(self.inner) {
                    *task = None;
                    return false;
                }
                let has_handle = matches!(self.decode, Decode::Unfollowed(_));
                let support = client_state.task_support(name);
                let asks = match support {
                    Some(TaskSupport::Required) => true,
                    Some(TaskSupport::Optional) => has_handle,
                    _ => false,
                };
                *task = asks.then_some(*tasks);
                has_handle && support.is_none() && !self.listed
            }
            _ => false,
        }
    }

    /// Lists the tools before the call is made, once.
    fn list_tools(&mut self, refused: Option<CallError>) {
        self.listed = true;
        self.inner.client_state.stale(Kind::Tools, None);
        self.stage = Stage::Listing {
            listing: Box::new(Listing::new(self.inner)),
            refused,
        };
    }

    /// Returns the continuation from a result of an extension (EX-09).
    fn follow(&self, result: Raw<'_>) -> Option<BoxFuture<'static, Result<RawBuf, CallError>>> {
        if let Decode::Unfollowed(_) = self.decode {
            return None;
        }
        let extensions = &self.inner.extensions;
        let follow = extensions.follow(self.ask.method(), result)?;
        let is_modern = self.inner.server().revision.requires_result_type();
        if self.by_hand.is_some() && is_modern {
            return None;
        }
        // A legacy result has no type (JR-20), except the answer to a call that asked for a task.
        let may_continue = match &self.ask {
            Ask::CallTool { task: Some(_), .. } => is_created(result),
            _ => is_modern,
        };
        if !may_continue {
            return None;
        }
        let intermediate = IntermediateResult {
            method: self.ask.method().name().to_cow().into_owned(),
            result: RawBuf::from(result),
            timeout: self.options.timeout,
            max_duration: remaining(self.inner, self.deadline),
        };
        Some(follow(Arc::clone(self.inner), intermediate))
    }

    fn finish(&self, result: Raw<'_>) -> Result<T, CallError> {
        self.inner.client_state.learn(&self.ask, result);
        match self.decode {
            Decode::Result(decode) => {
                self.inner.client_state.check(&self.ask, result)?;
                decode(result)
            }
            Decode::Raw(decode) => Ok(decode(result)),
            Decode::Unfollowed(decode) => {
                let subject = self.ask.subject().unwrap_or_default();
                decode(self.inner, subject, result)
            }
        }
    }
}

/// Returns the time left to a request with this deadline.
fn remaining(inner: &Inner, deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_since(inner.client_state.runtime.now()))
}

/// Returns true if the server makes tasks of calls of tools, as 2025-11-25 defines them.
fn makes_tasks(inner: &Inner) -> bool {
    let features = inner.server().features;
    features.contains(ServerFeatures::TASKS_TOOLS_CALL)
}

/// Returns true if a tool that the server refused to run may be one that runs as a task only.
fn may_need_task(inner: &Inner, ask: &Ask<'_>) -> bool {
    let client_state = &inner.client_state;
    let Ask::CallTool {
        name, task: None, ..
    } = ask
    else {
        return false;
    };
    inner.extensions.core_tasks.is_some()
        && makes_tasks(inner)
        && client_state.task_support(name).is_none()
}

/// Returns true if the list states that a tool runs as a task only.
fn requires_task(inner: &Inner, ask: &Ask<'_>) -> bool {
    let Ask::CallTool { name, .. } = ask else {
        return false;
    };
    let support = inner.client_state.task_support(name);
    matches!(support, Some(TaskSupport::Required))
}

impl<'a, H> Request<'a, Completion, H> {
    /// Sets the names and values of the other arguments that are filled in already; since
    /// 2025-06-18.
    pub fn context(mut self, arguments: &'a [(&'a str, &'a str)]) -> Self {
        if let Ask::Complete { context, .. } = &mut self.ask {
            *context = arguments;
        }
        self
    }
}

impl<T, H: FnMut(Progress<'_>)> Future for Request<'_, T, H> {
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_raw(cx)
    }
}

/// The closure is called through `&mut` and never pinned.
impl<T, H> Unpin for Request<'_, T, H> {}

/// Without what it says, which is the user's.
impl<T, H> fmt::Debug for Request<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.ask.method())
            .finish_non_exhaustive()
    }
}
