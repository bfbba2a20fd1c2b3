//! The extensions of a client, once it is built.

use core::any::Any;

use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;

use super::extension::{Extension, Follow, ResultType};

/// What a client keeps of its extensions.
#[derive(Default)]
pub(crate) struct Extensions {
    result_types: Vec<ResultType>,
    data: Vec<(String, Box<dyn Any + Send + Sync>)>,
}

impl Extensions {
    pub(super) fn new(extensions: Vec<Extension>) -> Self {
        let mut kept = Self::default();
        for extension in extensions {
            kept.result_types.extend(extension.result_types);
            if let Some(data) = extension.data {
                kept.data.push((extension.name, data));
            }
        }
        kept
    }

    /// What continues from a result of this method; `None` for one that is complete.
    pub(super) fn follow(&self, method: Method<'_>, result: Raw<'_>) -> Option<&Follow> {
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
