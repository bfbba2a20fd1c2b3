//! What layers learn of the tool or method that a call names.

use core::any::Any;
use core::fmt;
use std::sync::Arc;

use mcp_proto::rpc;

use super::inner::Inner;
use super::layers::Around;
use super::service::{Call, Service};
use crate::connection::Job;

/// The tools and methods of a server.
#[derive(Clone, Copy)]
pub(super) struct Tools<'b>(&'b Inner);

/// The outermost layer, which lets the others find the tool that a call names.
pub(super) struct FindTools(pub(super) Arc<Inner>);

impl Around for FindTools {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let mut call = call;
        call.tools = Some(Tools(&self.0));
        service.call(call)
    }
}

impl Call<'_> {
    /// Returns the data of this type of the tool that the call names: see
    /// [`Tool::extension_data`](super::Tool::extension_data). It is for layers of an
    /// [`Extension`](super::Extension), and `None` for a tool that the caller does not see.
    pub fn tool_data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        if !matches!(self.method, rpc::Method::ToolsCall) {
            return None;
        }
        let view = self.tools?.0.view();
        let name = self.request.subject?.to_cow();
        let tool = view.catalog.tools.find(&name)?;
        let shown = tool.visibility.shows(self.context().principal());
        shown.then(|| tool.data.get_shared()).flatten()
    }

    /// Returns whether the method that the call names is
    /// [long-running](super::ExtensionMethod::long_running).
    pub fn is_long_running(&self) -> bool {
        let settings = self.tools.map(|tools| &tools.0.settings);
        let method = settings.and_then(|settings| settings.method(self.method.name()));
        method.is_some_and(|method| method.long_running)
    }
}

impl fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tools")
    }
}
