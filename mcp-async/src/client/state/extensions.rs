//! The result types and the values that a client keeps of its extensions.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf, Str};
use mcp_proto::model::TaskMetadata;
use mcp_proto::rpc::Method;

use crate::client::session::role::is_created;
use crate::error::CallError;
use crate::runtime::BoxFuture;

/// The types of results and the values of extensions; `C` is the client that they belong to.
pub(crate) struct Extensions<C> {
    pub(in crate::client) result_types: Vec<ResultType<C>>,
    /// By the names of the extensions.
    pub(in crate::client) data: Vec<(String, Box<dyn Any + Send + Sync>)>,
    /// The member `task` of a call that asks for a task of 2025-11-25, if the client uses them.
    pub(in crate::client) core_tasks: Option<TaskMetadata>,
}

/// A type of results, and what follows such a result.
pub(in crate::client) struct ResultType<C> {
    pub(in crate::client) name: &'static str,
    pub(in crate::client) methods: &'static [&'static str],
    pub(in crate::client) follow: Box<Follow<C>>,
}

/// Continues from a result that is not the last of its call; `C` is the client that made the call.
pub(in crate::client) type Follow<C> = dyn Fn(Arc<C>, IntermediateResult) -> BoxFuture<'static, Result<RawBuf, CallError>>
    + Send
    + Sync;

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
        let kind = result_type(result)?;
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

/// Returns the type of a result. The answer of 2025-11-25 that creates a task has the type that the
/// extension gives it.
pub(super) fn result_type(result: Raw<'_>) -> Option<Str<'_>> {
    match result.object()?.get("resultType") {
        Some(kind) => kind.string(),
        None => is_created(result).then_some(Str::from("task")),
    }
}
