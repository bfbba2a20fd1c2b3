//! A tool with its handler, and the end of a call of it.

use core::cell::Cell;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use mcp_proto::http::annotation::{Annotations, BadAnnotation};
use mcp_proto::json::{Kind, Object, Raw, RawBuf};
use mcp_proto::model::ClientFeatures;
use mcp_proto::server::ListKind;
use mcp_proto::{Outcome, Payload};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::checks::{Checks, Promise, decode_typed};
use super::entry::{Entry, Registered, item};
use super::register_error::{NO_HANDLER, RegisterError};
use super::tool_call::{ToolCall, bad_arguments};
use crate::connection::{Job, spawned};
use crate::error::{ErrorChain, ErrorReply};
use crate::model::{self, TaskSupport, ToolAnnotations, ToolExecution};
use crate::payload::empty;
use crate::schema::{ToolSchema, TypeError};
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::{Failure, HandlerError, missing_capabilities};
use crate::server::call::output::ToolOutput;
use crate::server::call::reply::Reply;
use crate::server::caller::rate::RateLimit;
use crate::values::Values;

/// A tool: its public description and the handler that runs it.
///
/// [`ServerBuilder::tool`](crate::server::ServerBuilder::tool) makes one of a name, a description and a closure; this
/// is for everything else that can be said. [`handler`](Self::handler) or [`raw`](Self::raw)
/// comes last, then [`ServerBuilder::with`](crate::server::ServerBuilder::with) takes it.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Tool;
///
/// let clock = Tool::new("clock")
///     .title("What time is it?")
///     .description("The seconds since 1970")
///     .read_only()
///     .handler(|(): (), _| async {
///         let now = std::time::SystemTime::UNIX_EPOCH.elapsed()?;
///         Ok(now.as_secs().to_string())
///     });
/// let server = Server::builder("clock", "1.0").with(clock);
/// # let _ = server;
/// ```
///
/// Not every caller need see it:
///
/// ```
/// use mcp_async::server::{Principal, Tool};
///
/// struct Admin;
///
/// let purge: Tool = Tool::new("purge")
///     .visible_to(|caller| caller.and_then(Principal::claims::<Admin>).is_some())
///     .handler(|(): (), _| async { Ok("purged") });
/// # let _ = purge;
/// ```
#[must_use = "it must be registered to be served"]
pub struct Tool<S = ()> {
    pub(in crate::server) entry: Entry<model::Tool>,
    pub(in crate::server) settings: ToolSettings,
    begin: Option<Begin<S>>,
}

/// The settings of a tool beyond its entry.
#[derive(Clone, Default)]
pub(in crate::server) struct ToolSettings {
    requires: ClientFeatures,
    pub(in crate::server) rate: Option<RateLimit>,
    spawned: bool,
    /// Until it is registered.
    input: Option<ToolSchema>,
    output: Option<ToolSchema>,
    /// The reason why one of the types has no schema.
    fault: Option<TypeError>,
    /// Another server enforces the schemas.
    is_forwarded: bool,
    checks: Checks,
    /// Arguments that are repeated in headers.
    mirrored: Option<Annotations>,
    /// One of them is a number, which the transports draft alone has: elsewhere the tool is not
    /// there (XH-04).
    drafted: bool,
    task_support: Option<TaskSupport>,
    /// The tool as servers with tasks of 2025-11-25 list it, if its calls may be tasks.
    with_tasks: Option<Box<model::Tool>>,
    /// The data that layers of extensions find for the tool.
    pub(in crate::server) data: Values,
}

/// Decodes, checks and starts: all of it while the message is there to borrow from.
type Begin<S> = Arc<dyn for<'b> Fn(Call<'b>, Raw<'b>, &Arc<Tool>, &Arc<S>) -> Job + Send + Sync>;

item!(Tool, hidden: "no list has it, a call is answered as for an unknown tool, and they do not learn when it changes.");

impl<S: Send + Sync + 'static> Tool<S> {
    /// A tool by this name: 1 to 128 of `[A-Za-z0-9_.-]`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            entry: Entry::new(model::Tool::new(name, RawBuf::new())),
            settings: ToolSettings::default(),
            begin: None,
        }
    }

    /// A tool as another server lists it, whose calls are [forwarded](crate::server::Forwarded) to that server. Its schemas are
    /// listed as they are, and are not enforced here: the other server enforces them.
    pub fn of(listed: model::Tool) -> Self {
        Self {
            settings: ToolSettings {
                input: Some(listed.input_schema.clone().into()),
                output: listed.output_schema.clone().map(ToolSchema::from),
                is_forwarded: true,
                ..ToolSettings::default()
            },
            entry: Entry::new(listed),
            begin: None,
        }
    }

    /// Sets the hints about the effects of the tool; the four methods below are for one of the
    /// hints each.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.entry.listed.annotations = Some(annotations);
        self
    }

    /// Sets the hint that the tool does not modify its environment.
    pub fn read_only(mut self) -> Self {
        self.hints().read_only_hint = Some(true);
        self
    }

    /// Sets the hint whether the changes of the tool may destroy something.
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.hints().destructive_hint = Some(destructive);
        self
    }

    /// Sets the hint that a second equal call changes nothing more.
    pub fn idempotent(mut self) -> Self {
        self.hints().idempotent_hint = Some(true);
        self
    }

    /// Sets the hint whether the tool interacts with things that the server does not control.
    pub fn open_world(mut self, open: bool) -> Self {
        self.hints().open_world_hint = Some(open);
        self
    }

    /// The schema of the arguments, in place of that of the handler's type; an object with
    /// `"type": "object"` at its root. Keywords beyond
    /// [the part that every build enforces] need the cargo feature
    /// `schema`.
    ///
    /// ```
    /// use mcp_async::server::{Tool, ToolCall};
    /// use mcp_async::json::RawBuf;
    ///
    /// let schema = r#"{"type":"object","properties":{"city":{"type":"string","minLength":1}}}"#;
    /// let tool: Tool = Tool::new("forecast")
    ///     .input_schema(RawBuf::parse(schema)?)
    ///     .raw(|call: ToolCall, _| async move { Ok(call.arguments.as_raw().as_str().to_owned()) });
    /// # let _ = tool;
    /// # Ok::<(), mcp_async::json::Fault>(())
    /// ```
    ///
    /// [the part that every build enforces]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/schemas/index.html
    pub fn input_schema(mut self, schema: RawBuf) -> Self {
        self.settings.input = Some(schema.into());
        self
    }

    /// Sets the schema of the structured content, in place of that of the handler's type.
    pub fn output_schema(mut self, schema: RawBuf) -> Self {
        self.settings.output = Some(schema.into());
        self
    }

    /// Adds capabilities that the client must have: a call without them is refused before the
    /// handler runs, with error -32021 and the capabilities.
    ///
    /// ```
    /// use mcp_async::server::Tool;
    /// use mcp_async::model::ClientFeatures;
    ///
    /// let tool: Tool = Tool::new("survey")
    ///     .requires(ClientFeatures::ELICITATION_FORM)
    ///     .handler(|(): (), _| async { Ok("thank you") });
    /// # let _ = tool;
    /// ```
    pub fn requires(mut self, features: ClientFeatures) -> Self {
        self.settings.requires = self.settings.requires.with(features);
        self
    }

    /// Limits the rate at which each connection may call the tool, in place of the limit of the
    /// server for all tools.
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.settings.rate = Some(limit);
        self
    }

    /// Runs the handler in a task of its own: for one that computes for long between two
    /// awaits, while the connection's other calls continue. It is cancelled with its call all
    /// the same.
    pub fn spawned(mut self) -> Self {
        self.settings.spawned = true;
        self
    }

    /// Sets whether calls may be tasks of 2025-11-25, for servers that have them.
    pub(crate) fn task_support(mut self, support: TaskSupport) -> Self {
        self.settings.task_support = Some(support);
        self
    }

    /// Adds a value for the layer of an [`Extension`](crate::server::Extension), which finds it by
    /// [`Call::tool_data`](crate::server::Call::tool_data) when the tool is called; it takes the
    /// place of one of the same type.
    pub fn extension_data<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.settings.data.insert(value);
        self
    }

    /// Runs this for each call. The arguments' type gives the input schema and checks them; an
    /// error in them is reported to the client with its path. A tool without arguments takes `()`.
    pub fn handler<A, T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: ToolOutput,
    {
        if self.settings.input.is_none() {
            let schema = match empty::<A>() {
                Some(_) => ToolSchema::input::<Nothing>(),
                None => ToolSchema::input::<A>(),
            };
            match schema {
                Ok(schema) => self.settings.input = Some(schema),
                Err(error) => self.settings.fault = Some(error),
            }
        }
        self.begin(Arc::new(move |call, arguments, tool, state| {
            let arguments = match decode_typed::<A>(arguments) {
                Ok(arguments) => arguments,
                Err(error) => return tool.refuse(call, &error),
            };
            let future = handler(arguments, Context::new(call.context.for_handler(), state));
            tool.run(call, future)
        }))
        .output::<T>()
    }

    /// Runs this for each call, with the arguments as they came.
    pub fn raw<T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ToolCall, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: ToolOutput,
    {
        if self.settings.input.is_none() {
            let any = RawBuf::parse(r#"{"type":"object"}"#).unwrap_or_default();
            self.settings.input = Some(any.into());
        }
        self.begin(Arc::new(move |call, arguments, tool, state| {
            let owned = ToolCall {
                arguments: call.keep(arguments),
                as_result: call.request.revision.reports_bad_arguments_as_result(),
            };
            let future = handler(owned, Context::new(call.context.for_handler(), state));
            tool.run(call, future)
        }))
        .output::<T>()
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Tool {
        let state = Arc::clone(state);
        let begin = self.begin.map(|begin| -> Begin<()> {
            Arc::new(move |call, arguments, tool, _| begin(call, arguments, tool, &state))
        });
        Tool {
            entry: self.entry,
            settings: self.settings,
            begin,
        }
    }

    fn begin(mut self, begin: Begin<S>) -> Self {
        self.begin = Some(begin);
        self
    }

    fn output<T: ToolOutput>(mut self) -> Self {
        if self.settings.output.is_none() {
            match T::output_schema() {
                Ok(schema) => self.settings.output = schema,
                Err(error) => self.settings.fault = Some(error),
            }
        }
        self
    }

    fn hints(&mut self) -> &mut ToolAnnotations {
        self.entry.listed.annotations.get_or_insert_default()
    }
}

impl Tool {
    /// Makes the tool ready to be served. It does not fail for a tool that the draft alone can
    /// serve: see [`published`](Self::published).
    pub(in crate::server) fn prepare(&mut self) -> Result<(), RegisterError> {
        if let Some(fault) = &self.settings.fault {
            return Err(self.error(fault));
        }
        self.check_entry(self.begin.is_some())?;
        self.check_name()?;
        let (input, output) = (self.settings.input.take(), self.settings.output.take());
        let input = input.ok_or_else(|| self.error(&NO_HANDLER))?;
        let publish = |schema: &ToolSchema| schema.publish().map_err(|fault| self.error(&fault));
        let input_schema = publish(&input)?;
        let output_schema = output.as_ref().map(publish).transpose()?;
        let mirrored = Annotations::read(input_schema.as_raw());
        let drafted = matches!(mirrored, Err(BadAnnotation::Number));
        let mirrored = match drafted {
            true => Annotations::read_draft(input_schema.as_raw()),
            false => mirrored,
        };
        let mirrored = mirrored.map_err(|bad| self.error(&bad))?;
        if !self.settings.is_forwarded {
            let checks = Checks::of(&input, output.as_ref());
            self.settings.checks = checks.map_err(|fault| self.error(&ErrorChain(&fault)))?;
        }
        self.settings.mirrored = Some(mirrored).filter(|mirrored| !mirrored.is_empty());
        self.settings.drafted = drafted;
        self.entry.listed.input_schema = input_schema;
        self.entry.listed.output_schema = output_schema;
        let support = self.settings.task_support.clone();
        self.settings.with_tasks = support.map(|support| {
            Box::new(model::Tool {
                execution: Some(ToolExecution {
                    task_support: Some(support),
                }),
                ..self.entry.listed.clone()
            })
        });
        Ok(())
    }

    /// Returns the tool under another name.
    pub(in crate::server) fn renamed(&self, name: String) -> Self {
        let mut tool = Self {
            entry: self.entry.clone(),
            settings: self.settings.clone(),
            begin: self.begin.clone(),
        };
        if let Some(listed) = &mut tool.settings.with_tasks {
            listed.name.clone_from(&name);
        }
        tool.entry.listed.name = name;
        tool
    }

    /// Fails, with the name, unless a tool may have it.
    pub(in crate::server) fn check_name(&self) -> Result<(), RegisterError> {
        match is_name(self.key()) {
            true => Ok(()),
            false => Err(self.error(&"its name is not 1 to 128 of A-Z a-z 0-9 _ . -")),
        }
    }

    /// Fails if no published revision has such tools.
    pub(in crate::server) fn published(&self) -> Result<(), RegisterError> {
        match self.is_drafted() {
            true => Err(self.error(&BadAnnotation::Number)),
            false => Ok(()),
        }
    }

    /// Answers a call.
    pub(in crate::server) fn call(self: &Arc<Self>, call: Call<'_>) -> Job {
        if let Some(mirrored) = &self.settings.mirrored
            && let Err(error) = crate::server::call::mirrored::check(mirrored, &call)
        {
            return call.refuse(error);
        }
        let missing = self.settings.requires.without(call.request.features);
        if !missing.is_empty() {
            let revision = call.request.revision;
            return call.refuse(missing_capabilities(missing, revision));
        }
        let arguments = arguments(&call);
        if !matches!(arguments.kind(), Kind::Object) {
            let text = format!(
                "Invalid arguments: expected an object, found {}",
                arguments.kind()
            );
            return call.refuse(ErrorReply::invalid_params(text));
        }
        if let Err(violation) = self.settings.checks.arguments(arguments) {
            return self.refuse(call, &violation);
        }
        match &self.begin {
            Some(begin) => begin(call, arguments, self, unit()),
            None => call.refuse(ErrorReply::internal()),
        }
    }

    fn refuse(&self, call: Call<'_>, error: &dyn fmt::Display) -> Job {
        let as_result = call.request.revision.reports_bad_arguments_as_result();
        let refusal = Err::<(), _>(bad_arguments(error, as_result));
        call.ready(SettledCall::new(refusal, None))
    }

    fn run<T: ToolOutput>(
        &self,
        call: Call<'_>,
        future: impl Future<Output = Result<T, HandlerError>> + Send + 'static,
    ) -> Job {
        let promise = self.settings.checks.promise();
        if self.settings.spawned {
            return run_spawned(call, Box::pin(future), promise);
        }
        call.answer(async move {
            let result = future.await;
            SettledCall::new(result, promise)
        })
    }
}

/// Answers with the output of a handler that runs in a task of its own. A function apart from [`Tool::run`] is compiled once for a
/// type of outputs, not for each handler.
fn run_spawned<T: ToolOutput>(
    call: Call<'_>,
    future: Pin<Box<dyn Future<Output = Result<T, HandlerError>> + Send>>,
    promise: Option<Promise>,
) -> Job {
    let runtime = call.context().runtime();
    call.answer(async move {
        let result = spawned(&runtime, future).await;
        SettledCall::new(result, promise)
    })
}

impl<S> Registered for Tool<S> {
    type Listed = model::Tool;

    const KIND: &'static str = "tool";
    const LIST: ListKind = ListKind::Tools;
    const RESULT: (&'static str, &'static str) = ("mcp:ListToolsResult", "tools");

    fn entry(&self) -> &Entry<model::Tool> {
        &self.entry
    }

    fn key(&self) -> &str {
        &self.entry.listed.name
    }

    fn listed(&self, core_tasks: bool) -> &model::Tool {
        let with_tasks = self.settings.with_tasks.as_deref();
        with_tasks
            .filter(|_| core_tasks)
            .unwrap_or(&self.entry.listed)
    }

    fn is_drafted(&self) -> bool {
        self.settings.drafted
    }
}

/// The outcome of a handler, which is written as the response.
pub(super) struct SettledCall<T> {
    result: Result<T, Failure>,
    /// The promise of the tool about its results, if it makes one.
    promise: Option<Promise>,
    /// The answer of the promise, once it was asked.
    is_kept: Cell<Option<bool>>,
}

impl<T> SettledCall<T> {
    pub(super) fn new(result: Result<T, HandlerError>, promise: Option<Promise>) -> Self {
        Self {
            result: result.map_err(|error| error.settle(None)),
            promise,
            is_kept: Cell::new(None),
        }
    }

    /// Returns whether this result is what the tool promises (TL-09).
    fn keeps(&self, promise: &Promise, result: &dyn Payload) -> bool {
        let is_kept = self.is_kept.get();
        let is_kept = is_kept.unwrap_or_else(|| promise.is_kept(result));
        self.is_kept.set(Some(is_kept));
        is_kept
    }
}

impl<T: ToolOutput> Reply for SettledCall<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match (&self.result, &self.promise) {
            (Ok(output), None) => output.with_outcome(send),
            (Ok(output), Some(promise)) => output.with_outcome(&mut |outcome| match outcome {
                // TL-09: what breaks the promise is a fault of the server.
                Outcome::Result(result) if !self.keeps(promise, result) => {
                    send(Outcome::Error(ErrorReply::internal().as_object()));
                }
                outcome => send(outcome),
            }),
            (Err(error), _) => error.with_tool_outcome(send),
        }
    }

    fn is_tool_error(&self) -> bool {
        match &self.result {
            Ok(output) => output.is_error(),
            Err(failure) => matches!(failure, Failure::Visible(_)),
        }
    }
}

/// Returns true if a tool may have this name (TL-05).
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

/// The arguments of a call; none are as good as none given.
fn arguments<'b>(call: &Call<'b>) -> Raw<'b> {
    call.request
        .arguments
        .filter(|arguments| !arguments.is_null())
        .unwrap_or(Object::EMPTY.as_raw())
}

/// The arguments of a tool that takes none, as a schema has them.
#[derive(JsonSchema)]
struct Nothing {}
