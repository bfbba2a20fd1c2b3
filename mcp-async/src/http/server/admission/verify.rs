//! Verifies the sender of a request, by the hook of the endpoint or by its token.

use http::request::Parts;
use mcp_proto::http::{Endpoint, is_preflight};

use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::messages::answer::Answer;
use crate::http::server::messages::authenticate::Hook;
use crate::http::server::messages::head::RequestHead;
use crate::http::server::processes::Forwarded;
use crate::observe;
use crate::server::Principal;

impl HttpEndpoint {
    /// Verifies the sender, and keeps the principal in the extensions of the request; the answer
    /// if it is refused. Without hook and tokens, and for what the other checks refuse or answer, nothing
    /// is done.
    pub(in crate::http::server) async fn authenticate(&self, parts: &mut Parts) -> Option<Answer> {
        let refused = self.verify(parts).await;
        if let Some(refused) = &refused
            && parts.extensions.get::<Forwarded>().is_some()
        {
            observe::forwarded_refused(&refused.status());
        }
        refused
    }

    async fn verify(&self, parts: &mut Parts) -> Option<Answer> {
        #[cfg(not(feature = "auth"))]
        let has_guard = false;
        #[cfg(feature = "auth")]
        let has_guard = self.options.guard.is_some();
        if !has_guard && parts.extensions.get::<Forwarded>().is_some() {
            // The process that it arrived at has asked the hook.
            return None;
        }
        #[cfg(feature = "auth")]
        if let Some(guard) = &self.options.guard {
            return match self.is_admitted(parts) {
                true => self.check_token(guard, parts).await,
                false => None,
            };
        }
        let Hook(hook) = self.options.authenticate.as_ref()?;
        if !self.is_admitted(parts) {
            return None;
        }
        let verified = hook.authenticate(parts).await;
        parts.extensions.remove::<Principal>();
        match verified {
            Ok(Some(principal)) => parts.extensions.insert(principal),
            Ok(None) => None,
            Err(error) => return Some(error.into_answer()),
        };
        None
    }

    /// Returns true if the request goes to one of the endpoints, passes its checks of host and
    /// origin, and is no preflight.
    fn is_admitted(&self, parts: &Parts) -> bool {
        let head = RequestHead(parts);
        let endpoint = match self.http_sse_at(parts.uri.path()) {
            Some(_) => Endpoint {
                path: None,
                ..self.endpoint()
            },
            None => self.endpoint(),
        };
        endpoint.admit(&head).is_ok() && !is_preflight(&head)
    }
}
