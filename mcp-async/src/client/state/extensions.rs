//! The result types and the values that a client keeps of its extensions.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::TaskMetadata;
use mcp_proto::rpc::Method;

use crate::client::boxed::Boxed;
use crate::error::CallError;

/// The types of results and the values of extensions; `C` is the client that they belong to.
pub(crate) struct Extensions<C> {
    pub(in crate::client) result_types: Vec<ResultType<C>>,
    /// By the names of the extensions.
    pub(in crate::client) data: Vec<(String, Box<dyn Any + Send + Sync>)>,
    /// The tasks of 2025-11-25, if the client uses them.
    pub(in crate::client) core_tasks: Option<CoreTasks<C>>,
}

/// A type of results, and what follows such a result.
pub(in crate::client) struct ResultType<C> {
    pub(in crate::client) name: &'static str,
    pub(in crate::client) methods: &'static [&'static str],
    pub(in crate::client) follow: Box<Follow<C>>,
}

/// The use that a client, `C`, makes of tasks of 2025-11-25, which are no extension there.
pub(in crate::client) struct CoreTasks<C> {
    /// The member `task` of a call that asks for a task.
    pub(in crate::client) metadata: TaskMetadata,
    /// Continues from the answer that created a task.
    pub(in crate::client) follow: Box<Follow<C>>,
}

/// Continues from a result that is not the last of its call; `C` is the client that made the call.
pub(in crate::client) type Follow<C> =
    dyn Fn(Arc<C>, IntermediateResult) -> Boxed<Result<RawBuf, CallError>> + Send + Sync;

/// A result of a type that an extension defines, and the request that it answers.
pub(in crate::client) struct IntermediateResult {
    pub(in crate::client) method: String,
    pub(in crate::client) result: RawBuf,
    pub(in crate::client) timeout: Option<Duration>,
    pub(in crate::client) max_duration: Option<Duration>,
}

impl<C> Extensions<C> {
    /// Returns the continuation from a result of this method; `None` for a result that is complete.
    pub(in crate::client) fn follow(
        &self,
        method: Method<'_>,
        result: Raw<'_>,
    ) -> Option<&Follow<C>> {
        let mut candidates = self.result_types.iter().filter(|candidate| {
            let mut methods = candidate.methods.iter();
            methods.any(|name| method.name() == **name)
        });
        let first = candidates.next()?;
        let kind = result.object()?.get("resultType")?.string()?;
        let found = core::iter::once(first)
            .chain(candidates)
            .find(|candidate| kind == *candidate.name)?;
        Some(&*found.follow)
    }

    /// The value that an extension keeps, if it is of this type.
    pub(in crate::client) fn data<T: Any>(&self, name: &str) -> Option<&T> {
        let (_, data) = self.data.iter().find(|(other, _)| other == name)?;
        data.downcast_ref()
    }
}
