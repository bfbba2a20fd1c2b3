//! Suggestions for an argument of a prompt or a variable of a template.

use core::future::Future;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_proto::json::{Raw, Str};

use super::method::Answer;
use crate::connection::Job;
use crate::model::{CompleteResult, Completion};
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::HandlerError;

/// An argument while it is typed.
///
/// ```
/// use mcp_async::model::Completion;
/// use mcp_async::server::{CompletionRequest, Prompt};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip {
///     country: String,
///     city: String,
/// }
///
/// let trip: Prompt = Prompt::new("trip")
///     .complete("city", |typed: CompletionRequest, _| async move {
///         let cities = match typed.arguments.get("country").map(String::as_str) {
///             Some("Japan") => ["Kyoto", "Tokyo"],
///             _ => ["Paris", "Vienna"],
///         };
///         Ok(Completion::matching(&typed.value, cities))
///     })
///     .handler(|trip: Trip, _| async move { Ok(format!("Plan a trip to {}", trip.city)) });
/// # let _ = trip;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionRequest {
    /// The value that was typed so far.
    pub value: String,
    /// The other arguments, as far as they are filled in; since 2025-06-18. Some clients
    /// send an empty string for an argument that is not: it is absent here.
    pub arguments: BTreeMap<String, String>,
}

/// A type that a completion can return: values, the best first, or a [`Completion`], which
/// can state that there are more, and which [`Completion::matching`] makes of candidates. The client receives at
/// most 100 and the total.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of suggestions",
    note = "a completion returns `Vec<String>`, `Vec<&'static str>` or `Completion`"
)]
pub trait CompletionOutput: Send + 'static {
    /// The values.
    fn into_completion(self) -> Completion;
}

impl CompletionOutput for Completion {
    fn into_completion(self) -> Completion {
        self
    }
}

impl CompletionOutput for Vec<String> {
    fn into_completion(self) -> Completion {
        self.into_iter().collect()
    }
}

impl CompletionOutput for Vec<&'static str> {
    fn into_completion(self) -> Completion {
        self.into_iter().collect()
    }
}

/// The completions of the arguments of a prompt, or of the variables of a template, by name.
#[derive(Clone)]
pub(in crate::server) struct Completers<S = ()>(Vec<(String, Begin<S>)>);

type Begin<S> = Arc<dyn for<'b> Fn(Call<'b>, CompletionRequest, &Arc<S>) -> Job + Send + Sync>;

impl<S: Send + Sync + 'static> Completers<S> {
    pub(super) fn push<T, F, Fut>(&mut self, name: String, handler: F)
    where
        F: Fn(CompletionRequest, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: CompletionOutput,
    {
        let begin: Begin<S> = Arc::new(move |call, typed, state| {
            let future = handler(typed, Context::new(call.context.for_handler(), state));
            call.answer(async move {
                let result = future
                    .await
                    .map(|output| completed(output.into_completion()));
                Answer(result.map_err(|error| error.settle(None)))
            })
        });
        self.0.push((name, begin));
    }

    /// Gives the handlers their state.
    pub(super) fn bind(self, state: &Arc<S>) -> Completers {
        let bound = self.0.into_iter().map(|(name, begin)| {
            let state = Arc::clone(state);
            let begin: Begin<()> = Arc::new(move |call, typed, _| begin(call, typed, &state));
            (name, begin)
        });
        Completers(bound.collect())
    }
}

impl Completers {
    pub(in crate::server) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an error that names the first completion without an argument or a variable (`kind`) of its name among `existing`.
    pub(super) fn check<'n>(
        &self,
        kind: &str,
        existing: impl Iterator<Item = &'n str>,
    ) -> Result<(), String> {
        // A proxy takes in items of servers that it does not trust, with as many names as they like.
        let existing: BTreeSet<&str> = existing.collect();
        let mut names = self.0.iter().map(|(name, _)| name);
        match names.find(|name| !existing.contains(name.as_str())) {
            Some(unknown) => Err(format!("there is no {kind} `{unknown}` to complete")),
            None => Ok(()),
        }
    }

    /// Answers a request for suggestions. Nothing is suggested where there is no completion of this name.
    pub(in crate::server) fn call(
        &self,
        call: Call<'_>,
        name: &str,
        typed: CompletionRequest,
    ) -> Job {
        match self.0.iter().find(|(known, _)| known == name) {
            Some((_, begin)) => begin(call, typed, unit()),
            None => call.ready(Answer(Ok(completed(Completion::default())))),
        }
    }
}

impl<S> Default for Completers<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl CompletionRequest {
    /// Reads what is typed, and the context (CP-05).
    pub(in crate::server) fn read(value: Str<'_>, context: Option<Raw<'_>>) -> Self {
        let arguments = context
            .and_then(Raw::object)
            .and_then(|context| context.get("arguments")?.object());
        let arguments = arguments
            .into_iter()
            .flat_map(|arguments| arguments.members())
            .filter_map(|(name, value)| {
                let value = value.string()?.to_cow().into_owned();
                (!value.is_empty()).then_some(())?;
                Some((name.to_cow().into_owned(), value))
            });
        Self {
            value: value.to_cow().into_owned(),
            arguments: arguments.collect(),
        }
    }
}

/// The result that has this completion.
fn completed(completion: Completion) -> CompleteResult {
    CompleteResult {
        completion: bounded(completion),
        ..CompleteResult::default()
    }
}

/// At most 100 values, and how many there are (CP-02).
fn bounded(mut completion: Completion) -> Completion {
    if completion.values.len() > Completion::MAX_VALUES {
        let all = completion.values.len() as u64;
        completion.total = Some(completion.total.map_or(all, |total| total.max(all)));
        completion.values.truncate(Completion::MAX_VALUES);
        completion.has_more = true;
    }
    completion
}
