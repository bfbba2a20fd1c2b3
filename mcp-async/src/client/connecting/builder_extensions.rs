//! Extensions, experimental capabilities and further requests that a client declares and answers.

use core::future::Future;

use mcp_proto::Payload;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::builder::ClientBuilder;
use crate::client::callbacks::RequestAnswerer;
use crate::client::callbacks::callback_context::CallbackContext;
use crate::client::callbacks::callback_error::CallbackError;
use crate::client::callbacks::question_tasks::QuestionTasks;
use crate::client::extension::Extension;
use crate::client::session::handler::Answer;
use crate::error::ErrorReply;
use crate::payload;

impl<S: Send + Sync + 'static> ClientBuilder<S> {
    /// Declares an extension; one of the same name that was declared before is replaced.
    pub fn extension(mut self, extension: Extension) -> Self {
        self.extensions.retain(|other| other.name != extension.name);
        self.extensions.push(extension);
        self
    }

    /// Makes tasks of questions of legacy servers.
    pub(crate) fn question_tasks(mut self, tasks: impl QuestionTasks + 'static) -> Self {
        self.callbacks.tasks = Some(Box::new(tasks));
        self
    }

    /// Declares a capability under `experimental`, of any name, with settings that are an object
    /// in JSON; connecting fails with others.
    pub fn experimental_capability(
        mut self,
        name: impl Into<String>,
        settings: &(impl Serialize + ?Sized),
    ) -> Self {
        let name = name.into();
        // Connecting fails with settings that are no object: `()` stands for them.
        if self.experimental.insert(name.as_str(), settings).is_err() {
            let _ = self.experimental.insert(name, &());
        }
        self
    }

    /// Answers a request of legacy servers that an extension defines; 2026-07-28 has no
    /// requests of servers. The parameters are the empty object if the request has none, the
    /// answer is an object in JSON; `()` stands for an object without members in both.
    ///
    /// ```
    /// use mcp_async::client::ClientBuilder;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Confirm {
    ///     action: String,
    /// }
    ///
    /// fn answering(builder: ClientBuilder) -> ClientBuilder {
    ///     builder.on_request("com.example/confirm", |asked: Confirm, _| async move {
    ///         Ok(std::collections::HashMap::from([("confirmed", asked.action == "save")]))
    ///     })
    /// }
    /// # let _ = answering;
    /// ```
    pub fn on_request<P, T, F, Fut>(mut self, method: impl Into<String>, callback: F) -> Self
    where
        P: DeserializeOwned,
        T: Payload + Send + 'static,
        F: Fn(P, CallbackContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, CallbackError>> + Send + 'static,
    {
        let cx = CallbackContext::new(&self.state);
        let answerer: RequestAnswerer = Box::new(move |params| match payload::decode(params) {
            Ok(params) => {
                let answer = callback(params, cx.clone());
                Answer::new(async move { answer.await.map_err(CallbackError::into_reply) })
            }
            Err(error) => Answer::refuse(ErrorReply::invalid_params(error.to_string())),
        });
        self.callbacks.requests.push((method.into(), answerer));
        self
    }
}
