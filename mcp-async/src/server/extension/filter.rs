//! Keys that an extension adds to the filter of `subscriptions/listen`.

use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::names;
use crate::server::call::handler_error::HandlerError;
use crate::server::call::subscriber::Subscriber;
use crate::server::items::method::decode;
use crate::server::items::register_error::RegisterError;

/// A key whose judge has its state.
pub(in crate::server) struct Filter {
    pub(in crate::server) key: String,
    /// The extension that a client must have declared.
    requires: Option<String>,
    judge: Box<dyn Fn(Raw<'_>, Subscriber) -> Judged + Send + Sync>,
}

/// The decision of a judge: the accepted value, or nothing.
pub(super) type Judged = Pin<Box<dyn Future<Output = Result<Option<RawBuf>, HandlerError>> + Send>>;

/// A key of a filter before it is registered.
pub(in crate::server) struct ExtensionFilter<S> {
    key: String,
    judge: Judge<S>,
}

type Judge<S> = Box<dyn Fn(Raw<'_>, Subscriber<S>) -> Judged + Send + Sync>;

impl<S: Send + Sync + 'static> ExtensionFilter<S> {
    pub(super) fn new<V, T, F, Fut>(key: String, judge: F) -> Self
    where
        F: Fn(V, Subscriber<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<T>, HandlerError>> + Send + 'static,
        V: DeserializeOwned + 'static,
        T: Serialize + 'static,
    {
        let place = format!("notifications.{key}");
        let judge = move |value: Raw<'_>, subscriber: Subscriber<S>| -> Judged {
            let judging = match decode(value, &place) {
                Ok(value) => judge(value, subscriber),
                Err(error) => return Box::pin(core::future::ready(Err(error))),
            };
            Box::pin(async move {
                let accepted = judging.await?;
                Ok(accepted.map(|value| RawBuf::encode(&value)).transpose()?)
            })
        };
        Self {
            key,
            judge: Box::new(judge),
        }
    }

    /// Gives the judge its state.
    pub(in crate::server) fn bind(
        self,
        state: &Arc<S>,
        extension: &str,
        required: bool,
    ) -> Result<Filter, RegisterError> {
        names::check_filter(extension, &self.key)
            .map_err(|reason| RegisterError::new("filter", &self.key, &reason))?;
        let (judge, state) = (self.judge, Arc::clone(state));
        Ok(Filter {
            key: self.key,
            requires: required.then(|| extension.to_owned()),
            judge: Box::new(move |value, subscriber| judge(value, subscriber.with_state(&state))),
        })
    }
}

impl Filter {
    /// Begins to judge the value of the key, or refuses a client without the extension.
    pub(in crate::server) fn begin(&self, value: Raw<'_>, subscriber: Subscriber) -> Judged {
        match &self.requires {
            Some(name) if subscriber.client_extension(name).is_none() => {
                let error = HandlerError::missing_extension(name);
                Box::pin(core::future::ready(Err(error)))
            }
            _ => (self.judge)(value, subscriber),
        }
    }
}
