//! The handle of a runtime.

use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

use super::Runtime;

/// A [`Runtime`] that connections share: cloned for each of them, borrowed by each of their requests.
///
/// ```
/// use mcp_async::runtime::ManualRuntime;
/// use mcp_async::runtime::RuntimeHandle;
///
/// let runtime = RuntimeHandle::from(ManualRuntime::default());
/// assert_eq!(runtime.now().as_millis(), 0);
/// ```
#[derive(Clone)]
pub struct RuntimeHandle(Arc<dyn Runtime>);

impl<R: Runtime> From<R> for RuntimeHandle {
    fn from(runtime: R) -> Self {
        Self(Arc::new(runtime))
    }
}

impl From<&Self> for RuntimeHandle {
    fn from(handle: &Self) -> Self {
        handle.clone()
    }
}

impl Deref for RuntimeHandle {
    type Target = dyn Runtime;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for RuntimeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
