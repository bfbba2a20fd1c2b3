//! A prompt with its handler.

use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Object, Raw};
use mcp_proto::server::ListKind;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::completion::{Completers, CompletionOutput, CompletionRequest};
use super::entry::{Entry, Registered, item};
use super::method::{self, Answer, BeginMethod};
use super::register_error::RegisterError;
use super::texts::{TextError, from_texts};
use super::texts_probe::{Unfillable, Values, unfillable};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model::{self, GetPromptResult, PromptArgument, PromptMessage};
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::HandlerError;

/// A prompt: its public description and the handler that renders it.
///
/// [`ServerBuilder::prompt`](crate::server::ServerBuilder::prompt) makes one of a name, a description and a closure;
/// this is for everything else that can be said. [`handler`](Self::handler) comes last, then
/// [`ServerBuilder::with`](crate::server::ServerBuilder::with) takes it.
///
/// The arguments are a type. On the wire they are texts, out of which numbers, booleans
/// and the names of an enum are read; the list of arguments comes from the type's schema.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::model::{Content, PromptMessage};
/// use mcp_async::server::Prompt;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// What to look at
///     code: String,
///     /// How many remarks at most
///     remarks: Option<u8>,
/// }
///
/// let review = Prompt::new("review")
///     .title("Review some code")
///     .handler(|args: Review, _| async move {
///         let most = args.remarks.unwrap_or(3);
///         Ok(vec![
///             PromptMessage::user(format!("Make at most {most} remarks on this.")),
///             PromptMessage::user(Content::text(args.code)),
///         ])
///     });
/// let server = Server::builder("demo", "1.0").with(review);
/// # let _ = server;
/// ```
#[must_use = "it must be registered to be served"]
pub struct Prompt<S = ()> {
    pub(in crate::server) entry: Entry<model::Prompt>,
    pub(in crate::server) completers: Completers<S>,
    unfillable: Option<Unfillable>,
    begin: Option<BeginMethod<S>>,
}

/// A type that the handler of a prompt can return.
///
/// A text or a message is one message of the user; the description is the prompt's own, unless
/// a [`GetPromptResult`] has another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result of a prompt",
    note = "a prompt returns text, `PromptMessage`, `Vec<PromptMessage>` or `GetPromptResult`"
)]
pub trait PromptOutput: Send + 'static {
    /// The messages.
    fn into_result(self) -> GetPromptResult;
}

impl PromptOutput for GetPromptResult {
    fn into_result(self) -> GetPromptResult {
        self
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_result(self) -> GetPromptResult {
        self.into()
    }
}

impl PromptOutput for PromptMessage {
    fn into_result(self) -> GetPromptResult {
        vec![self].into()
    }
}

impl PromptOutput for String {
    fn into_result(self) -> GetPromptResult {
        PromptMessage::user(self).into_result()
    }
}

impl PromptOutput for &'static str {
    fn into_result(self) -> GetPromptResult {
        PromptMessage::user(self).into_result()
    }
}

item!(Prompt, hidden: "it is not listed, a request for it is answered as for an unknown prompt, and they do not learn when it changes.");

impl<S: Send + Sync + 'static> Prompt<S> {
    /// A prompt by this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self::of(model::Prompt::new(name))
    }

    /// A prompt as another server lists it.
    pub fn of(listed: model::Prompt) -> Self {
        Self {
            entry: Entry::new(listed),
            completers: Completers::default(),
            unfillable: None,
            begin: None,
        }
    }

    /// Describes an argument, in place of the description from the handler's type, or in addition to the
    /// arguments of the type.
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        let arguments = &mut self.entry.listed.arguments;
        match arguments
            .iter_mut()
            .find(|other| other.name == argument.name)
        {
            Some(place) => *place = argument,
            None => arguments.push(argument),
        }
        self
    }

    /// Suggests values for an argument while it is typed. A name that no argument has is a mistake
    /// that [`build`](crate::server::ServerBuilder::build) reports.
    pub fn complete<T, F, Fut>(mut self, argument: impl Into<String>, handler: F) -> Self
    where
        F: Fn(CompletionRequest, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: CompletionOutput,
    {
        self.completers.push(argument.into(), handler);
        self
    }

    /// Runs this for each request. Arguments that are missing or do not fit the type are
    /// refused with their name. An argument of a type that no text fills, such as a list,
    /// is a mistake that [`build`](crate::server::ServerBuilder::build) reports.
    pub fn handler<A, T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: PromptOutput,
    {
        let listed = &mut self.entry.listed.arguments;
        for argument in arguments_of::<A>() {
            if listed.iter().all(|other| other.name != argument.name) {
                listed.push(argument);
            }
        }
        self.unfillable = Some(|names| unfillable::<A>(names, Values::Texts));
        let description = self.entry.listed.description.clone();
        self.begin = Some(Arc::new(move |call, state| {
            let arguments = match decode::<A>(&call) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let text = format!("Invalid arguments: {error}");
                    return call.refuse(ErrorReply::invalid_params(text));
                }
            };
            let future = handler(arguments, Context::new(call.context.for_handler(), state));
            let description = description.clone();
            call.answer(async move {
                let result = future.await.map(|output| {
                    let mut result = output.into_result();
                    result.description = result.description.or(description);
                    result
                });
                Answer(result.map_err(|error| error.settle(None)))
            })
        }));
        self
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Prompt {
        let begin = self.begin.map(|begin| method::bind(begin, state));
        Prompt {
            entry: self.entry,
            completers: self.completers.bind(state),
            unfillable: self.unfillable,
            begin,
        }
    }
}

impl Prompt {
    /// Returns the prompt under another name.
    pub(in crate::server) fn renamed(&self, name: String) -> Self {
        let mut prompt = Self {
            entry: self.entry.clone(),
            completers: self.completers.clone(),
            unfillable: self.unfillable,
            begin: self.begin.clone(),
        };
        prompt.entry.listed.name = name;
        prompt
    }

    pub(in crate::server) fn check(&self) -> Result<(), RegisterError> {
        self.check_entry(self.begin.is_some())?;
        if self.key().is_empty() {
            return Err(self.error(&"its name is empty"));
        }
        if let Some(misfit) = self
            .unfillable
            .and_then(|unfillable| unfillable(&mut self.arguments()))
        {
            return Err(self.error(&format_args!(
                "arguments are texts, and the handler's are not: {misfit}"
            )));
        }
        let completed = self.completers.check("argument", self.arguments());
        completed.map_err(|fault| self.error(&fault))
    }

    /// The names of its arguments.
    pub(in crate::server) fn arguments(&self) -> impl Iterator<Item = &str> {
        let arguments = self.entry.listed.arguments.iter();
        arguments.map(|argument| argument.name.as_str())
    }

    /// The first argument that is listed as required and that a request does not have (PR-03).
    fn missing(&self, call: &Call<'_>) -> Option<&str> {
        let given = call.request.arguments.filter(|raw| !raw.is_null());
        let given = given.map_or(Some(Object::EMPTY), Raw::object)?;
        let required = self.entry.listed.arguments.iter().filter(|it| it.required);
        let mut names = required.map(|argument| argument.name.as_str());
        names.find(|name| given.get(name).is_none_or(Raw::is_null))
    }

    /// Answers `prompts/get`.
    pub(in crate::server) fn call(&self, call: Call<'_>) -> Job {
        if let Some(name) = self.missing(&call) {
            let text = format!("Invalid arguments: missing member `{name}`");
            return call.refuse(ErrorReply::invalid_params(text));
        }
        match &self.begin {
            Some(begin) => begin(call, unit()),
            None => call.refuse(ErrorReply::internal()),
        }
    }
}

impl<S> Registered for Prompt<S> {
    type Listed = model::Prompt;

    const KIND: &'static str = "prompt";
    const LIST: ListKind = ListKind::Prompts;
    const RESULT: (&'static str, &'static str) = ("mcp:ListPromptsResult", "prompts");

    fn entry(&self) -> &Entry<model::Prompt> {
        &self.entry
    }

    fn key(&self) -> &str {
        &self.entry.listed.name
    }
}

/// The arguments of a request, all of which are texts (PR-08).
fn decode<A: DeserializeOwned + 'static>(call: &Call<'_>) -> Result<A, TextError> {
    let mut texts = Vec::new();
    if let Some(given) = call.request.arguments.filter(|raw| !raw.is_null()) {
        let wrong = |raw: Raw<'_>, expected: &str| TextError::wrong_kind(raw.kind(), expected);
        let given = given.object().ok_or_else(|| wrong(given, "an object"))?;
        for (name, value) in given.members() {
            let name = name.to_cow();
            // An argument that was left out may arrive as `null`.
            match value.string() {
                Some(text) => texts.push((name, text.to_cow())),
                None if value.is_null() => {}
                None => return Err(wrong(value, "a string").of(&name)),
            }
        }
    }
    from_texts(texts.iter().map(|(name, text)| (&**name, text.clone())))
}

/// Each property of the type, in its order, and whether it must be there.
fn arguments_of<A: JsonSchema + DeserializeOwned>() -> Vec<PromptArgument> {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let required = schema.get("required").and_then(Value::as_array);
    let text = |schema: &Value, key: &str| Some(schema.get(key)?.as_str()?.to_owned());
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, schema)| {
        let is_required = required.is_some_and(|all| all.iter().any(|other| other == name));
        PromptArgument {
            name: name.clone(),
            title: text(schema, "title"),
            description: text(schema, "description"),
            required: is_required,
        }
    });
    let mut arguments: Vec<_> = arguments.collect();
    let declared = crate::schema::declared::<A>();
    arguments.sort_by_key(|argument| declared.iter().position(|name| *name == argument.name));
    arguments
}
