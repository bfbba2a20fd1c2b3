//! Extensions of the protocol that a client declares.

pub(super) mod continuation;
pub(super) mod declared;
pub(super) mod extension_calls;

use core::any::Any;
use core::fmt;
use core::future::Future;

use mcp_proto::RevisionSet;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::TaskMetadata;
use serde::Serialize;

use self::continuation::Continuation;
use super::handle::Client;
use super::state::LateResult;
use crate::client::state::extensions::{Extensions, ResultType};
use crate::client::state::inner::Inner;
use crate::error::CallError;

/// An extension as this client supports it, for
/// [`ClientBuilder::extension`](super::ClientBuilder::extension).
///
/// The client declares it under its name, with its settings: on each request of
/// 2026-07-28, and in `initialize` of the [revisions](Self::revisions) that it is on for.
/// [`Client::extension_request`](super::Client::extension_request) calls its methods, and
/// [`Client::server_extension`](super::Client::server_extension) returns what the server declares.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::{CallError, ClientBuilder, Extension};
///
/// #[derive(serde::Serialize)]
/// struct Settings {
///     languages: [&'static str; 2],
/// }
///
/// fn translating(builder: ClientBuilder) -> ClientBuilder {
///     let settings = Settings { languages: ["de", "fr"] };
///     builder.extension(Extension::new("com.example/translate").settings(&settings))
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Languages {
///     languages: Vec<String>,
/// }
///
/// async fn languages(client: &Client) -> Result<Vec<String>, CallError> {
///     let request = client.extension_request("com.example/translate", "com.example/languages", &());
///     let result: Languages = request.await?;
///     Ok(result.languages)
/// }
/// # let _ = (translating, languages);
/// ```
pub struct Extension {
    pub(super) name: String,
    /// `None` for a value that is no object.
    pub(super) settings: Option<RawBuf>,
    pub(super) revisions: RevisionSet,
    pub(super) result_types: Vec<ResultType<Inner>>,
    pub(super) late_results: Vec<LateResult>,
    pub(super) methods: Vec<OwnMethod>,
    pub(super) data: Option<Box<dyn Any + Send + Sync>>,
    pub(super) core_tasks: Option<TaskMetadata>,
}

/// A method of an extension.
pub(super) struct OwnMethod {
    pub(super) name: String,
    pub(super) subject: Option<String>,
}

impl Extension {
    /// An extension of this name without settings, since 2026-07-28. A name has a prefix, as
    /// `com.example/translate` does; connecting fails with another one.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: Some(RawBuf::from(Raw::EMPTY_OBJECT)),
            revisions: RevisionSet::modern(),
            result_types: Vec::new(),
            late_results: Vec::new(),
            methods: Vec::new(),
            data: None,
            core_tasks: None,
        }
    }

    /// Sets the settings, a value that is an object in JSON; connecting fails with another one.
    #[must_use]
    pub fn settings(mut self, settings: &(impl Serialize + ?Sized)) -> Self {
        let settings = RawBuf::encode(settings).ok();
        self.settings = settings.filter(|settings| settings.as_raw().object().is_some());
        self
    }

    /// Sets the revisions in which it is declared, since 2026-07-28 otherwise.
    #[must_use]
    pub const fn revisions(mut self, revisions: RevisionSet) -> Self {
        self.revisions = revisions;
        self
    }

    /// Adds a notification that servers send: [a callback](super::ClientBuilder::on_notification)
    /// receives it, or the subscription that it belongs to
    /// ([`Update::Notification`](super::Update::Notification)). Notifications that are not named
    /// are ignored.
    #[must_use]
    pub fn notification(mut self, name: impl Into<String>) -> Self {
        self.methods.push(OwnMethod {
            name: name.into(),
            subject: None,
        });
        self
    }

    /// Adds a method of the server whose parameter `subject` the header `Mcp-Name` repeats over
    /// HTTP. A method without such a parameter can be called without being named.
    #[must_use]
    pub fn method_about(mut self, name: impl Into<String>, subject: impl Into<String>) -> Self {
        self.methods.push(OwnMethod {
            name: name.into(),
            subject: Some(subject.into()),
        });
        self
    }

    /// Adds a `resultType` that a server may answer these methods with.
    ///
    /// Such a result is not handed to the caller of a method: `follow` continues from it, and its
    /// output takes the place of the result. It runs within the future of the request, and is
    /// dropped with it.
    #[must_use]
    pub fn result_type<F, Fut>(
        mut self,
        name: &'static str,
        methods: &'static [&'static str],
        follow: F,
    ) -> Self
    where
        F: Fn(Continuation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<RawBuf, CallError>> + Send + 'static,
    {
        self.result_types.push(ResultType {
            name,
            methods,
            follow: Box::new(move |inner, intermediate| {
                Box::pin(follow(Continuation {
                    client: Client::of(inner),
                    intermediate,
                }))
            }),
        });
        self
    }

    /// Sets what follows a result of this [type](Self::result_type) that arrives after its request
    /// was dropped or took too long, or that was not read before: a request with this method and these
    /// parameters, if any, whose answer is ignored. It can end what the server has begun for nothing.
    ///
    /// Over HTTP such results are rare, because a request is cancelled by closing its response.
    #[must_use]
    pub fn late_result<F>(mut self, name: &'static str, request: F) -> Self
    where
        F: Fn(Raw<'_>) -> Option<(&'static str, RawBuf)> + Send + Sync + 'static,
    {
        self.late_results.push(LateResult {
            name,
            request: Box::new(request),
        });
        self
    }

    /// Keeps a value with the client, for
    /// [`Client::extension_data`](super::Client::extension_data).
    #[must_use]
    pub fn data<T: Any + Send + Sync>(mut self, data: T) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// Makes tasks of 2025-11-25 of calls: of those of tools that require it, and of those that are
    /// to have a handle. The answer that creates one counts as a result of the type `task`.
    pub(crate) const fn core_tasks(mut self, metadata: TaskMetadata) -> Self {
        self.core_tasks = Some(metadata);
        self
    }
}

impl Extensions<Inner> {
    pub(super) fn new(extensions: Vec<Extension>) -> Self {
        let mut kept = Self {
            result_types: Vec::new(),
            data: Vec::new(),
            core_tasks: None,
        };
        for extension in extensions {
            kept.core_tasks = extension.core_tasks.or(kept.core_tasks);
            kept.result_types.extend(extension.result_types);
            if let Some(data) = extension.data {
                kept.data.push((extension.name, data));
            }
        }
        kept
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension")
            .field("name", &self.name)
            .field("revisions", &self.revisions)
            .finish_non_exhaustive()
    }
}
