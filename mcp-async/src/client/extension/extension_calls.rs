//! Operations on a client that are for extensions.

use core::any::Any;
use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf, Str};
use mcp_proto::rpc::Method;
use mcp_proto::{Instant, Payload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::handle::Client;
use crate::client::request::Request;
use crate::client::request::decode::Decode;
use crate::client::request::input_answers::answer_inputs;
use crate::client::state::ask::Ask;
use crate::client::state::inner::Inner;
use crate::error::CallError;
use crate::runtime::RuntimeHandle;

impl Client {
    /// Returns the settings that the server declares for an extension; `None` if it does
    /// not declare it.
    pub fn server_extension(&self, name: &str) -> Option<RawBuf> {
        self.info().extension(name).map(RawBuf::from)
    }

    /// Returns the [value](crate::client::Extension::data) that an extension of this client keeps, if it
    /// is of this type.
    pub fn extension_data<T: Any>(&self, name: &str) -> Option<&T> {
        self.inner.extensions.data(name)
    }

    /// Calls a method of an extension as [`request`](Self::request) does, but sends nothing unless the
    /// server declares the extension: the future's error is [`CallError::MissingExtension`] then.
    pub fn extension_request<'a, T: DeserializeOwned>(
        &'a self,
        extension: &'a str,
        method: &'a str,
        params: &'a (dyn Payload + Sync),
    ) -> Request<'a, T> {
        self.request(method, params).of_extension(extension)
    }

    /// Asks the callbacks of this client the questions that an extension received, an object of
    /// `inputRequests`, and returns their answers under the same keys, `inputResponses`.
    ///
    /// The questions are checked as those of `input_required` are: each must be one that
    /// this client declares.
    ///
    /// # Errors
    /// [`CallError::Failed`] with [`Failure::Input`](mcp_proto::client::Failure::Input) for
    /// questions that the client does not answer, [`CallError::Input`] if a callback refuses one,
    /// [`CallError::Closed`].
    pub fn answer_inputs(
        &self,
        requests: RawBuf,
    ) -> impl Future<Output = Result<RawBuf, CallError>> + Send + use<'_> {
        answer_inputs(&self.inner, requests)
    }

    /// Calls a tool, and decodes whatever the server answers.
    pub(crate) fn call_tool_unfollowed<'a, T>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
        decode: fn(&Arc<Inner>, &str, Raw<'_>) -> Result<T, CallError>,
    ) -> Request<'a, T> {
        let ask = Ask::call_tool(name, arguments);
        Request::decoded(&self.inner, ask, Decode::Unfollowed(decode))
    }

    /// Checks the result of a tool against the schema that its list promised (TL-10).
    pub(crate) fn check_tool_result(&self, tool: &str, result: Raw<'_>) -> Result<(), CallError> {
        self.inner.client_state.check_tool(tool, result)
    }

    /// Returns true if the contents of a resource are cached and fresh now; then
    /// [`read_resource`](Self::read_resource) sends nothing. A caller that refuses what was cached reads it again
    /// with [`refreshed`](Request::refreshed).
    pub fn has_cached_resource(&self, uri: &str) -> bool {
        let kept = self.inner.client_state.cached(&Ask::ReadResource { uri });
        kept.is_some()
    }

    /// Sends a request when the task of the client runs next, and ignores its answer. Without a
    /// connection it is lost. The client stays open until it is answered.
    pub(crate) fn send_later(&self, method: &'static str, params: &impl Serialize) {
        if let Ok(params) = RawBuf::encode(params) {
            let method = Method::from(Str::from(method));
            let owed = &self.inner.client_state.owed;
            owed.push(
                Some(Arc::clone(&self.inner) as _),
                Ask::Own { method, params },
            );
        }
    }

    pub(crate) fn runtime(&self) -> &RuntimeHandle {
        &self.inner.client_state.runtime
    }

    /// Returns the earliest time, from `at` on, at which a request may leave that no caller waits for.
    pub(crate) fn earliest(&self, at: Instant) -> Instant {
        self.inner.client_state.earliest(at)
    }
}
