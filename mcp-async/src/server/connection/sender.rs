//! The sender of the message that a connection handles, and the context of its call.

use std::sync::Arc;

use mcp_proto::Token;
use mcp_proto::server::RequestContext;

use crate::connection::discard;
use crate::server::call::call_host::CallHost;
use crate::server::call::context::{Arrived, CallContext};
use crate::server::caller::client_info::{ClientInfo, ClientState};
use crate::server::caller::principal::Principal;

/// The sender of the current message, and the context of its call.
pub(crate) struct Sender {
    /// The host of the contexts of the calls.
    host: Arc<dyn CallHost>,
    pub(super) client: ClientState,
    /// The verified sender.
    pub(super) principal: Option<Principal>,
    /// The origin of the message.
    pub(crate) arrived: Arrived,
    /// The context of the call that begins. The call borrows it, so that layers pass a reference on; the job of the call takes
    /// its values.
    context: Option<CallContext>,
}

impl Sender {
    pub(super) fn new(host: Arc<dyn CallHost>, principal: Option<Principal>) -> Self {
        Self {
            host,
            client: ClientState::default(),
            principal,
            arrived: Arrived::default(),
            context: None,
        }
    }

    /// Returns the context of a request.
    pub(super) fn context(
        &mut self,
        token: Token,
        request: &RequestContext<'_>,
        shown: &ClientInfo,
    ) -> &mut CallContext {
        let meta = self.client.request_meta(request, shown);
        let create = || CallContext::new(Arc::clone(&self.host), token, request);
        let context = self.context.get_or_insert_with(create);
        let arrived = (token, self.arrived.clone());
        context.renew(arrived, request, meta, self.principal.clone());
        context
    }

    /// Drops the context of a call that has no job, with the values of the application in it.
    pub(super) fn forget(&mut self) {
        discard(self.context.take());
    }
}
