//! The result types and the values that a client keeps of its extensions.

use core::any::Any;

use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;

use super::core_tasks::CoreTasks;
use super::intermediate_result::Follow;

/// The types of results and the values of extensions; `C` is the client that they belong to.
pub(crate) struct Extensions<C> {
    pub(super) result_types: Vec<ResultType<C>>,
    /// By the names of the extensions.
    pub(super) data: Vec<(String, Box<dyn Any + Send + Sync>)>,
    /// The tasks of 2025-11-25, if the client uses them.
    pub(super) core_tasks: Option<CoreTasks<C>>,
}

/// A type of results, and what follows such a result.
pub(super) struct ResultType<C> {
    pub(super) name: &'static str,
    pub(super) methods: &'static [&'static str],
    pub(super) follow: Box<Follow<C>>,
}

impl<C> Extensions<C> {
    /// Returns the continuation from a result of this method; `None` for a result that is complete.
    pub(super) fn follow(&self, method: Method<'_>, result: Raw<'_>) -> Option<&Follow<C>> {
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
    pub(super) fn data<T: Any>(&self, name: &str) -> Option<&T> {
        let (_, data) = self.data.iter().find(|(other, _)| other == name)?;
        data.downcast_ref()
    }
}
