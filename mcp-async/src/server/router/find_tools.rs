//! The tool or method that a call names, for layers.

use core::any::Any;
use core::fmt;
use std::borrow::Cow;
use std::sync::Arc;

use mcp_proto::json::Str;
use mcp_proto::rpc;

use crate::connection::Job;
use crate::server::call::service::{Call, Service};
use crate::server::caller::lookup::Lookup;
use crate::server::caller::principal::Principal;
use crate::server::layers::Around;
use crate::server::registry::inner::Inner;
use crate::values::Values;

/// The outermost layer, which lets the others find the tool that a call names.
pub(in crate::server) struct FindTools(pub(in crate::server) Arc<Inner>);

impl Around for FindTools {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let mut call = call;
        call.lookup = Some(self);
        service.call(call)
    }
}

impl Lookup for FindTools {
    fn tool_data(&self, name: &str, caller: Option<&Principal>) -> Option<Values> {
        let view = self.0.view();
        let tool = view.catalog.tools.shown(name, caller)?;
        Some(tool.settings.data.clone())
    }

    fn is_long_running(&self, method: Str<'_>) -> bool {
        let method = self.0.settings.method(method);
        method.is_some_and(|method| method.long_running)
    }
}

impl Call<'_> {
    /// Returns the name of the tool that the call names, decoded from JSON. `None` for other
    /// methods, and for a tool that does not exist or that the caller does not see: a client cannot
    /// make up names that count.
    ///
    /// ```
    /// use mcp_async::server::layers::around;
    ///
    /// let logged = around(|call, service| {
    ///     if let Some(tool) = call.tool_name() {
    ///         eprintln!("{tool} is called");
    ///     }
    ///     service.call(call)
    /// });
    /// # let _ = mcp_async::Server::builder("demo", "1.0").layer(logged);
    /// ```
    pub fn tool_name(&self) -> Option<Cow<'_, str>> {
        Some(self.find_tool()?.0)
    }

    /// Returns the data of this type of the tool that the call names: see
    /// [`Tool::extension_data`](crate::server::Tool::extension_data). It is for layers of an
    /// [`Extension`](crate::server::Extension), and `None` for a tool that the caller does not see.
    pub fn tool_data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.find_tool()?.1.get_shared()
    }

    fn find_tool(&self) -> Option<(Cow<'_, str>, Values)> {
        if !matches!(self.method, rpc::Method::ToolsCall) {
            return None;
        }
        let name = self.request.subject?.to_cow();
        let data = self.lookup?.tool_data(&name, self.context().principal())?;
        Some((name, data))
    }

    /// Returns whether the method that the call names is
    /// [long-running](crate::server::ExtensionMethod::long_running). `tasks/result` of 2025-11-25 is, as it
    /// waits for the end of a task.
    pub fn is_long_running(&self) -> bool {
        if matches!(self.method, rpc::Method::TasksResult) {
            return true;
        }
        let method = self.method.name();
        self.lookup
            .is_some_and(|lookup| lookup.is_long_running(method))
    }
}

impl fmt::Debug for FindTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FindTools")
    }
}
