//! Resources of a URI template, with their handler.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::DecodeErrorKind;
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;
use serde::de::DeserializeOwned;

use super::completion::{Completers, CompletionOutput, CompletionRequest};
use super::entry::{Entry, Registered, item};
use super::lister::Lister;
use super::register_error::RegisterError;
use super::resource::{CacheHint, ResourceOutput, answer};
use super::texts::{TextError, from_captures};
use super::texts_probe::{Unfillable, Values, unfillable};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model::{self, Annotations};
use crate::observe;
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::{HandlerError, not_found};
use crate::uri_template::{Captures, ParseError, UriTemplate};

/// A resource template: its public description and the handler that reads a matching URI.
///
/// [`ServerBuilder::template`](crate::server::ServerBuilder::template) makes one of a template, a name and a closure;
/// this is for everything else that can be said. [`handler`](Self::handler) or
/// [`raw`](Self::raw) comes last, then [`ServerBuilder::with`](crate::server::ServerBuilder::with) takes it.
///
/// The variables are a type, in which numbers are numbers. A URI whose variables do not fit the
/// type is not found, as is one with a `/`, `\` or `..` in a variable, encoded or not, unless
/// the template asks for that with `{+path}`: see
/// [`uri_template`](crate::uri_template#what-matches).
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Template;
///
/// #[derive(serde::Deserialize)]
/// struct Note {
///     id: u64,
/// }
///
/// let notes = Template::new("notes://{id}", "note")
///     .description("A note by its number")
///     .mime_type("text/markdown")
///     .handler(|note: Note, _| async move { Ok(format!("# Note {}", note.id)) });
/// let server = Server::builder("notes", "1.0").with(notes);
/// # let _ = server;
/// ```
#[must_use = "it must be registered to be served"]
pub struct Template<S = ()> {
    pub(in crate::server) entry: Entry<model::ResourceTemplate>,
    pub(in crate::server) completers: Completers<S>,
    /// The smaller goes first where several match.
    pub(in crate::server) order: u64,
    parsed: Result<UriTemplate, ParseError>,
    cache: Option<CacheHint>,
    pub(in crate::server) lister: Option<Lister<S>>,
    unfillable: Option<Unfillable>,
    begin: Option<Begin<S>>,
}

type Begin<S> = Arc<dyn for<'b> Fn(Call<'b>, MatchedUri, CacheHint, &Arc<S>) -> Job + Send + Sync>;

/// A URI that a template matches, and what it holds for each variable.
#[derive(Clone, Debug)]
pub struct MatchedUri {
    /// The URI as it was asked for.
    pub uri: String,
    /// The variables, decoded.
    pub captures: Captures,
}

item!(Template, hidden: "it is not listed and matches no URI, and they do not learn of changes. Contents are then private in caches (CH-05).");

impl<S: Send + Sync + 'static> Template<S> {
    /// Creates a template (RFC 6570) with this name. A text that is no template is a mistake that
    /// [`build`](crate::server::ServerBuilder::build) reports.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self::of(model::ResourceTemplate::new(uri_template, name))
    }

    /// A template as another server lists it.
    pub fn of(listed: model::ResourceTemplate) -> Self {
        Self {
            parsed: UriTemplate::parse(&listed.uri_template),
            entry: Entry::new(listed),
            order: 0,
            completers: Completers::default(),
            cache: None,
            lister: None,
            unfillable: None,
            begin: None,
        }
    }

    /// Their type, if all have the same, in the list and in contents that do not say theirs.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.entry.listed.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the annotations of the resources: the audience and the priority.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.entry.listed.annotations = Some(annotations);
        self
    }

    /// Sets the time for which contents may be cached, and by whom, in place of the
    /// [hint](crate::server::ServerBuilder::cache) of the server for all; since 2026-07-28.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache = Some(CacheHint::new(ttl, scope));
        self
    }

    /// Lists resources of the template, which the handler chooses for each caller. It runs for each
    /// page of `resources/list`; its resources are merged with those that are registered, which win
    /// where URIs are equal. Without it a template adds nothing to that list.
    ///
    /// ```
    /// use mcp_async::model;
    /// use mcp_async::server::{Context, HandlerError, Principal, Template};
    ///
    /// struct Notes(Vec<(String, u64)>);
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Note {
    ///     id: u64,
    /// }
    ///
    /// let notes: Template<Notes> = Template::new("notes://{id}", "note")
    ///     .list(|cx: Context<Notes>| async move {
    ///         let user = cx.principal().map_or("guest", Principal::name);
    ///         let notes = cx.state().0.iter().filter(|(owner, _)| owner == user);
    ///         let listed = notes.map(|(_, id)| model::Resource::new(format!("notes://{id}"), "note"));
    ///         Ok(listed.collect())
    ///     })
    ///     .handler(|note: Note, _| async move { Ok(format!("note {}", note.id)) });
    /// # let _ = notes;
    /// ```
    pub fn list<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<model::Resource>, HandlerError>> + Send + 'static,
    {
        self.lister = Some(Lister::new(handler));
        self
    }

    /// Suggests values for a variable while it is typed. A name that no variable of the template
    /// has is a mistake that [`build`](crate::server::ServerBuilder::build) reports.
    pub fn complete<T, F, Fut>(mut self, variable: impl Into<String>, handler: F) -> Self
    where
        F: Fn(CompletionRequest, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: CompletionOutput,
    {
        self.completers.push(variable.into(), handler);
        self
    }

    /// Runs this for each read. The variables' type may leave out those that it does not need. A
    /// field that is required and that no variable fills is a mistake that
    /// [`build`](crate::server::ServerBuilder::build) reports.
    pub fn handler<A, T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + Send + 'static,
        T: ResourceOutput,
    {
        let mime_type = self.entry.listed.mime_type.clone();
        self.unfillable = Some(|names| unfillable::<A>(names, Values::Any));
        let template = self.parsed.clone().ok();
        self.begin(Arc::new(move |call, found, hint, state| {
            let variables = match from_captures::<A>(&found.captures) {
                Ok(variables) => variables,
                Err(error) => {
                    report(template.as_ref(), &error);
                    return call.refuse(not_found(Some(&found.uri)));
                }
            };
            let future = handler(variables, Context::new(call.context.for_handler(), state));
            answer(call, future, found.uri, mime_type.clone(), hint)
        }))
    }

    /// Runs this for each read, with the variables as the URI holds them.
    pub fn raw<T, F, Fut>(self, handler: F) -> Self
    where
        F: Fn(MatchedUri, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: ResourceOutput,
    {
        let mime_type = self.entry.listed.mime_type.clone();
        self.begin(Arc::new(move |call, found, hint, state| {
            let uri = found.uri.clone();
            let future = handler(found, Context::new(call.context.for_handler(), state));
            answer(call, future, uri, mime_type.clone(), hint)
        }))
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Template {
        let begin = self.begin.map(|begin| -> Begin<()> {
            let state = Arc::clone(state);
            Arc::new(move |call, found, hint, _| begin(call, found, hint, &state))
        });
        Template {
            entry: self.entry,
            order: self.order,
            parsed: self.parsed,
            cache: self.cache,
            lister: self.lister.map(|lister| lister.bind(state)),
            completers: self.completers.bind(state),
            unfillable: self.unfillable,
            begin,
        }
    }

    fn begin(mut self, begin: Begin<S>) -> Self {
        self.begin = Some(begin);
        self
    }
}

impl Template {
    pub(in crate::server) fn check(&self) -> Result<(), RegisterError> {
        let parsed = self.parsed.as_ref().map_err(|fault| self.error(fault))?;
        self.check_entry(self.begin.is_some())?;
        if let Some(misfit) = self
            .unfillable
            .and_then(|unfillable| unfillable(&mut parsed.variables()))
        {
            let name = misfit.name().unwrap_or_default();
            return Err(self.error(&format_args!("its handler needs a variable `{name}`")));
        }
        let completed = self.completers.check("variable", parsed.variables());
        completed.map_err(|fault| self.error(&fault))
    }

    /// Returns the template in another place of the order.
    pub(in crate::server) fn behind(&self, order: u64) -> Self {
        Self {
            entry: self.entry.clone(),
            order,
            parsed: self.parsed.clone(),
            cache: self.cache,
            lister: self.lister.clone(),
            completers: self.completers.clone(),
            unfillable: self.unfillable,
            begin: self.begin.clone(),
        }
    }

    /// Returns the values of the variables, if the URI matches the template.
    pub(in crate::server) fn matches(&self, uri: &str) -> Option<Captures> {
        self.parsed.as_ref().ok()?.matches(uri)
    }

    pub(in crate::server) fn has_variable(&self, name: &str) -> bool {
        let parsed = self.parsed.as_ref();
        parsed.is_ok_and(|parsed| parsed.variables().any(|variable| variable == name))
    }

    /// Answers `resources/read`, where `hint` is for all resources.
    pub(in crate::server) fn call(
        &self,
        call: Call<'_>,
        found: MatchedUri,
        hint: CacheHint,
    ) -> Job {
        match &self.begin {
            Some(begin) => {
                let hint = self
                    .cache
                    .unwrap_or(hint)
                    .limited(self.entry.is_restricted());
                begin(call, found, hint, unit())
            }
            None => call.refuse(ErrorReply::internal()),
        }
    }
}

impl<S> Registered for Template<S> {
    type Listed = model::ResourceTemplate;

    const KIND: &'static str = "template";
    const LIST: ListKind = ListKind::Resources;
    const RESULT: (&'static str, &'static str) =
        ("mcp:ListResourceTemplatesResult", "resourceTemplates");

    fn entry(&self) -> &Entry<model::ResourceTemplate> {
        &self.entry
    }

    fn key(&self) -> &str {
        &self.entry.listed.uri_template
    }
}

/// Reports that the variables of a URI do not fill the type of the handler.
fn report(template: Option<&UriTemplate>, error: &TextError) {
    let Some(template) = template else {
        return;
    };
    let name = error.name().unwrap_or_default();
    let missing = matches!(error.kind(), DecodeErrorKind::MissingField(_));
    match missing && template.variables().all(|variable| variable != name) {
        true => observe::variable_missing(template, name),
        false => observe::variables_unfit(template, name, error.kind()),
    }
}
